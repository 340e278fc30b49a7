"""A chat model as the judge of NL assertions."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, JudgeError
from ..models import AssistantMessage, ToolMessage, UserMessage, call_as_text, writable
from .judge import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..chat import TrialModel
    from ..models import Message

#: Answers that the model may give until one of them can be used.
_ANSWERS = 3
_OPENING = re.compile(r'\{\s*"verdicts"')


#: The parts of a verdict. The reason comes first, so that it is generated before the outcome.
_FIELDS: dict[str, tuple[type, str]] = {
    "statement": (int, "the statement's number"),
    "reason": (str, "text"),
    "met": (bool, "true or false"),
}


class _AnswerError(Exception):
    """An answer cannot be used; the text is shown to the model that gave it."""


class LLMJudge:
    """A judge that asks a model about all statements in one call.

    The model is asked again after an answer that cannot be used; the conversation is not run again.

    Args:
        model: The trial's model for the judge.
        name: The judge's name in reports.
    """

    def __init__(self, model: TrialModel, name: str) -> None:
        self._model, self.name = model, name

    async def judge(self, statements: Sequence[str], messages: Sequence[Message]) -> list[Verdict]:
        """Return one verdict for each statement, in order.

        Raises:
            JudgeError: No answer could be used.
            ModelError: The model or its provider failed.
            ReplayError: A replayed trial asks what was not recorded.
        """
        asked = _question(statements, messages)
        problem = text = ""
        for _ in range(_ANSWERS):
            reply = await self._model.complete(asked, response_format=_FORMAT)
            text = reply.text
            try:
                return _verdicts(text, len(statements))
            except _AnswerError as error:
                problem = (
                    f"{error}; it was cut off because of its length" if reply.finish_reason == "length" else str(error)
                )
            asked = [*asked, *_again(text, problem)]
        raise JudgeError(
            f"judge {self.name!r} gave {_ANSWERS} answers, none of them valid: in the last one, {problem}; "
            f"it begins {text[:200]!r}"
        )


class LazyJudge:
    """A model judge before there is a trial, as a run is configured with. Each trial binds it to its own model.

    Args:
        name: The judge's name in reports.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def bind(self, model: TrialModel | None) -> LLMJudge:
        """Return the judge of one trial.

        Args:
            model: The trial's model for the judge; None if it has none.

        Raises:
            ConfigurationError: There is no model.
        """
        if model is None:
            raise ConfigurationError(f"judge {self.name!r} needs a model: add --tau-judge-llm MODEL")
        return LLMJudge(model, self.name)

    def judge(self, statements: Sequence[str], messages: Sequence[Message]) -> list[Verdict]:
        """Judge nothing: only what ``bind`` returns can ask a model.

        Raises:
            JudgeError: Always.
        """
        raise JudgeError(f"judge {self.name!r} calls a model and can only be used within a trial")


def _question(statements: Sequence[str], messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the prompt and the material to be judged, as chat messages."""
    prompt = resources.files(__package__).joinpath("judge_prompt.md").read_text(encoding="utf-8").strip()
    transcript = "\n".join(_entry(label, text) for label, text in _entries(messages))
    numbered = "\n".join(_entry(str(number), text) for number, text in enumerate(statements, 1))
    material = (
        f"<transcript>\n{transcript}\n</transcript>\n\n<statements>\n{numbered}\n</statements>\n\n"
        f"Give your verdicts on statements 1 to {len(statements)} as the JSON object described above."
    )
    return [{"role": "system", "content": prompt}, {"role": "user", "content": material}]


def _entries(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Yield texts, calls and results, oldest first, each after its label."""
    for message in messages:
        if isinstance(message, AssistantMessage | UserMessage):
            side = "agent" if message.role == "assistant" else "user"
            if message.has_text_content():
                yield side, message.text
            for call in message.tool_calls or []:
                malformed = call.malformed is not None
                text = f"{call.name}({call.malformed})" if malformed else call_as_text(call.name, call.arguments)
                yield f"{side} calls", text
        elif isinstance(message, ToolMessage):
            side = "agent" if message.requestor == "assistant" else "user"
            yield f"{'error' if message.error else 'result'} for {side}", message.content or ""


def _entry(label: str, text: str) -> str:
    """Return an entry with further lines indented, so that no text passes for another entry or ends the section."""
    return f"{label}: " + "\n    ".join(text.splitlines())


def _again(answer: str, problem: str) -> list[dict[str, Any]]:
    """Return the messages that follow an answer that cannot be used; providers refuse an empty message."""
    request = (
        f"That answer cannot be used: {problem}. Answer again with nothing but the JSON object, with exactly one "
        f"verdict for each statement, in which met is true or false."
    )
    said = [{"role": "assistant", "content": answer}] if answer.strip() else []
    return [*said, {"role": "user", "content": request}]


def _verdicts(text: str, statements: int) -> list[Verdict]:
    """Return the verdicts in an answer, in the order of the statements.

    Raises:
        _AnswerError: It cannot be used.
    """
    answer = _last_with_verdicts(text)
    if answer is None:
        raise _AnswerError("it has no JSON object with verdicts")
    if not isinstance(answer["verdicts"], list):
        raise _AnswerError(f"verdicts must be a list, got {_shown(answer['verdicts'])}")
    verdicts: dict[int, Verdict] = {}
    for entry in answer["verdicts"]:
        number, verdict = _numbered(entry)
        if not 1 <= number <= statements:
            raise _AnswerError(f"it has a verdict on statement {number}, which does not exist")
        if number in verdicts:
            raise _AnswerError(f"statement {number} has more than one verdict")
        verdicts[number] = verdict
    missing = [str(number) for number in range(1, statements + 1) if number not in verdicts]
    if missing:
        raise _AnswerError(f"it has no verdict on statement {', '.join(missing)}")
    return [verdicts[number] for number in range(1, statements + 1)]


def _numbered(entry: Any) -> tuple[int, Verdict]:
    if not isinstance(entry, dict):
        raise _AnswerError(f"a verdict must be an object, got {_shown(entry)}")
    for name, (kind, wanted) in _FIELDS.items():
        if type(entry.get(name)) is not kind:  # True is a number to isinstance
            found = _shown(entry[name]) if name in entry else "nothing"
            raise _AnswerError(f"{name} of a verdict must be {wanted}, got {found}")
    return entry["statement"], Verdict(entry["met"], writable(entry["reason"]))


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _last_with_verdicts(text: str) -> Any:
    """Return the last JSON object with verdicts, whatever surrounds it: those before it are drafts."""
    decoder, found, end = json.JSONDecoder(strict=False), None, 0
    while opening := _OPENING.search(text, end):
        try:
            found, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            end = opening.end()
    return found


#: The schema of an answer, which providers enforce.
_FORMAT: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdicts",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "verdicts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "statement": {"type": "integer"},
                            "reason": {"type": "string"},
                            "met": {"type": "boolean"},
                        },
                        "required": list(_FIELDS),
                        "additionalProperties": False,
                    },
                },
            },
            "required": ["verdicts"],
            "additionalProperties": False,
        },
    },
}
