"""COMMUNICATE: the agent said what had to be said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..models import AssistantMessage, CommunicateCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models import Message
    from .grading import Grading

#: Zeros that end the decimals of a number, with the point where nothing else is behind it.
_ZEROS = re.compile(r"(?<![\d.])(\d+)(?:\.0+|(\.\d*[1-9])0+)(?!\d|\.\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def check_communicate(phrases: Sequence[str], messages: Sequence[Message], grading: Grading) -> list[CommunicateCheck]:
    """Look for each phrase in the agent's texts.

    Source: τ²-bench v1.0.1: a lower-cased phrase is a substring of a lower-cased text without commas; commas stay
    in the phrase, so that one with a comma is never found.
    """
    texts = [m.text.lower() for m in messages if isinstance(m, AssistantMessage) and m.text]
    said = _said_whole if grading.whole_phrases else _said
    return [_check(phrase, said(phrase.lower(), texts)) for phrase in phrases]


def _check(phrase: str, met: bool) -> CommunicateCheck:
    return CommunicateCheck(info=phrase, met=met, justification="said by the agent" if met else "never said")


def _said(phrase: str, texts: list[str]) -> bool:
    return any(phrase in text.replace(",", "") for text in texts)


def _said_whole(phrase: str, texts: list[str]) -> bool:
    pattern = re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(_plain_numbers(phrase.strip()))}(?!\w|[.,]\d)")
    return any(pattern.search(_plain_numbers(text)) for text in texts)


def _plain_numbers(text: str) -> str:
    """The text with its numbers written one way: ``$1,481.50`` as ``$1481.5``, ``60.00`` as ``60``."""
    return _ZEROS.sub(r"\1\2", _THOUSANDS.sub("", text))
