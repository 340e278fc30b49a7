"""Files of traces, span by span: a document, an array or JSON lines, gzipped or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ....documents import DocumentError, parse_json
from ....runs import JsonText
from .logs import is_dialogue
from .spans import is_log, is_span

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Members whose value contains spans, or objects that do.
_INSIDE: Final = frozenset(
    {
        *("resourceSpans", "resource_spans", "batches", "scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
        *("resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "data", "trace", "traces", "result", "rows"),
        *("spans", "logRecords", "log_records", "observations", "runs", "instrumentation_library_spans"),
        "child_runs",
    }
)
#: Those of them whose objects are spans.
_WHOLE: Final = frozenset({"spans", "logRecords", "log_records", "observations", "runs", "child_runs"})
#: Levels of arrays and objects around a span.
_DEEPEST: Final = 12
#: Parts of a file that are named if they cannot be read; further ones are counted.
_MOST_PROBLEMS: Final = 1000


class Found(NamedTuple):
    """An object of a file that is a span, a log record or a whole log, or a part that cannot be read.

    Attributes:
        line: Its line.
        value: The object.
        around: The members of the objects around it.
        problem: Why there is no object.
    """

    line: int
    value: dict[str, Any]
    around: dict[str, Any]
    problem: str = ""

    @property
    def is_log(self) -> bool:
        """Return whether it is a log record."""
        return is_log(self.value)


def read_spans(path: Path) -> Iterator[Found]:
    """Yield the spans and log records of a file, and what cannot be read of it.

    Raises:
        OSError: The file cannot be read.
    """
    problems = line = 0
    for found in _parts(path):
        problems += bool(found.problem)
        if not found.problem or problems <= _MOST_PROBLEMS:
            yield found
        else:
            line = found.line
    if line:
        yield Found(line, {}, {}, f"{problems - _MOST_PROBLEMS:,} more parts up to here cannot be read")


def _parts(path: Path) -> Iterator[Found]:
    text = JsonText(path)
    first = text.peek()
    if first not in ("{", "["):
        problem = f"not JSON: it begins with {first!r}" if first else text.why_empty
        yield Found(text.line_number, {}, {}, problem)
    elif first == "{" and (".jsonl" in path.suffixes[-2:] or text.begins_with_entry()):
        yield from _lines(text)
    else:
        yield from _documents(text)


def _documents(text: JsonText) -> Iterator[Found]:
    while text.peek():
        number = text.line_number
        value, problem = text.value()
        yield from [Found(number, {}, {}, problem)] if problem else _inside(value, {}, number, 0)


def _lines(text: JsonText) -> Iterator[Found]:
    while text.peek():
        number = text.line_number
        try:
            value = parse_json(text.line() or "", strict=False, is_line=True)
        except DocumentError as error:
            problem = str(error) if text.peek() else f"the file ends in the middle of a line: {error}"
            yield Found(number, {}, {}, f"{problem}{text.why}")
        else:
            yield from _inside(value, {}, number, 0)


def _inside(value: Any, around: dict[str, Any], line: int, depth: int) -> Iterator[Found]:
    if isinstance(value, list):
        for element in value:
            yield from _inside(element, around, line, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        if is_dialogue(value):
            yield Found(line, value, around)
            return
        is_record = is_span(value) or is_log(value)
        members = [name for name in value if name in _INSIDE and isinstance(value[name], dict | list)]
        # What is called data in a span is its own.
        members = [name for name in members if name in _WHOLE] if is_record else members
        if is_record and members in ([], ["child_runs"]):
            yield Found(line, value, around)
        if members:
            around = {**around, **{name: member for name, member in value.items() if name not in _INSIDE}}
            for name in members:
                yield from _inside(value[name], around, line, depth + 1)
