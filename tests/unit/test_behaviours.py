"""Behaviours of difficult users: their manners with the rule-based agents, and what a model is asked for."""

from __future__ import annotations

from typing import Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import UserMessage, UserScript
from pytest_tau.participants.behaviours import BEHAVIOURS, COOPERATIVE, Behaviour, Heard, Manner
from pytest_tau.participants.personas import VALUES

DIFFICULT = [name for name in BEHAVIOURS if name != COOPERATIVE]
#: The rule-based agent misunderstands its user for more turns than the patience of this one lasts.
GIVES_UP = {("impatient", "cancel-business-refund")}
HEARD = Heard("Do you confirm?", 1, "I want to cancel.", refuses=False, confirms=True)


def simulated(name: str, task: Any, domain: Any, **changes: Any) -> Any:
    settings = SimulationSettings(user_persona={"behaviour": {name: 1.0}}, **changes)
    return pytest_tau.simulate(task, domain=domain, agent="rules", user="scripted", seed=3, settings=settings)


def said(simulation: Any) -> list[str]:
    return [message.text for message in simulation.messages if isinstance(message, UserMessage)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("domain_name", ["airline", "retail", "telecom", "banking_knowledge"])
@pytest.mark.parametrize("name", DIFFICULT)
def test_a_correct_agent_gets_to_the_same_end(name: str, domain_name: str) -> None:
    domain = pytest_tau.load_domain(domain_name)
    different = 0
    for task in [each for each in domain.tasks() if not each.needs_judge][:6]:
        usual, hard = simulated(COOPERATIVE, task, domain), simulated(name, task, domain)
        again = simulated(name, task, domain)
        assert usual.reward == 1
        if (name, task.id) in GIVES_UP:
            assert said(hard)[-1].startswith("This is getting us nowhere")
            continue
        assert hard.reward == 1, (task.id, said(hard))
        assert said(again) == said(hard)  # the seed decides
        different += said(hard) != said(usual)
    # Some have an effect only on refusals, on confirmations, or on several questions.
    if name in ("impatient", "tangential", "mistaken", "claiming-authority"):
        assert different


def test_the_cooperative_user_says_what_a_user_without_a_persona_says() -> None:
    domain = pytest_tau.load_domain("retail")
    task = domain.tasks()[0]
    usual = pytest_tau.simulate(task, domain=domain, agent="rules", user="scripted", seed=3)
    assert said(simulated(COOPERATIVE, task, domain)) == said(usual)


class TestManners:
    def test_impatient(self) -> None:
        manner = BEHAVIOURS["impatient"].begin(1)
        script = UserScript(requests=[{"say": "x"}], patience=8)
        assert manner.script(script).patience == 3
        assert manner.script(script.model_copy(update={"patience": 2})).patience == 2
        assert manner.reply("Ada.", HEARD._replace(confirms=False)).startswith("Ada. Be quick")
        assert manner.reply("Bye. ###STOP###", HEARD) == "Bye. ###STOP###"

    def test_contradicting(self) -> None:
        manner = BEHAVIOURS["contradicting"].begin(1)
        said = [manner.instead(HEARD) for _ in range(4)]
        assert said == ["No, wait, do not do that.", "Sorry, I do want it after all. I want to cancel.", "", ""]
        refused = BEHAVIOURS["contradicting"].begin(1)
        assert refused.instead(HEARD._replace(refuses=True)) == refused.instead(HEARD) == ""

    def test_incomplete(self) -> None:
        manner = BEHAVIOURS["incomplete"].begin(1)
        assert manner.facts(["a", "b", "c"]) == ["a", "b"]
        assert manner.facts(["a", "b", "c"]) == ["c"]
        assert manner.facts(["a", "b", "c"]) == ["a", "b", "c"]

    def test_mistaken(self) -> None:
        manner = BEHAVIOURS["mistaken"].begin(1)
        assert manner.value("items", "12") == "12"
        assert manner.value("zip", "12345") == "12354"
        assert manner.value("email", "a12@b.c") == "a12@b.c"  # one mistake
        assert manner.reply("My zip is 12354.", HEARD) == "My zip is 12354."
        assert (
            manner.reply("My name is Bo.", HEARD) == "I am sorry, I was wrong before. My zip is 12345. My name is Bo."
        )
        assert manner.reply("My name is Bo.", HEARD) == "My name is Bo."

    @pytest.mark.parametrize(("name", "more"), [("pressing", 2), ("claiming-authority", 1)])
    def test_insisting(self, name: str, more: int) -> None:
        manner = BEHAVIOURS[name].begin(1)
        (request,) = manner.script(UserScript(requests=[{"say": "x", "insist": 1}])).requests
        assert request.insist == 1 + more
        refused = HEARD._replace(refuses=True)
        assert manner.reply("I must insist.", refused).endswith(("exception for me.", "allowed to do it."))
        assert manner.reply("Yes.", HEARD) == "Yes."


def test_the_table_is_consistent() -> None:
    assert VALUES["behaviour"] == tuple(BEHAVIOURS)
    for behaviour in BEHAVIOURS.values():
        assert bool(behaviour.instruction) == (behaviour.name != COOPERATIVE) == (behaviour.manner is not Manner)


def test_an_unknown_behaviour_is_refused() -> None:
    domain = pytest_tau.load_domain("mock")
    with pytest.raises(ConfigurationError, match="unknown behaviour 'bored'"):
        simulated("bored", domain.tasks()[0], domain)


def test_a_behaviour_of_ones_own() -> None:
    class Shouting(Manner):
        def reply(self, text: str, heard: Heard) -> str:
            return text.upper()

    domain = pytest_tau.load_domain("airline")
    own = {"shouting": Behaviour("shouting", "Write in capitals.", Shouting)}
    simulation = simulated("shouting", domain.tasks()[0], domain, behaviours=own)
    assert all(text == text.upper() for text in said(simulation))
