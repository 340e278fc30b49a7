"""What is known of a task's reference without a conversation."""

from .alternatives import OpenChoice, open_choices
from .choices import ChosenValue, choices_in, choices_taken
from .contradictions import Disagreement, UnreadTable, disagreements, unread_tables
from .documents import documents_of
from .faults import Fault, faults
from .known import Known
from .outcomes import Choice, propose, prove
from .rules import breaches_in, carried_out, policy_texts, reference_rules, stated_rules
from .sides import tools_of
from .statements import NotBroughtAbout, not_brought_about
from .values import Leaf, Sources, Unstated, leaves_of, unstated

__all__ = [
    "Choice",
    "ChosenValue",
    "Disagreement",
    "Fault",
    "Known",
    "Leaf",
    "NotBroughtAbout",
    "OpenChoice",
    "Sources",
    "UnreadTable",
    "Unstated",
    "breaches_in",
    "carried_out",
    "choices_in",
    "choices_taken",
    "disagreements",
    "documents_of",
    "faults",
    "leaves_of",
    "not_brought_about",
    "open_choices",
    "policy_texts",
    "propose",
    "prove",
    "reference_rules",
    "stated_rules",
    "tools_of",
    "unread_tables",
    "unstated",
]
