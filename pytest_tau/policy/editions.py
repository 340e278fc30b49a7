"""Editions of a policy: other texts with the same rules, recognised by the fingerprints of their sentences.

A rule stands for a sentence of its domain's own policy. Data of somebody else have another text: there, the rule holds
if the text has the sentences whose fingerprints it names. An edition that changes a number in one of them has another
fingerprint, and the rule is not checked.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from ..files import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .rule import Rule

_DIGITS = 12
#: What is layout: emphasis, code, quotes, the marks of lists, headings and tables, and the point at the end.
LAYOUT = re.compile(r"[*_`'\"|#>]+")
_MARK = re.compile(r"^\s*(?:[-+•]|\d+[.)])\s+")
#: Not as in ``language``: fingerprints that rules name depend on where a sentence of a policy ends.
_END = re.compile(r"(?<=[.!?])\s+")


def fingerprint(sentence: str) -> str:
    """Return the fingerprint of a sentence, which does not depend on layout and letter case."""
    return digest(plain(sentence))[:_DIGITS]


def holds_in(rule: Rule, policy: str) -> bool:
    """Return whether a policy states a rule: in the rule's own sentence, or in those of an edition that it names."""
    return stated_as(rule, policy) is not None


def stated_as(rule: Rule, policy: str) -> str | None:
    """Return the sentences by which a policy states a rule, those of an edition as they are in it; None if it does not.

    Other layout counts as the same.
    """
    if states(rule.sentence, policy):
        return rule.sentence
    known = _fingerprints(policy)
    edition = next((edition for edition in rule.editions if known.keys() >= {*edition}), None)
    return None if edition is None else " ".join(known[key].strip() for key in edition)


def states(sentence: str, policy: str) -> bool:
    """Return whether a policy has a sentence, whatever the layout and the letter case."""
    return plain(sentence) in _plain_text(policy)


@functools.lru_cache(maxsize=32)
def _fingerprints(policy: str) -> dict[str, str]:
    """Return the sentences of a policy by their fingerprints."""
    return {fingerprint(sentence): sentence for sentence in sentences_of(policy)}


@functools.lru_cache(maxsize=32)
def _plain_text(policy: str) -> str:
    return plain(policy)


def sentences_of(policy: str) -> Iterator[str]:
    """Yield the sentences of a policy: each line of a list and of a table, and the sentences of other lines."""
    for line in policy.splitlines():
        yield from (part for part in _END.split(_MARK.sub("", line)) if part.strip())


def plain(text: str) -> str:
    """Return a text in lower case and in one line, without layout and without the point at its end."""
    return " ".join(LAYOUT.sub(" ", text).lower().split()).rstrip(" .:;!")
