"""Who talks: agents and users in their three forms, and the built-in ones: scripted, recorded, or played by a model."""

from .adapters import adapt, chat_messages, visible_to
from .context import Agent, Incoming, Participant, ParticipantContext, Prompting, Reply, Side, User, trailing_results
from .gold import DONE, GoldAgent, GoldUser
from .llm_agent import EndpointAgent, LLMAgent, LLMGuidedAgent, LLMGuidedAgentNoArgs, LLMSoloAgent
from .llm_user import LLMUser
from .loading import (
    BUILT_IN,
    BY_MODEL,
    ParticipantSource,
    calls_no_model,
    domain_agent,
    is_endpoint,
    is_of_domain,
    load_object,
    load_source,
)
from .noop import DummyUser, NoopAgent, NoopUser
from .prompts import load_prompt, official_guidelines
from .replay import Recording, Replay, load_recordings
from .saboteurs import SABOTEURS
from .scripted_prose import script_of
from .scripted_user import ScriptedUser
from .threads import Caller

__all__ = [
    "BUILT_IN",
    "BY_MODEL",
    "DONE",
    "SABOTEURS",
    "Agent",
    "Caller",
    "DummyUser",
    "EndpointAgent",
    "GoldAgent",
    "GoldUser",
    "Incoming",
    "LLMAgent",
    "LLMGuidedAgent",
    "LLMGuidedAgentNoArgs",
    "LLMSoloAgent",
    "LLMUser",
    "NoopAgent",
    "NoopUser",
    "Participant",
    "ParticipantContext",
    "ParticipantSource",
    "Prompting",
    "Recording",
    "Replay",
    "Reply",
    "ScriptedUser",
    "Side",
    "User",
    "adapt",
    "calls_no_model",
    "chat_messages",
    "domain_agent",
    "is_endpoint",
    "is_of_domain",
    "load_object",
    "load_prompt",
    "load_recordings",
    "load_source",
    "official_guidelines",
    "script_of",
    "trailing_results",
    "visible_to",
]
