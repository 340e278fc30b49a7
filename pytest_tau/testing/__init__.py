"""Test doubles for users' own tests: participants, judges and a model server that follow a script."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .faults import (
    ConnectionReset,
    ContentFiltered,
    ContextWindowExceeded,
    Fault,
    Faults,
    MalformedBody,
    QuotaExceeded,
    RateLimited,
    ServerError,
    Stall,
    TruncatedJSON,
    Unauthorized,
    UnknownModel,
    WrongSchema,
)
from .model_server import ModelServer

if TYPE_CHECKING:
    from .rules_model import rules_server
    from .scripted import ScriptedJudge, ScriptedParticipant, call
    from .scripted_users import scripted_facts, scripted_replies

#: The modules of other names, imported at first use: a test of a client needs only the standard library.
_HOMES = {
    **dict.fromkeys(("ScriptedJudge", "ScriptedParticipant", "call"), "scripted"),
    **dict.fromkeys(("scripted_facts", "scripted_replies"), "scripted_users"),
    "rules_server": "rules_model",
}

__all__ = [
    "ConnectionReset",
    "ContentFiltered",
    "ContextWindowExceeded",
    "Fault",
    "Faults",
    "MalformedBody",
    "ModelServer",
    "QuotaExceeded",
    "RateLimited",
    "ScriptedJudge",
    "ScriptedParticipant",
    "ServerError",
    "Stall",
    "TruncatedJSON",
    "Unauthorized",
    "UnknownModel",
    "WrongSchema",
    "call",
    "rules_server",
    "scripted_facts",
    "scripted_replies",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
