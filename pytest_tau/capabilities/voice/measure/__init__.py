"""What is computed from ticks: interaction metrics, responsiveness, and the texts that grading reads."""

from .linear import transcript, user_context
from .merging import communicate_texts, flat_messages
from .metrics import interaction_metrics, pooled_metrics, responsiveness

__all__ = [
    "communicate_texts",
    "flat_messages",
    "interaction_metrics",
    "pooled_metrics",
    "responsiveness",
    "transcript",
    "user_context",
]
