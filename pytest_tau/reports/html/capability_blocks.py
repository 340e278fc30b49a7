"""Blocks of capabilities as the page shows them; their texts may have a key in them, as an answer of a provider may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .json_text import without_keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...capability.views import PageBlock


def shown_blocks(found: Iterable[tuple[str, PageBlock]]) -> list[dict[str, Any]]:
    """Return the blocks that are a part of their own.

    Args:
        found: The blocks, each with the name of its capability.
    """
    return [
        {
            "name": name,
            "title": without_keys(block.title),
            "note": without_keys(block.note),
            "text": without_keys(block.text),
            "rows": [[label, without_keys(value)] for label, value in block.rows],
            "items": [
                {
                    **each._asdict(),
                    "text": without_keys(each.text),
                    "head": without_keys(each.head),
                    "note": without_keys(each.note),
                }
                for each in block.items
            ],
            "place": block.place,
            "data": block.data,
        }
        for name, block in found
        if block.place != "checks"
    ]


def block_checks(found: Iterable[tuple[str, PageBlock]]) -> list[dict[str, Any]]:
    """Return the items that are shown as checks, which the reward does not depend on."""
    return [
        {
            "kind": block.title,
            "text": without_keys(": ".join(filter(None, [each.head, each.text]))),
            "met": bool(each.met),
            "gates": False,
            "message_idx": each.message_idx,
            "call": None,
            "note": without_keys(each.note),
            "ofCall": False,
        }
        for _, block in found
        if block.place == "checks"
        for each in block.items
    ]
