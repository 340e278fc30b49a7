"""Test doubles for users' own tests: participants, judges and a model server that follow a script."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from .rules_model import rules_server
    from .scripted import ScriptedJudge, ScriptedParticipant, call
    from .scripted_users import scripted_facts, scripted_replies

#: The module of each public name, imported at first use: a test of a client needs only the standard library.
_HOMES = {
    "ConnectionReset": "faults",
    "ContentFiltered": "faults",
    "ContextWindowExceeded": "faults",
    "Fault": "faults",
    "Faults": "faults",
    "MalformedBody": "faults",
    "ModelServer": "model_server",
    "QuotaExceeded": "faults",
    "RateLimited": "faults",
    "ScriptedJudge": "scripted",
    "ScriptedParticipant": "scripted",
    "ServerError": "faults",
    "Stall": "faults",
    "TruncatedJSON": "faults",
    "Unauthorized": "faults",
    "UnknownModel": "faults",
    "WrongSchema": "faults",
    "call": "scripted",
    "rules_server": "rules_model",
    "scripted_facts": "scripted_users",
    "scripted_replies": "scripted_users",
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
