"""The lines of a failure report about searches in a knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluation.component_reports import Line, more_line
from ..text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Searches, and documents of each, that are shown.
_SEARCHES, _DOCUMENTS = 8, 3
_QUERY = 60


def retrieval_lines(found: dict[str, Any]) -> list[Line]:
    """Return the lines about the value of ``simulation.info["retrieval"]``.

    Args:
        found: The searches, the documents that were read, and those that the task requires.
    """
    required, read, searches = found["required"], set(found["read"]), found["searches"]
    parts = ["1 search" if len(searches) == 1 else f"{len(searches)} searches"]
    if required:
        parts.append(f"{len(read & set(required))} of {len(required)} required documents read")
        parts.append(f"recall {found['recall']:.2f}")
    lines = [Line("head", f"knowledge base ({found['variant']}): {', '.join(parts)}")]
    for each in searches[:_SEARCHES]:
        query = one_line(each["query"], _QUERY)
        lines.append(
            Line("note", f'  message {each["message_idx"]}: {each["tool"]} "{query}": {_hits(each, required)}')
        )
    lines += more_line(searches, min(_SEARCHES, len(searches)))
    unread = [each for each in required if each not in read]
    if unread:
        lines.append(Line("bad", f"  required and never read: {_listed(unread, _SEARCHES)}"))
    return lines


def _hits(search: dict[str, Any], required: Sequence[str]) -> str:
    """Return the documents of a search, the required ones with their places first."""
    found = search["found"]
    if not found:
        return "nothing found"
    ranked = [(each, place) for place, each in enumerate(found, 1)]
    wanted = [f"{one_line(each, _QUERY)} (required, place {place})" for each, place in ranked if each in required]
    others = [one_line(each, _QUERY) for each in found if each not in required]
    return _listed([*wanted, *others], max(_DOCUMENTS, len(wanted)))


def _listed(texts: Sequence[str], most: int) -> str:
    shown = ", ".join(texts[:most])
    return f"{shown} and {len(texts) - most} more" if len(texts) > most else shown
