"""Traces that real instrumentation has written, and the right reading of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_tau.capabilities.traces.reading import Conversation, read_traces

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
SAMPLES = SHARED / "traces" / "otel"
EXPECTED = sorted(SAMPLES.glob("expected/*.json")) or [Path("no samples")]

NO_CONVERSATION = "no conversation: no span is a call of a model, an agent or a tool"

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="there is no ../shared/traces beside the project")


def read(sample: Path, folder: Path) -> tuple[list[Conversation], list[str]]:
    logs = sample.with_suffix(".logs.json")
    found = list(read_traces([sample, *([logs] if logs.exists() else [])], folder))
    return [one for one in found if isinstance(one, Conversation)], [one for one in found if isinstance(one, str)]


def comparable(messages: list[dict[str, Any]]) -> str:
    """Return messages as a text; call ids are numbers in their order, since some are made up."""
    ids: dict[str, int] = {}
    found: list[Any] = []
    for each in messages:
        calls = [
            [ids.setdefault(call["id"], len(ids)), call["name"], call["arguments"]]
            for call in each.get("tool_calls", [])
        ]
        result = [ids.get(each["id"]), each["name"], each["error"]] if each["role"] == "tool" else []
        found.append([each["role"], (each.get("content") or "").strip(), calls, result])
    return json.dumps(found, sort_keys=True)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.stem)
def test_a_sample_is_read_as_expected(expected: Path, tmp_path: Path) -> None:
    wanted = json.loads(expected.read_text("utf-8"))
    found, problems = read(SAMPLES / wanted["sample"], tmp_path)
    with_texts = [each for each in wanted["conversations"] if each.get("messages")]
    assert sorted(comparable(each.as_json()["messages"]) for each in found) == sorted(
        comparable(each["messages"]) for each in with_texts
    )
    assert bool(problems) == (len(with_texts) < len(wanted["conversations"]))


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("4*.json")) or [Path("no samples")], ids=lambda path: path.stem)
def test_traces_without_agents_have_no_conversation(sample: Path, tmp_path: Path) -> None:
    found, problems = read(sample, tmp_path)
    assert not found
    assert [problem.rpartition("json: ")[2] for problem in problems] == [NO_CONVERSATION]
