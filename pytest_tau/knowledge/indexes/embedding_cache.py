"""A cache of embeddings on disk, by text and model."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from ...files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The environment variable that names the folder.
FOLDER = "TAU_EMBEDDINGS"


def cache_folder() -> Path:
    """Return the folder of the cache: ``$TAU_EMBEDDINGS``, else the user's cache folder."""
    if given := os.environ.get(FOLDER):
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "pytest-tau" / "embeddings"


class EmbeddingCache:
    """Embeddings of one model: a file for each text, with its numbers as 64-bit floats and nothing else.

    A file that cannot be read is as if it were not there. A vector that cannot be written is not cached.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self._folder = folder / hashlib.sha256(model.encode()).hexdigest()[:16]

    def get(self, text: str) -> array[float] | None:
        """Return the embedding of a text; None if it is not known."""
        numbers = array("d")
        try:
            numbers.frombytes(self._path(text).read_bytes())
        except (OSError, ValueError):
            return None
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers or None

    def put(self, vectors: Mapping[str, array[float]]) -> None:
        """Add the embeddings of texts."""
        for text, numbers in vectors.items():
            written = array("d", numbers)
            if sys.byteorder == "big":
                written.byteswap()
            path = self._path(text)
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                atomic_write(path, written.tobytes())

    def _path(self, text: str) -> Path:
        name = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
        return self._folder / name[:2] / f"{name}.f64"
