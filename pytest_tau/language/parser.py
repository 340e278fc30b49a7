"""What each sentence of an agent does: it asks, confirms, offers, refuses, reports and so on."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .kinds import kinds_in, patterns_of
from .layout import blocks
from .message import spoken
from .offers import alternatives_in
from .vocabulary import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .layout import Block, Form

#: What comes first, so that nothing is done at once.
_NOT_YET = re.compile(
    r"\b(?:if|once|when|whenever|after|until|unless|before|as soon as|in case|upon|within|later|tomorrow)\b"
)
#: The start of a condition; such a sentence states no news, transfer or refusal.
_CONDITIONS = re.compile(r"^(?:\W*(?:if|once|when|until|before|as soon as|after|unless|should)\b)")
#: Begins a question that yes or no answers, although a "which" may follow: "Would you like me to check which …?"
_POLAR = re.compile(
    r"\b(?:would you (?:like|prefer|mind if)|do you (?:want|wish)|(?:shall|should) (?:i|we)"
    r"|(?:may|can|could) (?:i|we) (?!have|get|ask|know|see|help)|want me"
    r"|(?:is|are|was|were|does|did|has|have) (?:that|this|it|these|those|you|there))\b"
)
#: A question without a question mark: "Would you like to change it to:".
_UNMARKED = re.compile(
    r"^(?:[\w' ]{1,20}, )?(?:so |and |now )*"
    r"(?:would you (?:like|prefer)|do you (?:want|wish)|shall (?:i|we)|should (?:i|we)|may i)\b"
)
_CLAUSE_ENDS = re.compile(r"[,;:.!?\N{EM DASH}]|\b(?:and|or|then)\b")
_AT_HAND = re.compile(r"\b(?:let me know|feel free|i am here|i'm here|just ask|reach out)\b")
#: Asks for something after a yes: "If so, please let me know the new address".
_IF_SO = re.compile(r"^\W*if (?:so|yes)\b.*\blet me know (?:the|your|which|what|how)\b")
_NOT_TRANSFERRED = re.compile(
    r"\b(?:cannot|can't|can not|unable|not able|won't|will not|do not|not necessary|no need)\b"
)
#: Asks for a fact even where it asks for a yes: "If you would like to proceed, I will need your user id."
_HANDS_OVER = re.compile(
    r"\b(?:need|require|provide|share|give me|send|supply|have) (?:me )?(?:with )?(?:your|the following)\b"
)
#: Says what for: "your user id so that I can look at your order".
_PURPOSE = re.compile(
    r"\b(?:so (?:that )?(?:i|we)|in order to|because|before (?:i|we)|(?:associated|linked|connected) (?:with|to)"
    r"|to (?:help|look|locate|verify|proceed|pull|find|access|check|assist|get started|begin|continue|process|complete"
    r"|retrieve|identify|authenticate|confirm)(?! (?:your|the) \w+ (?:id|number)))\b[^,;(]*"
)
_HEAD_ENDS = re.compile(r"\s[-\N{EN DASH}\N{EM DASH}]\s|[:(]|\N{EM DASH}")
_LOOKS_UP = re.compile(
    r"\b(?:find|locate|look(?:ing)? (?:\w+ )?up|identify|verify|pull (?:\w+ )?up|details?|information|identity)\b",
    re.IGNORECASE,
)
#: A request for what another sentence or a list names.
_REFERS = re.compile(
    r"\b(?:provide|share|give|send|tell|supply|confirm|have|get|know|with|need|me)\W+(?:with )?(?:all (?:of )?)?"
    r"(?:those|these|this|that|them|both|either|it|(?:the|any of the) (?:above|following|below|rest))\b"
    r"|\b(?:details?|information|info|ones?|either|both|things?|items?|pieces?|following|below|above)\b"
)
_YOURS = re.compile(r"^\W*your\b|\?|_{3,}|:\s*$", re.IGNORECASE)
#: The most words of a sentence that adds nothing: "We are sorry about that."
_SHORT = 5
_ENDS = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!no\.)[\"')\]\N{RIGHT DOUBLE QUOTATION MARK}]*\s+")
#: Kinds that an item has only as a question; it is an alternative or a detail else.
_OF_SPEAKING = frozenset(("asks", "which", "confirms", "offers", "extra", "greets", "closes", "waits", "announces"))
_STATES = frozenset(("asks", "which", "confirms", "offers", "refuses", "closes", "greets", "parts"))


class Sentence(NamedTuple):
    """One sentence of an agent.

    Attributes:
        text: The sentence without marks.
        words: Its words, as phrases are compared with them.
        kinds: Its kinds, of ``KINDS``; ``says`` if it is a statement.
        asked: The words of the part that asks for something.
        form: The form of its line.
    """

    text: str
    words: tuple[str, ...]
    kinds: frozenset[str]
    asked: tuple[str, ...]
    form: Form = "text"

    def __contains__(self, kind: object) -> bool:
        return kind in self.kinds

    @property
    def is_offer(self) -> bool:
        """Return whether it offers something, and does not only ask what else there is."""
        return "offers" in self.kinds and not self.kinds & {"closes", "greets"}

    @property
    def is_which(self) -> bool:
        """Return whether it asks for one of several things, and not what else there is."""
        return "which" in self.kinds and not self.kinds & {"closes", "greets"}

    @property
    def chooses(self) -> bool:
        """Return whether it asks which one."""
        return self.is_which and "which" in self.words

    @property
    def is_polar(self) -> bool:
        """Return whether it is a question that yes or no would answer."""
        return "?" in self.text and not self.kinds & {"which", "closes", "greets", "works"}

    @property
    def is_choice(self) -> bool:
        """Return whether it asks to choose between things that it names."""
        return self.is_polar and bool(alternatives_in(self.text))

    @property
    def refers(self) -> bool:
        """Return whether it asks for what another sentence or a list names: "Could you provide those?"."""
        return "asks" in self.kinds and bool(_REFERS.search(self.text.lower()))


class ParsedText(NamedTuple):
    """An agent's text, parsed."""

    text: str
    sentences: tuple[Sentence, ...]

    def any(self, *kinds: str) -> bool:
        """Return whether a sentence is of one of these kinds."""
        return any(kind in sentence for sentence in self.sentences for kind in kinds)

    @property
    def is_open(self) -> bool:
        """Return whether it asks for more than whether that was all and whether it helped."""
        return any("asks" in sentence and not sentence.kinds & {"closes", "works"} for sentence in self.sentences)

    @property
    def refuses(self) -> bool:
        """Return whether it refuses something, or ends with what is not to be had, and asks for nothing then."""
        if self.any("refuses"):
            return True
        positions = [number for number, sentence in enumerate(self.sentences) if "lacks" in sentence]
        if not positions or self.is_open or self.any("offers", "confirms", "announces"):
            return False
        after = self.sentences[positions[-1] + 1 :]
        return all(sentence.kinds & {"closes", "parts", "waits"} or len(sentence.words) <= _SHORT for sentence in after)

    @property
    def looks_up(self) -> bool:
        """Return whether it speaks of finding a record."""
        return bool(_LOOKS_UP.search(self.text))

    @property
    def announcement(self) -> str:
        """The text from the sentence on that says what the agent does now; empty if it waits, or has done it."""
        if self.any("asks", "confirms", "closes", "parts", "greets"):
            return ""
        positions = [number for number, sentence in enumerate(self.sentences) if sentence.kinds & {"announces", "news"}]
        last = positions[-1] if positions else None
        if last is None or "announces" not in self.sentences[last]:
            return ""
        return " ".join(sentence.text for sentence in self.sentences[last:])

    @property
    def words(self) -> tuple[str, ...]:
        """All words of the text."""
        return words(self.text)


