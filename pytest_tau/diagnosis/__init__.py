"""Diagnosis of failures: where the final state went wrong, whose fault it looks like, and the report of both."""

from ..models import Attribution, Divergence
from .attribution import RULES, annotate_failure, attribute
from .explain import explain, message_lines, plain_text, verdict
from .misunderstandings import UnclearReply, misunderstood_in, whose_misunderstanding
from .turning_point import in_brief

__all__ = [
    "RULES",
    "Attribution",
    "Divergence",
    "UnclearReply",
    "annotate_failure",
    "attribute",
    "explain",
    "in_brief",
    "message_lines",
    "misunderstood_in",
    "plain_text",
    "verdict",
    "whose_misunderstanding",
]
