"""The loop of a conversation and its endings."""

from .clock import Clock
from .conversation import GREETING, Conversation, Ending, Limits, ending_by

__all__ = ["GREETING", "Clock", "Conversation", "Ending", "Limits", "ending_by"]
