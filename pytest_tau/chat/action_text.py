"""Agents that write what they do as a line ``Action:`` with a JSON object, as τ-bench's strategies do.

Source: τ-bench (2024), strategies ``act`` and ``react``; the texts are our own.
"""

from __future__ import annotations

import contextlib
import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import DocumentError, parse_json
from ..errors import ParticipantError

if TYPE_CHECKING:
    from .requests import ChatReply
    from .trial_models import TrialModel

#: The name of the action that says something to the user.
RESPOND = "respond"
_ACTION, _THOUGHT, _RESULT = "Action:", "Thought:", "API output:"
_RESULT_LINE = re.compile(r"^\s*API output:", re.MULTILINE)
_THOUGHT_LINE = re.compile(r"^\s*Thought:", re.MULTILINE)
_FENCE = re.compile(r"\A\s*```[ \t]*(?:json)?\s*")
_CALL = '{"name": "get_forecast", "arguments": {"city": "Oslo"}}'
_REASON = "The forecast for Oslo decides it, and there is a tool for it."


class Action(NamedTuple):
    """A message of the model.

    Attributes:
        said: The text for the user; None for a call.
        name: The tool; empty for a text.
        arguments: The arguments as JSON, or what was written if it is not a call.
        thought: The reasoning before the action; empty if there is none.
    """

    said: str | None = None
    name: str = ""
    arguments: str = ""
    thought: str = ""


