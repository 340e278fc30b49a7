"""What a trial that passed has omitted before a change: a demand of the policy, or the source of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict

from ...language import quantity_of, spoken
from ...models import AssistantMessage, ToolMessage, UserMessage, call_as_text
from ...plain import json
from ...policy import check_policy
from ...references import Known, leaves_of, stated_rules, tools_of
from ...text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...environment import Domain, Environment
    from ...models import Call, Simulation, Task, ToolCall
    from ...policy import Rule

#: What was omitted: a demand of the policy before a change, or that the agent knew the value that it used.
Omitted: TypeAlias = Literal["read", "verified", "stated", "confirmed", "known"]
#: Characters of a call and of the evidence.
_CALL, _EVIDENCE = 120, 200


class Omission(BaseModel):
    """Something that a trial has omitted before a change.

    Attributes:
        omitted: What was not done: ``read``, ``verified``, ``stated``, ``confirmed``; ``known`` for a value of the
            call that nothing had shown.
        rule: The rule that demands it; empty for a value.
        message_idx: The number of the message with the call, from 0.
        call: The call as text.
        evidence: What shows it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    omitted: Omitted
    rule: str
    message_idx: int
    call: str
    evidence: str

    def line(self) -> str:
        """Return the omission in one line."""
        rule = f" ({self.rule})" if self.rule else ""
        return f"not {self.omitted}{rule}, message {self.message_idx}: {self.call}: {self.evidence}"

    def short(self) -> str:
        """Return what was omitted before which tool."""
        return f"not {self.omitted} before {self.call.partition('(')[0]} (message {self.message_idx})"


class _View(NamedTuple):
    simulation: Simulation
    task: Task
    domain: Domain
    environment: Environment
    solo: bool


def omissions_of(
    simulation: Simulation,
    task: Task,
    domain: Domain,
    *,
    environment: Environment | None = None,
    solo: bool = False,
) -> list[Omission] | None:
    """Return what a trial has omitted before its changes, in the order of messages.

    Args:
        simulation: The trial, graded.
        task: Its task.
        domain: Its domain.
        environment: The environment that it was run on; None for the default.
        solo: Whether the agent worked alone.

    Returns:
        None if the trial did not pass, or its agent was given the reference actions.
    """
    verdict = simulation.reward_info
    if verdict is None or not verdict.passed or "agent" in simulation.info.saw_reference:
        return None
    environment = environment or domain.environment(task, solo=solo, replay_history=False)
    view = _View(simulation, task, domain, environment, solo)
    writes = _writes(view)
    omissions = [*_unmet(view, writes), *_guesses(view, writes)] if writes else []
    return sorted(omissions, key=lambda omission: omission.message_idx)


def _writes(view: _View) -> dict[int, list[Call]]:
    """Return the agent's successful calls that change something, by the number of their message."""
    writes: dict[int, list[Call]] = {}
    history_length = len(view.task.message_history or ())
    for call in view.simulation.calls:
        by_agent = isinstance(view.simulation.messages[call.message_idx], AssistantMessage)
        succeeded = call.result is not None and not call.result.error
        if by_agent and succeeded and call.message_idx >= history_length and _mutates(view.environment, call.call):
            writes.setdefault(call.message_idx, []).append(call)
    return writes


def _mutates(environment: Environment, call: ToolCall) -> bool:
    info = environment.tool_infos.get(call.name)
    return info is not None and info.mutates


def _unmet(view: _View, writes: dict[int, list[Call]]) -> Iterator[Omission]:
    """Yield the demands of the policy that were not met before a change."""
    rules = {rule.name: rule for rule in rules_before_writes(view.domain)}
    report = rules and check_policy(
        view.simulation.messages,
        view.task,
        view.domain,
        solo=view.solo,
        policy=view.environment.policy,
        tools=view.environment.tool_infos,
        rules=[*rules.values()],
    )
    for breach in report.breaches if report else ():
        demand = rules[breach.rule].before_write
        if breach.call is not None and demand and _is_write(breach.call, writes.get(breach.message_idx, ())):
            call = one_line(breach.call_text or "", _CALL)
            evidence = one_line(breach.evidence, _EVIDENCE)
            yield Omission(
                omitted=demand, rule=breach.rule, message_idx=breach.message_idx, call=call, evidence=evidence
            )


def _is_write(call: Any, writes: Any) -> bool:
    """Return whether a call of a breach is one of the changes; a hidden tool is called by another one."""
    same_tool = [write.call for write in writes if write.call.name == call["name"]]
    return any(other.arguments == call["arguments"] for other in same_tool) if same_tool else bool(writes)


def rules_before_writes(domain: Domain) -> list[Rule]:
    """Return the rules about what comes before a change, as far as the policy of the data states them."""
    return [rule for rule in stated_rules(domain) if rule.before_write is not None]


def _guesses(view: _View, writes: dict[int, list[Call]]) -> Iterator[Omission]:
    """Yield values of changes that are right, and that nothing had shown to the agent.

    A value was shown if it is in the policy, the tools' declarations, a text of the user, a text of the agent that the
    user has answered, or a result of a call that the agent has made. Numbers, amounts, choices of a schema and codes of
    up to three letters are skipped.
    """
    known, waiting, by_agent = Known(_given(view)), list[str](), True
    for number, message in enumerate(view.simulation.messages):
        if isinstance(message, UserMessage):
            for text in [*waiting, spoken(message.text)] if message.has_text_content() else ():
                known.add(text)
            by_agent = False
        elif isinstance(message, AssistantMessage):
            waiting = [spoken(message.text)] if message.has_text_content() else waiting
            by_agent = True
            for write in writes.get(number, ()):
                yield from _unknown_values(view, write, known)
        elif isinstance(message, ToolMessage) and by_agent and not message.error:
            known.add(message.content or "")


def _given(view: _View) -> list[str]:
    """Return the texts that the agent is given at the beginning."""
    tools = tools_of(view.domain, "assistant") | (tools_of(view.domain, "user") if view.solo else {})
    declared = [f"{tool.description} {json.dumps(tool.parameters)}" for tool in tools.values()]
    return [view.environment.policy, *declared, *([view.task.ticket] if view.task.ticket else [])]


def _unknown_values(view: _View, write: Call, known: Known) -> Iterator[Omission]:
    call = write.call
    tool = tools_of(view.domain, call.requestor).get(call.name)
    if tool is None:
        return
    right = _reference_values(view.task, call.name)
    for leaf in leaves_of(call.arguments, tool.parameters):
        quantity = quantity_of(leaf.value)
        is_amount = quantity is not None and quantity.is_amount  # computed, as a number is
        if leaf.value in right and not is_amount and not known.has(leaf.value):
            yield Omission(
                omitted="known",
                rule="",
                message_idx=write.message_idx,
                call=one_line(call_as_text(call.name, call.arguments), _CALL),
                evidence=one_line(
                    f"no result, no text of the user and no policy had {leaf.path} {leaf.value!r}", _EVIDENCE
                ),
            )


def _reference_values(task: Task, tool: str) -> set[str]:
    criteria = task.criteria
    actions = [
        *(criteria.actions or ()),
        *(action for outcome in criteria.outcomes or () for action in outcome.actions),
    ]
    return {leaf.value for action in actions if action.name == tool for leaf in leaves_of(action.arguments, {})}
