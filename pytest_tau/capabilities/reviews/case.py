"""The material of a review: what a reviewer may know of a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...diagnosis import RULES
from ...evaluation import components_of
from ...models import AssistantMessage, ToolMessage, UserMessage, clone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...environment import Domain, Environment, Retrieval
    from ...models import Attribution, Divergence, Message, ReviewMode, Simulation, Task

#: Differences of the databases that are shown.
_MOST_DIFFERENCES = 100


@dataclass(frozen=True, kw_only=True)
class ReviewCase:
    """A conversation as a reviewer sees it.

    In the mode ``user`` it has neither policy nor reference, nor verdict, nor anything of the agent but its texts.

    Attributes:
        mode: ``full``, or ``user`` for a review of the user alone.
        domain: The domain's name; empty if it is not known.
        task_id: The task.
        trial: The number of the trial, from 0.
        solo: The agent worked alone.
        outcome: ``passed`` or ``failed``; None in the mode ``user``.
        ended_by: How the conversation ended: the user's token or the reason.
        messages: The conversation with the number of each message, oldest first. Numbers count all messages, also those
            that are not shown.
        scenario: The instructions of the user, or the ticket of an agent that worked alone.
        policy: The agent's policy; None if it is not shown or not known.
        tools: The tools of the agent as OpenAI tool schemas.
        user_tools: The tools of the user, likewise.
        actions: The reference actions; None if the task has none.
        verdict: ``reward``, ``reward_breakdown``, ``reward_basis`` and ``failed_checks``; None in the mode ``user``.
        differences: Where the final databases differ from the expected ones.
        turning_point: Where the final state went wrong, if that is known.
        blame: The party that the rules of blame name, if the trial failed.
        rules: The rules of blame in words, in their order.
    """

    mode: ReviewMode
    domain: str
    task_id: str
    trial: int
    solo: bool = False
    outcome: str | None = None
    ended_by: str
    messages: tuple[tuple[int, Message], ...]
    scenario: str
    policy: str | None = None
    tools: list[dict[str, Any]] = field(default_factory=list)
    user_tools: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, Any]] | None = None
    verdict: dict[str, Any] | None = None
    differences: list[dict[str, Any]] = field(default_factory=list)
    turning_point: Divergence | None = None
    blame: Attribution | None = None
    rules: tuple[str, ...] = ()

    @property
    def turns(self) -> int:
        """Return the number after that of the last message."""
        return self.messages[-1][0] + 1 if self.messages else 0


def review_case(  # noqa: PLR0913 - what a conversation took place in
    simulation: Simulation,
    task: Task | None,
    domain: Domain | None,
    mode: ReviewMode = "full",
    *,
    domain_name: str = "",
    policy: str | None = None,
    retrieval: Retrieval | None = None,
    policy_text: str | None = None,
) -> ReviewCase:
    """Return what a reviewer may know of a conversation.

    Args:
        simulation: The conversation with its verdict and diagnosis.
        task: Its task; None if it is not known.
        domain: The domain; None if it is not installed: then neither policy nor tools are known.
        mode: ``full``, or ``user`` for a review of the user alone.
        domain_name: The domain's name, if it is not installed.
        policy: The variant of the policy; None for the default.
        retrieval: How the agent accesses documents; None for the default.
        policy_text: The policy, if the domain is not installed.
    """
    solo = simulation.info.solo
    environment = _environment(task, domain, policy, retrieval, solo=solo)
    texts: dict[str, Any] = {
        "mode": mode,
        "domain": domain.name if domain else domain_name,
        "task_id": simulation.task_id,
        "trial": simulation.trial,
        "solo": solo,
        "ended_by": simulation.stop_token or simulation.termination_reason,
        "scenario": _scenario(task, solo=solo),
        "user_tools": [] if solo else _tools(environment, task, "user"),
    }
    numbered = list(enumerate(clone(simulation.messages)))
    if mode == "user":
        return ReviewCase(**texts, messages=tuple(seen_by_user(numbered)))
    return ReviewCase(
        **texts,
        messages=tuple(numbered),
        policy=environment.policy if environment else policy_text,
        tools=_tools(environment, task, "assistant"),
        **_graded(simulation, task),
    )


def _graded(simulation: Simulation, task: Task | None) -> dict[str, Any]:
    """Return what is known of the verdict on a conversation: what was expected, what differs, and why."""
    verdict = simulation.reward_info
    actions = task.of_outcome(verdict.compared_outcome if verdict else None).criteria.actions if task else None
    return {
        "outcome": simulation.outcome,
        "actions": None
        if actions is None
        else [action.model_dump(mode="json", exclude_none=True) for action in actions],
        "verdict": _verdict(simulation),
        "differences": [difference.model_dump(mode="json") for difference in (verdict and verdict.db_diff) or ()][
            :_MOST_DIFFERENCES
        ],
        "turning_point": simulation.info.turning_point,
        "blame": simulation.info.blame,
        "rules": tuple(rule.when for rule in RULES),
    }


def seen_by_user(messages: Sequence[tuple[int, Message]]) -> list[tuple[int, Message]]:
    """Return the messages that the user sees: without the calls of the agent, and without their results."""
    visible: list[tuple[int, Message]] = []
    for number, message in messages:
        if isinstance(message, AssistantMessage):
            if message.has_text_content():
                visible.append((number, message.model_copy(update={"tool_calls": None, "raw_data": None})))
        elif isinstance(message, UserMessage) or (isinstance(message, ToolMessage) and message.requestor == "user"):
            visible.append((number, message))
    return visible


def _environment(
    task: Task | None, domain: Domain | None, policy: str | None, retrieval: Retrieval | None, *, solo: bool
) -> Environment | None:
    """Return an environment for its policy and tools; None if it cannot be made."""
    if domain is None:
        return None
    try:
        environment = domain.environment(task, solo, policy, retrieval=retrieval, replay_history=False)
    except Exception:  # noqa: BLE001 - the domain's own code; a review without policy and tools is better than none
        return None
    environment.close()
    return environment


def _tools(environment: Environment | None, task: Task | None, side: Any) -> list[dict[str, Any]]:
    if environment is None:
        return []
    tools = environment.tools(side)
    if side == "user" and task is not None and task.user_tools is not None:
        tools = [tool for tool in tools if tool.name in task.user_tools]
    return [tool.openai_schema for tool in tools]


def _scenario(task: Task | None, *, solo: bool) -> str:
    if task is None:
        return ""
    return (task.ticket or "") if solo else task.scenario_text


def _verdict(simulation: Simulation) -> dict[str, Any] | None:
    info = simulation.reward_info
    if info is None:
        return None
    fields = info.model_dump(mode="json", include={"reward", "reward_breakdown", "reward_basis"}, exclude_none=True)
    failed = [
        check for component in components_of(info) if component.gates(info) for check in component.failed_checks(info)
    ]
    return {**fields, "failed_checks": failed}
