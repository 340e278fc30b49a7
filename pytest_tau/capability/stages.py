"""The stages of capabilities in one trial: an exception in one of them costs neither the trial nor its verdict."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import CapabilityError, ConfigurationError, TaskFormatError, TauError
from ..models import CAPABILITY_LIMIT, ToolMessage
from ..stalls import within
from . import PROBLEM, bundled
from .containing import is_contained, outcome_of, problem_of
from .facts import checked_facts
from .views import Ruling, TrialStages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from ..models import Message, Simulation, ToolCall
    from . import ActiveCapability, Capability
    from .views import TrialView


class _Member(NamedTuple):
    """A capability, and its object for the trial."""

    capability: Capability
    stages: Any


class StageCalls:
    """The stages of a trial, of all capabilities.

    A capability that raises an exception takes no further part in the trial: the exception is the problem that its
    facts have. Errors of this package pass, such as a ``CapabilityError``, which ends the conversation.

    Args:
        problems: Why capabilities take no part, by name.
        seconds: The time that each ``call`` has, and ``graded`` and ``ended`` of a capability that is not bundled; None
            for any time.

    Attributes:
        fault: Why the facts that the verdict needs are not known; None if they are.
        running: The capability and its stage that run at the moment, such as ``'heard': message``; None if none does.
    """

    def __init__(self, problems: dict[str, str] | None = None, seconds: float | None = None) -> None:
        self.fault: CapabilityError | None = None
        self.running: str | None = None
        self._problems, self._seconds = dict(problems or {}), seconds
        self._made: list[_Member] = []
        self.begin: list[Callable[[Sequence[Message]], None]] = []
        self.message: list[Callable[[Message], None]] = []
        self.call: list[Callable[[ToolCall], Awaitable[ToolMessage | None]]] = []
        self.result: list[Callable[[ToolCall, ToolMessage], Awaitable[ToolMessage]]] = []
        self.limit: list[Callable[[type], Any]] = []
        self.stopped: list[Callable[[Any], Awaitable[Any]]] = []
        self.converse: Callable[[Any], Awaitable[Any]] | None = None

    def make(self, active: Iterable[ActiveCapability], view: Callable[..., TrialView]) -> None:
        """Make the stages of the capabilities.

        Args:
            active: The capabilities, with their settings.
            view: Makes what a capability is given of the trial.
        """
        for each in active:
            if each.capability.trial is not None:
                self._add(each.capability, functools.partial(view, each.settings, variant=each.variant))
        self.begin = [self._observer(*each) for each in self._overriding("begin")]
        self.message = [self._observer(*each) for each in self._overriding("message")]
        self.call = [self._replacer(*each) for each in self._overriding("call")]
        self.result = [self._alterer(*each) for each in self._overriding("result")]
        self.limit = [self._limiter(*each) for each in self._overriding("limit")]
        self.stopped = [self._leader(*each) for each in self._overriding("stopped")]
        leading = (
            member for member in self._made if member.capability.duplex is not None and member.stages is not None
        )
        self.converse = next(map(self._converse, leading), None)

    def _add(self, capability: Capability, view: Callable[[], TrialView]) -> None:
        assert capability.trial is not None, "it has a part in trials"
        stages: Any = None
        try:
            with self._naming(capability, "trial"):
                stages = capability.trial(view())
            _check_stages(stages)
        except CapabilityError as error:
            self.fault = error
        except (ConfigurationError, TaskFormatError):
            raise
        except BaseException as error:  # noqa: BLE001 - code of others
            self._note(capability, "trial", error)
            stages = None
        self._made.append(_Member(capability, stages))

    def _overriding(self, stage: str) -> list[tuple[_Member, str, Callable[..., Any]]]:
        members = (member for member in self._made if stage in _overridden_by(member.stages.__class__))
        return [(member, stage, getattr(member.stages, stage)) for member in members]

    def _note(self, capability: Capability, stage: str, error: BaseException) -> None:
        """Note why a capability takes no further part; Ctrl-C and the end of the trial are raised again."""
        if not is_contained(error):
            raise error
        self._problems.setdefault(capability.name, problem_of(error, stage))

    def _observer(self, member: _Member, stage: str, method: Callable[..., Any]) -> Callable[[Any], None]:
        def observe(given: Any) -> None:
            if member.capability.name in self._problems:
                return
            try:
                with self._naming(member.capability, stage):
                    _refuse_async(method(given))
            except TauError:
                raise
            except BaseException as error:  # noqa: BLE001 - code of others
                self._note(member.capability, stage, error)

        return observe

    def _limiter(self, member: _Member, stage: str, method: Callable[..., Any]) -> Callable[[type], Any]:
        capability = member.capability

        def limit(kind: type) -> Any:
            if capability.name in self._problems:
                return None
            try:
                with self._naming(capability, stage):
                    ending = _checked(_refuse_async(method()), kind)
                if ending is None:
                    return None
                if ending.reason != CAPABILITY_LIMIT or not isinstance(ending.error, str):
                    expected = f"expected Ending({CAPABILITY_LIMIT!r}, error=TEXT)"
                    raise ValueError(f"{expected}, got {ending.reason!r} and {ending.error!r}")  # noqa: TRY301
                return ending._replace(error=f"{capability.label}: {ending.error}", stop_token=None, kind=None)
            except TauError:
                raise
            except BaseException as error:  # noqa: BLE001 - code of others
                self._note(capability, stage, error)
                return None

        return limit

    def _replacer(
        self, member: _Member, stage: str, method: Callable[..., Any]
    ) -> Callable[[ToolCall], Awaitable[ToolMessage | None]]:
        async def replace(call: ToolCall) -> ToolMessage | None:
            answer = functools.partial(method, call)
            try:
                return await within(self._answer(member.capability, stage, answer, None), self._seconds)
            except TimeoutError:
                problem = f"call: {call.name} was not answered in {self._seconds:g} s"
                raise _without_verdict(member.capability, problem) from None

        return replace

    def _alterer(
        self, member: _Member, stage: str, method: Callable[..., Any]
    ) -> Callable[[ToolCall, ToolMessage], Awaitable[ToolMessage]]:
        async def alter(call: ToolCall, result: ToolMessage) -> ToolMessage:
            altered = await self._answer(member.capability, stage, functools.partial(method, call, result), result)
            return result if altered is None else altered

        return alter

    async def _answer(
        self, capability: Capability, stage: str, ask: Callable[[], Any], default: ToolMessage | None
    ) -> ToolMessage | None:
        """Return the message that a stage makes of a call or of its result; the default if it cannot."""
        if capability.name in self._problems:
            return default
        try:
            with self._naming(capability, stage):
                answer = ask()
                answer = _checked(await answer if inspect.isawaitable(answer) else answer, ToolMessage)
        except TauError:
            raise
        except BaseException as error:  # noqa: BLE001 - code of others
            self._note(capability, stage, error)
            return default
        return default if answer is None else answer

    def _converse(self, member: _Member) -> Callable[[Any], Awaitable[Any]]:
        assert member.capability.duplex is not None, "it leads conversations"
        return self._leader(member, "converse", functools.partial(member.capability.duplex().converse, member.stages))

    def _leader(self, member: _Member, stage: str, method: Callable[..., Any]) -> Callable[[Any], Awaitable[Any]]:
        async def lead(conversation: Any) -> Any:
            try:
                answer = method(conversation)
                return await answer if inspect.isawaitable(answer) else answer
            except (TauError, conversation.Ended):
                raise
            except BaseException as error:
                if not is_contained(error):
                    raise
                raise _without_verdict(member.capability, problem_of(error, stage)) from error

        return lead

    def beginning(self, kind: type) -> Any:
        """Return the beginning of the stored conversation that the trial continues; None for one of its own.

        Args:
            kind: Its class.

        Raises:
            CapabilityError: A capability cannot say which one it continues, so that there is nothing to grade.
        """
        if self.fault is not None:
            raise self.fault
        for member, stage, method in self._overriding("beginning"):
            try:
                with self._naming(member.capability, stage):
                    beginning = _checked(_refuse_async(method()), kind)
            except TauError:
                raise
            except BaseException as error:
                if not is_contained(error):
                    raise
                raise _without_verdict(member.capability, problem_of(error, stage)) from error
            if beginning is not None:
                return beginning
        return None

    async def facts(self, simulation: Simulation) -> dict[str, Any]:
        """Return the facts of a graded trial in their stored form, by capability.

        An exception does not lose the trial: the facts are then the problem, which reports show. A
        ``CapabilityError`` is the ``fault`` as well.
        """
        stored: dict[str, Any] = {}
        for capability, stages in self._made:
            try:
                if stages is not None and capability.name not in self._problems:
                    facts = await self._limited(capability, stages.graded, simulation)
                    if facts is not None:
                        stored[capability.name] = checked_facts(capability, facts)
            except CapabilityError as error:
                self.fault = error
                self._problems[capability.name] = str(error)
            except BaseException as error:
                if not is_contained(error):
                    raise
                self._problems[capability.name] = problem_of(error)
        return stored | {name: {PROBLEM: problem} for name, problem in self._problems.items()}

    async def ruling(self, simulation: Simulation) -> Ruling | None:
        """Return what is to be done with an attempt: the first ruling for another attempt, else the first one.

        A problem is added to the facts of the simulation.
        """
        rulings: list[Ruling] = []
        for member, stage, method in self._overriding("ended"):
            capability = member.capability
            if capability.name in self._problems:
                continue
            try:
                ruling = _checked(await self._limited(capability, method, simulation), Ruling)
                rulings += [] if ruling is None else [ruling]
            except BaseException as error:  # noqa: BLE001 - code of others
                self._note(capability, stage, error)
                facts = simulation.facts.get(capability.name) or {}
                simulation.facts[capability.name] = {**facts, PROBLEM: self._problems[capability.name]}
        return next((ruling for ruling in rulings if ruling.again), rulings[0] if rulings else None)

    async def _limited(self, capability: Capability, method: Callable[[Simulation], Any], given: Simulation) -> Any:
        """Return what a stage after the conversation returns: code of a project may neither block nor hang."""
        if capability in bundled():
            value = method(given)
            return await value if inspect.isawaitable(value) else value
        if getattr(method, "__func__", None) in (TrialStages.graded, TrialStages.ended):
            return None
        try:
            with self._naming(capability, method.__name__):
                value, error = await within(outcome_of(method, given), self._seconds)
        except TimeoutError:
            raise TimeoutError(f"did not return in {self._seconds:g} s") from None
        if error is not None:
            raise error
        return value

    def problems_by(self, problem: str | None) -> dict[str, Any]:
        """Return the facts of a trial whose event loop was given up: the problem of each capability.

        Args:
            problem: What blocked the loop while facts were found; None if none were to be found yet.
        """
        named = [capability.name for capability, stages in self._made if stages is not None and problem is not None]
        return {name: {PROBLEM: text} for name, text in (dict.fromkeys(named, problem) | self._problems).items()}

    @contextlib.contextmanager
    def _naming(self, capability: Capability, stage: str) -> Iterator[None]:
        """Note what runs, for the case that it blocks the event loop."""
        before, self.running = self.running, f"{capability.name!r}: {stage}"
        try:
            yield
        finally:
            self.running = before


@functools.lru_cache(maxsize=256)
def _overridden_by(kind: type) -> frozenset[str]:
    """Return the names of the stages that a class overrides."""
    stages = {name: method for name, method in vars(TrialStages).items() if not name.startswith("_")}
    return frozenset(name for name, default in stages.items() if getattr(kind, name, default) is not default)


def _check_stages(stages: Any) -> None:
    if not hasattr(stages, "graded"):
        raise TypeError(f"expected TrialStages, got {type(stages).__name__}")


def _checked(value: Any, kind: type) -> Any:
    """Return what a stage has returned: None, or a value of the class that it is to return.

    Raises:
        TypeError: It is another value.
    """
    if value is None or isinstance(value, kind):
        return value
    raise TypeError(
        f"expected {'an' if kind.__name__ == 'Ending' else 'a'} {kind.__name__}, got {type(value).__name__}"
    )


def _refuse_async(value: Any) -> Any:
    """Return what a stage has returned that is not awaited.

    Raises:
        TypeError: It is a coroutine.
    """
    if inspect.iscoroutine(value):
        value.close()  # else Python warns that it was never awaited
        raise TypeError("the stage is async, which this one cannot be")
    return value


def _without_verdict(capability: Capability, problem: str) -> CapabilityError:
    return CapabilityError(f"capability {capability.name!r}: {problem}")


def most_attempts(active: Sequence[ActiveCapability]) -> tuple[int, dict[str, str]]:
    """Return the most attempts that capabilities allow a trial, and why some cannot say, by name."""
    most, problems = 1, dict[str, str]()
    for each in active:
        capability = each.capability
        try:
            most = max(most, int(capability.attempts(each.settings)) if capability.attempts else 1)
        except BaseException as error:
            if not is_contained(error):
                raise
            problems[capability.name] = problem_of(error, "attempts")
    return most, problems
