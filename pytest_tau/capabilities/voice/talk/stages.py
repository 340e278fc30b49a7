"""The stages of a trial in ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....capability import TrialStages
from ....participants import LLMUser
from ..bundled import conditions_file
from ..facts import facts_of
from .conditions import conditions_of, stored_conditions, voice_seed
from .speech import Pace
from .talk import Talk, TalkSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....capability import TrialView
    from ....models import Simulation
    from ....orchestrator import Conversation, Ending
    from ..facts import VoiceFacts

_FILE = "tasks_voice.json"


class VoiceStages(TrialStages):
    """Holds the conversation in ticks, and measures it."""

    def __init__(self, view: TrialView) -> None:
        self._view = view
        self._talk: Talk | None = None

    async def converse(self, conversation: Conversation) -> Ending:
        """Hold the conversation.

        Raises:
            ConfigurationError: The conditions of the task cannot be read.
        """
        view = self._view
        settings, seed = view.settings, voice_seed(view.seed, view.task.id)
        self._conditions = conditions_of(settings.voice_conditions, self._stored(), seed)
        pace = Pace(settings.voice_rate / 60)
        by_model = isinstance(conversation.sides["user"], LLMUser) and view.models is not None
        self._talk = Talk(
            conversation,
            self._conditions,
            TalkSettings(pace, settings.voice_tool_seconds, settings.voice_seconds, seed),
            view.models.get("user") if by_model and view.models else None,
            view.domain.spec.agents.values(),
        )
        return await self._talk.run()

    def _stored(self) -> Mapping[str, Any] | None:
        domain = self._view.domain
        stored = stored_conditions(domain.folder / _FILE) or stored_conditions(conditions_file(domain.spec.name))
        return stored.get(self._view.task.id)

    def graded(self, simulation: Simulation) -> VoiceFacts | None:
        """Return what has happened, and its metrics."""
        del simulation
        if self._talk is None:
            return None
        timeline = self._talk.timeline
        known = {"complexity": self._conditions.complexity}
        facts = facts_of(timeline.as_silent_ticks(), timeline.tick_seconds, known)
        return facts.model_copy(update={"timeline": timeline})
