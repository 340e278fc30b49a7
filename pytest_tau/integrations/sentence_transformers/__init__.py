"""Embeddings by models that run on this machine (extra ``embeddings``); the library is imported at the first call."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from ...chat import ChatReply
from ...errors import ConfigurationError, ModelError, install_extra

if TYPE_CHECKING:
    from ...chat import ChatRequest

__all__ = ["LOCAL", "LocalEmbeddings", "check"]

#: The beginning of the names of models that run here; the rest is a name or a folder for sentence-transformers.
LOCAL = "local/"
_LIBRARY = "sentence_transformers"


def check(name: str) -> None:
    """Check that a local model can be used.

    Raises:
        ConfigurationError: The library is not installed.
    """
    installed = sys.modules[_LIBRARY] is not None if _LIBRARY in sys.modules else importlib.util.find_spec(_LIBRARY)
    if not installed:
        problem = f"the embedding model {name!r} needs sentence-transformers: {install_extra('embeddings')}"
        raise ConfigurationError(problem)


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
        check(request.model)
        began, texts = time.monotonic(), [message["content"] for message in request.messages]
        try:
            with self._lock:  # one model, one computation at a time
                found = self._model(request.model).encode(texts, show_progress_bar=False)
                vectors = [[float(number) for number in vector] for vector in found]
        except Exception as error:
            raise ModelError(f"{request.model}: {type(error).__name__}: {error}", kind="bad_request") from error
        content = {"role": "assistant", "content": json.dumps(vectors)}
        return ChatReply(message=content, cost=0.0, seconds=time.monotonic() - began)

    def _model(self, name: str) -> Any:
        if name not in self._models:
            library = importlib.import_module(_LIBRARY)
            self._models[name] = library.SentenceTransformer(name.removeprefix(LOCAL))
        return self._models[name]
