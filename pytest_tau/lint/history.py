"""Check that the message history of a task agrees with the state that its replay gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import DocumentError, parse_json
from ..environment.results import StoredCall, is_error, stored_calls
from ..models.problems import json_text
from ..references.sides import toolkit_of
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task, ToolMessage

_LONGEST = 80


class _Made(NamedTuple):
    """A call of a message history, made again."""

    stored: StoredCall
    recorded: ToolMessage
    result: ToolMessage

    @property
    def problem(self) -> str | None:
        """Why one result is an error and the other is not; None if both are, or neither is."""
        if is_error(self.recorded) == is_error(self.result):
            return None
        if is_error(self.result):
            return f"its stored result is not an error, but the call fails: {(self.result.content or '')[:_LONGEST]}"
        return "its stored result is an error, but the call succeeds"


def check_history_results(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``history-result``: a stored result of the message history is not what the tool gives.

    A stored object may lack fields of the real one.
    """
    for repeated in _made_again(task, domain):
        where = f"message {repeated.stored.message_idx} ({repeated.stored.call.name})"
        if repeated.problem is not None:
            yield Finding("history-result", "error", task.id, f"{where}: {repeated.problem}")
        elif not is_error(repeated.result):
            difference = _difference(_value(repeated.recorded), _value(repeated.result))
            if difference is not None:
                yield Finding("history-result", "warning", task.id, f"{where}: the stored result differs: {difference}")


def contradiction(task: Task, domain: Domain) -> str | None:
    """Return the first call of a message history by which the state contradicts the conversation; None if none does.

    It is a call of a tool that changes the state, of which either the stored result or that of the replay is an
    error. Calls of a server are not made.
    """
    if not task.message_history or not domain.spec.agent_db.cheap_to_fork:
        return None
    for repeated in _made_again(task, domain):
        call = repeated.stored.call
        if repeated.problem is not None and toolkit_of(domain, call.requestor).tool_infos[call.name].mutates:
            return f"{call.name}: {repeated.problem}"
    return None


def _made_again(task: Task, domain: Domain) -> Iterator[_Made]:
    """Make the calls of a message history in the state before it; yield those that have a result to compare."""
    if task.initial_state is None or not task.message_history:
        return
    before = task.initial_state.model_copy(update={"message_history": None})
    environment = domain.environment(task.model_copy(update={"initial_state": before}))
    for stored in stored_calls(task.message_history):
        call, recorded = stored.call, stored.result
        # Without a result, it is not known whether it was made. Tools that search documents depend on the settings.
        if recorded is None or not recorded.executed or call.malformed is not None:
            continue
        if call.name in toolkit_of(domain, call.requestor).tool_infos:
            result = environment.answer(call)
            if recorded.fault is None:
                yield _Made(stored, recorded, result)
    environment.close()


def _value(result: ToolMessage) -> Any:
    """Return the JSON value of a result, or its text if it is not JSON."""
    try:
        return parse_json(result.content or "")
    except DocumentError:
        return result.content or ""


def _difference(stored: Any, made: Any, path: str = "") -> str | None:
    """Return the first value that contradicts the tool's; None if there is none."""
    if isinstance(stored, dict) and isinstance(made, dict):
        pairs = [(f"{path}.{key}", value, made.get(key)) for key, value in stored.items()]
    elif isinstance(stored, list) and isinstance(made, list) and len(stored) == len(made):
        pairs = [(f"{path}.{position}", *pair) for position, pair in enumerate(zip(stored, made, strict=True))]
    elif stored == made or str(stored) == str(made):  # numbers that a tool returns are texts
        return None
    else:
        where = f"{path[1:]}: " if path else ""
        return f"{where}stored {json_text(stored)}, the tool gives {json_text(made)}"
    return next(filter(None, (_difference(first, second, place) for place, first, second in pairs)), None)
