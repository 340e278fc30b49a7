"""Participants: agents and users in their forms, and the built-in ones."""

from .adapters import adapt
from .agents import BUILT_IN, DONE, FAULTY_AGENTS, GoldAgent, LLMAgent, LLMUser, Recording, Replay
from .agents.replay import ReplayParticipant
from .base import Adapter, BuiltIn
from .behaviours import BEHAVIOURS, COOPERATIVE, Behaviour, Heard, Manner
from .chat_format import chat_messages
from .containment import describe
from .context import Agent, Incoming, Participant, ParticipantContext, Prompting, Reply, Side, User, trailing_results
from .loading import (
    BY_MODEL,
    ParticipantSource,
    calls_no_model,
    default_user,
    domain_agent,
    is_of_domain,
    load_object,
    load_source,
)
from .personas import BEHAVIOUR
from .replies import TextStream, as_message, short_repr
from .scripted import ScriptedUser, script_of, unread_prose
from .task_views import AgentTask, UserTask, view_of
from .threads import BlockingCaller

__all__ = [
    "BEHAVIOUR",
    "BEHAVIOURS",
    "BUILT_IN",
    "BY_MODEL",
    "COOPERATIVE",
    "DONE",
    "FAULTY_AGENTS",
    "Adapter",
    "Agent",
    "AgentTask",
    "Behaviour",
    "BlockingCaller",
    "BuiltIn",
    "GoldAgent",
    "Heard",
    "Incoming",
    "LLMAgent",
    "LLMUser",
    "Manner",
    "Participant",
    "ParticipantContext",
    "ParticipantSource",
    "Prompting",
    "Recording",
    "Replay",
    "ReplayParticipant",
    "Reply",
    "ScriptedUser",
    "Side",
    "TextStream",
    "User",
    "UserTask",
    "adapt",
    "as_message",
    "calls_no_model",
    "chat_messages",
    "default_user",
    "describe",
    "domain_agent",
    "is_of_domain",
    "load_object",
    "load_source",
    "script_of",
    "short_repr",
    "trailing_results",
    "unread_prose",
    "view_of",
]
