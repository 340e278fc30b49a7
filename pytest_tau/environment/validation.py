"""The check that a task fits its domain: everything that it names exists, and its initial state can be applied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import TaskFormatError, unknown_name
from .arguments import misfits
from .schemas import arguments_of
from .sessions import SessionState
from .toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from ..models import FunctionCall, Requestor, Task
    from .domain import Domain, DomainSpec


def check_task(task: Task, spec: DomainSpec, components: Collection[str], file: Path | None = None) -> None:
    """Refuse a task that names something which its domain lacks.

    Args:
        task: The task.
        spec: Its domain.
        components: Names that a reward basis may have.
        file: The file of the task.

    Raises:
        TaskFormatError: Names file, task and field: an unknown reward basis, tool or function, or an
            argument of a reference action, an assertion or an initialization action that does not match.
    """

    def fail(problem: str, field: str) -> None:
        raise TaskFormatError(problem, file=file, task_id=task.id, field=field)

    criteria = task.criteria
    for name in criteria.reward_basis:
        if name not in components:
            fail(unknown_name("reward basis", name, components), "evaluation_criteria.reward_basis")
    check_comparable(task, spec, file)
    for position, action in enumerate(criteria.actions or []):
        tools = _toolkit(spec, action.requestor).tool_infos
        if action.name not in tools:
            problem = f"{unknown_name('tool', action.name, tools)} of the {action.requestor}"
            fail(problem, f"evaluation_criteria.actions.{position}.name")
    for position, action in enumerate(criteria.actions or []):
        schema = _toolkit(spec, action.requestor).tools()[action.name].parameters
        for problem in misfits(action.arguments, schema):
            fail(f"{action.name}: {problem}", f"evaluation_criteria.actions.{position}.arguments")
    for position, assertion in enumerate(criteria.env_assertions or []):
        _check_function(spec, assertion, fail, f"evaluation_criteria.env_assertions.{position}")
    actions = (task.initial_state and task.initial_state.initialization_actions) or []
    for position, call in enumerate(actions):
        _check_function(spec, call, fail, f"initial_state.initialization_actions.{position}")


def check_initial_state(task: Task, domain: Domain, file: Path | None = None) -> None:
    """Refuse a task whose initial state cannot be applied.

    It is applied to a copy of the databases. If the domain runs functions of its own or a server, nothing is done:
    a trial applies it before any model is called.

    Raises:
        TaskFormatError: A function raises or refuses, or the data does not fit; names file, task and field.
    """
    if task.initial_state is None or issubclass(domain.spec.agent_db, SessionState):
        return
    try:
        domain.environment(task)
    except TaskFormatError as error:
        raise TaskFormatError(error.problem, file=file, task_id=error.task_id, field=error.field) from None


def check_comparable(task: Task, spec: DomainSpec, file: Path | None = None) -> None:
    """Refuse a task whose reward depends on a state that the domain cannot show.

    Raises:
        TaskFormatError: It does; names what to add.
    """
    criteria = task.criteria
    gated = criteria.actions is not None or criteria.env_assertions is not None
    if "DB" not in criteria.reward_basis or not gated or spec.agent_db.comparable:
        return
    source = getattr(spec.agent_db, "source", None)
    problem = (
        f"DB compares the final state, and domain {spec.name!r} does not give it: add {source and source.keyword}= to "
        "the domain, or name another reward basis, such as ENV_ASSERTION, ACTION or COMMUNICATE"
    )
    raise TaskFormatError(problem, file=file, task_id=task.id, field="evaluation_criteria.reward_basis")


def _toolkit(spec: DomainSpec, requestor: Requestor) -> type[Toolkit[Any]]:
    return (spec.agent_tools if requestor == "assistant" else spec.user_tools) or Toolkit


def _check_function(spec: DomainSpec, call: FunctionCall, fail: Any, field: str) -> None:
    toolkit = _toolkit(spec, call.env_type)
    if toolkit.function(call.func_name) is None:
        public = [name for name in dir(toolkit) if toolkit.function(name) is not None]
        fail(f"{unknown_name('function', call.func_name, public)} on the {call.env_type}'s side", f"{field}.func_name")
    for problem in misfits(call.arguments, _arguments(toolkit, call.func_name)):
        fail(f"{call.func_name}: {problem}", f"{field}.arguments")


def _arguments(toolkit: type[Toolkit[Any]], name: str) -> dict[str, Any]:
    """Return the schema of the arguments of a tool, or of another function of a toolkit."""
    function, declared = getattr(toolkit, name), toolkit.tools().get(name)
    return declared.parameters if declared else getattr(function, "tau_parameters", None) or arguments_of(function)
