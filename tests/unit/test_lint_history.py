"""Stored results of message histories that are not what the tools give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.lint import lint_domain
from pytest_tau.lint.history import contradiction

from . import tiny
from .tiny import action, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Task

LAMP = tiny.AGENT_DATA["items"]["lamp"]


def past(name: str, arguments: Any, content: Any, side: str = "assistant", **result: Any) -> Task:
    """Return a task whose history is a call with a stored result."""
    made = {"id": "1", "name": name, "arguments": arguments, "requestor": side}
    text = content if isinstance(content, str) else json.dumps(content)
    history = [
        {"role": side, "content": None, "tool_calls": [made]},
        {"role": "tool", "id": "1", "requestor": side, "content": text, **result},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]
    return task({"actions": [action("count", by=2)]}, state={"message_history": history}, ticket="Count to 2.")


def lint(wanted: Task, domain: Domain, rule: str = "history-result") -> list[tuple[str, str]]:
    report = tiny.run(lint_domain(domain, None, [wanted]))
    return [(each.severity, each.text) for each in report.findings if each.rule == rule]


FAILS = ("rename", {"item_id": "sofa", "name": "x"})
RENAMES = ("rename", {"item_id": "lamp", "name": "x"})
LOOKS = ("look", {"item_id": "lamp"})


@pytest.mark.parametrize(
    ("wanted", "severity", "problem"),
    [
        (past(*FAILS, LAMP), "error", "its stored result is not an error, but the call fails: Error: no item sofa"),
        (past(*RENAMES, "Error: no", error=True), "error", "its stored result is an error, but the call succeeds"),
        (past(*RENAMES, "Error: no"), "error", "its stored result is an error, but the call succeeds"),
        (past(*RENAMES, LAMP), "warning", 'the stored result differs: name: stored "Lamp", the tool gives "x"'),
        (past(*RENAMES, "renamed"), "warning", 'the stored result differs: stored "renamed", the tool gives {'),
        (past(*LOOKS, LAMP | {"tags": ["blue"]}), "warning", 'tags.0: stored "blue", the tool gives "red"'),
        (past(*LOOKS, LAMP | {"tags": []}), "warning", 'tags: stored [], the tool gives ["red"]'),
        (past(*LOOKS, LAMP | {"age": 3}), "warning", "age: stored 3, the tool gives null"),
        (past("switch", {}, "off", "user"), "warning", 'stored "off", the tool gives "on"'),
    ],
)
def test_a_stored_result_that_the_tool_does_not_give(domain: Domain, wanted: Task, severity: str, problem: str) -> None:
    ((found, text),) = lint(wanted, domain)
    assert found == severity
    assert text.startswith(f"message 0 ({wanted.message_history[0].tool_calls[0].name}): ")  # type: ignore[union-attr,index]
    assert problem in text


@pytest.mark.parametrize(
    "wanted",
    [
        past(*RENAMES, LAMP | {"name": "x"}),
        past(*RENAMES, {"name": "x", "item_id": "lamp"}),  # not all fields
        past(*FAILS, "Error: other words", error=True),
        past(*FAILS, "Error: other words"),
        past("count", {"by": 2}, "2"),  # the tool gives "2", a text
        past("nowhere", {}, "Tool 'nowhere' not found.", error=True),
        past(*RENAMES, "anything", fault="stale"),
        past(*RENAMES, "Error: busy", error=True, fault="timeout"),
        past("switch", {}, "on"),  # of an agent that works alone
        task({"actions": [action("count", by=2)]}),
    ],
)
def test_stored_results_that_fit(domain: Domain, wanted: Task) -> None:
    assert lint(wanted, domain) == []
    assert contradiction(wanted, domain) is None


def test_calls_without_a_result_are_not_compared(domain: Domain) -> None:
    wanted = past(*FAILS, LAMP)
    history = [each.model_dump(exclude_none=True) for each in wanted.message_history]
    assert lint(task(state={"message_history": history[:1]}), domain) == []
    assert lint(task(state={"message_history": [history[0], *history[2:]]}), domain) == []


def test_a_call_that_cannot_be_made_is_reported_once(domain: Domain) -> None:
    wanted = past("renam", {}, "fine")
    assert lint(wanted, domain) == []
    ((severity, text),) = lint(wanted, domain, "does-not-fit")
    assert severity == "error"
    assert text.startswith("initial_state.message_history.0.tool_calls.0.name: unknown tool 'renam'; did you mean")


def test_each_call_is_made_in_the_state_after_those_before_it(domain: Domain) -> None:
    first, second = past(*RENAMES, LAMP | {"name": "x"}), past(*LOOKS, LAMP)
    both = [each.model_dump(exclude_none=True) for each in (*first.message_history, *second.message_history)]
    ((_, text),) = lint(task(state={"message_history": both}), domain)
    assert text == 'message 4 (look): the stored result differs: name: stored "Lamp", the tool gives "x"'


def test_only_calls_that_change_the_state_contradict_it(domain: Domain) -> None:
    assert contradiction(past(*FAILS, LAMP), domain) == (
        "rename: its stored result is not an error, but the call fails: Error: no item sofa"
    )
    assert contradiction(past(*RENAMES, "Error: no", error=True), domain) == (
        "rename: its stored result is an error, but the call succeeds"
    )
    assert contradiction(past("look", {"item_id": "sofa"}, LAMP), domain) is None
    assert contradiction(past(*RENAMES, LAMP), domain) is None


def test_calls_of_a_server_are_not_made_for_the_warning(tmp_path: Path) -> None:
    class Far(tiny.TinyDB):
        cheap_to_fork = False

    far = tiny.make(tmp_path / "far", agent_db=Far)
    assert contradiction(past(*FAILS, LAMP), far) is None
    assert len(lint(past(*FAILS, LAMP), far)) == 1
