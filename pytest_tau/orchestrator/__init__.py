"""The loop of a conversation and its endings."""

from ..run_settings import Limits
from ..settings import complete as _complete
from .clock import Clock
from .conversation import Conversation, ConversationSetup
from .endings import Ending, ending_by, reason_of

__all__ = [
    "Clock",
    "Conversation",
    "ConversationSetup",
    "Ending",
    "Limits",
    "ending_by",
    "reason_of",
]

_complete(Limits)
