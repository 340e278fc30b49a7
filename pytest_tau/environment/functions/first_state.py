"""The state that tools begin with: the same in each new session, else one trial would see what another has changed."""

from __future__ import annotations

import threading
from typing import Any

from ...errors import DomainError
from ..changes import place_text, value_changes


class FirstState:
    """The state of a domain's first session.

    Args:
        domain: The name of the domain.
        advice: How to give each session this state, for the error.
    """

    def __init__(self, domain: str, advice: str) -> None:
        self._domain, self._advice = domain, advice
        self._known: list[Any] = []
        self._lock = threading.Lock()

    def check(self, state: Any) -> None:
        """Refuse a new session that does not begin with this state; the first one defines it.

        Raises:
            DomainError: Names the first place that differs.
        """
        with self._lock:
            if not self._known:
                self._known.append(state)
        change = next(value_changes("", self._known[0], state), None)
        if change is not None:
            problem = f"domain {self._domain!r}: its tools do not begin with the same state each time"
            raise DomainError(f"{problem}: {place_text(change)}: {self._advice}")
