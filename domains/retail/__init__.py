"""An online shop's customer care: customers, products, and orders with what was paid for them."""

from pathlib import Path

import pytest_tau_tasks
from pytest_tau.environment import DomainSpec

from .models import RetailDB
from .tools import RetailTools

domain = DomainSpec(
    name="retail",
    folder=Path(__file__).parent,
    tasks=Path(pytest_tau_tasks.__path__[0]) / "retail",
    agent_db=RetailDB,
    agent_tools=RetailTools,
)
