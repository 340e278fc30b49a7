"""The turn loop and how it ends."""

from .conversation import GREETING, Conversation, Ending, Limits

__all__ = ["GREETING", "Conversation", "Ending", "Limits"]
