"""The tasks in doubt: how many agents ended in the same way against the reference, and how many passed.

The score of a task is the share of the most frequent end that is neither that of the reference nor the state at the
beginning, minus the share that passed. Each agent counts as one, however many trials it has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ...text import plural

if TYPE_CHECKING:
    from ...models import Attribution
    from .ends import EndFacts

#: An end is evidence if it is that of so many agents, or of so many trials of one.
_AGENTS, _TRIALS = 2, 3
_EXAMPLES = 3


def is_spoilt(blame: Attribution | None) -> bool:
    """Return whether the user spoilt a conversation; one that only asked for something else is evidence of a task."""
    return blame is not None and blame.party == "user" and not blame.is_other_wish


class TaskKey(NamedTuple):
    """A task of a domain; tasks of one id that differ are different tasks."""

    domain: str
    task_id: str
    content: str = ""


class Doubt(NamedTuple):
    """A task in doubt.

    Attributes:
        task: The task.
        score: The share of agents with the same end, minus the share that passed; above 0.
        trials: The number of trials that count.
        passed: The number of them that passed.
        agents: The number of agents with the same end.
        same: The number of trials with it.
        differs: What differs from the reference in it, as text.
        examples: The ids of simulations with it.
    """

    task: TaskKey
    score: float
    trials: int
    passed: int
    agents: int
    same: int
    differs: tuple[str, ...]
    examples: tuple[str, ...]


@dataclass
class _End:
    """An end of a task: how often each agent has reached it, and what is shown of it."""

    differs: tuple[str, ...]
    places: int
    trials: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


@dataclass
class _Trials:
    """The trials of a task."""

    ran: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    ends: dict[str, _End] = field(default_factory=dict)
    #: By digest of a difference, how often each agent has it.
    parts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


class Evidence:
    """What trials say about their tasks; memory grows with the tasks and their different ends, not with the trials."""

    def __init__(self) -> None:
        self._tasks: dict[TaskKey, _Trials] = defaultdict(_Trials)

    def add(self, task: TaskKey, agent: str, end: EndFacts | None, *, passed: bool, example: str) -> None:
        """Add a trial that has a verdict.

        Args:
            task: Its task.
            agent: Its agent.
            end: How it ended; None if that is not known.
            passed: Whether it passed.
            example: The id of the simulation.
        """
        trials = self._tasks[task]
        trials.ran[agent] += 1
        trials.passed[agent] += passed
        if passed or end is None or end.says_nothing:
            return
        ending = trials.ends.setdefault(end.end, _End(end.differs, len(end.parts)))
        ending.trials[agent] += 1
        if len(ending.examples) < _EXAMPLES:
            ending.examples.append(example)
        for part in end.parts:
            trials.parts[part][agent] += 1

    @property
    def tasks(self) -> int:
        """Return the number of tasks with a verdict."""
        return len(self._tasks)

    @property
    def agents(self) -> int:
        """Return the number of agents."""
        return len({agent for trials in self._tasks.values() for agent in trials.ran})

    def doubts(self) -> list[Doubt]:
        """Return the tasks in doubt, by falling score.

        Of tasks with equal scores, the first are those in which more agents share a difference, and then those whose
        end differs in fewer places: an end that differs in one value is rather a choice than a muddle.
        """
        rows = [
            (doubt, shared, places)
            for task, trials in self._tasks.items()
            if (judged := _doubt(task, trials)) is not None
            for doubt, shared, places in [judged]
        ]
        rows.sort(key=lambda row: (-round(row[0].score, 9), -row[1], row[2], row[0].task))
        return [doubt for doubt, _, _ in rows]


def _doubt(task: TaskKey, trials: _Trials) -> tuple[Doubt, float, int] | None:
    """Return the doubt in a task, the share of its most frequent difference, and the places that its end differs in."""
    ends = [end for end in trials.ends.values() if len(end.trials) >= _AGENTS or end.trials.total() >= _TRIALS]
    if not ends:
        return None
    end = max(ends, key=lambda end: (_share(end.trials, trials.ran), -end.places))
    score = _share(end.trials, trials.ran) - _share(trials.passed, trials.ran)
    if score <= 0:
        return None
    doubt = Doubt(
        task,
        score,
        trials.ran.total(),
        trials.passed.total(),
        len(end.trials),
        end.trials.total(),
        end.differs,
        tuple(end.examples),
    )
    return doubt, max(_share(part, trials.ran) for part in trials.parts.values()), end.places


def _share(some: Counter[str], of: Counter[str]) -> float:
    """Return the mean over agents of the share of their trials."""
    return sum(some[agent] / many for agent, many in of.items()) / len(of)


def in_words(doubt: Doubt) -> str:
    """Return how many agents end in the same state, and how many trials pass."""
    ended = f"{plural(doubt.same, 'trial')} of {plural(doubt.agents, 'agent')}"
    return f"{ended} end in the same other way, {doubt.passed} of {plural(doubt.trials, 'trial')} pass"
