"""States of tools that exist already: the calls that were made, and a live session in which they were made.

A toolkit's state is data and can be copied. The state of one's own object or of a server process cannot, so a copy is
a new session in which the same calls are made again, when it is first needed.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import PrivateAttr

from ...errors import ConfigurationError, DomainError, PlainErrors, ToolError, ToolServerError, hides_frames
from ...models import clone, json_copy
from ...models.problems import problem_text
from ...world import InWorld
from ..changes import Change, place_text, value_changes
from ..database import Database
from ..jsonable import state_data
from ..records import canonical
from .sessions import UNREAD, CallOutcome, Memo, Session, SessionCall, SessionSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames


class FirstState:
    """The state of a domain's first session.

    Args:
        domain: The name of the domain.
        advice: How to give each session this state, for the error.
    """

    def __init__(self, domain: str, advice: str) -> None:
        self._domain, self._advice = domain, advice
        self._known: InWorld[list[Any]] = InWorld(list)
        self._lock = threading.Lock()

    def check(self, state: Any) -> None:
        """Refuse a new session that does not begin with this state; the first one defines it.

        Raises:
            DomainError: Names the first place that differs.
        """
        with self._lock:
            known = self._known.value
            if not known:
                known.append(state)
        change = next(value_changes("", known[0], state), None)
        if change is not None:
            problem = f"domain {self._domain!r}: its tools do not begin with the same state each time"
            raise DomainError(f"{problem}: {place_text(change)}: {self._advice}")


class SessionState(Database):
    """The state of one side in a session, which is opened when it is first needed.

    Attributes:
        source: Opens sessions.
        memo: Remembers replayed calls, if sessions are expensive; None if they are made again.
        first: The state that each session must begin with.
    """

    in_files: ClassVar[bool] = False
    source: ClassVar[SessionSource]
    memo: ClassVar[Memo | None] = None
    first: ClassVar[FirstState]

    _log: tuple[SessionCall, ...] = PrivateAttr(default=())
    _session: Session | None = PrivateAttr(default=None)
    _done: int = PrivateAttr(default=0)
    _last: CallOutcome = PrivateAttr(default=CallOutcome(None))
    _value: Any = PrivateAttr(default=UNREAD)
    _replays: bool = PrivateAttr(default=False)
    _apart: bool = PrivateAttr(default=False)

    @property
    def _memo(self) -> Memo | None:
        return None if self._apart else self.memo

    def open(self) -> None:
        """Open the session, if it is not open.

        Raises:
            ToolServerError: It cannot be opened.
            DomainError: It does not begin with the state of the first one.
        """
        self._up_to_date()

    def apart(self) -> None:
        """Make each call in the state's own session, and remember none for the states of trials."""
        self._apart = True

    def call(self, name: str, arguments: dict[str, Any], *, mutates: bool) -> Any:
        """Call a tool or a function.

        Args:
            name: Its name.
            arguments: Its keyword arguments, JSON values.
            mutates: Whether it may change the state; such a call is made again in copies of the state.

        Raises:
            ToolServerError: The session cannot be opened, or is lost.
            Exception: Anything that the tool raises.
        """
        entry = SessionCall(name, json_copy(arguments))
        if mutates:
            return self._append(entry)
        if self._memo is not None and self._replays:
            return self._reread(entry, self._memo)
        session = self._up_to_date()
        if self._memo is None:
            self._value = UNREAD  # the declaration may be wrong
        return entry.run(session).unpack()

    def value(self) -> Any:
        """Return the state as JSON data, for reading only: other states in which the same calls were made share it.

        Raises:
            ToolServerError: The session cannot be opened, or is lost.
            ConfigurationError: The snapshot is not JSON data.
        """
        if self._value is UNREAD and self._session is None and self._memo is not None:
            self._value = self._memo.state(self._log)
        if self._value is UNREAD:
            was_closed = self._session is None
            self._read(self._up_to_date().snapshot)
            if was_closed and self._apart:  # a reference state is closed only once
                self._drop()
        return self._value

    def for_replay(self) -> Self:
        """Take remembered results for calls that were made before."""
        self._replays = True
        return self

    def abandon(self) -> None:
        """End the session, and forget the call that has not returned in it: it is never made again."""
        self._log, self._value = self._log[: self._done], UNREAD
        self._drop()

    def close(self) -> None:
        """Read the snapshot and end the session; it is opened again if it is needed."""
        # A call that has not returned, as after Ctrl-C, must not be made again.
        if self._session is not None and self.comparable and self._done == len(self._log):
            with contextlib.suppress(Exception):  # raised again where the state is compared
                self.value()
        self._drop()

    def _drop(self) -> None:
        session, self._session, self._done = self._session, None, 0
        if session is not None:
            if self._memo is not None:
                self._memo.forget_session(session)
            with PlainErrors():
                session.close()

    def fork(self) -> Self:
        """Return an independent state after the same calls."""
        copy = type(self)()
        copy.__pydantic_private__ = {**(self.__pydantic_private__ or {}), "_session": None, "_done": 0}
        return copy

    def dump(self) -> dict[str, Any]:
        """Return a copy of the snapshot as JSON data; empty if there is none."""
        value = clone(self.value()) if self.comparable else {}
        return value if isinstance(value, dict) else {"state": value}

    def digest(self) -> str:
        """Return the SHA-256, in hex, of the snapshot."""
        return hashlib.sha256(canonical(self.dump()).encode()).hexdigest()

    def merged(self, update: dict[str, Any]) -> Self:
        """Return a state with initialization data merged into this one.

        Raises:
            ToolError: The state cannot be set.
        """
        state = self.fork()
        state._append(SessionCall(None, json_copy(update)))  # noqa: SLF001 - of this class
        return state

    def equals(self, other: Database) -> bool:
        """Return whether both snapshots are the same, in order of lists and in type of JSON value."""
        return not self.comparable or canonical(self.dump()) == canonical(other.dump())

    def changes(self, other: Database) -> list[Change]:
        """Return the differences of the other snapshot (``got``) from this one (``expected``)."""
        found = value_changes("", self.dump(), other.dump()) if self.comparable else []
        return [change._replace(path=change.path.lstrip("/")) for change in found]

    def _append(self, entry: SessionCall) -> Any:
        self._log, self._value = (*self._log, entry), UNREAD
        outcome = self._memo.outcome(self._log) if self._replays and self._memo is not None else None
        if outcome is None:
            self._up_to_date()
            outcome = self._last
        return outcome.unpack()

    def _reread(self, entry: SessionCall, memo: Memo) -> Any:
        """Return the result of a call that changes nothing, if possible from the conversation that is replayed."""
        made = (*self._log, entry)
        outcome = memo.outcome(made)
        if outcome is None:
            outcome = entry.run(memo.session(self._log) or self._up_to_date())
            memo.note(made, outcome)
        return outcome.unpack()

    def _up_to_date(self) -> Session:
        """Return a session in which all calls were made."""
        if self._session is None:
            self._begin()
        session = self._session
        assert session is not None, "it was opened"
        try:
            while self._done < len(self._log):
                self._last = self._log[self._done].run(session)
                self._done += 1
                if self._memo is not None:
                    self._remember(session, self._memo)
        except ToolServerError:
            self._drop()
            raise
        if self._memo is not None:
            self._memo.note_session(self._log, session)
        return session

    def _begin(self) -> None:
        """Open a session, and check the state that it begins with."""
        with PlainErrors():
            session = self.source.open()
        self._session, self._done = session, 0
        if self.comparable:
            try:
                self.first.check(self._read(session.first_snapshot, ()))
            except Exception as error:
                self._drop()
                if isinstance(error, ToolServerError | DomainError | ConfigurationError):
                    raise
                raise DomainError(f"{self.source.keyword}: {problem_text(error)}") from error

    def _remember(self, session: Session, memo: Memo) -> None:
        made = self._log[: self._done]
        memo.note(made, self._last)
        if self.comparable:
            with contextlib.suppress(ToolError, ConfigurationError):  # raised again where the state is compared
                self._read(session.snapshot, made)

    def _read(self, snapshot: Callable[[], Any], made: tuple[SessionCall, ...] | None = None) -> Any:
        try:
            with PlainErrors():
                value = state_data(snapshot())
        except ToolServerError:
            self._drop()
            raise
        except ValueError as error:
            raise ConfigurationError(f"{self.source.keyword}: {error}: return plain data") from None
        if self._memo is not None:
            self._memo.note_state(self._log if made is None else made, value)
        if made is None or made == self._log:
            self._value = value
        return value
