"""Tool calls with random arguments, and what they must not do."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_tau import load_domain

from .hostile import Calls
from .tally import Tally

if TYPE_CHECKING:
    from random import Random

    from pytest_tau import Domain
    from pytest_tau.environment import Database, Environment
    from pytest_tau.models import Requestor

    from .tally import Limits

#: The agent calls twice as often as the user.
_SIDES: tuple[Requestor, ...] = ("assistant", "assistant", "user")
_DOMAINS = ("mock", "airline", "retail", "telecom", "banking_knowledge")
_ESCAPED, _HUNG = "exceptions that escaped", "calls of more than 10 s"
_READ, _FAILED = "states changed by a read", "states changed by a call that failed"
_OTHER, _UNKEPT = "environments changed by a call in another one", "results that cannot be stored"
#: Seconds after which a call counts as one that hangs.
_LIMIT = 10.0
#: Calls in one environment, before the next one, and environments between two comparisons of the shared data.
_CALLS, _ENVIRONMENTS = 40, 25


class _TooLong(BaseException):
    """Raised in a call that takes too long; not an Exception, so that the tool boundary does not take it."""


def calls(limits: Limits) -> Tally:
    """Call random tools of all domains and of both sides, in environments of random tasks.

    Arguments come from the tools' schemas and the domains' data; half of the calls are changed: other types, unknown
    and missing arguments, hostile texts, huge and deeply nested values, values that are no JSON, names of no tool.
    A case is one environment with 40 calls. The data that all environments share is compared now and then, and at the
    end.
    """
    tally = Tally(
        ("calls", "calls that failed", "calls that changed the state"),
        (_ESCAPED, _HUNG, _READ, _FAILED, _OTHER, _UNKEPT),
    )
    targets = [_Target.load(load_domain(name, limits.data), tally) for name in _DOMAINS]
    for number, random in enumerate(limits.cases("calls"), 1):
        random.choice(targets).one_environment(random)
        if number % _ENVIRONMENTS == 0:
            for target in targets:
                target.compare_shared_data()
    for target in targets:
        target.compare_shared_data()
    return tally


@dataclass
class _Target:
    """A domain, its tasks, an environment that nobody calls, and digests of the untouched data."""

    domain: Domain
    tally: Tally
    calls: Calls
    witness: Environment
    untouched: list[str]
    tasks: list[Any] = field(default_factory=list)

    @classmethod
    def load(cls, domain: Domain, tally: Tally) -> _Target:
        witness = domain.environment()
        words: dict[str, set[str]] = {}
        _collect(witness.dump(), "", words)
        known = {name: sorted(found)[:5000] for name, found in words.items()}
        return cls(domain, tally, Calls(known), witness, _digests(witness), [None, *domain.tasks(None)])

    def one_environment(self, random: Random) -> None:
        """Make calls in an environment of a random task."""
        environment = self.domain.environment(random.choice(self.tasks))
        for _ in range(_CALLS):
            side = random.choice(_SIDES)
            tools = environment.shared_tools(side) or environment.shared_tools()
            tool = random.choice(tools)
            name = tool.name if random.random() < 0.95 else self.calls.name(random, tools)
            self._call(environment, name, self.calls.arguments(random, tool), side)

    def _call(self, environment: Environment, name: str, arguments: Any, side: Requestor) -> None:
        before = [database.fork() for database in _databases(environment)]
        tally, failed = self.tally, True
        shown = f"{self.domain.name}.{name[:60]!r} ({side}) with {_shown(arguments)}"
        tally.add("calls")
        limit = _Limit()
        try:
            with limit:
                result = environment.call(name, arguments, side)
            failed = result.error
            result.model_dump_json().encode()
        except _TooLong:
            pass
        except BaseException as error:
            tally.find(_ESCAPED if failed else _UNKEPT, f"{type(error).__name__} of {shown}")
            if isinstance(error, KeyboardInterrupt):
                raise
        if limit.exceeded:
            tally.find(_HUNG, shown)
        if failed:
            tally.add("calls that failed")
        after = _databases(environment)
        if all(new.equals(old) for new, old in zip(after, before, strict=True)):
            return
        if failed:
            tally.find(_FAILED, shown)
        elif not environment.mutates(name, side):
            tally.find(_READ, shown)
        else:
            tally.add("calls that changed the state")

    def compare_shared_data(self) -> None:
        """Compare the whole data of an environment that nobody called, and of a new one, with what it was."""
        for environment in (self.witness, self.domain.environment()):
            if _digests(environment) != self.untouched:
                self.tally.find(_OTHER, f"{self.domain.name}, in one of the last {_ENVIRONMENTS} cases")


def _databases(environment: Environment) -> list[Database]:
    return [database for database in (environment.agent_db, environment.user_db) if database is not None]


def _digests(environment: Environment) -> list[str]:
    return [database.digest() for database in _databases(environment)]


def _collect(value: Any, name: str, words: dict[str, set[str]]) -> None:
    """Add the texts of a JSON value to words by the name of their field, and all of them under an empty name."""
    if isinstance(value, str):
        words.setdefault(name, set()).add(value)
        words.setdefault("", set()).add(value)
    elif isinstance(value, dict):
        for key, part in value.items():
            _collect(part, key, words)
    elif isinstance(value, list):
        for part in value:
            _collect(part, name, words)


def _shown(arguments: Any) -> str:
    try:
        return ascii(arguments)[:200]
    except (RecursionError, ValueError):
        return type(arguments).__name__


class _Limit:
    """Raises in the main thread after the limit.

    Attributes:
        exceeded: Whether it has; the environment may make a result of the exception.
    """

    def __init__(self) -> None:
        self.exceeded = False

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGALRM, self._stop)
        signal.setitimer(signal.ITIMER_REAL, _LIMIT)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)

    def _stop(self, *_: object) -> None:
        self.exceeded = True
        raise _TooLong
