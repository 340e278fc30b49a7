"""Sessions of domains over functions: each on an object of its own, or all on one state."""

from __future__ import annotations

import contextlib
import copy
import inspect
import threading
from traceback import clear_frames
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...errors import ConfigurationError, DomainError, PlainErrors, ToolError, ToolServerError, hides_frames
from ...models.problems import place_and_problems
from ...world import InWorld
from ..changes import value_changes
from ..database import overlay
from ..jsonable import Returned, state_data
from .callables import converting
from .database_state import advice_for
from .patching import patches_of, run_inside
from .sessions import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager

    from ..changes import Change
    from ..domain import DomainSpec
    from .calling import FunctionCaller
    from .database_state import DatabaseCopy, DatabaseState
    from .patching import Patches

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames

_MAKE = "build new containers in __init__, or let make= return a copy.deepcopy, and let no tool write what make= reads"
_RESTORE = "restore= must set back all that snapshot= returns"


class FunctionSource:
    """Opens sessions: each on an object of its own, or all on the one state that the functions have."""

    keyword = "snapshot"

    def __init__(  # noqa: PLR0913 - the parts of a domain, which only ``domain_of`` puts together
        self,
        name: str,
        functions: dict[str, Callable[..., Any]],
        caller: FunctionCaller,
        *,
        offered: Collection[str],
        make: Callable[[], Any] | None,
        snapshot: Callable[..., Any] | None,
        restore: Callable[..., Any] | None,
        patches: Patches | None = None,
        database: DatabaseState | None = None,
    ) -> None:
        self.name, self.caller, self.patches, self.database = name, caller, patches, database
        self._shows_attributes, self._writes = snapshot is vars and make is not None, False
        if self._shows_attributes:
            snapshot = _attributes
        functions = {each: converting(function) for each, function in functions.items()}
        if patches is not None:
            make, restore, snapshot = (each and run_inside(each) for each in (make, restore, snapshot))
            functions = {each: run_inside(function) for each, function in functions.items()}
        self.make = caller.bind(make) if make else None
        self.restore = caller.bind(restore) if restore else None
        # Tasks of a loop may change a state or a result while it is converted elsewhere.
        self.snapshot = caller.bind(snapshot, state_data if caller.on_loop else None) if snapshot else None
        self._copied = caller.bind(snapshot, copy.deepcopy) if snapshot else None
        self.functions = {
            each: caller.bind(function, Returned.of if caller.on_loop and each in offered else None)
            for each, function in functions.items()
        }
        self._first_target: Any = None
        self._untouched: InWorld[Any] = InWorld(self.copied)
        self.lock = threading.RLock()
        self.active: _SharedSession | None = None  # whose state is the live one

    def check(self, *, writes: list[str]) -> None:
        """Refuse a state that one simulation would leave to the next.

        Raises:
            ConfigurationError: It cannot be isolated.
        """
        self._writes = bool(writes)
        if self.database is not None:
            return
        if self.make is None and writes and (self.snapshot is None or self.restore is None):
            raise ConfigurationError(
                f"domain {self.name!r}: {', '.join(writes)} may change something that the next simulation would see: "
                "give make=, which returns a new object for each simulation, both snapshot= and restore=, or state=; "
                "name tools that change nothing in reads="
            )

    def open(self) -> Session:
        """Return a new session in the untouched state.

        Raises:
            DomainError: ``make`` returns the same object each time.
        """
        if self.database is not None:
            return _CopySession(self, self.database.open())
        if self.make is None:
            return _SharedSession(self)
        target = self.make()
        if self._writes and target is self._first_target:
            raise DomainError(
                f"domain {self.name!r}: make= returns the same object each time, which all simulations would share: "
                "let it return a new one, or name its tools in reads= if none changes it"
            )
        self._first_target = target if self._first_target is None else self._first_target
        return _OwnSession(self, target)

    @property
    def advice(self) -> str:
        """Return how to begin each session with the same state."""
        if self.database is not None:
            return f"nothing may write to {self.database.title} while tests run"
        return f"{_RESTORE if self.make is None else _MAKE}; snapshot= must not have what differs each time"

    def advice_for(self, change: Change) -> str:
        """Return how to exclude a value that differs each time, such as the time of a change."""
        if self.database is not None:
            return advice_for(self.database.kind, change)
        return "Omit from snapshot= what differs each time, such as the time at which a record was created"

    @property
    def compares(self) -> bool:
        """Return whether the state can be compared."""
        return self.snapshot is not None or self.database is not None

    @property
    def is_shared(self) -> bool:
        """Return whether the sessions take turns with the one state that the functions have."""
        return self.make is None and self.snapshot is not None and self.restore is not None

    def prepare(self) -> None:
        """Read the state of the functions, which an agent that calls them itself would change."""
        with contextlib.suppress(Exception), PlainErrors(), self.alone():  # raised again where states are compared
            _ = self.untouched

    def put_back(self) -> None:
        """Put the functions into their untouched state until the next call of a session."""
        with contextlib.suppress(Exception), PlainErrors(), self.alone():  # raised again where states are compared
            if self.active is not None:
                self.active.kept, self.active = self.copied(), None
                self.restore_function()(copy.deepcopy(self.untouched))

    def changes_by_others(self) -> list[Change]:
        """Return what has changed the functions' state while no session had its state there; set it back.

        A value that differs after that as well, such as a time, is omitted.
        """
        with PlainErrors(), self.alone():
            if self.active is not None or not (found := self._changes()):
                return []
            self.restore_function()(copy.deepcopy(self.untouched))
            always = {each.path for each in self._changes()}
        return [each._replace(path=each.path.lstrip("/")) for each in found if each.path not in always]

    def _changes(self) -> list[Change]:
        """Return the differences of the functions' state from that before the first call."""
        return list(value_changes("", state_data(self.untouched), state_data(self.state())))

    @property
    def untouched(self) -> Any:
        """The state of the functions before the first call, as fixtures of a test may have set it."""
        return self._untouched.value

    def state(self, *target: Any) -> Any:
        """Return the state of an object, or of the functions, for reading; None if the domain has no ``snapshot``.

        Raises:
            ConfigurationError: The snapshot is None, or does not show what tools change.
        """
        return self._given(self.snapshot(*target)) if self.snapshot else None

    def copied(self, *target: Any) -> Any:
        """Return a copy of the state that ``restore`` can take, as ``state``."""
        return self._given(self._copied(*target)) if self._copied else None

    def _given(self, state: Any) -> Any:
        if state is None:
            raise ConfigurationError("snapshot= returned None: return the state")
        if self._shows_attributes and self._writes and not state:
            problem = "an object of make= has no attributes, so that snapshot=vars shows nothing"
            raise ConfigurationError(f"{problem}: {_MAKE}")
        return state

    def interrupt(self) -> None:
        """Let no later call wait without limit for one that has not returned, as after Ctrl-C."""
        self.caller.interrupt()

    def alone(self) -> AbstractContextManager[Any]:
        """Return a lock for the state of the functions; nothing for a call that a function makes on the loop."""
        if self.caller.on_loop and self.caller.is_here():
            return contextlib.nullcontext()
        return self.lock if self.caller.patience is None else self._locked(self.caller.patience)

    @contextlib.contextmanager
    def _locked(self, seconds: float) -> Iterator[None]:
        if not self.lock.acquire(timeout=seconds):
            raise self.caller.not_returned()
        try:
            yield
        finally:
            self.lock.release()

    def restore_function(self) -> Callable[..., Any]:
        """Return the function that sets the state.

        Raises:
            ToolError: The state cannot be read and set, so that nothing can be merged into it.
        """
        if self.snapshot is None or self.restore is None:
            raise ToolError("initialization_data needs snapshot= and restore= of the domain")
        return self.restore

    def call(self, name: str, /, *args: Any, **arguments: Any) -> Any:
        """Call a function; wait for one that is asynchronous.

        Raises:
            ToolError: An argument cannot be converted; names it.
        """
        function = self.functions[name]
        try:
            result = function(*args, **arguments)
            if not inspect.iscoroutine(result):
                return result
            return self.caller.wait(result)
        except ValidationError as error:
            if error.title != function.__qualname__:
                raise  # by the function itself
            place, problems = place_and_problems(error)
            raise ToolError(f"{place}: {problems}") from None


