"""An online shop's customer care: customers, products, and orders with what was paid for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest_tau_tasks
from pytest_tau.environment import DomainSpec

from .models import RetailDB
from .tools import RetailTools
from .values import VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task


def _generate(count: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    from .tasks.sampler import RetailSampler

    database = cast("RetailDB", domain.load().environment().agent_db)
    yield from RetailSampler(database, difficulty).tasks(count, seed)


domain = DomainSpec(
    name="retail",
    folder=Path(__file__).parent,
    tasks=Path(pytest_tau_tasks.__path__[0]) / "retail",
    agent_db=RetailDB,
    agent_tools=RetailTools,
    agents={"rules": "pytest_tau_domains.retail.agent.rules_agent:RulesAgent"},
    generate=_generate,
    values=VALUES,
    rules="pytest_tau_domains.retail.rules:RULES",
)


def __getattr__(name: str) -> DomainSpec:
    """Return the shop with a shift lead, ``approvals``, whose policy is read when it is asked for."""
    if name != "approvals":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .tasks.lead import with_lead

    return with_lead(domain)
