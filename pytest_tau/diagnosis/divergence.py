"""The first divergence of a final state: the call that put the right one out of reach, or the write that never came.

A state is *within reach* if writes of the reference, made there in their order, meet the state checks that the
conversation failed: the database as the reference leaves it, and the assertions. Three choices of writes are tried:

1. those that no successful call before has made, with equal arguments, wherever in the order;
2. those after the last one up to which all were made in the reference's order: a restart that came too early is due
   again;
3. of the first choice, each that brings the state nearer: another call may have done the same in another way.

If none leads there, calls of the user's that undo one of its own come before them: the same one again, as with a
switch, or one with another value that its tool lists. What a device was set to is not lost.

If the final state is within reach, the writes that remain are ``missing``. Else the conversation ``diverged`` at the
first call after the last state within reach: what was undone and repaired before is not a divergence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..environment import reference_environment
from ..evaluation.component_reports import BY_USER
from ..evaluation.components.db import check_db, same_state
from ..evaluation.components.env_assertion import check_env_assertions
from ..models import Action, Difference, Divergence, EnvAssertion, call_as_text
from ..plain import json
from ..text import listed, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain, Environment
    from ..models import Call, RewardInfo, Simulation, Task, ToolCall

#: Places and writes that are named.
_MOST = 2
#: Characters of a call or a value that are shown.
_WIDTH = 120


def first_divergence(task: Task, simulation: Simulation, domain: Domain, *, solo: bool = False) -> Divergence | None:
    """Find where the final state of a failed conversation went wrong.

    Args:
        task: What was to be done.
        simulation: The conversation, graded.
        domain: The domain it took place in.
        solo: The agent worked alone, with both sides' tools.

    Returns:
        None if no state check failed that the reward depends on, if the reference itself does not meet them, or if
        each state that would be tried needs a process of its own.

    Raises:
        TaskFormatError: The initial state cannot be applied.
    """
    verdict = simulation.reward_info if domain.spec.agent_db.cheap_to_fork else None
    task = task.of_outcome(verdict.compared_outcome if verdict else None)
    goal = _Goal.of(task, verdict, domain) if verdict else None
    if goal is None:
        return None
    calls = _calls(simulation)
    states = _States(task, domain, solo=solo)
    steps = list(states.after(calls))
    final = steps[-1]
    path = goal.path_after_all(final, states)
    # What the user only had to undo was its own doing.
    only_repairs = bool(path) and all(each in final.repairs for each in path or ())
    if path is not None and not only_repairs:
        needed = goal.needed(path, final, states)
        return _missing(sorted(needed, key=final.repairs.__contains__), solo=solo) if needed else None
    reached = goal.path_from if only_repairs else goal.path_after_all
    for before, step in zip(steps[-2::-1], steps[:0:-1], strict=True):
        if step.changed and reached(before, states) is not None:
            missed = goal.missed_for_good(states.completed(step.state, step.unmade), final.state)
            return _diverged(step, missed, "was no longer" if only_repairs else "could no longer be")
    return None


def _calls(simulation: Simulation) -> list[Call]:
    """Return the calls that were executed: each has a result, and no fault came before the tool."""
    return [made for made in simulation.calls if made.call.malformed is None and made.result and made.result.executed]


class _Step(NamedTuple):
    """A state on the way.

    Attributes:
        made: The call that led to it; None for the first.
        state: The environment after it.
        unmade: The reference's writes that were not made by then.
        due: Those from the first one on that was not made in its place in the order.
        repairs: Calls of the user's that may undo one that it has made.
        changed: Whether the call changed anything.
    """

    made: Call | None
    state: Environment
    unmade: list[Action]
    due: list[Action]
    repairs: list[Action]
    changed: bool


class _States:
    """The states of a conversation, and those that writes of the reference would lead to."""

    def __init__(self, task: Task, domain: Domain, *, solo: bool) -> None:
        self._task, self._domain, self._solo = task, domain, solo

    def after(self, calls: Sequence[Call]) -> Iterator[_Step]:
        """Yield the first state, and the state after each call that may change one."""
        state = self._domain.environment(self._task, solo=self._solo, replay_history=False)
        due = unmade = [a for a in self._task.criteria.actions or [] if state.mutates(a.name, self._by(a))]
        repairs: list[Action] = []
        yield _Step(None, state.fork(), unmade, due, [], changed=True)
        for made in calls:
            call = made.call
            if not state.mutates(call.name, call.requestor):
                continue
            before = state.fork()
            if not state.call(call.name, call.arguments, call.requestor).error:
                same = next((action for action in unmade if self._is(action, call)), None)
                unmade = [action for action in unmade if action is not same]
                due = due[1:] if due and self._is(due[0], call) else due
            changed = not same_state(state, before)
            if changed and call.requestor == "user":
                repairs = [*repairs, *(each for each in _repairs(call, state) if each not in repairs)]
            yield _Step(made, state.fork(), unmade, due, repairs, changed)

    def completed(self, state: Environment, writes: Sequence[Action]) -> Environment:
        """Return the state after these writes of the reference."""
        state = state.fork()
        for action in writes:
            self.make(state, action)
        return state

    def make(self, state: Environment, action: Action) -> bool:
        """Make a write of the reference; return whether it succeeded."""
        return not state.call(action.name, action.arguments, self._by(action)).error

    def _is(self, action: Action, call: ToolCall) -> bool:
        same = action.name == call.name and action.arguments == call.arguments
        return same and self._by(action) == call.requestor

    def _by(self, action: Action) -> Any:
        return "assistant" if self._solo else action.requestor


def _repairs(call: ToolCall, state: Environment) -> Iterator[Action]:
    """Yield calls that may undo a call of the user's: the same one, and those with other values that its tool lists."""
    tool = next((each for each in state.shared_tools("user") if each.name == call.name), None)
    listed = {
        name: schema.get("enum") or () for name, schema in ((tool and tool.parameters.get("properties")) or {}).items()
    }
    others = [{**call.arguments, name: value} for name, values in listed.items() for value in values]
    for arguments in (call.arguments, *others):
        yield Action(action_id="repair", name=call.name, arguments=arguments, requestor="user")


