"""What is known of a task's reference without a conversation."""

from .contradictions import Disagreement, UnreadTable, disagreements, unread_tables
from .known import Known
from .outcomes import Choice, propose, prove
from .statements import NotBroughtAbout, not_brought_about
from .values import Leaf, Sources, Unstated, unstated

__all__ = [
    "Choice",
    "Disagreement",
    "Known",
    "Leaf",
    "NotBroughtAbout",
    "Sources",
    "UnreadTable",
    "Unstated",
    "disagreements",
    "not_brought_about",
    "propose",
    "prove",
    "unread_tables",
    "unstated",
]
