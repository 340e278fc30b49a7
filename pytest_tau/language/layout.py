"""The layout of an agent's text: paragraphs, items of lists, headings and rows of tables, without their marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Form: TypeAlias = Literal["text", "item", "heading", "row"]

_BULLET = re.compile(
    r"^(?:[-*+•·\u2013\u2014▪◦‣●○➤➢✅☐]|\(?(?:\d{1,2}|[a-z])[.)]"
    r"|\d\N{VARIATION SELECTOR-16}?\N{COMBINING ENCLOSING KEYCAP})\s+",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,6}\s+")
_ONLY_BOLD = re.compile(r"^(?:\*\*|__)[^*_?!.]+(?:\*\*|__):?$")
_RULE = re.compile(r"^(?:[-*_=]\s*){3,}$|^\|?[\s:|-]*-{2,}[\s:|-]*$|^(?:```|~~~)\w*$")
_QUOTE = re.compile(r"^(?:>\s*)+")
#: An emphasised word that stands for the user's own: **yes** is written as "yes".
_OWN_WORD = re.compile(
    r"(?<![\w\"'])(?:\*{1,3}|_{1,3}|`)(yes|no|ok|okay|proceed|confirm)(?:\*{1,3}|_{1,3}|`)(?![\w\"'])", re.IGNORECASE
)
_EMPHASIS = (
    re.compile(r"(\*{2,3}|__)(?=\S)(.+?)(?<=\S)\1"),
    re.compile(r"(?<![\w*])(\*)(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])"),
    re.compile(r"(?<!\w)(_)(?=[^\s_])([^_\n]+?)(?<=[^\s_])_(?!\w)"),
)
#: The most words of a line below "Please provide:" that is an item, though it has no bullet.
_SHORT = 8
#: The most words of a label with others next to it: "Full name:".
_LABEL = 3


class Block(NamedTuple):
    """A line of a text, without marks."""

    text: str
    form: Form


def blocks(text: str) -> list[Block]:
    """Return the lines of a text in order, without empty ones and rules."""
    lines, marked = list(_lines(text)), list[Block]()
    for at, block in enumerate(lines):
        follows = bool(marked) and (marked[-1].form == "item" or marked[-1].text.endswith(":"))
        form = any(_is_label(line) for line in lines[max(0, at - 1) : at + 2] if line is not block)
        entry = (follows and _is_entry(block)) or (form and _is_label(block))
        marked.append(block._replace(form="item") if entry else block)
    return marked


def _lines(text: str) -> Iterator[Block]:
    for line in text.splitlines():
        stripped = _QUOTE.sub("", line.strip())
        if not stripped or _RULE.match(stripped):
            continue
        if stripped.startswith("|"):
            yield Block(_plain(", ".join(cell.strip() for cell in stripped.strip("|").split("|"))), "row")
        elif _HEADING.match(stripped) or _ONLY_BOLD.match(stripped):
            yield Block(_plain(_HEADING.sub("", stripped)), "heading")
        elif bullet := _BULLET.match(stripped):
            yield Block(_plain(stripped[bullet.end() :]), "item")
        else:
            yield Block(_plain(stripped), "text")


def _is_entry(block: Block) -> bool:
    """Return whether a line is short, and no sentence."""
    short = len(block.text.split()) <= _SHORT
    return block.form == "text" and short and not block.text.endswith((".", "!", "?", ":"))


def _is_label(block: Block) -> bool:
    """Return whether a line is a label of a form: ``Full name:``."""
    return block.form == "text" and block.text.endswith(":") and len(block.text.split()) <= _LABEL


def _plain(text: str) -> str:
    text = _OWN_WORD.sub(r'"\1"', text)
    for pattern in _EMPHASIS:
        text = pattern.sub(r"\2", text)
    return text.strip()
