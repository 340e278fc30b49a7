"""Each value of a policy changed alone: what the agent of the old policy fails."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ... import simulate
from ...environment import named_in
from ...errors import ConfigurationError, TauError
from .edition import with_edition

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ...environment import Domain, Value
    from ...models import Task


class Varied(NamedTuple):
    """What changing one value has shown.

    Attributes:
        name: The value.
        old: What it is in the domain.
        new: What it became: the first one that a task noticed, else the last one that was tried.
        failed: The tasks that the agent of the old policy failed, though it passes them in the domain itself.
        tasks: The number of tasks that were played.
        not_carried_over: The tasks that the edition lacks, by id: why.
        skipped: The tasks that could not be played, by id: why.
    """

    name: str
    old: Value
    new: Value
    failed: list[str]
    tasks: int
    not_carried_over: Mapping[str, str]
    skipped: Mapping[str, str]


def stated_names(domain: Domain) -> list[str]:
    """Return the names of the values that the policy states and that may become others.

    Raises:
        ConfigurationError: The policy states no declared value.
    """
    names = changeable_names(domain)
    if not names:
        problem = "its policy has no placeholders of declared values: numbers in prose only cannot be changed"
        raise ConfigurationError(f"domain {domain.name!r}: {problem}")
    return names


def changeable_names(domain: Domain) -> list[str]:
    """Return the names of the values that the policy states and that may become others; empty if there are none."""
    declared = domain.spec.values.declared
    stated = named_in(domain.policy_source) if declared else []
    return [name for name in stated if name in declared and declared[name].becomes]


def vary(domain: Domain, agent: str, names: Sequence[str], split: str) -> Iterator[Varied]:
    """Yield for each value what the agent of the old policy fails with a new value, tried until a task notices it.

    Raises:
        ConfigurationError: The agent passes no task of the domain itself.
    """
    passing = passed_by(domain, agent, split)
    for name in names:
        varied = None
        for new in domain.spec.values.declared[name].becomes:
            varied = noticing(domain, agent, name, new, passing, split)
            if varied.failed:
                break
        if varied is not None:
            yield varied


def passed_by(domain: Domain, agent: str, split: str) -> set[str]:
    """Return the tasks that an agent passes.

    Raises:
        ConfigurationError: There are none.
    """
    played, _ = _play(domain, agent, split)
    passing = {task for task, passed in played.items() if passed}
    if not passing:
        raise ConfigurationError(f"agent {agent!r} passes no task of domain {domain.name!r}: it cannot notice anything")
    return passing


def noticing(domain: Domain, agent: str, name: str, new: Value, passing: Collection[str], split: str) -> Varied:
    """Return what the agent of the old policy fails with a new value.

    Args:
        domain: The domain.
        agent: The agent.
        name: The value.
        new: What it becomes.
        passing: The tasks that the agent passes in the domain itself.
        split: The tasks.
    """
    edition = _with_old_policy(domain, name, new)
    played, skipped = _play(edition, agent, split)
    failed = [task for task, passed in played.items() if not passed and task in passing]
    old = domain.spec.values.of(name)
    return Varied(name, old, new, failed, len(played), edition.not_carried_over, skipped)


def _with_old_policy(domain: Domain, name: str, new: Value) -> Domain:
    """Return the domain with a new value, whose agents are given the text of the old policy."""
    old, edition = domain.environment().policy, with_edition(domain.spec, {name: new}).load()
    made: dict[str, Task | str] = {task.id: task for task in edition.tasks(None)}
    made |= edition.not_carried_over
    return replace(edition.spec, policy_text=lambda _texts: old, make_tasks=lambda _domain, _tasks: made).load()


def _play(domain: Domain, agent: str, split: str) -> tuple[dict[str, bool], dict[str, str]]:
    """Return whether an agent passes each task, and why tasks could not be played."""
    played, skipped = {}, {}
    for task in domain.tasks(split):
        try:
            simulation = simulate(task, domain=domain, agent=agent, user="scripted")
        except TauError as error:
            skipped[task.id] = str(error)
            continue
        if simulation.reward is None:
            skipped[task.id] = simulation.error or "there is no verdict"
        else:
            played[task.id] = simulation.reward == 1
    return played, skipped
