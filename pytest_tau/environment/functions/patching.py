"""Functions of an agent, replaced where it finds them by ones that make the call in the trial that the agent is in."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ...background import BackgroundLoop
from ...errors import ConfigurationError, UnboundCallError, hides_frames, is_interrupt
from .inherited import InheritedContext
from .places import find_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence

    from ..domain import DomainSpec
    from .places import Found

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames

#: The attribute of a function that replaces another one: its ``Patches``.
_MARK = "tau_patches"


class TrialCalls(Protocol):
    """Makes the calls of one trial."""

    def call_value(self, name: str, arguments: dict[str, Any]) -> Any:
        """Make a call from blocking code; return what the function returns, raise what it raises."""
        ...

    async def acall_value(self, name: str, arguments: dict[str, Any]) -> Any:
        """Make a call on any event loop; return what the function returns, raise what it raises."""
        ...

    def fail(self, error: BaseException) -> None:
        """End the trial by an error, from any thread."""
        ...


@dataclass(frozen=True, eq=False)
class Bound:
    """The trial of an agent whose functions are replaced."""

    patches: Patches
    calls: TrialCalls

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """Bind the code that runs meanwhile, and the tasks and threads that it starts, to the trial."""
        token = _BOUND.set(self)
        try:
            yield
        finally:
            _BOUND.reset(token)

    def end(self) -> None:
        """Note that the agent has ended. Its trial refuses what its code calls from now on."""
        self.patches.end(self)


#: Stands for the functions of a domain that run themselves: one that calls another one calls the original.
_INSIDE = object()
#: The ``Bound`` of the code that runs, or ``_INSIDE``; None outside of trials.
_BOUND: ContextVar[object | None] = ContextVar("tau_bound", default=None)


@contextlib.contextmanager
def inside() -> Iterator[None]:
    """Let replaced functions be the original ones meanwhile."""
    token = _BOUND.set(_INSIDE)
    try:
        yield
    finally:
        _BOUND.reset(token)


def run_inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function, asynchronous or not, that runs with the original functions."""

    @functools.wraps(function)
    def call(*args: Any, **arguments: Any) -> Any:
        with inside():
            result = function(*args, **arguments)
        return _awaited_inside(result) if inspect.iscoroutine(result) else result

    return call


async def _awaited_inside(result: Coroutine[Any, Any, Any]) -> Any:
    with inside():
        return await result


