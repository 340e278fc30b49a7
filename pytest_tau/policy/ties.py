"""The sentences of a policy, each with its place and with what is tied to it: rules, values, changes of it."""

from __future__ import annotations

import bisect
import re
from typing import TYPE_CHECKING, NamedTuple

from ..environment.values import named_in
from .editions import LAYOUT, fingerprint, plain, sentences_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..environment import Domain
    from .rule import Rule

_HEADING = re.compile(r"\s*#{1,6}\s+(.+?)[\s#]*$")
#: What the line between the head of a table and its rows is made of.
_SEPARATOR = frozenset("|-: \t\r\n")
_WORD = re.compile(r"\S+")


class Tie(NamedTuple):
    """Something that stands for a sentence.

    Attributes:
        kind: What it is, in a word: ``rule``, ``value``, ``mutant``.
        name: Its name.
    """

    kind: str
    name: str


class Sentence(NamedTuple):
    """A sentence of a policy: one of a line, or a row of a table. Headings and heads of tables are none.

    Attributes:
        text: The sentence as it is written, without the mark of a list.
        start: Where it begins in the policy, a number of characters.
        line: The number of its line, from 1.
        heading: The heading above it; empty at the beginning.
        ties: What is tied to it.
    """

    text: str
    start: int
    line: int
    heading: str
    ties: tuple[Tie, ...] = ()

    @property
    def end(self) -> int:
        """Where it ends in the policy."""
        return self.start + len(self.text)


def policy_sentences(policy: str, rules: Iterable[Rule] = (), ties: Iterable[tuple[Tie, str]] = ()) -> list[Sentence]:
    """Return the sentences of a policy, in order, with what is tied to them.

    Args:
        policy: The text.
        rules: Rules, which are tied to the sentences that state them, of an edition as well.
        ties: Further ties, each with a text of the policy: all sentences of which it is a part, or that it has a part
            of, are tied. Layout and letter case do not matter.
    """
    all_sentences = list(_sentences(policy))
    words = _Words(policy)
    tied: list[list[Tie]] = [[] for _ in all_sentences]
    spans = [(tie, span) for tie, text in ties for span in words.spans(text)]
    spans += [(Tie("rule", rule.name), span) for rule in rules for span in words.spans(rule.sentence)]
    for tie, (start, end) in spans:
        for number, sentence in enumerate(all_sentences):
            if sentence.start < end and start < sentence.end and tie not in tied[number]:
                tied[number].append(tie)
    for number, tie in _of_editions(all_sentences, rules):
        if tie not in tied[number]:
            tied[number].append(tie)
    return [sentence._replace(ties=tuple(known)) for sentence, known in zip(all_sentences, tied, strict=True)]


def sentences_of_domain(domain: Domain, rules: Iterable[Rule]) -> list[Sentence]:
    """Return the sentences of a domain's policy, tied to the rules that stand for them and the values that they state.

    Args:
        domain: The domain.
        rules: Its rules.
    """
    values = domain.spec.values
    stated = _sentences(domain.policy_source) if values and domain.has_own_data else ()
    ties = [
        (Tie("value", name), values.fill(sentence.text, "policy"))
        for sentence in stated
        for name in named_in(sentence.text)
    ]
    return policy_sentences(domain.environment().policy, rules, ties)


def _sentences(policy: str) -> Iterator[Sentence]:
    heading, start, lines = "", 0, policy.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        following = lines[number] if number < len(lines) else ""
        is_head = "|" in line and _is_separator(following)
        if match := _HEADING.match(line):
            heading = match[1]
        elif not is_head and any(map(str.isalnum, line)):
            place = 0
            for text in sentences_of(line):
                stripped = text.strip()
                place = line.index(stripped, place)
                yield Sentence(stripped, start + place, number, heading)
                place += len(stripped)
        start += len(line)


def _is_separator(line: str) -> bool:
    return "|" in line and "-" in line and _SEPARATOR.issuperset(line)


def _of_editions(sentences: list[Sentence], rules: Iterable[Rule]) -> Iterator[tuple[int, Tie]]:
    """Yield the sentences that state rules in an edition of which the policy has all sentences."""
    by_fingerprint: dict[str, int] = {}
    for number, sentence in enumerate(sentences):
        by_fingerprint.setdefault(fingerprint(sentence.text), number)
    for rule in rules:
        for edition in rule.editions:
            if by_fingerprint.keys() >= {*edition}:
                yield from ((by_fingerprint[key], Tie("rule", rule.name)) for key in edition)


class _Words:
    """The words of a policy in one line, without layout, each with its place in the text."""

    def __init__(self, policy: str) -> None:
        # Layout becomes spaces, so that places stay.
        blank = LAYOUT.sub(lambda mark: " " * len(mark[0]), policy)
        self._places, self._starts, words, length = [], [], list[str](), 0
        for word in _WORD.finditer(blank):
            self._places.append(word.span())
            self._starts.append(length)
            words.append(word[0].lower())
            length += len(words[-1]) + 1
        self._text = " ".join(words)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a text begins and ends in the policy, for each place that has it."""
        plain_text = plain(text)
        place = self._text.find(plain_text) if plain_text else -1
        while place >= 0:
            first = bisect.bisect_right(self._starts, place) - 1
            last = bisect.bisect_right(self._starts, place + len(plain_text) - 1) - 1
            yield self._places[first][0], self._places[last][1]
            place = self._text.find(plain_text, place + len(plain_text))
