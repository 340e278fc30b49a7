"""Checks of a task without a conversation: that it has a request, and that its reference solution is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_tau.errors import TaskFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_tau.environment import Environment
    from pytest_tau.models.tasks import Action, Task

#: Arguments that the agent words itself, and values that every agent knows.
_OWN_WORDS = ("summary", "expression")
_COMMON = ("", "yes", "no")


def require(condition: object, task: Task, problem: str) -> None:
    """Raise a ``TaskFormatError`` about a task unless the condition is met."""
    if not condition:
        raise TaskFormatError(problem, task_id=task.id)


def check_effects(task: Task, new_environment: Callable[[], Environment]) -> None:
    """Check that doing nothing fails, and that every writing action of the reference solution makes a difference.

    Raises:
        TaskFormatError: What is wrong.
    """
    criteria, actions = task.criteria, task.criteria.actions or []
    final = play(actions, new_environment())
    mutating = [action for action in actions if final.mutates(action.name, action.requestor)]
    graded = mutating or criteria.communicate_info or "ACTION" in criteria.reward_basis
    require(graded, task, "doing nothing passes")
    for action in mutating:
        without = play([other for other in actions if other is not action], new_environment())
        needed = not final.agent_db.equals(without.agent_db)
        require(needed, task, f"{action.action_id} is not needed, it makes no difference")


def play(actions: Sequence[Action], environment: Environment) -> Environment:
    """Return the environment after the actions."""
    for action in actions:
        environment.call(action.name, action.arguments, action.requestor)
    return environment


def check_knowledge(
    task: Task,
    environment: Environment,
    sources: Mapping[str, str],
    is_known: Callable[[str, str], bool] = str.__contains__,
    fold: Callable[[str], str] = str,
) -> None:
    """Check that the agent can know every argument of the reference solution when it is needed.

    Args:
        task: The task.
        environment: A new environment of it.
        sources: Texts by what they are called; each of them has to give what tools do not.
        is_known: Returns whether a folded text has a fact.
        fold: Folds a text so that facts are found in it.

    Raises:
        TaskFormatError: An action fails, or needs a value that is given nowhere.
    """
    known = {source: fold(text) for source, text in sources.items()}
    for action in task.criteria.actions or []:
        for source, text in known.items():
            missing = next((fact for fact in _facts(action.arguments) if not is_known(text, fact)), None)
            problem = f"{action.action_id}: where should the agent know {missing!r} from? It does not come from"
            require(missing is None, task, f"{problem} the {source}, nor from what was read before")
        reply = environment.call(action.name, action.arguments, action.requestor)
        require(not reply.error, task, f"{action.action_id}: {reply.content}")
        reply_text = fold(reply.content or "")
        known = {source: f"{text}\n{reply_text}" for source, text in known.items()}


def _facts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in _OWN_WORDS:
                yield from _facts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _facts(part)
    elif isinstance(value, str) and value not in _COMMON:
        yield value
