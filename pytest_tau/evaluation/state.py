"""The share of right values in a final state. A value is a leaf of the JSON values of both sides' databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..environment import Environment, shared_reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..environment import Change, Domain
    from ..models import Difference, Task


def state_share(task: Task, domain: Domain, differences: Iterable[Difference]) -> float | None:
    """Return the share of right values among those that the reference or the conversation changed.

    Args:
        task: The task.
        domain: Its domain.
        differences: Where the final state differs from the reference's.

    Returns:
        None if the domain's state cannot be compared at the cost of a copy.
    """
    if not domain.spec.agent_db.cheap_to_fork:
        return None
    return _share(
        task, domain, {leaf for difference in differences for leaf in _leaves_of(difference.side, difference)}
    )


def current_share(task: Task, domain: Domain, environment: Environment) -> float:
    """Return the same of a state that is not compared yet, which is only read."""
    return _share(task, domain, _changed(shared_reference(domain, task), environment))


def _share(task: Task, domain: Domain, differing: Iterable[str]) -> float:
    differing = frozenset(differing)
    # What the conversation alone changed differs from the reference, too.
    return 1 - len(differing) / len(_by_reference(domain, task) | differing) if differing else 1.0


def _by_reference(domain: Domain, task: Task) -> frozenset[str]:
    """Return the leaves that the reference actions change."""

    def changed(task: Task) -> frozenset[str]:
        initial = domain.shared_environment(task)
        initial.close()
        return _changed(initial, shared_reference(domain, task))

    return domain.once_per_task(task, "changed leaves", changed)


def _changed(initial: Environment, final: Environment) -> frozenset[str]:
    """Return the leaves at which two environments differ."""
    return frozenset(
        leaf
        for side, before, after in Environment.databases_with(initial, final)
        for change in before.changes(after)
        for leaf in _leaves_of(side, change)
    )


def _leaves_of(side: str, change: Change | Difference) -> Iterator[str]:
    """Yield the places of the leaves in both values of a difference."""
    place = f"{side} {change.path}"
    if change.path.endswith(" (order)"):  # one fact, whatever the number of records
        yield place
        return
    if change.missing != "expected":
        yield from _leaves(place, change.expected)
    if change.missing != "got":
        yield from _leaves(place, change.got)


def _leaves(place: str, value: Any) -> Iterator[str]:
    if value and isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(f"{place}/{key}", inner)
    else:
        yield place
