"""Tasks that a domain generates, each verified before it is run."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ..errors import ConfigurationError, TaskFormatError
from ..text import plural
from .facts import FactChecker
from .put_off import put_off
from .users import check_script
from .verdicts import check_solvable

if TYPE_CHECKING:
    from ..environment import Difficulty, Domain
    from ..models import Task


def generated_tasks(
    domain: Domain, count: int, seed: int, difficulty: Difficulty, *, sessions: bool = False, verify: bool = True
) -> list[Task]:
    """Return the tasks of a seed.

    Args:
        domain: Whose tasks, with its bundled data.
        count: How many.
        seed: The first ones of a seed are the same, however many are made.
        difficulty: How hard they are.
        sessions: Whether the user of each calls twice, and wants what it has said in the first session.
        verify: Whether each is played through: that the reference passes, that an agent that does nothing fails, that
            every write is needed, and that the scripted user can say what only a user can know.

    Raises:
        ConfigurationError: The domain makes no tasks, or not for this data, or not so many.
        TaskFormatError: One of them fails its verification.
    """
    make = domain.spec.generate
    if make is None:
        raise ConfigurationError(f"domain {domain.name!r} cannot generate tasks: its DomainSpec has no generate")
    if domain.folder != domain.spec.folder:
        raise ConfigurationError(f"domain {domain.name!r} generates tasks only for its bundled data; remove --tau-data")
    tasks = list(islice(make(count, seed, difficulty), count))
    if len(tasks) < count:
        raise ConfigurationError(
            f"domain {domain.name!r} can generate {plural(len(tasks), 'task')} of this difficulty, not {count}"
        )
    if sessions:
        tasks = [put_off(task, domain, seed) for task in tasks]
    facts = FactChecker(domain)
    for task in tasks if verify else ():
        for finding in (*check_solvable(task, domain), *check_script(task, domain), *facts.check_script(task)):
            raise TaskFormatError(f"a generated task does not pass its verification: {finding.text}", task_id=task.id)
    return tasks
