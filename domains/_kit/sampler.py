"""Tasks by the thousand: drawn at random, each verified, the same again for a seed."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from pytest_tau.errors import ConfigurationError
from pytest_tau.models.tasks import CLUSTER

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task

T = TypeVar("T")

_LONGEST_ID = 60


class TaskSampler(ABC, Generic[T]):
    """Draws tasks; no two of them are about the same while there is something else.

    Args:
        difficulty: ``requests`` are matters in one conversation, ``distractors`` are remarks that have
            nothing to do with it; ``faults`` have no meaning here.

    Attributes:
        domain: The domain's name.
        max_requests: How many matters one conversation may have.
        attempts: How often a task is drawn before this is given up.

    Raises:
        ConfigurationError: Too many requests.
    """

    domain: ClassVar[str]
    max_requests: ClassVar[int]
    attempts: ClassVar[int]

    def __init__(self, difficulty: Difficulty) -> None:
        if not 1 <= difficulty.requests <= self.max_requests:
            raise ConfigurationError(
                f"{self.domain} tasks have 1 to {self.max_requests} requests, not {difficulty.requests}"
            )
        self.difficulty = difficulty
        self._used: set[Hashable] = set()

    def tasks(self, count: int, seed: int) -> Iterator[Task]:
        """Yield the tasks of a seed; the first ones are the same, however many there are.

        Raises:
            ConfigurationError: No task could be drawn.
        """
        for number in range(count):
            yield self._task(seed, number)

    def _task(self, seed: int, number: int) -> Task:
        rng = random.Random(f"{self.domain} {seed} {number} {self.difficulty}")
        for attempt in range(self.attempts):
            drawn = self.draw(rng)
            if drawn is None or (drawn[0] in self._used and attempt < self.attempts // 2):
                continue
            task = self.finish(drawn[1], rng, suffix := f"-{seed}-{number}")
            if task is not None:
                self._used.add(drawn[0])
                return self._in_cluster(task, suffix)
        raise ConfigurationError(f"no {self.domain} task {number} of seed {seed} can be made: choose another seed")

    def _in_cluster(self, task: Task, suffix: str) -> Task:
        """Return a task that names its scenario as its cluster; one of several scenarios has none."""
        if self.difficulty.requests > 1:
            return task
        return task.model_copy(update={"annotations": {CLUSTER: task.id.removesuffix(suffix)}})

    @abstractmethod
    def draw(self, rng: random.Random) -> tuple[Hashable, T] | None:
        """Draw what a task is about.

        Returns:
            A key that is equal for what is about the same, and what was drawn; None where chance found nothing.
        """

    @abstractmethod
    def finish(self, drawn: T, rng: random.Random, suffix: str) -> Task | None:
        """Make a task of what was drawn.

        Args:
            drawn: What it is about.
            rng: The chance.
            suffix: The end of its id.

        Returns:
            The task; None where it is not sound.
        """


def suffixed_id(task_id: str, suffix: str) -> str:
    """Return an id of at most sixty characters that ends with the suffix."""
    return f"{task_id[: _LONGEST_ID - len(suffix)]}{suffix}"
