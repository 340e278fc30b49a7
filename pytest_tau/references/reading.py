"""Facts that an agent can find out by reading, starting from what it knows."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import DocumentError, parse_json
from ..environment import Table
from ..environment.jsonable import jsonable
from ..environment.results import result_text
from ..errors import DomainError
from ..language.tokens import phrases_in
from ..models import writable
from .sides import tools_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..environment import Domain, Environment, Tool
    from ..models import Requestor, Task
    from .known import Known

_ROUNDS, _MOST_IDS, _MOST_SEARCHES = 3, 300, 600


class _ReadingTool(NamedTuple):
    side: Requestor
    tool: Tool
    parameters: tuple[str, ...]

    @property
    def takes_text(self) -> bool:
        """Return whether the first parameter is any text."""
        schema = self.tool.parameters.get("properties", {}).get(self.parameters[0], {})
        return schema.get("type") == "string" and "enum" not in schema


class Reader:
    """A domain's reading tools; what they give of its untouched state is read once."""

    def __init__(self, domain: Domain) -> None:
        self._pristine = domain.environment()
        self._given: dict[tuple[str, str, str], str | None] = {}
        sides: tuple[Requestor, ...] = ("assistant", "user")
        self.tools = [
            _ReadingTool(side, tool, tuple(tool.parameters.get("required", ())))
            for side in sides
            for tool in tools_of(domain, side).values()
            if tool.kind == "read" and not tool.mutates
        ]
        self._identifying = list(self._identified_by(self._pristine, lambda table: table.scan()))

    def identifying(self, environment: Environment | None) -> list[tuple[_ReadingTool, dict[str, str]]]:
        """Return calls that find a record by fields of its own, such as a name and a zip code, or a full name.

        One field counts if it is not a possible id, which are all tried anyway.

        Args:
            environment: Whose records, those that differ from the domain's untouched ones; None for those.
        """
        if environment is None:
            return self._identifying
        return list(self._identified_by(environment, _touched))

    def _identified_by(
        self, environment: Environment, records: Callable[[Table[Any]], Iterable[Any]]
    ) -> Iterator[tuple[_ReadingTool, dict[str, str]]]:
        several = [reader for reader in self.tools if len(reader.parameters) > 1]
        single = [reader for reader in self.tools if len(reader.parameters) == 1]
        databases = [database for _, database, _ in environment.databases_with(environment)]
        tables = [value for database in databases for _, value in database if isinstance(value, Table)]
        for record in (record for table in tables if several or single for record in records(table)):
            fields = dict(_texts(jsonable(record), lists=False))
            for reader in several:
                if all(name in fields for name in reader.parameters):
                    yield reader, {name: fields[name] for name in reader.parameters}
            for reader in single if " " in fields.get("name", "") else ():
                if reader.parameters[0].endswith("name"):
                    yield reader, {reader.parameters[0]: fields["name"]}

    def read(self, environment: Environment | None, reader: _ReadingTool, arguments: dict[str, Any]) -> str | None:
        """Return the result of a call; None if it fails.

        Args:
            environment: The state to read; None for the domain's untouched one.
            reader: The tool.
            arguments: Its arguments.
        """
        key = (reader.side, reader.tool.name, repr(arguments))
        if environment is None and key in self._given:
            return self._given[key]
        content = _result_of(environment or self._pristine, reader, arguments)
        if environment is None:
            self._given[key] = content
        return content


class Reading:
    """Facts that can be read for one task, read at first need.

    That is what the untouched state gives, whose readings all tasks share, and what the task's own state gives.
    """

    def __init__(
        self, reader: Reader, task: Task, environment: Environment, known: Known, said: Iterable[str] = ()
    ) -> None:
        self._reader, self._known = reader, known
        phrases = list(dict.fromkeys(phrase for text in said for phrase in phrases_in(text)))
        by_name: dict[str, dict[str, None]] = {}
        for action in task.criteria.actions or []:
            _note(by_name, _texts(action.arguments))
        states = [None] if task.initial_state is None else [None, environment]
        self._states = [_State(reader, state, known, by_name, phrases) for state in states]

    def gives(self, value: str) -> bool:
        """Return whether some reading gives the value; what was read is known from then on."""
        for read in (_State.look_up, _State.search, _State.ask):
            for state in self._states:
                read(state, value)
                if self._known.has(value):
                    return True
        return False

    def read_all(self, final: Environment) -> None:
        """Read all that can be read, also in the state after the reference actions; it is known from then on."""
        for state in self._states:
            state.look_up(None)
            state.search(None)
        _State(self._reader, final, self._known, {}, []).look_up(None)


