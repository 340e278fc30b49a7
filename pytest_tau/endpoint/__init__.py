"""An HTTP endpoint for the models and tools of trials: agents reach them with the client of their framework."""

from .formats import EndpointRequest
from .listener import body_of, close_session, load_web, open_session
from .session import Address, ToolOutcome, TrialSession, is_of_trial
from .wire import WireReply, WireRequest, error_reply

__all__ = [
    "Address",
    "EndpointRequest",
    "ToolOutcome",
    "TrialSession",
    "WireReply",
    "WireRequest",
    "body_of",
    "close_session",
    "error_reply",
    "is_of_trial",
    "load_web",
    "open_session",
]
