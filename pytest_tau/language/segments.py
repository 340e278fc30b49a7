"""The parts of a text: its sentences and clauses."""

from __future__ import annotations

import functools
import re
from typing import Final

_CLAUSE_END: Final = re.compile(r"[,.;:!?]\s+|\n+")


def sentences(text: str, stops: str = ".!?") -> list[str]:
    """Return the sentences of a text, without those that are empty.

    A stop ends a sentence if a space follows. One before the end of a quotation or a bracket does as well, unless the
    sentence goes on with a small letter. Each line ends one.

    Args:
        text: The text.
        stops: The marks that end a sentence. With ``;`` among them, main clauses that it joins are sentences; with
            ``:``, what introduces a list or a question is one.
    """
    return [part for part in map(str.strip, _ends(stops).split(text)) if part]


def clauses(text: str) -> list[str]:
    """Return what is between the commas, stops and line ends of a text; the comma of ``1,200`` is none."""
    return [part for part in map(str.strip, _CLAUSE_END.split(text)) if part]


@functools.cache
def _ends(stops: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=[{stops}])\s+|(?<=[{stops}][\"')\]\u201d])\s+(?![a-z])|\n+")
