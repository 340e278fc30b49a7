"""A chat model that answers what it was asked before as it did then, so that a turn can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import clone

if TYPE_CHECKING:
    from ..chat import ChatModel, ChatReply, ChatRequest


class RememberedModel:
    """Remembers its answers in their order; after ``rewind`` they are given again, for equal requests.

    Args:
        model: The model that is called.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model, self._position = model, 0
        self._known: list[tuple[ChatRequest, ChatReply]] = []

    def rewind(self) -> None:
        """Begin again with the first answer."""
        self._position = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the remembered answer to a request, or that of the model.

        Raises:
            ModelError: The model or its provider failed.
        """
        known, self._position = self._known, self._position + 1
        position = self._position - 1
        if position < len(known) and known[position][0] == request:
            return clone(known[position][1])
        reply = await self._model.complete(request)
        known[position:] = [(request.model_copy(deep=True), clone(reply))]
        return reply
