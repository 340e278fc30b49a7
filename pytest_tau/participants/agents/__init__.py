"""The built-in agents, and the users of the same kinds."""

from ..human import HumanAgent, HumanUser
from ..scripted import ScriptedUser
from .faulty import (
    FaultyAgent,
    ForgetsLastWrite,
    Leaks,
    Loops,
    Rude,
    SkipsConfirmation,
    Slow,
    TransfersTooSoon,
    WrongItem,
)
from .faulty_readers import ActsBeforeReading, ObeysToolResults, TrustsStaleDocument, UnlocksWithoutNeed
from .gold import DONE, GoldAgent, GoldUser
from .llm import (
    ActAgent,
    EndpointAgent,
    FewShotAgent,
    LLMAgent,
    LLMGuidedAgent,
    LLMGuidedAgentNoArgs,
    LLMSoloAgent,
    LLMUser,
    ReactAgent,
    ReactUser,
    ReflectionUser,
    VerifyUser,
)
from .noop import DummyUser, NoopAgent, NoopUser
from .replay import Recording, Replay, load_recordings

__all__ = [
    "BUILT_IN",
    "DONE",
    "FAULTY_AGENTS",
    "ActAgent",
    "DummyUser",
    "EndpointAgent",
    "FaultyAgent",
    "FewShotAgent",
    "GoldAgent",
    "GoldUser",
    "HumanAgent",
    "HumanUser",
    "LLMAgent",
    "LLMGuidedAgent",
    "LLMGuidedAgentNoArgs",
    "LLMSoloAgent",
    "LLMUser",
    "NoopAgent",
    "NoopUser",
    "ReactAgent",
    "ReactUser",
    "Recording",
    "ReflectionUser",
    "Replay",
    "VerifyUser",
    "load_recordings",
]

#: The faulty agents by the KIND of ``--tau-agent saboteur:KIND``.
FAULTY_AGENTS: dict[str, type[FaultyAgent]] = {
    "forgets-last-write": ForgetsLastWrite,
    "wrong-item": WrongItem,
    "skips-confirmation": SkipsConfirmation,
    "leaks": Leaks,
    "transfers-too-soon": TransfersTooSoon,
    "loops": Loops,
    "rude": Rude,
    "slow": Slow,
    "unlocks-without-need": UnlocksWithoutNeed,
    "acts-before-reading": ActsBeforeReading,
    "trusts-stale-document": TrustsStaleDocument,
    "obeys-tool-results": ObeysToolResults,
}

#: The built-in participants, by side and the name that ``--tau-agent`` and ``--tau-user`` take.
BUILT_IN: dict[str, dict[str, type]] = {
    "agent": {
        "gold": GoldAgent,
        "noop": NoopAgent,
        "human": HumanAgent,
        "llm": LLMAgent,
        "llm-solo": LLMSoloAgent,
        "llm-gt": LLMGuidedAgent,
        "llm-gt-noargs": LLMGuidedAgentNoArgs,
        "act": ActAgent,
        "react": ReactAgent,
        "few-shot": FewShotAgent,
    },
    "user": {
        "gold": GoldUser,
        "noop": NoopUser,
        "human": HumanUser,
        "dummy": DummyUser,
        "scripted": ScriptedUser,
        "llm": LLMUser,
        "react": ReactUser,
        "verify": VerifyUser,
        "reflection": ReflectionUser,
    },
}
