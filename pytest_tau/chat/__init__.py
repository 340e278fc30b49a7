"""Chat models: requests and replies, the models of a trial, and recording and replaying their calls."""

from ..proxies import with_proxy
from .answers import AnswerError, NoAnswerError, Question, entries_of, entry, last_object, shown, usable_answer
from .call_arguments import with_defaults
from .call_policy import LLM, CallPolicy
from .cassettes import Identity, Player, Recorder
from .ledger import CallLedger
from .prices import Price, price_of, refuse_unpriced, reported_cost
from .refusals import fault_of, read_refusal
from .requests import ChatModel, ChatReply, ChatRequest, ModelArguments, Role, Usage
from .tape import Tape
from .trial_models import TrialModel, TrialModels, attribute_calls, current_attribution

__all__ = [
    "LLM",
    "AnswerError",
    "CallLedger",
    "CallPolicy",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "Identity",
    "ModelArguments",
    "NoAnswerError",
    "Player",
    "Price",
    "Question",
    "Recorder",
    "Role",
    "Tape",
    "TrialModel",
    "TrialModels",
    "Usage",
    "attribute_calls",
    "current_attribution",
    "entries_of",
    "entry",
    "fault_of",
    "last_object",
    "price_of",
    "read_refusal",
    "refuse_unpriced",
    "reported_cost",
    "shown",
    "usable_answer",
    "with_defaults",
    "with_proxy",
]
