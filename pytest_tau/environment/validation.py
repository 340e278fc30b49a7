"""The check that a task fits its domain: everything that it names exists there."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, TaskFormatError, unknown_name
from ..models import BEGIN_SESSION
from ..models.tasks import APPROVER, CLUSTER
from ..text import shorten
from .arguments import misfits
from .results import StoredCall, is_error, stored_calls
from .schemas import arguments_of, converts, impossible_values
from .toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from ..models import Action, FunctionCall, Requestor, Task, ToolCall
    from .domain import Domain, DomainSpec

#: How annotations begin that are not the user's own.
_OWN = "tau."
#: The field in which a task names its domain.
_NAMED = "user_scenario.instructions.domain"


def check_task(
    task: Task, spec: DomainSpec, components: Collection[str], file: Path | None = None, *, solo: bool = False
) -> None:
    """Refuse a task that names something which its domain lacks.

    Args:
        task: The task.
        spec: Its domain.
        components: Names that a reward basis may have.
        file: The file of the task.
        solo: The agent works alone, with both sides' tools.

    Raises:
        TaskFormatError: Names file, task and field: an unknown reward basis, tool or function; a reference action of a
            tool that the task does not offer to the user; an argument of a reference action, a goal of the script, an
            assertion or an initialization action that does not match; a name in ``compare_args`` that is not an
            argument; initialization data that is neither of a side nor a table; a cluster that is not a text.
    """

    def fail(problem: str, field: str) -> None:
        raise TaskFormatError(problem, file=file, task_id=task.id, field=field)

    _check_annotations(task, fail)
    _check_scenario(task, spec, fail)
    criteria = task.criteria
    for name in criteria.reward_basis:
        if name not in components:
            fail(unknown_name("reward basis", name, components), "evaluation_criteria.reward_basis")
    check_comparable(task, spec, file)
    for outcome in (None, *range(len(criteria.outcomes or ()))):
        _check_actions(task.of_outcome(outcome), spec, fail, actions_field(outcome), solo=solo)
    for position, assertion in enumerate(criteria.env_assertions or []):
        _check_function(spec, assertion, fail, f"evaluation_criteria.env_assertions.{position}")
    actions = (task.initial_state and task.initial_state.initialization_actions) or []
    for position, call in enumerate(actions):
        _check_function(spec, call, fail, f"initial_state.initialization_actions.{position}")


def _check_annotations(task: Task, fail: Callable[[str, str], None]) -> None:
    """Check the annotations that are read here; all others are the user's own."""
    annotations = task.annotations if isinstance(task.annotations, dict) else {}
    for name, value in annotations.items():
        if name == CLUSTER and not (isinstance(value, str) and value.strip()):
            fail(
                f"expected a text that is not empty, such as 'refund', got {shorten(repr(value))}",
                f"annotations.{name}",
            )
        if name.startswith(_OWN) and name not in (APPROVER, CLUSTER):
            fail(unknown_name("annotation", name, [APPROVER, CLUSTER]), f"annotations.{name}")
    if isinstance(nested := annotations.get("tau"), dict) and "cluster" in nested:
        fail(f'expected the cluster as annotations["{CLUSTER}"], not in an object', "annotations.tau")


def actions_field(outcome: int | None) -> str:
    """Return the field of the reference actions, or of the actions of another right outcome."""
    return f"evaluation_criteria.{'' if outcome is None else f'outcomes.{outcome}.'}actions"


def _check_actions(task: Task, spec: DomainSpec, fail: Callable[[str, str], None], field: str, *, solo: bool) -> None:
    """Check that the reference actions are calls of tools that exist, and that the user is offered its own."""
    actions = task.criteria.actions or []
    for position, action in enumerate(actions):
        if action.name not in _toolkit(spec, action.requestor).tool_infos and action.name != BEGIN_SESSION:
            fail(unknown_tool(action, spec), f"{field}.{position}.name")
        if not solo and (problem := not_offered(action, task, spec)) is not None:
            fail(problem, f"{field}.{position}.name")
    for position, action in enumerate(actions):
        toolkit = _toolkit(spec, action.requestor)
        called = toolkit.tool_named(action.name)
        if called is None:
            continue
        for problem in argument_problems(action.name, action.arguments, toolkit):
            fail(f"{action.name}: {problem}", f"{field}.{position}.arguments")
        for problem in unknown_compared(action, called.parameters):
            fail(f"{action.name}: {problem}", f"{field}.{position}.compare_args")


