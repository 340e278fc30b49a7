"""A document of the knowledge base, and how its facts are written."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The date from which most documents count.
SINCE = "01/15/2025"


class Document(NamedTuple):
    """A document.

    Attributes:
        id: Its id, which names its file.
        title: Its title.
        content: Its text; facts are in lines of the form ``- Label: value``.
    """

    id: str
    title: str
    content: str


def document(
    doc_id: str, title: str, text: str, facts: Mapping[str, str] | None = None, since: str = SINCE
) -> Document:
    """Return a document: its date, a text, and facts one a line.

    Args:
        doc_id: Its id.
        title: Its title.
        text: Paragraphs, which may be indented as a whole.
        facts: Values by label.
        since: The date from which it counts.
    """
    lines = [f"- {label}: {value}" for label, value in (facts or {}).items()]
    parts = [f"In force since: {since}", textwrap.dedent(text).strip(), "\n".join(lines)]
    return Document(doc_id, title, "\n\n".join(part for part in parts if part))


def dollars(amount: float) -> str:
    """Return an amount such as ``$1,250`` or ``$2.50``; nothing is ``none``."""
    if not amount:
        return "none"
    return f"${amount:,.2f}" if amount != int(amount) else f"${int(amount):,}"
