from __future__ import annotations

import typing
from typing import Any

import pytest

from pytest_tau.models import (
    CAPABILITY_LIMIT,
    FAULTS,
    NO_NOTES,
    STOPS,
    Attribution,
    ModelUsage,
    Notes,
    RewardInfo,
    Simulation,
    TerminationReason,
    ToolMessage,
    clone,
)

from .tiny import STOP, agent, call, user


def simulation(reward: float | None = None, reason: TerminationReason = "user_stop", **fields: Any) -> Simulation:
    info = None if reward is None else RewardInfo(reward=reward)
    return Simulation(id="s", task_id="t", termination_reason=reason, reward_info=info, **fields)


REASONS = typing.get_args(TerminationReason)


def test_reasons_are_the_reference_s_but_for_the_limit_of_a_capability() -> None:
    assert set(REASONS) - {CAPABILITY_LIMIT} == {
        "user_stop",
        "agent_stop",
        "max_steps",
        "timeout",
        "too_many_errors",
        "agent_error",
        "user_error",
        "infrastructure_error",
        "context_window_exceeded",
        "unexpected_error",
    }
    assert {"user_stop", "agent_stop"} == STOPS


@pytest.mark.parametrize("reason", REASONS)
def test_agent_faults_are_failures_and_only_others_are_errors(reason: TerminationReason) -> None:
    """A crash, a time-out or a limit counts against the agent; user, provider and harness do not."""
    fault = reason in {"user_error", "infrastructure_error", "unexpected_error"}
    assert (reason in FAULTS) is fault
    assert simulation(0.0, reason).outcome == ("error" if fault else "failed")


@pytest.mark.parametrize(
    ("reward", "outcome"),
    [(1.0, "passed"), (1 - 1e-7, "passed"), (1 - 1e-5, "failed"), (0.5, "failed"), (0.0, "failed"), (None, "error")],
)
def test_the_reward_decides(reward: float | None, outcome: str) -> None:
    assert simulation(reward).outcome == outcome
    assert simulation(reward).reward == (reward or 0.0)


def test_success_is_within_a_millionth_of_one() -> None:
    assert RewardInfo(reward=1 + 1e-7).passed
    assert not RewardInfo(reward=1 + 1e-5).passed


TRAJECTORY: list[Any] = [
    agent("Hi"),
    user("Hello"),
    agent(call("rename", item_id="lamp", name="x"), call("look", item_id="lamp")),
    ToolMessage(content="renamed"),
    ToolMessage(content="Error: dark", error=True),
    user(call("switch")),
    ToolMessage(content="on", requestor="user"),
    agent(call("count")),
]


def test_calls_carry_their_results_and_turns() -> None:
    calls = simulation(messages=TRAJECTORY).calls
    assert [(made.message_idx, made.call.name, made.result and made.result.content) for made in calls] == [
        (2, "rename", "renamed"),
        (2, "look", "Error: dark"),
        (5, "switch", "on"),
        (7, "count", None),
    ]
    assert simulation(messages=[STOP]).calls == []


def test_called_compares_the_named_arguments() -> None:
    done = simulation(messages=TRAJECTORY)
    assert done.called("rename")
    assert done.called("rename", item_id="lamp")
    assert done.called("switch")
    assert not done.called("rename", item_id="desk")
    assert not done.called("rename", colour=None)
    assert not done.called("remove")


def test_called_refuses_a_name_that_is_no_tool_of_the_trial() -> None:
    done = simulation(messages=TRAJECTORY)
    done.know_tools({"rename": None, "remove": None})
    assert not done.called("remove")
    with pytest.raises(ValueError, match=r"unknown tool 'remov'; did you mean 'remove'\?"):
        done.called("remov")
    assert done.called("switch")  # such as a tool that the agent has made up
    assert not done.called("switch", on=True)


