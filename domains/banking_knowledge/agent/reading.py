"""What the agent reads out of documents, records and messages."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_HIT = re.compile(r"(?m)^\d+\. (?P<title>.+)\n   ID: (?P<id>\S+)\n   Score: .*\n   Content: ")
_SECTION = re.compile(r"(?m)^## (?P<title>.+)\n\n(?=In force since)")
_SINCE = re.compile(r"In force since: (\d\d/\d\d/\d{4})")
_RECORD = re.compile(r"(?m)^\d+\. Record ID: ")
_FIELD = re.compile(r"(?m)^   (\w+): (.*)$")
_WORD = re.compile(r"[a-z0-9+]+")


class Read(NamedTuple):
    """A document that the agent has read."""

    title: str
    content: str
    since: date


class Library:
    """Documents that the agent has read; of several with the same title only the latest counts."""

    def __init__(self) -> None:
        self._read: dict[str, Read] = {}

    def add_hits(self, text: str) -> None:
        """Read the answer of a search."""
        self._add(_HIT, text)

    def add_policy(self, text: str) -> None:
        """Read the documents that a policy contains."""
        self._add(_SECTION, text)

    def _add(self, start: re.Pattern[str], text: str) -> None:
        starts = list(start.finditer(text))
        for number, heading in enumerate(starts, 1):
            content = text[heading.end() : starts[number].start() if number < len(starts) else len(text)]
            since = _SINCE.search(content)
            document = Read(heading["title"], content, american(since[1]) if since else date.min)
            known = self._read.get(document.title)
            if known is None or known.since < document.since:
                self._read[document.title] = document

    def tool(self, name: str) -> str | None:
        """Return the hidden tool whose name begins like this, as the latest document that names it has it."""
        versions = [
            (document.since, match[1])
            for document in self._read.values()
            if (match := re.search(rf"`({re.escape(name)}(?:_\d{{4}})?)`", document.content))
        ]
        return max(versions)[1] if versions else None

    def fact(self, label: str, title: str = "") -> str | None:
        """Return what a document states about something; the title may be its beginning only."""
        for document in sorted(self._read.values(), key=lambda read: read.since, reverse=True):
            match = re.search(rf"(?m)^- {re.escape(label)}: (.+)$", document.content)
            if match and document.title.startswith(title):
                return match[1]
        return None

    def answer(self, question: str) -> str | None:
        """Return the statement that shares the most words with a question; None if no label is asked for."""
        question_words = set(_WORD.findall(question.lower()))
        best: tuple[float, str] = (0.0, "")
        for document in self._read.values():
            title = set(_WORD.findall(document.title.lower()))
            for label, value in re.findall(r"(?m)^- ([^:\n]+): (.+)$", document.content):
                words = set(_WORD.findall(label.lower()))
                score = len(words & question_words) / len(words) + len(title & question_words) / len(title)
                best = max(best, (score, f"{label} ({document.title}): {value}"))
        return best[1] or None


def records(text: str) -> list[dict[str, str]]:
    """Return the records of a query's answer."""
    return [dict(_FIELD.findall(part)) for part in _RECORD.split(text)[1:]]


def card_records(text: str) -> list[dict[str, Any]]:
    """Return the debit cards of an answer, which are JSON; none if there is no card."""
    cards: list[dict[str, Any]] = json.loads(text) if text.startswith("[") else []
    return cards


def american(text: str) -> date:
    """Return a date such as 11/14/2025."""
    return datetime.strptime(text, "%m/%d/%Y").date()


def first_date(text: str) -> str | None:
    """Return the first date in a text, as it is written."""
    match = re.search(r"\b\d\d/\d\d/\d{4}\b", text)
    return match[0] if match else None


def amount(text: str | None) -> float | None:
    """Return the first amount in dollars in a text."""
    match = re.search(r"\$\s?([\d,]*\d(?:\.\d\d?)?)", text or "")
    return float(match[1].replace(",", "")) if match else None


def number(text: str | None) -> float | None:
    """Return the first number in a text."""
    match = re.search(r"\d[\d,]*(?:\.\d+)?", text or "")
    return float(match[0].replace(",", "")) if match else None


def money(text: str) -> float:
    """Return an amount of a record, with or without a dollar sign."""
    return float(text.replace("$", "").replace(",", "") or 0)


def dollars(value: float) -> str:
    """Return an amount as the agent writes it."""
    return f"${value:,.2f}"


def mentioned(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that occur in a text, the first mentioned first; a longer name hides one that is part of it."""
    positions = {name: text.lower().find(name.lower()) for name in names}
    there = [name for name, place in positions.items() if place >= 0]
    hidden = {name for name in there for other in there if name != other and name in other and text.count(name) == 1}
    return sorted((name for name in there if name not in hidden), key=positions.__getitem__)


def choice(choices: Iterable[tuple[str, str]], text: str) -> str:
    """Return the value of the first pattern that a text has, without regard to case; empty if it has none."""
    return next((value for pattern, value in choices if re.search(pattern, text.lower())), "")


def whole(value: float) -> float:
    """Return an amount as an integer if it has no cents."""
    return int(value) if value == int(value) else value
