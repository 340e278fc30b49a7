"""The documents of a knowledge base and the indexes over them, each made once a process when it is needed."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from ..documents import read_documents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..documents import Documents
    from .index import Index


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
            found: T = self._made[key]
            return found
