"""Interaction metrics: how fast and how often the agent answers, yields, and ignores what is not for it.

Source: τ²-bench v1.0.1, interaction metrics 1.0.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..ticks import NON_DIRECTED, VOCAL_TIC
from .segments import BACKCHANNEL, agent_segments, out_of_turn_sounds, user_segments, without_last_artefact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..ticks import Tick
    from .segments import Segment, Sound


#: So many turns without an answer in a row are an unresponsive period.
_UNRESPONSIVE = 3


def responsiveness(ticks: Sequence[Tick]) -> dict[str, Any]:
    """Return the numbers of turns of both sides, and the longest row of the user's without an answer."""
    user, agent = user_segments(ticks), agent_segments(ticks)
    most = row = 0
    for turn, after in zip(user, [*user[1:], None], strict=False):
        end = len(ticks) if after is None else after.start
        row = 0 if any(segment.start < end and segment.end > turn.start for segment in agent) else row + 1
        most = max(most, row)
    return {
        "total_user_turns": len(user),
        "total_agent_turns": len(agent),
        "max_unresponded_user_turns": most,
        "had_unresponsive_period": most >= _UNRESPONSIVE,
    }


#: The version of the definitions.
VERSION: Final = "1.0"
#: Seconds in which an agent that is interrupted falls silent, in which it does not for the others, and in which it
#: does not answer.
WINDOWS: Final = {
    "no_yield_window_sec": 2.0,
    "backchannel_yield_window_sec": 1.0,
    "vocal_tic_yield_window_sec": 1.0,
    "non_directed_yield_window_sec": 1.0,
    "vocal_tic_response_window_sec": 2.0,
    "non_directed_response_window_sec": 2.0,
}
#: What events call the two kinds of sounds.
_NAMES = {VOCAL_TIC: VOCAL_TIC, NON_DIRECTED: "non_directed", BACKCHANNEL: BACKCHANNEL}
_SELECTIVE = ("backchannel", "vocal_tic", "non_directed")


class Event(NamedTuple):
    """Something that the agent did right or wrong.

    Attributes:
        category: ``response``, ``yield``, ``backchannel``, ``vocal_tic`` or ``non_directed``.
        is_error: Whether it was wrong.
        tick: When.
        latency: Seconds until the agent answered or yielded; None if it did neither.
        until: The tick after what it is about: for the reports.
    """

    category: str
    is_error: bool
    tick: int
    latency: float | None = None
    until: int = 0


class Interaction(NamedTuple):
    """What happened in a conversation.

    Attributes:
        events: In order of time, of the same tick answers first.
        agent_interruptions: How many segments of the agent begin while the user speaks.
        ticks: The number of ticks; conversations without any are not counted.
        agent_segments: The segments of the agent.
    """

    events: list[Event]
    agent_interruptions: int
    ticks: int
    agent_segments: Sequence[Segment] = ()

    @classmethod
    def of(cls, ticks: Sequence[Tick], tick_seconds: float) -> Interaction:
        """Return what happened in a conversation with ticks of a length in seconds."""
        clean_ticks = without_last_artefact(ticks)
        conversation = _Events(clean_ticks, tick_seconds)
        events = sorted(conversation.responses(), key=_time) + sorted(conversation.others(), key=_time)
        interruptions = sum(segment.other_start for segment in conversation.agent)
        return cls(sorted(events, key=_time), interruptions, len(ticks), conversation.agent)


def interaction_metrics(ticks: Sequence[Tick], tick_seconds: float) -> dict[str, Any]:
    """Return the panel of one conversation.

    Raises:
        ValueError: Nothing happened in it that is measured.
    """
    return pooled_metrics([(ticks, tick_seconds)])


def pooled_metrics(conversations: Iterable[tuple[Sequence[Tick], float]]) -> dict[str, Any]:
    """Return the panel of an experiment, whose events are pooled.

    Args:
        conversations: The ticks of each conversation, with the length of a tick in seconds.

    Raises:
        ValueError: Nothing happened in them that is measured.
    """
    return panel([Interaction.of(ticks, seconds) for ticks, seconds in conversations])


def panel(interactions: Iterable[Interaction]) -> dict[str, Any]:
    """Return the panel of conversations.

    Raises:
        ValueError: Nothing happened in them that is measured.
    """
    there = [interaction for interaction in interactions if interaction.ticks]
    events = [event for interaction in there for event in interaction.events]
    if not events:
        raise ValueError(f"no answer, no yield and no distraction in {len(there)} conversations with ticks")
    interruptions = sum(interaction.agent_interruptions for interaction in there)
    total = {name: [event for event in events if event.category == name] for name in ("response", "yield", *_SELECTIVE)}
    return {
        "response_latency_mean": _mean(total["response"]),
        "yield_latency_mean": _mean(total["yield"]),
        "response_rate": _right(total["response"]),
        "yield_rate": _right(total["yield"]),
        "agent_interruption_rate": interruptions / len(total["response"]) if total["response"] else None,
        **{f"selectivity_{name}": _selectivity(total[name]) for name in _SELECTIVE},
        "counts": {
            "n_simulations": len(there),
            **{f"{name}_total": len(of_kind) for name, of_kind in total.items()},
            "agent_interrupts_count": interruptions,
        },
    }


