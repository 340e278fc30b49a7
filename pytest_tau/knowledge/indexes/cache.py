"""The documents of a knowledge base and the indexes over them, each made once a process when it is needed."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import threading
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...files import atomic_write
from ..documents import read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..documents import Documents
    from . import Index


T = TypeVar("T")


class Indexes:
    """Documents of a folder, and indexes over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[object, Any] = {}
        self._lock = threading.Lock()

    @functools.cached_property
    def documents(self) -> Documents:
        """The documents, read at first use.

        Raises:
            ConfigurationError: They cannot be read.
        """
        return read_documents(self.folder)

    def get(self, key: object, make: Callable[[Documents], Index]) -> Index:
        """Return the index of a key, which is made if there is none yet."""
        return self.once(key, lambda: make(self.documents))

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Return what is made for a key, once; searches of several trials may ask for it at the same time."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            value: T = self._made[key]
            return value


#: The environment variable that names the folder.
FOLDER = "TAU_EMBEDDINGS"


def cache_folder() -> Path:
    """Return the folder of the cache: ``$TAU_EMBEDDINGS``, else the user's cache folder."""
    if folder := os.environ.get(FOLDER):
        return Path(folder)
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
        return numbers or None

    def put(self, vectors: Mapping[str, array[float]]) -> None:
        """Add the embeddings of texts."""
        for text, numbers in vectors.items():
            path = self._path(text)
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                atomic_write(path, numbers.tobytes())

    def _path(self, text: str) -> Path:
        name = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
        return self._folder / name[:2] / f"{name}.f64"
