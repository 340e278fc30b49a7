"""What every bundled task has to hold to, seen without a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau.environment import Environment
from pytest_tau.errors import TaskFormatError

from ..tools import RetailTools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_tau.models import Action, Task

    from ..models import RetailDB

#: Free text, which the agent words itself.
_OWN_WORDS = ("summary",)


def verify(task: Task, db: RetailDB) -> None:
    """Play the task through on a database.

    Raises:
        TaskFormatError: A reference action fails, needs something that nobody has said, or changes nothing; or doing
            nothing passes.
    """

    def require(condition: bool, problem: str) -> None:
        if not condition:
            raise TaskFormatError(problem, task_id=task.id)

    actions, criteria = task.criteria.actions or [], task.criteria
    environment = environment_of(db)
    script = task.user_scenario.script
    told = {"instructions": str(task.user_scenario), **({"script": str(script)} if script else {})}
    read = ""
    for action in actions:
        for where, text in told.items():
            missing = next((fact for fact in facts(action) if fact not in text + read), None)
            problem = f"{action.action_id}: where should the agent know {missing!r} from, by the {where}?"
            require(missing is None, problem)
        reply = environment.call(action.name, action.arguments, action.requestor)
        require(not reply.error, f"{action.action_id}: {reply.content}")
        read += reply.content or ""
    writing = [action for action in actions if environment.tool_infos[action.name].kind == "write"]
    for action in writing:
        rest = [other for other in actions if other is not action]
        require(not played(rest, db).agent_db.equals(environment.agent_db), f"{action.action_id} is not needed")
    graded = writing or criteria.communicate_info or "ACTION" in criteria.reward_basis
    require(bool(graded), "doing nothing passes")


def facts(action: Action) -> Iterator[str]:
    """The arguments that an agent has to have read or been told."""
    for name, value in action.arguments.items():
        if name not in _OWN_WORDS:
            yield from filter(None, value if isinstance(value, list) else [value])


def environment_of(db: RetailDB) -> Environment:
    """A fresh environment over a database that is not (yet) the bundled one."""
    return Environment(domain_name="retail", policy="", agent=RetailTools(db.fork()))


def played(actions: Sequence[Action], db: RetailDB) -> Environment:
    """An environment after the actions."""
    environment = environment_of(db)
    for action in actions:
        environment.call(action.name, action.arguments, action.requestor)
    return environment
