"""The to-do list with a team lead who approves some changes."""

from dataclasses import replace
from pathlib import Path

import pytest_tau_tasks
from pytest_tau.environment import DomainSpec
from pytest_tau.policy import with_approvals


def with_lead(plain: DomainSpec) -> DomainSpec:
    """Return the domain with a lead."""
    tasks = Path(pytest_tau_tasks.__path__[0]) / "mock_approvals"
    addition = Path(__file__).with_name("approvals.md").read_text(encoding="utf-8")
    return with_approvals(replace(plain, name="mock-approvals", tasks=tasks), addition)
