"""COMMUNICATE: the agent said what had to be said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...models import CommunicateCheck
from ...text import listed
from ..component import RewardComponent
from ..component_reports import Check, Line, Omission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...models import Call, Message, RewardInfo
    from ..component import GradingInput
    from ..evidence import Evidence
    from ..grading import Grading

#: Phrases that a failure report shows, and that a reason names.
_MOST, _MOST_NAMES = 5, 3

#: Zeros that end the decimals of a number, with the point where nothing else is behind it.
_ZEROS = re.compile(r"(?<![\d.])(\d+)(?:\.0+|(\.\d*[1-9])0+)(?!\d|\.\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
#: Signs of currencies, for a set of characters.
_MONEY = "$\u00a2-\u00a5\u20a0-\u20cf"
_MINUS = "\N{MINUS SIGN}"
#: A hyphen that is the sign of a number: before it is nothing, a space, an opening bracket, Markdown's emphasis, or the
#: sign of a currency that does not belong to an amount, as in 10€-50€.
_SIGNS = re.compile(rf"(?<![^\s(\[{{*`{_MONEY}])(?<!\d[{_MONEY}])(?<!\d\s[{_MONEY}])-(?=[{_MONEY}]?\.?\d)")


def check_communicate(phrases: Sequence[str], messages: Sequence[Message], grading: Grading) -> list[CommunicateCheck]:
    """Look for each phrase in the agent's texts.

    Source: τ²-bench v1.0.1: a lower-cased phrase is a substring of a lower-cased text without commas; commas stay
    in the phrase, so that one with a comma is never found.
    """
    texts = [m.text.lower() for m in messages if m.role == "assistant" and m.text]
    is_said = _said_whole if grading.whole_phrases else _said
    return [_check(phrase, is_said(phrase.lower(), texts)) for phrase in phrases]


def _check(phrase: str, met: bool) -> CommunicateCheck:
    return CommunicateCheck(info=phrase, met=met, justification="said by the agent" if met else "never said")


def _said(phrase: str, texts: list[str]) -> bool:
    return any(phrase in text.replace(",", "") for text in texts)


def _said_whole(phrase: str, texts: list[str]) -> bool:
    unsigned = rf"(?<!{_MINUS})(?<!{_MINUS}[{_MONEY}])"  # -50 is not 50
    pattern = re.compile(rf"(?<!\w)(?<!\d[.,]){unsigned}{re.escape(_plain_numbers(phrase.strip()))}(?!\w|[.,]\d)")
    return any(pattern.search(_plain_numbers(text)) for text in texts)


def _plain_numbers(text: str) -> str:
    """Return the text with its numbers written one way: ``$1,481.50`` as ``$1481.5``, ``60.00`` as ``60``.

    The sign of a negative number becomes a minus sign, every other minus sign a hyphen.
    """
    signed = _SIGNS.sub(_MINUS, text.replace(_MINUS, "-"))
    return _ZEROS.sub(r"\1\2", _THOUSANDS.sub("", signed))


class CommunicateComponent(RewardComponent):
    """The agent said each phrase."""

    name = "COMMUNICATE"

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Look for the phrases."""
        phrases = given.task.criteria.communicate_info or []
        verdict.communicate_checks = check_communicate(phrases, given.messages, given.grading)

    def value(self, verdict: RewardInfo) -> float:
        """Return 1 if every phrase was said."""
        return float(all(check.met for check in verdict.communicate_checks or []))

    def checks(self, verdict: RewardInfo) -> list[Check]:
        """Return a check for each phrase."""
        return [
            Check(check.info, check.met, check.info, f"phrase {check.info!r}", "" if check.met else "never said")
            for check in verdict.communicate_checks or []
        ]

    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        """Return the phrases that were not said, if they decide over the reward."""
        del calls
        unsaid = [repr(check.info) for check in verdict.communicate_checks or [] if not check.met]
        return [Line("bad", f"never said: {listed(unsaid, _MOST)}")] if unsaid and self.gates(verdict) else []

    def omission(self, verdict: RewardInfo) -> Omission | None:
        """Return the phrases that were not said."""
        unsaid = [repr(check.info) for check in verdict.communicate_checks or [] if not check.met]
        return (
            Omission("it did not say a required text", f"never said: {', '.join(unsaid[:_MOST_NAMES])}")
            if unsaid
            else None
        )

    def located(self, verdict: RewardInfo, evidence: Evidence) -> list[Check]:
        """Return each check with the first message of the agent that has the phrase."""
        return [
            check._replace(message_idx=_said_at(check.text, evidence)) if check.met else check
            for check in self.checks(verdict)
        ]

    def to_json(self, verdict: RewardInfo) -> dict[str, Any]:
        """Return whether each phrase was said."""
        return {"communicate": [check.met for check in verdict.communicate_checks or []]}


def _said_at(phrase: str, evidence: Evidence) -> int | None:
    """Return the first message of the agent that has the phrase."""
    is_said, lowered = _said_whole if evidence.grading.whole_phrases else _said, phrase.lower()
    for number, message in enumerate(evidence.simulation.messages):
        if message.role == "assistant" and message.content and is_said(lowered, [message.content.lower()]):
            return number
    return None
