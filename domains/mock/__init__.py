"""A to-do list with notifications: the smallest domain that has everything."""

from pathlib import Path

import pytest_tau_tasks
from pytest_tau.environment import DomainSpec, PolicyFiles

from .models import MockDB, MockUserDB
from .tools import MockTools
from .user_tools import MockUserTools

domain = DomainSpec(
    name="mock",
    folder=Path(__file__).parent,
    tasks=Path(pytest_tau_tasks.__path__[0]) / "mock",
    agent_db=MockDB,
    agent_tools=MockTools,
    user_db=MockUserDB,
    user_tools=MockUserTools,
    policies={"default": PolicyFiles(normal=("policy.md",), solo=("policy_solo.md",))},
    merge_aliases=True,
    rules="pytest_tau_domains.mock.rules:RULES",
)


def __getattr__(name: str) -> DomainSpec:
    """Return the domain with a lead, ``approvals``, whose policy is read when it is asked for."""
    if name != "approvals":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .lead import with_lead

    return with_lead(domain)
