"""The documents of a domain, and those that a task requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..knowledge import Documents, KnowledgeBase

if TYPE_CHECKING:
    from ..environment import Domain
    from ..knowledge import Document
    from ..models import Task


def documents_of(domain: Domain) -> Documents:
    """Return the documents of a domain; none without a knowledge base."""
    base = domain.knowledge
    return base.documents if isinstance(base, KnowledgeBase) else Documents(())


def required_documents(task: Task, domain: Domain) -> list[Document]:
    """Return the documents that a task requires, without those that do not exist."""
    found = [documents_of(domain).find(name) for name in task.required_documents or []]
    return [document for document in found if document is not None]


def required_texts(task: Task, domain: Domain) -> list[str]:
    """Return the texts of the documents that a task requires."""
    return [f"{document.title}\n{document.content}" for document in required_documents(task, domain)]
