"""The built-in agents, and the users of the same kinds."""

from ..scripted import ScriptedUser
from .faulty import FAULTY_AGENTS, FaultyAgent
from .gold import DONE, GoldAgent, GoldUser
from .llm import EndpointAgent, LLMAgent, LLMGuidedAgent, LLMGuidedAgentNoArgs, LLMSoloAgent, LLMUser
from .noop import DummyUser, NoopAgent, NoopUser
from .replay import Recording, Replay, load_recordings

__all__ = [
    "BUILT_IN",
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

#: The built-in participants, by side and the name that ``--tau-agent`` and ``--tau-user`` take.
BUILT_IN: dict[str, dict[str, type]] = {
    "agent": {
        "gold": GoldAgent,
        "noop": NoopAgent,
        "llm": LLMAgent,
        "llm-solo": LLMSoloAgent,
        "llm-gt": LLMGuidedAgent,
        "llm-gt-noargs": LLMGuidedAgentNoArgs,
    },
    "user": {"gold": GoldUser, "noop": NoopUser, "dummy": DummyUser, "scripted": ScriptedUser, "llm": LLMUser},
}
