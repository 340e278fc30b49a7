"""The agent by rules of a domain that speaks well, and four that have one bad manner each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ....participants import BuiltIn, adapt, domain_agent
from .agents import BY_RULES, Manners

if TYPE_CHECKING:
    from ....participants import Incoming, Participant, ParticipantContext, Reply


class WellSpoken(BuiltIn):
    """The agent by rules of the domain; it waits, yields, answers in time, and ignores what is not for it.

    Attributes:
        manners: How it takes its turns.
    """

    manners: ClassVar[Manners] = BY_RULES

    def __init__(self, context: ParticipantContext) -> None:
        self._target: Any = domain_agent("rules", context.domain_agents, type(self).__name__)
        self._context = context
        self._agent: Participant | None = None

    async def respond(self, message: Incoming) -> Reply:
        """Return the next message of the agent by rules."""
        if self._agent is None:
            self._agent = await adapt(self._target, self._context)
        return await self._agent.respond(message)

    async def close(self) -> None:
        """Close the agent by rules."""
        if self._agent is not None:
            await self._agent.close()


class TalksOver(WellSpoken):
    """Speaks into each longer turn of the user."""

    manners = replace(BY_RULES, interjects="Right.")


class NeverYields(WellSpoken):
    """Speaks on when the user interrupts."""

    manners = replace(BY_RULES, yields=False)


class AnswersTooLate(WellSpoken):
    """Takes about four seconds before each answer."""

    manners = replace(BY_RULES, delay=2.8, holds=0.0)


class AnswersTelevision(WellSpoken):
    """Answers what is said in the room."""

    manners = replace(BY_RULES, heeds_muffled=True, holds=0.0)


#: The saboteurs, by the metric that shows each.
SABOTEURS = {
    "agent_interruption_rate": TalksOver,
    "yield_rate": NeverYields,
    "response_timing": AnswersTooLate,
    "selectivity_non_directed": AnswersTelevision,
}
