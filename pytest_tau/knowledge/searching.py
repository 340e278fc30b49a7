"""The searches of one environment."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

from ..chat import ChatRequest
from ..chat.requests import public_arguments
from ..errors import TauError, ToolError, ToolServerError
from ..plain import json
from ..text import shorten
from .indexes import Hit, IndexFactory
from .indexes.bm25 import BM25Index
from .indexes.cache import EmbeddingCache, cache_folder
from .indexes.dense import DOCUMENTS, TOP_K, DenseIndex, ranking
from .indexes.pattern_search import GrepIndex
from .rerank import ARGUMENTS, MODEL, reranked
from .shell import Shell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..chat import TrialModels
    from .documents import Document
    from .indexes import Index
    from .indexes.cache import Indexes
    from .variants import RetrievalArguments, Variant


class Choice(NamedTuple):
    """A retrieval variant with its arguments.

    Attributes:
        name: The variant's name.
        variant: Its row of the table.
        arguments: Its arguments.
        own_index: Makes its index, if that is not one of ours.
    """

    name: str
    variant: Variant
    arguments: RetrievalArguments
    own_index: IndexFactory | None = None

    @property
    def embedding(self) -> tuple[str, dict[str, Any]]:
        """The name of the embedding model and the arguments of its calls."""
        usual = self.variant.embedding.model if self.variant.embedding else ""
        return self.arguments.embedding_model or usual, self.arguments.embedding_args

    @property
    def reranker(self) -> tuple[str, dict[str, Any]]:
        """The name of the model that rates documents and the arguments of its calls."""
        model = self.arguments.reranker_model
        return model or MODEL, {**({} if model else ARGUMENTS), **self.arguments.reranker_args}

    @property
    def models(self) -> dict[str, tuple[str, Mapping[str, Any]]]:
        """The models that searches call, ``embedding`` and ``reranker``: names, and arguments of calls."""
        called: dict[str, tuple[str, Mapping[str, Any]]] = {}
        if self.variant.embedding:
            called["embedding"] = self.embedding
        if self.variant.rerank:
            called["reranker"] = self.reranker
        return called


class Searcher:
    """The searches of one environment.

    Attributes:
        answer_end: The text at the end of each answer of a search.
        models: The models of the trial; None outside of one.
    """

    def __init__(self, choice: Choice, indexes: Indexes, answer_end: str = "") -> None:
        self._choice, self._indexes, self.answer_end = choice, indexes, answer_end
        self.models: TrialModels | None = None
        self._shell: Shell | None = None

    @property
    def waits(self) -> frozenset[str]:
        """The names of tools that call a model, run a program, or run code of others."""
        choice = self._choice
        slow = choice.own_index is not None or choice.variant.rerank or choice.variant.embedding is not None
        return frozenset({"grep", "shell", "KB_search_dense", *(["KB_search"] if slow else [])})

    def document(self, document_id: str) -> Document:
        """Return a document that was found."""
        known = self._indexes.documents.get(document_id)
        assert known is not None, document_id  # _from has looked it up
        return known

    def search(self, query: str) -> list[Hit]:
        """Return what the variant's index finds, rated by a model if the variant has one that rates."""
        choice = self._choice
        if choice.own_index is not None:
            hits = self._from(self._indexes.get(choice.own_index, choice.own_index), query, choice.arguments.top_k)
        else:
            hits = self.search_meaning(query) if choice.variant.embedding else self.search_words(query)
        return self._rated(hits, query) if choice.variant.rerank and hits else hits

    def search_words(self, query: str) -> list[Hit]:
        """Return the documents whose words fit best."""
        return self._from(self._indexes.get(BM25Index, BM25Index), query, self._choice.arguments.top_k)

    def search_meaning(self, query: str) -> list[Hit]:
        """Return the documents whose meaning is nearest; none for a blank query.

        Raises:
            ToolServerError: There is no embedding model, or it failed.
        """
        if not query.strip():
            return []
        models, (model, args) = self._models, self._choice.embedding
        embedder = models.policy.embeddings() if models.policy.embeddings else None
        if embedder is None:
            raise ToolServerError(f"{self._choice.name!r} needs an embedding model, and this trial has none")
        documents, arguments = self._indexes.documents, self._choice.arguments
        cache = EmbeddingCache(cache_folder(), f"{model} {json.dumps(public_arguments(args))}")
        index = self._indexes.once(
            (DenseIndex, model, json.dumps(public_arguments(args))), lambda: DenseIndex(documents, embedder, cache)
        )
        request = ChatRequest(
            model=model,
            messages=[{"role": "user", "content": query}],
            args={**args, TOP_K: arguments.top_k, DOCUMENTS: documents.digest},
        )
        with self._faults():
            hits = ranking(models.run_blocking(models.call("retrieval", request, index)), model)
        return self._known(hits, arguments.top_k)

    def grep(self, pattern: str) -> list[Hit]:
        """Return the documents in which a regular expression matches most often."""
        sensitive = self._choice.arguments.case_sensitive
        index = self._indexes.get(
            (GrepIndex, sensitive), lambda documents: GrepIndex(documents, case_sensitive=sensitive)
        )
        return self._from(index, pattern, self._choice.arguments.grep_top_k)

    def shell(self, command: str) -> str:
        """Return the output of a command in the folder of documents.

        Raises:
            ToolServerError: The sandbox failed.
        """
        if self._shell is None:
            self._shell = Shell(self._indexes.documents, writable=self._choice.variant.writable)
        with self._faults():
            return self._shell.run(command)

    def close(self) -> None:
        """Remove the files of the shell."""
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    @property
    def _models(self) -> TrialModels:
        if self.models is None:
            raise ToolServerError(f"{self._choice.name!r} calls a model, which only a trial has")
        return self.models

    def _rated(self, hits: list[Hit], query: str) -> list[Hit]:
        models, (model, args), least = self._models, self._choice.reranker, self._choice.arguments.reranker_min_score
        with self._faults():
            return models.run_blocking(reranked(hits, query, self._indexes.documents, models, model, args, least))

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Make the failure of a model or a program a fault of the run, for which the agent is not blamed."""
        try:
            yield
        except ToolServerError:
            raise
        except (TauError, OSError, RuntimeError) as error:
            raise ToolServerError(f"{self._choice.name!r}: {error}") from error

    def _from(self, index: Index, query: str, k: int) -> list[Hit]:
        """Return an index's hits."""
        try:
            scored: Sequence[Any] = index.search(query, k)
            hits = [Hit(document_id, float(score)) for document_id, score in scored]
        except (ToolError, ToolServerError):
            raise
        except Exception as error:
            problem = f"the index of {self._choice.name!r} failed: {type(error).__name__}: {error}"
            raise ToolServerError(problem) from error
        return self._known(hits, k)

    def _known(self, hits: list[Hit], k: int) -> list[Hit]:
        """Return the first hits, if all are documents."""
        for hit in hits:
            if hit.id not in self._indexes.documents:
                folder = self._indexes.folder
                raise ToolServerError(
                    f"the index of {self._choice.name!r} found {shorten(repr(hit.id))}, which is not the id of a "
                    f"document in {folder}: build it from these documents"
                )
        return hits[:k]
