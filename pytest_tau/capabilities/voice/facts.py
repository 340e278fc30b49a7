"""What is known of a conversation in ticks, and how it is reported."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, SerializerFunctionWrapHandler, model_serializer

from ...analysis import percentile
from ...text import listed, shorten
from .audio.hearing import survivors
from .audio.spelling import written_form
from .measure.metrics import Event, Interaction, responsiveness
from .measure.segments import BACKCHANNEL, user_segments
from .talk.timeline import Timeline  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...capability import Compared, Measured
    from ...models import Simulation
    from .ticks import Tick

#: Seconds until an answer: ideal from the second to the third, worth nothing up to the first and from the last on;
#: without a call before the answer, and with one.
#: Source: EVA (ServiceNow), docs/metrics/turn_taking.md, "Latency curve". It rises from before the end of the turn;
#: no answer is as early here, as who speaks then interrupts, which is a metric of its own.
RAMP: Final = {False: (-0.5, 0.5, 2.0, 3.5), True: (-0.5, 0.5, 3.0, 5.0)}
#: The faults that the report of a failure names.
_MOST, _LENGTH = 5, 120
_CATEGORIES = ("response", "yield", "backchannel", "vocal_tic", "non_directed")
_WHAT = {
    "no_yield": "did not stop when the user interrupted",
    "backchannel": "stopped for a backchannel",
    "vocal_tic": "reacted to a sound of the user",
    "non_directed": "answered what was not said to it",
    "no_response": "left the user without an answer",
    "late": "answered late, after",
    "talked_over": "talked over the user",
}


#: The metrics of two runs that are compared.
_COMPARED = (
    *("response_rate", "response_latency", "response_latency_p95", "response_timing", "yield_rate", "yield_latency"),
    *("agent_interruption_rate", "selectivity_backchannel", "selectivity_vocal_tic", "selectivity_non_directed"),
    "entities_heard",
)
#: What entities of each kind are called.
_KINDS = {"address": "addresses", "id": "ids", "amount": "amounts", "number": "numbers", "name": "names"}


#: A number that can be computed with: stored facts are JSON, whose integers have no end.
Count = Annotated[int, Field(ge=0, lt=2**53)]


class Fault(BaseModel):
    """Something that the agent did wrong.

    Attributes:
        kind: ``talked_over``, ``late``, ``no_response``, ``no_yield``, ``backchannel``, ``vocal_tic`` or
            ``non_directed``.
        at: When, in seconds from the beginning.
        seconds: How long it took; None where that says nothing.
    """

    kind: str
    at: FiniteFloat
    seconds: FiniteFloat | None = None

    @property
    def text(self) -> str:
        """Return what happened and when, for people."""
        long = "" if self.seconds is None else f" {'' if self.kind == 'late' else 'for '}{self.seconds:.1f} s"
        return f"{_WHAT[self.kind]}{long} at {clock(self.at)}"


class VoiceFacts(BaseModel):
    """A conversation in ticks.

    Attributes:
        tick_seconds: The length of a tick in seconds.
        ticks: The number of ticks.
        complexity: The conditions of the user's side, such as ``regular``; None if they are not known.
        events: By category, the numbers of events and of errors among them.
        response_latencies: Seconds from the end of a turn of the user to the answer.
        after_calls: Which of these answers came after calls of tools, by their positions.
        yield_latencies: Seconds from an interruption until the agent was silent.
        agent_interruptions: How often the agent began to speak while the user spoke.
        user_turns: The turns of the user.
        agent_turns: The turns of the agent.
        longest_unanswered: The longest row of turns of the user that got no answer.
        faults: What the agent did wrong, in order of time.
        entities: By kind, how many ids, addresses, amounts, numbers and names the user has said, and how many arrived.
        with_sound: The agent has heard sound.
        sound: The file with the sound, as the option names its folder; None if it was not kept.
        timeline: The conversation itself, if it took simulated time; None for one that is stored as ticks.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    tick_seconds: FiniteFloat
    ticks: Count
    complexity: str | None = None
    events: dict[str, tuple[Count, Count]] = {}
    response_latencies: list[FiniteFloat] = []
    after_calls: list[Count] = []
    yield_latencies: list[FiniteFloat] = []
    agent_interruptions: Count = 0
    user_turns: Count = 0
    agent_turns: Count = 0
    longest_unanswered: Count = 0
    faults: list[Fault] = []
    entities: dict[str, tuple[Count, Count]] = {}
    with_sound: bool = False
    sound: str | None = None
    timeline: Timeline | None = None

    @property
    def metrics(self) -> dict[str, Any]:
        """Return what is stored besides, for columns, gates and comparisons; a value over nothing is None.

        ``totals`` are the numbers of events by category, and of ``entities``. The shares are of turns that were
        answered, of interruptions at which the agent fell silent, of what it talked through or ignored, and of what
        the user has said of ids, names and the like that arrived.
        """
        latencies, calls = self.response_latencies, set(self.after_calls)
        turns = self.events.get("response", (0, 0))[0]
        spoken, heard = (sum(counts[at] for counts in self.entities.values()) for at in (0, 1))
        timings = [timing(seconds, number in calls) for number, seconds in enumerate(latencies)]
        return {
            "totals": {name: total for name, (total, _) in self.events.items()} | {"entities": spoken},
            "response_rate": self._right("response"),
            "yield_rate": self._right("yield"),
            "agent_interruption_rate": self.agent_interruptions / turns if turns else None,
            **{f"selectivity_{name}": self._right(name) for name in ("backchannel", "vocal_tic", "non_directed")},
            "response_latency": fmean(latencies) if latencies else None,
            "response_latency_p50": percentile(latencies, 0.5),
            "response_latency_p95": percentile(latencies, 0.95),
            "response_timing": fmean(timings) if timings else None,
            "yield_latency": fmean(self.yield_latencies) if self.yield_latencies else None,
            "entities_heard": heard / spoken if spoken else None,
        }

    @model_serializer(mode="wrap")
    def _with_metrics(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {**dump(self), **self.metrics}

    def _right(self, category: str) -> float | None:
        total, errors = self.events.get(category, (0, 0))
        return (total - errors) / total if total else None

    def interaction(self) -> Interaction:
        """Return what happened, without the times, for pooled figures."""
        events = []
        for category, (total, errors) in self.events.items():
            latencies = {"response": self.response_latencies, "yield": self.yield_latencies}.get(category, [])
            right: list[float | None] = [*latencies] if latencies else [None] * (total - errors)
            events += [Event(category, False, 0, latency) for latency in right] + [Event(category, True, 0)] * errors
        return Interaction(events, self.agent_interruptions, self.ticks)


def facts_of(ticks: Sequence[Tick], tick_seconds: float, environment: Any = None) -> VoiceFacts:
    """Return the facts of a conversation.

    Args:
        ticks: The conversation.
        tick_seconds: The length of a tick in seconds.
        environment: ``speech_environment`` of τ²-bench's simulation; None if it is not known.
    """
    interaction = Interaction.of(ticks, tick_seconds)
    answers = [event for event in interaction.events if event.category == "response" and event.latency is not None]
    turns = responsiveness(ticks)
    complexity = environment.get("complexity") if isinstance(environment, dict) else None
    after = [any(tick.agent_tool_calls for tick in ticks[answer.tick : answer.until + 1]) for answer in answers]
    return VoiceFacts(
        tick_seconds=tick_seconds,
        ticks=len(ticks),
        complexity=complexity if isinstance(complexity, str) else None,
        events={name: counts for name in _CATEGORIES if (counts := _counts(interaction.events, name))[0]},
        response_latencies=[answer.latency for answer in answers if answer.latency is not None],
        after_calls=[number for number, called in enumerate(after) if called],
        yield_latencies=[
            event.latency for event in interaction.events if event.category == "yield" and event.latency is not None
        ],
        agent_interruptions=interaction.agent_interruptions,
        user_turns=turns["total_user_turns"],
        agent_turns=turns["total_agent_turns"],
        longest_unanswered=turns["max_unresponded_user_turns"],
        faults=sorted(
            _faults(ticks, interaction, dict(zip(answers, after, strict=True)), tick_seconds),
            key=lambda fault: fault.at,
        ),
    )


def pooled(conversations: Sequence[VoiceFacts]) -> VoiceFacts:
    """Return the facts of all conversations as those of one, whose metrics are over the events of all."""
    latencies: list[float] = []
    after: list[int] = []
    for conversation in conversations:
        after += [len(latencies) + number for number in conversation.after_calls]
        latencies += conversation.response_latencies
    return VoiceFacts(
        tick_seconds=conversations[0].tick_seconds,
        ticks=sum(conversation.ticks for conversation in conversations),
        events=_sums(conversation.events for conversation in conversations),
        response_latencies=latencies,
        after_calls=after,
        yield_latencies=[seconds for conversation in conversations for seconds in conversation.yield_latencies],
        agent_interruptions=sum(conversation.agent_interruptions for conversation in conversations),
        entities=_sums(conversation.entities for conversation in conversations),
    )


def _sums(parts: Iterable[Mapping[str, tuple[int, int]]]) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for part in parts:
        for name, (first, second) in part.items():
            before = sums.get(name, (0, 0))
            sums[name] = before[0] + first, before[1] + second
    return sums


def entities_heard(timeline: Timeline) -> dict[str, tuple[int, int]]:
    """Return how many entities the user has said, and how many of them arrived, by kind."""
    counts: dict[str, tuple[int, int]] = {}
    for utterance in timeline.utterances:
        if utterance.side == "user" and utterance.action != BACKCHANNEL:
            for entity, arrived in survivors(
                written_form(utterance.text), written_form(utterance.heard or utterance.text)
            ):
                spoken, heard = counts.get(entity.kind, (0, 0))
                counts[entity.kind] = (spoken + 1, heard + arrived)
    return counts


def _counts(events: Sequence[Event], category: str) -> tuple[int, int]:
    errors = [event.is_error for event in events if event.category == category]
    return len(errors), sum(errors)


def _faults(
    ticks: Sequence[Tick], interaction: Interaction, answers: Mapping[Event, bool], seconds: float
) -> Iterator[Fault]:
    users = user_segments(ticks)
    for segment in interaction.agent_segments:
        if segment.other_start:
            end = next(user_turn.end for user_turn in users if user_turn.start <= segment.start < user_turn.end)
            length = (min(end, segment.end) - segment.start) * seconds
            yield Fault(kind="talked_over", at=segment.start * seconds, seconds=length)
    for event in interaction.events:
        if event.is_error:
            kind = {"response": "no_response", "yield": "no_yield"}.get(event.category, event.category)
            yield Fault(kind=kind, at=event.tick * seconds)
        elif event in answers and event.latency is not None and event.latency >= RAMP[answers[event]][-1]:
            yield Fault(kind="late", at=event.until * seconds, seconds=event.latency)


def timing(seconds: float, after_call: bool) -> float:
    """Return how well an answer was timed, from 0 to 1: 1 within the ideal range, 0 if it is late."""
    early, ideal, ideal_end, late = RAMP[after_call]
    rising, falling = (seconds - early) / (ideal - early), (late - seconds) / (late - ideal_end)
    return max(0.0, min(1.0, rising, falling))


def clock(seconds: float) -> str:
    """Return a time from the beginning as ``00:41``."""
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield the lines of the summary: the pooled metrics of all trials, with the numbers of events."""
    facts = [trial.facts for trial in trials]
    simulated = [conversation for conversation in facts if conversation.timeline is not None]
    if simulated:
        talk = sum(conversation.ticks * conversation.tick_seconds for conversation in simulated)
        conditions = ", ".join(sorted({conversation.complexity or "" for conversation in simulated}))
        sound = "with" if simulated[0].with_sound else "without"
        yield (
            f"{talk / 60:.1f} min of simulated talk {sound} sound, {conditions}; "
            "not comparable with published voice scores"
        )
    pooled_facts = pooled(facts)
    if not pooled_facts.events:
        return
    parts = [f"answered {_share(pooled_facts, 'response')}"]
    metrics = pooled_facts.metrics
    if pooled_facts.response_latencies:
        mean, half, most = (metrics[f"response_latency{part}"] for part in ("", "_p50", "_p95"))
        parts[-1] += f" after {mean:.2f} s (p50 {half:.2f} s, p95 {most:.2f} s)"
    if metrics["yield_rate"] is not None:
        parts.append(f"yielded to {_share(pooled_facts, 'yield')}")
    if metrics["agent_interruption_rate"] is not None:
        parts.append(f"interrupted {metrics['agent_interruption_rate']:.2f} times a turn")
    yield "; ".join(parts)
    names = {"backchannel": "backchannels", "vocal_tic": "sounds", "non_directed": "words to others"}
    if ignored := [
        f"{_share(pooled_facts, name)} {text}" for name, text in names.items() if name in pooled_facts.events
    ]:
        yield f"ignored {', '.join(ignored)}"
    if pooled_facts.entities:
        entity_texts = [
            f"{heard} of {spoken} {_KINDS[kind]}" for kind, (spoken, heard) in sorted(pooled_facts.entities.items())
        ]
        yield f"heard as they were said: {', '.join(entity_texts)}"


def _share(facts: VoiceFacts, category: str) -> str:
    total, errors = facts.events.get(category, (0, 0))
    return f"{total - errors} of {total}"


def comparison(compared: Compared) -> Iterator[str]:
    """Yield each metric of two runs, over the events of all trials of each, if both have it."""
    before, after = (pooled([trial.facts for trial in side]).metrics for side in (compared.before, compared.after))
    for name in _COMPARED:
        earlier, later = before[name], after[name]
        if earlier is not None and later is not None:
            yield f"{name} {earlier:.3f} -> {later:.3f}"


def failure(facts: VoiceFacts, _simulation: Simulation) -> Iterator[str]:
    """Yield the line of the report of a failed trial: what the agent did wrong in the conversation, and when."""
    if facts.faults:
        yield listed([fault.text for fault in facts.faults], _MOST)
    lost = (
        [utterance for utterance in facts.timeline.utterances if utterance.heard] if facts.timeline is not None else []
    )
    if lost:
        heard = [
            f'"{shorten(utterance.heard, _LENGTH)}" at {clock(utterance.start * facts.tick_seconds)}'
            for utterance in lost
        ]
        yield f"words were lost: the agent heard {listed(heard, _MOST)}"
