"""An airline's customer service: searching, booking, changing and cancelling flights, and making up for trouble."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest_tau_tasks
from pytest_tau.environment import DomainSpec

from .models import AirlineDB
from .tools import AirlineTools
from .values import VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_tau.environment import Difficulty, Domain
    from pytest_tau.models import Task


def _generate(count: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    # Imported now, so that to know the domain costs nothing.
    from .tasks.sampler import AirlineSampler

    database = cast("AirlineDB", domain.load().environment().agent_db)
    yield from AirlineSampler(database, difficulty).tasks(count, seed)


def _make_tasks(edition: Domain, _tasks: Sequence[Task]) -> Mapping[str, Task | str]:
    from .tasks.generator import tasks_by_id

    return tasks_by_id(cast("AirlineDB", edition.environment().agent_db), edition.spec.values)


domain = DomainSpec(
    name="airline",
    folder=Path(__file__).parent,
    tasks=Path(pytest_tau_tasks.__path__[0]) / "airline",
    agent_db=AirlineDB,
    agent_tools=AirlineTools,
    agents={"rules": "pytest_tau_domains.airline.agent.rules_agent:RulesAgent"},
    generate=_generate,
    rules="pytest_tau_domains.airline.rules:RULES",
    values=VALUES,
    make_tasks=_make_tasks,
    ways_round="pytest_tau_domains.airline.ways_round:WAYS_ROUND",
)
