"""New tasks: the scenarios of the bundled tasks with other people and trips, one or several in a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from pytest_tau.errors import ConfigurationError, TaskFormatError

from ..._kit.sampler import TaskSampler, suffixed_id
from ..._kit.transfer import ends_with_transfer
from . import personas
from .combine import MAX_REQUESTS, NOT_COMBINABLE, add_remarks, combine
from .random_world import RandomWorld
from .scenarios import SCENARIOS
from .verify import environment_of, verify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task

    from ..models import AirlineDB

_PERSONAS: Final = (
    None, personas.BRISK, personas.CHATTY, personas.STUBBORN, personas.ANXIOUS, personas.FORMAL,
)  # fmt: skip


class _Matter(NamedTuple):
    """A scenario with its parts: the task that it would be alone, whose it is, and its reservations."""

    task: Task
    user_id: str
    reservations: frozenset[str]


def generate(db: AirlineDB, count: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    """Yield tasks of a seed, each verified; see :class:`TaskSampler`.

    Args:
        db: The people, reservations and flights that the tasks are about.
        count: How many.
        seed: The first tasks of a seed are the same, however many are made.
        difficulty: Matters and remarks in a conversation.

    Raises:
        ConfigurationError: No user has so many matters.
    """
    yield from _AirlineSampler(db, difficulty).tasks(count, seed)


class _AirlineSampler(TaskSampler["Task"]):
    """Draws tasks about a database."""

    domain: ClassVar[str] = "airline"
    max_requests: ClassVar[int] = MAX_REQUESTS
    attempts: ClassVar[int] = 200

    def __init__(self, db: AirlineDB, difficulty: Difficulty) -> None:
        super().__init__(difficulty)
        self._db = db

    def draw(self, rng: Random) -> tuple[str, Task] | None:
        """Draw some matters of one user."""
        try:
            task = combine([matter.task for matter in self._matters(rng, self.difficulty.requests)])
        except (ConfigurationError, TaskFormatError):
            return None
        return str(task.user_scenario), task

    def finish(self, drawn: Task, rng: Random, suffix: str) -> Task | None:
        """Verify the task, and give it its id, remarks and a persona."""
        try:
            verify(drawn, self._db)
        except TaskFormatError:
            return None
        task = drawn.model_copy(update={"id": suffixed_id(drawn.id, suffix)})
        task = add_remarks(task, rng, self.difficulty.distractors)
        scenario = task.user_scenario.model_copy(update={"persona": rng.choice(_PERSONAS)})
        return task.model_copy(update={"user_scenario": scenario})

    def _matters(self, rng: Random, count: int) -> list[_Matter]:
        """Draw so many matters of one user, about different reservations; one that ends in a transfer comes last.

        Raises:
            ConfigurationError: Chance has found no such matters.
            TaskFormatError: One of them cannot be carried out.
        """
        environment = environment_of(self._db)
        scenarios = [one for one in SCENARIOS if count == 1 or one.task_id not in NOT_COMBINABLE]
        found: list[_Matter] = []
        for scenario in rng.sample(scenarios, len(scenarios)):
            taken = frozenset[str]().union(*(matter.reservations for matter in found))
            world = RandomWorld(self._db, rng, found[0].user_id if found else "", taken)
            try:
                task = scenario.task(world, environment)
            except ConfigurationError:
                if count == 1:
                    raise
                continue
            too_early = ends_with_transfer(task) and len(found) < count - 1
            if too_early or taken & _reservations(task):
                # Its actions have been carried out: these matters cannot be used any more.
                raise ConfigurationError("matters that do not go together")
            found.append(_Matter(task, _user_id(task), _reservations(task)))
            if len(found) == count:
                return found
        raise ConfigurationError("nobody has so many matters")


def _user_id(task: Task) -> str:
    script = task.user_scenario.script
    return script.facts["user_id"] if script else ""


def _reservations(task: Task) -> frozenset[str]:
    """Return the ids of the reservations that are looked at or changed."""
    actions = task.criteria.actions or []
    return frozenset(action.arguments["reservation_id"] for action in actions if "reservation_id" in action.arguments)
