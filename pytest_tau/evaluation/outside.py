"""Changes of a conversation's environment that grading does not replay.

They are made outside of the conversation's calls, such as by tools that an agent runs directly, or by a call of a tool
that is not declared as a write. They are found by comparing the environment after the conversation with the one that
grading has replayed; the reward does not depend on it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..environment import unstable_reference
from ..environment.functions.session_state import SessionState
from ..errors import DomainError
from ..models import OutsideChanges, calls_in
from .component import CustomComponent
from .component_reports import Line, difference_texts
from .components.db import check_db, difference, same_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..environment import Database, Domain, Environment
    from ..models import Call, Difference, Message, RewardInfo, Task, ToolCall
    from .component import GradingInput

#: Differences that are kept, and those that are shown.
_KEPT, _SHOWN = 20, 4
#: Characters of a whole record that is shown.
_RECORD_WIDTH = 200
_CURES = {
    "during": "grading replays only the conversation's calls: return the calls from respond(), or give the agent the "
    "tools of its trial (pytest_tau.own_loop)",
    "before": "grading starts from the task's own initial state: put the changes into the task's initial_state",
}


class StateBefore(NamedTuple):
    """The state of an environment before its conversation, and how often each tool had been executed on it."""

    agent_db: Database
    user_db: Database | None
    executed: Counter[str]

    @classmethod
    def of(cls, environment: Environment) -> StateBefore:
        """Return the current state of an environment, in microseconds."""
        environment.agent_db.put_back()
        user_db = None if environment.shared_db else environment.user_db
        return cls(environment.agent_db.fork(), user_db.fork() if user_db else None, environment.executed.copy())

    def is_of(self, other: Environment) -> bool:
        """Return whether an environment has this state."""
        user_db = other.user_db
        same = self.user_db is None or user_db is None or self.user_db.equals(user_db)
        return same and self.agent_db.equals(other.agent_db)


class UndeclaredWrite(NamedTuple):
    """A call that has changed the state, of a tool that is not declared as a write.

    Attributes:
        tool: The name of the tool.
        kind: The kind that it is declared as.
        place: The first place that it has changed, such as ``orders/#W1/status``.
        cure: How to correct the declaration.
    """

    tool: str
    kind: str
    place: str
    cure: str

    def __str__(self) -> str:
        return f"tool {self.tool!r} is declared as {self.kind} but has changed {self.place}: {self.cure}"


def undeclared_write(environment: Environment, calls: Iterable[ToolCall]) -> UndeclaredWrite | None:
    """Carry out calls one by one; return the first that changes the state although its tool is not a write.

    A tool that is declared with ``mutates=False`` says itself that its changes do not count.

    Args:
        environment: The environment, which is changed.
        calls: The calls, in order.
    """
    for call in calls:
        info = environment.info_of(call.name, call.requestor)
        if info is None or call.malformed is not None or environment.waits_for(call.name):
            continue
        if info.mutates or info.uncounted:
            environment.answer(call)
            continue
        before = environment.fork()
        with contextlib.suppress(Exception):  # the tool boundary; what it changed before it failed stays
            environment.execute(call.name, call.arguments, call.requestor)
        changed = [change for _, mine, now in before.databases_with(environment) for change in mine.changes(now)]
        if changed:
            return UndeclaredWrite(call.name, info.kind, changed[0].path, declaration(environment, info.kind))
        environment.sync()
    return None


def declaration(environment: Environment, kind: str) -> str:
    """Return what to do with the declaration of a tool that is declared as another kind than a write."""
    if isinstance(environment.agent_db, SessionState):
        return f"do not name it in {'reads' if kind == 'read' else kind}= of the domain"
    return 'declare it @tool("write")'


def _changes(when: Literal["during", "before"], tools: dict[str, int], differences: list[Difference]) -> OutsideChanges:
    return OutsideChanges(when, tools, differences[:_KEPT], len(differences))


def outside_changes(live: Environment, before: StateBefore, given: GradingInput) -> OutsideChanges | None:
    """Return the changes of an environment that no call of its conversation has made; None if there are none.

    The comparison looks at touched records only. Everything else happens only if the states differ.

    Args:
        live: The environment of the conversation, after it.
        before: Its state before the conversation.
        given: The conversation as it is graded, with the replayed environment.
    """
    differences = check_db(live, given.environment).differences
    if not differences:
        return None
    calls = _made(given)
    own_executions = Counter(call.call.name for call in calls)
    infos = live.tool_infos

    def writing(executed: Counter[str]) -> dict[str, int]:
        return {name: number for name, number in executed.items() if name in infos and infos[name].mutates}

    during = writing(live.executed - before.executed - own_executions)
    if during:
        return _changes("during", during, differences)
    if unstable_reference(given.domain, given.task) is not None:
        return None  # the domain itself is never the same
    if not live.agent_db.cheap_to_fork:
        return None  # what follows would start servers
    start = given.domain.environment(given.task, solo=given.solo)
    if not before.is_of(start):
        return _changes("before", writing(before.executed - start.executed), differences)
    unexplained = _unexplained(differences, live, start, calls, given)
    return _changes("during", {}, unexplained) if unexplained else None


def _made(given: GradingInput) -> list[Call]:
    """Return the calls of the conversation that were executed."""
    history = len(given.task.message_history or ())
    calls = [call for call in calls_in(given.messages) if call.message_idx >= history]
    return [call for call in calls if call.result and call.result.executed and call.call.malformed is None]


def undeclared_in(given: GradingInput) -> UndeclaredWrite | None:
    """Return the first call of a conversation that changes the state, although grading does not replay it."""
    if not given.domain.spec.agent_db.cheap_to_fork:
        return None  # this would start servers
    start = given.domain.environment(given.task, solo=given.solo)
    return undeclared_write(start, [call.call for call in _made(given)])


def check_domain(verdict: RewardInfo, undeclared: UndeclaredWrite | None, task: Task, domain: Domain) -> None:
    """Refuse a verdict that depends on a mistake of the domain.

    Args:
        verdict: The verdict.
        undeclared: The effect of a call that grading does not replay; None if there is none.
        task: What was to be done.
        domain: The domain it took place in.

    Raises:
        DomainError: There is one, an assertion returned something else than a bool, the final state is wrong and the
            reference actions lead to another one each time, or records that all simulations share were changed.
        ToolServerError: A tool server is lost.
    """
    if undeclared is not None:
        raise DomainError(str(undeclared))
    wrong = (verdict.reward_breakdown or {}).get("DB") == 0
    problem = (unstable_reference(domain, task) if wrong else None) or domain.shared_records_problem()
    if problem is not None:
        raise DomainError(problem)
    for check in verdict.env_assertions or []:
        if check.returned is not None:
            name = check.env_assertion.func_name
            raise DomainError(f"assertion {name!r} returned {check.returned}: return True or False")


def _unexplained(
    differences: list[Difference], live: Environment, start: Environment, calls: Sequence[Call], given: GradingInput
) -> list[Difference]:
    """Return the differences that tools cannot have made: no tool was executed except by the calls.

    A tool may have another effect when it is executed again, as one that stores the time does. A tool that is declared
    as one that only reads is not replayed.
    """
    written = [(change.side, change.path) for change in check_db(given.environment, start).differences]
    for call in calls:
        start.answer(call.call)
        start.sync()
    if same_state(start, live):
        return []
    return [
        change for change in differences if not any(_overlap((change.side, change.path), place) for place in written)
    ]


def _overlap(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether two places, each a side and a path, are equal, or one is inside of the other."""
    (side, path), (other_side, other_path) = one, other
    return side == other_side and (f"{path}/".startswith(f"{other_path}/") or f"{other_path}/".startswith(f"{path}/"))


