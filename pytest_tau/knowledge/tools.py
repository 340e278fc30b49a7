"""The agent's retrieval tools and the form of their answers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..environment import Database, RetrievalToolkit, tool
from ..errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..chat import TrialModels
    from .indexes import Hit
    from .searching import Searcher

#: The most characters of a query, a pattern or a command; a longer one is refused.
MAX_QUERY = 20_000


class RetrievalTools(RetrievalToolkit):
    """The tools of a retrieval variant, over the documents of a knowledge base.

    Attributes:
        searcher: Runs the searches of one environment.
    """

    def __init__(self, db: Database, searcher: Searcher) -> None:
        super().__init__(db)
        self.searcher, self.waits = searcher, searcher.waits

    def bind(self, models: TrialModels) -> None:
        """Take the models of the trial, for searches that call one."""
        self.searcher.models = models

    def close(self) -> None:
        """Remove the files of the shell."""
        self.searcher.close()


class _Every(RetrievalTools):
    """All retrieval tools; a variant has some of them."""

    @tool("read")
    def KB_search(self, query: str) -> str:  # noqa: N802 - the name of the tool
        """Find the documents of the knowledge base that fit a query best.

        Args:
            query: Words that the documents should contain, or a question.
        """
        return found_text(self.searcher.search(checked(query, "query")), self.searcher)

    @tool("read")
    def grep(self, pattern: str) -> str:
        """Find the documents of the knowledge base in which a regular expression matches.

        The documents with the most matches come first, each with its whole content.

        Args:
            pattern: A regular expression, for example 'late.*fee' or 'refund|return'.
        """
        checked(pattern, "pattern")
        hits = self.searcher.grep(pattern)
        return hits_text(hits, self.searcher) if hits else f"No matches found for pattern: {pattern}"

    @tool("read")
    def KB_search_bm25(self, query: str, k: int = 10) -> str:  # noqa: N802 - the name of the tool
        """Find the documents of the knowledge base whose words fit a query best (BM25).

        Args:
            query: Words that the documents should contain.
            k: The number of documents.
        """
        return found_text(self.searcher.search_words(checked(query, "query"))[:k], self.searcher)

    @tool("read")
    def KB_search_dense(self, query: str, k: int = 10) -> str:  # noqa: N802 - the name of the tool
        """Find the documents of the knowledge base whose meaning is nearest to a query (embeddings).

        Args:
            query: A question, or a description of what the documents should say.
            k: The number of documents.
        """
        return found_text(self.searcher.search_meaning(checked(query, "query"))[:k], self.searcher)

    @tool("read")
    def shell(self, command: str) -> str:
        """Run a shell command in the folder of the knowledge base, which has a Markdown file for each document.

        INDEX.md lists the files with their titles. There is no network.

        Args:
            command: The command, for example 'grep -il "late fee" *.md' or 'cat INDEX.md'.
        """
        return self.searcher.shell(checked(command, "command"))


#: The names of all retrieval tools.
EVERY_TOOL = frozenset(_Every.tool_infos)


@functools.cache
def toolkit_type(names: tuple[str, ...]) -> type[RetrievalTools]:
    """Return the toolkit that has exactly these tools, in this order."""
    return type("RetrievalTools", (RetrievalTools,), {name: vars(_Every)[name] for name in names})


def checked(text: str, name: str) -> str:
    """Return an argument of a search.

    Raises:
        ToolError: It is not a text, or too long.
    """
    if not isinstance(text, str):
        raise ToolError(f"{name}: expected a text, got {type(text).__name__}")
    if len(text) > MAX_QUERY:
        raise ToolError(f"{name}: {len(text):,} characters; at most {MAX_QUERY:,} are searched for")
    return text


def found_text(hits: Sequence[Hit], searcher: Searcher) -> str:
    """Return the answer of a search in the knowledge base."""
    return (hits_text(hits, searcher) if hits else "No relevant documents found.") + searcher.answer_end


def hits_text(hits: Sequence[Hit], searcher: Searcher) -> str:
    """Return the documents of hits, numbered from 1."""
    parts = []
    for number, hit in enumerate(hits, 1):
        document = searcher.document(hit.id)
        parts.append(
            f"{number}. {document.title}\n   ID: {document.id}\n   Score: {hit.score:.4f}\n"
            f"   Content: {document.content}\n"
        )
    return "\n".join(parts)
