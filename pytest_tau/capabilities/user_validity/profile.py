"""The profile of simulated users: how they write, what they say when, and how they leave."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from ...language import details_in
from ...models import STOP_TOKENS, STOPS, UserMessage
from ...participants import BEHAVIOUR, BEHAVIOURS, COOPERATIVE
from . import capability
from .conversation import Conversation
from .facts import UserFacts
from .trial import check_simulation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...environment import Domain
    from ...models import Simulation, Task
    from ...runs import StoredTrial


@dataclass
class UserProfile:
    """The behaviour of the simulated users of a run; None where there is nothing to measure.

    Attributes:
        trials: Trials with at least one text of a user.
        skipped: Trials without one, such as those of solo mode.
        turns: Texts of the user in a trial, on average.
        words: Words of a text, on average.
        median_words: Words of a text, the median.
        opening_words: Words of the first text, on average.
        facts: Details of the scenario (numbers, ids, dates, e-mail addresses) that a text gives for the first time, on
            average.
        opening_facts: The share of the details given in a conversation that the first text gives.
        calls: Calls of the user's own tools in a trial, on average.
        endings: The share of trials by how they ended: the user's token, or the reason.
        early_stops: The share of trials in which the user stopped too early, by the checks of stops.
        faulty: The share of trials with a fault of the user.
        checks: In how many trials each check has found something.
    """

    trials: int = 0
    skipped: int = 0
    turns: float | None = None
    words: float | None = None
    median_words: float | None = None
    opening_words: float | None = None
    facts: float | None = None
    opening_facts: float | None = None
    calls: float | None = None
    endings: dict[str, float] = field(default_factory=dict)
    early_stops: float | None = None
    faulty: float | None = None
    checks: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, trials: Iterable[StoredTrial], domain_of: Callable[[str], Domain | None]) -> UserProfile:
        """Return the profile of stored trials.

        Args:
            trials: The trials.
            domain_of: Returns the domain of a name; None if it is not installed, and calls of tools are not checked.
        """
        skipped, measured = 0, []
        for trial in trials:
            conversation = _measured(trial, domain_of)
            skipped += conversation is None
            measured += [conversation] if conversation is not None else []
        if not measured:
            return cls(skipped=skipped)
        lengths = [length for conversation in measured for length in conversation.words]
        facts_given = sum(sum(conversation.facts) for conversation in measured)
        endings, checks = (
            Counter(conversation.ending for conversation in measured),
            Counter(c for conversation in measured for c in conversation.checks),
        )
        number = len(measured)
        return cls(
            trials=number,
            skipped=skipped,
            turns=fmean(len(conversation.words) for conversation in measured),
            words=fmean(lengths),
            median_words=float(median(lengths)),
            opening_words=fmean(conversation.words[0] for conversation in measured),
            facts=facts_given / len(lengths),
            opening_facts=sum(conversation.facts[0] for conversation in measured) / facts_given
            if facts_given
            else None,
            calls=fmean(conversation.calls for conversation in measured),
            endings={name: many / number for name, many in sorted(endings.items())},
            early_stops=sum(
                any(check.startswith("stop-") for check in conversation.checks) for conversation in measured
            )
            / number,
            faulty=sum(bool(conversation.checks) for conversation in measured) / number,
            checks=dict(sorted(checks.items())),
        )


@dataclass(frozen=True)
class _Measured:
    words: list[int]
    facts: list[int]
    calls: int
    ending: str
    checks: tuple[str, ...]


def _measured(trial: StoredTrial, domain_of: Callable[[str], Domain | None]) -> _Measured | None:
    simulation, task = trial.simulation, trial.task
    if task is None:
        return None
    conversation = Conversation(task, simulation.messages)
    texts = [text for _, text in conversation.user_texts()]
    if not texts:
        return None
    scenario = {detail[:2] for detail in details_in(conversation.scenario)}
    mentioned: set[Any] = set()
    facts = []
    for text in texts:
        new = {detail[:2] for detail in details_in(text)} & scenario - mentioned
        mentioned |= new
        facts.append(len(new))
    calls = sum(len(message.tool_calls or ()) for message in simulation.messages if isinstance(message, UserMessage))
    last = simulation.messages[-1]
    token = last.stop_token if isinstance(last, UserMessage) else None
    ended = token if simulation.termination_reason in STOPS and token in STOP_TOKENS else simulation.termination_reason
    user_facts = stored_or_checked(simulation, task, lambda: domain_of(trial.domain))
    return _Measured([len(text.split()) for text in texts], facts, calls, str(ended), user_facts.checks)


def stored_or_checked(simulation: Simulation, task: Task, domain: Callable[[], Domain | None]) -> UserFacts:
    """Return what a trial has stored about its user; for one that has stored nothing, check it now."""
    stored = capability.read(simulation.facts)
    behaviour = ((simulation.conditions or {}).get("persona") or {}).get(BEHAVIOUR, COOPERATIVE)
    if stored is not None or behaviour not in BEHAVIOURS:
        # What a behaviour of a plugin excuses is not known here; its run has checked the user.
        return stored or UserFacts()
    return check_simulation(simulation, task, domain(), BEHAVIOURS[behaviour].excuses)
