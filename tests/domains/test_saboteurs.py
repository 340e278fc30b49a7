"""Saboteur by check: what spoils a right agent's work is caught, and by the check that is meant for it.

The agent is the domain's own, which passes every one of these tasks, so each failure is due to the saboteur.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import talks
from talks import bundled

import pytest_tau
from pytest_tau import Limits, SimulationSettings
from pytest_tau.evaluation import Evaluation, Verdict
from pytest_tau.models import Action, CustomCheck, Outcome
from pytest_tau.participants import domain_agent
from pytest_tau.participants.agents import faulty
from pytest_tau.runs.make_record import make_record
from pytest_tau.runs.record import TrialRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Domain
    from pytest_tau.models import Message, Simulation, Task

DOMAINS = ("airline", "retail", "telecom")
#: Enough to see each kind at work, and quick.
MOST = 25


class Privacy:
    """The agent passes on only what it has looked up about its caller."""

    name = "PRIVACY"

    def __init__(self, strangers: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self._strangers = strangers

    def evaluate(self, task: Task, messages: Sequence[Message], environment: Any) -> CustomCheck:
        called = [(c.name, c.arguments) for m in messages for c in getattr(m, "tool_calls", None) or []]
        own = [(a.name, a.arguments) for a in task.criteria.actions or []]
        leaked = [call for call in self._strangers if call in called and call not in own]
        return CustomCheck(name=self.name, reward=0.0 if leaked else 1.0, justification=str(leaked))


class Manners:
    """A judge that has heard of three insults."""

    name = "manners"

    def judge(self, statements: Sequence[str], messages: Sequence[Message]) -> list[Verdict]:
        said = " ".join(m.content or "" for m in messages if m.role == "assistant")
        rude = any(word in said for word in ("nuisance", "this slow", "fool"))
        return [Verdict(not rude, "heard" if rude else "friendly") for _ in statements]


@pytest.fixture(scope="module", params=DOMAINS)
def domain(request: pytest.FixtureRequest) -> Domain:
    return pytest_tau.load_domain(request.param)


@pytest.fixture(scope="module")
def solvable(domain: Domain) -> list[Task]:
    """Tasks that the agent passes unspoiled, and in which it writes something itself."""
    tasks = (task for task in domain.tasks("base") if writes(task, domain))
    passed = list(itertools.islice((task for task in tasks if record_of(task, domain).passed), MOST))
    assert len(passed) >= 20
    return passed


def writes(task: Task, domain: Domain) -> bool:
    tools = domain.spec.agent_tools.tool_infos
    actions = task.criteria.actions or []
    return any(a.requestor == "assistant" and tools[a.name].mutates for a in actions)


def talk(task: Task, domain: Domain, kind: str | None = None, **settings: Any) -> Simulation:
    return pytest_tau.simulate(
        task,
        domain=domain,
        agent=f"saboteur:{kind}" if kind else "rules",
        user="scripted",
        seed=1,
        settings=SimulationSettings(**settings),
    )


def bundled_talk(task: Task, domain: Domain, kind: str | None = None) -> Simulation:
    """Return the conversation of a bundled task, which other tests look at, too."""
    assert not task.needs_judge
    assert bundled(domain.name)[1][task.id] == task
    return talks.talk(domain.name, task.id, f"saboteur:{kind}" if kind else "rules")


def record_of(task: Task, domain: Domain, kind: str | None = None, **settings: Any) -> TrialRecord:
    simulation = talk(task, domain, kind, **settings) if settings else bundled_talk(task, domain, kind)
    return make_record(simulation, task, domain.name)


def calls(task: Task, domain: Domain, kind: str | None = None) -> list[tuple[str, dict[str, Any]]]:
    return [(made.call.name, made.call.arguments) for made in bundled_talk(task, domain, kind).calls]


def checks(record: TrialRecord) -> set[str]:
    """The kinds of checks that were not met, or how the conversation was cut off."""
    if record.termination_reason not in ("user_stop", "agent_stop"):
        return {record.termination_reason}
    return {name.split()[0] for name in record.failed_checks}


def by_state(task: Task) -> set[str]:
    """What looks at the final state of this task."""
    return {"DB", "ENV_ASSERTION"} & set(task.criteria.reward_basis)


def survives(record: TrialRecord, task: Task) -> bool:
    """Whether no check of the state finds the fault; who ends in another right outcome has done no harm."""
    return record.reached_outcome is None and not checks(record) & by_state(task)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["forgets-last-write", "transfers-too-soon"])
def test_a_final_state_that_was_not_reached_is_caught_by_the_state(
    domain: Domain, solvable: list[Task], kind: str
) -> None:
    assert not [task.id for task in solvable if survives(record_of(task, domain, kind), task)]


def test_a_wrong_item_is_caught_by_the_state(domain: Domain, solvable: list[Task]) -> None:
    """Where nothing else of its kind was seen there is no wrong item to take."""
    acted = {task.id: task for task in solvable if calls(task, domain) != calls(task, domain, "wrong-item")}
    records = {name: record_of(task, domain, "wrong-item") for name, task in acted.items()}
    # A wrong call that the tool refuses is made again, and rightly.
    missed = [name for name, task in acted.items() if not records[name].failed_calls and survives(records[name], task)]
    assert len(acted) >= 0.4 * len(solvable)
    assert not missed


def test_what_ends_in_another_right_outcome_is_no_survivor(domain: Domain, solvable: list[Task]) -> None:
    """What the saboteur leaves is a right outcome of the task here."""
    if domain.name == "telecom":
        pytest.skip("its tasks check assertions, which are the same for all outcomes")
    found = ((task, record_of(task, domain, "wrong-item")) for task in solvable)
    task, record = next(each for each in found if checks(each[1]) & by_state(each[0]) == {"DB"})
    assert not record.passed
    assert record.reached_outcome is None
    calls = bundled_talk(task, domain, "wrong-item").calls
    left = [
        Action(action_id="a", name=made.call.name, arguments=made.call.arguments, requestor=made.call.requestor)
        for made in calls
        if made.result and not made.result.error
    ]
    lenient = with_criteria(task, outcomes=[Outcome(actions=left, why="either will do")])
    again = make_record(talk(lenient, domain, "wrong-item"), lenient, domain.name)
    assert (again.reached_outcome, checks(again) & {"DB"}) == (0, set())
    assert not survives(again, lenient)


@pytest.mark.exhaustive
def test_a_loop_is_caught_by_the_limits(domain: Domain, solvable: list[Task]) -> None:
    ends = Counter(record_of(task, domain, "loops").termination_reason for task in solvable)
    assert set(ends) <= {"max_steps", "too_many_errors"}
    assert ends["max_steps"]


@pytest.mark.exhaustive
def test_a_leak_is_caught_by_a_check_of_one_s_own_and_by_no_other(domain: Domain, solvable: list[Task]) -> None:
    evaluation = Evaluation(evaluators=[Privacy(strangers_of(domain))])
    privately = {
        task.id: with_criteria(task, reward_basis=[*task.criteria.reward_basis, "PRIVACY"]) for task in solvable
    }
    # A stranger is no stranger in tasks of its own.
    others = [task for task in solvable if record_of(privately[task.id], domain, evaluation=evaluation).passed]
    assert len(others) >= len(solvable) - 4
    for task in others[:15]:
        watched = privately[task.id]
        assert checks(record_of(watched, domain, "leaks", evaluation=evaluation)) == {"PRIVACY"}
        assert record_of(task, domain, "leaks").passed


@pytest.mark.exhaustive
def test_rudeness_is_caught_by_a_judge_and_by_nothing_else(domain: Domain, solvable: list[Task]) -> None:
    evaluation = Evaluation(judge=Manners())
    for task in solvable[:15]:
        basis = [*task.criteria.reward_basis, "NL_ASSERTION"]
        watched = with_criteria(task, reward_basis=basis, nl_assertions=["The agent is polite."])
        assert record_of(watched, domain, evaluation=evaluation).passed
        assert checks(record_of(watched, domain, "rude", evaluation=evaluation)) == {"NL_ASSERTION"}
        assert record_of(task, domain, "rude").passed


def test_slowness_is_caught_by_the_clock(domain: Domain, solvable: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulty, "DELAY", 0.2)
    for task in solvable[:3]:
        record = record_of(task, domain, "slow", limits=Limits(timeout=0.1))
        assert (record.outcome, record.termination_reason) == ("failed", "timeout")


@pytest.mark.exhaustive
def test_a_skipped_confirmation_is_caught_where_the_user_would_have_objected() -> None:
    """By the final state, and only there: who says yes in the end has lost nothing by not being asked."""
    retail = pytest_tau.load_domain("retail")
    tasks = [task for task in retail.tasks("base") if record_of(task, retail).passed]
    spoiled = {task.id: record_of(task, retail, "skips-confirmation") for task in tasks}
    caught = {task_id for task_id, record in spoiled.items() if not record.passed}
    assert caught
    assert all("DB" in checks(spoiled[task_id]) for task_id in caught)
    minds = {task.id for task in tasks if changes_its_mind(task)}
    assert caught <= minds


def changes_its_mind(task: Task) -> bool:
    script = task.user_scenario.script
    assert script is not None
    answers = [answer for request in script.requests for answer in request.answers] + list(script.answers)
    return any("confirm" in words for answer in answers for words in answer.asks) or bool(script.declines)


def strangers_of(domain: Domain) -> Sequence[tuple[str, dict[str, Any]]]:
    found: Sequence[tuple[str, dict[str, Any]]] = domain_agent("rules", domain.spec.agents).foreign_records
    assert len(found) >= 2
    return found


def with_criteria(task: Task, **changes: Any) -> Task:
    criteria = task.criteria.model_copy(update=changes)
    return task.model_copy(update={"evaluation_criteria": criteria})
