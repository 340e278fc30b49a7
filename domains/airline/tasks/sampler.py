"""Fresh tasks by the thousand: the scenarios of the bundled tasks, cast on others, one or several in a conversation."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_tau.errors import ConfigurationError, TaskFormatError

from . import personas
from .builder import Script
from .combine import ALONE, MOST_REQUESTS, ends, in_passing, merged
from .generator import SCENARIOS, task_id_of
from .random_world import Casting
from .verify import environment_of, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task

    from ..models import AirlineDB, User

_ATTEMPTS: Final = 200
_LONGEST_ID: Final = 60
_PERSONAS: Final = (
    None, personas.BRISK, personas.CHATTY, personas.STUBBORN, personas.ANXIOUS, personas.FORMAL,
)  # fmt: skip


class _Matter(NamedTuple):
    """A scenario, cast: the task that it would be alone, whose it is, and which reservations it is about."""

    task: Task
    user_id: str
    reservations: frozenset[str]


def generate(db: AirlineDB, count: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    """Tasks of a seed, each verified; no two of them are about the same while there is something else.

    Args:
        db: The people, reservations and flights that the tasks are about.
        count: How many.
        seed: The first tasks of a seed are the same, however many are made.
        difficulty: ``requests`` are matters in one conversation, ``distractors`` are remarks beside the point;
            ``faults`` have no meaning here.

    Raises:
        ConfigurationError: Nobody has so many matters.
    """
    if not 1 <= difficulty.requests <= MOST_REQUESTS:
        raise ConfigurationError(f"airline tasks have 1 to {MOST_REQUESTS} requests, not {difficulty.requests}")
    maker = _Maker(db, difficulty)
    for number in range(count):
        yield maker.make(seed, number)


class _Maker:
    """Casts scenarios, and knows what has been cast."""

    def __init__(self, db: AirlineDB, difficulty: Difficulty) -> None:
        self._db, self._difficulty = db, difficulty
        self._used: set[str] = set()

    def make(self, seed: int, number: int) -> Task:
        """The task of this number."""
        rng = random.Random(f"airline {seed} {number} {self._difficulty}")
        suffix = f"-{seed}-{number}"
        for attempt in range(_ATTEMPTS):
            task = self._attempt(rng)
            known = task is not None and str(task.user_scenario) in self._used
            if task is None or (known and attempt < _ATTEMPTS // 2) or not self._is_sound(task):
                continue
            self._used.add(str(task.user_scenario))
            named = task.model_copy(update={"id": f"{task.id[: _LONGEST_ID - len(suffix)]}{suffix}"})
            return _like(in_passing(named, rng, self._difficulty.distractors), rng.choice(_PERSONAS))
        raise ConfigurationError(f"no airline task {number} of seed {seed} can be made: choose another seed")

    def _attempt(self, rng: random.Random) -> Task | None:
        """Some matters of one user; None where chance has found nothing that fits."""
        try:
            return merged([matter.task for matter in self._matters(rng, self._difficulty.requests)])
        except (ConfigurationError, TaskFormatError):
            return None

    def _is_sound(self, task: Task) -> bool:
        """Whether nothing is given away, and every reference action is possible and needed."""
        try:
            verify(task, self._db)
        except TaskFormatError:
            return False
        return True

    def _matters(self, rng: random.Random, count: int) -> list[_Matter]:
        """So many matters of one user, about different reservations; one that ends the conversation comes last.

        Raises:
            ConfigurationError: Chance has found no such matters.
            TaskFormatError: One of them cannot be carried out.
        """
        environment = environment_of(self._db)
        scenarios = list(SCENARIOS) if count == 1 else [one for one in SCENARIOS if task_id_of(one) not in ALONE]
        found: list[_Matter] = []
        for scenario in rng.sample(scenarios, len(scenarios)):
            taken = frozenset[str]().union(*(matter.reservations for matter in found))
            world = Casting(self._db, rng, found[0].user_id if found else "", taken)
            callers: list[str] = []

            def start(user: User, scenario: Callable[..., Task] = scenario, callers: list[str] = callers) -> Script:
                callers.append(user.user_id)
                return Script(task_id_of(scenario), scenario.__doc__ or "", environment, user)

            try:
                task = scenario(world, start)
            except ConfigurationError:
                if count == 1:
                    raise
                continue
            too_early = ends(task) and len(found) < count - 1
            if too_early or taken & _reservations(task):
                # What it has done is done: these matters cannot be used any more.
                raise ConfigurationError("matters that do not go together")
            found.append(_Matter(task, callers[0], _reservations(task)))
            if len(found) == count:
                return found
        raise ConfigurationError("nobody has so many matters")


def _reservations(task: Task) -> frozenset[str]:
    """Ids of the reservations that are looked at or changed."""
    actions = task.criteria.actions or []
    return frozenset(action.arguments["reservation_id"] for action in actions if "reservation_id" in action.arguments)


def _like(task: Task, persona: str | None) -> Task:
    scenario = task.user_scenario.model_copy(update={"persona": persona})
    return task.model_copy(update={"user_scenario": scenario})
