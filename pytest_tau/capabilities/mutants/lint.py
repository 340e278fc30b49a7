"""The line of ``tau lint``: the score of the last agent, or which faults in the calls of the reference show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import TauError
from ...lint import stored_strength
from ...references.exercised import Made, reference_calls
from ...references.sides import tools_of
from .calls import with_other
from .mutant import Mutant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...capability import LintView
    from ...environment import Domain
    from ...models import Task
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

    A second call is not among them: where it changes nothing more, it is no fault.
    """
    calls = {task.id: reference_calls(task, domain) for task in tasks}
    pool: dict[tuple[str, str], list[Any]] = {}
    for made in (made for of_task in calls.values() for made in of_task):
        for name, value in made.arguments.items():
            pool.setdefault((made.name, name), []).append(value)
    noticed: dict[Mutant, bool] = {}
    for task in (task for task in tasks if "DB" in task.criteria.reward_basis):
        for mutant, changed in _faulty(calls[task.id], domain, pool):
            if not noticed.get(mutant):
                noticed[mutant] = _differs(task, changed, domain)
    return noticed


def _faulty(calls: Sequence[Made], domain: Domain, pool: Pool) -> Iterator[tuple[Mutant, list[Made]]]:
    """Yield the calls of a reference with one fault each."""
    tools = tools_of(domain, "assistant")
    for place, made in enumerate(calls):
        if made.side == "assistant" and tools[made.name].mutates:
            before, after = calls[:place], calls[place + 1 :]
            yield Mutant("call-omitted", made.name), [*before, *after]
            for name in made.arguments:
                if (arguments := with_other(dict(made.arguments), name, made.name, pool)) is not None:
                    changed = made._replace(arguments=arguments)
                    yield Mutant("argument-changed", made.name, name), [*before, changed, *after]


def _differs(task: Task, calls: Sequence[Made], domain: Domain) -> bool:
    """Return whether calls lead to another state than the reference."""
    try:
        environment = domain.environment(task)
        for made in calls:
            environment.call(made.name, dict(made.arguments), made.side)
        environment.sync()
        return not environment.equals(domain.shared_reference(task))
    except TauError:
        return True
