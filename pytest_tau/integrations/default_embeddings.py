"""The embedding model of a run: over litellm, or by sentence-transformers on this machine (extra ``embeddings``)."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import sys
import threading
from typing import TYPE_CHECKING, Any

from ..chat import ChatReply
from ..clock import steady_time
from ..errors import ConfigurationError, ModelError, install_extra
from ..plain import json
from .default_model import check_model, has_litellm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat import ChatModel, ChatRequest

#: The beginning of the names of models that run here; the rest is a name or a folder for sentence-transformers.
LOCAL = "local/"
_LIBRARY = "sentence_transformers"


class LocalEmbeddings:
    """Answers a request with the embeddings of its messages: a JSON array with a list of numbers for each."""

    def __init__(self) -> None:
        self._models: dict[str, Any] = {}
        self._lock = threading.Lock()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the embeddings; loading a model and computing take a thread.

        Raises:
            ModelError: The model cannot be loaded, or fails.
        """
        return await asyncio.to_thread(self._complete, request)

    def _complete(self, request: ChatRequest) -> ChatReply:
        _check_local(request.model)
        began, texts = steady_time(), [message["content"] for message in request.messages]
        try:
            with self._lock:  # one model, one computation at a time
                encoded = self._model(request.model).encode(texts, show_progress_bar=False)
                vectors = [[float(number) for number in vector] for vector in encoded]
        except Exception as error:
            raise ModelError(f"{request.model}: {type(error).__name__}: {error}", kind="bad_request") from error
        content = {"role": "assistant", "content": json.dumps(vectors)}
        return ChatReply(message=content, cost=0.0, seconds=steady_time() - began)

    def _model(self, name: str) -> Any:
        if name not in self._models:
            library = importlib.import_module(_LIBRARY)
            self._models[name] = library.SentenceTransformer(name.removeprefix(LOCAL))
        return self._models[name]


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
        _check_local(name)
        return
    if not has_litellm():
        raise ConfigurationError(f"the embedding model {name!r} needs litellm: {install_extra('llm')}")
    from .litellm import check

    check(name, args)


def _check_local(name: str) -> None:
    installed = sys.modules[_LIBRARY] is not None if _LIBRARY in sys.modules else importlib.util.find_spec(_LIBRARY)
    if not installed:
        problem = f"the embedding model {name!r} needs sentence-transformers: {install_extra('embeddings')}"
        raise ConfigurationError(problem)
