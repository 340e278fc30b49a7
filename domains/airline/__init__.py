"""An airline's customer service: searching, booking, changing and cancelling flights, and making up for trouble."""

from pathlib import Path

import pytest_tau_tasks
from pytest_tau.environment import DomainSpec

from .models import AirlineDB
from .tools import AirlineTools

domain = DomainSpec(
    name="airline",
    folder=Path(__file__).parent,
    tasks=Path(pytest_tau_tasks.__path__[0]) / "airline",
    agent_db=AirlineDB,
    agent_tools=AirlineTools,
)
