"""pytest-tau: agent evaluation as a pytest run."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .domains import load_domain
    from .environment import Domain, DomainSpec, Environment
    from .errors import TauError
    from .evaluation import evaluate

#: Where each public name lives; resolved at first use, so that importing the package stays light.
_HOMES = {
    "Domain": "environment",
    "DomainSpec": "environment",
    "Environment": "environment",
    "TauError": "errors",
    "evaluate": "evaluation",
    "load_domain": "domains",
}

__all__ = ["Domain", "DomainSpec", "Environment", "TauError", "evaluate", "load_domain"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
