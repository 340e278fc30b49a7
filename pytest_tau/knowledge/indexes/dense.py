"""Search by meaning: documents whose embeddings are nearest to that of the query."""

from __future__ import annotations

import asyncio
import math
import threading
from array import array
from operator import mul
from typing import TYPE_CHECKING, Any, TypeAlias

from ...chat import ChatReply, ChatRequest, Usage
from ...clock import run_steadily
from ...documents import DocumentError, parse_json
from ...errors import ModelError
from ...plain import json
from ...text import shorten
from . import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...chat import ChatModel
    from ..documents import Documents
    from .cache import EmbeddingCache

#: Texts of one call of the embedding model.
_BATCH = 64
#: Arguments of a recorded search that are not arguments of the embedding model.
TOP_K, DOCUMENTS = "top_k", "documents"


class DenseIndex:
    """An index by embeddings, as a chat model: it answers a query with the documents that fit.

    A search is recorded as one call whose answer is the ranking. So a cassette needs no embeddings, which are a hundred
    times as large, and a replay calls no model and needs no cache.

    Args:
        documents: The documents.
        embedder: Answers requests with embeddings: a JSON array with a list of numbers for each message.
        cache: Embeddings from earlier runs.
    """

    def __init__(self, documents: Documents, embedder: ChatModel, cache: EmbeddingCache) -> None:
        self._documents, self._embedder, self._cache = documents, embedder, cache
        self._vectors: dict[str, array[float]] = {}
        self._lock = threading.Lock()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the ranking for a query, a JSON array of ids and scores.

        Raises:
            ModelError: The embedding model failed, or its vectors do not fit those of the documents.
        """
        # In a thread: the first search embeds all documents, for which the searches of other trials wait.
        return await asyncio.to_thread(self._complete, request)

    def _complete(self, request: ChatRequest) -> ChatReply:
        args = {name: value for name, value in request.args.items() if name not in (TOP_K, DOCUMENTS)}
        query, spent = str(request.messages[-1]["content"]), list[ChatReply]()
        with self._lock:
            missing = [document.content for document in self._documents if document.content not in self._vectors]
            self._vectors |= self._embed(missing, request.model, args, spent)
        query_vector = self._embed([query], request.model, args, spent)[query]
        hits = self._ranked(query_vector, request.args[TOP_K], request.model)
        costs = [reply.cost for reply in spent]
        return ChatReply(
            message={"role": "assistant", "content": json.dumps(hits)},
            usage=_sum([reply.usage for reply in spent]),
            cost=math.fsum(cost for cost in costs if cost is not None) if None not in costs else None,
            seconds=math.fsum(reply.seconds for reply in spent),
        )

    def _ranked(self, query: array[float], k: int, model: str) -> list[Hit]:
        """Return the documents by cosine; those of equal score in document order."""
        scores = []
        for document in self._documents:
            vector = self._vectors[document.content]
            if len(vector) != len(query):
                raise ModelError(
                    f"{model}: the embedding of the query has {len(query):,} numbers, and that of document "
                    f"{document.id!r} has {len(vector):,}: the model has changed; remove its cached embeddings",
                    kind="bad_answer",
                )
            scores.append(Hit(document.id, sum(map(mul, vector, query))))
        return sorted(scores, key=lambda hit: -hit.score)[:k]

    def _embed(self, texts: Sequence[str], model: str, args: dict[str, Any], spent: list[ChatReply]) -> _Vectors:
        """Return the normalised embeddings of texts, from the cache or from the model."""
        embeddings: _Vectors = {}
        new = []
        for text in dict.fromkeys(texts):
            cached = self._cache.get(text)
            if cached is None:
                new.append(text)
            else:
                embeddings[text] = cached
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            # A blank text has no embedding; a provider refuses all of the call.
            messages = [{"role": "user", "content": text if text.strip() else "-"} for text in batch]
            reply = run_steadily(self._embedder.complete(ChatRequest(model=model, messages=messages, args=args)))
            spent.append(reply)
            vectors = dict(zip(batch, _vectors(reply, len(batch), model), strict=True))
            self._cache.put(vectors)  # what was paid for is kept, also if the next call fails
            embeddings |= vectors
        return embeddings


_Vectors: TypeAlias = "dict[str, array[float]]"


def ranking(reply: ChatReply, model: str) -> list[Hit]:
    """Return the ranking in a reply.

    Raises:
        ModelError: It is none.
    """
    try:
        return [Hit(str(document_id), float(score)) for document_id, score in parse_json(reply.text)]
    except (DocumentError, TypeError, ValueError) as error:
        raise ModelError(f"{model}: expected a ranking, got {shorten(reply.text)!r}", kind="bad_answer") from error


def _vectors(reply: ChatReply, count: int, model: str) -> list[array[float]]:
    """Return the vectors in a reply, of length 1."""
    try:
        vectors = [array("d", numbers) for numbers in parse_json(reply.text)]
    except (DocumentError, TypeError, ValueError) as error:
        raise ModelError(f"{model}: expected embeddings, got {shorten(reply.text)!r}", kind="bad_answer") from error
    if len(vectors) != count or not all(vectors):
        raise ModelError(f"{model}: {len(vectors)} embeddings for {count} texts", kind="bad_answer")
    sizes = sorted({len(vector) for vector in vectors})
    if len(sizes) > 1:
        raise ModelError(f"{model}: embeddings of different lengths: {sizes}", kind="bad_answer")
    return [_unit(vector) for vector in vectors]


def _unit(vector: array[float]) -> array[float]:
    length = math.sqrt(math.fsum(number * number for number in vector))
    return array("d", (number / length for number in vector)) if length else vector


def _sum(usages: Sequence[Usage | None]) -> Usage | None:
    known = [usage for usage in usages if usage is not None]
    return Usage(prompt_tokens=sum(usage.prompt_tokens for usage in known)) if known else None
