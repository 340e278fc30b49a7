"""Chat models: requests and replies, the models of a trial, and recording and replaying their calls."""

from .answers import AnswerError, NoAnswerError, Question, last_object, usable_answer
from .call_arguments import with_defaults
from .cassettes import Identity, Player, Recorder
from .requests import ChatModel, ChatReply, ChatRequest, ModelArguments, Role, Usage, without_secrets
from .trial_models import LLM, CallPolicy, Tape, TrialModel, TrialModels, attribute_calls, current_attribution

__all__ = [
    "LLM",
    "AnswerError",
    "CallPolicy",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Identity",
    "ModelArguments",
    "NoAnswerError",
    "Player",
    "Question",
    "Recorder",
    "Role",
    "Tape",
    "TrialModel",
    "TrialModels",
    "Usage",
    "attribute_calls",
    "current_attribution",
    "last_object",
    "usable_answer",
    "with_defaults",
    "without_secrets",
]
