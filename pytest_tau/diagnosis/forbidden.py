"""Missing calls that the policy forbids: a task that requires one contradicts its policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import AssistantMessage, ToolCall, ToolMessage, clone
from ..policy import check_policy, load_rules
from .facts import Attribution, Facts
from .heading import is_refused

if TYPE_CHECKING:
    from ..environment import Domain
    from ..models import Message, Simulation, Task
    from .divergence import Divergence


def forbidden_call(
    task: Task, simulation: Simulation, divergence: Divergence | None, domain: Domain, *, solo: bool = False
) -> str | None:
    """Return the rule of the policy that a missing call would break which the agent has refused, and how.

    The missing calls are added to the conversation, and their end is checked. Only absolute rules are: no other call
    and no text before could have made it right.

    Args:
        task: What was to be done.
        simulation: The conversation.
        divergence: What is missing.
        domain: The domain it took place in.
        solo: The agent worked alone, with both sides' tools.

    Raises:
        ConfigurationError: The domain's rules cannot be loaded.
    """
    own = simulation.messages
    missing = [] if divergence is None or divergence.kind != "missing" else [divergence.call, *divergence.also_missing]
    missing = [call for call in missing if call["requestor"] == "assistant"]
    refused = {call["name"] for call in missing if is_refused(call["name"], own)}
    rules = [rule for rule in load_rules(domain.spec) if rule.absolute] if refused else []
    if not rules:
        return None
    messages: list[Message] = list(own)
    for number, call in enumerate(missing):
        made = ToolCall(id=f"missing-{number}", name=call["name"], arguments=clone(call["arguments"]))
        messages += [AssistantMessage(tool_calls=[made]), ToolMessage(id=made.id, content="{}")]
    found = check_policy(messages, task, domain, solo=solo, rules=rules)
    new = [each for each in found.breaches if each.message_idx >= len(own)] if found else []
    breach = next((each for each in new if each.call and each.call["name"] in refused), None)
    return None if breach is None else f"{breach.rule}: {breach.call_text}: {breach.evidence}"


def contradicts_policy(facts: Facts) -> Attribution | None:
    """Apply if the agent has refused what the policy forbids, and the task requires it."""
    forbidden = facts.forbidden
    if forbidden is None:
        return None
    return Attribution("task", "it requires a call that the policy forbids, and the agent refused", None, forbidden)
