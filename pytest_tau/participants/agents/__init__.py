"""The built-in agents, and the users of the same kinds."""

from .faulty import FAULTY_AGENTS, FaultyAgent
from .gold import DONE, GoldAgent, GoldUser
from .llm import EndpointAgent, LLMAgent, LLMGuidedAgent, LLMGuidedAgentNoArgs, LLMSoloAgent, LLMUser
from .noop import DummyUser, NoopAgent, NoopUser
from .replay import Recording, Replay, load_recordings

__all__ = [
    "DONE",
    "FAULTY_AGENTS",
    "DummyUser",
    "EndpointAgent",
    "FaultyAgent",
    "GoldAgent",
    "GoldUser",
    "LLMAgent",
    "LLMGuidedAgent",
    "LLMGuidedAgentNoArgs",
    "LLMSoloAgent",
    "LLMUser",
    "NoopAgent",
    "NoopUser",
    "Recording",
    "Replay",
    "load_recordings",
]
