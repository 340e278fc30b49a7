"""Searches and policies of the domain banking_knowledge, against recorded ones."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from import_file import import_file

import pytest_tau
from pytest_tau.knowledge import VARIANTS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]


@pytest.fixture
def official(shared: Path):
    return pytest_tau.load_domain("banking_knowledge", data_dir=shared / "tau2-data")


def test_searches_agree(shared: Path, official) -> None:
    import gzip

    check = import_file(shared / "conformance" / "check.py")
    with gzip.open(shared / "conformance" / "search_banking_knowledge.jsonl.gz", "rt", encoding="utf-8") as lines:
        vectors = [json.loads(line) for line in lines]
    environments: dict[str, object] = {}
    assert len(vectors) == 300
    assert [found for vector in vectors for found in check.check_search(official, environments, vector)] == []


def test_policies_agree(shared: Path, official) -> None:
    expected = json.loads((shared / "conformance" / "policies_banking_knowledge.json").read_text(encoding="utf-8"))
    assert set(VARIANTS) - set(expected["variants"]) == {"local_embeddings"}
    found = {name: official.environment(policy=name).policy for name in expected["variants"]}
    assert {name: _facts(text) for name, text in found.items()} == expected["variants"]


def test_policies_with_required_documents_agree(shared: Path, official) -> None:
    expected = json.loads((shared / "conformance" / "policies_banking_knowledge.json").read_text(encoding="utf-8"))
    tasks = {task.id: task for task in official.tasks(split=None)}
    retriever = {name: official.environment(task, policy="golden_retrieval").policy for name, task in tasks.items()}
    assert len(retriever) == 97
    assert {name: _facts(text) for name, text in retriever.items()} == expected["golden_retrieval"]


def test_schemas_of_retrieval_tools_agree(shared: Path, official) -> None:
    recorded = json.loads((shared / "conformance" / "tools_banking_knowledge.json").read_text(encoding="utf-8"))
    expected = {tool["name"]: tool for tool in recorded["assistant"][:2]}
    found = {tool.name: tool for tool in official.environment(policy="bm25_grep").tools()[:2]}
    assert list(found) == list(expected) == ["KB_search", "grep"]
    for name, tool in found.items():
        assert (tool.kind, tool.mutates) == (expected[name]["kind"], expected[name]["mutates_state"])
        assert _plain(tool.parameters) == _plain(expected[name]["parameters"])


def _facts(text: str) -> dict[str, object]:
    return {"characters": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def _plain(schema: dict[str, object]) -> dict[str, object]:
    """A schema without the words meant for readers."""
    properties = schema["properties"]
    assert isinstance(properties, dict)
    kept = {
        name: {key: part for key, part in each.items() if key != "description"} for name, each in properties.items()
    }
    return {**schema, "properties": kept}
