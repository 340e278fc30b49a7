"""Facts that have one home: the layout of a run's folder is known to ``runs/layout.py`` alone."""

from __future__ import annotations

import ast
from pathlib import Path

from pytest_tau.runs import layout

from .sources import nodes_of

ROOT = Path(__file__).parents[2]
HOME = Path(layout.__file__)
#: Names of files, patterns of them, and the beginning of a line.
NAMES = {
    layout.MANIFEST,
    layout.LOCK,
    layout.SIMULATIONS,
    layout.SIMULATION_FILES,
    layout.WORKER_FILES,
    layout.RECORDS,
    layout.RESULTS_INDEX,
    layout.TEST_PREFIX,
}


def test_no_other_module_names_the_files_of_a_run() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno} {node.value!r}"
        for file in sorted((ROOT / "pytest_tau").rglob("*.py"))
        if file != HOME
        for node in nodes_of(file)
        if isinstance(node, ast.Constant) and node.value in NAMES
    ]
    assert not found, "\n".join(found)


def test_a_worker_s_file_is_among_the_files_of_the_run(tmp_path: Path) -> None:
    for worker in ("", "gw0"):
        (tmp_path / layout.worker_file(worker)).touch()
    (tmp_path / f"{layout.SIMULATIONS}.7.draft").touch()
    assert [file.name for file in layout.simulation_files(tmp_path)] == ["simulations-gw0.jsonl", layout.SIMULATIONS]
    assert [file.name for file in tmp_path.glob(layout.WORKER_FILES)] == ["simulations-gw0.jsonl"]


def test_every_module_uses_the_json_of_this_package() -> None:
    """A project may replace the functions of Python's; the script runs in a process of its own."""
    allowed = {"plain/json.py", "knowledge/indexes/pattern_worker.py"}
    package = ROOT / "pytest_tau"
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}: write 'from ..plain import json'"
        for file in sorted(package.rglob("*.py"))
        if file.relative_to(package).as_posix() not in allowed
        for node in nodes_of(file)
        if isinstance(node, ast.Import) and any(each.name == "json" for each in node.names)
    ]
    assert not found, "\n".join(found)