def release_functions(spec: DomainSpec) -> None:
    """Put back what was replaced for the functions of a domain, at the end of a run."""
    if (patches := patches_of(spec)) is not None:
        patches.undo()
    source = getattr(spec.agent_db, "source", None)
    if isinstance(source, FunctionSource) and source.database is not None:
        source.database.release()


def interrupt_functions(spec: DomainSpec) -> None:
    """Let no later call of a domain's functions wait without limit for one that has not returned, as after Ctrl-C."""
    for side in (spec.agent_db, spec.user_db):
        if isinstance(source := getattr(side, "source", None), FunctionSource):
            source.interrupt()


def _attributes(target: Any) -> dict[str, Any]:
    """Return the attributes of an object, and the containers of its class, which look like attributes of the object."""
    found = {}
    for kind in reversed(type(target).__mro__):
        for name, value in vars(kind).items():
            if isinstance(value, dict | list | set) and not name.startswith("_"):
                with contextlib.suppress(ValueError):
                    found[name] = state_data(value)
    return {**found, **vars(target)}


class _OwnSession(Session):
    """A session on an object of its own."""

    def __init__(self, source: FunctionSource, target: Any) -> None:
        self._source, self._target = source, target

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return self._source.call(name, self._target, **arguments)

    def snapshot(self) -> Any:
        return self._source.state(self._target)

    def merge(self, update: dict[str, Any]) -> None:
        restore = self._source.restore_function()
        restore(self._target, overlay(self._source.copied(self._target), update))


