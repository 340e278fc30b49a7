"""Reads of a task: results of tools that an agent is likely to see, found without an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...language import addresses_in, ids_in
from ...models import ToolCall, clone
from .fields import texts_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...environment import Domain, Environment, Retrieval, Tool
    from ...models import Task

#: The most calls that are tried for one task, in addition to its reference actions.
_MOST_CALLS = 60
#: Ends a conversation: its result is not a record.
_TRANSFER = "transfer_to_human_agents"
#: Characters of an id that is looked up.
_SHORTEST_ID = 2


class Mode(NamedTuple):
    """The settings on which an environment depends.

    Attributes:
        solo: The agent works alone.
        policy: The variant of the policy; None for the default.
        retrieval: How the agent accesses documents; None for the default.
    """

    solo: bool = False
    policy: str | None = None
    retrieval: Retrieval | None = None

    def environment(self, domain: Domain, task: Task) -> Environment:
        """Return an environment in the task's initial state."""
        return domain.environment(task, self.solo, self.policy, retrieval=self.retrieval)


class Read(NamedTuple):
    """A call of a tool that changes nothing, and its result.

    Attributes:
        tool: The name of the tool.
        arguments: The arguments.
        content: The result.
        expected: Whether it is one of the task's reference actions, or a document that the task requires.
    """

    tool: str
    arguments: Mapping[str, Any]
    content: str
    expected: bool


def reads_of(task: Task, domain: Domain, mode: Mode) -> list[Read]:
    """Return the reads of a task, computed once a process: of its reference actions, and of the records that they name.

    Args:
        task: The task.
        domain: Its domain.
        mode: The settings of its environment.
    """
    key = f"reads {mode.solo} {mode.policy} {mode.retrieval}"
    return domain.once_per_task(task, key, lambda task: _reads(task, domain, mode.environment(domain, task)))


def _reads(task: Task, domain: Domain, environment: Environment) -> list[Read]:
    try:
        reads = _reference_reads(task, environment.fork())
        reads += _document_reads(task, domain, environment)
        return reads + _named_reads(task, environment, reads)
    finally:
        environment.close()


def _reference_reads(task: Task, environment: Environment) -> list[Read]:
    reads = []
    for action in task.criteria.actions or []:
        if environment.waits_for(action.name):
            continue
        reading = _read(environment, action.name, clone(action.arguments), action.requestor, expected=True)
        if (
            reading is not None
            and action.requestor == "assistant"
            and not environment.mutates(action.name, "assistant")
        ):
            reads.append(reading)
    return reads


def _document_reads(task: Task, domain: Domain, environment: Environment) -> list[Read]:
    """Return searches for the documents that the task requires, each with the document as its result."""
    if environment.retrieval is None or domain.knowledge is None:
        return []
    reads = []
    for tool in environment.retrieval.tools().values():
        parameter = _only_parameter(tool)
        for name in task.required_documents or [] if parameter is not None else ():
            document = domain.knowledge.documents.find(name)
            if document is not None:
                reads.append(Read(tool.name, {str(parameter): name}, document.content, expected=True))
    return reads


def _named_reads(task: Task, environment: Environment, known: list[Read]) -> list[Read]:
    """Return reads of records that the task names, and of records that these name."""
    reads, seen, left = list[Read](), {(reading.tool, str(reading.arguments)) for reading in known}, _MOST_CALLS
    # Not searches for documents: any word finds some.
    searches = set(environment.retrieval.tools()) if environment.retrieval else set[str]()
    readers = [
        tool
        for tool in environment.shared_tools("assistant")
        if not tool.mutates and tool.name not in searches and not environment.waits_for(tool.name)
    ]
    for _ in range(2):
        for tool, arguments in _calls(task, readers, [*known, *reads]):
            key = (tool.name, str(arguments))
            if key in seen or left <= 0:
                continue
            seen.add(key)
            left -= 1
            new_read = _read(environment, tool.name, arguments, expected=False)
            reads += [new_read] if new_read else []
    return reads


def _calls(task: Task, readers: list[Tool], known: list[Read]) -> Iterator[tuple[Tool, dict[str, Any]]]:
    values_by_name = _argument_values(task)
    scenario = str(task.user_scenario)
    tokens = [*ids_in(scenario, _SHORTEST_ID), *addresses_in(scenario)]
    for reading in known:
        for field in texts_in(reading.content):
            values_by_name.setdefault(field.name, []).append(field.value)
    for tool in readers:
        required = _required(tool)
        if not required:
            yield tool, {}
        elif len(required) == 1:
            values = values_by_name.get(required[0]) or tokens
            yield from ((tool, {required[0]: value}) for value in dict.fromkeys(values))


def _argument_values(task: Task) -> dict[str, list[Any]]:
    """Return the texts among the arguments of the reference actions, by the name of the parameter."""
    values_by_name: dict[str, list[Any]] = {}
    for action in task.criteria.all_actions:
        for name, value in action.arguments.items():
            if isinstance(value, str):
                values_by_name.setdefault(name, []).append(value)
    return values_by_name


def _read(
    environment: Environment, tool: str, arguments: dict[str, Any], requestor: Any = "assistant", *, expected: bool
) -> Read | None:
    call = ToolCall(name=tool, arguments=arguments, requestor=requestor)
    result = environment.answer(call)
    if result.error or not result.content or tool == _TRANSFER:
        return None
    return Read(tool, arguments, result.content, expected)


def _required(tool: Tool) -> list[str]:
    required: Iterable[str] = tool.parameters.get("required") or ()
    return list(required)


def _only_parameter(tool: Tool) -> str | None:
    required = _required(tool)
    return required[0] if len(required) == 1 else None
