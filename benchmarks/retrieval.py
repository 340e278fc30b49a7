"""The recall of retrieval variants: ``python -m benchmarks.retrieval --data DIR``.

For each task that requires documents, the query is the text that the simulated user is given: what the user wants and
knows, which is what an agent can learn in the conversation. ``whole text`` is one search for all of it. ``by sentence``
is one search for each sentence, whose documents count together, as an agent searches several times. The pattern for
grep is the longest word of each sentence. Variants without searches show documents in the policy.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import pytest_tau
from pytest_tau.errors import TauError
from pytest_tau.knowledge import KnowledgeBase
from pytest_tau.knowledge.indexes.bm25 import BM25Index
from pytest_tau.knowledge.indexes.pattern_search import GrepIndex
from pytest_tau.knowledge.measure import AT, recall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_tau.knowledge import Documents, Index
    from pytest_tau.models import Task

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]{4,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="banking_knowledge", help="a domain with a knowledge base")
    parser.add_argument("--data", type=Path, help="folder with τ²-bench's data (default: the bundled data)")
    given = parser.parse_args(arguments)
    try:
        domain = pytest_tau.load_domain(given.domain, given.data)
        base, tasks = domain.knowledge, [task for task in domain.tasks(split=None) if task.required_documents]
        if not isinstance(base, KnowledgeBase) or not tasks:
            parser.error(f"domain {given.domain!r} has no knowledge base, or no task that requires documents")
        rows = table(base.documents, tasks)
    except TauError as error:
        parser.error(str(error))
    required = sum(len(task.required_documents or ()) for task in tasks)
    print(f"{domain.name}: {len(tasks)} tasks, {required} required documents of {len(base.documents)}")
    print("variant           searches      " + "".join(f"{f'recall@{k}':>11}" for k in AT))
    for variant, how, values in rows:
        print(f"{variant:<18}{how:<14}" + "".join(f"{value:>11.3f}" for value in values))
    return 0


def table(documents: Documents, tasks: Sequence[Task]) -> list[tuple[str, str, list[float]]]:
    """Return the rows: variant, its searches, and mean recall for each number of documents."""
    bm25, grep = BM25Index(documents), GrepIndex(documents)
    return [
        ("no_knowledge", "-", [0.0 for _ in AT]),
        ("grep", "by sentence", _recalls(documents, tasks, grep, lambda text: list(map(_pattern, _sentences(text))))),
        ("bm25", "whole text", _recalls(documents, tasks, bm25, lambda text: [text])),
        ("bm25", "by sentence", _recalls(documents, tasks, bm25, _sentences)),
        ("golden_retrieval", "in the policy", [1.0 for _ in AT]),
        ("full_kb", "in the policy", [1.0 for _ in AT]),
    ]


def _recalls(
    documents: Documents, tasks: Sequence[Task], index: Index, queries: Callable[[str], list[str]]
) -> list[float]:
    found: list[list[float]] = []
    for task in tasks:
        named = [documents.find(name) for name in task.required_documents or ()]
        required = [document.id for document in named if document is not None]
        hits = [index.search(query, max(AT)) for query in queries(str(task.user_scenario)) if query]
        values = [recall(required, [hit[0] for each in hits for hit in each[:k]]) for k in AT]
        found.append([value or 0.0 for value in values])
    return [fmean(column) for column in zip(*found, strict=True)]


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def _pattern(text: str) -> str:
    return max(_WORD.findall(text), key=len, default="")


if __name__ == "__main__":
    raise SystemExit(main())
