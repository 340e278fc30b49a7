"""Diagnosis of failures: where the final state went wrong, whose fault it looks like, and the report of both."""

from ..models import Attribution, Divergence
from .attribution import annotate_failure, attribute
from .divergence import first_divergence
from .explain import explain, message_lines, plain_text, verdict
from .turning_point import in_brief

__all__ = [
    "Attribution",
    "Divergence",
    "annotate_failure",
    "attribute",
    "explain",
    "first_divergence",
    "in_brief",
    "message_lines",
    "plain_text",
    "verdict",
]
