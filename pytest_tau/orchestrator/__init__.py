"""The loop of a conversation and its endings."""

from .clock import Clock
from .conversation import Conversation, Ending, Limits, ending_by, reason_of

__all__ = [
    "Clock",
    "Conversation",
    "Ending",
    "Limits",
    "ending_by",
    "reason_of",
]
