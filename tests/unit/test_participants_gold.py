from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.models import ToolMessage
from pytest_tau.participants import DONE, GoldAgent, ParticipantContext
from pytest_tau.participants.agents import GoldUser
from pytest_tau.participants.agents.gold import rounds_of

from .tiny import action, agent, check, run, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation, Task

RENAME = action("rename", item_id="lamp", name="Light")
COUNT, LOOK = action("price", item_id="lamp", price=3), action("look", item_id="lamp")
SWITCH, NOTE = action("switch", "user"), action("write_note", "user", note_id="n", text="x")


def names(rounds: list[tuple[list[Any], list[Any]]]) -> list[tuple[list[str], list[str]]]:
    return [([a.name for a in agents], [u.name for u in users]) for agents, users in rounds]


@pytest.mark.parametrize(
    ("actions", "rounds"),
    [
        (None, [([], [])]),
        ([], [([], [])]),
        ([RENAME, LOOK], [(["rename", "look"], [])]),
        ([SWITCH], [([], ["switch"])]),
        ([RENAME, SWITCH], [(["rename"], ["switch"])]),
        ([SWITCH, RENAME], [([], ["switch"]), (["rename"], [])]),
        (
            [RENAME, LOOK, SWITCH, NOTE, COUNT, SWITCH],
            [(["rename", "look"], ["switch", "write_note"]), (["price"], ["switch"])],
        ),
    ],
)
def test_actions_fall_into_rounds(actions: Any, rounds: Any) -> None:
    assert names(rounds_of(task({"actions": actions}))) == rounds


def script(simulation: Simulation) -> list[str]:
    """Who said or called what."""
    lines = []
    for message in simulation.messages:
        if not isinstance(message, ToolMessage):
            calls = getattr(message, "tool_calls", None)
            said = ", ".join(call.name for call in calls) if calls else message.content
            lines.append(f"{message.role}: {said}")
    return lines


def gold(domain: Domain, wanted: Task, **options: Any) -> Simulation:
    simulation = pytest_tau.simulate(wanted, domain=domain, **options)
    assert simulation.termination_reason in ("user_stop", "agent_stop"), simulation.error
    return simulation


def test_both_sides_take_turns_in_the_order_of_the_actions(domain: Domain) -> None:
    criteria = {
        "actions": [RENAME, LOOK, SWITCH, NOTE, COUNT, SWITCH],
        "communicate_info": ["42", "3 items"],
        "reward_basis": ["DB", "ACTION", "COMMUNICATE"],
    }
    simulation = gold(domain, task(criteria))
    assert simulation.reward == 1.0
    assert script(simulation) == [
        "assistant: Hi! How can I help you today?",
        "user: I want something.",
        "assistant: rename",
        "assistant: look",
        "assistant: Please do the next step on your side and tell me when it is done.",
        "user: switch",
        "user: write_note",
        "user: Done, what is next?",
        "assistant: price",
        "assistant: That is everything on my side.\n42\n3 items",
        "user: switch",
        "user: ###STOP###",
    ]


