"""New tasks: scenarios with other customers and orders, with other manners and addresses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from pytest_tau.errors import TaskFormatError

from ..._kit.sampler import TaskSampler, suffixed_id
from .builder import build_task, is_gradable
from .combine import MAX_REQUESTS, MatterPool
from .personas import PERSONAS
from .scenarios import SCENARIOS
from .variation import change_addresses, mention_some
from .verify import verify
from .world import World

if TYPE_CHECKING:
    from random import Random

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task

    from ..models import RetailDB
    from .builder import Draft

_FOUND_BY: tuple[Literal["email", "zip"], ...] = ("email", "zip")
_PERSONAS = (None, *PERSONAS.values())


class RetailSampler(TaskSampler["Draft"]):
    """Draws tasks about a database."""

    domain: ClassVar[str] = "retail"
    max_requests: ClassVar[int] = MAX_REQUESTS
    attempts: ClassVar[int] = 100

    def __init__(self, db: RetailDB, difficulty: Difficulty) -> None:
        super().__init__(difficulty)
        self._db = db
        self._pool = MatterPool(World(db), (scenario for scenario in SCENARIOS if "judged" not in scenario.table))

    def draw(self, rng: Random) -> tuple[tuple[object, ...], Draft]:
        """Draw some matters of one customer."""
        return self._pool.draw(rng, self.difficulty.requests)

    def finish(self, drawn: Draft, rng: Random, suffix: str) -> Task | None:
        """Give the task its id, a manner, addresses and remarks, and verify it."""
        draft = _in_a_manner(rng, replace(drawn, task_id=suffixed_id(drawn.task_id, suffix)))
        draft = mention_some(rng, change_addresses(rng, draft), self.difficulty.distractors)
        task = build_task(draft)
        try:
            verify(task, self._db)
        except TaskFormatError:
            return None
        return task if is_gradable(draft) else None


def _in_a_manner(rng: Random, draft: Draft) -> Draft:
    """Return the draft with a customer who writes and is found in some way; a special way is kept."""
    persona = rng.choice(_PERSONAS)
    found_by = rng.choice(_FOUND_BY) if draft.found_by in _FOUND_BY else draft.found_by
    return replace(draft, persona=persona, found_by=found_by)
