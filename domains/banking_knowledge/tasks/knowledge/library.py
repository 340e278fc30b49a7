"""All documents of the knowledge base."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .accounts import account_documents
from .cards import card_documents
from .credit import CREDIT
from .debit import DEBIT
from .disputes import DISPUTES
from .general import GENERAL
from .money import MONEY
from .people import PEOPLE

if TYPE_CHECKING:
    from .document import Document


def documents() -> list[Document]:
    """Return the documents by id."""
    found = [*card_documents(), *account_documents(), *PEOPLE, *CREDIT, *DISPUTES, *DEBIT, *MONEY, *GENERAL]
    return sorted(found)


def document_files() -> dict[str, str]:
    """Return the texts of the files by name."""
    return {f"{one.id}.json": json.dumps(one._asdict(), indent=1, ensure_ascii=False) + "\n" for one in documents()}