@pytest.mark.parametrize(
    "actions", [None, [], [RENAME], [SWITCH], [SWITCH, RENAME], [SWITCH, SWITCH], [RENAME, SWITCH, RENAME]]
)
@pytest.mark.parametrize(
    "history",
    [
        None,
        [{"role": "user", "content": "Hello"}],
        [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes?"}],
        [
            {"role": "assistant", "tool_calls": [{"id": "1", "name": "look", "arguments": {"item_id": "lamp"}}]},
            {"role": "tool", "id": "1", "content": "x"},
        ],
        [
            {"role": "user", "tool_calls": [{"id": "1", "name": "read_phone", "requestor": "user"}]},
            {"role": "tool", "id": "1", "content": "x", "requestor": "user"},
        ],
    ],
    ids=["fresh", "agent-next", "user-next", "agent-after-tool", "user-after-tool"],
)
def test_gold_passes_wherever_the_conversation_begins(domain: Domain, actions: Any, history: Any) -> None:
    criteria = {"actions": actions, "communicate_info": ["42"], "reward_basis": ["DB", "ACTION", "COMMUNICATE"]}
    wanted = task(criteria, state={"message_history": history} if history else None)
    simulation = gold(domain, wanted)
    assert simulation.reward == 1.0
    assert not any(made.result and made.result.error for made in simulation.calls)
    assert [made.call.name for made in simulation.calls if made.call.name not in ("look", "read_phone")] == [
        a["name"] for a in actions or []
    ]


def test_a_call_of_the_history_that_waits_for_its_result_is_part_of_what_is_wanted(domain: Domain) -> None:
    """Every conversation of the task begins with it, so the reference state has it, too."""
    waiting = {"id": "1", "name": "price", "arguments": {"item_id": "desk", "price": 7}}
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [waiting]}]
    wanted = task({"actions": [RENAME], "reward_basis": ["DB", "ACTION"]}, state={"message_history": history})
    assert gold(domain, wanted).reward == 1.0


def test_failing_reference_actions_are_made(domain: Domain) -> None:
    criteria = {
        "actions": [action("remove", item_id="sofa") | {"fails": True}, RENAME],
        "reward_basis": ["DB", "ACTION"],
    }
    assert gold(domain, task(criteria)).reward == 1.0


def test_alone_the_agent_carries_out_both_sides_actions(domain: Domain) -> None:
    wanted = task({"actions": [RENAME, SWITCH, COUNT], "reward_basis": ["DB"]}, ticket="Do it.")
    simulation = gold(domain, wanted, settings=SimulationSettings(solo=True))
    assert simulation.reward == 1.0
    assert simulation.termination_reason == "agent_stop"
    assert script(simulation) == [
        "assistant: rename",
        "assistant: switch",
        "assistant: price",
        "assistant: ###STOP###",
    ]
    assert DONE == "done"


def test_a_scenario_in_parts_is_what_the_user_opens_with(domain: Domain) -> None:
    told = {"reason_for_call": "The lamp is dark.", "known_info": "You are Ada.", "task_instructions": "Secret."}
    wanted = task({"actions": []}, user_scenario={"instructions": told})
    assert script(gold(domain, wanted))[1] == "user: The lamp is dark. I am Ada."


def test_arguments_are_copies(domain: Domain) -> None:
    wanted = task({"actions": [action("add", item_id="sofa", tags=["x"])]})
    context = ParticipantContext("agent", [], "", wanted)
    (made,) = run(GoldAgent(context).respond(user("Hi"))).tool_calls or []
    made.arguments["tags"].append("y")
    assert wanted.criteria.actions is not None
    assert wanted.criteria.actions[0].arguments["tags"] == ["x"]


def test_gold_trials_do_not_share_their_place_in_the_script(domain: Domain) -> None:
    wanted = task({"actions": [RENAME], "reward_basis": ["ACTION"]})
    assert [gold(domain, wanted, trial=n).reward for n in range(2)] == [1.0, 1.0]


def test_a_user_that_does_not_start_says_nothing_first() -> None:
    context = ParticipantContext("user", [], "", task({"actions": [SWITCH]}), history=[user("Hi")])
    assert run(GoldUser(context).respond(agent("Go"))).tool_calls
    opening = ParticipantContext("user", [], "", task({"actions": [SWITCH]}), history=[agent("Hi")])
    assert run(GoldUser(opening).respond(agent("Hi"))).content == "I want something."


def test_gold_meets_assertions_that_the_actions_bring_about(domain: Domain) -> None:
    criteria = {
        "actions": [action("count", by=2)],
        "env_assertions": [check("shows", "user", number=2)],
        "reward_basis": ["ENV_ASSERTION"],
    }
    assert gold(domain, task(criteria)).reward == 1.0
