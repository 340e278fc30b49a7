"""Chat models: what they are asked and answer, who calls them in a trial, and how that is recorded and replayed."""

from .cassette import Identity
from .requests import ChatModel, ChatReply, ChatRequest, ModelArguments, Role, Usage, without_login, without_secrets
from .tape import Player, Recorder
from .trial_models import LLM, Tape, TrialModel, TrialModels, caller, calling

__all__ = [
    "LLM",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Identity",
    "ModelArguments",
    "Player",
    "Recorder",
    "Role",
    "Tape",
    "TrialModel",
    "TrialModels",
    "Usage",
    "caller",
    "calling",
    "without_login",
    "without_secrets",
]
