"""The participants of a trial: their creation and their end, each in a limited time, and the tool of a solo agent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..environment import Tool, check_comparable
from ..errors import ConfigurationError, ModelError, ReplayError, TaskFormatError, is_interrupt, unknown_name
from ..evaluation import known_components
from ..orchestrator import Ending, reason_of
from ..participants import DONE
from ..participants.base import BuiltIn
from ..participants.containment import describe
from ..participants.personas import BEHAVIOUR
from ..policy import load_rules
from ..stalls import wait_within

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from ..environment import Domain
    from ..models import Task, TerminationReason
    from ..participants import Participant, ParticipantContext, ParticipantSource
    from ..participants.behaviours import Behaviour
    from ..protocol import Texts
    from .config import SimulationSettings


T = TypeVar("T")

#: How an agent that works alone says that it is finished.
DONE_TOOL = Tool(
    name=DONE,
    description="Say that the ticket is dealt with, or that nothing more can be done. This ends the work.",
    parameters={"properties": {}, "title": "parameters", "type": "object"},
    kind="generic",
    mutates=False,
)
#: Seconds that a participant gets to close.
_CLOSING_TIME = 5.0


def done_tool(texts: Texts | None) -> Tool:
    """Return the tool by which an agent that works alone ends its work.

    Args:
        texts: The official texts; None for our own.

    Raises:
        ConfigurationError: The official texts lack it.
    """
    if texts is None:
        return DONE_TOOL
    if texts.done is None:
        raise texts.missing(f"tool {DONE!r}", "done")
    return DONE_TOOL._replace(description=texts.done.description, parameters=texts.done.parameters)


class Created(NamedTuple):
    """A participant, or the ending of a trial without it.

    Attributes:
        participant: The participant, or the ending.
        fault: The exception behind the ending; None if there was none.
    """

    participant: Participant | Ending
    fault: BaseException | None = None


async def create(
    source: ParticipantSource, context: ParticipantContext, seconds: float | None, retry_seconds: Callable[[], float]
) -> Created:
    """Return a new participant.

    Args:
        source: Makes it.
        context: What it may know.
        seconds: The time that it gets; None for any time.
        retry_seconds: Returns the seconds that its model calls have spent on retries.

    Raises:
        ConfigurationError: It cannot be used.
        TaskFormatError: The task does not fit it.
    """
    side = context.side
    if seconds is None and not source.is_foreign:
        return await _make(source, context)  # of this package or a domain: it neither waits nor blocks
    made = await _within(_make(source, context), seconds)
    if made is not None:
        return made
    limit, retries = seconds or 0.0, retry_seconds()
    if retries > limit / 2:
        problem = f"the {side} was not created in time; {retries:.1f} s were spent on retries of model calls"
        return Created(Ending("infrastructure_error", error=problem))
    reason: TerminationReason = "timeout" if side == "agent" else "user_error"
    return Created(Ending(reason, error=f"the {side} was not created in time"))


async def _make(source: ParticipantSource, context: ParticipantContext) -> Created:
    fault: TerminationReason = "agent_error" if context.side == "agent" else "user_error"
    try:
        return Created(await source.make(context))
    except (ConfigurationError, TaskFormatError):
        raise
    except (ModelError, ReplayError) as error:
        ending = Ending(reason_of(error), error=describe(error), kind=type(error).__name__)
        return Created(ending, error)
    except BaseException as error:
        if is_interrupt(error):
            raise
        # Whatever a participant's constructor raises is that participant's fault.
        problem = f"the {context.side} could not be created: {describe(error, place=True)}"
        return Created(Ending(fault, error=problem), error)


async def close_all(participants: Sequence[Participant]) -> None:
    """Close the participants, each in a limited time."""
    for participant in participants:
        if type(participant).close is not BuiltIn.close:
            await _within(_close(participant), _CLOSING_TIME)


async def _close(participant: Participant) -> None:
    try:
        await participant.close()
    except BaseException as error:
        if is_interrupt(error):
            raise
        # The verdict stands, however untidily a participant leaves.


async def _within(work: Coroutine[Any, Any, T], seconds: float | None) -> T | None:
    """Return the result of a coroutine; None if it has none in time.

    Unlike ``asyncio.wait_for``, it does not wait for a coroutine that does not let itself be cancelled.
    """
    task = asyncio.ensure_future(work)
    try:
        in_time = await wait_within(task, seconds)
    finally:
        task.cancel()
    return task.result() if in_time else None


def behaviour_of(persona: Mapping[str, str], settings: SimulationSettings) -> Behaviour | None:
    """Return what makes the simulated user of a persona difficult; None for one that cooperates.

    Raises:
        ConfigurationError: It is unknown.
    """
    name = persona.get(BEHAVIOUR)
    if name is None:
        return None
    if name not in settings.behaviours:
        raise ConfigurationError(unknown_name("behaviour", name, settings.behaviours))
    return settings.behaviours[name]


def check_requirements(task: Task, domain: Domain, settings: SimulationSettings) -> None:
    """Check that a task can be run and graded with these settings.

    Raises:
        ConfigurationError: The run lacks what the task needs.
        TaskFormatError: The task does not fit the domain.
    """
    evaluation = settings.evaluation
    load_rules(domain.spec)
    components = known_components(evaluation.evaluators)
    for name in task.criteria.reward_basis:
        if name not in components:
            problem = unknown_name("reward basis", name, components)
            raise TaskFormatError(problem, task_id=task.id, field="evaluation_criteria.reward_basis")
    check_comparable(task, domain.spec)
    if task.needs_judge and evaluation.judge is None:
        raise ConfigurationError(
            f"task {task.id!r} needs a judge for its NL assertions: add --tau-judge or --tau-judge-llm"
        )
    if settings.solo and not task.ticket:
        raise ConfigurationError(f"task {task.id!r} has no ticket, which solo mode needs")
