"""Recording the model calls of a trial, and answering them from the recording."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ConfigurationError, ContextWindowError, ModelError, ReplayError
from ...models import RecordingEnded, json_copy
from ...plain import json
from ...text import plural
from ..requests import ChatReply
from .codec import Call, RequestInterner, Unanswered
from .diff import diff_requests, last_message
from .format import Cassette, add_to_part, read_cassette, read_part, replay_error, start_part, write_cassette

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from ...models import TerminationReason
    from ..requests import ChatRequest, Role
    from .codec import NormalizedRequest
    from .format import Identity


class Recorder:
    """Records the calls of a trial's models: each call in ``<path>.part`` as it is answered, the cassette at the end.

    Args:
        path: The cassette.
        identity: The trial.
        fresh: Call the models for every request. Otherwise calls that an earlier attempt at the same trial has recorded
            answer requests that are equal to theirs.
        rerun_command: The command that records again, for errors.

    Attributes:
        reused: The number of requests that were answered from an earlier attempt.
        times: Empty: the clock is the real one.

    Raises:
        ConfigurationError: The cassette cannot be written there.
    """

    def __init__(self, path: Path, identity: Identity, *, fresh: bool = False, rerun_command: str = "") -> None:
        self.reused = 0
        self.times: list[str] = []
        # Absolute: a test may change the folder before the trial ends.
        self._path, self._part = path.absolute(), Path(f"{path.absolute()}.part")
        self._identity, self._rerun_command = identity, rerun_command
        self._values = RequestInterner()
        self._calls: list[Call] = []
        self._cancelled: set[Call] = set()
        self._left = [] if fresh else read_part(self._part, identity)
        self._over, self._empty = False, not self._left
        self._numbers = itertools.count(max([call.number for call in self._left], default=0) + 1)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            self._codec = start_part(self._part, identity, self._left)
        except OSError as error:
            problem = f"{path}: the cassette cannot be written: {error.strerror or error}"
            raise ConfigurationError(problem) from error

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """Return the model's answer, or that of an earlier attempt.

        Raises:
            ReplayError: The request or the answer is not valid JSON, and could not be replayed.
            ModelError: The model failed.
        """
        if self._over:  # by a thread that the trial did not wait for; not recorded
            return await ask(request)
        call = self._start_call(role, _normalize(self._values, role, request, self._rerun_command))
        earlier = _pop_equal(self._left, call.role, call.request)
        if earlier is None:
            await self._call_model(call, request, ask)
        else:
            call.reply, call.context_error = earlier.reply, earlier.context_error
            self.reused += 1
        return _outcome(call)

    def finish(
        self, reason: TerminationReason, error: str | None, times: list[str], *, timed_out: bool = False
    ) -> None:
        """Write the cassette of a trial that has ended; see ``Tape.finish``.

        Raises:
            OSError: It cannot be written.
        """
        if self._over:
            return
        if not self._calls:  # a trial without model calls needs no cassette
            self.abandon()
            return
        self._over = True
        for number, call in enumerate(self._calls, start=1):
            call.number = number  # calls that failed leave no gaps
            if call.reply is None and call.context_error is None:
                # A trial that did not time out has ended without needing the answer.
                cut_off = timed_out and call not in self._cancelled
                call.unanswered = Unanswered.CUT_OFF if cut_off else Unanswered.CANCELLED
        write_cassette(self._path, Cassette(self._identity, self._calls, reason, error, times, timed_out))
        self._part.unlink(missing_ok=True)

    def abandon(self) -> None:
        """Write no cassette; calls that were answered are kept for the next attempt."""
        if self._over:
            return
        self._over = True
        if self._empty:
            with suppress(OSError):  # a file without calls does no harm
                self._part.unlink(missing_ok=True)

    def _start_call(self, role: Role, request: NormalizedRequest) -> Call:
        if role != "judge":  # a call of the judge does not show that the conversation went on
            self._cancelled.update(call for call in self._calls if call.unanswered)
        call = Call(next(self._numbers), role, request)
        self._calls.append(call)
        return call

    async def _call_model(
        self, call: Call, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> None:
        try:
            reply = await ask(request)
            call.reply = _copy_reply(reply, call.role, self._rerun_command)
        except asyncio.CancelledError:
            call.unanswered = Unanswered.CUT_OFF
            raise
        except BaseException as error:
            if not isinstance(error, ModelError) or error.kind != "context_window":
                self._forget(call)
                raise
            call.context_error = str(error)
            self._write(call)
            raise ContextWindowError(call.context_error) from error
        self._write(call)

    def _write(self, call: Call) -> None:
        if self._over:
            return
        self._empty = False
        with suppress(OSError):  # the trial goes on without the .part file; finish() reports the error
            add_to_part(self._part, self._codec, call)

    def _forget(self, call: Call) -> None:
        if not self._over:
            self._calls.remove(call)


class Player:
    """Answers requests from a cassette; no model is asked.

    Args:
        path: The cassette.
        identity: The trial that it should belong to.
        rerun_command: The command that records again, for errors.

    Attributes:
        times: The readings of the recorded trial's clock, ISO 8601 with microseconds.

    Raises:
        ReplayError: It is missing, cannot be read, was changed, or belongs to another trial.
    """

    def __init__(self, path: Path, identity: Identity, *, rerun_command: str = "") -> None:
        self._path, self._identity, self._rerun_command = path, identity, rerun_command
        self._cassette = read_cassette(path, rerun_command=rerun_command)
        self.times = list(self._cassette.times)
        self._values = RequestInterner()
        self._left = list(self._cassette.calls)
        self._ended: set[Role] = set()
        self._first_error: ReplayError | None = None
        self._over = False
        recorded = self._cassette.identity
        if (recorded.domain, recorded.task, recorded.trial) != (identity.domain, identity.task, identity.trial):
            problem = f"{path}: is a recording of {_format_identity(recorded)}; this is {_format_identity(identity)}"
            raise replay_error(problem, rerun_command=rerun_command)

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """Return the recorded answer to the request.

        Raises:
            ReplayError: The recording has no such request.
            RecordingEnded: The clock ended the recorded trial here.
            ContextWindowError: The recorded request was more than the model could read.
        """
        try:
            normalized = _normalize(self._values, role, request, self._rerun_command)
            call = _pop_equal(self._left, role, normalized)
            if call is None:
                self._check_unrecorded(role, normalized)
        except ReplayError as error:
            if role != "judge":  # who asks it decides whether its answer is needed
                self._first_error = self._first_error or error  # finish() raises it if a participant catches it here
            raise
        if call is None or call.unanswered is Unanswered.CUT_OFF:
            self._ended.add(role)
            raise RecordingEnded(self._cassette.reason, self._cassette.error)
        if call.unanswered is Unanswered.CANCELLED:
            await asyncio.get_running_loop().create_future()  # until the caller cancels it again
        return _outcome(call)

    def finish(
        self, reason: TerminationReason, error: str | None, times: list[str], *, timed_out: bool = False
    ) -> None:
        """Check that every recorded call was made, the trial having ended.

        Raises:
            ReplayError: Recorded calls were not made, or a participant has caught such an error.
        """
        if self._over:
            return
        self._over = True
        if self._first_error:
            raise self._first_error
        # A participant whose call was cut off may not have reached calls that it makes at the same time.
        left = [call for call in self._left if not call.unanswered and call.role not in self._ended]
        if left:
            counts = Counter(call.role for call in left)
            text = " and ".join(f"{plural(count, 'call')} of the {role}" for role, count in counts.items())
            first = f"{text} {'was' if len(left) == 1 else 'were'} not made, from call {left[0].number} on"
            then = self._cassette.reason
            ends = [f"the recorded trial ended with {then}, this one with {reason}"] if reason != then else []
            raise self._error(f"{self._path}: the recording has more calls: {first}", *ends)

    def abandon(self) -> None:
        """End the replay without a check."""
        self._over = True

    def _check_unrecorded(self, role: Role, request: NormalizedRequest) -> None:
        """Accept a request that no recorded call is equal to if the recorded trial had timed out."""
        left = [call for call in self._left if call.role == role]
        if left:
            first = f"{self._path}: call {left[0].number}, of the {role}, differs from the recorded one"
            raise self._error(first, differences=diff_requests(left[0].request.values, request.values))
        if self._cassette.timed_out and role != "judge":
            return
        count = sum(call.role == role for call in self._cassette.calls)
        first = f"{self._path}: the {role} makes one call more than the {plural(count, 'call')} of the recording"
        raise self._error(first, differences=last_message(request.values))

    def _error(self, first: str, *more: str, differences: Sequence[str] = ()) -> ReplayError:
        changes = _changes(self._cassette.identity, self._identity)
        return replay_error(first, *more, *changes, *differences, rerun_command=self._rerun_command)


def _normalize(values: RequestInterner, role: Role, request: ChatRequest, rerun_command: str) -> NormalizedRequest:
    try:
        return values.normalize(request)
    except ValueError as error:
        raise replay_error(
            f"a request of the {role} is not valid JSON and cannot be recorded: {error}", rerun_command=rerun_command
        ) from None


def _copy_reply(reply: ChatReply, role: Role, rerun_command: str) -> ChatReply:
    """Return the reply as it will be read from the file; the receiver of the original may change that."""
    fields = reply.model_dump()
    try:
        json_copy(fields)
        return ChatReply.model_validate(json.loads(json.dumps(fields)))
    except (TypeError, ValueError) as error:
        raise replay_error(
            f"an answer to the {role} is not valid JSON and cannot be recorded: {error}", rerun_command=rerun_command
        ) from None


def _pop_equal(left: list[Call], role: Role, request: NormalizedRequest) -> Call | None:
    """Remove and return the first call of the role whose request is equal."""
    for place, call in enumerate(left):
        if call.role == role and call.request == request:
            return left.pop(place)
    return None


def _outcome(call: Call) -> ChatReply:
    if call.reply is None:
        raise ContextWindowError(call.context_error or "")
    return call.reply.model_copy(deep=True)


def _format_identity(identity: Identity) -> str:
    return f"trial {identity.trial} of task {identity.task!r} of {identity.domain}"


def _changes(recorded: Identity, now: Identity) -> list[str]:
    """Return a line for each input of the trial that has changed."""
    seed = [] if recorded.seed == now.seed else [f"the seed was {recorded.seed} and is {now.seed}"]
    names = sorted({*recorded.hashes, *now.hashes})
    changed = [name for name in names if recorded.hashes.get(name) != now.hashes.get(name)]
    return seed + [
        f"the {name} {'have' if name[-1:] == 's' else 'has'} changed since the recording" for name in changed
    ]
