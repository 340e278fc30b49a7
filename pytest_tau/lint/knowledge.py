"""Checks of a knowledge base: what tasks require is there, and no two documents contradict each other."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from ..language.documents import in_force_since
from ..references.documents import documents_of
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..knowledge import Document
    from ..models import Task

#: A statement in a line of its own: ``- Annual fee: $45``.
_STATEMENT = re.compile(r"(?m)^[ \t]*[-*] (?:\*\*)?([^:\n*]{2,80}?)(?:\*\*)?:(?:\*\*)?[ \t]+(\S.*?)[ \t]*$")


def check_documents(domain: Domain) -> Iterator[Finding]:
    """Check ``contradicting-documents``: two documents with the same title state different values for the same.

    Statements are lines of the form ``- label: value``. Documents may differ if each has a date from which it counts,
    and the dates differ: then the later one replaces the other.
    """
    by_title: dict[str, list[Document]] = defaultdict(list)
    for document in documents_of(domain):
        by_title[" ".join(document.title.casefold().split())].append(document)
    for documents in by_title.values():
        for first, second in itertools.combinations(documents, 2):
            dates = in_force_since(first.content), in_force_since(second.content)
            if None in dates or dates[0] == dates[1]:
                yield from _contradictions(first, second)


def check_required(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``unknown-document``: the task requires a document that the knowledge base lacks."""
    documents = documents_of(domain)
    for name in task.required_documents or [] if documents else ():
        if documents.find(name) is None:
            text = f"required_documents: no document has the title or the id {name!r}"
            yield Finding("unknown-document", "error", task.id, text)


def _contradictions(one: Document, other: Document) -> Iterator[Finding]:
    first, second = (dict(_STATEMENT.findall(document.content)) for document in (one, other))
    for label in first.keys() & second.keys():
        if first[label] != second[label]:
            text = (
                f"documents {one.id!r} and {other.id!r} contradict each other: {label}: {first[label]!r} and "
                f"{second[label]!r}; give each the date from which it counts"
            )
            yield Finding("contradicting-documents", "warning", None, text)