class OutsideObserver(CustomComponent):
    """Looks at a conversation that is graded, as a component without checks, which no reward depends on.

    Attributes:
        found: The changes, once the conversation was graded.
        undeclared: The effect of a call because of which the conversation cannot be graded.
    """

    name = "outside changes"

    def __init__(self, live: Environment, before: StateBefore) -> None:
        self._live, self._before = live, before
        self._by_others: list[Difference] = []
        with contextlib.suppress(Exception):  # the domain's own code; now, as grading puts other states in place
            self._by_others = [difference("agent", change) for change in live.agent_db.changes_by_others()]
        self.found: OutsideChanges | None = None
        self.undeclared: UndeclaredWrite | None = None

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Find the changes, if the domain's own code, which runs here, does not fail; write no check."""
        del verdict
        if self._live.abandoned:
            return
        with contextlib.suppress(Exception):
            if not same_state(self._live, given.environment):
                self.undeclared = undeclared_in(given)
                self.found = None if self.undeclared else outside_changes(self._live, self._before, given)
        if self._by_others and not self.undeclared and self.found is None:
            self.found = _changes("during", {}, self._by_others)

    def evaluate(self, task: Task, messages: Sequence[Message], environment: Environment) -> float:
        """Return 1: nothing is checked."""
        del task, messages, environment
        return 1.0


def outside_lines(changes: OutsideChanges) -> list[Line]:
    """Return the lines of a failure report about changes that no call has made."""
    tools, when = changes.tools, changes.when
    ran = ", ".join(name if number == 1 else f"{name} ({number} times)" for name, number in tools.items())
    how = f"; executed on it directly: {ran}" if ran else ""
    where = "outside of the conversation's calls" if when == "during" else "before the conversation"
    lines = [Line("head", f"the environment was changed {where}{how}")]
    for place in changes.differences[:_SHOWN]:
        texts = difference_texts(place.expected, place.got, place.missing, whole=_RECORD_WIDTH)
        lines.append(Line("bad", f"  {place.side} side: {place.path}  {'   '.join(texts)}"))
    left = changes.places - _SHOWN
    lines += [Line("note", f"  and {left} more")] if left > 0 else []
    return [*lines, Line("note", f"  {_CURES[when]}")]
