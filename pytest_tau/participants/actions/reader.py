"""Reading of actions: what an agent or a user that is stepped from outside says or calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...documents import DocumentError, parse_json
from ...errors import EpisodeError, ParticipantError
from ...models import AssistantMessage, ToolCall, UserMessage, writable
from ...plain import json
from ...text import shorten
from ..agents.gold import DONE
from ..replies import as_message, short_repr
from .call_syntax import WrittenCall, read_call_syntax

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...models import Requestor
    from ..context import Reply, Side

#: The text by which an agent ends an episode.
STOP = "###STOP###"
#: The name of a call whose tool cannot be read.
UNREADABLE = "unreadable_action"
#: Characters of an action that cannot be used that are stored.
_LONGEST = 10_000
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
#: Keys of a call in JSON that are not its name or its arguments.
_FURTHER = frozenset({"id", "type", "requestor", "function"})
_ROLES: dict[Side, tuple[Requestor, ...]] = {"agent": ("assistant",), "user": ("user", "assistant")}
_REQUESTOR: dict[Side, Requestor] = {"agent": "assistant", "user": "user"}


class ReadAction(NamedTuple):
    """An action as it was read.

    Attributes:
        message: The message of the conversation.
        read_as: ``text``, or a dict with ``name`` and ``arguments`` for each call. A call that cannot be executed has
            ``problem`` instead of ``arguments``.
    """

    message: Reply
    read_as: str | list[dict[str, Any]]


@dataclass(frozen=True)
class ActionReader:
    """Reads the actions of one side.

    Texts are read as a message or as calls: a JSON object or a list of such, calls in Python's syntax, and a fenced
    block with one of them. An action that cannot be read becomes a call that is answered with an error, so that it is
    part of the conversation and counts as a failed tool call.

    Attributes:
        side: The side.
        tools: The names of the parameters of its tools, by tool.
        solo: The agent works alone.
    """

    side: Side
    tools: Mapping[str, Sequence[str]]
    solo: bool = False

    def read(self, action: Any) -> ReadAction:
        """Read an action.

        Args:
            action: A text, a message as a dict in OpenAI chat format, or a message of ``pytest_tau.models``.

        Raises:
            EpisodeError: It is of another type, or a message of the other side.
        """
        if isinstance(action, str):
            return self._text(action)
        if not isinstance(action, dict | AssistantMessage | UserMessage):
            problem = f"an action is a text or a message as a dict, got {short_repr(action)}"
            raise EpisodeError(problem)
        role = action.get("role") if isinstance(action, dict) else action.role
        if role is not None and role not in _ROLES[self.side]:
            raise EpisodeError(f"you play the {self.side}, so a message cannot have the role {role!r}")
        if isinstance(action, dict) and not {"content", "tool_calls"} & set(action):
            keys = ", ".join(map(str, action)) or "none"
            raise EpisodeError(f"a message as a dict has 'content' or 'tool_calls', got the keys {keys}")
        # The side of the calls of a model is that of the message.
        without = {"tool_calls": {"__all__": {"requestor"}}}
        return _as_read(self._message(action if isinstance(action, dict) else action.model_dump(exclude=without)))

    def _text(self, text: str) -> ReadAction:
        """Read a text: as itself, or as calls."""
        calls, said = self._calls(text.strip()), ""
        if calls is None and (fenced := _FENCE.findall(text)) and len(fenced) == 1:
            calls, said = self._calls(fenced[0].strip()), _FENCE.sub("", text).strip()
        if calls is None:
            return _as_read(self._message({"content": text}))
        if calls == [WrittenCall(DONE, {})] and self.side == "agent" and not self.solo and DONE not in self.tools:
            return ReadAction(self._message({"content": STOP}), [{"name": DONE, "arguments": {}}])
        message = self._message({"content": said or None, "tool_calls": [_as_dict(call, text) for call in calls]})
        for call, written in zip(message.tool_calls or [], calls, strict=False):
            call.problem = written.problem
        return _as_read(message)

    def _message(self, fields: dict[str, Any]) -> Reply:
        """Return the message of fields in chat format; a call with the problem if there is one."""
        calls = fields.get("tool_calls")
        foreign = [each for each in calls if self._is_foreign(each)] if isinstance(calls, list) else []
        if foreign:
            return self._unreadable(_name_in(fields), self._not_own(foreign[0]["requestor"]), fields)
        try:
            return as_message(fields, self.side)
        except ParticipantError as error:
            problem = str(error).removeprefix("respond() returned ")
            return self._unreadable(_name_in(fields), problem, fields)

    def _is_foreign(self, call: Any) -> bool:
        requestor = call.get("requestor") if isinstance(call, dict) else None
        return requestor is not None and requestor != _REQUESTOR[self.side]

    def _not_own(self, requestor: Any) -> str:
        return f"the requestor {requestor!r} is the other side: you play the {self.side} and cannot call its tools"

    def _unreadable(self, name: str, problem: str, action: Any) -> Reply:
        requestor, text = _REQUESTOR[self.side], _as_text(action)
        call = ToolCall(name=writable(name), requestor=requestor, malformed=writable(text), problem=writable(problem))
        return (AssistantMessage if self.side == "agent" else UserMessage)(tool_calls=[call])

    def _calls(self, text: str) -> list[WrittenCall] | None:
        """Return the calls that a text consists of; None if it is a text for the other side."""
        if text[:1] in ("{", "["):
            try:
                return self._json_calls(parse_json(text))
            except DocumentError as error:
                return read_call_syntax(text, self.tools) or self._broken(text, error)
        return read_call_syntax(text, self.tools)

    def _broken(self, text: str, error: DocumentError) -> list[WrittenCall] | None:
        """Return a call for JSON that is cut off or misspelt, if it names a tool."""
        name = re.search(r'"name"\s*:\s*"([^"]*)"', text)
        if name is None or name[1] not in self.tools:
            return None
        return [WrittenCall(name[1], {}, f"the call of '{name[1]}' is not valid JSON: {error}")]

    def _json_calls(self, found: Any) -> list[WrittenCall] | None:
        """Return the calls of a JSON object, of a list of such, or of a whole message; None if it is something else."""
        if isinstance(found, dict) and isinstance(found.get("tool_calls"), list):
            found = found["tool_calls"]
        parts = found if isinstance(found, list) else [found]
        if not parts or not any(self._looks_like_call(part) for part in parts):
            return None
        return [self._json_call(part) for part in parts]

    def _looks_like_call(self, part: Any) -> bool:
        body = _body(part)
        if body is None:
            return False
        return body["name"] in self.tools or body["name"] == DONE or "arguments" in body

    def _json_call(self, part: Any) -> WrittenCall:
        body = _body(part)
        if body is None:
            problem = f"expected an object with name and arguments, got {short_repr(part)}"
            return WrittenCall(UNREADABLE, {}, problem)
        name, arguments = body["name"], body.get("arguments", {})
        further = sorted(set(body) - _FURTHER - {"name", "arguments"})
        if self._is_foreign(part):
            return WrittenCall(name, {}, self._not_own(part["requestor"]))
        if further:
            problem = f"the call of '{name}' has the unknown key {further[0]!r}; expected name and arguments"
            return WrittenCall(name, {}, problem)
        if not isinstance(arguments, dict):
            problem = f"arguments of '{name}' must be a JSON object, got {short_repr(arguments)}"
            return WrittenCall(name, {}, problem) if not isinstance(arguments, str) else _from_text(name, arguments)
        return WrittenCall(name, arguments)


def _as_read(message: Reply) -> ReadAction:
    if not message.tool_calls:
        return ReadAction(message, "text")
    found = [
        {"name": call.name, "arguments": call.arguments}
        if call.malformed is None
        else {"name": call.name, "problem": call.problem or f"the arguments are not a JSON object: {call.malformed}"}
        for call in message.tool_calls
    ]
    return ReadAction(message, found)


def _body(part: Any) -> dict[str, Any] | None:
    """Return the object with the name and the arguments of a call; None if there is none."""
    body = part.get("function", part) if isinstance(part, dict) else None
    return body if isinstance(body, dict) and isinstance(body.get("name"), str) else None


def _from_text(name: str, arguments: str) -> WrittenCall:
    try:
        found = parse_json(arguments)
    except DocumentError as error:
        return WrittenCall(name, {}, f"arguments of '{name}' are not valid JSON: {error}")
    if not isinstance(found, dict):
        return WrittenCall(name, {}, f"arguments of '{name}' must be a JSON object, got {short_repr(found)}")
    return WrittenCall(name, found)


def _as_text(action: Any) -> str:
    """Return an action as text, cut off if it is very long."""
    try:
        text = json.dumps(action, default=repr)
    except (ValueError, TypeError, RecursionError):
        text = short_repr(action)
    return shorten(text, _LONGEST)


def _as_dict(call: WrittenCall, text: str) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments} | ({"malformed": text[:_LONGEST]} if call.problem else {})


def _name_in(fields: dict[str, Any]) -> str:
    """Return the name of the first call of a message that can be read, else a placeholder."""
    calls = fields.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        body = _body(call)
        if body is not None:
            return str(body["name"])
    return UNREADABLE