class Patches:
    """The places in which an agent finds the functions of a domain.

    The functions there are replaced before the first trial, until ``undo``. Outside of trials, they call the originals.

    Args:
        domain: The name of the domain.
        targets: The places by their dotted names.
        tools: The functions by their names.
        of_object: The names of functions whose first argument is the object of a simulation.

    Attributes:
        loop: Runs the coroutines of agents that call a blocking function on their event loop.
    """

    def __init__(
        self,
        domain: str,
        targets: Sequence[str],
        tools: Mapping[str, Callable[..., Any]],
        of_object: Collection[str] = (),
    ) -> None:
        self._domain, self._targets, self._tools, self._of_object = domain, targets, tools, of_object
        self._lock = threading.RLock()
        self._running: list[Bound] = []
        self._undo: list[Callable[[], Any]] = []
        self._threads = InheritedContext(lambda: _BOUND.get() is not None)
        self.loop = BackgroundLoop(f"tau-agents-{domain}")

    @property
    def may_block(self) -> bool:
        """Return whether a function may be called on the event loop of its agent, and blocks it meanwhile."""
        return not all(map(inspect.iscoroutinefunction, self._tools.values()))

    def replace(self) -> None:
        """Replace the functions; again for places that have got the originals back.

        Raises:
            ConfigurationError: A place cannot be found or replaced, or a function is in none of them; names it.
        """
        with self._lock:
            self._threads.begin()
            reached: set[str] = set()
            for target in self._targets:
                found = self._find(target)
                if not found:
                    raise self._problem(target, f"has none of the domain's tools: {', '.join(self._tools)}")
                for place in found:
                    self._put(target, place)
                reached.update(each.tool for each in found)
            if missing := [name for name in self._tools if name not in reached]:
                places, names = ", ".join(map(repr, self._targets)), ", ".join(missing)
                problem = f"found in none of {places}: {names}, whose calls would reach the original"
                advice = "add the place where the agent finds it"
                raise ConfigurationError(f"domain {self._domain!r}: patch: {problem}: {advice}")

    def begin(self, calls: TrialCalls) -> Bound:
        """Note that the agent of a trial begins."""
        bound = Bound(self, calls)
        with self._lock:
            self._running.append(bound)
        return bound

    def end(self, bound: Bound) -> None:
        """Note that the agent of a trial has ended."""
        with self._lock:
            self._running = [other for other in self._running if other is not bound]

    def undo(self) -> None:
        """Put the original functions back."""
        with self._lock:
            for put_back in reversed(self._undo):
                put_back()
            self._undo.clear()
            self._threads.end()

    def _find(self, target: str) -> list[Found]:
        try:
            return list(find_tools(target, self._tools))
        except BaseException as error:
            if is_interrupt(error):
                raise
            # A foreign module may raise anything while it is imported.
            raise self._problem(target, f"cannot be found: {type(error).__name__}: {error}") from error

    def _put(self, target: str, found: Found) -> None:
        if getattr(found.value, _MARK, None) is self:
            return
        try:
            self._undo.append(found.place.put(self._stand_in(found.tool, found.value)))
        except Exception as error:
            # An object of the agent's may raise anything.
            problem = f"{found.path} cannot be replaced: {type(error).__name__}: {error}"
            raise self._problem(target, problem) from error

    def _problem(self, target: str, problem: str) -> ConfigurationError:
        return ConfigurationError(f"domain {self._domain!r}: patch: {target!r}: {problem}")

    def _trial_of_call(self, name: str, original: Any) -> TrialCalls | None:
        """Return the trial in which a call is made; None if the original is to be called.

        Raises:
            UnboundCallError: It cannot be known.
        """
        bound = _BOUND.get()
        if isinstance(bound, Bound) and bound.patches is self:
            return bound.calls
        # A function that another domain has replaced knows the trials of that domain.
        if bound is _INSIDE or hasattr(original, _MARK) or not (bound or self._running):
            return None
        error = UnboundCallError(
            f"tool {name!r} was called by the thread {threading.current_thread().name!r}, which belongs to no trial, "
            "while trials run; the call was not made: start the thread in the agent's own code, or give what it "
            "runs the agent's context (contextvars.copy_context().run); a test that calls it itself needs a run of its "
            "own"
        )
        with self._lock:
            for each in self._running:  # any of them may have lost the call
                each.calls.fail(error)
        raise error

    def _stand_in(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function that replaces another one, with its name, documentation and signature."""
        signature = inspect.signature(original)
        of_object = name in self._of_object and not inspect.ismethod(original)

        def calls_of(args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[TrialCalls | None, dict[str, Any]]:
            calls = self._trial_of_call(name, original)
            return calls, _by_name(signature, args, keywords, of_object=of_object) if calls else {}

        @functools.wraps(original)
        def blocking(*args: Any, **keywords: Any) -> Any:
            calls, arguments = calls_of(args, keywords)
            return calls.call_value(name, arguments) if calls else original(*args, **keywords)

        @functools.wraps(original)
        async def asynchronous(*args: Any, **keywords: Any) -> Any:
            calls, arguments = calls_of(args, keywords)
            return await (calls.acall_value(name, arguments) if calls else original(*args, **keywords))

        replaced = asynchronous if inspect.iscoroutinefunction(original) else blocking
        setattr(replaced, _MARK, self)
        return replaced


def patches_of(spec: DomainSpec) -> Patches | None:
    """Return the places in which an agent finds the functions of a domain; None if it is given them as tools."""
    return getattr(getattr(spec.agent_db, "source", None), "patches", None)


def _by_name(
    signature: inspect.Signature, args: tuple[Any, ...], keywords: dict[str, Any], *, of_object: bool
) -> dict[str, Any]:
    """Return the arguments of a call by their names, without the object.

    Raises:
        TypeError: They do not fit, and cannot be named.
    """
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError:
        if len(args) > of_object:
            raise
        return keywords  # the call is recorded as one that fails
    named: dict[str, Any] = {}
    for name, value in list(bound.arguments.items())[of_object:]:
        is_rest = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
        named |= value if is_rest else {name: value}
    return named
