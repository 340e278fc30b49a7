"""Blocks of capabilities as the page shows them; their texts may have a key in them, as an answer of a provider may."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...capability.calls import page_blocks
from ...masking import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...capability import Capability, PageBlock
    from ...models import Simulation


class ShownBlocks:
    """The blocks of capabilities in a page, and the scripts that draw them.

    Args:
        capabilities: The capabilities.
        folder: The folder of the page, for addresses of files.

    Attributes:
        scripts: The files of the scripts of the blocks that were shown; the values have no meaning.
    """

    def __init__(self, capabilities: Sequence[Capability], folder: Path) -> None:
        self._capabilities, self._folder = capabilities, folder
        self.scripts: dict[Path, None] = {}

    def of_trial(self, simulation: Simulation) -> list[tuple[str, PageBlock]]:
        """Return the blocks of a trial, each with the name of its capability."""
        return [*page_blocks(self._capabilities, simulation)]

    def as_json(self, blocks: Sequence[tuple[str, PageBlock]]) -> list[dict[str, Any]]:
        """Return those of some blocks that are a part of their own, each with the name of its capability."""
        self.scripts |= {block.script: None for _, block in blocks if block.script is not None}
        return [
            {
                "name": name,
                "title": mask_secrets(block.title),
                "note": mask_secrets(block.note),
                "text": mask_secrets(block.text),
                "rows": [[label, mask_secrets(value)] for label, value in block.rows],
                "items": [
                    {
                        **item._asdict(),
                        "text": mask_secrets(item.text),
                        "head": mask_secrets(item.head),
                        "note": mask_secrets(item.note),
                    }
                    for item in block.items
                ],
                "place": block.place,
                "data": block.data,
                "media": address(block.media, self._folder) if block.media else None,
            }
            for name, block in blocks
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


def block_checks(blocks: Iterable[tuple[str, PageBlock]]) -> list[dict[str, Any]]:
    """Return the items that are shown as checks, which the reward does not depend on."""
    return [
        {
            "kind": block.title,
            "text": mask_secrets(": ".join(filter(None, [item.head, item.text]))),
            "met": bool(item.met),
            "gates": False,
            "message_idx": item.message_idx,
            "call": None,
            "note": mask_secrets(item.note),
            "ofCall": False,
        }
        for _, block in blocks
        if block.place == "checks"
        for item in block.items
    ]