def not_offered(action: Action, task: Task, spec: DomainSpec) -> str | None:
    """Return the text of the error for a reference action of the user that the task does not let it make; else None.

    An agent that works alone has all tools of the user.
    """
    if action.requestor == "assistant" or task.user_tools is None or action.name in task.user_tools:
        return None
    if action.name not in _toolkit(spec, "user").tools():
        return None  # it is offered in no task, and found out in the conversation
    return f"{action.name!r} is not among the task's user_tools, so that no user can call it: add it there"


def unknown_compared(action: Action, schema: dict[str, Any]) -> list[str]:
    """Return what is wrong with the names in ``compare_args``: a name that is not an argument is equal in all calls."""
    known = {*schema.get("properties", {}), *action.arguments}
    if schema.get("additionalProperties"):
        return []
    return [unknown_name("argument", name, known) for name in action.compare_args or () if name not in known]


def argument_problems(name: str, arguments: dict[str, Any], toolkit: type[Toolkit[Any]]) -> Iterator[str]:
    """Yield what is wrong with the arguments of a tool's call; each assumes that there was nothing before.

    Args:
        name: The name of a tool; nothing is wrong if the toolkit does not have it.
        arguments: The arguments of the call.
        toolkit: The toolkit.
    """
    called, function = toolkit.tool_named(name), toolkit.function(name)
    if called is not None:
        yield from misfits(arguments, called.parameters, stored=not converts(function))
        if function is not None:
            yield from impossible_values(function, arguments)


def unknown_tool(action: Action | ToolCall, spec: DomainSpec) -> str:
    """Return the text of the error for a reference action, or another call, whose tool its side does not have."""
    other: Requestor = "user" if action.requestor == "assistant" else "assistant"
    if action.name in _toolkit(spec, other).tool_infos:
        return f'{action.name!r} is a tool of the {other}, not of the {action.requestor}: set "requestor": "{other}"'
    return f"{unknown_name('tool', action.name, _toolkit(spec, action.requestor).tool_infos)} of the {action.requestor}"


def check_domain(task: Task, domain: Domain, known: Collection[str], load: Callable[[str], Domain]) -> None:
    """Refuse a task of a domain that names another one; other texts than names of domains describe it.

    Args:
        task: The task.
        domain: Its domain.
        known: The names of all domains.
        load: Returns the domain of a name. A domain whose data is missing raises ConfigurationError.

    Raises:
        TaskFormatError: It does; names file, task and field.
    """
    named = getattr(task.user_scenario.instructions, "domain", None)
    if named in (None, domain.name, domain.spec.data_name) or named not in known:
        return
    with suppress(ConfigurationError):  # the run's data may lack the other domain
        if load(named).tasks_folder == domain.tasks_folder:
            return  # a variant of the other domain, with its tasks
    file = domain.file_of(task)
    instead = "" if file else f", or add --domain {named}"  # the command line says on which domain a file is checked
    problem = f"names the domain {named!r}, but the task is one of domain {domain.name!r}: correct it{instead}"
    raise TaskFormatError(problem, file=file, task_id=task.id, field=_NAMED)


def on_other_domain(error: TaskFormatError, task: Task, domain: Domain, option: str) -> TaskFormatError:
    """Return the error that a task is used on another domain than it names, if that may be why it does not fit.

    Args:
        error: What does not fit.
        task: The task.
        domain: The domain on which it is used.
        option: The option that selects the domain.
    """
    named = getattr(task.user_scenario.instructions, "domain", None)
    if error.field == _NAMED or named in (None, domain.name, domain.spec.data_name):
        return error
    if not re.fullmatch(r"[\w-]+", named):  # a text that describes the task
        return error
    problem = (
        f"names the domain {named!r}, but the task is used on {domain.name!r}: add {option} {named} "
        f"(on {domain.name!r}: {error.field}: {error.problem})"
    )
    return TaskFormatError(problem, file=error.file, task_id=error.task_id, field=_NAMED)


def _check_scenario(task: Task, spec: DomainSpec, fail: Callable[[str, str], None]) -> None:
    """Check the names of the user's tools, those in initialization data that were ignored, and the script's goals."""
    tools = _toolkit(spec, "user").tools()
    for position, name in enumerate(task.user_tools or []):
        if name not in tools:
            fail(f"{unknown_name('tool', name, tools)} of the user", f"user_tools.{position}")
    _check_goals(task, spec, fail)
    sides = ("agent_data", "user_data")
    for name in misplaced_tables(task):
        if name not in spec.agent_db.model_fields and (spec.user_db is None or name not in spec.user_db.model_fields):
            fail(unknown_name("field", name, sides), f"initial_state.initialization_data.{name}")


