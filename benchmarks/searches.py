"""The cost of an index over a knowledge base, and of searches in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau import load_domain
from pytest_tau.knowledge import KnowledgeBase
from pytest_tau.knowledge.indexes.bm25 import BM25Index
from pytest_tau.knowledge.indexes.pattern_search import GrepIndex

from .figures import Figure
from .measuring import in_unit, timings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options

QUERY = "late fee of a credit card after a missed payment"
#: Plain words are counted without an expression; an expression is searched for in a process of its own.
WORDS, EXPRESSION = "late fee", r"late.*fee|refund"


def searches(options: Options) -> Iterator[Figure]:
    """Measure an index over the documents of a bank, made once a process, and a search in it.

    Reading the documents is not a part of it. The process that searches for expressions is started before.
    """
    base = load_domain("banking_knowledge", options.data).knowledge
    assert isinstance(base, KnowledgeBase)
    documents, runs, calls = base.documents, options.count(10, 2), options.count(20, 2)
    yield Figure("BM25, index", "ms", *in_unit(timings(lambda: BM25Index(documents), runs), 1e3))
    bm25, grep = BM25Index(documents), GrepIndex(documents)
    grep.search(EXPRESSION, 10)
    yield Figure("BM25, search", "µs", *in_unit(timings(lambda: bm25.search(QUERY, 10), runs, calls), 1e6))
    yield Figure("grep, plain words", "µs", *in_unit(timings(lambda: grep.search(WORDS, 10), runs, calls), 1e6))
    yield Figure("grep, expression", "µs", *in_unit(timings(lambda: grep.search(EXPRESSION, 10), runs, calls), 1e6))
