"""pytest-tau: agent evaluation as a pytest run."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .capability import Capability, Command, ExportFormat, FactColumn
    from .capability.runs import RunHandle, run_of
    from .capability.views import FinishedRun, PageBlock, PageItem, Ruling, TaskBlock, TaskPages, TrialStages, TrialView
    from .domains import domain_names, load_domain
    from .environment import Domain, DomainSpec, Environment, domain_of, postgresql, sqlite
    from .episodes import Episode
    from .errors import TauError
    from .evaluation import Evaluation, evaluate
    from .integrations.mcp import mcp_domain
    from .models import RewardInfo, Simulation, Task
    from .orchestrator import Conversation, Ending, Limits
    from .participants.own_loop import AgentTrial, own_loop
    from .runner import SimulationSettings, asimulate, simulate
    from .runner.continuing import Beginning
    from .settings import option

#: Where each public name lives; resolved at first use, so that importing the package stays light.
_HOMES = {
    "AgentTrial": "participants.own_loop",
    "Beginning": "runner.continuing",
    "Capability": "capability",
    "Conversation": "orchestrator",
    "Domain": "environment",
    "DomainSpec": "environment",
    "Ending": "orchestrator",
    "Environment": "environment",
    "Episode": "episodes",
    "Evaluation": "evaluation",
    "Command": "capability",
    "ExportFormat": "capability",
    "FactColumn": "capability",
    "FinishedRun": "capability.views",
    "Limits": "orchestrator",
    "PageBlock": "capability.views",
    "PageItem": "capability.views",
    "RewardInfo": "models",
    "Ruling": "capability.views",
    "RunHandle": "capability.runs",
    "Simulation": "models",
    "SimulationSettings": "runner",
    "Task": "models",
    "TaskBlock": "capability.views",
    "TaskPages": "capability.views",
    "TauError": "errors",
    "TrialStages": "capability.views",
    "TrialView": "capability.views",
    "asimulate": "runner",
    "domain_names": "domains",
    "domain_of": "environment",
    "evaluate": "evaluation",
    "load_domain": "domains",
    "mcp_domain": "integrations.mcp",
    "option": "settings",
    "own_loop": "participants.own_loop",
    "postgresql": "environment",
    "run_of": "capability.runs",
    "simulate": "runner",
    "sqlite": "environment",
}

__all__ = [
    "AgentTrial",
    "Beginning",
    "Capability",
    "Command",
    "Conversation",
    "Domain",
    "DomainSpec",
    "Ending",
    "Environment",
    "Episode",
    "Evaluation",
    "ExportFormat",
    "FactColumn",
    "FinishedRun",
    "Limits",
    "PageBlock",
    "PageItem",
    "RewardInfo",
    "Ruling",
    "RunHandle",
    "Simulation",
    "SimulationSettings",
    "Task",
    "TaskBlock",
    "TaskPages",
    "TauError",
    "TrialStages",
    "TrialView",
    "asimulate",
    "domain_names",
    "domain_of",
    "evaluate",
    "load_domain",
    "mcp_domain",
    "option",
    "own_loop",
    "postgresql",
    "run_of",
    "simulate",
    "sqlite",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
