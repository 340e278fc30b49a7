"""Fresh tasks by the thousand: scenarios cast on other customers and orders, with other manners and addresses."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pytest_tau.errors import ConfigurationError, TaskFormatError

from . import personas
from .builder import compose, tellable
from .combine import MOST_REQUESTS, Matters
from .generator import SCENARIOS
from .variation import elsewhere, noisy
from .verify import verify
from .world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task

    from ..models import RetailDB
    from .builder import Draft, Scenario

_ATTEMPTS = 100
_LONGEST_ID = 60
_FOUND_BY: tuple[Literal["email", "zip"], ...] = ("email", "zip")
_PERSONAS = (None, personas.CHATTY, personas.TERSE, personas.WARY, personas.CROSS, personas.FORMAL, personas.NOVICE)


def generate(db: RetailDB, count: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    """Tasks of a seed, each verified; no two of them have the same parts while there are others.

    Args:
        db: The customers, products and orders that the tasks are about.
        count: How many.
        seed: The first tasks of a seed are the same, however many are made.
        difficulty: ``requests`` are matters in one conversation, ``distractors`` are remarks beside the point;
            ``faults`` have no meaning here.

    Raises:
        ConfigurationError: No customer has so many matters.
    """
    if not 1 <= difficulty.requests <= MOST_REQUESTS:
        raise ConfigurationError(f"retail tasks have 1 to {MOST_REQUESTS} requests, not {difficulty.requests}")
    maker = _Maker(db, difficulty)
    for number in range(count):
        yield maker.make(seed, number)


class _Maker:
    """What has been cast, and what of it has been used."""

    def __init__(self, db: RetailDB, difficulty: Difficulty) -> None:
        self._db, self._difficulty = db, difficulty
        self._matters = Matters(World(db), (one for one in SCENARIOS if not one.judged))
        self._used: set[tuple[object, ...]] = set()

    def make(self, seed: int, number: int) -> Task:
        """The task of this number."""
        rng = random.Random(f"retail {seed} {number} {self._difficulty}")
        for attempt in range(_ATTEMPTS):
            key, one, draft = self._matters.some(rng, self._difficulty.requests)
            if key in self._used and attempt < _ATTEMPTS // 2:
                continue
            suffix = f"-{seed}-{number}"
            task_id = f"{one.task_id[: _LONGEST_ID - len(suffix)]}{suffix}"
            one = _in_a_manner(rng, replace(one, task_id=task_id))
            draft = noisy(rng, elsewhere(rng, draft), self._difficulty.distractors)
            if self._is_sound(task := compose(one, draft), one, draft):
                self._used.add(key)
                return task
        raise ConfigurationError(f"no retail task {number} of seed {seed} can be made: choose another seed")

    def _is_sound(self, task: Task, one: Scenario, draft: Draft) -> bool:
        """Whether nothing is given away, and every reference action is possible and needed."""
        try:
            verify(task, self._db)
        except TaskFormatError:
            return False
        return tellable(one, draft)


def _in_a_manner(rng: random.Random, one: Scenario) -> Scenario:
    """The scenario with a customer who writes and is found in some way; a special way is kept."""
    persona = rng.choice(_PERSONAS)
    found_by = rng.choice(_FOUND_BY) if one.found_by in _FOUND_BY else one.found_by
    return replace(one, persona=persona, found_by=found_by)
