"""The line of ``tau lint``: the score of the last agent, or which faults in the calls of the reference show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...environment import shared_reference
from ...errors import TauError
from ...runs import stored_strength
from .calls import with_other
from .mutant import Mutant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ...capability import LintView
    from ...environment import Domain
    from ...models import Action, Task
    from .calls import Pool


async def lint(view: LintView) -> list[str]:
    """Return the line of a domain."""
    if view.task is not None:
        return []
    stored = stored_strength(view.domain, "mutants")
    return [f"mutants: {stored.line if stored else _of_references(view.domain, view.tasks)}"]


def _of_references(domain: Domain, tasks: Sequence[Task]) -> str:
    """Return how many faults in the calls of the references change the end of a task."""
    command = f"tau mutants {domain.name} --tau-agent SPEC plays those of an agent"
    if not domain.spec.agent_db.cheap_to_fork:
        return f"none is tried, as each state of these tools needs a session of its own ({command})"
    noticed = noticed_faults(domain, tasks)
    if not noticed:
        return f"no task that is graded by its end state has a change ({command})"
    missed = [mutant.text for mutant, shows in noticed.items() if not shows]
    first = f"; not {missed[0]}" if missed else ""
    return f"{len(noticed) - len(missed)} of {len(noticed)} faults in changes of the references show{first} ({command})"


def noticed_faults(domain: Domain, tasks: Sequence[Task]) -> dict[Mutant, bool]:
    """Return the faults in changes of the references, each with whether a task that is graded by its end notices it.

    A second call is not among them: where it changes nothing more, there is no fault.
    """
    pool: dict[tuple[str, str], list[Any]] = {}
    for action in (action for task in tasks for action in task.criteria.actions or ()):
        for name, value in action.arguments.items():
            pool.setdefault((action.name, name), []).append(value)
    writes = {tool.name for tool in domain.spec.agent_tools.tools().values() if tool.mutates}
    noticed: dict[Mutant, bool] = {}
    for task in (task for task in tasks if "DB" in task.criteria.reward_basis):
        for mutant, actions in _faulty(task.criteria.actions or (), writes, pool):
            if not noticed.get(mutant):
                noticed[mutant] = _differs(task, actions, domain)
    return noticed


def _faulty(actions: Sequence[Action], writes: Collection[str], pool: Pool) -> Iterator[tuple[Mutant, list[Action]]]:
    """Yield the actions of a reference with one fault each."""
    for place, action in enumerate(actions):
        if action.requestor == "assistant" and action.name in writes:
            before, after = actions[:place], actions[place + 1 :]
            yield Mutant("call-omitted", action.name), [*before, *after]
            for name in action.arguments:
                if (arguments := with_other(action.arguments, name, action.name, pool)) is not None:
                    changed = action.model_copy(update={"arguments": arguments})
                    yield Mutant("argument-changed", action.name, name), [*before, changed, *after]


def _differs(task: Task, actions: Sequence[Action], domain: Domain) -> bool:
    """Return whether actions lead to another state than the reference."""
    try:
        environment = domain.environment(task)
        for action in actions:
            environment.call(action.name, action.arguments, action.requestor)
        return not environment.equals(shared_reference(domain, task))
    except TauError:
        return True
