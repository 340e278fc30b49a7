"""The embedding model of a run: over litellm, or on this machine."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, install_extra
from .default_model import check_model, has_litellm
from .sentence_transformers import LOCAL, LocalEmbeddings, check as check_local

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat import ChatModel, ChatReply, ChatRequest


class DefaultEmbeddings:
    """Answers a request with the embeddings of its messages: a JSON array with a list of numbers for each.

    Args:
        limits: The arguments of ``LiteLLM``, for models that are not on this machine.
    """

    def __init__(self, **limits: Any) -> None:
        self._limits, self._local = limits, LocalEmbeddings()
        self._remote: ChatModel | None = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the embeddings.

        Raises:
            ModelError: The model failed.
        """
        if request.model.startswith(LOCAL):
            return await self._local.complete(request)
        if self._remote is None:
            from .litellm.model import LiteLLMEmbeddings

            self._remote = LiteLLMEmbeddings(**self._limits)
        return await self._remote.complete(request)


@functools.cache
def shared_embeddings() -> DefaultEmbeddings:
    """Return the embedding model of simulations outside of a run, one for the whole process."""
    return DefaultEmbeddings()


def check_retrieval_models(variant: str, models: Mapping[str, tuple[str, Mapping[str, Any]]]) -> None:
    """Check the models that a retrieval variant calls.

    Args:
        variant: The name of the variant.
        models: Names and arguments of its models, by ``embedding`` and ``reranker``.

    Raises:
        ConfigurationError: One of them cannot be called.
    """
    checks = {"embedding": check_embeddings, "reranker": check_model}
    for kind, (name, args) in models.items():
        try:
            checks[kind](name, args)
        except ConfigurationError as error:
            raise ConfigurationError(f"retrieval variant {variant!r}: {error}") from error


def check_embeddings(name: str, args: Mapping[str, Any]) -> None:
    """Check an embedding model before it is called.

    Raises:
        ConfigurationError: A library or a key is missing, or there is no such provider.
    """
    if name.startswith(LOCAL):
        check_local(name)
        return
    if not has_litellm():
        raise ConfigurationError(f"the embedding model {name!r} needs litellm: {install_extra('llm')}")
    from .litellm import check

    check(name, args)
