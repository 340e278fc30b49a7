"""Knowledge bases of domains: documents, searches in them, and the variants in which an agent accesses them."""

from .base import Knowledge, KnowledgeBase
from .documents import Document, Documents, read_documents
from .indexes import Hit, Index, IndexFactory
from .variants import VARIANTS

__all__ = [
    "VARIANTS",
    "Document",
    "Documents",
    "Hit",
    "Index",
    "IndexFactory",
    "Knowledge",
    "KnowledgeBase",
    "read_documents",
]
