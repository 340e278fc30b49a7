"""The lines of runs are read as quickly as they can be, with the result of reading them as any result file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.models import Notes
from pytest_tau.runs import reader
from pytest_tau.runs.jsonl import simulation_line
from pytest_tau.runs.reader import Run
from pytest_tau.runs.results.own_lines import own_simulations

from . import tiny
from .report_pages import good
from .test_report import WANTED

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return tiny.make(tmp_path_factory.mktemp("tiny") / "domain")


def stored(domain: Domain, **changes: Any) -> str:
    """A line of a run, with a test of its own for each trial."""
    simulation = good(domain, WANTED).model_copy(update=changes)
    return simulation_line(f"tiny::{simulation.task_id}[trial-{simulation.trial}]", domain, WANTED, simulation)


def changed(line: str, **fields: Any) -> str:
    """A line with other fields; ``...`` removes one."""
    entry = json.loads(line) | fields
    return json.dumps({name: value for name, value in entry.items() if value is not ...}) + "\n"


def read_both_ways(folder: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The run of a file, read as fast as possible, and read as any result file; each has its trials."""
    folder.mkdir()
    (folder / "simulations.jsonl").write_bytes(content)
    fast = Run(folder)
    found = list(fast.trials())
    general = Run(folder)
    with monkeypatch.context() as patch:
        patch.setattr(reader, "own_simulations", lambda _: iter([None]))
        expected = list(general.trials())
    assert found == expected
    assert [type(each.simulation) for each in found] == [type(each.simulation) for each in expected]
    assert [each.simulation.model_fields_set for each in found] == [
        each.simulation.model_fields_set for each in expected
    ]
    assert fast.problems == general.problems
    assert fast.kind == general.kind
    return [fast, general]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"messages": []},
        {"error": "\ud800 alone", "termination_reason": "unexpected_error", "reward_info": None},
        {"info": Notes(solo=True, others={"deep": [[[1e400]]], "large": 2**80})},
        {"duration": float("inf")},
    ],
    ids=["plain", "no-message", "lone-surrogate", "odd-numbers", "infinite"],
)
def test_a_simulation_is_the_same_however_it_is_read(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    lines = [stored(domain), stored(domain, trial=1, **changes), stored(domain, trial=2)]
    fast, _ = read_both_ways(tmp_path / "run", "".join(lines).encode(), monkeypatch)
    assert len(list(fast.trials())) == 3


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "odd",
    [
        {"messages": [{"role": "nobody"}]},
        {"messages": "none"},
        {"task": ...},
        {"task": {"id": "alpha", "of another": "version"}},
        {"task_id": None},
        {"domain": ...},
        {"test": ...},
        {"ticks": [1], "messages": []},
        {"reward_info": {"reward": "much"}},
        {"info": {"pytest_tau": {"unknown": ["seed"]}}},
        {"info": {"deep": json.loads("[" * 250 + "]" * 250)}},
    ],
    ids=lambda odd: "-".join(odd),
)
def test_a_line_that_was_changed_is_reported_as_in_any_result_file(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: dict[str, Any], place: int
) -> None:
    lines = [stored(domain, trial=number) for number in range(3)]
    lines[place] = changed(lines[place], **odd)
    read_both_ways(tmp_path / "run", "".join(lines).encode(), monkeypatch)


@pytest.mark.parametrize("depth", [150, 195, 205])
def test_a_value_that_is_nested_too_deep_is_refused(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    deep = json.loads("[" * depth + "]" * depth)
    read_both_ways(tmp_path / "run", changed(stored(domain), info={"deep": deep}).encode(), monkeypatch)
    task = json.loads(stored(domain))["task"] | {"annotations": deep}
    read_both_ways(tmp_path / "of a task", changed(stored(domain), task=task).encode(), monkeypatch)


@pytest.mark.parametrize("content", ["", "\n \n", "{broken\n", '{"test": "t"', "[]\n", "\xff\n"])
def test_what_is_no_simulation_is_reported_as_in_any_result_file(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    broken = content.encode("latin-1")
    read_both_ways(tmp_path / "alone", broken, monkeypatch)
    read_both_ways(tmp_path / "between", stored(domain).encode() + broken + stored(domain).encode(), monkeypatch)
    read_both_ways(tmp_path / "at the end", stored(domain).encode() + broken, monkeypatch)


def test_of_a_test_that_was_run_again_the_last_counts(
    domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [stored(domain, seed=1), stored(domain, seed=2, trial=1), stored(domain, seed=3)]
    fast, _ = read_both_ways(tmp_path / "run", "".join(lines).encode(), monkeypatch)
    assert [each.simulation.seed for each in fast.trials()] == [2, 3]


def test_trials_of_a_task_have_one_task_object(domain: Domain, tmp_path: Path) -> None:
    other = changed(stored(domain, trial=2), task=json.loads(stored(domain))["task"] | {"ticket": "Another one."})
    file = tmp_path / "simulations.jsonl"
    file.write_text(stored(domain) + stored(domain, trial=1) + other, encoding="utf-8")
    first, second, third = [each.task for each in own_simulations(file) if each is not None]
    assert first is second
    assert third is not None
    assert third.ticket == "Another one."


def test_a_task_inside_of_a_task_or_a_conversation_is_not_taken_for_the_task(domain: Domain, tmp_path: Path) -> None:
    entry = json.loads(stored(domain))
    nested = {"created": {"for": "ann", "task": {"id": "inner", "task": {"id": "innermost"}}}}
    in_task = changed(stored(domain), task=entry["task"] | {"annotations": nested})
    in_text = changed(stored(domain), info={"quoted": ', "task": {"id": "quoted"}}', "a": 1, "task": {"id": "x"}})
    file = tmp_path / "simulations.jsonl"
    file.write_text(in_task + in_text, encoding="utf-8")
    found = [(each.task, each.simulation.info) for each in own_simulations(file) if each is not None]
    assert [task and (task.id, task.annotations) for task, _ in found] == [(WANTED.id, nested), (WANTED.id, None)]
    assert [info.as_info() for _, info in found] == [entry["info"], json.loads(in_text)["info"]]
