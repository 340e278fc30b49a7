from __future__ import annotations

import dataclasses
import typing
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.errors import ConfigurationError, EvaluatorError, TaskFormatError
from pytest_tau.evaluation import OFFICIAL, STRICT, grade, known_components
from pytest_tau.models import REWARD_TYPES, STOPS, CustomCheck, RewardInfo, TerminationReason

from .tiny import STOP, action, agent, call, check, graded, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

#: Each component's criteria, met by ALL_DONE and unmet by silence.
CRITERIA: dict[str, Any] = {
    "actions": [action("rename", item_id="lamp", name="Light")],
    "env_assertions": [check("named", item_id="lamp", name="Light")],
    "communicate_info": ["light"],
}
ALL_DONE = [agent(call("rename", item_id="lamp", name="Light")), agent("It is called Light now.")]
COMPONENTS = ["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE"]


# The basis


@pytest.mark.parametrize("component", COMPONENTS)
def test_only_the_basis_decides(domain: Domain, component: str) -> None:
    wanted = task(CRITERIA | {"reward_basis": [component]})
    done, nothing = graded(domain, wanted, *ALL_DONE), graded(domain, wanted)
    assert (done.reward, done.reward_breakdown) == (1.0, {component: 1.0})
    assert (nothing.reward, nothing.reward_breakdown) == (0.0, {component: 0.0})
    assert done.reward_basis == nothing.reward_basis == [component]


def test_components_multiply(domain: Domain) -> None:
    renamed, talk = ALL_DONE
    wanted = task(CRITERIA | {"reward_basis": COMPONENTS})
    assert graded(domain, wanted, *ALL_DONE).reward == 1.0
    half = graded(domain, wanted, renamed)
    assert half.reward == 0.0
    assert half.reward_breakdown == {"DB": 1.0, "ENV_ASSERTION": 1.0, "ACTION": 1.0, "COMMUNICATE": 0.0}
    assert graded(domain, wanted, talk).reward_breakdown == {
        "DB": 0.0,
        "ENV_ASSERTION": 0.0,
        "ACTION": 0.0,
        "COMMUNICATE": 1.0,
    }


def test_a_missing_basis_is_db_and_communicate(domain: Domain) -> None:
    wanted = task(CRITERIA)
    assert graded(domain, wanted, *ALL_DONE).reward_breakdown == {"DB": 1.0, "COMMUNICATE": 1.0}
    # Renamed twice, the last time rightly: the action is there, the rest is as well.
    assert graded(domain, wanted, ALL_DONE[0]).reward == 0.0
    assert graded(domain, wanted, ALL_DONE[1]).reward == 0.0


def test_everything_is_computed_also_where_it_does_not_gate(domain: Domain) -> None:
    info = graded(domain, task(CRITERIA | {"reward_basis": []}))
    assert info.reward == 1.0
    assert info.db_check is not None
    assert not info.db_check.db_match
    assert info.db_diff
    assert [c.met for c in info.env_assertions or []] == [False]
    assert [c.action_match for c in info.action_checks or []] == [False]
    assert [c.met for c in info.communicate_checks or []] == [False]
    assert info.nl_assertions == []


def test_missing_criteria_are_a_reward_of_one(domain: Domain) -> None:
    info = graded(domain, task(), agent(call("rename", item_id="lamp", name="anything")))
    assert info.reward == 1.0
    assert info.reward_basis is None
    assert info.db_check is None


def test_an_unknown_component_in_the_basis(domain: Domain) -> None:
    with pytest.raises(TaskFormatError, match="unknown reward basis 'POLITENESS'") as caught:
        graded(domain, task({"reward_basis": ["POLITENESS"]}, task_id="odd"))
    assert (caught.value.task_id, caught.value.field) == ("odd", "evaluation_criteria.reward_basis")


def test_checks_carry_the_kind_of_the_tool(domain: Domain) -> None:
    actions = [action("look"), action("count"), action("switch", "user"), action("transfer"), action("nowhere")]
    info = graded(domain, task({"actions": actions}))
    assert [c.tool_type for c in info.action_checks or []] == ["read", "write", "write", "generic", None]


# How it ended


@pytest.mark.parametrize("reason", typing.get_args(TerminationReason))
def test_only_stops_can_earn_more_than_zero(domain: Domain, reason: TerminationReason) -> None:
    wanted = task(CRITERIA)
    messages = [*ALL_DONE, user("Thanks.")]
    info = pytest_tau.evaluate(wanted, messages, termination_reason=reason, domain=domain)
    stopped = reason in STOPS
    assert info.reward == float(stopped)
    assert (info.info or {}).get("ended_early") == (None if stopped else reason)
    # Every component is computed nevertheless.
    assert info.reward_breakdown == {"DB": 1.0, "COMMUNICATE": 1.0}
    assert info.db_check is not None
    assert [c.action_match for c in info.action_checks or []] == [True]


