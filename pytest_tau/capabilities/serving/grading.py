"""The verdict on the trajectory of an environment, as a test run would give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from ...diagnosis import annotate_failure, explain, plain_text
from ...errors import TauError
from ...evaluation import grade as grade_conversation
from ...models import Simulation, TerminationReason, UserMessage, simulation_id
from .wire import RequestError

if TYPE_CHECKING:
    from ...environment import Domain
    from ...evaluation import Evaluation, Judged
    from ...models import Message, Task
    from .served import ServedEnvironment

REASONS: tuple[str, ...] = get_args(TerminationReason)


def check_gradable(entry: ServedEnvironment, evaluation: Evaluation) -> Task:
    """Return the task of an environment.

    Raises:
        RequestError: It has none, no trajectory, or needs a judge; or its tool server has failed.
    """
    entry.check_recorded()
    if entry.task is None:
        problem = "the environment has no task, so there is nothing to grade"
        raise RequestError(409, f'{problem}: make one by POST /environments with {{"task": ID}}')
    if entry.environment.fault is not None:
        raise RequestError(409, f"there is no verdict, as the environment failed: {entry.environment.fault}")
    if entry.task.needs_judge and evaluation.judge is None:
        problem = f"task {entry.task.id!r} needs a judge for its NL assertions"
        raise RequestError(409, f"{problem}: start the server with --judge or --judge-llm")
    return entry.task


def grade(
    task: Task,
    domain: Domain,
    messages: list[Message],
    reason: TerminationReason,
    evaluation: Evaluation,
    judged: Judged,
) -> dict[str, Any]:
    """Return the verdict on a trajectory as JSON data: reward, report of a failure, and the simulation.

    Raises:
        RequestError: The judge failed, and the reward depends on its answer.
        TauError: An evaluator failed, or the task does not fit the domain.
    """
    times = [message.timestamp for message in messages if message.timestamp]
    simulation = Simulation(
        id=simulation_id(task.id, 0, None, times[0] if times else ""),
        task_id=task.id,
        start_time=times[0] if times else "",
        end_time=times[-1] if times else "",
        termination_reason=reason,
        stop_token=next((message.stop_token for message in messages[-1:] if isinstance(message, UserMessage)), None),
        messages=messages,
    )
    try:
        simulation.reward_info = grade_conversation(task, messages, reason, domain, evaluation, judged)
    except TauError as error:
        if error is not judged.fault:
            raise
        raise RequestError(502, f"the judge failed: {error}") from None
    annotate_failure(simulation, task, domain, solo=False)
    failed = simulation.outcome != "passed"
    return {
        "reward": simulation.reward,
        "outcome": simulation.outcome,
        "report": plain_text(explain(simulation, evaluators=evaluation.evaluators)) if failed else "",
        "simulation": simulation.model_dump(mode="json"),
    }
