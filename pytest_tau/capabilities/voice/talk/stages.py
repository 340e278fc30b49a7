"""The stages of a trial in ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....capability import TrialStages
from ....files import file_name_of
from ....participants import LLMUser
from ....runs import ignore_in_git
from ..bundled import conditions_file
from ..facts import entities_heard, facts_of
from ..sound_models import SoundModels
from .conditions import conditions_of, stored_conditions, voice_seed
from .speech import Pace
from .talk import Talk, TalkSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .... import Conversation, Ending
    from ....capability import RunView, TrialView
    from ....models import Simulation
    from .. import VoiceSettings
    from ..audio.ears import Ears
    from ..facts import VoiceFacts

_FILE = "tasks_voice.json"


def check_settings(settings: VoiceSettings, run: RunView) -> None:
    """Check that there is a user, and that sound can be made and kept.

    Raises:
        ConfigurationError: A package of the extra, or a file of the models, is missing.
        ValueError: The settings do not fit each other, or the folder cannot be made.
    """
    if run.solo:
        raise ValueError("--tau-mode voice needs a user: remove --tau-solo")
    if settings.voice_audio is not None and not settings.voice_sound:
        raise ValueError("--tau-voice-audio keeps the sound of conversations: add --tau-voice-sound")
    if settings.voice_sound:
        from ..audio.hearing import check_installed

        check_installed()
        SoundModels.of(settings.voice_sound).check()
    if settings.voice_audio is not None:
        try:
            settings.voice_audio.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"--tau-voice-audio {settings.voice_audio}: {error.strerror}") from None


class VoiceStages(TrialStages):
    """Holds the conversation in ticks, and measures it."""

    def __init__(self, view: TrialView) -> None:
        self._view = view
        self._talk: Talk | None = None
        self._ears: Ears | None = None

    async def hold(self, conversation: Conversation) -> Ending:
        """Hold the conversation.

        Raises:
            ConfigurationError: The conditions of the task cannot be read.
        """
        view = self._view
        settings, seed = view.settings, voice_seed(view.seed, view.task.id)
        stored = self._stored()
        self._conditions = conditions_of(settings.voice_conditions, stored, seed)
        if settings.voice_sound:
            self._ears = self._made_ears((stored or {}).get(settings.voice_conditions) or {}, seed)
        pace = Pace(settings.voice_rate / 60)
        by_model = isinstance(conversation.sides["user"], LLMUser) and view.models is not None
        self._talk = Talk(
            conversation,
            self._conditions,
            TalkSettings(pace, settings.voice_tool_seconds, settings.voice_seconds, seed, self._ears),
            view.models.get("user") if by_model and view.models else None,
            view.domain.spec.agents.values(),
        )
        return await self._talk.run()

    def _made_ears(self, stored: Mapping[str, Any], seed: int) -> Ears:
        from ..audio.ears import Ears
        from ..audio.hearing import CACHE
        from ..audio.line import LineConditions

        CACHE.mkdir(parents=True, exist_ok=True)
        ignore_in_git(CACHE.parent)
        conditions = self._conditions
        line = LineConditions.of({**conditions.model_dump(), **stored}, conditions.environment)
        settings = self._view.settings
        return Ears(SoundModels.of(settings.voice_sound), line, seed, CACHE, keep=settings.voice_audio is not None)

    def _stored(self) -> Mapping[str, Any] | None:
        domain = self._view.domain
        stored = stored_conditions(domain.folder / _FILE) or stored_conditions(conditions_file(domain.spec.name))
        return stored.get(self._view.task.id)

    def graded(self, simulation: Simulation) -> VoiceFacts | None:
        """Return what has happened, and its metrics."""
        if self._talk is None:
            return None
        timeline, sound = self._talk.timeline, None
        if self._ears is not None and (folder := self._view.settings.voice_audio) is not None:
            sound = folder / f"{file_name_of(simulation.id)}.wav"
            self._ears.write(sound, timeline.utterances, timeline.tick_seconds)
        known = {"complexity": self._conditions.complexity}
        facts = facts_of(timeline.as_silent_ticks(), timeline.tick_seconds, known)
        more = {"timeline": timeline, "entities": entities_heard(timeline), "with_sound": self._ears is not None}
        return facts.model_copy(update=more | {"sound": sound.as_posix() if sound else None})
