"""Checking the rules of a domain in a finished conversation."""

from __future__ import annotations

import importlib
import queue
import threading
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import ConfigurationError, is_interrupt, unknown_name
from ..text import one_line
from .marked import marked_rules
from .parts import Breach
from .report import POLICY, PolicyReport, RecordedBreach
from .rule import Rule
from .trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..environment import Domain, DomainSpec, Environment
    from ..environment.toolkit import ToolInfo
    from ..models import Message, Simulation, Task


#: Seconds for one rule and one conversation.
SECONDS = 5.0
_NO_END = "no end after %g s"
#: Breaches of one rule in one conversation that are kept.
MOST = 100

#: Checks that took too long, by the identity of their rule, which is kept so that no other object gets it.
_LEFT_ALONE: dict[int, tuple[Rule, threading.Thread]] = {}

#: The breaches that a rule found, or why it could not be checked.
Found: TypeAlias = "list[Breach] | str"


def run_rules(rules: Sequence[Rule], trajectory: Trajectory, seconds: float = SECONDS) -> list[Found]:
    """Check rules and return for each its breaches, or why it could not be checked.

    Args:
        rules: The rules.
        trajectory: The conversation.
        seconds: The time for each that is not bounded.
    """
    return [_outcome(rule, trajectory) if rule.bounded else _in_time(rule, trajectory, seconds) for rule in rules]


def _in_time(rule: Rule, trajectory: Trajectory, seconds: float) -> Found:
    """Check a rule in a thread, which is left alone if the rule takes too long; until it ends, no other is started."""
    if id(rule) in _LEFT_ALONE and _LEFT_ALONE[id(rule)][1].is_alive():
        return _NO_END % seconds
    outcome: queue.SimpleQueue[Found] = queue.SimpleQueue()
    check = threading.Thread(target=lambda: outcome.put(_outcome(rule, trajectory)), daemon=True, name="tau-policy")
    check.start()
    try:
        return outcome.get(timeout=seconds)
    except queue.Empty:
        _LEFT_ALONE[id(rule)] = rule, check
        return _NO_END % seconds


def _outcome(rule: Rule, trajectory: Trajectory) -> Found:
    try:
        result = rule.check(trajectory)
        if isinstance(result, str | dict) or not hasattr(result, "__iter__"):
            return f"expected breaches, got {result!r:.80}"
        breaches = list(islice(result, MOST))
        for breach in breaches:
            if not _is_breach(breach, trajectory):
                return f"expected a Breach with the number of a turn, got {breach!r:.80}"
    except BaseException as error:
        if is_interrupt(error):
            raise
        # Code of a domain: whatever it raises is reported by its name.
        return f"{type(error).__name__}: {error}"
    return breaches


def _is_breach(element: object, trajectory: Trajectory) -> bool:
    return (
        isinstance(element, Breach)
        and type(element.turn_number) is int
        and 1 <= element.turn_number <= len(trajectory.turns)
    )


#: Loaded rules, by the identity of their domain, which is kept so that no other object gets it.
_LOADED: dict[int, tuple[DomainSpec, tuple[Rule, ...]]] = {}
#: The agent that only makes the reference calls.
SILENT = "gold"
#: Characters of evidence that are kept.
_EVIDENCE = 300


def load_rules(spec: DomainSpec) -> list[Rule]:
    """Return the rules that a domain's policy and its declaration name, imported and checked once a process.

    Raises:
        ConfigurationError: A rule cannot be imported, is not a ``Rule``, or has the name of another one.
    """
    declared, rules = _LOADED.get(id(spec), (None, ()))
    if declared is not spec:
        rules = _load(spec)
        _LOADED[id(spec)] = spec, rules
    return list(rules)


def counting_rules(spec: DomainSpec) -> list[Rule]:
    """Return the rules of a domain that are a factor of the reward (``DomainSpec.rules_count``).

    Raises:
        ConfigurationError: As for ``load_rules``.
    """
    counting = spec.rules_count
    return [rule for rule in load_rules(spec) if counting is True or (counting and rule.name in counting)]


def _load(spec: DomainSpec) -> tuple[Rule, ...]:
    declared = [spec.rules] if isinstance(spec.rules, str) else spec.rules
    rules = marked_rules(spec)
    for declaration in declared:
        value = _imported(declaration, spec.name) if isinstance(declaration, str) else declaration
        rules += [value] if isinstance(value, Rule) else _several(value, declaration, spec.name)
    if spec.values:
        where = f"domain {spec.name!r}: rule"
        rules = [replace(rule, sentence=spec.values.fill(rule.sentence, f"{where} {rule.name}")) for rule in rules]
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"domain {spec.name!r}: two rules are called {name!r}")
    for name in spec.rules_count if not isinstance(spec.rules_count, bool) else ():
        if name not in names:
            raise ConfigurationError(f"domain {spec.name!r}: rules_count: {unknown_name('rule', name, names)}")
    return tuple(rules)


