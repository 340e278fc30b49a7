"""What is known of a task's reference without a conversation."""

from .alternatives import OpenChoice, open_choices
from .choices import ChosenValue, choices_in, choices_taken
from .documents import documents_of
from .faults import Fault, faults
from .known import Known
from .outcomes import Choice, propose, prove
from .rules import breaches_in, carried_out, policy_texts, reference_rules, stated_rules
from .sides import tools_of
from .statements import not_brought_about
from .values import Leaf, Sources, Unstated, leaves_of

__all__ = [
    "Choice",
    "ChosenValue",
    "Fault",
    "Known",
    "Leaf",
    "OpenChoice",
    "Sources",
    "Unstated",
    "breaches_in",
    "carried_out",
    "choices_in",
    "choices_taken",
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
]