class _State:
    """Facts that can be read in one state; each reading is done once."""

    def __init__(
        self,
        reader: Reader,
        environment: Environment | None,
        known: Known,
        by_name: dict[str, dict[str, None]],
        phrases: list[str],
    ) -> None:
        self._reader, self._environment, self._known, self._by_name = reader, environment, known, by_name
        self._phrases = phrases
        self._tried: set[str] = set()
        self._seen: set[str] = set()
        self._begun = self._searched = False

    def look_up(self, value: str | None) -> None:
        """Until it is known, call what needs nothing, what finds records by known facts, and what takes an id."""
        if not self._begun:
            self._begun = True
            self._find_records()
        self._follow_ids(value)

    def search(self, value: str | None) -> None:
        """Call tools of several parameters with what is known under the parameters' names."""
        if self._searched:
            return
        self._searched = True
        for reader in self._reader.tools:
            values = [self._values(name) for name in reader.parameters]
            if len(values) > 1 and all(values):
                for combination in itertools.islice(itertools.product(*values), _MOST_SEARCHES):
                    self._read(reader, dict(zip(reader.parameters, combination, strict=True)))
        self._follow_ids(value)

    def ask(self, value: str) -> None:
        """Call tools that take one text with the words of the user, until the value is known."""
        asked, self._phrases = self._phrases, []
        for reader in self._reader.tools if asked else ():
            if len(reader.parameters) == 1 and reader.takes_text:
                for phrase in asked[:_MOST_SEARCHES]:
                    self._read(reader, {reader.parameters[0]: phrase})
        self._follow_ids(value)

    def _find_records(self) -> None:
        for reader in self._reader.tools:
            if not reader.parameters:
                self._read(reader, {})
        for reader, arguments in self._reader.identifying(self._environment):
            if all(self._known.has(value) for value in arguments.values()):
                self._read(reader, arguments)

    def _follow_ids(self, value: str | None) -> None:
        """Look up every id that is known, and every id that this gives, and so on for a few rounds."""
        if self._has(value):
            return
        single = [reader for reader in self._reader.tools if len(reader.parameters) == 1]
        for _ in range(_ROUNDS):
            fresh = [one for one in self._known.ids if one not in self._tried][:_MOST_IDS]
            if not fresh:
                return
            for one in fresh:
                self._tried.add(one)
                for reader in single:
                    self._read(reader, {reader.parameters[0]: one})
                if self._has(value):
                    return

    def _has(self, value: str | None) -> bool:
        return value is not None and self._known.has(value)

    def _values(self, name: str) -> list[str]:
        values = list(self._by_name.get(name, ()))
        if values and all(len(value) == 3 and value.isupper() for value in values):
            # Codes that the texts name stand for the same kind of thing.
            return [*values, *(code for code in self._known.codes if code not in values)][:14]
        return [value for value in values if self._known.has(value)][:3]

    def _read(self, reader: _ReadingTool, arguments: dict[str, Any]) -> None:
        content = self._reader.read(self._environment, reader, arguments)
        if content is not None and content not in self._seen:
            self._seen.add(content)
            self._known.add(content)
            _note(self._by_name, _texts_in(content))


def _result_of(environment: Environment, reader: _ReadingTool, arguments: dict[str, Any]) -> str | None:
    """Return the result of a call; None if it fails, without the text of the error, whose masking takes time.

    Raises:
        DomainError: The domain cannot be used.
    """
    try:
        return writable(result_text(environment.perform(reader.tool.name, arguments, reader.side)))
    except DomainError:
        raise
    except Exception:  # noqa: BLE001 - the tool boundary: a tool's exceptions are results
        return None


def _touched(table: Table[Any]) -> Iterator[Any]:
    return (record for key in sorted(table.touched) if (record := table.peek(key)) is not None)


@functools.lru_cache(maxsize=2048)
def _texts_in(content: str) -> tuple[tuple[str, str], ...]:
    """Return every text inside a result, by the name of its field; most results are seen again for the next task."""
    try:
        return tuple(dict.fromkeys(_texts(parse_json(content))))
    except DocumentError:  # not every result is JSON
        return ()


def _note(by_name: dict[str, dict[str, None]], texts: Iterable[tuple[str, str]]) -> None:
    for name, text in texts:
        by_name.setdefault(name, {})[text] = None


def _texts(value: Any, *, lists: bool = True) -> list[tuple[str, str]]:
    """Return every text inside a value, by the name of its field, in order."""
    found: list[tuple[str, str]] = []
    _collect(value, "", found, lists=lists)
    return found


def _collect(value: Any, name: str, found: list[tuple[str, str]], *, lists: bool) -> None:
    # Not a generator: a search gives thousands of texts, several levels down.
    if isinstance(value, str):
        found.append((name, value))
    elif isinstance(value, dict):
        for key, part in value.items():
            _collect(part, key, found, lists=lists)
    elif isinstance(value, list) and lists:
        for part in value:
            _collect(part, name, found, lists=lists)
