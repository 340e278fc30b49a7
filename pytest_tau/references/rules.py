"""Rules of calls that hold for the reference actions of a task, whatever its data."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ..models import AssistantMessage, ToolCall, UserMessage, clone, strings_in
from ..policy import check_policy, load_rules
from ..policy.editions import holds_in
from .documents import documents_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment import Domain
    from ..models import Action, Message, Task
    from ..policy import RecordedBreach, Rule


#: The rules that hold in the policy of a domain's data, and the others.
_RULES: weakref.WeakKeyDictionary[Domain, tuple[list[Rule], list[Rule]]] = weakref.WeakKeyDictionary()
#: All rules that the policy of a domain states.
_STATED: weakref.WeakKeyDictionary[Domain, tuple[Rule, ...]] = weakref.WeakKeyDictionary()


def policy_texts(domain: Domain) -> list[str]:
    """Return the variants of the policy, each with the documents of the domain, which state rules as well."""
    documents = [document.content for document in documents_of(domain)]
    return ["\n".join([domain.environment(policy=name).policy, *documents]) for name in domain.spec.policies]


def stated_rules(domain: Domain) -> tuple[Rule, ...]:
    """Return the rules of a domain that its policy or a document states.

    Raises:
        ConfigurationError: They cannot be loaded.
    """
    if domain not in _STATED:
        policies = policy_texts(domain)
        rules = (rule for rule in load_rules(domain.spec) if any(holds_in(rule, policy) for policy in policies))
        _STATED[domain] = tuple(rules)
    return _STATED[domain]


def reference_rules(domain: Domain) -> tuple[list[Rule], list[Rule]]:
    """Return the rules that references are checked by: those that the policy of the data states, and the others."""
    if domain not in _RULES:
        rules = [rule for rule in load_rules(domain.spec) if rule.absolute or rule.of_reference]
        policies = policy_texts(domain)
        held = [rule for rule in rules if any(holds_in(rule, policy) for policy in policies)]
        _RULES[domain] = held, [rule for rule in rules if rule not in held]
    return _RULES[domain]


def carried_out(task: Task, domain: Domain, actions: Sequence[Action] | None = None) -> list[Message]:
    """Return a conversation in which the user says the scenario, and the actions are made, with their results.

    Args:
        task: The task, whose message history comes first.
        domain: Its domain.
        actions: The actions; those of the reference for None.
    """
    environment = domain.environment(task)
    scenario = "\n".join(strings_in([scenario.model_dump(mode="json") for scenario in task.scenarios]))
    messages: list[Message] = [*task.message_history, UserMessage(content=scenario)]
    for position, action in enumerate((task.criteria.actions or ()) if actions is None else actions):
        arguments, side = action.arguments, action.requestor
        call = ToolCall(id=f"reference-{position}", name=action.name, arguments=clone(arguments), requestor=side)
        made_by = AssistantMessage if side == "assistant" else UserMessage
        messages += [made_by(tool_calls=[call]), environment.call(action.name, clone(arguments), side, call.id)]
    environment.close()
    return messages


def breaches_in(messages: Sequence[Message], task: Task, domain: Domain) -> list[RecordedBreach]:
    """Return the breaches of the rules that references are checked by and the policy states.

    Raises:
        ConfigurationError: The domain's rules cannot be loaded.
    """
    rules, _ = reference_rules(domain)
    report = check_policy(messages, task, domain, rules=rules) if rules else None
    return list(report.breaches) if report else []
