"""How the user says what it is told to say: in the first person, and without "mention that" before it."""

from __future__ import annotations

import functools
import re
from typing import Final

from ..message import without_tokens

#: Replacements that turn text about the user into the first person.
_TURNED: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\byou are\b", "I am"),
        (r"\byou're\b", "I am"),
        (r"\byou were\b", "I was"),
        (r"\byou've\b", "I have"),
        (r"\byou'll\b", "I will"),
        (r"\byou'd\b", "I would"),
        (r"\byourself\b", "myself"),
        (r"\byours\b", "mine"),
        (r"\byour\b", "my"),
        (r"\byou to\b", "me to"),
        (
            r"\b(to|for|with|from|of|at|by|let|help|send|give|tell|told|asked|charged|offered|gives|saves|shows|refund"
            r"|transfer) you\b",
            r"\1 me",
        ),
        (r"\byou\b", "I"),
    )
)
_CAPITAL: Final = re.compile(r"(^|[.!?] )(m[ey])\b")
#: What follows is said later in the conversation; only what comes before it is said at once.
_LATER: Final = re.compile(
    r",? (?:first|initially)(?=\s*[(,.]|$).*"
    r"|(?<!times), (?:and )?then\b.*|, but\b.*|(?<=\d) if .*|\s*\((?:common|do not|don't).*",
    re.DOTALL,
)
#: How the instructions say that something is said, and how the user says it.
_SPEECH: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"^(?:you )?(?:suddenly )?(?:change your mind|regret) (?:and|to) (?:only )?ask to (?:only )?", "please only "),
        (r"^do not say yes immediately,? because ", ""),
        (r"^(?:provide|with) ", ""),
        (r"^only (?=[a-z]+ the\b)", "please only "),
        (r"^insist on ", "you insist on "),
        (
            r"^(?:you )?(?:will )?(?:say|mention|reply|respond|answer|insist|tell (?:the agent|them|it)|explain)"
            r"(?: exactly)?(?: with)?(?: that)? ",
            "",
        ),
        (r"^(?:you )?ask (?:the agent )?to be ", "you would like to be "),
        (r"^(?:you )?ask (?:the agent )?(?:if|whether) ", "please tell you whether "),
        (r"^(?:you )?ask (?:the agent )?to ", "please "),
        (r"^(?:you )?ask (?:the agent )?for ", "you would like "),
        (r"^(?:you )?ask (?:the agent )?(?=how|what|which|when)", "please tell you "),
        (r"^(?:you )?(?:want )?(?:then )?(?:try|ask) to ", "you would like to "),
        (
            r"^(?=(?:cancel|return|exchange|keep|change|get|use|modify|book|proceed|refund|provide|do|see|transfer"
            r"|drop)\b)",
            "please ",
        ),
    )
)
_ANGRY: Final = re.compile(
    r"^you (?:are|become|would be) angry(?: and swear(?: for a few times)?)?,? (?:(?:and|but|then) )*", re.IGNORECASE
)
#: A text that is a sentence once it is in the first person.
_SENTENCE: Final = re.compile(
    r"\W*(?:you|your|you're|it|it's|there|the|that|this|using|please|then|additionally|also|for|all|both|i|\d|[A-Z]\w*\d)\b",
    re.IGNORECASE,
)
_NOTHING: Final = "I need help."


@functools.lru_cache(maxsize=1024)
def first_person(text: str) -> str:
    """Return text about the user in the first person, without tokens that end a conversation if they are said."""
    turned = " ".join(without_tokens(text).split())
    for pattern, replacement in _TURNED:
        turned = pattern.sub(replacement, turned)
    return _CAPITAL.sub(lambda match: match[1] + match[2].capitalize(), turned) or _NOTHING


def says_more_later(instruction: str) -> bool:
    """Return whether an instruction has another thing to say later: "say 11111 first, then the right one"."""
    return _LATER.search(instruction) is not None


def as_said(instruction: str) -> str:
    """Return what the user says for an instruction such as ``mention that you have a pet``; empty if not read."""
    sentence = _LATER.sub("", _ANGRY.sub("", instruction)).strip(" '\",;")
    for pattern, replacement in _SPEECH:
        sentence, changed = pattern.subn(replacement, sentence, count=1)
        if changed:
            break
    else:
        if not _SENTENCE.match(sentence):
            return ""
    sentence = first_person(sentence.strip(" '\""))
    sentence = sentence[:1].upper() + sentence[1:]
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
