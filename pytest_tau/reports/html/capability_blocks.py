"""Blocks of capabilities as the page shows them; their texts may have a key in them, as an answer of a provider may."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...masking import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...capability.views import PageBlock


def shown_blocks(found: Iterable[tuple[str, PageBlock]], folder: Path) -> list[dict[str, Any]]:
    """Return the blocks that are a part of their own.

    Args:
        found: The blocks, each with the name of its capability.
        folder: The folder of the page.
    """
    return [
        {
            "name": name,
            "title": mask_secrets(block.title),
            "note": mask_secrets(block.note),
            "text": mask_secrets(block.text),
            "rows": [[label, mask_secrets(value)] for label, value in block.rows],
            "items": [
                {
                    **each._asdict(),
                    "text": mask_secrets(each.text),
                    "head": mask_secrets(each.head),
                    "note": mask_secrets(each.note),
                }
                for each in block.items
            ],
            "place": block.place,
            "data": block.data,
            "media": address(block.media, folder) if block.media else None,
        }
        for name, block in found
        if block.place != "checks"
    ]


def address(file: Path, folder: Path) -> str | None:
    """Return the address of a file relative to a page; None if there is none, or the file is not there."""
    if not file.is_file():
        return None
    try:
        return quote(Path(os.path.relpath(file, folder)).as_posix())
    except ValueError:  # on another drive
        return None


def block_checks(found: Iterable[tuple[str, PageBlock]]) -> list[dict[str, Any]]:
    """Return the items that are shown as checks, which the reward does not depend on."""
    return [
        {
            "kind": block.title,
            "text": mask_secrets(": ".join(filter(None, [each.head, each.text]))),
            "met": bool(each.met),
            "gates": False,
            "message_idx": each.message_idx,
            "call": None,
            "note": mask_secrets(each.note),
            "ofCall": False,
        }
        for _, block in found
        if block.place == "checks"
        for each in block.items
    ]
