"""Interaction metrics as τ²-bench's leaderboard has them, and submissions of voice runs.

Source: τ²-bench v1.0.1, interaction metrics 1.0 and voice submissions.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from ...capability import SubmittedRuns
from ...errors import ConfigurationError
from ...plain import json
from .facts import VoiceFacts
from .measure.metrics import VERSION, WINDOWS, overall, panel
from .ticks import TICK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...runs import Run, StoredTrial

#: The only conditions that the leaderboard shows.
_COUNTED: Final = "regular"
#: The version of τ²-bench's user who speaks, and the voice of it.
_USER, _SPEECH = "v1.0", "elevenlabs/eleven_v3"
_STOCK: Final = {
    "agent_info": "discrete_time_audio_native_agent",
    "user_info": "voice_streaming_user_simulator",
}
#: The parts of agents that are not one model, by the name of their configuration; of others, a person names them.
_CASCADED: Final = {"asr": "deepgram/nova-3", "llm": "openai/gpt-4.1", "tts": "deepgram/aura-asteria-en"}
_PIPELINES: Final = {"default": _CASCADED, "openai-thinking": {**_CASCADED, "llm": "openai/gpt-5.2"}}
_CONFIG = ("provider", "model", "tick_duration_seconds", "max_steps_seconds")


def submitted(runs: Sequence[Run]) -> SubmittedRuns | None:
    """Return what a submission has of voice runs of τ²-bench; None if none of the runs is one.

    Raises:
        ConfigurationError: They cannot be submitted.
    """
    for run in runs:
        if not run.info:  # the header of a file is known once something was read
            next(run.trials(), None)
    voice = [run for run in runs if _config(run) is not None]
    if simulated := [run.name for run in runs if "voice" in (run.info.get("capabilities") or {})]:
        raise ConfigurationError(
            f"{simulated[0]}: its speech was simulated without sound; the leaderboard has voice runs of τ²-bench only"
        )
    if not voice:
        return None
    if len(voice) < len(runs):
        others = ", ".join(run.name for run in runs if run not in voice)
        raise ConfigurationError(f"voice and text cannot be submitted together: {others} has no speech")
    counted = [run for run in voice if run.info.get("speech_complexity") == _COUNTED]
    if not counted:
        complexities = ", ".join(f"{run.name} has {run.info.get('speech_complexity')!r}" for run in voice)
        raise ConfigurationError(f"speech_complexity: a submission has runs with {_COUNTED!r} only; {complexities}")
    recorded = _config(counted[0]) or {}
    config = {name: value for name in _CONFIG if (value := recorded.get(name)) is not None}
    if (pipeline := _PIPELINES.get(str(recorded.get("cascaded_config_name")))) is not None:
        config["pipeline"] = pipeline
    return SubmittedRuns(
        counted,
        {
            "modality": "voice",
            "voice_config": {**config, "user_tts_provider": _SPEECH},
            "interaction_metrics": block(trial for run in counted for trial in run.trials()),
            "methodology": {"user_simulator": _USER},
        },
        _STOCK,
    )


def _config(run: Run) -> dict[str, Any] | None:
    config = run.info.get("audio_native_config")
    return config if isinstance(config, dict) else None


def block(trials: Iterable[StoredTrial]) -> dict[str, Any]:
    """Return the interaction metrics of trials by domain, and over domains.

    Raises:
        ConfigurationError: None of them is in ticks, or nothing happened in those of a domain that is measured.
    """
    domains: dict[str, list[VoiceFacts]] = {}
    for trial in trials:
        if "voice" in trial.simulation.facts:
            domains.setdefault(trial.domain, []).append(VoiceFacts(**trial.simulation.facts["voice"]))
    if not domains:
        raise ConfigurationError("no simulation has ticks, of which interaction metrics are made")
    panels = {}
    for name in sorted(domains):
        try:
            panels[name] = panel([conversation.interaction() for conversation in domains[name]])
        except ValueError as error:
            raise ConfigurationError(f"{name}: {error}") from None
    seconds = {conversation.tick_seconds for conversations in domains.values() for conversation in conversations}
    config = {"tick_duration_sec": seconds.pop() if len(seconds) == 1 else TICK_SECONDS, **WINDOWS}
    return {"version": VERSION, "config": config, "domains": panels, "overall": overall(panels)}


def write_metrics(run: Run, file: IO[str], domain: str | None) -> int:
    """Write the interaction metrics of a run as JSON; returns the number of simulations.

    Raises:
        ConfigurationError: There are none.
    """
    metrics = block(trial for trial in run.trials() if domain is None or trial.domain == domain)
    file.write(json.dumps(metrics, indent=2) + "\n")
    return int(metrics["overall"]["counts"]["n_simulations"])