class _CopySession(Session):
    """A session on a copy of a database."""

    def __init__(self, source: FunctionSource, copied: DatabaseCopy) -> None:
        self._source, self._copy = source, copied

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        with self._source.alone():
            try:
                with self._copy.in_place():
                    result = self._source.call(name, **arguments)
            except ToolServerError:  # the function may still run
                raise
            except Exception as error:
                clear_frames(error.__traceback__)  # their variables keep connections that were not closed
                self._copy.check(name)
                raise
            self._copy.check(name)
            return result

    def snapshot(self) -> Any:
        return self._copy.snapshot()

    def merge(self, update: dict[str, Any]) -> None:
        self._copy.merge(update)

    def close(self) -> None:
        self._copy.close()


class _SharedSession(Session):
    """A session on the one state that the functions have: it is put in place before each call."""

    def __init__(self, source: FunctionSource) -> None:
        self._source = source
        with source.alone():
            self.kept = copy.deepcopy(source.untouched)

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        with self._in_place():
            return self._source.call(name, **arguments)

    def snapshot(self) -> Any:
        with self._in_place():
            return copy.deepcopy(self._source.state())

    def first_snapshot(self) -> Any:
        found = self.snapshot()
        self._source.put_back()
        return found

    def merge(self, update: dict[str, Any]) -> None:
        restore = self._source.restore_function()
        with self._in_place():
            restore(overlay(self._source.copied(), update))

    def close(self) -> None:
        source = self._source
        # After Ctrl-C, a function may not have returned: the exception would replace the interruption.
        with contextlib.suppress(ToolServerError), source.alone():
            if source.active is self and source.restore is not None:
                source.active = None
                source.restore(copy.deepcopy(source.untouched))

    @contextlib.contextmanager
    def _in_place(self) -> Iterator[None]:
        source = self._source
        with source.alone():
            if source.restore is not None and source.snapshot is not None and source.active is not self:
                if source.active is not None:
                    source.active.kept = source.copied()
                source.active = self
                source.restore(copy.deepcopy(self.kept))
            yield
