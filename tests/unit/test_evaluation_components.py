"""The protocol that every reward component implements, the built-in ones and those of plugins."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.diagnosis import attribute, explain
from pytest_tau.errors import EvaluatorError
from pytest_tau.evaluation import BUILT_IN_JUDGES, COMPONENTS, OFFICIAL, CustomComponent, Line, components_of
from pytest_tau.evaluation.component import GradingInput, StoredComponent, as_component
from pytest_tau.evaluation.evidence import Evidence, StateHistory
from pytest_tau.models import REWARD_TYPES, CustomCheck, RewardInfo, Simulation
from pytest_tau.runs.make_record import make_record

from .tiny import STOP, action, agent, call, check, graded, task, user

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Domain
    from pytest_tau.evaluation import RewardComponent
    from pytest_tau.models import Call

WANTED = {
    "actions": [action("rename", item_id="lamp", name="Light"), action("switch", "user")],
    "env_assertions": [check("named", item_id="lamp", name="Light")],
    "communicate_info": ["light", "42"],
    "nl_assertions": ["The agent is kind."],
    "reward_basis": list(REWARD_TYPES),
}
DONE = [agent(call("rename", item_id="lamp", name="Light")), user(call("switch")), agent("Light. 42.")]

#: Those that check what the format's criteria say.
OF_FORMAT = {component.name: component for component in COMPONENTS if component.name in REWARD_TYPES}

names = pytest.mark.parametrize("component", OF_FORMAT.values(), ids=OF_FORMAT)


def verdict(domain: Domain, *messages: Any, met: bool) -> RewardInfo:
    return graded(domain, task(WANTED), *messages, judge=BUILT_IN_JUDGES["accept" if met else "reject"])


def simulation(info: RewardInfo) -> Simulation:
    return Simulation(id="s", task_id="t", messages=[STOP], termination_reason="user_stop", reward_info=info)


def test_the_table_has_the_components_of_the_format_in_its_order() -> None:
    assert tuple(OF_FORMAT) == REWARD_TYPES


@names
def test_a_component_answers_about_unmet_checks(domain: Domain, component: RewardComponent) -> None:
    info = verdict(domain, met=False)
    checks = component.checks(info)
    assert checks
    assert component.value(info) == 0
    assert not any(each.met for each in checks)
    failed = component.failed_checks(info)
    assert len(failed) == len(checks)
    assert all(each.split()[0] == component.name for each in failed)
    assert component.explain(info, [])
    assert component.to_json(info)
    evidence = Evidence(simulation(info), [], [], StateHistory(), OFFICIAL)
    assert [each.text for each in component.located(info, evidence)] == [each.text for each in checks]


@names
def test_a_component_says_nothing_about_met_checks(domain: Domain, component: RewardComponent) -> None:
    info = verdict(domain, *DONE, met=True)
    assert info.reward == 1
    assert component.value(info) == 1
    assert all(each.met for each in component.checks(info))
    assert component.failed_checks(info) == []
    assert component.explain(info, []) == []
    assert component.omission(info) is None
    assert component.details(info) == []


def test_what_is_graded_cannot_be_exchanged_and_the_reference_is_a_copy(domain: Domain) -> None:
    given = GradingInput(task(WANTED), [STOP], domain, OFFICIAL)
    assert given.solo is False
    with pytest.raises(FrozenInstanceError):
        given.task = task()  # type: ignore[misc]
    first, second = given.reference, given.reference
    assert first is not None
    assert second is not None
    before = second.agent_db.dump()
    first.execute("count", {})
    assert first.agent_db.dump() != before
    assert second.agent_db.dump() == before == given.reference.agent_db.dump()  # type: ignore[union-attr]


def test_unjudged_statements_are_no_factor(domain: Domain) -> None:
    info = graded(domain, task(WANTED))
    statements = OF_FORMAT["NL_ASSERTION"]
    assert statements.value(info) is None
    assert statements.checks(info) == []
    assert "NL_ASSERTION" not in (info.reward_breakdown or {})


# Components of plugins


class Polite:
    """The least that a component has."""

    name = "POLITE"

    def evaluate(self, task: Any, messages: Any, environment: Any) -> CustomCheck:
        return CustomCheck(name=self.name, reward=0.0, justification="no please")


class Turns(CustomComponent):
    """A component that answers for itself."""

    name = "TURNS"

    def evaluate(self, task: Any, messages: Any, environment: Any) -> CustomCheck:
        return CustomCheck(name=self.name, reward=0.0, justification=f"{len(messages)} messages")

    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        return [Line("bad", f"too many turns: {each.note}") for each in self.checks(verdict)]

    def failed_checks(self, verdict: RewardInfo) -> list[str]:
        return ["TURNS too many"]


def test_the_least_that_a_component_has_is_enough(domain: Domain) -> None:
    info = graded(domain, task({"reward_basis": ["POLITE"]}), evaluators=[Polite()])
    assert info.reward_breakdown == {"POLITE": 0.0}
    *_, component = components_of(info)
    assert component.checks(info)[0][:2] == ("POLITE", False)
    assert component.failed_checks(info) == ["POLITE"]
    assert component.explain(info, []) == [Line("bad", "POLITE 0: no please")]
    assert component.to_json(info) == {"polite": [False]}


def test_one_that_overrides_an_answer_is_asked_where_it_is_at_hand(domain: Domain) -> None:
    turns = Turns()
    info = graded(domain, task({"reward_basis": ["TURNS"]}), evaluators=[Polite(), turns])
    assert [check.name for check in info.custom_checks or []] == ["POLITE", "TURNS"]
    assert as_component(turns) is turns
    failed = simulation(info)
    own = [line.text for line in explain(failed, evaluators=[turns])]
    assert "POLITE 0: no please" in own
    assert "too many turns: 1 messages" in own
    assert "TURNS 0: 1 messages" in [line.text for line in explain(failed)]
    assert make_record(failed, None, "tiny", evaluators=[turns]).failed_checks == ("TURNS too many",)
    assert make_record(failed, None, "tiny").failed_checks == ("TURNS",)
    found = attribute(failed, None)
    assert found is not None
    assert (found.party, found.evidence) == ("undecided", "TURNS")


@pytest.mark.parametrize("answer", [ZeroDivisionError, "no lines"])
def test_one_whose_answers_fail_is_reported_on_like_any_other(domain: Domain, answer: Any) -> None:
    class Broken(Turns):
        def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
            if answer is ZeroDivisionError:
                raise answer
            return answer  # type: ignore[no-any-return]

        def failed_checks(self, verdict: RewardInfo) -> list[str]:
            raise ZeroDivisionError

    info = graded(domain, task({"reward_basis": ["TURNS"]}), evaluators=[Broken()])
    lines = [line.text for line in explain(simulation(info), evaluators=[Broken()])]
    assert "TURNS 0: 1 messages" in lines
    assert any(line.startswith("  TURNS could not be explained: ") for line in lines)
    assert make_record(simulation(info), None, "tiny", evaluators=[Broken()]).failed_checks == ("TURNS",)


def test_a_stored_verdict_is_reported_on_and_not_found_again(domain: Domain) -> None:
    stored = StoredComponent("POLITE")
    with pytest.raises(EvaluatorError, match="'POLITE' is not available"):
        stored.grade(GradingInput(task(), [], domain, OFFICIAL), RewardInfo(reward=0.0))


def test_a_built_in_component_without_criteria_of_its_own_checks_where_the_basis_names_it() -> None:
    assert all(component.applies(task()) for component in OF_FORMAT.values())
    assert not Turns().applies(task({"reward_basis": ["DB"]}))
    assert Turns().applies(task({"reward_basis": ["TURNS"]}))


@pytest.mark.parametrize(
    ("found", "reward"),
    [(0, 0.0), (1, 1.0), (True, 1.0), (Fraction(1), 1.0), (0.25, 0.25), (CustomCheck(name="POLITE", reward=0.5), 0.5)],
)
def test_a_number_from_0_to_1_is_a_check(domain: Domain, found: Any, reward: float) -> None:
    class Found(Polite):
        def evaluate(self, task: Any, messages: Any, environment: Any) -> Any:
            return found

    info = graded(domain, task({"reward_basis": ["POLITE"]}), evaluators=[Found()])
    assert info.reward == reward
    assert info.custom_checks == [CustomCheck(name="POLITE", reward=reward)]
    *_, component = components_of(info)
    assert [each.met for each in component.checks(info)] == [reward >= 1]
    assert component.explain(info, []) == ([Line("bad", f"POLITE {reward:g}")] if reward < 1 else [])


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ("yes", "returned 'yes'"),
        (None, "returned None"),
        ("x" * 98, f"returned {'x' * 98!r}"),
        ("x" * 99, f"returned '{'x' * 98}…"),
        (1.01, "returned the reward 1.01"),
        (-0.5, "returned the reward -0.5"),
        (float("nan"), "returned the reward nan"),
        (CustomCheck(name="OTHER", reward=1.0), "returned a CustomCheck with the name 'OTHER'"),
    ],
)
def test_anything_else_is_an_error_of_the_evaluator(domain: Domain, found: Any, problem: str) -> None:
    class Found(Polite):
        def evaluate(self, task: Any, messages: Any, environment: Any) -> Any:
            return found

    with pytest.raises(EvaluatorError) as error:
        graded(domain, task({"reward_basis": ["POLITE"]}), evaluators=[Found()])
    assert str(error.value) == (
        f"evaluator 'POLITE' {problem} for task 't'; expected a number from 0 to 1, or "
        "CustomCheck(name='POLITE', reward=…, justification=…) with such a reward"
    )
