"""Sessions: live tools that exist already, the calls that are made in them, and a memory of their results."""

from __future__ import annotations

import abc
import hashlib
import threading
import weakref
from collections import OrderedDict
from typing import Any, NamedTuple, Protocol

from ...errors import PlainErrors, ToolError, ToolServerError, hides_frames
from ...models import json_copy
from ...plain import json

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames
#: Results and states that are remembered for a domain; each state may be large.
_MOST_RESULTS, _MOST_STATES = 20_000, 500


class _Unread:
    """Stands for a state that was not read yet."""


UNREAD: Any = _Unread


class Session(abc.ABC):
    """Live tools in one state."""

    @abc.abstractmethod
    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool or a function.

        Raises:
            ToolServerError: The session is lost.
            Exception: Anything that the tool raises.
        """

    @abc.abstractmethod
    def snapshot(self) -> Any:
        """Return the state."""

    def first_snapshot(self) -> Any:
        """Return the state before the first call."""
        return self.snapshot()

    def merge(self, update: dict[str, Any]) -> None:
        """Merge initialization data into the state.

        Raises:
            ToolError: The state cannot be set.
        """
        raise ToolError("the state of these tools cannot be set: use initialization_actions")

    def close(self) -> None:
        """Release what the session occupies; nothing by default."""
        return


class SessionSource(Protocol):
    """Opens sessions of a domain.

    Attributes:
        keyword: How the state is given when the domain is declared, for error messages.
    """

    keyword: str

    def open(self) -> Session:
        """Return a new session in the untouched state.

        Raises:
            ToolServerError: It cannot be opened.
        """
        ...


class SessionCall(NamedTuple):
    """A call that may have changed the state; without a name, initialization data."""

    name: str | None
    arguments: dict[str, Any]

    def run(self, session: Session) -> CallOutcome:
        """Make the call in a session.

        Raises:
            ToolServerError: The session is lost.
        """
        arguments = json_copy(self.arguments)
        try:
            with PlainErrors():
                if self.name is None:
                    session.merge(arguments)
                    return CallOutcome(None)
                return CallOutcome(session.call(self.name, arguments))
        except ToolServerError:
            raise
        except Exception as error:  # noqa: BLE001 - the tool boundary: a tool's exceptions are results
            if not error.args and not str(error):
                error.args = (type(error).__name__,)  # the caller reads the text alone
            return CallOutcome(None, error)


class CallOutcome(NamedTuple):
    """What a call returned or raised."""

    result: Any
    error: Exception | None = None

    def unpack(self) -> Any:
        """Return what the call returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self.result


class Memo:
    """Results, states and open sessions after sequences of calls: replaying a conversation needs no new session."""

    def __init__(self) -> None:
        self._outcomes: OrderedDict[bytes, CallOutcome] = OrderedDict()
        self._states: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._sessions: weakref.WeakValueDictionary[bytes, Session] = weakref.WeakValueDictionary()

    def outcome(self, log: tuple[SessionCall, ...]) -> CallOutcome | None:
        """Return the outcome of the last of these calls, if they were made before."""
        return self._outcomes.get(_key(log))

    def state(self, log: tuple[SessionCall, ...]) -> Any:
        """Return the state after these calls, if it was read before."""
        return self._states.get(_key(log), UNREAD)

    def note(self, log: tuple[SessionCall, ...], outcome: CallOutcome) -> None:
        """Remember the outcome of the last of these calls."""
        self._note(self._outcomes, _key(log), outcome, _MOST_RESULTS)

    def note_state(self, log: tuple[SessionCall, ...], state: Any) -> None:
        """Remember the state after these calls."""
        self._note(self._states, _key(log), state, _MOST_STATES)

    def session(self, log: tuple[SessionCall, ...]) -> Session | None:
        """Return an open session in which exactly these calls were made, for calls that change nothing."""
        return self._sessions.get(_key(log))

    def note_session(self, log: tuple[SessionCall, ...], session: Session) -> None:
        """Remember where an open session is."""
        with self._lock:
            self._forget(session)
            self._sessions[_key(log)] = session

    def forget_session(self, session: Session) -> None:
        """Forget a session that is closed."""
        with self._lock:
            self._forget(session)

    def _forget(self, session: Session) -> None:
        for key in [key for key, known in self._sessions.items() if known is session]:
            del self._sessions[key]

    def _note(self, known: OrderedDict[bytes, Any], key: bytes, value: Any, most: int) -> None:
        with self._lock:
            known[key] = value
            if len(known) > most:
                known.popitem(last=False)


def _key(log: tuple[SessionCall, ...]) -> bytes:
    return hashlib.blake2b(json.dumps(log, sort_keys=True).encode(), digest_size=16).digest()
