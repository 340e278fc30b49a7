"""What each participant of a trial may know: its instructions, its tools, and its view of the task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from ..environment.functions.patching import patches_of
from ..models import GREETING, AssistantMessage, clone
from ..models.sessions import beginnings, heard, remembered
from ..participants import ParticipantContext, Prompting, view_of
from ..participants.personas import draw_persona
from .participants import behaviour_of, done_tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..models import Message, Task
    from ..participants import Side
    from ..participants.behaviours import Behaviour
    from .config import TrialSetup


@dataclass(frozen=True)
class Briefing:
    """What the participants of an attempt know at its beginning.

    Attributes:
        setup: What the trial is run with.
        seed: The seed of the attempt.
        persona: How the simulated user behaves, drawn by the seed of the trial; empty for no persona.
        behaviour: What makes the simulated user difficult; None for a user that cooperates.
    """

    setup: TrialSetup
    seed: int | None = None
    persona: Mapping[str, str] = field(default_factory=dict)
    behaviour: Behaviour | None = None

    @classmethod
    def of(cls, setup: TrialSetup) -> Self:
        """Return what the participants of the first attempt know."""
        persona = draw_persona(setup.settings.user_persona, setup.seed)
        return cls(setup, setup.seed, persona, behaviour_of(persona, setup.settings))

    def context(
        self,
        side: Side,
        greeting: str | None = None,
        *,
        needs_reference: bool = False,
        begun: Sequence[Message] = (),
        from_start: bool = False,
        of: Task | None = None,
        history: Sequence[Message] = (),
    ) -> ParticipantContext:
        """Return what a participant may know.

        Args:
            side: The side that it plays.
            greeting: The agent's own greeting, if it has one.
            needs_reference: It declares that it needs the whole task.
            begun: The messages of a conversation that is continued.
            from_start: It is created as at the start of a conversation that is continued.
            of: The task that it is to see; by default that of the session in which it begins.
            history: The conversation so far; by default that which the trial begins with.
        """
        setup, whole = self.setup, self.setup.task
        task, environment, settings = of or whole.of_session(len(beginnings(begun))), setup.environment, setup.settings
        tools = environment.shared_tools("assistant" if side == "agent" else "user")
        if side == "user" and task.user_tools is not None:
            tools = [tool for tool in tools if tool.name in task.user_tools]
        if environment.solo and side == "agent":
            tools = [*tools, done_tool(settings.protocol.texts)]
        known: Sequence[Message] = history or task.message_history or ()
        if begun and not history and not from_start:
            known = remembered(whole, begun) if side == "user" else heard(begun)
        opening: list[Message] = [] if environment.solo else [AssistantMessage(content=greeting or GREETING)]
        return ParticipantContext(
            side=side,
            tools=tools,
            instructions=environment.policy if side == "agent" else str(task.user_scenario),
            task=task if needs_reference else view_of(task, side),
            seed=self.seed,
            history=clone(list(known)) or opening,
            continues=bool(known),
            solo=environment.solo,
            trial=setup.trial,
            models=setup.models,
            prompting=settings.prompting.get(side, Prompting()),
            protocol=settings.protocol,
            persona=self.persona if side == "user" else {},
            behaviour=self.behaviour if side == "user" else None,
            domain_agents=setup.domain.spec.agents,
            spoken=setup.domain.spec.spoken,
            make_tools=setup.make_tools,
            other_loop=setup.other_loop,
            agent_trial=setup.agent_trial,
            patches=patches_of(setup.domain.spec) if side == "agent" else None,
            keep_outcomes=environment.keep_outcomes,
            program_env=settings.program_env,
        )
