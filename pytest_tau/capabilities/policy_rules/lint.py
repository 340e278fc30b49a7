"""Checks of the rules of a policy: the policy has their sentences, and neither gold nor the own agent breaks one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import SimulationSettings, asimulate
from ...errors import ConfigurationError, TauError
from ...lint import Finding
from ...models import UserMessage, strings_in
from ...policy import check_policy, load_rules, stated_as, states
from ...references import policy_texts, reference_rules
from ...text import one_line
from . import capability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...capability import LintView
    from ...environment import Domain
    from ...evaluation import Evaluation
    from ...lint import Severity
    from ...models import Simulation, Task
    from ...policy import Rule

#: Characters of a call in a finding.
_CALL = 120
#: Characters of a sentence of the policy.
_SENTENCE = 300
_CHANGE = "change the reference actions so that they keep to it, or let the policy allow it"
#: The agent of a domain that follows its policy.
_AGENT = "rules"


async def lint(view: LintView) -> list[Finding]:
    """Check the rules of a domain, or that neither gold nor the domain's own agent breaks one in a task."""
    if view.task is None:
        return [*check_rules(view.domain)]
    findings = [*_breaches_of_reference(view)]
    if not view.domain.has_own_data:
        return findings
    # Nor must they break any other rule that does not depend on what is said.
    known = {finding.text.partition(":")[0] for finding in findings}
    others = [*_findings("gold-breaks-rule", view.gold)] if view.gold else []
    findings += [finding for finding in others if finding.text.partition(",")[0] not in known]
    return [*findings, *await check_agent(view.task, view.domain, view.evaluation)]


def _breaches_of_reference(view: LintView) -> Iterator[Finding]:
    """Check ``gold-breaks-rule``, for the rules of calls that the policy of the data states, whatever the data are."""
    if view.gold is None or view.task is None:
        return
    rules, _ = reference_rules(view.domain)
    history_length = len(view.task.message_history or ())
    scenario = UserMessage(content="\n".join(strings_in(view.task.user_scenario.model_dump(mode="json"))))
    messages = [*view.gold.messages[:history_length], scenario, *view.gold.messages[history_length:]]
    report = check_policy(messages, view.task, view.domain, rules=rules)
    sentences = {rule.name: _quoted(rule, view.domain) for rule in rules} if report and report.breaches else {}
    for rule in report.counts if report else ():
        breaches = [breach for breach in report.breaches if breach.rule == rule] if report else []
        for breach in breaches:
            called = f"{one_line(breach.call_text, _CALL)}: " if breach.call_text else ""
            text = f"{rule}: {called}{breach.evidence}"
            yield Finding("gold-breaks-rule", "error", view.task.id, text, sentences[rule], _CHANGE)


def _quoted(rule: Rule, domain: Domain) -> str:
    """Return the sentences of the data's policy that state a rule."""
    stated = next(filter(None, (stated_as(rule, policy) for policy in policy_texts(domain))), rule.sentence)
    return f"the policy says: {one_line(stated, _SENTENCE)}"


def check_rules(domain: Domain) -> Iterator[Finding]:
    """Check ``bad-rule`` and ``rule-not-in-policy``: rules can be loaded, and stand for sentences of the policy."""
    try:
        rules = load_rules(domain.spec)
    except ConfigurationError as error:
        yield Finding("bad-rule", "error", None, str(error))
        return
    if not domain.has_own_data:
        _, missing = reference_rules(domain)
        if missing:
            names = ", ".join(rule.name for rule in missing)
            yield Finding(
                "rule-not-in-policy", "note", None, f"not checked, as the policy does not state them: {names}"
            )
        return
    policies = policy_texts(domain)
    for rule in rules:
        if not any(states(rule.sentence, policy) for policy in policies):
            yield Finding("rule-not-in-policy", "warning", None, f"{rule.name}: the policy has no {rule.sentence!r}")


async def check_agent(task: Task, domain: Domain, evaluation: Evaluation) -> list[Finding]:
    """Check ``agent-breaks-rule``: the domain's own agent breaks a rule when it talks to the scripted user.

    If it does not do the task, as the user does not know what a rule asks for, the finding is a note.
    """
    if not domain.spec.rules or _AGENT not in domain.spec.agents:
        return []
    settings = SimulationSettings(evaluation=evaluation)
    try:
        simulation = await asimulate(
            task, domain=domain, agent=_AGENT, user="scripted", settings=settings, check_reference=False
        )
    except TauError:
        return []  # the scripted user cannot play every task
    return [*_findings("agent-breaks-rule", simulation, "error" if simulation.outcome == "passed" else "note")]


def _findings(name: str, simulation: Simulation, severity: Severity = "error") -> Iterator[Finding]:
    report = capability.read(simulation.facts)
    if report is None:
        return
    for rule, why in report.problems.items():
        yield Finding("rule-not-checked", "error", simulation.task_id, f"rule {rule!r} could not be checked: {why}")
    for rule in report.counts:
        first = next(breach for breach in report.breaches if breach.rule == rule)
        yield Finding(name, severity, simulation.task_id, f"{rule}, {first.line()}")