class _Goal:
    """The state checks that a conversation failed."""

    def __init__(self, task: Task, reference: Environment | None, *, assertions: bool) -> None:
        self._reference = reference
        self._assertions = (task.criteria.env_assertions or []) if assertions else []

    @classmethod
    def of(cls, task: Task, verdict: RewardInfo, domain: Domain) -> _Goal | None:
        """Return the failed state checks that the reward depends on; None if there are none."""
        basis = verdict.reward_basis or []
        database = "DB" in basis and verdict.db_check is not None and not verdict.db_check.db_match
        unmet = "ENV_ASSERTION" in basis and any(not check.met for check in verdict.env_assertions or [])
        if not (database or unmet):
            return None
        return cls(task, reference_environment(domain, task) if database else None, assertions=unmet)

    def path_from(self, step: _Step, states: _States) -> list[Action] | None:
        """Return the reference's writes that lead from a state to the goal; None if they do not."""
        for path in (step.unmade, step.due):
            if self.is_reached_by(states.completed(step.state, path)):
                return path
        return self._shorter_path(step, states)

    def path_after_all(self, step: _Step, states: _States) -> list[Action] | None:
        """Return the writes that lead from a state to the goal, with repairs if need be; None if they do not."""
        path = self.path_from(step, states)
        return self.path_with_repairs(step, states) if path is None else path

    def path_with_repairs(self, step: _Step, states: _States) -> list[Action] | None:
        """Return repairs, and the reference's writes that lead to the goal after them; None if there are none."""
        chosen: list[Action] = []
        left = len(self.missed(states.completed(step.state, step.unmade)))
        for repair in step.repairs:
            repaired = step._replace(state=states.completed(step.state, [*chosen, repair]))
            now = len(self.missed(states.completed(repaired.state, step.unmade)))
            if now < left:
                chosen, left = [*chosen, repair], now
                path = self.path_from(repaired, states)
                if path is not None:
                    return [*chosen, *path]
        return None

    def _shorter_path(self, step: _Step, states: _States) -> list[Action] | None:
        """Return the writes that each bring the state nearer, if they reach the goal; other calls replaced the rest."""
        state, path = step.state.fork(), []
        left = len(self.missed(state))
        for action in step.unmade:
            tried = state.fork()
            if states.make(tried, action) and (now := len(self.missed(tried))) < left:
                state, left = tried, now
                path.append(action)
        return None if left else path

    def needed(self, path: list[Action], step: _Step, states: _States) -> list[Action]:
        """Return the writes of a path that the goal cannot do without."""
        state = step.state
        needed: list[Action] = []
        for place, action in enumerate(path):
            if not self.is_reached_by(states.completed(state, path[place + 1 :])):
                state, needed = states.completed(state, [action]), [*needed, action]
        return needed

    def is_reached_by(self, state: Environment) -> bool:
        """Return whether nothing is missed, without listing it."""
        return same_state(state, self._reference) and all(
            check.met for check in check_env_assertions(self._assertions, state)
        )

    def missed(self, state: Environment) -> list[Difference | EnvAssertion]:
        """Return what is not as it should be."""
        unmet = [check.env_assertion for check in check_env_assertions(self._assertions, state) if not check.met]
        return [*check_db(state, self._reference).differences, *unmet]

    def missed_for_good(self, state: Environment, final: Environment) -> list[str]:
        """Return what is not as it should be in a state, nor in the end, in words, the shortest first.

        A state to which writes of the reference were added has what these alone make wrong, such as a second record.
        """
        in_the_end = self.missed(final)
        return sorted((_words(each) for each in self.missed(state) if _is_so(each, in_the_end)), key=len)