@lru_cache(maxsize=1024)  # agents repeat themselves
def parse(text: str) -> ParsedText:
    """Parse an agent's text."""
    text = spoken(text)
    sentences = [sentence for block in blocks(text) for sentence in _sentences(block)]
    start = 0
    while start < len(sentences):
        end = start
        while end < len(sentences) and sentences[end].form != "text":
            end += 1
        if end > start:
            before, after = sentences[max(0, start - 1) : start], sentences[end : end + 2]
            sentences[start:end] = _read_list(sentences[start:end], before, after)
        start = end + 1
    return ParsedText(text, tuple(sentences))


def _sentences(block: Block) -> Iterator[Sentence]:
    for part in filter(str.strip, _ENDS.split(block.text)):
        yield _sentence(part.strip(), block.form)


def _read_list(listed: Sequence[Sentence], before: Sequence[Sentence], after: Sequence[Sentence]) -> list[Sentence]:
    """Return the items of a list, which are what the sentence before or after it asks for, or else details.

    Args:
        listed: The items, with headings between them.
        before: The sentence before the list, if there is one.
        after: The sentences after it.
    """
    asks = any(_asks_for_list(sentence) for sentence in before) or any(
        sentence.refers and not sentence.kinds & {"which", "confirms", "offers", "closes"} for sentence in after
    )
    confirms = any("confirms" in sentence and "which" not in sentence for sentence in before)
    mine = confirms and all(_YOURS.search(sentence.text) for sentence in listed if sentence.form == "item")
    return [_read_item(sentence, asked=sentence.form == "item" and (asks or mine)) for sentence in listed]


