"""What the scripted user has not understood: the record, the report of a failure, and whose fault it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import SimulationSettings
from pytest_tau.analysis.unseen import silent_line
from pytest_tau.diagnosis.attribution import annotate_failure, attribute
from pytest_tau.diagnosis.explain import explain
from pytest_tau.diagnosis.misunderstandings import REPEATED
from pytest_tau.models import AssistantMessage, Attribution, OutsideChanges, Simulation, Task, UserMessage
from pytest_tau.runner import simulate
from pytest_tau.runs.make_record import make_record
from pytest_tau.testing import ScriptedParticipant

from .tiny import action, call, task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

WHICH, NOISE = "Sure! Which item would you like to rename?", "Blah blah."
RENAME = {"tool_calls": [call("rename", item_id="lamp", name="L")]}
WRONG = {"tool_calls": [call("remove", item_id="lamp")]}
LOOK = {"tool_calls": [call("look", item_id="lamp")]}
REFUSED = {"tool_calls": [call("remove", item_id="none")]}
NONSENSE = ["Hm, well.", "La la.", "Tra la, hey.", "Ho ho ho.", "Ta ta."]
ENOUGH = "It is done. Goodbye!"


def wanted(**script: Any) -> Task:
    script = {"requests": [{"say": "Please give the lamp the name L."}], "patience": 4} | script
    criteria = {"actions": [action("rename", item_id="lamp", name="L")], "reward_basis": ["DB"]}
    return task(criteria, user_scenario={"instructions": "You want the lamp to be called L.", "script": script})


def played(domain: Domain, *replies: Any, persona: str | None = None, **script: Any) -> Simulation:
    weights = {"behaviour": {persona: 1.0}} if persona else {}
    settings = SimulationSettings(user_persona=weights)
    agent = ScriptedParticipant([*replies, *[replies[-1]] * 8])
    return simulate(wanted(**script), domain=domain, agent=agent, user="scripted", seed=1, settings=settings)


def kinds(simulation: Simulation) -> list[str | None]:
    return [each.misunderstanding for each in simulation.messages if isinstance(each, UserMessage)]


def blame(simulation: Simulation) -> Attribution:
    assert simulation.info.blame is not None
    return simulation.info.blame


def report(simulation: Simulation) -> list[str]:
    return [line.text for line in explain(simulation)]


class TestTheRecord:
    def test_it_is_stored_with_the_reply(self, domain: Domain) -> None:
        simulation = played(domain, NOISE, ENOUGH)
        assert kinds(simulation) == [None, "not understood", None]
        read = Simulation.model_validate_json(simulation.model_dump_json())
        assert kinds(read) == kinds(simulation)

    def test_a_message_that_is_understood_is_stored_as_ever(self) -> None:
        assert "misunderstanding" not in UserMessage(content="Hi").model_dump()

    def test_the_agent_does_not_get_it(self, domain: Domain) -> None:
        got: list[Any] = []

        class Agent:
            def respond(self, message: Any) -> str:
                got.append(message)
                return NOISE

        simulate(wanted(), domain=domain, agent=Agent(), user="scripted")
        assert [each.misunderstanding for each in got] == [None] * len(got) != []


class TestAFailure:
    def test_it_is_reported_before_anything_else(self, domain: Domain) -> None:
        simulation = played(domain, LOOK, NOISE, "Hm, blah.", ENOUGH)
        assert kinds(simulation)[1:3] == ["not understood", "not understood"]
        found = report(simulation)
        assert found[0] == "the scripted user did not understand 2 of 4 messages:"
        assert found[1] == "  agent  Blah blah."
        assert found[2].startswith("  user   I am not sure what you mean.")
        assert found[2].endswith("[not understood, message 5]")
        assert found[5].strip().startswith("add `answers` or `facts` to the task's script")
        assert found[6].startswith("reward 0")
        assert (blame(simulation).party, blame(simulation).message_idx) == ("user", 5)
        assert "looks like the user's fault: it did not understand 2 of 4 messages (message 5)" in found

    def test_a_question_for_one_of_several_things(self, domain: Domain) -> None:
        simulation = played(domain, ENOUGH)
        simulation.messages[-2:-2] = [
            AssistantMessage(content=WHICH),
            UserMessage(content="Yes, please.", misunderstanding="yes or no to which"),
        ]
        assert report(simulation)[:3] == [
            "the scripted user did not understand 1 of 3 messages:",
            f"  agent  {WHICH}",
            "  user   Yes, please.   [yes or no to which, message 3]",
        ]
        annotate_failure(simulation, wanted(), domain)
        assert (blame(simulation).party, blame(simulation).evidence) == ("user", WHICH)

    def test_equal_messages_are_shown_once(self, domain: Domain) -> None:
        found = report(played(domain, NOISE, NOISE, ENOUGH))
        assert found[2].endswith("[not understood, messages 3, 5]")

    def test_a_user_that_gives_up(self, domain: Domain) -> None:
        simulation = played(domain, "One moment, please.")
        assert kinds(simulation)[-1] == "gave up"
        assert set(kinds(simulation)[:-1]) == {None}
        assert (blame(simulation).party, blame(simulation).reason) == ("agent", REPEATED)
        assert "add `answers`" not in "".join(report(simulation))
        assert f"looks like the agent's fault: {REPEATED} (message {len(simulation.messages) - 1})" in report(
            simulation
        )

    @pytest.mark.parametrize(
        ("replies", "party"),
        [
            (["What is your booking number?", "So, what is your booking number?"] * 4, "agent"),
            (["Which wing is it?", "One moment, please."] * 4, "agent"),
            ([each for word in NONSENSE for each in (REFUSED, word)], "agent"),
            ([NOISE] * 8, "undecided"),
            (
                ["Which wing is it?", "Where is the lift?", "Who is the porter?", "What did he say?", "How far?"],
                "undecided",
            ),
            (NONSENSE, "undecided"),
            ([NOISE, NOISE, *NONSENSE], "undecided"),
            ([REFUSED, *NONSENSE], "undecided"),
            ([LOOK, *NONSENSE], "user"),
        ],
    )
    def test_whose_fault_it_is_that_it_gives_up(self, domain: Domain, replies: list[Any], party: str) -> None:
        simulation = played(domain, *replies)
        assert kinds(simulation)[-1] == "gave up"
        assert blame(simulation).party == party

    def test_giving_up_is_the_manner_of_an_impatient_user(self, domain: Domain) -> None:
        simulation = played(domain, "One moment, please.", persona="impatient")
        assert simulation.messages[-1].content == "This is getting us nowhere. I give up. ###STOP###"
        assert kinds(simulation)[-1] is None
        assert blame(simulation).party == "agent"

    def test_an_agent_that_had_made_it_impossible_before(self, domain: Domain) -> None:
        simulation = played(domain, WRONG, NOISE, ENOUGH)
        assert report(simulation)[0] == "the scripted user did not understand 1 of 3 messages:"
        assert blame(simulation).party == "agent"
        after = played(domain, NOISE, WRONG, ENOUGH)
        assert blame(after).party == "user"

    def test_gold_does_not_listen(self, domain: Domain) -> None:
        simulation = played(domain, NOISE, ENOUGH)
        simulation.conditions = {"agent": "gold", "user": "scripted"}
        found = attribute(simulation, None)
        assert found is not None
        assert found.party == "task"


def test_a_trial_that_passed_has_a_fault_of_the_user_and_no_such_report(domain: Domain) -> None:
    simulation = played(domain, NOISE, RENAME, ENOUGH)
    assert simulation.reward == 1
    assert report(simulation)[0].startswith("reward 1")


class TestASummary:
    def test_the_line_about_functions_of_the_agent_s_own(self, domain: Domain) -> None:
        def silent(simulation: Simulation, **info: Any) -> str:
            simulation.info = replace(simulation.info, silent_agent="own.py:agent", **info)
            return silent_line([make_record(simulation, wanted(), "tiny")])

        changed = OutsideChanges("during", {}, [], 0)
        assert silent(played(domain, ENOUGH)) == "no tool call was made by agent own.py:agent"
        assert "functions that an agent calls itself" in silent(played(domain, ENOUGH), outside_changes=changed)
        assert silent(played(domain, LOOK, NOISE, ENOUGH)) == ""
