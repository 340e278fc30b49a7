"""The file of a cassette: a stream of JSON values, each of which begins a line, laid out for reviewers.

A header, the calls in the order of their starts, a trailer. ``docs/cassettes.md`` shows one.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, ValidationError

from ...errors import ReplayError
from ...files import atomic_write
from ...models import TerminationReason  # noqa: TC001 - pydantic reads it
from ...models.problems import first_problem
from .codec import Call, CallValue, Codec, canonical
from .json_stream import UnreadableError, dump, objects_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

#: The format's version.
VERSION = 1


@dataclass(frozen=True)
class Identity:
    """The trial that a cassette belongs to.

    Attributes:
        domain: The domain's name.
        task: The task's id.
        trial: The number of the trial.
        seed: The trial's seed.
        hashes: Short digests of the inputs of requests, by name: ``policy``, ``agent tools`` … The error of a request
            that differs from the recorded one names those that have changed.
    """

    domain: str
    task: str
    trial: int
    seed: int | None
    hashes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cassette:
    """A recording.

    Attributes:
        calls: In the order of their starts, numbered from 1.
        reason: How the trial ended.
        error: What went wrong, if anything did.
        timed_out: The wall clock ended it.
        times: The trial's timestamps, ISO 8601.
    """

    identity: Identity
    calls: Sequence[Call]
    reason: TerminationReason
    error: str | None
    times: Sequence[str]
    timed_out: bool = False


class _HeaderValue(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cassette: Literal[1]
    domain: str
    task: str
    trial: int
    seed: int | None
    hashes: dict[str, str]


class _TrailerValue(BaseModel):
    model_config = ConfigDict(extra="forbid")

    ended: TerminationReason
    error: InstanceOf[str] | None
    timed_out: bool = Field(alias="by_clock")
    calls: int
    started: InstanceOf[str]
    times: list[int | InstanceOf[str]]
    seconds: list[float | None]
    digest: str


def replay_error(*lines: str, rerun_command: str = "") -> ReplayError:
    """Return the error with these lines, and last the command that records again."""
    return ReplayError("\n".join([*lines, *([f"record again: {rerun_command}"] if rerun_command else [])]))


# Writing


def write_cassette(path: Path, cassette: Cassette) -> None:
    """Write the file in one step: afterwards it is complete, or unchanged.

    Raises:
        OSError: It cannot be written.
    """
    codec = Codec()
    values = [_header(cassette.identity), *(codec.encode(call) for call in cassette.calls)]
    started, times = _offsets(cassette.times)
    trailer = {
        "ended": cassette.reason,
        "error": cassette.error,
        "by_clock": cassette.timed_out,
        "calls": len(cassette.calls),
        "started": started,
        "times": times,
        "seconds": [call.seconds for call in cassette.calls],
    }
    _write(path, [*values, {**trailer, "digest": _digest([*values, trailer])}])


def start_part(path: Path, identity: Identity, calls: Iterable[Call]) -> Codec:
    """Begin a file that grows by one call at a time, with these calls in it; further calls need the returned codec.

    Raises:
        OSError: It cannot be written.
    """
    codec = Codec()
    _write(path, [_header(identity), *(_part_value(codec, call) for call in calls)])
    return codec


def add_to_part(path: Path, codec: Codec, call: Call) -> None:
    """Append a call.

    Raises:
        OSError: It cannot be written.
    """
    # Opened for each call: thousands of concurrent trials would exceed the process's limit of open files.
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(dump(_part_value(codec, call)))


def _part_value(codec: Codec, call: Call) -> dict[str, Any]:
    return codec.encode(call) | {"seconds": call.seconds}


def _header(identity: Identity) -> dict[str, Any]:
    return {
        "cassette": VERSION,
        "domain": identity.domain,
        "task": identity.task,
        "trial": identity.trial,
        "seed": identity.seed,
        "hashes": {name: identity.hashes[name] for name in sorted(identity.hashes)},
    }


def _write(path: Path, values: Iterable[dict[str, Any]]) -> None:
    atomic_write(path, "".join(map(dump, values)))


def _digest(values: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for value in values:
        digest.update(canonical(value).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


def _offsets(times: Sequence[str]) -> tuple[str, list[int | str]]:
    """Return the first timestamp, and each as microseconds after it; one that would change stays a text."""
    started = times[0] if times else ""
    return started, [_offset(started, moment) for moment in times]


def _offset(started: str, moment: str) -> int | str:
    try:
        offset = (datetime.fromisoformat(moment) - datetime.fromisoformat(started)) // timedelta(microseconds=1)
        return offset if _moment(started, offset) == moment else moment
    except (ValueError, TypeError, OverflowError):  # no timestamps, or of several kinds
        return moment


def _moment(started: str, offset: int | str) -> str:
    if isinstance(offset, str):
        return offset
    return (datetime.fromisoformat(started) + timedelta(microseconds=offset)).isoformat(timespec="microseconds")


# Reading


def read_cassette(path: Path, *, rerun_command: str = "") -> Cassette:
    """Read a file.

    Raises:
        ReplayError: It is missing, cannot be read, is not a cassette, was cut off or changed; names the line.
    """
    try:
        return _read(path.read_bytes())
    except FileNotFoundError:
        raise replay_error(f"{path}: no recording of this trial", rerun_command=rerun_command) from None
    except OSError as error:
        raise replay_error(f"{path}: cannot be read: {error.strerror}", rerun_command=rerun_command) from None
    except UnreadableError as problem:
        raise replay_error(f"{path}, line {problem.line}: {problem}", rerun_command=rerun_command) from None


def read_part(path: Path, identity: Identity) -> list[Call]:
    """Return the complete calls of a file that was growing, by number; none if it is missing or of another trial."""
    codec, calls = Codec(), []
    # The process may have been stopped anywhere: the calls before that are valid.
    with suppress(OSError, UnreadableError):
        values = objects_in(path.read_bytes().decode("utf-8", "replace"))
        if _identity(*next(values, (1, {}))) != identity:
            return []
        for line, value in values:
            calls.append(_call(codec, line, value))
    return sorted(calls, key=lambda call: call.number)


def _read(content: bytes) -> Cassette:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(content.count(b"\n", 0, error.start) + 1, "is not UTF-8") from None
    values = _values(text)
    identity = _identity(*values[0])
    line, value = values[-1]
    trailer = _validate(_TrailerValue, line, value)
    if not trailer.calls == len(trailer.seconds) == len(values) - 2:
        raise UnreadableError(line, f"states {trailer.calls} calls, but the file has {len(values) - 2}")
    codec = Codec()
    calls = [_call(codec, *values[i], seconds) for i, seconds in enumerate(trailer.seconds, start=1)]
    rest = {name: item for name, item in value.items() if name != "digest"}
    if _digest([*(value for _, value in values[:-1]), rest]) != trailer.digest:
        raise UnreadableError(line, "the file was changed after it was recorded: its digest differs")
    try:
        times = [_moment(trailer.started, offset) for offset in trailer.times]
    except (ValueError, OverflowError) as error:
        raise UnreadableError(line, f"times: {error}") from None
    return Cassette(identity, calls, trailer.ended, trailer.error, times, trailer.timed_out)


def _values(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the file's values with their lines: a header, calls, and a trailer as the last."""
    values: list[tuple[int, dict[str, Any]]] = []
    for line, value in objects_in(text):
        if values and "ended" in values[-1][1]:
            raise UnreadableError(line, "has content after its end")
        values.append((line, value))
    if not values:
        raise UnreadableError(1, "the file is empty")
    _identity(*values[0])  # a file that is not a cassette is reported as that, not as cut off
    if "ended" not in values[-1][1]:
        raise UnreadableError(values[-1][0], "the file ends after this value: it was cut off")
    return values


def _identity(line: int, value: dict[str, Any]) -> Identity:
    version = value.get("cassette")
    if version is None:
        raise UnreadableError(line, "not a cassette file")
    if version != VERSION:
        raise UnreadableError(line, f"has format version {version}; expected {VERSION}")
    header = _validate(_HeaderValue, line, value)
    return Identity(header.domain, header.task, header.trial, header.seed, header.hashes)


def _call(codec: Codec, line: int, value: dict[str, Any], seconds: float | None = None) -> Call:
    fitting = _validate(CallValue, line, value)
    try:
        return codec.decode(fitting if seconds is None else fitting.model_copy(update={"seconds": seconds}))
    except ValidationError as error:
        raise UnreadableError(line, f"call {fitting.call}: {first_problem(error, '')}") from None
    except ValueError as error:
        raise UnreadableError(line, f"call {fitting.call}: {error}") from None


_Model = TypeVar("_Model", bound=BaseModel)


def _validate(model: type[_Model], line: int, value: dict[str, Any]) -> _Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        where = f"call {value['call']}: " if isinstance(value.get("call"), int) else ""
        raise UnreadableError(line, where + first_problem(error, "")) from None
