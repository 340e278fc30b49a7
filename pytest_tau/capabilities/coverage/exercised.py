"""What a task exercises: tools, parameters, closed choices, kinds of record, pairs of writes, documents.

By gold, this is what the reference actions call and touch; of a conversation, what its calls do.
"""

from __future__ import annotations

import functools
import weakref
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from ...documents import json_or_none
from ...environment import stored_calls
from ...models import strings_in
from ...references import carried_out, choices_in, choices_taken, documents_of, tools_of
from .record_kinds import is_shown, records_in, shown_ids, tables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...environment import Database, Domain, Environment, Tool
    from ...models import Message, Requestor, Task
    from .record_kinds import RecordTable

Kind: TypeAlias = Literal["tools", "parameters", "values", "records", "pairs", "documents"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_SIDES: tuple[Requestor, ...] = ("assistant", "user")


class Point(NamedTuple):
    """Something that a task can exercise.

    Attributes:
        kind: What it is.
        side: Whose it is.
        name: Its name: ``get_order``, ``get_order.order_id``, ``cancel_order.reason = mistake``, ``orders.status =
            pending``, ``cancel_order + refund_order``.
    """

    kind: Kind
    side: Requestor
    name: str

    @property
    def text(self) -> str:
        """The name, with the side if it is the user's."""
        return f"{self.name} (user)" if self.side == "user" else self.name


class Made(NamedTuple):
    """A call of a task's reference or of a conversation."""

    side: Requestor
    name: str
    arguments: Mapping[str, Any]


def points_of(domain: Domain) -> list[Point]:
    """Return everything of a domain that a task can exercise, in order of its declaration."""
    return list(_Points.of(domain).all)


def declared_points(domain: Domain) -> list[Point]:
    """Return the same without kinds of record, for which the databases would be read."""
    return list(_Points.of(domain).of_tools)


def named_by(task: Task, domain: Domain) -> frozenset[Point]:
    """Return what the reference actions of a task name; nothing is carried out, so that there are no records in it."""
    points = _Points.of(domain)
    found = {*_documents(task)}
    calls = [Made(each.requestor, each.name, each.arguments) for each in task.criteria.actions or ()]
    for call in points.with_inner(calls):
        found.update(points.of_call(call))
    return frozenset(found | {*points.pairs_of(calls)}) & points.known_of_tools


def exercised(task: Task, domain: Domain) -> frozenset[Point]:
    """Return what the reference actions of a task exercise when they are carried out; once a process.

    Raises:
        TauError: The initial state cannot be applied, or a tool server is lost.
    """

    def compute(task: Task) -> frozenset[Point]:
        found = exercised_in(carried_out(task, domain), task, domain)
        return found | ({*_documents(task)} & _Points.of(domain).known_of_tools)

    return domain.once_per_task(task, "exercised", compute)


def reference_calls(task: Task, domain: Domain) -> list[Made]:
    """Return the reference actions of a task whose tools exist."""
    calls = (Made(each.requestor, each.name, each.arguments) for each in task.criteria.actions or ())
    return [call for call in calls if call.name in _Points.of(domain).tools[call.side]]


def calls_in(messages: Sequence[Message], domain: Domain) -> list[Made]:
    """Return the calls of a conversation whose tools exist, each with the side that the tool is of."""
    points = _Points.of(domain)
    made = (
        Made(points.side_of(each.call.name, each.call.requestor), each.call.name, each.call.arguments)
        for each in stored_calls(messages)
    )
    return [call for call in made if call.name in points.tools[call.side]]


def exercised_in(messages: Sequence[Message], task: Task, domain: Domain) -> frozenset[Point]:
    """Return what the calls of a conversation exercise.

    Args:
        messages: The conversation, oldest first.
        task: Its task, for the state that it begins with.
        domain: Its domain.

    Raises:
        TauError: The initial state cannot be applied, or a tool server is lost.
    """
    points = _Points.of(domain)
    found: set[Point] = set()
    writes: list[Made] = []
    state = _State(domain, task, points) if points.tables else None
    for stored in stored_calls(messages):
        call, result = stored.call, stored.result
        failed = result is None or result.error
        made = Made(points.side_of(call.name, call.requestor), call.name, call.arguments)
        if made.name not in points.tools[made.side]:
            continue
        for each in points.with_inner([made]):
            found.update(points.of_call(each))
        if not failed and points.writes(made):
            writes.append(made)
        if state is not None:
            found.update(state.touched_by(made, call.requestor, None if failed or result is None else result.content))
    if state is not None:
        state.close()
    return frozenset(found | {*points.pairs_of(writes)}) & points.known


def _documents(task: Task) -> Iterator[Point]:
    return (Point("documents", "assistant", name) for name in task.required_documents or ())


#: What is known of a domain.
_KNOWN: weakref.WeakKeyDictionary[Domain, _Points] = weakref.WeakKeyDictionary()


class _Points:
    """All points of a domain, and those of a call."""

    def __init__(self, domain: Domain) -> None:
        self._domain = weakref.ref(domain)  # which would else be kept by what is known of it
        environment = domain.environment()
        self.tools: dict[Requestor, dict[str, Tool]] = {
            side: {**tools_of(domain, side), **{tool.name: tool for tool in environment.shared_tools(side)}}
            for side in _SIDES
        }
        environment.close()
        documents = (Point("documents", "assistant", each.id) for each in documents_of(domain))
        self.of_tools = (*self._of_tools(), *documents)
        self.known_of_tools = frozenset(self.of_tools)

    @classmethod
    def of(cls, domain: Domain) -> _Points:
        if domain not in _KNOWN:
            _KNOWN[domain] = cls(domain)
        return _KNOWN[domain]

    @functools.cached_property
    def tables(self) -> dict[Requestor, list[RecordTable]]:
        """The tables of both sides whose records are of several kinds; empty if states are expensive to copy."""
        domain = self._domain()
        if domain is None:
            return {}
        spec, environment = domain.spec, domain.environment()
        usable = spec.agent_db.cheap_to_fork and spec.agent_db.comparable
        sides = _databases(environment) if usable else {}
        found = {side: tables_of(database) for side, database in sides.items()}
        environment.close()
        return {side: tables for side, tables in found.items() if tables}

    @property
    def all(self) -> Iterator[Point]:
        """All points, in order."""
        yield from self.of_tools
        for side, tables in self.tables.items():
            yield from (Point("records", side, each.text) for table in tables for each in table.kinds())

    @functools.cached_property
    def known(self) -> frozenset[Point]:
        """The same as a set."""
        return frozenset(self.all)

    def _of_tools(self) -> Iterator[Point]:
        every = [(side, tool) for side in _SIDES for tool in self.tools[side].values()]
        yield from (Point("tools", side, tool.name) for side, tool in every)
        for side, tool in every:
            yield from (
                Point("parameters", side, f"{tool.name}.{name}") for name in tool.parameters.get("properties", ())
            )
        for side, tool in every:
            yield from (Point("values", side, f"{tool.name}.{each.text}") for each in choices_in(tool.parameters))
        writes = [tool.name for side, tool in every if side == "assistant" and tool.mutates]
        yield from (_pair(one, other) for one, other in combinations_with_replacement(writes, 2))

    def side_of(self, name: str, requestor: Requestor) -> Requestor:
        """Return whose tool a call is of: an agent that works alone has the user's as well."""
        return next((side for side in (requestor, *_SIDES) if name in self.tools[side]), requestor)

    def writes(self, call: Made) -> bool:
        """Return whether a call is a write of the agent."""
        tool = self.tools["assistant"].get(call.name)
        return call.side == "assistant" and tool is not None and tool.mutates

    def with_inner(self, calls: Iterable[Made]) -> Iterator[Made]:
        """Yield calls, and those of tools that they name with their arguments as text."""
        for call in calls:
            yield call
            inner = next((each for each in map(json_or_none, _texts(call)) if isinstance(each, dict)), None)
            for name in _texts(call) if inner is not None else ():
                if name in self.tools[call.side] and name != call.name:
                    yield Made(call.side, name, inner or {})

    def of_call(self, call: Made) -> Iterator[Point]:
        """Yield the points of a call: its tool, its parameters and the values of closed choices."""
        tool = self.tools[call.side].get(call.name)
        if tool is None or not isinstance(call.arguments, dict):
            return
        yield Point("tools", call.side, call.name)
        yield from (Point("parameters", call.side, f"{call.name}.{name}") for name in call.arguments)
        properties = tool.parameters.get("properties", {})
        defaults = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
        for each in choices_taken({**defaults, **call.arguments}, tool.parameters):
            yield Point("values", call.side, f"{call.name}.{each.text}")

    def pairs_of(self, calls: Iterable[Made]) -> Iterator[Point]:
        """Yield the pairs of the writes among calls, in the order of the tools' declaration."""
        order = list(self.tools["assistant"])
        writes = [call.name for call in self.with_inner(calls) if self.writes(call)]
        twice = {name for name in writes if writes.count(name) > 1}
        names = sorted({*writes}, key=order.index)
        for one, other in combinations_with_replacement(names, 2):
            if one != other or one in twice:
                yield _pair(one, other)


def _pair(one: str, other: str) -> Point:
    return Point("pairs", "assistant", f"{one} + {other}")


def _texts(call: Made) -> list[str]:
    return [value for value in call.arguments.values() if isinstance(value, str)]


def _databases(environment: Environment) -> dict[Requestor, Database]:
    """Return the databases of both sides; one that they share is the agent's."""
    user = None if environment.shared_db else environment.user_db
    return {"assistant": environment.agent_db, **({"user": user} if user is not None else {})}


class _State:
    """The state of a conversation, in which its writes are made again."""

    def __init__(self, domain: Domain, task: Task, points: _Points) -> None:
        self._environment = domain.environment(task, replay_history=False, apart=True)
        self._points, self._dumps = points, dict[str, Any]()

    def close(self) -> None:
        self._environment.close()

    def touched_by(self, call: Made, requestor: Requestor, content: str | None) -> Iterator[Point]:
        """Make a call again if it is a write, and yield the kinds of the records that it names or shows.

        Args:
            call: The call.
            requestor: Who has made it.
            content: The text of its result; None if it failed.
        """
        named = {text for each in self._points.with_inner([call]) for text in strings_in(dict(each.arguments))}
        yield from self._kinds(call, named, None)
        if content is None:
            return
        if self._environment.mutates(call.name, call.side):
            self._environment.call(call.name, dict(call.arguments), call.side)
            self._dumps.clear()
            yield from self._kinds(call, named, None)
        result = json_or_none(content)
        yield from self._kinds(call, {*shown_ids(result)} - named, result, keys=named)

    def _kinds(self, call: Made, ids: set[str], result: Any, keys: Iterable[str] = ()) -> Iterator[Point]:
        for side, database in _databases(self._environment).items():
            for table in self._points.tables.get(side, ()):
                if table.is_single and (side != call.side or result is not None):
                    continue
                records = records_in(database, table, ids, self._dump(side, database))
                shown = [each for each in records if result is None or is_shown(each, result)]
                for kind in table.touched(shown, {*keys} or ids):
                    yield Point("records", side, kind.text)

    def _dump(self, side: str, database: Database) -> Any:
        """Return the content of a database that is only known as a whole; None for any other."""
        if database.in_files:
            return None
        if side not in self._dumps:
            self._dumps[side] = database.dump()
        return self._dumps[side]
