"""Facts about which the parts of a task, its documents and its database disagree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..environment import Table
from ..environment.jsonable import jsonable
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

#: Values that are distinguished by their form: a date, a phone number, an email address.
_FORMS = (
    r"\d{1,2}/\d{1,2}/\d{4}",
    r"\d{4}-\d\d-\d\d",
    r"\(?\d{3}\)?[- .]\d{3}[- .]\d{4}",
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
)
#: What may stand between the name of a fact and its value.
_BETWEEN = r"[*_\"']{0,3}(?:\s?[:=]|\s+(?:is|was))[*_\"']{0,3}\s*"
_LOOK = re.compile(r"\b(?:look (?:up|at|in|into)|check|find|search)\b", re.IGNORECASE)
_TABLE = re.compile(r"`?\b([a-z]+(?:_[a-z]+)+)\b`? (?:database|table)\b")


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
            form = next((form for form in _FORMS if re.fullmatch(form, leaf.value)), None)
            if form is None or (name, leaf.value) in seen or known.has_exactly(leaf.value):
                continue
            seen.add((name, leaf.value))
            for stated in re.findall(rf"\b(?:{_labels(name)}){_BETWEEN}({form})", scenario, re.IGNORECASE)[:1]:
                yield Disagreement(position, action.name, leaf.path, leaf.value, stated)


def _labels(name: str) -> str:
    """Return what people call a field: ``date_of_birth`` is the date of birth, or the DOB."""
    words = name.lower().split("_")
    labels = {" ".join(words), name.lower()}
    if len(words) > 1:
        labels.add("".join(word[0] for word in words))
    if words[-1] in ("number", "address"):
        labels.add(" ".join(words[:-1]) or words[-1])
    return "|".join(map(re.escape, labels))


def unread_tables(task: Task, domain: Domain) -> Iterator[UnreadTable]:
    """Yield the tables that a required document names for looking up, and whose records no tool shows.

    The document is part of a procedure that the reference goes through: it names a tool that a reference action calls.
    The reference actions are carried out, and each tool that reads is called with all values of a record that is then
    in the table. Without a record there, nothing is known.
    """
    called = {*strings_in([[action.name, action.arguments] for action in task.criteria.actions or []])}
    named = {
        tables[0]: (document.title, sentence.strip())
        for document in required_documents(task, domain)
        for sentence in sentences_of(document.content)
        if len(tables := _TABLE.findall(sentence)) == 1 and _LOOK.search(sentence)
        if any(word in called for word in re.findall(r"\w+", document.content) if "_" in word)
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
