"""Trials of a task that make the same changes are replayed once for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_tau.environment import Domain, Environment
from pytest_tau.evaluation.evidence import StateHistory
from pytest_tau.models import FunctionCall, InitialState, calls_in
from pytest_tau.reports.html import environment_changes
from pytest_tau.reports.html.environment_changes import StateHistories, state_history

from . import tiny
from .report_pages import WISH, simulated
from .test_report import WANTED

if TYPE_CHECKING:
    from pytest_tau.models import AssistantMessage, Simulation


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return tiny.make(tmp_path_factory.mktemp("tiny") / "domain")


def talk(domain: Domain, *said: AssistantMessage) -> Simulation:
    return simulated(domain, WANTED, WISH, *said, tiny.STOP)


def found(histories: StateHistories, simulation: Simulation, domain: Domain) -> StateHistory:
    return histories.of(simulation, calls_in(simulation.messages), WANTED, domain, solo=False)


def look() -> AssistantMessage:
    return tiny.agent(tiny.call("look", item_id="lamp"))


def rename(name: str = "Torch") -> AssistantMessage:
    return tiny.agent(tiny.call("rename", item_id="lamp", name=name))


def test_trials_with_the_same_changes_are_replayed_once(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [talk(domain, rename()), talk(domain, look(), rename(), look()), talk(domain, rename("Lantern"))]
    expected = [state_history(each, WANTED, domain) for each in trials]
    replayed = []
    call = Environment.call
    monkeypatch.setattr(Environment, "call", lambda self, *args: replayed.append(args[0]) or call(self, *args))
    histories = StateHistories()
    assert [found(histories, each, domain) for each in trials] == expected
    assert replayed == ["rename", "rename"]
    assert [list(each.changes) for each in expected] == [[0], [1], [0]]


def test_a_replay_that_stops_is_no_history_of_other_trials(domain: Domain) -> None:
    trials = [talk(domain, rename()), talk(domain, look(), rename())]
    for each in trials:
        result = each.calls[-1].result
        assert result is not None
        result.error = True
    histories = StateHistories()
    notes = [found(histories, each, domain).note or "" for each in trials]
    assert [note.split(",")[0] for note in notes] == ["From message 1 on", "From message 3 on"]


def test_equal_calls_with_other_results_are_told_apart(domain: Domain) -> None:
    plain, other = talk(domain, rename()), talk(domain, rename())
    result = other.calls[-1].result
    assert result is not None
    result.content = "another text"
    histories = StateHistories()
    assert found(histories, plain, domain).note is None
    assert (found(histories, other, domain).note or "").startswith("One result")


@pytest.mark.parametrize("first", ["with a verdict", "without"])
def test_differences_are_looked_for_only_if_the_verdict_does_not_list_them(domain: Domain, first: str) -> None:
    graded = talk(domain, rename("Lantern"))
    assert graded.reward_info is not None
    assert graded.reward_info.db_diff
    ungraded = graded.model_copy(update={"reward_info": None})
    histories = StateHistories()
    trials = [graded, ungraded] if first == "with a verdict" else [ungraded, graded]
    paths = {each.outcome: [one.path for one in found(histories, each, domain).differences] for each in trials}
    assert paths["failed"] == []
    assert paths["error"] == [each.path for each in graded.reward_info.db_diff]


def test_histories_of_many_tasks_are_not_mixed_up(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment_changes, "_MOST_TASKS", 2)
    histories, trial = StateHistories(), talk(domain, rename())
    tasks = [WANTED.model_copy(update={"id": f"copy-{number}"}) for number in range(5)]
    calls, expected = calls_in(trial.messages), state_history(trial, WANTED, domain)
    for task in [*tasks, *tasks]:
        assert histories.of(trial, calls, task, domain, solo=False) == expected


def test_an_initial_state_that_cannot_be_made_is_reported_for_its_task_alone(domain: Domain) -> None:
    broken = WANTED.model_copy(
        update={
            "initial_state": InitialState(
                message_history=[],
                initialization_actions=[FunctionCall(env_type="assistant", func_name="nowhere", arguments={})],
            )
        }
    )
    histories, trial = StateHistories(), talk(domain, rename())
    calls = calls_in(trial.messages)
    for task, problem in [(broken, True), (WANTED, False), (broken, True)]:
        note = histories.of(trial, calls, task, domain, solo=False).note or ""
        assert note.startswith("Changes to the environment are not shown: ") == problem
