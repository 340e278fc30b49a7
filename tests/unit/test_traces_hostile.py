"""Traces and stored runs of any form: nothing ends in a traceback, and work grows as the input does."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_tau.capabilities.traces.reading.conventions import Step
from pytest_tau.capabilities.traces.reading.messages import read_messages
from pytest_tau.capabilities.traces.reading.spans import Span, span_of
from pytest_tau.capabilities.traces.reading.steps import Tree, steps_of
from pytest_tau.capabilities.traces.tasks.answers import asked_values
from pytest_tau.capabilities.traces.tasks.naming import kind_of, method_name
from pytest_tau.capabilities.traces.tasks.schemas import plain_schema
from pytest_tau.language import is_objection
from pytest_tau.references.known import Known

from .test_traces_fair_tasks import cancelling, said
from .test_traces_recorded import conversation, store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .commands import Tau

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "parts", "type", "text", "message", "tool_calls", "name", "properties", "required"]
            )
            | st.text(max_size=6),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
FUZZED = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def calls_made(work: Callable[[], Any]) -> int:
    """Return how many functions were called."""
    made = [0]

    def count(_frame: Any, event: str, _argument: Any) -> None:
        made[0] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made[0]


def nested(number: int, role: str) -> list[Span]:
    """Return spans in each other, the outermost first."""
    attributes = {"gen_ai.operation.name": role}
    return [
        Span("t", f"{each:x}", f"{each - 1:x}" if each else "", start=each, attributes=dict(attributes))
        for each in range(number)
    ]


@pytest.mark.parametrize(
    "role",
    ["chat", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("invoke_agent", "execute_tool", "plan"))],
)
def test_work_grows_as_the_number_of_nested_spans_does(role: str) -> None:
    few, many = (calls_made(lambda n=n: steps_of(nested(n, role))) for n in (200, 800))  # type: ignore[misc]
    assert many < 5 * few


def test_parents_in_a_circle_end() -> None:
    parents = {"a": "b", "b": "a", "c": "c"}
    steps = {name: Step("t", name, parent, "", 0, 0, None, "", "model") for name, parent in parents.items()}
    around = Tree(steps).under(lambda _step: True)
    assert {name: step.id for name, step in around.items()} == {"a": "b"}


@pytest.mark.parametrize(
    "text",
    [
        "no" + "!" * 300_000 + "x",
        "you did " * 40_000,
        "x" * 300_000,
        "x-" * 150_000,
        "AB" * 150_000,
        "1," * 150_000,
        "1" * 300_000,
    ],
)
def test_long_words_are_read_in_one_go(text: str) -> None:
    """A pattern that tries each beginning of the word anew would take hours."""
    Known([text])
    made = conversation([said("user", f"How much? {text}"), said("assistant", f"It is {text}.")])
    assert list(asked_values(made.messages, made.calls)) == []
    assert not is_objection(text, done=True)


@FUZZED
@given(JSON)
def test_messages_and_schemas_of_any_form_are_read(value: Any) -> None:
    read_messages(value)
    schema = plain_schema(value)
    assert plain_schema(schema) == schema


@FUZZED
@given(st.dictionaries(st.sampled_from(["traceId", "spanId", "attributes", "events", "startTime", "status"]), JSON))
def test_spans_of_any_form_are_read(value: dict[str, Any]) -> None:
    span_of(value, {})


@FUZZED
@given(st.text(max_size=20), st.lists(st.text(max_size=3)))
def test_methods_of_tools_of_any_name_have_one_that_is_new_and_of_python(name: str, others: list[str]) -> None:
    kind_of(name)
    made = method_name(name, others)
    assert made.isidentifier()
    assert made not in others


@pytest.mark.parametrize("text", ["", "I cancel it."])
@pytest.mark.parametrize("inside", ["message", "toolCalls"])
def test_a_generation_of_a_text_and_a_message_keeps_its_calls(text: str, inside: str) -> None:
    calls = [{"name": "cancel_order", "args": {"order_id": "o1"}, "id": "k1"}]
    kwargs = {"content": text, "type": "ai", "tool_calls": calls}
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": kwargs}
    generation = {"text": text, inside: message if inside == "message" else calls}
    (answer,) = read_messages({"generations": [[generation]]}, "assistant")
    assert [(each.name, each.arguments) for each in answer.calls] == [("cancel_order", {"order_id": "o1"})]
    assert (answer.text or "") == text


@pytest.mark.parametrize("place", ["user", "result", "argument", "tool"])
def test_lone_surrogates_are_escaped(tau: Tau, tmp_path: Path, place: str) -> None:
    bad = "x\ud800y"
    name, value, found = (bad if place == each else "o2" for each in ("tool", "argument", "result"))
    asked = f"Please cancel my order o2 {value}{bad if place == 'user' else ''}"
    part = {"type": "tool_call", "id": "k", "name": name, "arguments": {"order_id": value}}
    response = {"type": "tool_call_response", "id": "k", "response": found}
    text = [{"role": "user", "parts": [{"type": "text", "content": asked}]}]
    history = [*text, {"role": "assistant", "parts": [part]}, {"role": "tool", "parts": [response]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": history, "gen_ai.output.messages": answer}
    listed = [{"key": key, "value": {"stringValue": json.dumps(each)}} for key, each in attributes.items()]
    listed[0]["value"] = {"stringValue": "chat"}
    span = {"traceId": "1" * 32, "spanId": "2" * 16, "name": "chat", "startTimeUnixNano": "1", "attributes": listed}
    document = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    (tmp_path / "t.json").write_text(document, encoding="utf-8")
    assert tau("import", "t.json", "-o", "run").status == 0
    made = tau("task-from", "run", "-o", "shop.tau.json", "--no-redact")
    assert made.status in (0, 2), made.err
    assert "1 made" in made.out or "refused: " in made.out


@pytest.mark.parametrize(
    "stored",
    [
        {"a": {}},
        {"a": 5},
        {"a": {"settings": 5, "columns": [5, {"name": 1}, {"other": 1}]}},
        [],
    ],
)
def test_capabilities_of_a_stored_run_of_any_form_are_read(tau: Tau, tmp_path: Path, stored: Any) -> None:
    for name, capabilities in (("before", {}), ("after", stored)):
        store(tmp_path / name, conversation(cancelling()))
        manifest = {"format": 1, "settings": {}, "capabilities": capabilities}
        (tmp_path / name / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    for command in (["compare", "before", "after"], ["view", "after", "-o", "v.html"], ["show", "after"]):
        ran = tau(*command)
        assert ran.status in (0, 1, 2)
        assert "Error" not in ran.err


@pytest.mark.parametrize("facts", [{"ticks": 10**400, "tick_seconds": 0.2}, {"ticks": 5, "tick_seconds": 1e400}, 5])
def test_facts_that_nothing_can_be_computed_of_are_left_out(tau: Tau, tmp_path: Path, facts: Any) -> None:
    simulation = conversation(cancelling())
    simulation.facts["voice"] = facts
    store(tmp_path / "run", simulation)
    assert tau("view", "run", "-o", "v.html").status == 0
    assert tau("show", "run").status == 0
