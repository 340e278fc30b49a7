"""Chat models: requests and replies, the models of a trial, and recording and replaying their calls."""

from .call_arguments import with_defaults
from .cassettes import Identity, Player, Recorder
from .requests import ChatModel, ChatReply, ChatRequest, ModelArguments, Role, Usage, without_secrets
from .trial_models import LLM, Tape, TrialModel, TrialModels, attribute_calls, current_attribution

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
    "attribute_calls",
    "current_attribution",
    "with_defaults",
    "without_secrets",
]