def _check_goals(task: Task, spec: DomainSpec, fail: Callable[[str, str], None]) -> None:
    """Check that the goals of the script are calls which the user can make."""
    toolkit, script = _toolkit(spec, "user"), task.user_scenario.script
    tools = toolkit.tools() | toolkit.hidden_tools()
    if task.user_tools is not None:
        tools = {name: tool for name, tool in tools.items() if name in task.user_tools}
    for position, goal in enumerate(script.goals if script else ()):
        field = f"user_scenario.script.goals.{position}"
        if goal.tool not in tools:
            fail(f"{unknown_name('tool', goal.tool, tools)} of the user", f"{field}.tool")
        for problem in argument_problems(goal.tool, goal.arguments, toolkit):
            fail(f"{goal.tool}: {problem}", f"{field}.arguments")


def misplaced_tables(task: Task) -> tuple[str, ...]:
    """Return the names of tables next to a side's initialization data, where they have no effect."""
    data = task.initial_state.initialization_data if task.initial_state else None
    return data.ignored if data else ()


def check_history(task: Task, domain: Domain, file: Path | None = None, *, solo: bool = False) -> None:
    """Refuse a task with a call in its message history that cannot be made, although its stored result is not an error.

    The replay would skip it, and the state would contradict the conversation.

    Args:
        task: The task.
        domain: Its domain.
        file: The file of the task.
        solo: The agent works alone, with both sides' tools.

    Raises:
        TaskFormatError: An unknown tool, one of the other side, or arguments that do not match; names file, task and
            field.
    """
    for stored in stored_calls(task.message_history):
        if stored.result is not None and (is_error(stored.result) or stored.result.fault is not None):
            continue
        field = f"initial_state.message_history.{stored.message_idx}.tool_calls.{stored.position}"
        for part, problem in _history_problems(stored, domain, solo=solo):
            raise TaskFormatError(problem, file=file, task_id=task.id, field=f"{field}.{part}")


def _history_problems(stored: StoredCall, domain: Domain, *, solo: bool) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a call, by the field that has to be corrected."""
    call, spec = stored.call, domain.spec
    sides: list[Requestor] = [call.requestor]
    if solo and call.requestor == "assistant":
        sides.insert(0, "user")  # source: τ²-bench v1.0.1: these come first
    toolkit = next((kit for side in sides if call.name in (kit := _toolkit(spec, side)).tool_infos), None)
    if toolkit is None:
        # A tool that searches the documents; which there is depends on the settings.
        if call.requestor == "user" or domain.knowledge is None or call.name not in domain.knowledge.tool_names:
            yield "name", unknown_tool(call, spec)
        return
    if call.malformed is not None:
        yield "arguments", f"{call.name}: expected a JSON object, got {call.malformed[:80]}"
    for problem in argument_problems(call.name, call.arguments, toolkit):
        yield "arguments", f"{call.name}: {problem}"


def check_comparable(task: Task, spec: DomainSpec, file: Path | None = None) -> None:
    """Refuse a task whose reward depends on a state that the domain cannot show.

    Raises:
        TaskFormatError: It does; names what to add.
    """
    criteria = task.criteria
    gated = criteria.actions is not None or criteria.env_assertions is not None
    if spec.agent_db.comparable:
        return
    if criteria.outcomes:
        problem = f"domain {spec.name!r} does not give the final state, by which it is known which outcome was reached"
        raise TaskFormatError(problem, file=file, task_id=task.id, field="evaluation_criteria.outcomes")
    if "DB" not in criteria.reward_basis or not gated:
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
    function = toolkit.function(call.func_name)
    if function is None:
        public = [name for name in dir(toolkit) if toolkit.function(name) is not None]
        fail(f"{unknown_name('function', call.func_name, public)} on the {call.env_type}'s side", f"{field}.func_name")
        return
    problems = misfits(call.arguments, _arguments(toolkit, call.func_name), stored=not converts(function))
    for problem in problems or impossible_values(function, call.arguments):
        fail(f"{call.func_name}: {problem}", f"{field}.arguments")


def _arguments(toolkit: type[Toolkit[Any]], name: str) -> dict[str, Any]:
    """Return the schema of the arguments of a tool, or of another function of a toolkit."""
    function: Any = toolkit.function(name)
    declared = toolkit.tool_named(name)
    return declared.parameters if declared else getattr(function, "tau_parameters", None) or arguments_of(function)
