"""Rules of calls that hold for the reference actions of a task, whatever its data."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ..models import AssistantMessage, ToolCall, UserMessage, clone, strings_in
from ..policy import check_policy, holds_in, load_rules
from .documents import documents_of

if TYPE_CHECKING:
    from ..environment import Domain
    from ..models import Message, Task
    from ..policy import RecordedBreach, Rule


#: The rules that hold in the policy of a domain's data, and the others.
_RULES: weakref.WeakKeyDictionary[Domain, tuple[list[Rule], list[Rule]]] = weakref.WeakKeyDictionary()


def is_own_data(domain: Domain) -> bool:
    """Return whether a domain has its own data: another edition has another policy and other reference actions."""
    return domain.folder == domain.spec.folder


def policy_texts(domain: Domain) -> list[str]:
    """Return the variants of the policy, each with the documents of the domain, which state rules as well."""
    documents = [document.content for document in documents_of(domain)]
    return ["\n".join([domain.environment(policy=name).policy, *documents]) for name in domain.spec.policies]


def reference_rules(domain: Domain) -> tuple[list[Rule], list[Rule]]:
    """Return the rules that references are checked by: those that the policy of the data states, and the others."""
    if domain not in _RULES:
        rules = [rule for rule in load_rules(domain.spec) if rule.absolute or rule.of_reference]
        policies = policy_texts(domain)
        held = [rule for rule in rules if any(holds_in(rule, policy) for policy in policies)]
        _RULES[domain] = held, [rule for rule in rules if rule not in held]
    return _RULES[domain]


def breaches_of_reference(task: Task, domain: Domain) -> list[RecordedBreach]:
    """Return the breaches of rules in the reference actions of a task, made after the user has said its scenario.

    Checked are absolute rules and those of references that the policy of the data states.

    Raises:
        ConfigurationError: The domain's rules cannot be loaded.
    """
    rules = reference_rules(domain)[0]
    if is_own_data(domain):
        rules = [rule for rule in load_rules(domain.spec) if rule.absolute or rule.of_reference]
    if not rules:
        return []
    state = domain.environment(task)
    messages: list[Message] = [UserMessage(content="\n".join(strings_in(task.user_scenario.model_dump(mode="json"))))]
    for number, action in enumerate(task.criteria.actions or ()):
        made = ToolCall(id=f"reference-{number}", name=action.name, arguments=clone(action.arguments))
        made = made.model_copy(update={"requestor": action.requestor})
        side = UserMessage if action.requestor == "user" else AssistantMessage
        result = state.call(action.name, action.arguments, action.requestor)
        messages += [side(tool_calls=[made]), result.model_copy(update={"id": made.id})]
    state.close()
    found = check_policy(messages, task, domain, rules=rules)
    return list(found.breaches) if found else []
