"""Recording the model calls of a trial, and answering them from the recording."""

from __future__ import annotations

import asyncio
import errno
import itertools
import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigurationError, ContextWindowError, ModelError, ReplayError
from ..models import RecordingEnded, json_copy
from .cassette import Cassette, add_to_part, read_cassette, read_part, replay_error, start_part, write_cassette
from .recorded_calls import Call, Values
from .request_differences import last_message, request_differences
from .requests import ChatReply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from ..models import TerminationReason
    from .cassette import Identity
    from .recorded_calls import Asked
    from .requests import ChatRequest, Role


class Recorder:
    """Has requests answered by models and writes that down: call by call in ``<path>.part``, as a whole at the end.

    Args:
        path: The cassette.
        identity: What it is of.
        fresh: Ask everything anew. Otherwise calls that an earlier attempt at the same trial has left behind answer
            what is equal to them.
        again: The command that records again, for errors.

    Attributes:
        reused: How many calls an earlier attempt has answered.
        saved: USD that those calls had cost.
        times: Empty: the clock is the real one.

    Raises:
        ConfigurationError: The cassette cannot be written there.
    """

    def __init__(self, path: Path, identity: Identity, *, fresh: bool = False, again: str = "") -> None:
        self.reused, self.saved = 0, 0.0
        self.times: list[str] = []
        # Absolute: a test may change the folder before the trial ends.
        self._path, self._part = path.absolute(), Path(f"{path.absolute()}.part")
        self._identity, self._again = identity, again
        self._values = Values()
        self._calls: list[Call] = []
        self._given_up: set[Call] = set()
        self._left = [] if fresh else read_part(self._part, identity)
        self._over, self._empty = False, not self._left
        self._numbers = itertools.count(max([call.number for call in self._left], default=0) + 1)
        try:
            _make_place(self._path)
            self._codec = start_part(self._part, identity, self._left)
        except OSError as error:
            problem = f"{path}: the cassette cannot be written: {error.strerror or error}"
            raise ConfigurationError(problem) from error

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """The model's answer, or that of an earlier attempt.

        Raises:
            ReplayError: The request or the answer is no JSON, and could not be replayed.
            ModelError: The model failed.
        """
        if self._over:  # left behind by a trial that has ended; not part of it any more
            return await ask(request)
        call = self._started(role, _asked(self._values, role, request, self._again))
        earlier = _taken(self._left, call.role, call.asked)
        if earlier is None:
            await self._ask(call, request, ask)
        else:
            call.reply, call.too_long = earlier.reply, earlier.too_long
            self.reused += 1
            self.saved += (earlier.reply.cost or 0.0) if earlier.reply else 0.0
        return _outcome(call)

    def finish(self, reason: TerminationReason, error: str | None, times: list[str], *, by_clock: bool = False) -> None:
        """Write the cassette, the trial having ended like this.

        Args:
            reason: How.
            error: What went wrong, where something did.
            times: What the clock told, ISO 8601 with microseconds.
            by_clock: The wall clock ended it.

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
            if call.reply is None and call.too_long is None:
                # Where the clock has not ended the trial, it ended without needing the answer.
                call.unanswered = "cut off" if by_clock and call not in self._given_up else "given up"
        write_cassette(self._path, Cassette(self._identity, self._calls, reason, error, times, by_clock))
        self._part.unlink(missing_ok=True)

    def abandon(self) -> None:
        """Write no cassette; what was answered so far is kept for the next attempt."""
        if self._over:
            return
        self._over = True
        if self._empty:
            with suppress(OSError):  # a file without calls is no harm
                self._part.unlink(missing_ok=True)

    def _started(self, role: Role, asked: Asked) -> Call:
        if role != "judge":  # who is judged after the clock has ended it does not go on
            self._given_up.update(call for call in self._calls if call.unanswered)
        call = Call(next(self._numbers), role, asked)
        self._calls.append(call)
        return call

    async def _ask(self, call: Call, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]) -> None:
        try:
            reply = await ask(request)
            call.reply = _copied(reply, call.role, self._again)
        except asyncio.CancelledError:
            call.unanswered = "cut off"
            raise
        except ModelError as error:
            if error.kind != "context_window":
                self._forget(call)
                raise
            call.too_long = str(error)
            self._keep(call)
            raise ContextWindowError(call.too_long) from error
        except BaseException:
            self._forget(call)
            raise
        self._keep(call)

    def _keep(self, call: Call) -> None:
        if self._over:
            return
        self._empty = False
        with suppress(OSError):  # the conversation is worth more than this copy of it; finish() tells what is wrong
            add_to_part(self._part, self._codec, call)

    def _forget(self, call: Call) -> None:
        if not self._over:
            self._calls.remove(call)


class Player:
    """Answers requests from a cassette; no model is asked.

    Args:
        path: The cassette.
        identity: What it should be of.
        again: The command that records again, for errors.

    Attributes:
        times: What the clock of the recorded trial told, ISO 8601 with microseconds.

    Raises:
        ReplayError: It is missing, cannot be read, was changed, or is of something else.
    """

    def __init__(self, path: Path, identity: Identity, *, again: str = "") -> None:
        self._path, self._identity, self._again = path, identity, again
        self._cassette = read_cassette(path, again=again)
        self.times = list(self._cassette.times)
        self._values = Values()
        self._left = list(self._cassette.calls)
        self._ended: set[Role] = set()
        self._fault: ReplayError | None = None
        self._over = False
        recorded = self._cassette.identity
        if (recorded.domain, recorded.task, recorded.trial) != (identity.domain, identity.task, identity.trial):
            raise replay_error(f"{path}: is of {_named(recorded)}; this is {_named(identity)}", again=again)

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """The recorded answer to the request.

        Raises:
            ReplayError: The recording has no such request.
            RecordingEnded: The clock ended the recorded trial here.
            ContextWindowError: The recorded request was more than the model could read.
        """
        try:
            asked = _asked(self._values, role, request, self._again)
            call = _taken(self._left, role, asked) or self._missed(role, asked)
        except ReplayError as error:
            self._fault = self._fault or error  # told by finish() where a participant passes over it
            raise
        if call is None or call.unanswered == "cut off":
            self._ended.add(role)
            raise RecordingEnded(self._cassette.reason, self._cassette.error)
        if call.unanswered == "given up":
            await asyncio.get_running_loop().create_future()  # until whoever asks gives up again
        return _outcome(call)

    def finish(self, reason: TerminationReason, error: str | None, times: list[str], *, by_clock: bool = False) -> None:
        """The trial has ended; see whether the recording has, too.

        Raises:
            ReplayError: Recorded calls were not made, or a participant has passed over such an error.
        """
        if self._over:
            return
        self._over = True
        if self._fault:
            raise self._fault
        # A participant that asked for what was cut off may not have come to ask for what it asked at the same time.
        left = [call for call in self._left if not call.unanswered and call.role not in self._ended]
        if left:
            counts = Counter(call.role for call in left)
            told = " and ".join(f"{_calls(count)} of the {role}" for role, count in counts.items())
            first = f"{told} {'was' if len(left) == 1 else 'were'} not made, from call {left[0].number} on"
            then = self._cassette.reason
            ends = [f"the recorded trial ended with {then}, this one with {reason}"] if reason != then else []
            raise self._error(f"{self._path}: the recording goes on: {first}", *ends)

    def abandon(self) -> None:
        """Nothing is to be kept."""
        self._over = True

    def _missed(self, role: Role, asked: Asked) -> Call | None:
        """What to do about a request that no recorded call is equal to: None where the clock had ended the trial.

        Raises:
            ReplayError: It had not.
        """
        left = [call for call in self._left if call.role == role]
        if left:
            first = f"{self._path}: call {left[0].number}, of the {role}, is not the recorded one"
            raise self._error(first, differences=request_differences(left[0].asked.values, asked.values))
        if self._cassette.by_clock and role != "judge":
            return None
        count = sum(call.role == role for call in self._cassette.calls)
        first = f"{self._path}: the {role} makes a call more than the {_calls(count)} of the recording"
        raise self._error(first, differences=last_message(asked.values))

    def _error(self, first: str, *more: str, differences: Sequence[str] = ()) -> ReplayError:
        changes = _changes(self._cassette.identity, self._identity)
        return replay_error(first, *more, *changes, *differences, again=self._again)


def _make_place(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def _asked(values: Values, role: Role, request: ChatRequest, again: str) -> Asked:
    try:
        return values.asked(request)
    except ValueError as error:
        raise replay_error(
            f"a request of the {role} is no JSON, and cannot be recorded: {error}", again=again
        ) from None


def _copied(reply: ChatReply, role: Role, again: str) -> ChatReply:
    """The reply as it will be read again, apart from what its receiver may do to it."""
    fields = reply.model_dump()
    try:
        json_copy(fields)
        return ChatReply.model_validate(json.loads(json.dumps(fields)))
    except (TypeError, ValueError) as error:
        raise replay_error(
            f"an answer to the {role} is no JSON, and cannot be recorded: {error}", again=again
        ) from None


def _taken(left: list[Call], role: Role, asked: Asked) -> Call | None:
    """The first call of the role that is equal, taken out of those that are left."""
    for place, call in enumerate(left):
        if call.role == role and call.asked == asked:
            return left.pop(place)
    return None


def _outcome(call: Call) -> ChatReply:
    if call.reply is None:
        raise ContextWindowError(call.too_long or "")
    return call.reply.model_copy(deep=True)


def _named(identity: Identity) -> str:
    return f"trial {identity.trial} of task {identity.task!r} of {identity.domain}"


def _calls(count: int) -> str:
    return f"{count} call" if count == 1 else f"{count} calls"


def _changes(recorded: Identity, now: Identity) -> list[str]:
    """What of the trial has changed, a line each."""
    seed = [] if recorded.seed == now.seed else [f"the seed was {recorded.seed} and is {now.seed}"]
    names = sorted({*recorded.hashes, *now.hashes})
    changed = [name for name in names if recorded.hashes.get(name) != now.hashes.get(name)]
    return seed + [
        f"the {name} {'have' if name[-1:] == 's' else 'has'} changed since the recording" for name in changed
    ]
