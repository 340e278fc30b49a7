"""Rarer garbage collection, for work that makes many objects of which hardly any are garbage."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Turn garbage collection off while thousands of objects are made: none is garbage, each collection visits all."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage more rarely: a collection looks through all objects of a file, which live until it is read."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
