"""Trials of a task that make the same changes are replayed once for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_tau.environment import Domain
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


def look() -> AssistantMessage:
    return tiny.agent(tiny.call("look", item_id="lamp"))


def rename(name: str = "Torch") -> AssistantMessage:
    return tiny.agent(tiny.call("rename", item_id="lamp", name=name))


def test_trials_with_the_same_changes_are_replayed_once(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [talk(domain, rename()), talk(domain, look(), rename(), look()), talk(domain, rename("Lantern"))]
    expected = [state_history(each, WANTED, domain) for each in trials]
    replayed = []
    find = Domain.reference_environment
    monkeypatch.setattr(
        Domain, "reference_environment", lambda self, task: replayed.append(task.id) or find(self, task)
    )
    histories = StateHistories()
    assert [histories.of(each, WANTED, domain) for each in trials] == expected
    assert len(replayed) == 2
    assert [list(each.changes) for each in expected] == [[0], [1], [0]]


def test_a_replay_that_stops_is_no_history_of_other_trials(domain: Domain) -> None:
    trials = [talk(domain, rename()), talk(domain, look(), rename())]
    for each in trials:
        result = each.calls[-1].result
        assert result is not None
        result.error = True
    histories = StateHistories()
    notes = [histories.of(each, WANTED, domain).note or "" for each in trials]
    assert [note.split(",")[0] for note in notes] == ["From message 1 on", "From message 3 on"]


def test_equal_calls_with_other_results_are_told_apart(domain: Domain) -> None:
    plain, other = talk(domain, rename()), talk(domain, rename())
    result = other.calls[-1].result
    assert result is not None
    result.content = "another text"
    histories = StateHistories()
    assert histories.of(plain, WANTED, domain).note is None
    assert (histories.of(other, WANTED, domain).note or "").startswith("One result")
