"""Facts about which the parts of a task, its documents and its database disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..environment import Table
from ..environment.jsonable import jsonable
from ..language.documents import table_to_read
from ..language.forms import stated_like
from ..language.names import labels_of
from ..language.tokens import name_tokens
from ..models import strings_in
from ..policy.editions import sentences_of
from .documents import required_documents
from .known import Known
from .reading import Reader
from .sides import tools_of
from .values import leaves_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain, Environment
    from ..models import Task


class Disagreement(NamedTuple):
    """A fact of the reference of which the scenario says another value.

    Attributes:
        position: The action.
        name: Its tool.
        path: The argument.
        value: Its value.
        stated: The value in the scenario.
    """

    position: int
    name: str
    path: str
    value: str
    stated: str


class UnreadTable(NamedTuple):
    """A table that a required document has the agent look into, and that no tool reads.

    Attributes:
        table: Its name.
        document: The document.
        sentence: Its sentence.
        record: The key of a record that is there after the reference actions.
    """

    table: str
    document: str
    sentence: str
    record: str


def disagreements(task: Task, domain: Domain) -> Iterator[Disagreement]:
    """Yield the dates, phone numbers and addresses of reference writes for which the scenario names other ones."""
    texts = strings_in([scenario.model_dump(mode="json") for scenario in task.scenarios])
    scenario = "\n".join([*texts, task.ticket or ""])
    known = Known([scenario])
    seen: set[tuple[str, str]] = set()
    for position, action in enumerate(task.criteria.actions or []):
        tool = tools_of(domain, action.requestor).get(action.name)
        for leaf in leaves_of(action.arguments, {}) if tool is not None and tool.mutates else ():
            name = leaf.path.rsplit(".", 1)[-1]
            if (name, leaf.value) in seen or known.has_exactly(leaf.value):
                continue
            seen.add((name, leaf.value))
            stated = stated_like(leaf.value, labels_of(name), scenario)
            if stated is not None:
                yield Disagreement(position, action.name, leaf.path, leaf.value, stated)


def unread_tables(task: Task, domain: Domain) -> Iterator[UnreadTable]:
    """Yield the tables that a required document names for looking up, and whose records no tool shows.

    The document is part of a procedure that the reference goes through: it names a tool that a reference action calls.
    The reference actions are carried out, and each tool that reads is called with all values of a record that is then
    in the table. Without a record there, nothing is known.
    """
    called = {*strings_in([[action.name, action.arguments] for action in task.criteria.actions or []])}
    named = {
        table: (document.title, sentence.strip())
        for document in required_documents(task, domain)
        for sentence in sentences_of(document.content)
        if (table := table_to_read(sentence)) and not called.isdisjoint(name_tokens(document.content))
    }
    if not named:
        return
    environment = domain.environment(task)
    for action in task.criteria.actions or []:
        environment.call(action.name, action.arguments, action.requestor)
    for table, (title, line) in named.items():
        record = _first_record(environment, table)
        if record is not None and not _is_shown(record, environment, Reader(domain)):
            yield UnreadTable(table, title, line, record[0])


def _first_record(environment: Environment, table: str) -> tuple[str, Any] | None:
    for _, database, _ in environment.databases_with(environment):
        for name, value in database:
            if name == table and isinstance(value, Table):
                return next(iter(value.items()), None)
    return None


def _is_shown(record: tuple[str, Any], environment: Environment, reader: Reader) -> bool:
    key, value = record
    # A refusal repeats what it was asked for.
    values = [each for each in dict.fromkeys(strings_in(jsonable(value))) if each != key]
    calls: list[tuple[Any, dict[str, str]]] = [(tool, {}) for tool in reader.tools if not tool.parameters]
    calls += [
        (tool, {tool.parameters[0]: each}) for tool in reader.tools if len(tool.parameters) == 1 for each in values
    ]
    return any(key in (reader.read(environment, tool, arguments) or "") for tool, arguments in calls)