def test_called_refuses_an_argument_that_the_tool_does_not_have() -> None:
    done = simulation(messages=TRAJECTORY)
    done.know_tools({"rename": frozenset({"item_id", "name"}), "remove": frozenset({"item_id"}), "switch": None})
    assert not done.called("remove", item_id="lamp")
    with pytest.raises(ValueError, match=r"tool 'remove': unknown argument 'item'; did you mean 'item_id'\?"):
        done.called("remove", item="lamp")
    with pytest.raises(ValueError, match="tool 'rename': unknown argument 'nam'"):
        done.called("rename", item_id="lamp", nam="Light")
    assert not done.called("switch", on=True)  # its arguments are not known


def test_known_tools_are_not_stored_and_not_compared() -> None:
    done = simulation(messages=TRAJECTORY)
    stored = done.model_dump_json()
    done.know_tools({"rename": None})
    assert done.model_dump_json() == stored
    assert done == Simulation.model_validate_json(stored)
    assert not Simulation.model_validate_json(stored).called("remov")
    with pytest.raises(ValueError, match="remov"):
        clone(done).called("remov")


def test_an_argument_may_be_called_name() -> None:
    done = simulation(messages=TRAJECTORY)
    assert done.called("rename", item_id="lamp", name="x")
    assert not done.called("rename", name="y")


def test_a_simulation_survives_json() -> None:
    done = simulation(1.0, messages=TRAJECTORY, seed=5, stop_token="###STOP###", replay_differences=["x"])
    assert Simulation.model_validate_json(done.model_dump_json()) == done


def test_a_cost_is_known_if_every_call_has_a_price() -> None:
    assert ModelUsage(calls=2, known_cost=0.5).cost == 0.5
    assert ModelUsage(calls=2, known_cost=0.5, unpriced_calls=1).cost is None


def test_a_result_that_no_call_waits_for_belongs_to_none() -> None:
    found = simulation(messages=[ToolMessage(id="1"), agent(call("count")), ToolMessage(id="2"), ToolMessage(id="3")])
    (made,) = found.calls
    assert made.result is not None
    assert (made.message_idx, made.result.id) == (1, "2")


def test_the_calls_of_a_conversation_with_a_system_message() -> None:
    system = {"role": "system", "content": "Be brief."}
    with_system = simulation(messages=[*TRAJECTORY[:1], system, *TRAJECTORY[1:]])
    assert [made.call for made in with_system.calls] == [made.call for made in simulation(messages=TRAJECTORY).calls]


@pytest.mark.parametrize(
    ("conditions", "names"),
    [
        (None, (None, None)),
        ({"agent": "gold"}, ("gold", None)),
        ({"agent": "llm", "models": {"agent": {"name": "m", "args": {}}}}, ("llm", "m")),
        ({"agent": {"name": "x"}, "models": {"user": {"name": "m"}}}, (None, None)),
    ],
)
def test_agent_and_model_are_those_of_the_conditions(conditions: Any, names: tuple[str | None, str | None]) -> None:
    found = simulation(conditions=conditions)
    assert (found.agent_name, found.called_model("agent")) == names


BLAME = {"party": "user", "reason": "r", "message_idx": 3, "evidence": "e"}


@pytest.mark.parametrize(
    ("info", "notes"),
    [
        (None, NO_NOTES),
        ({"solo": True, "blame": BLAME}, Notes(solo=True, blame=Attribution("user", "r", 3, "e"))),
        ({"auth_classification": {"status": "succeeded"}}, None),
        ({"solo": "yes", "blame": {"party": "nobody"}, "late_calls": [1], "saw_reference": ["judge"]}, None),
        ({"turning_point": {"message_idx": 1, "kind": "missing", "text": "x", "call": {"name": "a"}}}, None),
    ],
)
def test_notes_are_typed_and_what_is_not_of_their_form_is_kept(info: Any, notes: Notes | None) -> None:
    """An entry of others, or of another form than ours, is not understood, and written as it was."""
    stored = simulation().model_dump(mode="json") | {"info": info}
    read = Simulation.model_validate(stored)
    assert read.info == (Notes(others=info) if notes is None else notes)
    assert read.model_dump(mode="json")["info"] == info


def test_an_undecided_fault_is_of_either_side_unless_others_are_named() -> None:
    assert Attribution("undecided").candidates == ("agent", "user")
    assert Attribution("undecided", candidates=("task",)).candidates == ("task",)
    assert Attribution("agent").candidates == ()
