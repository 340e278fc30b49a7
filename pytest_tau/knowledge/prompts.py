"""The policy of a retrieval variant: templates, and the documents in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..documents import DocumentError, read_text
from ..errors import ConfigurationError
from .variants import FULL

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .documents import Document, Documents
    from .variants import Variant

_COMPONENT = re.compile(r"\{\{component:(\w+)\}\}")
_DENSE = "{{all_tools_dense_instructions}}"
NO_DOCUMENTS = "(No documents provided)"


def template_of(folder: Path, variant: Variant) -> str:
    """Return the template of a variant's policy with its components in it, without its documents.

    Raises:
        ConfigurationError: A file is missing, or the text is blank.
    """
    path = folder / f"{variant.prompt}.md"
    text = _COMPONENT.sub(lambda found: _read(folder / "components" / f"{found[1]}.md"), _read(path))
    if variant.embedding is not None:
        text = text.replace(
            _DENSE,
            f"The `KB_search_dense` tool uses **{variant.embedding.provider}** with embedding model "
            f"`{variant.embedding.shown}` for dense retrieval.",
        )
    if not text.strip():
        raise ConfigurationError(f"{path}: expected the text of a policy, got a blank file")
    return text


def with_documents(template: str, documents: Documents, placeholder: str | None, required: Iterable[str] | None) -> str:
    """Return a policy with the documents that a variant shows in it.

    Args:
        template: The policy. If it lacks the placeholder, the documents follow its text.
        documents: The knowledge base.
        placeholder: The placeholder of the documents; None if the policy shows none.
        required: The documents that the task requires, by title or id; unknown ones are skipped. None without a task.
    """
    if placeholder is None:
        return template
    if placeholder == FULL:
        shown = rendered(documents)
    else:
        named = [documents.find(name) for name in required or ()]
        shown = rendered(document for document in named if document is not None) or NO_DOCUMENTS
    mark = f"{{{{{placeholder}}}}}"
    if mark in template:
        return template.replace(mark, shown)
    heading = "## Knowledge base" if placeholder == FULL else "## Documents for this task"
    return f"{template.rstrip()}\n\n{heading}\n\n{shown}\n"


def rendered(documents: Iterable[Document]) -> str:
    """Return documents as they are in a policy."""
    return "\n\n---\n\n".join(f"## {document.title}\n\n{document.content}" for document in documents)


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"prompt of the knowledge base: {path}: {error}") from None
