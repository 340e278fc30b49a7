"""Result files that people published: exported and read back, they are what they were."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from import_file import import_file

from pytest_tau.cli import main
from pytest_tau.runs.results.entries import Unreadable
from pytest_tau.runs.results.files import ResultFile

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]


def _checker() -> Callable[[dict[str, Any]], list[str]]:
    """Return the function that lists what τ²-bench's loader would refuse, which the unit tests have."""
    file = Path(__file__).parents[1] / "unit" / "tau2_required.py"
    found: Callable[[dict[str, Any]], list[str]] = import_file(file).problems
    return found


problems = _checker()

#: Every recorded file.
NAMES = (
    *("airline_gpt-4.1_sft", "airline_gpt-4.1", "airline_azure_full", "airline_qwen2.5-7b", "airline_whissle"),
    *("airline_claude-opus-4.6_button", "retail_gpt-4.1_sft", "retail_gpt-4.1", "retail_one", "telecom_gpt-4o"),
    *("telecom_gpt-4.1_sft", "telecom_gpt-4.1_sft_solo", "telecom_gpt-4.1_solo_4trials", "telecom_adversarial_one"),
    *("mock_ten", "mock_one", "tau1_airline_gpt-4o_4trials", "tau1_airline_grok-4-fast_react"),
    *("tau1_airline_grok-4-fast_tools", "tau1_retail_grok-4-fast_tools"),
)
#: Files with entries that have no conversation.
WITHOUT_CONVERSATION = {"tau1_airline_grok-4-fast_tools"}


@functools.cache
def recorded(path: Path) -> tuple[ResultFile, tuple[list[Any], list[Any]]]:
    """A recorded file and its content, which each form is compared with, for reading only."""
    file = ResultFile.scan(path)
    return file, content(file)


def content(file: ResultFile) -> tuple[list[Any], list[Any]]:
    """Simulations and tasks of a file, as the importer reads them; without the fields that only pytest-tau has."""
    simulations, tasks = [], []
    for run in file.simulations():
        if not isinstance(run, Unreadable):
            found = run.simulation.model_dump()
            info = {
                name: value for name, value in (found.pop("info") or {}).items() if name not in ("pytest_tau", "solo")
            }
            simulations.append((found, info))
            tasks.append(run.task)
    return simulations, tasks


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("form", "suffix"), [("tau2", "json.gz"), ("jsonl", "jsonl")])
def test_a_recorded_run_is_the_same_once_it_is_exported(
    shared: Path, tmp_path: Path, name: str, form: str, suffix: str
) -> None:
    source, target = shared / "runs" / f"{name}.json.gz", tmp_path / f"out.{suffix}"
    status = main(["export", str(source), "--format", form, "-o", str(target)])
    (read, before), written = recorded(source), ResultFile.scan(target)
    after = content(written)
    assert before[0]
    assert after == before
    assert status == int(name in WITHOUT_CONVERSATION)
    # A τ-bench file does not name its domain; it is recognised by the tools that are called.
    assert written.domain == (read.domain or name.split("_")[1])
    if form == "tau2":
        assert problems(json.loads(gzip.decompress(target.read_bytes()))) == []
        assert (written.solo, written.info) == (read.solo, read.info or written.info)


def test_every_recorded_file_is_named_here(shared: Path) -> None:
    assert {file.name for file in (shared / "runs").glob("*.json.gz")} == {f"{name}.json.gz" for name in NAMES}


@pytest.mark.parametrize(
    ("name", "rows", "passed"), [("airline_gpt-4.1", 20, 10), ("tau1_airline_gpt-4o_4trials", 200, 84)]
)
def test_a_recorded_run_is_a_table(
    shared: Path, capsys: pytest.CaptureFixture[str], name: str, rows: int, passed: int
) -> None:
    assert main(["export", str(shared / "runs" / f"{name}.json.gz"), "--format", "csv"]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (len(table), sum(row["outcome"] == "passed" for row in table)) == (rows, passed)
