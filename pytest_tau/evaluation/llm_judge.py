"""A chat model as the judge of NL assertions."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from ..chat.answers import AnswerError, NoAnswerError, Question, entries_of, entry, last_object, shown, usable_answer
from ..errors import JudgeError
from ..models import writable
from .judge import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..chat import TrialModel
    from ..models import Message

#: The parts of a verdict. The reason comes first, so that it is generated before the outcome.
_FIELDS: dict[str, tuple[type, str]] = {
    "statement": (int, "the statement's number"),
    "reason": (str, "text"),
    "met": (bool, "true or false"),
}


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
        request = _question(statements, messages)
        question, material = Question(request, _FORMAT, _REMINDER), request[-1]["content"]
        try:
            return await usable_answer(self._model, question, lambda text: _verdicts(text, len(statements), material))
        except NoAnswerError as error:
            raise JudgeError(f"judge {self.name!r} gave {error}") from None


def _question(statements: Sequence[str], messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the prompt and the material to be judged, as chat messages."""
    prompt = resources.files(__package__).joinpath("judge_prompt.md").read_text(encoding="utf-8").strip()
    transcript = "\n".join(entry(label, text) for label, text in entries_of(messages))
    numbered = "\n".join(entry(str(number), text) for number, text in enumerate(statements, 1))
    material = (
        f"<transcript>\n{transcript}\n</transcript>\n\n<statements>\n{numbered}\n</statements>\n\n"
        f"Give your verdicts on statements 1 to {len(statements)} as the JSON object described above."
    )
    return [{"role": "system", "content": prompt}, {"role": "user", "content": material}]


def _verdicts(text: str, statements: int, material: str) -> list[Verdict]:
    """Return the verdicts in an answer about a material, in the order of the statements.

    Raises:
        AnswerError: It cannot be used.
    """
    answer = last_object(text, "verdicts", material)
    if answer is None:
        raise AnswerError("it has no JSON object with verdicts")
    if not isinstance(answer["verdicts"], list):
        raise AnswerError(f"verdicts must be a list, got {shown(answer['verdicts'])}")
    verdicts: dict[int, Verdict] = {}
    for raw_verdict in answer["verdicts"]:
        number, verdict = _numbered(raw_verdict)
        if not 1 <= number <= statements:
            raise AnswerError(f"it has a verdict on statement {number}, which does not exist")
        if number in verdicts:
            raise AnswerError(f"statement {number} has more than one verdict")
        verdicts[number] = verdict
    missing = [str(number) for number in range(1, statements + 1) if number not in verdicts]
    if missing:
        raise AnswerError(f"it has no verdict on statement {', '.join(missing)}")
    return [verdicts[number] for number in range(1, statements + 1)]


def _numbered(raw: Any) -> tuple[int, Verdict]:
    if not isinstance(raw, dict):
        raise AnswerError(f"a verdict must be an object, got {shown(raw)}")
    for name, (kind, expected) in _FIELDS.items():
        if type(raw.get(name)) is not kind:  # True is a number to isinstance
            actual = shown(raw[name]) if name in raw else "nothing"
            raise AnswerError(f"{name} of a verdict must be {expected}, got {actual}")
    return raw["statement"], Verdict(raw["met"], writable(raw["reason"]))


_REMINDER = (
    "Answer again with nothing but the JSON object, with exactly one verdict for each statement, in which met is true "
    "or false."
)

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
