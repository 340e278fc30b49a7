"""Examples for prompts: conversations of a file of JSON lines, or of a stored run."""

from __future__ import annotations

import functools
import random
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from ...documents import DocumentError, json_or_none, read_text
from ...errors import ConfigurationError
from ...models import AssistantMessage, ToolMessage, UserMessage, parse_messages
from ...plain import json
from ...text import listed, plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from ...models import Message

#: The files of a stored run's folder that have its conversations.
_LINES = "*.jsonl"
#: Tasks that a warning names.
_NAMED = 3


class Example(NamedTuple):
    """A conversation.

    Attributes:
        task_id: Its task; None if the file does not name it.
        text: The conversation, a line for each message.
    """

    task_id: str | None
    text: str


@functools.lru_cache(maxsize=4)
def read_examples(path: Path) -> tuple[Example, ...]:
    """Read the examples of a file of JSON lines, or of a stored run, of which those that passed are taken.

    A line is a stored simulation, or ``{"messages_display": "user: …", "task_id": "…"}``, the id may be missing.

    Raises:
        ConfigurationError: The file cannot be read, or has no examples; names the line.
    """
    files = sorted(path.glob(_LINES)) if path.is_dir() else [path]
    examples = tuple(each for file in files for each in _examples_of(file))
    if not examples:
        raise ConfigurationError(f"{path}: has no examples: of a stored run, those that passed are taken")
    return examples


def _examples_of(file: Path) -> Iterator[Example]:
    try:
        lines = read_text(file).splitlines()
    except (OSError, DocumentError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigurationError(f"{file}: cannot be read: {reason}") from None
    for number, line in enumerate(lines, 1):
        example = _example(line, f"{file}, line {number}") if line.strip() else None
        if example is not None:
            yield example


def drawn_examples(path: Path, number: int, task_id: str, seed: int | None) -> list[str]:
    """Return examples of other tasks than the given one, drawn by the trial's seed; all if there are not more.

    Raises:
        ConfigurationError: The file cannot be read, or all of its examples are of this task.
    """
    others = [each.text for each in read_examples(path) if each.task_id != task_id]
    if not others:
        raise ConfigurationError(f"{path}: every example is of the task {task_id!r}, which is under test")
    draw = random.Random(f"{seed} examples {task_id}")  # noqa: S311 - not for secrets
    return draw.sample(others, min(number, len(others)))


def leak_warning(path: Path, task_ids: Collection[str]) -> str | None:
    """Return the warning that examples are of tasks of the run; None if none is, or the file names no tasks."""
    shared = sorted({each.task_id for each in read_examples(path) if each.task_id is not None} & set(task_ids))
    if not shared:
        return None
    return (
        f"examples of few-shot are of {plural(len(shared), 'task')} of this run ({listed(shared, _NAMED)}): those of "
        "the task under test are not shown, but take examples from another split"
    )


def _example(line: str, where: str) -> Example | None:
    """Return the example of a line; None for a simulation that did not pass."""
    found = json_or_none(line)
    if not isinstance(found, dict):
        raise ConfigurationError(f"{where}: expected a JSON object")
    task_id = found.get("task_id")
    task_id = None if task_id is None else str(task_id)
    shown = found.get("messages_display")
    if isinstance(shown, str) and shown.strip():
        return Example(task_id, shown.strip())
    if not isinstance(found.get("messages"), list):
        raise ConfigurationError(f"{where}: expected 'messages_display', a text, or a stored simulation")
    reward = found.get("reward_info")
    if not isinstance(reward, dict) or reward.get("reward") != 1:
        return None
    try:
        messages = parse_messages(found["messages"])
    except ValidationError:
        raise ConfigurationError(f"{where}: its messages cannot be read") from None
    return Example(task_id, "\n".join(filter(None, map(_shown, messages))))


def _shown(message: Message) -> str:
    """Return a message as the agent has it; nothing for what the agent does not see."""
    if isinstance(message, ToolMessage):
        return f"tool: {message.content or ''}" if message.requestor == "assistant" else ""
    if isinstance(message, UserMessage) and not message.tool_calls:
        return f"user: {message.text}"
    if isinstance(message, AssistantMessage):
        calls = [f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})" for call in message.tool_calls or []]
        return f"assistant: {' '.join(filter(None, [message.text, *calls]))}"
    return ""
