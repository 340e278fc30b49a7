"""Checks by grading: the gold run passes, a greeting alone does not, and every writing action is needed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from ..environment import unstable_reference
from ..errors import DomainError, ToolServerError
from ..evaluation import BUILT_IN_JUDGES, Evaluation, Judged, grade, known_components, passes_without_agent
from ..models import (
    GREETING,
    AssistantMessage,
    NLAssertionCheck,
    ToolCall,
    UserMessage,
    call_as_text,
    is_beginning,
)
from ..orchestrator import Limits
from ..regrade.comparing import reward_differences
from ..runner import asimulate
from ..runner.config import SimulationSettings
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain
    from ..evaluation import Evaluator
    from ..models import Action, Message, Simulation, Task
    from .findings import Severity

#: The names of the components that are not of plugins.
_BUILT_IN = known_components(())


def accepting(evaluators: Sequence[Evaluator] = ()) -> Evaluation:
    """Return the way that tasks are graded here: NL assertions are accepted."""
    return Evaluation(judge=BUILT_IN_JUDGES["accept"], evaluators=evaluators)


async def check_gold(task: Task, domain: Domain, evaluation: Evaluation) -> tuple[Simulation, list[Finding]]:
    """Check ``gold-fails``: the reference actions and phrases, carried out in a conversation, do not earn reward 1.

    It is a warning if only components of plugins object, which may want more of a conversation than the task states.

    Returns:
        The conversation, and what was found.
    """
    settings = SimulationSettings(limits=Limits(timeout=None), evaluation=evaluation)
    simulation = await asimulate(
        task, domain=domain, agent="gold", user="gold", settings=settings, check_reference=False
    )
    info = simulation.reward_info
    if info is not None and info.passed:
        return simulation, []
    reasons = [simulation.error] if simulation.error else []
    reasons += [reason.strip() for reason in reward_differences(None, info)] if info is not None else []
    factors = (info and info.reward_breakdown) or {}
    objecting = {name for name, value in factors.items() if value < 1}
    by_plugins = bool(objecting) and objecting.isdisjoint(_BUILT_IN) and not simulation.error
    severity: Severity = "warning" if by_plugins else "error"
    return simulation, [Finding("gold-fails", severity, task.id, "; ".join(reasons))]


def check_stable(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check ``unstable-state``: the tools begin with another state each time, or the reference actions lead to one.

    They are carried out twice, each time in a fresh environment.
    """
    try:
        problem = unstable_reference(domain, task)
    except (DomainError, ToolServerError) as error:
        problem = str(error)
    if problem is not None:
        yield Finding("unstable-state", "error", task.id, problem)


def check_solvable(task: Task, domain: Domain) -> Iterator[Finding]:
    """Check a new task: all of these checks, without a conversation."""
    evaluation = accepting()
    if not _earns_all(task, task.criteria.actions or [], domain, evaluation):
        yield Finding("gold-fails", "error", task.id, "the reference actions do not earn reward 1")
    yield from check_null(task, domain, evaluation)
    yield from check_needed(task, domain, evaluation)


def check_null(task: Task, domain: Domain, evaluation: Evaluation) -> list[Finding]:
    """Check ``passes-without-agent``: a greeting alone earns reward 1; a warning if a judge may still object."""
    hanging = task.needs_judge
    by_plugins = not set(task.criteria.reward_basis) <= set(_BUILT_IN)
    if hanging or by_plugins:
        passes: bool | None = _earns_all(task, [], domain, evaluation, speaks=False)
    else:
        passes = passes_without_agent(task, domain)
    if not passes:
        return []
    mutating = [action for action in task.criteria.actions or [] if _mutates(action, domain)]
    why = "the reference actions do not change the databases" if mutating else "no reference action writes"
    if mutating and task.criteria.outcomes:
        why = "the reference actions, or those of another right outcome, do not change the databases"
    if hanging:
        text = f"a greeting alone earns reward 1 unless the judge objects: {why}"
        return [Finding("passes-without-agent", "warning", task.id, text)]
    if task.evaluation_criteria is None:
        why = "the task has no evaluation criteria"
    elif not (task.criteria.actions or task.criteria.env_assertions):
        why = "there are no reference actions: state what the agent has to say (communicate_info)"
    return [Finding("passes-without-agent", "error", task.id, f"a greeting alone earns reward 1: {why}")]


def check_needed(task: Task, domain: Domain, evaluation: Evaluation) -> Iterator[Finding]:
    """Check ``action-not-needed``: the verdict stays the same without this one writing action.

    Without it, another right outcome may be reached: only that of the reference actions counts here.
    """
    if task.criteria.outcomes:
        criteria = task.criteria.model_copy(update={"outcomes": None})
        task = task.model_copy(update={"evaluation_criteria": criteria})
    actions = task.criteria.actions or []
    writing = [position for position, action in enumerate(actions) if _mutates(action, domain)]
    if not writing or not _earns_all(task, actions, domain, evaluation):
        return
    for position in writing:
        if _earns_all(task, [*actions[:position], *actions[position + 1 :]], domain, evaluation):
            called = call_as_text(actions[position].name, actions[position].arguments)
            yield Finding("action-not-needed", "note", task.id, f"action {position}: reward 1 without {called}")


def _earns_all(
    task: Task, actions: Sequence[Action], domain: Domain, evaluation: Evaluation, *, speaks: bool = True
) -> bool:
    """Return whether the actions, in order, earn reward 1; what must be said is said unless only a greeting is."""
    messages: list[Message] = [*task.message_history]
    phrases = [session.communicate_info for session in task.sessions or ()] or [[]]
    for action in actions:
        if is_beginning(action):
            messages.append(AssistantMessage(content="\n".join(phrases.pop(0)) or GREETING))
        call = ToolCall(name=action.name, arguments=copy.deepcopy(action.arguments), requestor=action.requestor)
        side = AssistantMessage if action.requestor == "assistant" else UserMessage
        messages.append(side(tool_calls=[call]))
    agent_text = "\n".join([*phrases[0], *(task.criteria.communicate_info or [])]) if speaks else GREETING
    messages += [AssistantMessage(content=agent_text or GREETING), UserMessage(content="###STOP###")]
    statements = task.criteria.nl_assertions or []
    verdicts = [NLAssertionCheck(nl_assertion=text, met=True, justification="accept") for text in statements]
    return grade(task, messages, "user_stop", domain, evaluation, Judged(verdicts)).passed


def _mutates(action: Action, domain: Domain) -> bool:
    toolkit = domain.spec.agent_tools if action.requestor == "assistant" else domain.spec.user_tools
    declared = toolkit.tool_infos.get(action.name) if toolkit else None
    return declared is not None and declared.mutates