def _missing(writes: list[Action], *, solo: bool) -> Divergence:
    missing = [shorten(call_as_text(a.name, a.arguments), _WIDTH) + _by(a.requestor, solo=solo) for a in writes]
    calls = [
        {"name": a.name, "arguments": a.arguments, "requestor": "assistant" if solo else a.requestor} for a in writes
    ]
    return Divergence(None, "missing", calls[0], f"never made: {listed(missing, _MOST)}", tuple(calls[1:]))


def _diverged(step: _Step, missed: list[str], was: str) -> Divergence:
    missed = [each.replace("could no longer be", was) for each in missed]
    assert step.made is not None, "nothing comes before the first state"
    number, call = step.made.message_idx, step.made.call
    who = "user" if call.requestor == "user" else "agent"
    text = f"message {number}, {who} called {shorten(call_as_text(call.name, call.arguments), _WIDTH)}"
    text += f": after it {'; '.join(missed[:_MOST]) or 'the expected final state was out of reach'}"
    text += f" (and {len(missed) - _MOST} more)" if len(missed) > _MOST else ""
    where = {"name": call.name, "arguments": call.arguments, "requestor": call.requestor}
    return Divergence(number, "diverged", where, text)


def _by(requestor: str, *, solo: bool) -> str:
    return BY_USER if requestor == "user" and not solo else ""


def _is_so(wrong: Difference | EnvAssertion, in_the_end: Sequence[Difference | EnvAssertion]) -> bool:
    """Return whether what is wrong in a state is so in the end too."""
    if isinstance(wrong, EnvAssertion):
        return wrong in in_the_end
    there = (d for d in in_the_end if isinstance(d, Difference) and (d.side, d.path) == (wrong.side, wrong.path))
    end = next(there, None)
    # Where the expected value is missing there is too much, such as a record, which may have other fields in the end.
    if end is None or wrong.missing != "expected":
        return end is not None and end.missing != "expected"
    return end.got == wrong.got or (isinstance(end.got, dict) and isinstance(wrong.got, dict))


def _words(wrong: Difference | EnvAssertion) -> str:
    if isinstance(wrong, Difference):
        return _place(wrong)
    return f"{call_as_text(wrong.func_name, wrong.arguments)} could no longer be {_json(wrong.assert_value)}"


def _place(difference: Difference) -> str:
    if difference.missing == "expected":
        got = "" if isinstance(difference.got, dict) else f" ({_json(difference.got)})"
        return f"{difference.path}{got} could no longer be absent"
    if difference.missing == "got" and isinstance(difference.expected, dict):
        return f"{difference.path} could no longer be there"
    return f"{difference.path} could no longer be {_json(difference.expected)}"


def _json(value: Any) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), _WIDTH)