def _several(value: Any, declared: Any, domain: str) -> list[Rule]:
    if not isinstance(value, list | tuple) or not all(isinstance(element, Rule) for element in value):
        expected = "expected Rule objects, or 'module:attribute' of one or of a list of them"
        raise ConfigurationError(f"domain {domain!r}: rules: {expected}, got {one_line(repr(declared), 80)}")
    return list(value)


def _imported(target: str, domain: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        problem = f"cannot import {target!r}: {type(error).__name__}: {error}"
        raise ConfigurationError(f"domain {domain!r}: rules: {problem}") from error


def check_policy(  # noqa: PLR0913 - everything but the conversation has a default
    messages: Sequence[Message],
    task: Task,
    domain: Domain,
    *,
    solo: bool = False,
    dialog: bool = True,
    policy: str | None = None,
    tools: Mapping[str, ToolInfo] | None = None,
    rules: Sequence[Rule] | None = None,
) -> PolicyReport | None:
    """Check the rules of a domain in a finished conversation.

    Args:
        messages: The conversation, oldest first.
        task: Its task, for the state and the messages that it begins with; nothing else of it is used.
        domain: The domain it took place in.
        solo: Whether the agent worked alone, with both sides' tools.
        dialog: Whether the agent talked to a user.
        policy: The text that the agent was given; None for the domain's default.
        tools: The declarations of both sides' tools, if they are known already.
        rules: Rules to check instead of the domain's.

    Returns:
        None if the domain has no rules.

    Raises:
        ConfigurationError: The domain's rules cannot be loaded.
        TaskFormatError: The initial state cannot be applied.
    """
    rules = load_rules(domain.spec) if rules is None else rules
    if not rules:
        return None
    dialog = dialog and not solo
    applying = [rule for rule in rules if dialog or not rule.needs_dialog]
    environment = domain.environment(task, solo=solo, replay_history=False) if policy is None or tools is None else None
    restartable = domain.spec.agent_db.cheap_to_fork
    trajectory = Trajectory.of(
        messages,
        environment.tool_infos if tools is None and environment else tools or {},
        start=(lambda: domain.environment(task, solo=solo, replay_history=False)) if restartable else None,
        policy=environment.policy if policy is None and environment else policy or "",
        given=len(task.message_history or ()),
        dialog=dialog,
    )
    return _report(applying, trajectory)


def report_of(
    simulation: Simulation,
    task: Task,
    domain: Domain,
    *,
    environment: Environment | None = None,
    agent: str | None = None,
    solo: bool | None = None,
) -> PolicyReport | None:
    """Return what the rules of a domain find in a conversation; a mistake in a rule or a tool is a problem of it.

    Args:
        simulation: The conversation.
        task: Its task.
        domain: Its domain.
        environment: The environment that it was run on, for the texts and tools of the agent; None for the default.
        agent: The name of the agent; None for the recorded one.
        solo: Whether the agent worked alone; None for what is recorded.

    Returns:
        None if the domain has no rules, or nothing was said.
    """
    if not simulation.messages:
        return None
    agent = agent if agent is not None else simulation.agent_name
    solo = simulation.info.solo if solo is None else solo
    try:
        return check_policy(
            simulation.messages,
            task,
            domain,
            solo=solo,
            dialog=agent != SILENT,
            policy=environment.policy if environment else None,
            tools=environment.tool_infos if environment else None,
        )
    except BaseException as error:
        if is_interrupt(error):
            raise
        # Tools and records are foreign code, and the trial has its verdict.
        return PolicyReport(problems={POLICY: f"{type(error).__name__}: {error}"})


def _report(rules: Sequence[Rule], trajectory: Trajectory) -> PolicyReport:
    checked: list[str] = []
    problems: dict[str, str] = {}
    breaches: list[RecordedBreach] = []
    for rule, outcome in zip(rules, run_rules(rules, trajectory), strict=True):
        if isinstance(outcome, str):
            problems[rule.name] = outcome
            continue
        checked.append(rule.name)
        breaches += [_recorded(rule, breach, trajectory) for breach in outcome]
    # What a task begins with was not done by this agent.
    own_breaches = [breach for breach in breaches if breach.message_idx >= trajectory.given]
    return PolicyReport(tuple(checked), tuple(sorted(own_breaches, key=lambda breach: breach.message_idx)), problems)


def _recorded(rule: Rule, breach: Breach, trajectory: Trajectory) -> RecordedBreach:
    call = breach.call
    called = {"name": call.name, "arguments": call.arguments} if call else None
    place = trajectory.turns[breach.turn_number - 1].message_idx
    return RecordedBreach(rule.name, place, one_line(str(breach.evidence), _EVIDENCE), called)
