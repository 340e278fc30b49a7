"""Whether the agent was heading for the right state when the user left, from what it had said about the missing calls.

It was not if its last word on one of them is a refusal, if it put another call to the user, or if it had announced a
call before and not made it.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ..language.claims import words_for_act
from ..language.ids import form_of, ids_in
from ..language.numbers import numbers_in
from ..language.tokens import plain_words
from ..language.turns import announced_in, hands_over
from ..models import AssistantMessage, strings_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..language.parser import ParsedText, Sentence
    from ..models import Message

_PROPOSES = frozenset(("asks", "confirms", "offers", "announces"))
#: Words between a number and what it is a number of.
_NEAR = 3


def _parse(text: str) -> ParsedText:
    """Return the sentences of a text; imported here, as reports of stored runs do not need them."""
    from ..language.parser import parse

    return parse(text)


def is_heading_for(missing: Sequence[dict[str, Any]], messages: Sequence[Message]) -> bool:
    """Return whether the agent would have made the missing calls, had the user stayed.

    Args:
        missing: The calls of the agent that the final state lacks.
        messages: The conversation, which the user has ended.
    """
    spoken = [(n, m) for n, m in enumerate(messages) if isinstance(m, AssistantMessage) and m.has_text_content()]
    if not spoken:
        return True
    number, last = spoken[-1]
    if _only_refuses(_parse(last.text).sentences):
        return False
    if any(is_refused(call["name"], messages) for call in missing) or _names_other_values(missing, last.text):
        return False
    return not _has_announced_before(messages[:number])


def is_refused(tool: str, messages: Sequence[Message]) -> bool:
    """Return whether the agent's last word on what a tool does is a refusal, or its last text nothing but one.

    If its last text asks for a yes and refuses nothing, what it refused before is past.
    """
    texts = [_parse(each.text) for each in messages if isinstance(each, AssistantMessage) and each.has_text_content()]
    last = texts[-1].sentences if texts else ()
    refuses = any(map(_refuses, last))
    if _only_refuses(last) or (not refuses and any("confirms" in each and _proposes(each) for each in last)):
        return refuses
    act = words_for_act(tool.split("_", maxsplit=1)[0].lower())
    said = [each for text in texts for each in text.sentences if "refuses" in each or _proposes(each)]
    about = [each for each in said if any(map(act.fullmatch, each.words))]
    return bool(about) and _refuses(about[-1])


def refusals(text: str) -> list[str]:
    """Return the sentences of a text of the agent in which it refuses something."""
    return [sentence.text for sentence in _parse(text).sentences if _refuses(sentence)]


def _refuses(sentence: Sentence) -> bool:
    return "refuses" in sentence and not _proposes(sentence)


def _only_refuses(sentences: Sequence[Sentence]) -> bool:
    return any(map(_refuses, sentences)) and not any(map(_proposes, sentences))


def _proposes(sentence: Sentence) -> bool:
    """Return whether a sentence asks for something, or says what the agent does next; not what somebody else would."""
    kinds = sentence.kinds
    return bool(kinds & _PROPOSES) and not kinds & {"closes", "greets", "parts"} and not hands_over(sentence.text)


def _names_other_values(missing: Sequence[dict[str, Any]], text: str) -> bool:
    """Return whether a text that proposes something names other values than the missing calls have.

    Ids are compared with ids of the same form, and numbers next to a word of a tool or of a parameter with its numbers.
    """
    proposals = [sentence for sentence in _parse(text).sentences if _proposes(sentence)]
    if not proposals:
        return False
    wanted = {each for call in missing for value in strings_in(call["arguments"]) for each in ids_in(value)}
    named = set(ids_in(text))
    forms = {form_of(each) for each in wanted} & {form_of(each) for each in named}
    if any(not {each for each in named if form_of(each) == form} & wanted for form in forms):
        return True
    numbers = {number for call in missing for _, number in _numbers_of(call)}
    words = {word for call in missing for word, _ in _numbers_of(call)}
    said = {each for sentence in proposals for each in _said_of(words, sentence)}
    return bool(said) and not said & numbers


def _numbers_of(call: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the numbers among the arguments of a call, each with the words of its parameter and of the tool."""
    for name, value in call["arguments"].items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            for word in plain_words(f"{name} {call['name']}"):
                yield word, float(value)


def _said_of(words: set[str], sentence: Sentence) -> Iterator[float]:
    """Yield the numbers of a sentence that are near one of these words."""
    text = sentence.text
    for number in numbers_in(text):
        before, after = plain_words(text[: number.start]), plain_words(text[number.end :])
        if words & {*before[-_NEAR:], *after[:_NEAR]}:
            yield number.value


def _has_announced_before(messages: Sequence[Message]) -> bool:
    """Return whether the agent has announced a call, and then said something instead of making it."""
    own = [each for each in messages if isinstance(each, AssistantMessage)]
    said = [each for each, after in zip_longest(own, own[1:]) if not (each.tool_calls or (after and after.tool_calls))]
    return any(announced_in(each.text) for each in said)
