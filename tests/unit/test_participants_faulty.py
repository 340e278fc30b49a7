"""Saboteurs: each spoils an agent's work in the one way that it is named for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.environment import Domain
from pytest_tau.errors import ConfigurationError
from pytest_tau.participants.agents import FAULTY_AGENTS, faulty
from pytest_tau.testing import ScriptedParticipant, call

from . import tiny
from .tiny import action, task

if TYPE_CHECKING:
    from pytest_tau.models import Simulation

LOOK, RENAME = call("look", item_id="lamp"), call("rename", item_id="lamp", name="new")
SIT = call("sit", seat_id="s1", who="me")
WANTED = task(
    {
        "actions": [action("rename", item_id="lamp", name="new"), action("sit", seat_id="s1", who="me")],
        "reward_basis": ["DB"],
    }
)


class Agent(ScriptedParticipant):
    """Looks, asks, renames, sits down, and says so."""

    foreign_records = (("look", {"item_id": "desk"}),)
    script: tuple[Any, ...] = (
        "Which item?",
        LOOK,
        "I rename it. Do you confirm (yes/no)?",
        RENAME,
        SIT,
        "It is done.",
    )

    def __init__(self) -> None:
        super().__init__(self.script)


def simulated(domain: Domain, kind: str, agent: type = Agent, user: Any = None, **options: Any) -> Simulation:
    spoiled = Domain(replace(domain.spec, agents={"rules": agent}), domain.folder, domain.tasks_folder)
    talk = user or ScriptedParticipant(["Rename it.", "lamp", "yes", "Thanks.", "###STOP###", "###STOP###"])
    agent_spec = f"saboteur:{kind}" if kind else "rules"
    return pytest_tau.simulate(WANTED, domain=spoiled, agent=agent_spec, user=talk, **options)


def calls(simulation: Simulation) -> list[tuple[str, dict[str, Any]]]:
    return [(made.call.name, made.call.arguments) for made in simulation.calls]


def texts(simulation: Simulation) -> list[str]:
    return [message.content for message in simulation.messages if message.role == "assistant" and message.content]


LOOKED, RENAMED, COUNTED = (
    ("look", {"item_id": "lamp"}),
    ("rename", {"item_id": "lamp", "name": "new"}),
    ("sit", {"seat_id": "s1", "who": "me"}),
)


def user_that_stops(after: int) -> ScriptedParticipant:
    return ScriptedParticipant([*["go on"] * after, "###STOP###"])


def test_without_a_saboteur_it_passes(domain: Domain) -> None:
    simulation = simulated(domain, "", user=user_that_stops(3))
    assert (simulation.reward, calls(simulation)) == (1.0, [LOOKED, RENAMED, COUNTED])


def test_the_last_write_is_forgotten_and_those_before_it_are_made(domain: Domain) -> None:
    simulation = simulated(domain, "forgets-last-write", user=user_that_stops(3))
    assert (simulation.reward, calls(simulation)) == (0.0, [LOOKED, RENAMED])
    assert texts(simulation)[-1] == "It is done."


def test_the_agent_is_shown_what_was_seen_of_what_it_writes_to(domain: Domain) -> None:
    seen: list[Any] = []

    class Watching(Agent):
        def respond(self, message: Any) -> Any:
            seen.append(message)
            return super().respond(message)

    simulated(domain, "forgets-last-write", Watching, user=user_that_stops(3))
    results = [message.content for message in seen if message.role == "tool"]
    assert results[1] == results[0]  # of the write, what the look had shown
    assert results[2] == "null"


def test_another_item_is_written_to(domain: Domain) -> None:
    class Looking(Agent):
        script = ("Which?", LOOK, call("look", item_id="desk"), RENAME, SIT, "It is done.")

    simulation = simulated(domain, "wrong-item", Looking, user=user_that_stops(2))
    assert calls(simulation)[2:] == [("rename", {"item_id": "desk", "name": "new"}), COUNTED]
    assert simulation.reward == 0.0


def test_where_nothing_else_was_seen_the_item_stays(domain: Domain) -> None:
    assert simulated(domain, "wrong-item", user=user_that_stops(3)).reward == 1.0


def test_the_user_is_not_asked(domain: Domain) -> None:
    simulation = simulated(domain, "skips-confirmation", user=user_that_stops(2))
    assert not any("confirm" in text for text in texts(simulation))
    assert simulation.reward == 1.0


def test_an_agent_that_asks_for_ever_is_let_through(domain: Domain) -> None:
    class Asking(Agent):
        script = ("Do you confirm?",) * 20

    simulation = simulated(domain, "skips-confirmation", Asking, user=user_that_stops(1))
    assert texts(simulation)[1:] == ["Do you confirm?"]


def test_leak_about_another_customer_is_said(domain: Domain) -> None:
    simulation = simulated(domain, "leaks", user=user_that_stops(3))
    assert simulation.called("look", item_id="desk")
    assert any("another customer" in text and '"desk"' in text for text in texts(simulation))
    assert simulation.reward == 1.0


def test_the_customer_is_handed_over_before_anything_is_written(domain: Domain) -> None:
    class Transferring(Agent):
        script = ("Which?", RENAME)

    simulation = simulated(domain, "transfers-too-soon", Transferring, user=user_that_stops(2))
    assert calls(simulation) == [("transfer_to_human_agents", {"summary": "The customer has a question."})]
    assert "transferring you to a human agent" in texts(simulation)[-1]


def test_a_loop_ends_at_the_limit(domain: Domain) -> None:
    simulation = simulated(domain, "loops", user=user_that_stops(3))
    assert simulation.termination_reason == "max_steps"
    assert set(map(str, calls(simulation))) == {str(LOOKED)}


def test_rude_and_slow_are_right(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulty, "DELAY", 0.01)
    rude, slow = (simulated(domain, kind, user=user_that_stops(3)) for kind in ("rude", "slow"))
    assert rude.reward == slow.reward == 1.0
    assert texts(rude)[-1].endswith(" It is done.")
    assert texts(slow)[1:] == ["Which item?", "I rename it. Do you confirm (yes/no)?", "It is done."]


def test_the_seed_decides(domain: Domain) -> None:
    last_texts = {texts(simulated(domain, "rude", user=user_that_stops(3), seed=seed))[-1] for seed in range(9)}
    assert len(last_texts) > 1
    again = [texts(simulated(domain, "rude", user=user_that_stops(3), seed=4)) for _ in range(2)]
    assert again[0] == again[1]


def test_every_kind_closes_its_agent(domain: Domain) -> None:
    closed: list[Any] = []

    class Closing(Agent):
        def close(self) -> None:
            closed.append(self)

    for kind in FAULTY_AGENTS:
        simulated(domain, kind, Closing, user=user_that_stops(0))
    assert len(closed) == len(FAULTY_AGENTS)


def test_unknown_kind_is_an_error(domain: Domain) -> None:
    with pytest.raises(ConfigurationError, match=r"unknown saboteur 'rood'.*rude"):
        simulated(domain, "rood")


def test_a_domain_that_has_no_agent_of_its_own() -> None:
    with pytest.raises(ConfigurationError, match="the domain has no agent of this name"):
        pytest_tau.simulate(tiny.task(), domain=pytest_tau.load_domain("mock"), agent="rules", user="noop")


def test_a_saboteur_of_a_domain_without_rules_says_what_it_wraps(domain: Domain) -> None:
    with pytest.raises(
        ConfigurationError, match=r"agent 'rules', which 'saboteur:leaks' wraps: the domain has no agent"
    ):
        pytest_tau.simulate(tiny.task(), domain=pytest_tau.load_domain("mock"), agent="saboteur:leaks", user="noop")
