"""Chat models: what they are asked and answer, who calls them in a trial, and how that is recorded and replayed."""

from .requests import ChatModel, ChatReply, ChatRequest, Role, Usage
from .trial_models import LLM, Tape, TrialModel, TrialModels, caller, calling

__all__ = [
    "LLM",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Role",
    "Tape",
    "TrialModel",
    "TrialModels",
    "Usage",
    "caller",
    "calling",
]
