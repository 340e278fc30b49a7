"""Conversations in which both sides can speak at once, in ticks of simulated time."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...capability import Capability, ExportFormat, FactColumn, declared, deferred, flag, option, real, text

if TYPE_CHECKING:
    from .measure.linear import transcript, user_context
    from .measure.merging import communicate_texts, flat_messages
    from .measure.metrics import interaction_metrics, pooled_metrics, responsiveness
    from .ticks import Tick

#: What is public, by the module that has it.
_HOMES = {
    **dict.fromkeys(("transcript", "user_context"), "measure.linear"),
    **dict.fromkeys(("communicate_texts", "flat_messages"), "measure.merging"),
    **dict.fromkeys(("interaction_metrics", "pooled_metrics", "responsiveness"), "measure.metrics"),
    "Tick": "ticks",
}
__all__ = [
    "Tick",
    "capability",
    "communicate_texts",
    "flat_messages",
    "interaction_metrics",
    "pooled_metrics",
    "responsiveness",
    "transcript",
    "user_context",
]


#: The complexities of the conditions, as the reference names them, and one of ours: ``busy`` is ``regular`` without
#: tics and losses, and with more words to others, so that a few conversations show how an agent takes its turns.
COMPLEXITIES = (
    "control",
    "regular",
    "control_audio",
    "control_accents",
    "control_behavior",
    "control_audio_accents",
    "control_audio_behavior",
    "control_accents_behavior",
    "busy",
)


def model_files(value: str) -> str:
    """Return the value of ``--tau-voice-sound`` as it is, if it has two paths.

    Raises:
        ValueError: It has not.
    """
    paths = [path.strip() for path in value.split(",")]
    if len(paths) != 2 or not all(paths):
        raise ValueError(
            f"expected VOICE.onnx,RECOGNISER: the file of a voice and the folder of a model, got {value!r}"
        )
    return value


@declared(frozen=True)
class VoiceSettings:
    """The settings.

    Attributes:
        mode: ``voice`` for conversations in ticks.
        voice_conditions: The name of the conditions.
        voice_rate: Words a minute of both sides.
        voice_tool_seconds: The median of the time that a tool call of the agent takes.
        voice_seconds: The most seconds of talk.
        voice_tasks: Only the tasks that are bundled for it are run.
        voice_sound: The files of a voice that says the user's words on the telephone, and of a recogniser that hears
            them for the agent; empty for no sound.
        voice_audio: Where the sound of each conversation is kept; None to keep none.
    """

    mode: str = option(
        text,
        "verdict",
        "MODE",
        default="text",
        choices=("text", "voice"),
        example="voice",
        help="text (default): both sides take turns; voice: both hear each other in ticks of 0.2 s of simulated time, "
        "and can speak at once",
    )
    voice_conditions: str = option(
        text,
        "verdict",
        "NAME",
        default="regular",
        choices=COMPLEXITIES,
        example="control",
        help="what the user and the line are like: control (a user who waits, and no losses), regular (default), or "
        "a part of it: control_audio, control_behavior …",
    )
    voice_rate: float = option(
        real(1.0), "verdict", "WORDS", default=150.0, help="words that both sides say in a minute (default %(default)s)"
    )
    voice_tool_seconds: float = option(
        real(0.01),
        "verdict",
        "SECONDS",
        default=0.6,
        help="median of the simulated time that a tool call of the agent takes (default %(default)s)",
    )
    voice_seconds: float = option(
        real(1.0),
        "verdict",
        "SECONDS",
        default=1200.0,
        help="most seconds of simulated talk in a conversation (default %(default)s)",
    )
    voice_tasks: bool = option(
        flag,
        "selection",
        default=False,
        selects=True,
        help="run only the tasks of retail and airline that are bundled for --tau-mode voice, in which ids are spelled",
    )
    voice_sound: str = option(
        model_files,
        "verdict",
        "VOICE,RECOGNISER",
        default="",
        example="voices/en_US-joe-medium.onnx,models/faster-whisper-tiny.en",
        help="say the user's words with this voice (an .onnx file), send them over a line with the noise of the "
        "conditions, and let this recogniser (a folder) hear them for the agent; needs the extra voice-audio",
    )
    voice_audio: Path | None = option(
        Path,
        "output",
        "DIR",
        rerun=0,
        help="with --tau-voice-sound: keep the sound of each conversation in this folder, the user on the left",
    )


def _speaks(settings: VoiceSettings) -> bool:
    return settings.mode == "voice"


def _column(name: str, events: str, **given: Any) -> FactColumn:
    """Return the column of a metric over the events of all trials."""
    return FactColumn(name, metric=True, events=events, **given)


capability = Capability(
    name="voice",
    settings=VoiceSettings,
    on=_speaks,
    check=deferred(f"{__name__}.talk.stages:check_settings"),
    trial=deferred(f"{__name__}.talk.stages:VoiceStages"),
    fixtures=deferred(f"{__name__}.task_hook:TaskHook"),
    facts=deferred(f"{__name__}.facts:VoiceFacts"),
    duplex=deferred(f"{__name__}.duplex:TickConversations"),
    exports=(
        ExportFormat(
            "interaction-metrics",
            "interaction-metrics for the metrics of a voice run as a leaderboard has them",
            deferred(f"{__name__}.leaderboard:write_metrics"),
        ),
    ),
    columns=(
        _column("response_rate", "totals.response", label="Answered", kind="score", most=1.0),
        _column("response_latency", "response_latencies", label="Answer after"),
        _column("response_latency_p50", "response_latencies", percent=50),
        _column("response_latency_p95", "response_latencies", percent=95),
        _column("response_timing", "response_latencies", most=1.0),
        _column("yield_rate", "totals.yield", label="Yielded", kind="score", most=1.0),
        _column("yield_latency", "yield_latencies"),
        _column("agent_interruption_rate", "totals.response", label="Interrupted"),
        *(
            _column(f"selectivity_{name}", f"totals.{name}", most=1.0)
            for name in ("backchannel", "vocal_tic", "non_directed")
        ),
        _column("entities_heard", "totals.entities", label="Entities heard", kind="score", most=1.0),
        FactColumn("complexity"),
    ),
    summary=deferred(f"{__name__}.facts:summary"),
    failure=deferred(f"{__name__}.facts:failure"),
    comparison=deferred(f"{__name__}.facts:comparison"),
    page=deferred(f"{__name__}.page:page"),
)


def __getattr__(name: str) -> Any:
    """Import what is public when it is asked for: this module is imported for its options."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