def test_without_criteria_an_early_end_is_zero(domain: Domain) -> None:
    assert pytest_tau.evaluate(task(), [agent("Hi")], termination_reason="timeout", domain=domain).reward == 0.0


@pytest.mark.parametrize("reason", ["max_steps", "too_many_errors"])
def test_a_stop_on_the_hop_that_reaches_a_limit(domain: Domain, reason: Any) -> None:
    wanted = task(CRITERIA)
    for messages, strict in (([*ALL_DONE, STOP], 1.0), ([*ALL_DONE, user("Thanks.")], 0.0), (ALL_DONE, 0.0)):
        rewards = {
            grading: pytest_tau.evaluate(
                wanted, messages, termination_reason=reason, domain=domain, grading=grading
            ).reward
            for grading in ("official", "strict")
        }
        assert rewards == {"official": 0.0, "strict": strict}


def test_a_stop_that_fails_the_task_still_fails_it(domain: Domain) -> None:
    info = pytest_tau.evaluate(task(CRITERIA), [STOP], termination_reason="max_steps", domain=domain, grading="strict")
    assert info.reward == 0.0
    assert "ended_early" not in (info.info or {})


@pytest.mark.parametrize("reason", ["agent_error", "user_error", "infrastructure_error", "unexpected_error"])
def test_strict_forgives_limits_only(domain: Domain, reason: Any) -> None:
    info = pytest_tau.evaluate(
        task(CRITERIA), [*ALL_DONE, STOP], termination_reason=reason, domain=domain, grading="strict"
    )
    assert info.reward == 0.0


def test_strict_takes_the_stop_of_an_agent_alone(domain: Domain) -> None:
    wanted = task({"actions": CRITERIA["actions"], "reward_basis": ["DB"]}, ticket="Rename it.")

    def reward(last: Any, grading: str) -> float:
        messages = [ALL_DONE[0], last]
        return pytest_tau.evaluate(
            wanted, messages, termination_reason="max_steps", domain=domain, solo=True, grading=grading
        ).reward

    assert reward(agent("###STOP###"), "official") == 0.0
    assert reward(agent("###STOP###"), "strict") == 1.0
    # The limit came before the result, or before the agent's own words.
    assert reward(agent(call("look", item_id="lamp")), "strict") == 0.0
    assert reward(user("Thanks."), "strict") == 0.0


# Grading profiles


def test_verdicts_that_differ_between_the_profiles(domain: Domain) -> None:
    wanted = task(CRITERIA | {"communicate_info": ["5"], "reward_basis": ["ACTION", "COMMUNICATE"]})
    sloppy = [agent(call("rename", item_id="lamp")), agent("There are 51.")]
    assert graded(domain, wanted, *sloppy).reward == 1.0
    assert graded(domain, wanted, *sloppy, grading="official").reward == 1.0
    assert graded(domain, wanted, *sloppy, grading="strict").reward_breakdown == {"ACTION": 0.0, "COMMUNICATE": 0.0}


def test_the_profile_is_noted(domain: Domain) -> None:
    for grading in (OFFICIAL, STRICT):
        assert (graded(domain, task(CRITERIA), grading=grading).info or {})["grading"] == grading.name


def test_a_profile_of_one_s_own(domain: Domain) -> None:
    mine = dataclasses.replace(OFFICIAL, name="mine", whole_phrases=True)
    wanted = task({"communicate_info": ["5"], "reward_basis": ["COMMUNICATE"]})
    assert graded(domain, wanted, agent("51"), grading=mine).reward == 0.0


def test_an_unknown_profile(domain: Domain) -> None:
    with pytest.raises(ConfigurationError, match="unknown grading profile"):
        graded(domain, task(), grading="lenient")


def test_a_task_that_a_do_nothing_agent_passes_is_marked_in_strict(domain: Domain) -> None:
    floor, real = task({"actions": [], "reward_basis": ["DB"]}), task(CRITERIA)
    assert (graded(domain, floor, grading="strict").info or {}).get("passes_without_agent") is True
    assert "passes_without_agent" not in (graded(domain, floor).info or {})
    assert "passes_without_agent" not in (graded(domain, real, *ALL_DONE, grading="strict").info or {})
    assert graded(domain, floor, grading="strict").reward == 1.0  # marked, not failed


def test_alone_an_agent_makes_the_user_s_calls_also_in_strict(domain: Domain) -> None:
    wanted = task({"actions": [action("switch", "user")], "reward_basis": ["ACTION", "DB"]}, ticket="Switch it.")
    info = graded(domain, wanted, agent(call("switch")), solo=True, grading="strict")
    assert info.reward == 1.0
    assert graded(domain, wanted, agent(call("switch")), grading="strict").reward == 0.0


# Evaluators of plugins


