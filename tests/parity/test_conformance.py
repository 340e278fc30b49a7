"""Recorded calls, conversations and tool schemas of the reference."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.parity

#: Vectors of each file: fewer would be an unnoticed loss.
VECTORS = {
    "mock": {"calls_mock.jsonl.gz": 60, "runs_mock.jsonl.gz": 90},
    "telecom": {"calls_telecom.jsonl.gz": 400, "runs_telecom.jsonl.gz": 456},
}


@pytest.mark.parametrize("name", ["mock", pytest.param("telecom", marks=pytest.mark.exhaustive)])
def test_every_vector_agrees(shared: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, shared / "conformance" / "check.py", "--domain", name, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert {file: (count["vectors"], count["disagree"]) for file, count in counts.items()} == {
        file: (vectors, 0) for file, vectors in VECTORS[name].items()
    }


def schema(part: Any, definitions: dict[str, Any] | None = None) -> Any:
    """A JSON schema without the words meant for readers, its references put in place.

    ``properties`` has names, which may be any word, so that ``title`` among them is no title. That further
    properties are allowed goes without saying, and some versions of pydantic say it.
    """
    if isinstance(part, list):
        return [schema(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    definitions = part.get("$defs", definitions or {})
    if "$ref" in part:
        part = definitions[part["$ref"].removeprefix("#/$defs/")] | {key: part[key] for key in part if key != "$ref"}
    kept = {}
    for key, value in part.items():
        if key == "properties" and isinstance(value, dict):
            kept[key] = {name: schema(inner, definitions) for name, inner in value.items()}
        elif key not in ("title", "description", "$defs") and (key, value) != ("additionalProperties", True):
            kept[key] = schema(value, definitions)
    return kept


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("side", ["assistant", "user"])
def test_tools_have_the_reference_s_names_kinds_and_schemas(shared: Path, name: str, side: Any) -> None:
    recorded = json.loads((shared / "conformance" / f"tools_{name}.json").read_text(encoding="utf-8"))[side]
    tools = pytest_tau.load_domain(name).environment().tools(side)
    assert [tool.name for tool in tools] == [tool["name"] for tool in recorded]
    for ours, theirs in zip(tools, recorded, strict=True):
        assert (ours.name, ours.kind, ours.mutates) == (ours.name, theirs["kind"], theirs["mutates_state"])
        assert schema(ours.parameters) == schema(theirs["parameters"]), ours.name
        assert ours.description, ours.name


def test_only_texts_are_removed_from_a_schema() -> None:
    given = {
        "$defs": {"Mode": {"title": "Mode", "description": "How.", "enum": ["a", "b"]}},
        "title": "t",
        "description": "d",
        "properties": {
            "title": {"type": "string", "title": "Title"},
            "description": {"description": "x"},
            "mode": {"anyOf": [{"$ref": "#/$defs/Mode", "default": "a"}, {"title": "x", "type": "null"}]},
        },
    }
    assert schema(given) == {
        "properties": {
            "title": {"type": "string"},
            "description": {},
            "mode": {"anyOf": [{"enum": ["a", "b"], "default": "a"}, {"type": "null"}]},
        },
    }
    assert schema(given) != schema(given | {"properties": {}})