class ActionText:
    """A model that acts by text; it has the ``complete`` of ``TrialModel``.

    To the caller the conversation looks like one with function calling. The message of a reply has the model's own text
    as ``written``, and its reasoning as ``thought``.

    Args:
        model: The model.
        thought: The model is asked for its reasoning before each action.
        speaks: There is a user to speak to.
        strict: Replies are read by the rules of τ-bench.

    Attributes:
        name: The model's name.
        args: Arguments of each call.
    """

    def __init__(self, model: TrialModel, *, thought: bool, speaks: bool = True, strict: bool = False) -> None:
        self.name, self.args = model.name, model.args
        self._model, self._thought, self._speaks, self._strict = model, thought, speaks, strict
        self._made = 0

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

        Raises:
            ParticipantError: The action is JSON of another shape, under the rules of τ-bench.
            ModelError: The model or its provider failed.
            ReplayError: A replayed trial asks what was not recorded.
        """
        del tool_choice  # the protocol asks for an action in any case
        system, *others = in_text(messages)
        rules = action_protocol(tools or [], thought=self._thought, speaks=self._speaks)
        sent = [{**system, "content": f"{system.get('content') or ''}\n\n{rules}"}, *others]
        reply = await self._model.complete(sent, response_format=response_format, **args)
        if not reply.text.strip() or reply.message.get("tool_calls"):
            return reply
        action = (read_strictly if self._strict else read_action)(reply.text, speaks=self._speaks)
        message: dict[str, Any] = reply.message | {"content": action.said, "written": reply.text}
        message |= {"thought": action.thought} if action.thought else {}
        if action.said is None:
            self._made += 1
            function = {"name": action.name, "arguments": action.arguments}
            message["tool_calls"] = [{"id": f"action_{self._made}", "type": "function", "function": function}]
        return reply.model_copy(update={"message": message})


def action_protocol(tools: list[dict[str, Any]], *, thought: bool, speaks: bool) -> str:
    """Return the text that explains the protocol to a model, with the schemas of the tools."""
    template = resources.files(__package__).joinpath("action_text.md").read_text(encoding="utf-8").strip()
    head = f"{_THOUGHT}\n<one line: what you know, and what comes next>\n" if thought else ""
    example = f"{_THOUGHT}\n{_REASON}\n" if thought else ""
    values = {
        "parts": "a thought and an action" if thought else "an action",
        "form": f"```text\n{head}{_ACTION}\n<JSON object>\n```",
        "speaking": f", or `{RESPOND}`" if speaks else "",
        "rules": f'- To say something to the customer, use `{RESPOND}` with the arguments `{{"content": "…"}}`.'
        * speaks,
        "example": f"```text\n{example}{_ACTION}\n{_CALL}\n```",
        "tools": "\n".join(json.dumps(tool.get("function", tool), ensure_ascii=False) for tool in tools),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)


def read_action(text: str, *, speaks: bool = True) -> Action:
    """Return the action in a reply: the first JSON object after the last ``Action:``.

    A code fence, text behind the object and a result that the model has made up are skipped. Text that is not JSON is
    said to the user, without a thought. JSON that is not an action is a malformed call, whose result says so.
    """
    text = _RESULT_LINE.split(text, maxsplit=1)[0] or text
    before, mark, after = text.rpartition(_ACTION)
    thought = before.strip().removeprefix(_THOUGHT).strip()
    if not mark:
        parts = _THOUGHT_LINE.split(after, maxsplit=1)
        thought, after = (parts[1].strip(), parts[0]) if len(parts) > 1 else ("", after)
    body = _FENCE.sub("", after).strip()
    if not body.startswith(("{", "[")):
        said = _THOUGHT_LINE.split(body, maxsplit=1)[0].strip().removesuffix("```").strip()
        if said and speaks:
            return Action(said, thought=thought)
        return Action(None, "action", text.strip(), thought)
    try:
        value = _first_value(body)
    except DocumentError:
        return Action(None, "action", body, thought)
    return (_action(value, speaks=speaks) or Action(None, "action", body))._replace(thought=thought)


def read_strictly(text: str, *, speaks: bool = True) -> Action:
    """Return the action in a reply by the rules of τ-bench: what follows ``Action:`` is one JSON object, or is said.

    Source: τ-bench (2024), by its description.

    Raises:
        ParticipantError: It is JSON, and not an object with ``name`` and ``arguments``.
    """
    before, _, after = text.rpartition(_ACTION)
    thought = before.strip().removeprefix(_THOUGHT).strip()
    try:
        value = parse_json(after)
    except DocumentError:
        return Action(after.strip() or text.strip(), thought=thought)
    found = _action(value, speaks=speaks)
    if found is None:
        problem = 'the action is not an object with "name" and "arguments" (--tau-agent-text-protocol tau1)'
        raise ParticipantError(problem, side="agent")
    return found._replace(thought=thought)


def _first_value(text: str) -> Any:
    """Return the JSON value at the start of a text, whatever follows it.

    Raises:
        DocumentError: There is no complete one.
    """
    closing = "}" if text.startswith("{") else "]"
    end = text.find(closing)
    while end >= 0:
        with contextlib.suppress(DocumentError):
            return parse_json(text[: end + 1], strict=False)  # models break lines inside JSON strings
        end = text.find(closing, end + 1)
    raise DocumentError("no complete JSON value")


def _action(value: Any, *, speaks: bool) -> Action | None:
    """Return a JSON value as an action; None if it is not one."""
    if not isinstance(value, dict) or not {"name"} <= value.keys() <= {"name", "arguments"}:
        return None
    name, arguments = value["name"], value.get("arguments", {})
    if not isinstance(name, str) or not name or not isinstance(arguments, dict):
        return None
    if name == RESPOND and speaks:
        content = arguments.get("content")
        return Action(content) if isinstance(content, str) and content.strip() else None
    return Action(None, name, json.dumps(arguments, ensure_ascii=False))


def in_text(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a conversation in chat format as texts in turns: own actions, and results after ``API output:``."""
    shown: list[dict[str, Any]] = []
    for message in messages:
        text = {"role": "user" if message["role"] == "tool" else message["role"], "content": _text(message)}
        if shown and text["role"] == "user" == shown[-1]["role"]:
            text["content"] = f"{shown.pop()['content']}\n{text['content']}"
        shown.append(text)
    return shown


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if message["role"] == "tool":
        return f"{_RESULT} {content}"
    if message["role"] != "assistant":
        return str(content)
    if written := message.get("written"):
        return str(written)
    if not (calls := message.get("tool_calls")):
        return f"{_ACTION}\n{json.dumps({'name': RESPOND, 'arguments': {'content': content}}, ensure_ascii=False)}"
    # Of a history that the model has not written itself.
    names = (
        f'{{"name": {json.dumps(each["function"]["name"])}, "arguments": {each["function"].get("arguments") or "{}"}}}'
        for each in calls
    )
    return "\n".join(f"{_ACTION}\n{each}" for each in names)
