"""The verdict on each mutant: killed, survived, or equivalent; and the score of a set of tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ...analysis import Pair, Paired, PassCount, wilson
from ...language import stems_in
from ...text import plural
from .calls import changes_again, has_chance, pool_of
from .given import given_mutants, is_given
from .mutant import KINDS, Mutant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...analysis import Interval
    from ...environment import Tool
    from ...models import Task
    from .trials import Played, Trials

Outcome: TypeAlias = Literal["killed", "survived", "equivalent", "undecided"]
#: The level of the test of an agent that varies.
_LEVEL = 0.05
#: Shorter words of a sentence say nothing about its tasks.
_WORD = 4
#: Tasks that came nearest to noticing a survivor.
_NEAREST = 3


class Verdict(NamedTuple):
    """What a set of tasks makes of a mutant.

    Attributes:
        mutant: The mutant.
        outcome: ``killed``: it fails where the agent passes. ``equivalent``: no task gives it a chance. ``survived``:
            it acts otherwise and passes. ``undecided``: the budget did not suffice.
        tasks: The tasks that it failed if it was killed; if it survived, those that came nearest.
        trials: The trials that were played.
        why: What the outcome rests on.
        rules: The rules of the policy that a survivor breaks and the agent does not.
    """

    mutant: Mutant
    outcome: Outcome
    tasks: tuple[str, ...] = ()
    trials: int = 0
    why: str = ""
    rules: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """Return what would notice a survivor."""
        rules = (
            f"the rule{'s' * (len(self.rules) > 1)} {', '.join(self.rules)} of the policy, or " if self.rules else ""
        )
        return f"{rules}{self.mutant.notice}"


@dataclass
class Base:
    """The agent without a fault: its trials of each task.

    Attributes:
        tasks: The tasks that it passes in at least one trial, those with the shortest conversations first.
        trials: Its trials, by task.
        failed: The tasks that it never passes.
        steady: Whether all trials of a task are the same: one trial decides.
    """

    tasks: list[Task] = field(default_factory=list)
    trials: dict[str, list[Played]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    steady: bool = False


def play_base(trials: Trials, tasks: Sequence[Task], number: int) -> Base:
    """Play the agent without a fault, so many trials a task; one if it never varies.

    An agent without a model that acts alike in all trials of each task counts as one that never varies.

    Raises:
        BudgetError: The budget is spent.
    """
    base = Base(steady=trials.never_varies)
    for task in tasks:
        base.trials[task.id] = [trials.play(task, trial) for trial in range(1 if base.steady else number)]
        passed = any(played.passed for played in base.trials[task.id])
        base.tasks += [task] if passed else []
        base.failed += [] if passed else [task.id]
    alike = all(len({trial.said for trial in played}) == 1 for played in base.trials.values())
    base.steady = base.steady or (number > 1 and not trials.llms and alike)
    base.tasks.sort(key=lambda task: min(len(played.simulation.messages) for played in base.trials[task.id]))
    return base


def mutants_of(base: Base, policy: str, tools: Sequence[Tool]) -> list[Mutant]:
    """Return the mutants of an agent: of its policy and tools, and of the calls that it makes."""
    calls = [call for played in base.trials.values() for trial in played for call in trial.calls]
    arguments: dict[str, dict[str, None]] = {}
    for call in calls:
        arguments.setdefault(call.call.name, {}).update(dict.fromkeys(call.call.arguments))
    mutants = [*given_mutants(policy, tools)]
    for tool in tools:
        mutants.append(Mutant("tool-gone", tool.name))
        if tool.mutates:
            mutants += [Mutant("argument-changed", tool.name, name) for name in arguments.get(tool.name, ())]
            mutants += [Mutant("call-twice", tool.name), Mutant("call-omitted", tool.name)]
        elif tool.kind == "read":
            mutants += [Mutant("result-old", tool.name), Mutant("result-first", tool.name)]
    return sorted(mutants, key=lambda mutant: KINDS.index(mutant.kind))


class Judge:
    """Decides on mutants.

    Args:
        trials: Plays the trials.
        base: The agent without a fault.
        number: The trials of a task, of an agent that varies.
        most: The most tasks for a mutant of an agent that varies; None for all.
    """

    def __init__(self, trials: Trials, base: Base, number: int, most: int | None = None) -> None:
        self._trials, self._base, self._number = trials, base, number
        self._limit = None if base.steady else most
        trials.pool = pool_of([trial.calls for played in base.trials.values() for trial in played])

    def candidates(self, mutant: Mutant) -> list[Task]:
        """Return the tasks that can notice a mutant, the shortest first.

        Of a sentence, an agent that varies plays the tasks with most of its words, in the scenario and in the names of
        the tools that it calls there.
        """
        if mutant.kind == "descriptions-swapped":
            return [task for task in self._base.tasks if {mutant.tool, mutant.detail} & self._called(task)][
                : self._limit
            ]
        if is_given(mutant):
            return self._about(mutant.detail) if self._limit else self._base.tasks
        return [task for task in self._base.tasks if self._has_chance(mutant, task)][: self._limit]

    def _about(self, sentence: str) -> list[Task]:
        words = {word for word in stems_in(sentence) if len(word) >= _WORD}

        def shared(task: Task) -> int:
            return len(words & stems_in(f"{task.user_scenario} {' '.join(sorted(self._called(task)))}"))

        return sorted(self._base.tasks, key=lambda task: -shared(task))[: self._limit]

    def _called(self, task: Task) -> set[str]:
        return {call.call.name for trial in self._base.trials[task.id] for call in trial.calls}

    def _has_chance(self, mutant: Mutant, task: Task) -> bool:
        for trial in self._base.trials[task.id]:
            if has_chance(mutant, trial.calls, self._trials.pool) and (
                mutant.kind != "call-twice" or changes_again(trial.simulation, task, self._trials.domain, mutant.tool)
            ):
                return True
        return False

    def verdicts(self, mutants: Sequence[Mutant]) -> Iterator[Verdict]:
        """Yield the verdict on each mutant, in order.

        Raises:
            BudgetError: The budget is spent.
        """
        idle = self._without_effect([mutant for mutant in mutants if is_given(mutant)]) if self._base.steady else set()
        for mutant in mutants:
            tasks = self.candidates(mutant)
            if mutant in idle:
                why = "with this and others like it at once, the agent acts alike in every task"
                yield Verdict(mutant, "equivalent", why=why)
            elif not tasks:
                yield Verdict(mutant, "equivalent", why=self._why_no_chance(mutant))
            else:
                yield self._steady(mutant, tasks) if self._base.steady else self._varying(mutant, tasks)

    def _why_no_chance(self, mutant: Mutant) -> str:
        called = any(mutant.tool in self._called(task) for task in self._base.tasks)
        return f"{'it has no consequence' if called else f'{mutant.tool} is not called'} in any task"

    def _without_effect(self, mutants: Sequence[Mutant]) -> set[Mutant]:
        """Return mutants that change no conversation, also all at once with others of their kind.

        Changed sentences are not looked at together: an agent may ignore all of a policy that it cannot read.
        """
        idle: set[Mutant] = set()
        for kind in ("sentence-dropped", "descriptions-swapped"):
            idle.update(self._idle([mutant for mutant in mutants if mutant.kind == kind], self._base.tasks))
        return idle

    def _idle(self, mutants: Sequence[Mutant], tasks: Sequence[Task]) -> list[Mutant]:
        """Return those of some mutants that change nothing; halves of others are looked at in the tasks that differ."""
        differing = [task for task in tasks if self._differs(task, mutants)] if mutants else []
        if not differing:
            return [*mutants]
        if len(mutants) == 1:
            return []
        middle = len(mutants) // 2
        return [*self._idle(mutants[:middle], differing), *self._idle(mutants[middle:], differing)]

    def _differs(self, task: Task, mutants: Sequence[Mutant]) -> bool:
        return self._trials.play(task, 0, mutants).said != self._base.trials[task.id][0].said

    def _steady(self, mutant: Mutant, tasks: Sequence[Task]) -> Verdict:
        """Decide by single trials: one that fails kills."""
        acted: list[str] = []
        rules: set[str] = set()
        for number, task in enumerate(tasks, 1):
            played = self._trials.play(task, 0, [mutant])
            if played.passed is False:
                return Verdict(mutant, "killed", (task.id,), number)
            before = self._base.trials[task.id][0]
            if played.said != before.said:
                acted.append(task.id)
                domain = self._trials.domain
                rules |= played.broken_rules(task, domain) - before.broken_rules(task, domain)
        if not acted:
            return Verdict(mutant, "equivalent", (), len(tasks), "the agent acts alike in every task")
        why = f"the agent acts otherwise in {len(acted)} of {len(tasks)} tasks, and passes them"
        return Verdict(mutant, "survived", tuple(acted[:_NEAREST]), len(tasks), why, tuple(sorted(rules)))

    def _varying(self, mutant: Mutant, tasks: Sequence[Task]) -> Verdict:
        """Decide by the loss over all tasks that can notice it, and the test of paired runs.

        The rest of the tasks is not played if it cannot change the outcome.
        """
        pairs: list[tuple[Pair, Task]] = []
        number, rest = 0, [*tasks]
        while rest:
            task = rest.pop(0)
            after = _count([self._trials.play(task, trial, [mutant]) for trial in range(self._number)])
            before, number = _count(self._base.trials[task.id]), number + self._number
            pairs += [(Pair(before, after), task)] if before.trials and after.trials else []
            if rest and self._is_decided([pair for pair, _ in pairs], rest):
                break
        if not pairs:
            return Verdict(mutant, "undecided", (), number, "no trial has a verdict")
        paired = Paired([pair for pair, _ in pairs])
        nearest = tuple(task.id for _, task in sorted(pairs, key=lambda pair: pair[0].change)[:_NEAREST])
        why = f"pass^1 {paired.before:.3f} -> {paired.after:.3f} over {len(pairs)} tasks, p = {paired.p:.3f}"
        why += f"; {plural(len(rest), 'task')} more cannot change that" if rest else ""
        return Verdict(mutant, "killed" if _is_lost(paired.pairs) else "survived", nearest, number, why)

    def _is_decided(self, pairs: Sequence[Pair], rest: Sequence[Task]) -> bool:
        """Return whether the outcome is the same if all further trials pass, if all fail, and if none has a verdict."""
        before = [_count(self._base.trials[task.id]) for task in rest]
        passing, failing = (
            [Pair(count, PassCount(self._number, passed)) for count in before if count.trials]
            for passed in (self._number, 0)
        )
        return len({_is_lost([*pairs, *further]) for further in (passing, failing, [])}) == 1


def _is_lost(pairs: Sequence[Pair]) -> bool:
    """Return whether the loss over tasks is significant."""
    paired = Paired(pairs) if pairs else None
    return paired is not None and paired.difference < 0 and paired.p < _LEVEL


def _count(trials: Sequence[Played]) -> PassCount:
    decided = [trial for trial in trials if trial.passed is not None]
    return PassCount(len(decided), sum(bool(trial.passed) for trial in decided))


class Score(NamedTuple):
    """The share of killed mutants among all that are not equivalent.

    Attributes:
        killed: How many were killed.
        survived: How many survived.
        equivalent: How many have no chance.
        undecided: How many were not decided.
    """

    killed: int
    survived: int
    equivalent: int
    undecided: int

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> Score:
        """Return the score of mutants."""
        outcomes = Counter(verdict.outcome for verdict in verdicts)
        return cls(outcomes["killed"], outcomes["survived"], outcomes["equivalent"], outcomes["undecided"])

    @property
    def rate(self) -> float | None:
        """Return the share; None if every mutant is equivalent or not decided."""
        decided = self.killed + self.survived
        return self.killed / decided if decided else None

    @property
    def interval(self) -> Interval | None:
        """Return the 95 % interval of the share, as if the mutants were drawn from many like them (Wilson)."""
        return None if self.rate is None else wilson(self.rate, self.killed + self.survived)
