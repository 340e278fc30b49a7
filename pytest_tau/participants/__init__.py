"""Who talks: agents and users in their three forms, and the built-in ones that need no model."""

from .adapters import adapt, chat_messages, visible_to
from .context import Agent, Incoming, Participant, ParticipantContext, Reply, Side, User, trailing_results
from .gold import DONE, GoldAgent, GoldUser
from .loading import BUILT_IN, ParticipantSource, load_object, load_source
from .noop import DummyUser, NoopAgent, NoopUser
from .replay import Recording, Replay, load_recordings
from .threads import Caller

__all__ = [
    "BUILT_IN",
    "DONE",
    "Agent",
    "Caller",
    "DummyUser",
    "GoldAgent",
    "GoldUser",
    "Incoming",
    "NoopAgent",
    "NoopUser",
    "Participant",
    "ParticipantContext",
    "ParticipantSource",
    "Recording",
    "Replay",
    "Reply",
    "Side",
    "User",
    "adapt",
    "chat_messages",
    "load_object",
    "load_recordings",
    "load_source",
    "trailing_results",
    "visible_to",
]