class Politeness:
    name = "POLITENESS"

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def evaluate(self, task: Any, messages: Any, environment: Any) -> CustomCheck:
        self.seen.append((task.id, len(messages), environment.dump()["agent"]["items"]["lamp"]["name"]))
        polite = any("please" in (message.content or "") for message in messages)
        return CustomCheck(name=self.name, reward=0.5 if polite else 0.0, justification="so it seems")


def test_an_evaluator_gates_where_the_basis_names_it(domain: Domain) -> None:
    evaluator = Politeness()
    gating = task(CRITERIA | {"reward_basis": ["DB", "POLITENESS"]})
    info = graded(domain, gating, *ALL_DONE, agent("please"), evaluators=[evaluator])
    assert info.reward == 0.5
    assert info.reward_breakdown == {"DB": 1.0, "POLITENESS": 0.5}
    assert info.custom_checks == [CustomCheck(name="POLITENESS", reward=0.5, justification="so it seems")]
    assert evaluator.seen == [("t", 4, "Light")]


def test_evaluator_outside_the_basis_is_reported(domain: Domain) -> None:
    info = graded(domain, task(CRITERIA), *ALL_DONE, evaluators=[Politeness()])
    assert info.reward == 1.0
    assert [found.reward for found in info.custom_checks or []] == [0.0]


def test_an_evaluator_changes_nothing_that_is_graded(domain: Domain) -> None:
    class Normalizer(Politeness):
        def evaluate(self, task: Any, messages: Any, environment: Any) -> CustomCheck:
            task.evaluation_criteria.actions.clear()
            for message in messages:
                message.content = "please"
            return super().evaluate(task, messages, environment)

    gating = task(CRITERIA | {"reward_basis": ["POLITENESS"]})
    said = [*ALL_DONE, agent("Lower the lamp.")]
    for evaluators in ([Normalizer()], [Normalizer(), Politeness()]):
        info = graded(domain, gating, *said, evaluators=evaluators)
        assert info.reward == (0.5 if len(evaluators) == 1 else 0.0)
    assert gating.criteria.actions
    assert said[-1].content == "Lower the lamp."


def test_an_evaluator_that_raises_is_no_verdict(domain: Domain) -> None:
    class Broken(Politeness):
        def evaluate(self, task: Any, messages: Any, environment: Any) -> CustomCheck:
            raise ZeroDivisionError

    with pytest.raises(EvaluatorError, match=r"evaluator 'POLITENESS' failed on task '.*': ZeroDivisionError"):
        graded(domain, task(CRITERIA), evaluators=[Broken()])


def test_names_allowed_in_a_basis() -> None:
    of_capabilities = ["SESSIONS"]
    assert known_components([]) == [*REWARD_TYPES, *of_capabilities]
    assert known_components([Politeness()]) == [*REWARD_TYPES, *of_capabilities, "POLITENESS"]


# The API


def test_messages_may_be_json(domain: Domain) -> None:
    messages = [message.model_dump(mode="json") for message in [*ALL_DONE, STOP]]
    info = pytest_tau.evaluate(task(CRITERIA), messages, domain=domain)
    assert isinstance(info, RewardInfo)
    assert info.reward == 1.0
    again = RewardInfo.model_validate_json(info.model_dump_json())
    assert again == info


def test_grading_twice_gives_the_same_and_leaves_the_messages_alone(domain: Domain) -> None:
    wanted = task({"actions": [action("add", item_id="sofa", tags=["x"]), action("tag", item_id="sofa", tag="y")]})
    messages = [agent(call("add", item_id="sofa", tags=["x"])), agent(call("tag", item_id="sofa", tag="y")), STOP]
    before = [message.model_dump() for message in messages]
    first = pytest_tau.evaluate(wanted, messages, domain=domain)
    assert first.reward == 1.0
    assert [c.action_match for c in first.action_checks or []] == [True, True]
    assert [message.model_dump() for message in messages] == before
    assert pytest_tau.evaluate(wanted, messages, domain=domain) == first


def test_without_a_judge_nothing_is_awaited(domain: Domain) -> None:
    evaluation = pytest_tau.Evaluation()
    assert grade(task(CRITERIA), [*ALL_DONE, STOP], "user_stop", domain, evaluation).reward == 1.0


def test_an_initial_state_that_cannot_be_applied(domain: Domain) -> None:
    state = {"initialization_actions": [{"env_type": "assistant", "func_name": "nowhere"}]}
    with pytest.raises(TaskFormatError):
        graded(domain, task(CRITERIA, state=state))


def test_results_of_the_recording_do_not_count(domain: Domain) -> None:
    """Replay is lenient: what the calls do now decides."""
    lying = [
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "name": "rename", "arguments": {"item_id": "lamp", "name": "Light"}}],
        },
        {"role": "tool", "id": "1", "content": "Error: no", "error": True},
        {"role": "assistant", "content": "light"},
    ]
    assert graded(domain, task(CRITERIA), *lying).reward == 1.0
