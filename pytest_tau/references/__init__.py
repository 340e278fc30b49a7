"""What is known of a task's reference without a conversation."""

from .alternatives import OpenChoice, open_choices
from .contradictions import Disagreement, UnreadTable, disagreements, unread_tables
from .faults import Fault, faults
from .known import Known
from .outcomes import Choice, propose, prove
from .statements import NotBroughtAbout, not_brought_about
from .values import Leaf, Sources, Unstated, unstated

__all__ = [
    "Choice",
    "Disagreement",
    "Fault",
    "Known",
    "Leaf",
    "NotBroughtAbout",
    "OpenChoice",
    "Sources",
    "UnreadTable",
    "Unstated",
    "disagreements",
    "faults",
    "not_brought_about",
    "open_choices",
    "propose",
    "prove",
    "unread_tables",
    "unstated",
]