def _read_item(item: Sentence, *, asked: bool) -> Sentence:
    """Return an item of a list as what the agent asks for, or as a detail, unless it asks something itself."""
    head, *rest = _HEAD_ENDS.split(item.text, maxsplit=1)
    if "asks" in item and not (asked and rest):
        return item
    if asked:
        kinds = item.kinds - _OF_SPEAKING - {"refuses", "lacks", "news", "says"} | {"asks"}
        return item._replace(kinds=kinds, asked=words(head))
    return item._replace(kinds=item.kinds - _OF_SPEAKING - {"lacks"} or frozenset(("says",)))


def _asks_for_list(sentence: Sentence) -> bool:
    points = sentence.text.endswith(":") or sentence.refers
    return "asks" in sentence and points and not sentence.kinds & {"which", "confirms", "offers"}


def _sentence(text: str, form: Form) -> Sentence:
    lower = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    question = "?" in lower or bool(_UNMARKED.search(lower))
    kinds = kinds_in(lower, question=question)
    if question:
        kinds.add("asks")
    kinds = _settled(kinds, lower)
    if _CONDITIONS.match(lower):
        kinds -= {"news", "transfers", "refuses", "lacks"}
        if _AT_HAND.search(lower) and not kinds & {"confirms", "which"} and not _IF_SO.search(lower):
            kinds = kinds - {"asks"} | {"closes"}  # "If you need anything more, let me know" asks for nothing
    if "announces" in kinds and (_NOT_YET.search(lower) or _reports_last(lower)):
        kinds = kinds - {"announces"} | {"waits"}
    if "transfers" in kinds and _NOT_TRANSFERRED.search(lower):
        kinds -= {"transfers"}
    if "closes" in kinds:
        kinds.discard("greets")
    if not kinds & _STATES:
        kinds.add("says")
    return Sentence(text, words(text), frozenset(kinds), words(_asked_part(lower, kinds)), form)


def _settled(kinds: set[str], text: str) -> set[str]:
    """Return the kinds of a sentence that asks either which or for a yes."""
    if "which" not in kinds:
        return kinds
    if not _is_which(text, kinds):
        return kinds - {"which"}
    return kinds - {"offers", "extra"} - (set() if _confirms_first(text) else {"confirms"}) | {"asks"}


def _is_which(text: str, kinds: set[str]) -> bool:
    """Return whether a sentence asks which: not what an offer or the confirmation of something would tell."""
    if not kinds & {"asks"} or "how does that" in text or "what do you think" in text:
        return False
    start = _first(text, "which")[0]
    polar = _POLAR.search(text)
    return polar is None or polar.start() >= start or bool(_CLAUSE_ENDS.search(text, polar.end(), start))


def _confirms_first(text: str) -> bool:
    """Return whether a sentence asks for a yes, and then, in another clause, which."""
    end = _first(text, "confirms")[1]
    return bool(end) and bool(_CLAUSE_ENDS.search(text, end, max(end, _first(text, "which")[0])))


def _asked_part(text: str, kinds: set[str]) -> str:
    """Return the part of a sentence that says what is asked for."""
    start = 0
    if "which" in kinds:
        start = _first(text, "which")[0]
    elif "confirms" in kinds and not _HANDS_OVER.search(text):
        return ""
    elif "asks" in kinds and (span := _first(text, "asks"))[1]:
        phrase = text[span[0] : span[1]]
        start = 0 if "_" in phrase else span[0] if phrase.startswith("your") else span[1]
    end = _PURPOSE.search(text, start)
    return text[start : end.start()] if end else text[start:]


def _first(text: str, kind: str) -> tuple[int, int]:
    """Return start and end of what shows first that a sentence is of a kind; 0 and 0 if nothing does."""
    spans = sorted(match.span() for pattern in patterns_of(kind) if (match := pattern.search(text)))
    start, end = spans[0] if spans else (0, 0)
    for other, last in spans[1:]:  # "I need", "need you to provide"
        end = max(end, last) if other <= end else end
    return start, end


def _reports_last(text: str) -> bool:
    """Return whether a sentence reports something after what it announces, which is then done."""
    announced = max(match.start() for pattern in patterns_of("announces.") for match in pattern.finditer(text))
    return any(pattern.search(text, announced) for pattern in patterns_of("news."))
