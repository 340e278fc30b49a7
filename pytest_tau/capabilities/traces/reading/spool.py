"""The spans of files on disk, sorted into conversations: memory holds one trace, or one conversation, at a time.

Calls of models are linked by hashes: a request that begins with an earlier request and its answer continues it. Keys of
conversations (``conventions.KEYS``), shared traces, and links join calls into groups.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ....files import digest
from ....plain import json
from .conventions import KEYS, Step, role_of
from .messages import Call, Said
from .spans import UNSURE, Span
from .steps import steps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_TABLES: Final = """
CREATE TABLE spans (trace TEXT, id TEXT, size INTEGER, start INTEGER, data TEXT, PRIMARY KEY (trace, id));
CREATE TABLE logs (trace TEXT, id TEXT, time INTEGER, digest TEXT, data TEXT, PRIMARY KEY (trace, id, time, digest));
CREATE TABLE steps (
    number INTEGER PRIMARY KEY, trace TEXT, role TEXT, start INTEGER, end INTEGER, key TEXT, asked BLOB, ends BLOB,
    chain INTEGER, conversation INTEGER, data TEXT
);
"""
_ADD_STEP: Final = "INSERT INTO steps (trace, role, start, end, key, asked, ends, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
#: Bytes of a hash.
_WIDTH: Final = 16


class Group(NamedTuple):
    """The steps that may be one conversation.

    Attributes:
        key: What identifies the conversation; empty if nothing does.
        chains: Calls of models that continue each other, oldest first.
        tools: Executions of tools, oldest first.
    """

    key: str
    chains: list[list[Step]]
    tools: list[Step]


class Spool:
    """Spans and log records in a database that is deleted with its folder."""

    def __init__(self, folder: Path) -> None:
        import sqlite3

        file = folder / "spans.sqlite"
        self._database = sqlite3.connect(file, isolation_level=None)
        self._database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES} BEGIN;")
        if os.name != "nt":
            file.unlink()  # a killed process leaves nothing of the spans
        self._union = _Union()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def add(self, span: Span, *, log: bool) -> None:
        """Add a span, or a log record of one; of a span that is repeated, the one with more attributes counts."""
        if log:
            data = _text([*span.events, [span.scope, span.file]])
            row = (span.trace, span.id, span.start, digest(data), data)
            self._database.execute("INSERT OR IGNORE INTO logs VALUES (?, ?, ?, ?, ?)", row)
            return
        size = len(span.attributes)
        if not role_of(span.attributes, span.name, span.events):
            # Spans of anything else are kept for the parents that they name.
            attributes = {
                key: value for key, value in span.attributes.items() if key in KEYS or key.startswith("pytest_tau.")
            }
            names = (span.trace, span.id, span.parent, span.name)
            span = Span(*names, span.start, span.end, attributes=attributes, file=span.file)
        self._database.execute(
            "INSERT INTO spans VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET size = excluded.size, "
            "start = excluded.start, data = excluded.data WHERE excluded.size > size",
            (span.trace, span.id, size, span.start, _text(span)),
        )

    def sort(self) -> None:
        """Sort all spans into conversations."""
        for trace, spans in self._traces():
            for step in steps_of(spans):
                marks = list(prefixes(step.asked))
                ends = b"".join(_ends(step, marks[-1] if marks else b""))
                row = (trace, step.role, step.start, step.end, step.key, b"".join(marks), ends, _text(step))
                self._database.execute(_ADD_STEP, row)
        self._link()

    def groups(self) -> Iterator[Group]:
        """Yield what may be one conversation each, in the order of their starts."""
        order = "SELECT conversation FROM steps GROUP BY conversation ORDER BY min(start), conversation"
        for (number,) in self._database.execute(order).fetchall():
            rows = (
                "SELECT role, chain, key, data FROM steps WHERE conversation = ? ORDER BY start, length(asked), number"
            )
            chains: dict[int | None, list[Step]] = defaultdict(list)
            tools, keys = list[Step](), dict[str, None]()
            for role, chain, key, data in self._database.execute(rows, (number,)):
                keys.setdefault(key)
                step = step_from(json.loads(data))
                (tools if role == "tool" else chains[chain]).append(step)
            yield Group(next(filter(None, keys), ""), list(chains.values()), tools)

    def _traces(self) -> Iterator[tuple[str, list[Span]]]:
        names = "SELECT trace FROM spans UNION SELECT trace FROM logs ORDER BY trace"
        for (trace,) in self._database.execute(names).fetchall():
            of_trace = "SELECT data FROM spans WHERE trace = ? ORDER BY start, id"
            rows = self._database.execute(of_trace, (trace,))
            spans = {span.id: span for (data,) in rows for span in [_span_from(json.loads(data))]}
            records = "SELECT id, time, data FROM logs WHERE trace = ? ORDER BY time, rowid"
            for name, time, data in self._database.execute(records, (trace,)):
                *events, (scope, file) = json.loads(data)
                span = spans.setdefault(name, Span(trace, name, start=time, end=time, scope=scope, file=file))
                span.events += [(event, content) for event, content in events]
                span.scope = span.scope or scope
            yield trace, list(spans.values())

    def _link(self) -> None:
        """Store the numbers of the chain and of the conversation of each step."""
        linker = _Linker(self._union)
        rows = (
            "SELECT number, trace, start, end, key, asked, ends FROM steps WHERE role = 'model' "
            "ORDER BY start, length(asked), number"
        )
        chains = dict[int, int]()
        for number, trace, start, end, key, marks, ends in self._database.execute(rows):
            chains[number] = chain = linker.chain(_Call(start, end or start, key, _split(marks), _split(ends)))
            self._union.join(("chain", chain), ("key", key) if key else ("trace", trace))
        numbers = dict[Any, int]()
        for number, trace, key in self._database.execute("SELECT number, trace, key FROM steps").fetchall():
            root = self._union.root(("key", key) if key else ("trace", trace))
            values = (chains.get(number), numbers.setdefault(root, len(numbers)), number)
            self._database.execute("UPDATE steps SET chain = ?, conversation = ? WHERE number = ?", values)
        self._database.execute("CREATE INDEX steps_of ON steps (conversation)")


def prefixes(messages: Iterable[Said], before: bytes = b"") -> Iterator[bytes]:
    """Yield a hash of each beginning of messages, without those of the system.

    Ids of calls do not count, nor a text with calls: some conventions lose it in the history.
    """
    for message in messages:
        if message.role == "system":
            continue
        if message.calls:
            mark: list[Any] = [message.role, [[call.name, call.arguments, call.malformed] for call in message.calls]]
        else:
            mark = [message.role, " ".join((message.text or "").split())]
        text = json.dumps(mark, sort_keys=True, default=str)
        before = hashlib.blake2b(before + text.encode("utf-8", "backslashreplace"), digest_size=_WIDTH).digest()
        yield before


def _ends(step: Step, request_mark: bytes) -> Iterator[bytes]:
    """Yield the hashes that a request has at the end of the history that it repeats from a call of a model.

    The last answer may not be known as a whole. Nothing repeats a call that has failed.
    """
    if step.error is not None and not step.answers:
        return
    if not step.answers or any(message.missing for message in step.answers[0]):
        yield request_mark
    for answer in step.answers:
        yield from list(prefixes(answer, request_mark))[-1:]


class _Call(NamedTuple):
    """A call of a model, with the hashes of each beginning of its request, and of what may follow it."""

    start: int
    end: int
    key: str
    asked: list[bytes]
    ends: list[bytes]


class _End(NamedTuple):
    """A call of a model that another one may continue."""

    end: int
    chain: int
    number: int


class _Linker:
    """Finds for each call of a model the one that it continues, in the order of their starts."""

    def __init__(self, union: _Union) -> None:
        self._union, self._chains, self._calls = union, 0, 0
        self._ends: dict[tuple[str, bytes], list[_End]] = defaultdict(list)
        self._taken: dict[tuple[str, bytes], _End] = {}
        self._failed: dict[tuple[str, bytes], int] = {}
        self._followed: set[int] = set()

    def chain(self, call: _Call) -> int:
        """Return the number of the chain that a call belongs to."""
        self._calls += 1
        previous, failed = self._before(call), not call.ends
        first = (call.key, call.asked[-1] if call.asked else b"")
        if previous is None:
            chain = self._new() if failed or first not in self._failed else self._failed.pop(first)
        elif previous.number in self._followed and not failed:
            chain = self._new()
            self._union.join(("chain", chain), ("chain", previous.chain))
        else:
            chain = previous.chain
        if failed and previous is None:
            self._failed[first] = chain
        elif not failed and previous is not None:
            self._followed.add(previous.number)
        for mark in set(call.ends):
            self._ends[call.key, mark].append(_End(call.end, chain, self._calls))
        return chain

    def _new(self) -> int:
        self._chains += 1
        return self._chains

    def _before(self, call: _Call) -> _End | None:
        """Return the longest beginning of a request that has ended before; of equal ones the latest, not followed."""
        for mark in reversed(call.asked):
            at = (call.key, mark)
            ends = self._ends.get(at, [])
            for place in range(len(ends) - 1, -1, -1):
                if ends[place].number in self._followed:
                    self._taken[at] = ends.pop(place)
                elif ends[place].end <= call.start + UNSURE:
                    return ends[place]
            if at in self._taken:
                return self._taken[at]
        return None


class _Union:
    """Sets of things that are joined."""

    def __init__(self) -> None:
        self._parents: dict[Any, Any] = {}

    def root(self, item: Any) -> Any:
        path = []
        while (parent := self._parents.get(item, item)) != item:
            path.append(item)
            item = parent
        for node in path:
            self._parents[node] = item
        return item

    def join(self, one: Any, other: Any) -> None:
        first, second = self.root(one), self.root(other)
        if first != second:
            self._parents[second] = first


def _split(hashes: bytes) -> list[bytes]:
    return [hashes[at : at + _WIDTH] for at in range(0, len(hashes), _WIDTH)]


def _text(value: Any) -> str:
    return json.dumps(value, default=_members)


def _members(value: Any) -> Any:
    return {name: getattr(value, name) for name in value.__slots__} if hasattr(value, "__slots__") else str(value)


def _span_from(data: dict[str, Any]) -> Span:
    return Span(**{**data, "events": [(name, content) for name, content in data["events"]]})


def _said_from(data: dict[str, Any]) -> Said:
    return Said(**{**data, "calls": [Call(**call) for call in data["calls"]]})


def step_from(data: dict[str, Any]) -> Step:
    """Return a step that was stored."""
    data["asked"] = [_said_from(message) for message in data["asked"]]
    data["answers"] = [[_said_from(message) for message in answer] for answer in data["answers"]]
    data["call"] = data["call"] and _said_from(data["call"])
    return Step(**data)
