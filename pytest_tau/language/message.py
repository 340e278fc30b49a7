"""The text of a message as the other side hears it: without thoughts and envelope."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ..documents import DocumentError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Tags between which models put their thoughts: ``<think>``, ``<thinking type="…">``, ``[THINK]``, ``◁think▷``.
_THOUGHT: Final = re.compile(
    r"<(?P<end>/?)(?:\w+:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)(?:\s[^<>]*)?>"
    r"|(?:\[|\N{WHITE LEFT-POINTING TRIANGLE})(?P<closes>/?)think(?:\]|\N{WHITE RIGHT-POINTING TRIANGLE})",
    re.IGNORECASE,
)
#: A part of a reply in the channels of the harmony format that is not for the user, and what marks the other parts.
_CHANNEL: Final = "<|channel|>"
_UNSPOKEN: Final = re.compile(
    r"<\|channel\|>\s*(?:analysis|commentary\s+to=)(?:(?!<\|(?:end|return|call|start|channel)\|>).)*", re.DOTALL
)
_MARKS: Final = re.compile(r"<\|start\|>\w*|<\|channel\|>\s*\w*|<\|(?:message|end|return|call)\|>")
#: A text that is nothing but one fenced block.
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[\w+-]*[ \t]*\n(?P<inside>(?:(?!\1).)*?)\s*\1", re.DOTALL)
#: Keys of an envelope under which the message is.
_SAID: Final = ("message", "response", "reply", "text", "content", "answer")
#: Keys of an object that is a call written as text, and no message.
_CALLED: Final = frozenset(("arguments", "parameters", "tool", "function", "tool_calls"))
#: First characters of an envelope or a fence.
_BEGINNINGS: Final = ("{", "`", "~")
#: First characters of what surrounds thoughts.
_TAGS: Final = frozenset("<[\N{WHITE LEFT-POINTING TRIANGLE}")
#: An envelope may be in a fence and the other way round.
_LAYERS: Final = 3
#: What models answer, and nothing else, if they refuse to play a person.
_DECLINES: Final = re.compile(
    r"\W*(?:(?:i'm|i am) (?:\w+ )?sorry,? ?(?:but )?|sorry,? ?(?:but )?|unfortunately,? |as an ai[^,.]*, )?"
    r"i(?:'m| am)? ?(?:can't|cannot|can not|(?:not able|unable) to|won't|will not) (?:\w+ )?"
    r"(?:(?:assist|comply|engage|participate)(?: you)? (?:with|in) (?:that|this|your|such)"
    r"|(?:help(?: you)? with|continue(?: with)?|fulfill?) (?:that|this|your|such)(?: [\w-]+){0,3}"
    r" (?:requests?|conversation|role-?play))"
    r"(?: [\w-]+){0,4}\W*",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"###[A-Z-]+###")


def spoken(text: str) -> str:
    """Return what a message says: without thoughts, one fence around it, and an envelope such as ``{"message": …}``.

    Thoughts are between ``<think>`` and ``</think>``, or before ``</think>`` if the first tag is missing, or after
    ``<think>`` if the last one is, or in a channel of the harmony format such as ``<|channel|>analysis``. Other values
    of an envelope are said as well, each in a line of its own. A text that only looks like an envelope stays as it is.
    """
    content = text.strip()
    if not _TAGS.intersection(content) and not content.startswith(_BEGINNINGS):
        return content
    for _ in range(_LAYERS):
        before, content = content, _without_envelope(_without_fence(_without_thoughts(content)))
        if content == before:
            break
    return content


def refuses_to_play(text: str) -> bool:
    """Return whether a text is nothing but the words with which models refuse: no person says them."""
    return _DECLINES.fullmatch(plain_quotes(text)) is not None


def without_tokens(text: str) -> str:
    """Return a text without the tokens that end a conversation, such as ``###STOP###``."""
    return _TOKEN.sub("", text).strip()


def plain_quotes(text: str) -> str:
    """Return a text whose apostrophes are those of a keyboard, as patterns expect them."""
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def _without_thoughts(text: str) -> str:
    if _CHANNEL in text:
        text = _MARKS.sub("", _UNSPOKEN.sub("", text))
    parts: list[str] = []
    start, thinks = 0, False
    for tag in _THOUGHT.finditer(text):
        if tag["end"] or tag["closes"]:
            if not thinks:  # the first tag is missing: all before was a thought
                parts.clear()
            start, thinks = tag.end(), False
        elif not thinks:
            parts.append(text[start : tag.start()])
            thinks = True
    return "".join([*parts, "" if thinks else text[start:]]).strip()


def _without_fence(text: str) -> str:
    fence = _FENCE.fullmatch(text)
    return fence["inside"].strip() if fence else text


def _without_envelope(text: str) -> str:
    if not (text.startswith("{") and text.endswith("}")):
        return text
    try:
        value = parse_json(text, strict=False)
    except DocumentError:
        return text
    key = next((key for key in _SAID if isinstance(value.get(key), str)), None)
    if key is None or value.keys() & _CALLED:
        return text
    others = {name: other for name, other in value.items() if name != key}
    return "\n".join([value[key].strip(), *_lines(others)]).strip()


def _lines(value: Any, name: str = "") -> Iterator[str]:
    """Yield the values of an object as lines, ``order id: #W1``; those of lists as items."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(inner, str(key).replace("_", " "))
    elif isinstance(value, list):
        yield from ([f"{name}:"] if name else [])
        for inner in value:
            yield from (f"- {line}" for line in _lines(inner))
    elif value is not None and value != "":
        text = str(value).strip() if not isinstance(value, bool) else ("yes" if value else "no")
        # A sentence speaks for itself.
        yield text if not name or text.endswith((".", "!", "?")) else f"{name}: {text}"
