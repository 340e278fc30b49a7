"""Calls of message histories: what can be made, and their results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import check_history
from pytest_tau.environment.results import stored_calls
from pytest_tau.errors import TaskFormatError
from pytest_tau.knowledge import Knowledge
from pytest_tau.models import ToolMessage

from . import tiny
from .tiny import agent, call, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Task, ToolCall

FIELD = "initial_state.message_history.1.tool_calls.1"


def with_history(made: ToolCall, *results: ToolMessage, by: Any = agent, **fields: Any) -> Task:
    """Return a task whose history has a call as the second one of its second message, with results."""
    messages = [agent("Hello."), by(call("look", item_id="lamp"), made)]
    if by is user:
        messages = [agent("Hello."), user(call("read_phone"), made)]
    history = [each.model_dump(exclude_none=True) for each in (*messages, *results)]
    return task(state={"message_history": history}, task_id="past", **fields)


def results(content: str = "fine", **fields: Any) -> tuple[ToolMessage, ToolMessage]:
    return ToolMessage(content="{}"), ToolMessage(content=content, **fields)


RENAME = call("rename", item_id="lamp", name="New")


@pytest.mark.parametrize(
    ("made", "by", "part", "problem"),
    [
        (call("renam", item_id="lamp", name="New"), agent, "name", "unknown tool 'renam'; did you mean 'rename'"),
        (call("switch"), agent, "name", "'switch' is a tool of the user, not of the assistant: set \"requestor\""),
        (RENAME, user, "name", "'rename' is a tool of the assistant, not of the user"),
        (call("rename", item="lamp", item_id="lamp", name="x"), agent, "arguments", "rename: item: unknown argument"),
        (call("rename", item_id="lamp"), agent, "arguments", "rename: name: missing"),
        (call("count", by="many"), agent, "arguments", 'count: by: expected integer, got "many"'),
        (call("count", by=6.0), agent, "arguments", "count: by: expected integer, got 6.0: write 6"),
        (
            call("count").model_copy(update={"malformed": "by=6"}),
            agent,
            "arguments",
            "count: expected a JSON object, got by=6",
        ),
    ],
)
def test_a_call_that_cannot_be_made_is_refused(
    domain: Domain, made: ToolCall, by: Any, part: str, problem: str
) -> None:
    for stored in (results(), ()):  # without results, the calls are made at the start
        with pytest.raises(TaskFormatError, match=problem) as caught:
            check_history(with_history(made, *stored, by=by), domain, Path("t.json"))
        assert (caught.value.file, caught.value.task_id) == (Path("t.json"), "past")
        assert caught.value.field == f"{FIELD}.{part}"


@pytest.mark.parametrize(
    "stored",
    [
        results("not found", error=True),
        results("Error: not found"),
        results("changed", fault="stale"),
    ],
)
def test_a_call_whose_stored_result_is_an_error_is_accepted(domain: Domain, stored: Any) -> None:
    check_history(with_history(call("renam"), *stored), domain)


def test_calls_that_can_be_made_are_accepted(domain: Domain) -> None:
    check_history(task(), domain)
    check_history(with_history(RENAME, *results()), domain)
    check_history(with_history(call("switch"), *results(), by=user), domain)


def test_an_agent_that_works_alone_has_the_tools_of_both_sides(domain: Domain) -> None:
    check_history(with_history(call("switch"), *results()), domain, solo=True)
    check_history(with_history(RENAME, *results()), domain, solo=True)
    with pytest.raises(TaskFormatError, match="unknown tool 'swich'"):
        check_history(with_history(call("swich"), *results()), domain, solo=True)
    with pytest.raises(TaskFormatError, match="'rename' is a tool of the assistant"):
        check_history(with_history(RENAME, *results(), by=user), domain, solo=True)


def test_tools_that_search_documents_are_known(domain: Domain, tmp_path: Path) -> None:
    tiny.write(tmp_path / "d")
    (tmp_path / "d" / "documents").mkdir()
    document = '{"id": "a", "title": "A", "content": "Text."}'
    (tmp_path / "d" / "documents" / "a.json").write_text(document, encoding="utf-8")
    searching = replace(tiny.spec(tmp_path / "d"), knowledge=Knowledge()).load()
    assert searching.knowledge is not None
    for name in searching.knowledge.tool_names:
        check_history(with_history(call(name, query="x"), *results()), searching)
        with pytest.raises(TaskFormatError, match="unknown tool"):
            check_history(with_history(call(name, query="x"), *results()), domain)
    with pytest.raises(TaskFormatError, match="unknown tool"):
        check_history(with_history(call("nothing"), *results()), searching)


def _ids(*messages: Any) -> list[tuple[int, int, str, str | None]]:
    found = stored_calls(messages)
    return [(each.message_idx, each.position, each.call.name, each.result and each.result.content) for each in found]


def test_results_belong_to_calls_by_id_and_else_in_order() -> None:
    def made(name: str, call_id: str = "") -> ToolCall:
        return call(name).model_copy(update={"id": call_id})

    assert _ids() == []
    assert _ids(ToolMessage(content="of no call"), agent("Hello.")) == []
    assert _ids(agent(made("a"), made("b")), ToolMessage(content="1"), ToolMessage(content="2")) == [
        (0, 0, "a", "1"),
        (0, 1, "b", "2"),
    ]
    swapped = (ToolMessage(id="y", content="2"), ToolMessage(id="x", content="1"), ToolMessage(id="x", content="3"))
    assert _ids(agent(made("a", "x"), made("b", "y")), *swapped) == [(0, 0, "a", "1"), (0, 1, "b", "2")]
    again = (agent(made("a", "x")), user(made("b", "x")), ToolMessage(id="x", content="2"))
    assert _ids(*again) == [(0, 0, "a", None), (1, 0, "b", "2")]
