"""The kinds of an agent's sentences, by a table of patterns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from .vocabulary import words

_YES_NO = r"\(?\byes ?(?:/|or) ?no\b\)?"
_ACT = r"(?:proceed|go ahead|continue)"
#: After "I will" or "let me": verbs that announce nothing which is then done, or something that takes no action.
_NO_ACT = (
    r"(?:not|never|only|be|have|need|require|want|like|love|wait|hope|stay|remain|leave|keep|remember|note|respect"
    r"|understand|assist|help|support|guide|walk|let|ensure|make (?:sure|certain)|monitor|know|hear|speak|talk|say"
    r"|tell|ask|explain|clarify|summari[sz]e|rephrase|repeat|recap|assure|remind|apologi[sz]e|inform|notify|contact"
    r"|call|e-?mail|message|update you|look forward|get back|follow up|reach out|start|begin|transfer|connect|escalate"
    r"|send (?:you )?(?:\w+ ){0,2}(?:e-?mail|confirmation|message|text|link|receipt|copy|details))\b"
)
_AT_ONCE = r"(?:now|right away|straight away|right now|immediately|at once|for you)"
#: What comes first, so that nothing is done at once.
_NOT_YET = re.compile(
    r"\b(?:if|once|when|whenever|after|until|unless|before|as soon as|in case|upon|within|later|tomorrow)\b"
)

#: Patterns of each kind of sentence, lower-case. One with ``?`` is found in questions only, one with ``.`` in others.
KINDS: dict[str, tuple[str, ...]] = {
    # Asks for something, in a question or not.
    "asks": (
        r"\b(?:please|kindly|could you|can you|would you|will you) (?:\w+ ){0,2}?"
        r"(?:provide|tell|share|give|send|enter|state|specify|confirm|verify|name|describe|choose|say|read|check)\b",
        r"^(?:provide|tell me|share|give me|specify|state|confirm|verify|let me know)\b",
        r"\blet me know\b",
        r"\b(?:i|we)(?:'ll| will| would)? (?:also |still |just )?(?:need|require)\b(?! to\b)",
        r"\bi need to (?:know|verify|have)\b",
        r"\b(?:may|can|could) i (?:please )?(?:have|get|ask)\b",
    ),
    # Asks for a yes before something is done.
    "confirms": (
        _YES_NO,
        r"\bdo you (?:\w+ )?(?:confirm|agree|accept|approve|authori[sz]e)\b",
        rf"\b(?:shall|should|may|can|could) i (?:now |please )?{_ACT}\b",
        r"\b(?:shall|should) (?:i|we)\b",
        r"\bis (?:that|this|it|everything|all of (?:this|that)) (?:all )?(?:correct|right|ok|okay|fine|accurate)\b",
        r"\bare (?:these|those|the details) (?:\w+ )?(?:correct|right)\b",
        r"\bwould you like (?:me|us) to\b",
        r"\b(?:do|would) you (?:want|wish|like) (?:me |us )?to (?:\w+ )?(?:proceed|go ahead|continue)\b",
        r"\bdo you (?:want|wish) me to\b",
        r"\bare you sure\b",
        rf"\b(?:please|could you|can you) (?:please )?confirm (?:that|if|whether|this|these|to {_ACT}|before|so|you)\b",
        r"\bplease confirm(?: the (?:details|following|changes?|summary))?\W*$",
        r"\b(?:need|await) your (?:explicit )?(?:confirmation|consent|approval)\b",
        r"\b(?:reply|answer|respond|say)(?: with)? \W?yes\b",
        r"\b(?:ok|okay|fine|good) (?:for|with) you\b",
    ),
    # Offers something that the user may decline.
    "offers?": (
        r"\bwould you (?:also )?(?:like|prefer|be (?:willing|happy|interested|ok))\b",
        r"\bdo you (?:also )?(?:want|wish)\b",
        r"\bare you (?:willing|interested|ok|okay|happy)\b",
        r"\bcan i (?:offer|interest)\b",
        r"\bhow about\b",
        r"\b(?:is|would) (?:that|this) (?:be )?acceptable\b",
        r"\bwould (?:that|this) (?:work|help|suit|do)\b",
    ),
    # Offers something that the user has not asked for.
    "extra?": (
        r"\bwould you also\b",
        r"\bdo you also want\b",
        r"\b(?:can|may|could) i (?:also )?(?:offer|interest)\b",
        r"\binterested in\b",
        r"\bin addition\b",
    ),
    "refuses.": (
        r"\b(?:i|we)(?: am| are|'m|'re)? (?:\w+ )?(?:cannot|can't|can not|unable to|not able to|not allowed|won't)\b",
        r"\b(?:i|we) will not\b",
        r"\bunfortunately\b",
        r"\bnot (?:be )?(?:possible|permitted|allowed|eligible|offered)\b",
        r"\b(?:cannot|can't|can not|may not|must not) be (?!undone|reversed|changed again|taken back)",
        r"\bpolicy (?:does not|doesn't|forbids|prohibits)\b",
        r"\b(?:i have to|i must) (?:decline|refuse)\b",
        r"\bi(?:'m| am) (?:sorry,? but|afraid)\b",
    ),
    "news.": (
        r"\b(?:has|have) (?:now |just |already |successfully )?been\b",
        r"\b(?:is|are) now\b",
        r"\bi(?:'ve| have) (?:now |just |already |successfully |also )*"
        r"(?!located|verified|identified|checked|looked|reviewed|confirmed|received|noted|searched|listed|needed)"
        r"(?:\w+ed|sent|made|put|set|done|taken|given|paid|bought|begun)\b",
        r"\ball set\b",
        r"\b(?:is|are|it's|all) (?:all )?(?:done|complete|completed|finished|resolved|fixed|solved|sorted|settled)\b",
        r"\bsuccessful(?:ly)?\b",
        r"\bshould (?:now |all )?(?:be (?:resolved|fixed|solved|working|fine)|work)\b",
        r"^done\b",
    ),
    # Asks whether the problem is gone.
    "works?": (
        r"\b(?:is|does|did|has) (?:it|that|this|everything|your \w+(?: \w+){0,3}|the \w+(?: \w+){0,3}) "
        r"(?:now |help|fix|solve|resolve|work|been (?:fixed|solved|resolved))",
        r"\b(?:working|solved|resolved|fixed|gone) (?:now|again|yet)\b",
        r"\b(?:still have|still having|still see|still there)\b",
    ),
    "closes": (
        r"\b(?:anything|something|what|how) else\b",
        r"\bdo next\b",
        r"\b(?:further|other|additional) (?:help|assistance|questions|concerns|requests)\b",
        r"\belse i can\b",
        r"\bmore i can do\b",
    ),
    "parts.": (
        r"\byou(?:'re| are) (?:very |most )?welcome\b",
        r"\bgood ?bye\b",
        r"\bhave a (?:\w+ )?(?:day|one|evening|trip|flight|week)\b",
        r"\btake care\b",
    ),
    "greets?": (
        r"\bhow (?:can|may) i (?:help|assist|be of)\b",
        r"\bwhat can i (?:help|do|assist)\b",
        r"\bwhat (?:would you like|do you (?:want|need)|is (?:it )?(?:you|your (?:request|problem|issue)))\b",
        r"\bhelp you with\b",
    ),
    "waits.": (
        r"\b(?:one|a) moment\b",
        r"\blet me\b(?! know)",
        r"\b(?:please )?(?:hold on|bear with me|wait)\b",
        r"\bi(?:'ll| will) (?:\w+ )?(?:check|look|see|review|find|do|take care)\b",
    ),
    # Says that it does something now.
    "announces.": (
        r"(?<!what )(?<!how )\b(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| are going to) "
        rf"(?:(?:now|just|also|then|gladly|happily|quickly|immediately|go ahead and) )*(?!{_NO_ACT})\w+",
        rf"\blet me (?:(?:now|just|also|quickly|go ahead and) )*(?!{_NO_ACT})\w+",
        rf"\bi(?:'m| am) (?:now |just )?(?!going\b|waiting\b|looking forward\b)\w+ing\b.*\b{_AT_ONCE}\b",
    ),
    "transfers.": (
        r"\b(?:transferring|handing) (?:you|this|the)\b",
        r"\bconnect(?:ed|ing)? (?:you )?(?:to|with) (?:an?|the|our|one of our) (?:\w+ )?(?:agent|colleague|specialist)",
        r"\b(?:are|is|have been|has been|will be) (?:now |being )*(?:transferred|handed over)\b",
        r"\bi(?:'ll| will| am going to| have)(?: now)? (?:transfer|hand)(?:red|ed)? you\b",
        r"\b(?:human|live) (?:agent|representative|specialist) (?:takes|will take|is taking) over\b",
    ),
}
#: The start of a condition; such a sentence states no news, transfer or refusal.
_CONDITIONS = re.compile(r"^(?:\W*(?:if|once|when|until|before|as soon as|after|unless|should)\b)")
#: An open question, though the words of a confirmation are in it: "Yes" would be no answer.
_OPEN = re.compile(
    r"\b(what|how|which|where|when)\b(?: \w+){0,3} (?:would you like|do you (?:want|wish)) (?:me|us) to\b"
)
_AT_HAND = re.compile(r"\b(?:let me know|feel free|i am here|i'm here|just ask|reach out)\b")
_NOT_TRANSFERRED = re.compile(
    r"\b(?:cannot|can't|can not|unable|not able|won't|will not|do not|not necessary|no need)\b"
)
_ENDS = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+|\n+")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_TABLE = {kind: [re.compile(pattern) for pattern in patterns] for kind, patterns in KINDS.items()}


class Sentence(NamedTuple):
    """One sentence of an agent.

    Attributes:
        text: The sentence as it was written.
        words: Its words, as phrases are compared with them.
        kinds: Its kinds, of ``KINDS``; ``says`` if it is a statement.
    """

    text: str
    words: tuple[str, ...]
    kinds: frozenset[str]

    def __contains__(self, kind: object) -> bool:
        return kind in self.kinds

    @property
    def is_offer(self) -> bool:
        """Return whether it offers something, and does not only ask what else there is."""
        return "offers" in self.kinds and not self.kinds & {"closes", "greets"}


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
    def announcement(self) -> str:
        """The text from the sentence on that says what the agent does now; empty if it waits, or has done it."""
        if self.any("asks", "confirms", "closes", "parts", "greets"):
            return ""
        found = [number for number, sentence in enumerate(self.sentences) if sentence.kinds & {"announces", "news"}]
        last = found[-1] if found else None
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
    sentences: list[Sentence] = []
    asking_list = False
    for line in filter(str.strip, _ENDS.split(text)):
        bullet = _BULLET.match(line)
        sentence = _sentence(_BULLET.sub("", line).strip())
        if bullet and asking_list:
            sentence = sentence._replace(kinds=sentence.kinds | {"asks"})
        elif not bullet:
            asking_list = "asks" in sentence and sentence.text.rstrip("*_ ").endswith(":")
        sentences.append(sentence)
    return ParsedText(text, tuple(sentences))


def _sentence(text: str) -> Sentence:
    lower = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    question = "?" in lower
    kinds = {kind.rstrip("?.") for kind, patterns in _TABLE.items() if _matches(kind, patterns, lower, question)}
    if question:
        kinds.add("asks")
    if open_question := _OPEN.search(lower):
        kinds -= {"confirms", "offers"}
        kinds |= {"greets"} if open_question[1] in {"what", "how"} else set()
    if _CONDITIONS.match(lower):
        kinds -= {"news", "transfers", "refuses"}
        if _AT_HAND.search(lower):  # "If you need anything more, let me know" asks for nothing
            kinds = kinds - {"asks"} | {"closes"}
    if "announces" in kinds and (_NOT_YET.search(lower) or _reports_last(lower)):
        kinds -= {"announces"}
    if "transfers" in kinds and _NOT_TRANSFERRED.search(lower):
        kinds -= {"transfers"}
    if "closes" in kinds:
        kinds.discard("greets")
    if not kinds & {"asks", "confirms", "offers", "refuses", "closes", "greets", "parts"}:
        kinds.add("says")
    return Sentence(text, words(text), frozenset(kinds))


def _reports_last(text: str) -> bool:
    """Return whether a sentence reports something after what it announces, which is then done."""
    announced = max(found.start() for pattern in _TABLE["announces."] for found in pattern.finditer(text))
    return any(pattern.search(text, announced) for pattern in _TABLE["news."])


def _matches(kind: str, patterns: list[re.Pattern[str]], text: str, question: bool) -> bool:
    if (kind.endswith("?") and not question) or (kind.endswith(".") and question):
        return False
    return any(pattern.search(text) for pattern in patterns)
