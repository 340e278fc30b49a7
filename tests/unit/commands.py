"""A command of ``tau`` in a test: what it printed, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias


class Ran(NamedTuple):
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Tau: TypeAlias = Callable[..., Ran]
