"""What an agent has searched for and read in a conversation, compared with what its task requires."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..models import AssistantMessage, calls_in
from ..text import shorten
from .variants import FULL, REQUIRED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..models import Call, Message
    from .documents import Document, Documents
    from .variants import Variant

#: A hit as the retrieval tools show it.
_HIT = re.compile(r"^\d+\. .*\n   ID: (.*)\n   Score: ", re.MULTILINE)
#: Characters of a line that only its document is expected to have.
_LEAST = 20
_LONGEST_QUERY = 300
#: The numbers of documents for which recall is stated.
AT = (1, 5, 10)


def measure(
    messages: Sequence[Message], documents: Documents, variant: Variant, name: str, required: Iterable[str] | None
) -> dict[str, Any]:
    """Return what was searched for and read in a conversation.

    Args:
        messages: The trajectory, oldest first.
        documents: The knowledge base.
        variant: The retrieval variant.
        name: The name of the variant.
        required: The documents that the task requires, by title or id; None if it does not state any.

    Returns:
        A JSON object with ``variant``; ``searches``, each with ``message_idx``, ``tool``, ``query``, the ids ``found``
        in their order and the ids ``read``; ``read``, all ids whose content the agent has received, also in its policy;
        ``required``, ids; ``recall``, the share of the required ones that were read; and ``recall_at``, the same if
        each search had returned at most so many documents. Both are None if no document is required.
    """
    searches = [_search(call, documents) for call in calls_in(messages) if _is_search(messages, call, variant)]
    required_documents = [documents.find(document_id) for document_id in required or ()]
    required_ids = [
        document.id if document else str(document_id)
        for document, document_id in zip(required_documents, required or (), strict=True)
    ]
    required_ids = list(dict.fromkeys(required_ids))
    shown_ids = {FULL: [document.id for document in documents], REQUIRED: required_ids}.get(variant.documents or "", [])
    read_ids = dict.fromkeys([*shown_ids, *(document_id for search in searches for document_id in search["read"])])
    return {
        "variant": name,
        "searches": searches,
        # A policy with all documents is not a list of what was read.
        "read": list(read_ids) if variant.documents != FULL else required_ids,
        "required": required_ids,
        "recall": recall(required_ids, read_ids),
        "recall_at": {str(k): recall(required_ids, [*shown_ids, *_first(searches, k)]) for k in AT}
        if required_ids
        else None,
    }


def recall(required: Sequence[str], read_ids: Iterable[str]) -> float | None:
    """Return the share of the required documents that were read; None if none is required."""
    return len(set(required) & set(read_ids)) / len(set(required)) if required else None


def _first(searches: Sequence[dict[str, Any]], k: int) -> list[str]:
    return [document_id for search in searches for document_id in search["read"][:k]]


def _is_search(messages: Sequence[Message], call: Call, variant: Variant) -> bool:
    return isinstance(messages[call.message_idx], AssistantMessage) and call.call.name in variant.tools


def _search(call: Call, documents: Documents) -> dict[str, Any]:
    arguments = call.call.arguments
    text = str(next(iter(arguments.values()), ""))
    answer = (call.result.content or "") if call.result and not call.result.error else ""
    if call.call.name == "shell":
        read_ids = [document.id for document in documents if _shows(document, answer)]
        named_ids = [document.id for document in documents if f"{file_name(document.id)}" in answer]
        found_ids = list(dict.fromkeys([*named_ids, *read_ids]))
    else:
        found_ids = read_ids = [document_id for document_id in _HIT.findall(answer) if document_id in documents]
    query = shorten(text, _LONGEST_QUERY)
    return {
        "message_idx": call.message_idx,
        "tool": call.call.name,
        "query": query,
        "found": found_ids,
        "read": read_ids,
    }


def _shows(document: Document, text: str) -> bool:
    """Return whether a text has a line of the document that is long enough to be of no other one."""
    return any(line.strip() in text for line in document.content.splitlines() if len(line.strip()) >= _LEAST)


def file_name(document_id: str) -> str:
    """Return the name of a document's file for shell commands.

    Source: τ²-bench v1.0.1: characters of the id other than letters, digits and ``._-`` become ``_``.
    """
    return "".join(character if character.isalnum() or character in "._-" else "_" for character in document_id) + ".md"
