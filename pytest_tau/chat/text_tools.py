"""Tool calls in plain text, for models without function calling."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .requests import ChatReply
    from .trial_models import TrialModel

#: Added to the protocol if the model must call a tool.
_REQUIRED = "Each of your replies must call at least one tool."

#: The start of a marked call, or of what may be one: a fence of JSON, or JSON at the start of the text.
_OPENING = re.compile(r"```[ \t]*tool_calls?(?!\w)|<tool_call>|(?P<unmarked>```[ \t]*(?:json)?(?!\w)|\A\s*(?=[{\[]))")
_CLOSING = re.compile(r"```|</tool_call>|\Z")
_BETWEEN = re.compile(r"[\s,]*")
#: The start of a broken object that is taken for a call although nothing marks it as one.
_LIKE_A_CALL = re.compile(r'\s*\[?\s*\{\s*"name"\s*:\s*"[^"]+"\s*,\s*"arguments"\s*:')
_KEYS = {"name", "arguments"}
_NAME = re.compile(r'"name"\s*:\s*"([^"\\]+)"')
_ID = re.compile(r"call_(\d{1,9})")
#: The end of a model's reasoning; calls in it are only considered.
_END_OF_THOUGHT = "</think>"
#: Models break lines inside JSON strings.
_DECODER = json.JSONDecoder(strict=False)


class _Call(NamedTuple):
    """A call as the model wrote it; ``arguments`` are JSON text, or the whole text if that cannot be read."""

    name: str
    arguments: str


class TextTools:
    """A model that calls tools by a protocol in text; it has the ``complete`` of ``TrialModel``.

    The schemas and the protocol go into the system message, calls are parsed from the replies, and their results are
    sent as messages of the user. To the caller the conversation looks like one with function calling.

    Args:
        model: The model.

    Attributes:
        name: The model's name.
        args: Arguments of each call.
    """

    def __init__(self, model: TrialModel) -> None:
        self.name, self.args = model.name, model.args
        self._model, self._ids = model, 0
        # The model's own text of each message with calls, by the id of the first call.
        self._written: dict[str, str] = {}

    async def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        *,
        tool_choice: str | None = None,
        response_format: dict[str, Any] | None = None,
        **args: Any,
    ) -> ChatReply:
        """Call the model; see ``TrialModel.complete``.

        A call that cannot be parsed becomes one whose arguments are the text that was written, so that its result is
        an error.
        """
        sent = self._in_text(messages)
        if tools:
            sent = _with_protocol(sent, tools, required=tool_choice == "required")
        reply = await self._model.complete(sent, response_format=response_format, **args)
        if not tools or reply.message.get("tool_calls"):
            return reply
        content, written = _parse(reply.text)
        if not written:
            return reply
        calls = self._with_ids(written, messages)
        self._written[calls[0]["id"]] = reply.text
        message = reply.message | {"content": content, "tool_calls": calls}
        return reply.model_copy(update={"message": message, "finish_reason": "tool_calls"})

    def _with_ids(self, calls: list[_Call], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the calls in chat format, numbered over the whole conversation, of which a window may show a part."""
        before = [call.get("id") or "" for message in messages for call in message.get("tool_calls") or []]
        self._ids = max([self._ids, *(int(found[1]) for found in map(_ID.fullmatch, before) if found)])
        made = []
        for call in calls:
            self._ids += 1
            made.append({"id": f"call_{self._ids}", "type": "function", "function": call._asdict()})
        return made

    def _in_text(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a conversation as the model gets it: texts in order, no calls and no results."""
        shown: list[dict[str, Any]] = []
        names: dict[str, str] = {}
        for message in messages:
            text = self._as_text(message, names)
            if shown and text.get("role") == "user" == shown[-1].get("role"):
                text = text | {"content": _join_contents(shown.pop().get("content"), text.get("content"))}
            shown.append(text)
        return shown

    def _as_text(self, message: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
        """Return a message without calls or results; its calls are added to ``names``, by id."""
        if message.get("role") == "tool":
            return {"role": "user", "content": _result_as_text(message, names)}
        calls = message.get("tool_calls")
        if not calls:
            return message
        names.update({call.get("id") or "": call["function"]["name"] for call in calls})
        rest = {key: value for key, value in message.items() if key != "tool_calls"}
        return rest | {"content": self._written.get(calls[0].get("id") or "") or _calls_as_text(message)}


def _with_protocol(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]], *, required: bool
) -> list[dict[str, Any]]:
    """Return the conversation with the protocol at the end of its system message."""
    template = resources.files(__package__).joinpath("text_tools.md").read_text(encoding="utf-8").strip()
    rules = template.replace("{{tools}}", schemas_as_text(tools)) + (f"\n\n{_REQUIRED}" if required else "")
    if messages and messages[0].get("role") == "system":
        return [messages[0] | {"content": _join_contents(messages[0].get("content"), rules)}, *messages[1:]]
    return [{"role": "system", "content": rules}, *messages]


def schemas_as_text(tools: list[dict[str, Any]]) -> str:
    """Return the schemas of tools, one a line."""
    return "\n".join(json.dumps(tool.get("function", tool), ensure_ascii=False) for tool in tools)


def _calls_as_text(message: dict[str, Any]) -> str:
    """Return the text of a message whose calls the model did not write itself, by the protocol."""
    blocks = [message["content"]] if message.get("content") else []
    for call in message["tool_calls"]:
        name = json.dumps(call["function"]["name"], ensure_ascii=False)
        arguments = call["function"].get("arguments") or "{}"
        blocks.append(f'```tool_call\n{{"name": {name}, "arguments": {arguments}}}\n```')
    return "\n\n".join(blocks)


def _result_as_text(message: dict[str, Any], names: dict[str, str]) -> str:
    call = message.get("tool_call_id") or ""
    tool = f' tool="{names[call]}"' if call in names else ""
    return f'<tool_result call="{call}"{tool}>\n{message.get("content") or ""}\n</tool_result>'


def _join_contents(first: Any, second: Any) -> Any:
    """Join two contents: texts one after the other, or a list of parts if either is one."""
    contents = [content for content in (first, second) if content]
    if all(isinstance(content, str) for content in contents):
        return "\n\n".join(contents)
    lists = [content if isinstance(content, list) else [{"type": "text", "text": content}] for content in contents]
    return [part for parts in lists for part in parts]


# Reading replies


def _parse(text: str) -> tuple[str | None, list[_Call]]:
    """Split a reply into its text, None if there is none, and its calls."""
    thought, mark, said = text.rpartition(_END_OF_THOUGHT)
    texts, calls, done = [thought + mark], [], 0
    for start, end, found in _blocks(said):
        texts.append(said[done:start])
        calls += found
        done = end
    texts.append(said[done:])
    return "\n\n".join(part.strip() for part in texts if part.strip()) or None, calls


def _blocks(text: str) -> Iterator[tuple[int, int, list[_Call]]]:
    """Yield each block of calls: its start, its end, and its calls."""
    position = 0
    while opening := _OPENING.search(text, position):
        values, after = _values(text, opening.end())
        closing = _CLOSING.search(text, after)
        assert closing  # at the very end at the latest
        whole = bool(values) and closing.start() == after
        block = text[opening.start() : closing.end()].strip()
        if opening["unmarked"] is None:
            # A broken block is one malformed call: not even the calls in it that can be parsed are made.
            calls = [_call(value) or _malformed(block) for value in values] if whole else [_malformed(block)]
        elif whole:
            exact = [_call(value, exact=True) for value in values]
            calls = [call for call in exact if call] if all(exact) else []
        else:
            calls = [_malformed(block)] if _LIKE_A_CALL.match(text, opening.end()) else []
        if calls:
            yield opening.start(), closing.end(), calls
        position = closing.end() if calls else max(opening.end(), position + 1)


def _values(text: str, start: int) -> tuple[list[Any], int]:
    """Parse the JSON values from a position on, those of a list one by one; return them and where they end."""
    values: list[Any] = []
    end = start
    while True:
        between = _BETWEEN.match(text, end)
        end = between.end() if between else end
        try:
            value, end = value_at(text, end)
        except (ValueError, RecursionError):
            return values, end
        values += value if isinstance(value, list) else [value]


def value_at(text: str, start: int = 0) -> tuple[Any, int]:
    """Return the JSON value that begins at a position, and where it ends.

    Raises:
        ValueError: There is none, or it is not complete.
        RecursionError: It is nested too deep.
    """
    return _DECODER.raw_decode(text, start)


def _call(value: Any, *, exact: bool = False) -> _Call | None:
    """Return a value as a call, or None if it is not a call; without ``exact``, arguments may be missing."""
    if not isinstance(value, dict) or not value.keys() <= _KEYS or (exact and value.keys() != _KEYS):
        return None
    name, arguments = value.get("name"), value.get("arguments", {})
    if not isinstance(name, str) or not name:
        return None
    if isinstance(arguments, str):  # as text, the way OpenAI has them
        return _Call(name, arguments)
    try:
        return _Call(name, json.dumps(arguments, ensure_ascii=False))
    except RecursionError:
        return None


def _malformed(block: str) -> _Call:
    """Return a call that cannot be parsed, with its whole text as arguments."""
    name = _NAME.search(block)
    return _Call(name[1] if name else "tool_call", block)
