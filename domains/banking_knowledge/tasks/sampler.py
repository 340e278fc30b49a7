"""New tasks: scenarios with other customers, alone or several in one conversation, with other manners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from pytest_tau.errors import TaskFormatError

from ..._kit.sampler import TaskSampler, suffixed_id
from . import personas
from .builder import build_task
from .combine import MAX_REQUESTS, MatterPool, add_remarks
from .scenarios import SCENARIOS
from .verify import verify
from .world import World, records_of

if TYPE_CHECKING:
    from random import Random

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task

    from ..tables import BankDB
    from .builder import Draft, Scenario

_PERSONAS = (
    None, personas.BREEZY, personas.BRIEF, personas.CAREFUL, personas.IMPATIENT, personas.NEW_HERE,
)  # fmt: skip


class _Drawn(NamedTuple):
    scenario: Scenario
    draft: Draft


class BankSampler(TaskSampler[_Drawn]):
    """Draws tasks about a database."""

    domain: ClassVar[str] = "banking_knowledge"
    max_requests: ClassVar[int] = MAX_REQUESTS
    attempts: ClassVar[int] = 100

    def __init__(self, db: BankDB, difficulty: Difficulty) -> None:
        super().__init__(difficulty)
        self._db = db
        self._pool = MatterPool(World(records_of(db)), SCENARIOS)

    def draw(self, rng: Random) -> tuple[tuple[object, ...], _Drawn] | None:
        """Draw some matters of one customer."""
        drawn = self._pool.draw(rng, self.difficulty.requests)
        return (drawn[0], _Drawn(drawn[1], drawn[2])) if drawn else None

    def finish(self, drawn: _Drawn, rng: Random, suffix: str) -> Task | None:
        """Give the task its id, a manner and remarks, and verify it."""
        task_id = suffixed_id(drawn.scenario.task_id, suffix)
        scenario = replace(drawn.scenario, task_id=task_id, persona=rng.choice(_PERSONAS))
        task = build_task(scenario, add_remarks(rng, drawn.draft, self.difficulty.distractors))
        try:
            verify(task, self._db)
        except TaskFormatError:
            return None
        return task
