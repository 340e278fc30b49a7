"""What a model is given of the conversation by an agent that runs its own loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Sequence


class Memory:
    """Notes which messages of the user and results of tools are in the requests to the model.

    A text counts as given if a request has it in any form of quoting, such as inside of another JSON text.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._results: list[str] = []
        self._turns = 0
        # Of the latest turn that has requests: its number, the texts and results in them, and how many came before.
        self._asked, self._given, self._before = 0, set[str](), (0, 0)

    def tell(self, text: str) -> None:
        """Note a message of the user, which begins a turn."""
        self._turns += 1
        self._texts.append(_flat(text))

    def receive(self, text: str) -> None:
        """Note the result of a tool call."""
        self._results.append(_flat(text))

    def ask(self, messages: Sequence[dict[str, Any]]) -> None:
        """Note a request to the model."""
        if self._asked != self._turns:
            self._asked, self._given = self._turns, set()
        request = _flat([*messages])
        self._given |= {text for text in (*self._texts, *self._results) if text in request}
        self._before = len(self._texts), len(self._results)

    @property
    def lost_texts(self) -> int:
        """The number of the user's messages that are not in the requests of the latest turn that has any."""
        return sum(text not in self._given for text in self._texts[: self._before[0]])

    @property
    def lost_results(self) -> int:
        """The number of results that are not in these requests, of results before the last one."""
        return sum(text not in self._given for text in self._results[: self._before[1]])


def _flat(value: Any) -> str:
    """Return a value as it is in JSON, however often it was quoted."""
    return json.dumps(value, ensure_ascii=False, default=str).strip('"').replace("\\", "")
