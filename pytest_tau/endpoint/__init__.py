"""An HTTP endpoint for the models and tools of trials: agents reach them with the client of their framework."""

from .formats import EndpointRequest
from .listener import close_session, open_session
from .session import Address, ToolOutcome, TrialSession, mask_tokens
from .wire import WireReply, WireRequest

__all__ = [
    "Address",
    "EndpointRequest",
    "ToolOutcome",
    "TrialSession",
    "WireReply",
    "WireRequest",
    "close_session",
    "mask_tokens",
    "open_session",
]
