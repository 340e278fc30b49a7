"""Agents that write what they do as a line ``Action:`` with a JSON object, as τ-bench's strategies do.

Source: τ-bench (2024), strategies ``act`` and ``react``; the texts are our own.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import DocumentError, parse_json
from ..errors import ParticipantError
from ..plain import json
from .answers import shown
from .text_tools import schemas_as_text, value_at

if TYPE_CHECKING:
    from .requests import ChatReply
    from .trial_models import TrialModel

#: The name of the action that says something to the user.
RESPOND = "respond"
_ACTION, _THOUGHT, _RESULT = "Action:", "Thought:", "API output:"
_RESULT_LINE = re.compile(r"^\s*API output:", re.MULTILINE)
_ACTION_LINE = re.compile(r"^[ \t]*Action:", re.MULTILINE)
_THOUGHT_LINE = re.compile(r"^\s*Thought:", re.MULTILINE)
#: Fields of a message in which a model without a text may have thought.
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
_FORM = 'a JSON object with "name" and "arguments"'
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
        problem: Why it is not a call; empty for a call or a text.
    """

    said: str | None = None
    name: str = ""
    arguments: str = ""
    thought: str = ""
    problem: str = ""


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
        """
        del tool_choice  # the protocol asks for an action in any case
        system, *others = in_text(messages)
        rules = action_protocol(tools or [], thought=self._thought, speaks=self._speaks)
        sent = [{**system, "content": f"{system.get('content') or ''}\n\n{rules}"}, *others]
        reply = await self._model.complete(sent, response_format=response_format, **args)
        written = reply.text if reply.text.strip() else "" if self._strict else _thought_alone(reply.message)
        if reply.message.get("tool_calls") or not written:
            return reply
        action = (read_strictly if self._strict else read_action)(written, speaks=self._speaks)
        message: dict[str, Any] = reply.message | {"content": action.said, "written": written}
        message |= {"thought": action.thought} if action.thought else {}
        if action.said is None:
            self._made += 1
            function = {"name": action.name, "arguments": action.arguments}
            if action.problem:
                function |= {"malformed": action.arguments, "problem": action.problem}
            message["tool_calls"] = [{"id": f"action_{self._made}", "type": "function", "function": function}]
        return reply.model_copy(update={"message": message})


def _thought_alone(message: dict[str, Any]) -> str:
    """Return what a message without a text would be if its thought were written; empty if it has none."""
    thoughts = [message[name] for name in _REASONING if message.get(name)]
    return f"{_THOUGHT}\n{next((each for each in thoughts if isinstance(each, str)), '')}" if thoughts else ""


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
        "tools": schemas_as_text(tools),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)


def read_action(text: str, *, speaks: bool = True) -> Action:
    """Return the action in a reply: the first JSON object after the last line that begins with ``Action:``.

    A code fence, text behind the object and a result that the model has made up are skipped. Text that is not JSON is
    said to the user, without a thought. JSON that is not an action is a malformed call, whose result says so.
    """
    text = _RESULT_LINE.split(text, maxsplit=1)[0] or text
    marks = list(_ACTION_LINE.finditer(text))
    before, after = (text[: marks[-1].start()], text[marks[-1].end() :]) if marks else ("", text)
    thought = before.strip().removeprefix(_THOUGHT).strip()
    if not marks:
        parts = _THOUGHT_LINE.split(after, maxsplit=1)
        thought, after = (parts[1].strip(), parts[0]) if len(parts) > 1 else ("", after)
    body = _FENCE.sub("", after).strip()
    if not body.startswith(("{", "[")):
        said = _THOUGHT_LINE.split(body, maxsplit=1)[0].strip().removesuffix("```").strip()
        if said and speaks:
            return Action(said, thought=thought)
        return _malformed(
            text.strip(), f"no action: write a line that begins with {_ACTION!r}, and after it {_FORM}", thought
        )
    try:
        value = _first_value(body)
    except DocumentError as error:
        return _malformed(body, f"the action is {error}", thought)
    problem = _problem_of(value, speaks=speaks)
    return _malformed(body, problem, thought) if problem else _action(value, speaks=speaks)._replace(thought=thought)


def _malformed(written: str, problem: str, thought: str) -> Action:
    return Action(None, "action", written, thought, problem)


def read_strictly(text: str, *, speaks: bool = True) -> Action:
    """Return the action in a reply by the rules of τ-bench: what follows ``Action:`` is one JSON object, or is said.

    Further keys are ignored, and an empty text is said, too.

    Source: τ-bench (2024), by its description.

    Raises:
        ParticipantError: It is JSON, and not an object with ``name`` and ``arguments``.
    """
    before, _, after = text.rpartition(_ACTION)
    thought = before.strip().removeprefix(_THOUGHT).strip()
    try:
        value = parse_json(after)
    except DocumentError:
        return Action(after.strip(), thought=thought)
    problem = f"the action must be {_FORM}"
    if isinstance(value, dict) and "arguments" in value:
        problem = _problem_of({name: value[name] for name in ("name", "arguments") if name in value}, speaks=False)
        if (
            not problem
            and value["name"] == RESPOND
            and speaks
            and not isinstance(value["arguments"].get("content"), str)
        ):
            problem = f"{RESPOND!r} needs the argument 'content', a text"
    if problem:
        raise ParticipantError(f"{problem} (--tau-agent-text-protocol tau1)", side="agent")
    return _action(value, speaks=speaks)._replace(thought=thought)


def _first_value(text: str) -> Any:
    """Return the JSON value at the start of a text, whatever follows it."""
    try:
        _, end = value_at(text)
    except (ValueError, RecursionError):
        raise DocumentError("not valid JSON: it is not complete") from None
    return parse_json(text[:end], strict=False)  # models break lines inside JSON strings


def _problem_of(value: Any, *, speaks: bool) -> str:
    """Return why a JSON value is not an action; empty if it is one."""
    if not isinstance(value, dict):
        return f"the action must be {_FORM}, got {shown(value)}"
    name, arguments = value.get("name"), value.get("arguments", {})
    further = [key for key in value if key not in ("name", "arguments")]
    if not isinstance(name, str) or not name:
        return f'"name" of the action must be the name of a tool, got {shown(name)}'
    if further:
        return f"the action has the unknown key {shown(further[0])}: expected {_FORM}"
    if not isinstance(arguments, dict):
        return f'"arguments" of the action must be a JSON object, got {shown(arguments)}'
    content = arguments.get("content")
    if name == RESPOND and speaks and not (isinstance(content, str) and content.strip()):
        return f"{RESPOND!r} needs the argument 'content', a text that is not empty"
    return ""


def _action(value: dict[str, Any], *, speaks: bool) -> Action:
    name, arguments = value["name"], value.get("arguments", {})
    if name == RESPOND and speaks:
        return Action(arguments["content"])
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
