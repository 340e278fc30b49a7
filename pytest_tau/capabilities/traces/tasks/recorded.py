"""Tools that answer from the record: a domain for conversations of a service that is not there."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ....documents import read_json
from ....errors import DomainError, ToolServerError
from ....models import call_as_text
from ....plain import json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: Values of arguments that are ids or the like: so long at least.
_SHORTEST_ID = 3


class Recorded(NamedTuple):
    """A call that was recorded.

    Attributes:
        conversation: The id of its conversation.
        tool: The tool.
        arguments: Its arguments in canonical form, without those that are free text.
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
    """The base of a class with recorded tools, whose state is the writes that were made.

    Attributes:
        file: The record.
        free: The arguments of each tool that are free text, which is not compared; ``ticket.note`` is one in an object.
        declared: The names of tools and the JSON schemas of their arguments, by method, where neither could be that of
            a method: ``get-order``, an argument ``self``, a list of choices.
    """

    file: ClassVar[Path]
    free: ClassVar[Mapping[str, Sequence[str]]] = {}
    declared: ClassVar[Mapping[str, tuple[str, dict[str, Any]]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for method, (name, parameters) in cls.declared.items():
            function = getattr(cls, method)
            function.__name__ = name
            vars(function)["tau_parameters"] = parameters

    def __init__(self) -> None:
        self.conversation, self.writes = "", list[str]()

    def recorded(self, tool: str, /, **arguments: Any) -> str:
        """Return the recorded result of a call; arguments that are None count as not given, and free text is free.

        The state of a call is the set of writes before it. A call that was recorded in another state is answered if
        none of the writes between the two has anything to do with it. Of equal calls in one state, the last one counts.

        Raises:
            RuntimeError: The recorded result is an error; its text.
            ToolServerError: The call is off the record: the trial has no verdict.
        """
        canonical_arguments = canonical(_compared(arguments, self.free.get(tool, ())))
        free = tuple((name, tuple(names)) for name, names in self.free.items())
        known = record_of(self.file, free).get((tool, canonical_arguments), [])
        fits = [call for call in known if self._is_in_state(call)]
        matches = [call for call in fits if call.conversation == self.conversation] or fits
        if not matches:
            where = "in this state" if known else "with these arguments"
            call = call_as_text(tool, {name: value for name, value in arguments.items() if value is not None})
            raise ToolServerError(f"off the record: {call} was not recorded {where}; the trial has no verdict")
        best = max(matches, key=lambda call: set(call.after) == set(self.writes))
        best = [call for call in matches if call.after == best.after][-1]
        if best.error:
            raise RuntimeError(best.result.removeprefix("Error: "))
        if best.writes:
            self.writes = sorted([*self.writes, write_text(tool, json.loads(canonical_arguments))])
        return best.result

    def _is_in_state(self, call: Recorded) -> bool:
        between = set(call.after) ^ set(self.writes)
        call_text = f"{call.arguments} {call.result}"
        return not any(value in call_text for write in between for value in _ids(json.loads(write)["arguments"]))

    def state(self) -> dict[str, Any]:
        """Return the state: the conversation that was recorded, and the writes so far."""
        return {"conversation": self.conversation, "writes": list(self.writes)}

    def restore(self, state: dict[str, Any]) -> None:
        """Take a state."""
        self.conversation, self.writes = str(state["conversation"]), list(state["writes"])


@functools.lru_cache(maxsize=8)
def record_of(file: Path, free: tuple[tuple[str, tuple[str, ...]], ...] = ()) -> dict[tuple[str, str], list[Recorded]]:
    """Return the calls in the file of a record, in order, by tool and arguments.

    Args:
        file: The file.
        free: The arguments of each tool that are not compared.

    Raises:
        DomainError: It cannot be read.
    """
    try:
        calls = [Recorded(**{**fields, "after": tuple(fields["after"])}) for fields in read_json(file)["calls"]]
        names, by_arguments = dict(free), dict[tuple[str, str], list[Recorded]]()
        for call in calls:
            arguments = canonical(_compared(json.loads(call.arguments), names.get(call.tool, ())))
            after = (json.loads(write) for write in call.after)
            writes = (write_text(w["tool"], _compared(w["arguments"], names.get(w["tool"], ()))) for w in after)
            plain = call._replace(arguments=arguments, after=tuple(sorted(writes)))
            by_arguments.setdefault((call.tool, arguments), []).append(plain)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DomainError(f"{file}: no record of calls: {error}") from None
    return by_arguments


def write_text(tool: str, arguments: dict[str, Any]) -> str:
    """Return a call that has changed the state, as the state has it."""
    return canonical({"tool": tool, "arguments": arguments})


def _compared(arguments: dict[str, Any], free: Sequence[str]) -> dict[str, Any]:
    """Return arguments without those that are not given or free; the name of one in an object follows a point."""
    compared = {name: value for name, value in arguments.items() if value is not None and name not in free}
    for name in free:
        head, _, rest = name.partition(".")
        if rest and isinstance(compared.get(head), dict):
            compared[head] = _compared(compared[head], [rest])
        elif rest and isinstance(compared.get(head), list):
            compared[head] = [
                _compared(element, [rest]) if isinstance(element, dict) else element for element in compared[head]
            ]
    return compared


def canonical(value: Any) -> str:
    """Return JSON that is equal for equal values: keys are sorted, and 2.0 is 2."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(element) for element in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _ids(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [identifier for part in inner for identifier in _ids(part)]
    text = str(value)
    return [text] if len(text) >= _SHORTEST_ID and any(map(str.isdigit, text)) else []
