"""Tools that answer from the record: a domain for conversations of a service that is not there."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ....documents import read_json
from ....errors import DomainError, ToolServerError
from ....models import call_as_text
from ....plain import json

if TYPE_CHECKING:
    from pathlib import Path

#: Values of arguments that are ids or the like: so long at least.
_SHORTEST_ID = 3


class Recorded(NamedTuple):
    """A call that was recorded.

    Attributes:
        conversation: The id of its conversation.
        tool: The tool.
        arguments: Its arguments, in canonical form.
        after: The writes that had succeeded before it in its conversation, in canonical form.
        writes: Whether it has changed the state.
        result: Its result.
        error: Whether that is an error.
    """

    conversation: str
    tool: str
    arguments: str
    after: tuple[str, ...]
    writes: bool
    result: str
    error: bool


class RecordedTools:
    """The base of a class with recorded tools, whose state is the writes that were made."""

    file: ClassVar[Path]

    def __init__(self) -> None:
        self.conversation, self.writes = "", list[str]()

    def recorded(self, tool: str, **arguments: Any) -> str:
        """Return the recorded result of a call; arguments that are None count as not given.

        The state of a call is the set of writes before it. A call that was recorded in another state is answered if
        none of the writes between the two has anything to do with it. Of equal calls in one state, the last one counts.

        Raises:
            RuntimeError: The recorded result is an error; its text.
            ToolServerError: The call is off the record: the trial has no verdict.
        """
        given = canonical({name: value for name, value in arguments.items() if value is not None})
        known = [each for each in record_of(self.file) if (each.tool, each.arguments) == (tool, given)]
        fits = [each for each in known if self._is_in_state(each)]
        own = [each for each in fits if each.conversation == self.conversation] or fits
        if not own:
            where = "in this state" if known else "with these arguments"
            call = call_as_text(tool, json.loads(given))
            raise ToolServerError(f"off the record: {call} was not recorded {where}; the trial has no verdict")
        found = max(own, key=lambda each: set(each.after) == set(self.writes))
        found = [each for each in own if each.after == found.after][-1]
        if found.error:
            raise RuntimeError(found.result.removeprefix("Error: "))
        if found.writes:
            self.writes = sorted([*self.writes, canonical({"tool": tool, **json.loads(given)})])
        return found.result

    def _is_in_state(self, call: Recorded) -> bool:
        between = set(call.after) ^ set(self.writes)
        own = f"{call.arguments} {call.result}"
        return not any(value in own for write in between for value in _ids(json.loads(write)))

    def state(self) -> dict[str, Any]:
        """Return the state: the conversation that was recorded, and the writes so far."""
        return {"conversation": self.conversation, "writes": list(self.writes)}

    def restore(self, state: dict[str, Any]) -> None:
        """Take a state."""
        self.conversation, self.writes = str(state["conversation"]), list(state["writes"])


@functools.lru_cache(maxsize=8)
def record_of(file: Path) -> tuple[Recorded, ...]:
    """Return the calls in the file of a record.

    Raises:
        DomainError: It cannot be read.
    """
    try:
        calls = read_json(file)["calls"]
        return tuple(Recorded(**{**each, "after": tuple(each["after"])}) for each in calls)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DomainError(f"{file}: no record of calls: {error}") from None


def canonical(value: Any) -> str:
    """Return JSON that is equal for equal values: keys are sorted, and 2.0 is 2."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _ids(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [found for each in inner for found in _ids(each)]
    text = str(value)
    return [text] if len(text) >= _SHORTEST_ID and any(map(str.isdigit, text)) else []