def overall(panels: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the panel over domains: the mean of each metric over those that have it, and the sum of each count."""
    means: dict[str, Any] = {}
    for name in dict.fromkeys(name for domain_panel in panels.values() for name in domain_panel if name != "counts"):
        values = [domain_panel[name] for domain_panel in panels.values() if domain_panel[name] is not None]
        means[name] = fmean(values) if values else None
    counts = sorted({name for domain_panel in panels.values() for name in domain_panel["counts"]})
    return {
        **means,
        "counts": {name: sum(domain_panel["counts"][name] for domain_panel in panels.values()) for name in counts},
    }


class _Events:
    """The events of a conversation without its artefact."""

    def __init__(self, ticks: Sequence[Tick], seconds: float) -> None:
        self._seconds, self._size = seconds, len(ticks)
        self._speaks = [tick.agent_speaks for tick in ticks]
        self.user, self.agent = user_segments(ticks), agent_segments(ticks)
        self._sounds = out_of_turn_sounds(ticks)

    def responses(self) -> Iterator[Event]:
        """Yield whether the agent answered, for each turn after which it was not speaking."""
        valid = [segment for segment in self.user if not segment.is_backchannel and not segment.other_end]
        for turn, after in zip(valid, [*valid[1:], None], strict=False):
            answer = next((segment for segment in self.agent if segment.start >= turn.end), None)
            if answer is not None and (after is None or answer.start <= after.start):
                ended = turn.start * self._seconds + (turn.end - turn.start) * self._seconds
                yield Event("response", False, turn.end, answer.start * self._seconds - ended, answer.start)
            elif after is not None:
                yield Event("response", True, turn.end, None, after.start)

    def others(self) -> Iterator[Event]:
        """Yield whether the agent yielded to interruptions, and whether it ignored what was not for it."""
        for segment in self.user:
            kind = BACKCHANNEL if segment.is_backchannel else segment.insert
            if segment.other_start:
                yield self._spoken_over(segment, kind)
            elif segment.insert:
                yield self._answered(segment.insert, segment.start, segment.end)
        for sound in self._sounds:
            yield from self._sound(sound)

    def _spoken_over(self, segment: Segment, kind: str) -> Event:
        """Return whether the agent fell silent after the user has begun to speak over it."""
        name = _NAMES.get(kind, "yield")
        window = self._window(f"{name}_yield" if kind else "no_yield")
        last = min(segment.start + window, self._size)
        silent = next((tick for tick in range(segment.start, last) if not self._speaks[tick]), None)
        if kind:
            return Event(name, silent is not None, segment.start, until=segment.end)
        latency = None if silent is None else (silent - segment.start) * self._seconds
        return Event("yield", silent is None, segment.start, latency, segment.end)

    def _answered(self, kind: str, start: int, end: int) -> Event:
        """Return whether a silent agent began to speak soon after what was not for it."""
        name = _NAMES[kind]
        last = end + self._window(f"{name}_response")
        answer = next((segment for segment in self.agent if start <= segment.start <= last), None)
        return Event(name, answer is not None, start if answer is None else answer.start, until=end)

    def _sound(self, sound: Sound) -> Iterator[Event]:
        """Yield whether the agent reacted; not if it spoke on, which is not credited."""
        name = _NAMES[sound.insert]
        speaking = next((segment for segment in self.agent if segment.start <= sound.start < segment.end), None)
        if speaking is None:
            yield self._answered(sound.insert, sound.start, sound.end)
        elif (speaking.end - sound.start) * self._seconds <= WINDOWS[f"{name}_yield_window_sec"]:
            yield Event(name, True, sound.start, until=sound.end)

    def _window(self, name: str) -> int:
        return int(WINDOWS[f"{name}_window_sec"] / self._seconds)


def _time(event: Event) -> int:
    return event.tick


def _mean(events: Sequence[Event]) -> float | None:
    latencies = [event.latency for event in events if event.latency is not None]
    return fmean(latencies) if latencies else None


def _right(events: Sequence[Event]) -> float | None:
    return sum(not event.is_error for event in events) / len(events) if events else None


def _selectivity(events: Sequence[Event]) -> float | None:
    return 1 - sum(event.is_error for event in events) / len(events) if events else None
