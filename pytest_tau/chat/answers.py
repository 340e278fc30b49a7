"""Answers of a model that must have a form: the model is asked again after one that cannot be used."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..documents import DocumentError, parse_json
from ..models import AssistantMessage, ToolMessage, UserMessage, call_as_text
from ..plain import json
from .requests import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..models import Message
    from .trial_models import TrialModel

T = TypeVar("T")

#: Answers that a model may give until one of them can be used.
ANSWERS = 3


class AnswerError(Exception):
    """An answer cannot be used; the text is shown to the model that gave it."""


class NoAnswerError(Exception):
    """No answer could be used."""

    def __init__(self, problem: str, answer: str) -> None:
        self.problem, self.answer = problem, answer
        begins = f"it begins {answer[:200]!r}"
        super().__init__(f"{ANSWERS} answers, none of them valid: in the last one, {problem}; {begins}")


class Question(NamedTuple):
    """A question to a model.

    Attributes:
        messages: The question, as chat messages.
        form: The schema of an answer, as OpenAI's ``response_format``; providers that know it enforce it.
        reminder: The form of an answer in words, for the model that is asked again.
    """

    messages: Sequence[dict[str, Any]]
    form: dict[str, Any]
    reminder: str


async def usable_answer(model: TrialModel, question: Question, read: Callable[[str], T]) -> T:
    """Return what is read in the first answer that can be used.

    Args:
        model: The model.
        question: The question.
        read: Reads an answer; raises ``AnswerError``.

    Raises:
        NoAnswerError: No answer could be used.
        ModelError: The model or its provider failed.
        ReplayError: A replayed trial asks what was not recorded.
    """
    asked = list(question.messages)
    problem = text = ""
    for _ in range(ANSWERS):
        reply = await model.complete(asked, response_format=question.form)
        text = text_of(reply.message) or ""
        try:
            return read(text)
        except AnswerError as error:
            cut = reply.finish_reason == "length"
            problem = f"{error}; it was cut off because of its length" if cut else str(error)
        # Providers refuse an empty message.
        said = [{"role": "assistant", "content": text}] if text.strip() else []
        request = f"That answer cannot be used: {problem}. {question.reminder}"
        asked = [*asked, *said, {"role": "user", "content": request}]
    raise NoAnswerError(problem, text)


def last_object(text: str, key: str, material: str = "", *, drafts: bool = True) -> dict[str, Any] | None:
    """Return the last JSON object in a text that has a key, whatever surrounds it: those before it are drafts.

    Args:
        text: An answer.
        key: The key.
        material: What the answer is about. An object that is a part of it is a quotation, and no answer: an agent could
            write its own verdict and have the judge repeat it.
        drafts: Whether others may come before it.

    Raises:
        AnswerError: It has a key twice, also inside, so that one of two values would be ignored; it is quoted; another
            one has begun after it and is not complete, so that it is a draft; or there are two, and no drafts.
    """
    decoder, found, place = json.JSONDecoder(strict=False), None, text.find("{")
    begins = re.compile(rf'\{{\s*"{re.escape(key)}"\s*:')
    quoted = incomplete = several = False
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
            incomplete = incomplete or begins.match(text, place) is not None
        else:
            if isinstance(value, dict) and key in value:
                is_quoted = _squeezed(text[place:end]) in _squeezed(material)
                quoted, incomplete = quoted or is_quoted, incomplete and is_quoted
                several = several or (found is not None and not is_quoted)
                found = found if is_quoted else text[place:end]
        place = text.find("{", end)
    if found is not None and incomplete:
        raise AnswerError(f"its last JSON object with {key} is not complete")
    if several and not drafts:
        raise AnswerError(f"it has more than one JSON object with {key}")
    if found is None and quoted:
        raise AnswerError(f"its only JSON object with {key} is quoted from the conversation")
    try:
        return None if found is None else parse_json(found, strict=False, unique_keys=True)
    except DocumentError as error:
        raise AnswerError(str(error)) from None


def _squeezed(text: str) -> str:
    """Return a text without blanks and backslashes, which differ in a quotation."""
    return re.sub(r"[\s\\]+", "", text)


def shown(value: Any) -> str:
    """Return a value of an answer as an error shows it."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def entry(label: str, text: str) -> str:
    """Return an entry of a transcript with further lines indented, so that no text looks like another entry."""
    return f"{label}: " + "\n    ".join(text.splitlines())


def entries_of(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
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
