"""Documents that others wrote are read in one place, ``documents.py``: it has the limits, and one kind of error."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .sources import nodes_of

PACKAGE = Path(__file__).parents[2] / "pytest_tau"
#: Parsers that know no limits, as they are written in the sources.
PARSERS = {
    *("json.loads", "json.load", "json.JSONDecoder", "tomllib.loads", "tomllib.load"),
    *("gzip.decompress", "gzip.open", "zlib.decompress", "zlib.decompressobj", "pickle.loads", "pickle.load"),
}
#: Where a parser is used all the same, and why.
ALLOWED = {
    "documents.py": "the home",
    # Values that this process, or another one of the same run, has just written.
    "chat/cassettes/codec.py": "a copy of a value of this process",
    "chat/cassettes/tape.py": "a copy of a value of this process",
    "evaluation/components/db.py": "a copy of a value of this process",
    "capabilities/snapshots/trajectory.py": "a copy of a value of this process",
    "capabilities/traces/reading/spool.py": "values that this process has put into its own database",
    "capabilities/traces/tasks/recorded.py": "arguments as this process has written them",
    "plugin/collect/resume.py": "a copy of a value of this process",
    "plugin/wire.py": "a worker's file in a folder of the run for temporary files",
    "plugin/report/trial_reports.py": "a report of a worker of this run",
    "environment/task_schema.py": "a copy of a value of this process",
    "knowledge/indexes/pattern_search.py": "the answer of a process of this package",
    "knowledge/indexes/pattern_worker.py": "runs as a script, and reads what its parent writes",
    "cli/init.py": "what pip has written when it installed this package",
    # A value somewhere in a longer text.
    "chat/cassettes/json_stream.py": "one value after the other, with the same limits",
    "chat/text_tools.py": "calls inside of a model's text, which the orchestrator copies with limits of its own",
    "chat/answers.py": "verdicts inside of a model's text, of which texts and booleans are used",
    "runs/jsonl.py": "the beginning of a line",
    "runs/results/streaming_json.py": "one entry of a file, with the same limits",
}


def _uses(file: Path) -> list[str]:
    return [ast.unparse(n) for n in nodes_of(file) if isinstance(n, ast.Attribute) and ast.unparse(n) in PARSERS]


def _imported(file: Path) -> list[str]:
    """Parsers that are imported by name, which ``_uses`` would not see."""
    nodes = [node for node in nodes_of(file) if isinstance(node, ast.ImportFrom)]
    return [f"{node.module}.{name.name}" for node in nodes for name in node.names]


@pytest.mark.exhaustive
def test_foreign_documents_are_parsed_in_one_place() -> None:
    found = {file.relative_to(PACKAGE).as_posix(): _uses(file) for file in PACKAGE.rglob("*.py")}
    assert {file for file, uses in found.items() if uses} == ALLOWED.keys()
    assert not [file for file in PACKAGE.rglob("*.py") if PARSERS & {*_imported(file)}]
