"""Generated tasks that touch most of what nothing touches yet, chosen one after the other."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ...environment import Difficulty
from ...errors import ConfigurationError, TauError
from ...lint import check_solvable
from .branches import is_installed, measured, play
from .exercised import exercised, reference_calls
from .functions import tool_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from ...environment import Domain
    from ...models import Task

#: For each task that is wanted, so many are generated of each difficulty.
_CANDIDATES = 3
_DIFFICULTIES = (Difficulty(requests=1), Difficulty(requests=2))


class Proposal(NamedTuple):
    """Generated tasks.

    Attributes:
        chosen: Those that add most to the tasks that there are, each with the number of things that only it touches.
        alone: As many as there are tasks, chosen as if there were none.
        candidates: How many were generated.
    """

    chosen: list[tuple[Task, int]]
    alone: list[Task]
    candidates: int


def propose(domain: Domain, tasks: Sequence[Task], number: int, seed: int) -> Proposal:
    """Return generated tasks that touch most of what the tasks of a domain do not.

    Args:
        domain: The domain.
        tasks: The tasks that there are.
        number: How many are wanted.
        seed: The seed of the generated ones.

    Raises:
        ConfigurationError: The domain generates no tasks, or not for this data.
    """
    make = domain.spec.generate
    if make is None:
        raise ConfigurationError(
            f"--propose-tasks: domain {domain.name!r} generates no tasks: its DomainSpec has no generate"
        )
    if not domain.has_own_data:
        raise ConfigurationError(f"--propose-tasks: domain {domain.name!r} generates tasks only for its bundled data")
    count = _CANDIDATES * max(number, len(tasks))
    candidates = [task for difficulty in _DIFFICULTIES for task in _generated(make, count, seed, difficulty)]
    touches = _touching(domain)
    known = {part for task in tasks for part in touches(task)}
    of_candidates = {task.id: touches(task) for task in candidates}
    by_id = {task.id: task for task in candidates}

    def is_right(task_id: str) -> bool:
        return not any(finding.severity == "error" for finding in check_solvable(by_id[task_id], domain))

    chosen = [(by_id[name], gain) for name, gain in islice(_greedy(of_candidates, known, is_right), number)]
    alone = [by_id[name] for name, _ in islice(_greedy(of_candidates, set(), is_right), len(tasks))]
    return Proposal(chosen, alone, len(candidates))


def _generated(
    make: Callable[[int, int, Difficulty], Iterator[Task]], count: int, seed: int, of: Difficulty
) -> list[Task]:
    """Return generated tasks, as many as there are, with the number of their requests in the id."""
    try:
        return [
            task.model_copy(update={"id": f"{task.id}-{of.requests}"}) for task in islice(make(count, seed, of), count)
        ]
    except ConfigurationError:  # not so many, or not of this difficulty
        return []


def _touching(domain: Domain) -> Callable[[Task], frozenset[Hashable]]:
    """Return what returns the points that a task exercises, and the steps between lines of the tools that it takes."""
    files = tool_sources(domain).files if is_installed() else []

    def touches(task: Task) -> frozenset[Hashable]:
        try:
            return exercised(task, domain) | (_steps(domain, task, files) if files else frozenset())
        except TauError:
            return frozenset()
        finally:
            domain.forget(task)

    return touches


def _steps(domain: Domain, task: Task, files: Iterable[Any]) -> frozenset[Hashable]:
    calls = reference_calls(task, domain)
    data = measured(files, lambda: play(task, calls, domain)).get_data()
    return frozenset((file, arc) for file in data.measured_files() for arc in data.arcs(file) or ())


def _greedy(
    touching: Mapping[str, frozenset[Hashable]], known: set[Hashable], is_right: Callable[[str], bool]
) -> Iterator[tuple[str, int]]:
    """Yield the one that adds most, again and again, each with how much it adds, until none adds anything."""
    left = dict(touching)
    known = set(known)
    while left:
        name = max(left, key=lambda candidate: len(left[candidate] - known))
        new = left.pop(name) - known
        if not new:
            return
        if is_right(name):
            known |= new
            yield name, len(new)
