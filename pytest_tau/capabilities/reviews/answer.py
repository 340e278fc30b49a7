"""The answer of a reviewer: its JSON Schema, and the check of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...chat import AnswerError, last_object, shown
from ...models import Review, ReviewFinding, writable
from ...models.reviews import FAULT_OWNERS, FAULT_TYPES, SEVERITIES, TAGS, mark_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models import ReviewMode
    from .case import ReviewCase

#: Tags that a review of the user alone does not have. Source: τ²-bench v1.0.1.
_NOT_OF_USER = ("tool_call_schema_error", "tool_call_argument_error")
_REMINDERS: dict[ReviewMode, str] = {
    "full": "Answer again with nothing but the JSON object, with errors, summary, fault_owner and fault_type.",
    "user": "Answer again with nothing but the JSON object, with errors and summary.",
}


def reminder(mode: ReviewMode) -> str:
    """Return the form of an answer in words."""
    return _REMINDERS[mode]


def answer_form(mode: ReviewMode) -> dict[str, Any]:
    """Return the schema of an answer, as OpenAI's ``response_format``."""
    text, maybe_text = {"type": "string"}, {"type": ["string", "null"]}
    tags = [tag for tag in TAGS if mode == "full" or tag not in _NOT_OF_USER]
    sides = ("agent", "user") if mode == "full" else ("user",)
    severities = list(dict.fromkeys(severity for side in sides for severity in SEVERITIES[side]))
    error = {
        "reasoning": text,
        **({"source": {"type": "string", "enum": list(sides)}} if mode == "full" else {}),
        "turn_idx": {"type": ["integer", "null"]},
        "error_type": text,
        "error_tags": {"type": "array", "items": {"type": "string", "enum": tags}},
        "severity": {"type": "string", "enum": severities},
        **({"user_message": maybe_text} if mode == "user" else {}),
        "correct_behavior": maybe_text,
    }
    answer: dict[str, Any] = {"errors": {"type": "array", "items": _object(error)}, "summary": text}
    if mode == "full":
        answer["fault_owner"] = {"type": ["string", "null"], "enum": [*FAULT_OWNERS, None]}
        answer["fault_type"] = {"type": ["string", "null"], "enum": [*FAULT_TYPES, None]}
    return {"type": "json_schema", "json_schema": {"name": "review", "strict": True, "schema": _object(answer)}}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_answer(text: str, case: ReviewCase, material: str = "") -> Review:
    """Return the review in a text: its only JSON object with errors that is not quoted from the material.

    Raises:
        AnswerError: It cannot be used.
    """
    answer = last_object(text, "errors", material, drafts=False)
    if answer is None:
        raise AnswerError("it has no JSON object with errors")
    return check_answer(answer, case)


def check_answer(answer: Mapping[str, Any], case: ReviewCase) -> Review:
    """Return the review that an answer gives.

    Unknown tags are kept and marked. Anything else that is not as described makes the answer unusable, so that nothing
    is taken for a conversation without errors.

    Args:
        answer: ``errors``, ``summary``, and in the mode ``full`` ``fault_owner`` and ``fault_type``.
        case: The conversation.

    Raises:
        AnswerError: It cannot be used; the text says why.
    """
    errors = answer.get("errors")
    if not isinstance(errors, list):
        raise AnswerError(f"errors must be a list, got {_found(answer, 'errors')}")
    summary = answer.get("summary", "")
    if not isinstance(summary, str):
        raise AnswerError(f"summary must be text, got {shown(summary)}")
    owner, kind = _fault(answer, case) if case.mode == "full" else (None, None)
    findings = [_finding(error, number, case) for number, error in enumerate(errors, 1)]
    if owner in SEVERITIES and not any(finding.source == owner for finding in findings):
        raise AnswerError(f"fault_owner is {owner!r}, but no error has this source")
    return Review(mode=case.mode, summary=writable(summary), errors=findings, fault_owner=owner, fault_type=kind)


def _fault(answer: Mapping[str, Any], case: ReviewCase) -> tuple[str | None, str | None]:
    owner, kind = answer.get("fault_owner"), answer.get("fault_type")
    if owner not in (*FAULT_OWNERS, None):
        raise AnswerError(f"fault_owner must be {', '.join(FAULT_OWNERS)} or null, got {shown(owner)}")
    if case.outcome == "failed" and owner is None:
        raise AnswerError("the task failed, but fault_owner is null")
    if case.outcome != "failed" and owner is not None:
        raise AnswerError(f"the task did not fail, but fault_owner is {owner!r}; it must be null")
    if owner != "agent":
        return owner, None
    if kind not in FAULT_TYPES:
        raise AnswerError(f"fault_type must be {', '.join(FAULT_TYPES)}, got {shown(kind)}")
    return owner, kind


def _finding(raw: Any, number: int, case: ReviewCase) -> ReviewFinding:
    name = f"error {number}"
    if not isinstance(raw, dict):
        raise AnswerError(f"{name} must be an object, got {shown(raw)}")
    source: Any = raw.get("source") if case.mode == "full" else "user"
    if not isinstance(source, str) or source not in SEVERITIES:
        raise AnswerError(f"source of {name} must be agent or user, got {_found(raw, 'source')}")
    severity = raw.get("severity")
    if severity not in SEVERITIES[source]:
        expected = ", ".join(SEVERITIES[source])
        raise AnswerError(f"severity of {name}, of the {source}, must be {expected}, got {_found(raw, 'severity')}")
    tags = _tags(raw.get("error_tags", []), name)
    texts = {key: _text(raw, key, name) for key in ("error_type", "reasoning", "correct_behavior", "user_message")}
    return ReviewFinding(
        source="agent" if source == "agent" else "user",
        error_type=texts["error_type"] or "",
        error_tags=tags,
        unknown_tags=mark_unknown(tags),
        severity=severity,
        turn_idx=_turn(raw.get("turn_idx"), name, case),
        reasoning=texts["reasoning"] or "",
        correct_behavior=texts["correct_behavior"],
        user_message=texts["user_message"],
    )


def _tags(raw: Any, name: str) -> list[str]:
    tags = [raw] if isinstance(raw, str) else raw
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise AnswerError(f"error_tags of {name} must be a list of texts, got {shown(raw)}")
    return [writable(tag) for tag in dict.fromkeys(tags)]


def _text(raw: dict[str, Any], key: str, name: str) -> str | None:
    value = raw.get(key)
    if value is not None and not isinstance(value, str):
        raise AnswerError(f"{key} of {name} must be text, got {shown(value)}")
    return None if value is None else writable(value)


def _turn(value: Any, name: str, case: ReviewCase) -> int | None:
    if value is None:
        return None
    if type(value) is not int:  # True is a number to isinstance
        raise AnswerError(f"turn_idx of {name} must be a number or null, got {shown(value)}")
    if value not in {number for number, _ in case.messages}:
        raise AnswerError(f"turn_idx of {name} is {value}, and the conversation has no such turn")
    return value


def _found(raw: Mapping[str, Any], key: str) -> str:
    return shown(raw[key]) if key in raw else "nothing"
