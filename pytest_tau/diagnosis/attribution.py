"""The party that a failure is attributed to: rules in order, the first that applies decides.

Each rule looks at the conversation, its verdict and its first divergence alone. The result is a hint for whoever reads
the failure, and no verdict.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..errors import is_interrupt
from ..models import Attribution
from ..run_settings import DomainSettings, Limits, PromptingSettings
from ..settings import options_of
from . import (
    agent_rules,
    agreed_rules,
    error_rules,
    limit_rules,
    script_rules,
    task_rules,
    undecided_rules,
    undone_rules,
    unread_rules,
    unsaid_rules,
    user_evidence,
    user_rules,
)
from .divergence import first_divergence
from .error_rules import contradicts_policy, requires_forbidden
from .facts import Facts
from .misunderstandings import misunderstood
from .write_rules import at_any, at_call, at_first, at_first_call, at_missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment import Domain
    from ..models import Divergence, Simulation, Task

#: The components that the reference actions meet if the task and its domain are right.
_MET_BY_REFERENCE = ("DB", "ENV_ASSERTION", "ACTION")
#: Settings, by label, that change nothing for the reference actions: limits, and how models are asked.
_NO_DISTURBANCE = {row.label for kind in (DomainSettings, Limits, PromptingSettings) for row in options_of(kind)} | {
    "user persona"
}
#: The components that depend on the calls of the conversation.
_OF_CALLS = ("DB", "ENV_ASSERTION", "ACTION")


class Rule(NamedTuple):
    """A rule: the parties that it may name, when it applies, in words, and its test, which returns None otherwise."""

    parties: str
    when: str
    apply: Callable[[Facts], Attribution | None]


def annotate_failure(simulation: Simulation, task: Task, domain: Domain, *, solo: bool = False) -> None:
    """Record in ``simulation.info`` where a failure's final state went wrong, and whose fault it looks like.

    Args:
        simulation: A graded simulation, or one that could not be graded; one that passed is not changed.
        task: What was to be done.
        domain: The domain it took place in.
        solo: The agent worked alone, with both sides' tools.
    """
    if simulation.outcome == "passed":
        return
    divergence, problem = None, None
    try:
        if simulation.outcome == "failed":  # an error is not a verdict on the calls of a side
            divergence = first_divergence(task, simulation, domain, solo=solo)
    except BaseException as error:
        if is_interrupt(error):
            raise
        # The domain's own toolkits and records run here, on states that grading has not seen, and may raise anything.
        # The verdict stands without this; the report shows that it is missing.
        problem = f"{type(error).__name__}: {error}"
    try:
        fault = attribute(simulation, divergence, task, domain)
    except BaseException as error:
        if is_interrupt(error):
            raise
        problem = problem or f"{type(error).__name__}: {error}"
        fault = attribute(simulation, divergence)
    blame = replace(fault, actor=_actor(fault, simulation)) if fault is not None else None
    simulation.info = replace(simulation.info, blame=blame, turning_point=divergence, turning_point_problem=problem)


def _actor(fault: Attribution, simulation: Simulation) -> str | None:
    """Return who has written the message that shows a fault of the agent, if the agent consists of several actors."""
    shown = simulation.messages[fault.message_idx] if fault.message_idx is not None and fault.party == "agent" else None
    return shown.actor if shown is not None and shown.role == "assistant" else None


def attribute(
    simulation: Simulation,
    divergence: Divergence | None,
    task: Task | None = None,
    domain: Domain | None = None,
) -> Attribution | None:
    """Return whose fault a failure or an error looks like.

    Args:
        simulation: A graded simulation, or one that could not be graded.
        divergence: Where its final state went wrong, if it did.
        task: Its task; without it, and the domain, nothing is known of the writes of the reference.
        domain: Its domain.

    Returns:
        None if the simulation passed.
    """
    if simulation.outcome == "passed":
        return None
    facts = Facts(simulation, divergence, task, domain)
    applied = (rule.apply(facts) for rule in RULES)
    return next((fault for fault in applied if fault is not None), None)


def _not_understood(facts: Facts) -> Attribution | None:
    """Apply if the user has not understood the agent or gave up, and nothing that would have failed anyway is known."""
    gold = facts.simulation.agent_name == "gold"  # it does not listen to the user
    known = gold or _changed_outside(facts) is not None
    return None if known else misunderstood(facts)


def _changed_outside(facts: Facts) -> Attribution | None:
    changes, info = facts.simulation.info.outside_changes, facts.simulation.reward_info
    if changes is None or info is None or all((info.reward_breakdown or {}).get(name, 1) == 1 for name in _OF_CALLS):
        return None
    reason = "the environment was changed " + (
        "outside of the conversation's calls" if changes.when == "during" else "before the conversation"
    )
    return Attribution("harness", reason, None, ", ".join(changes.tools))


def _reference_failed(facts: Facts) -> Attribution | None:
    """Apply if the reference actions were carried out, and nothing but the task and its domain can have failed them."""
    conditions = facts.simulation.conditions or {}
    disturbed = conditions.get("variant") or conditions.get("changed", {}).keys() - _NO_DISTURBANCE
    if facts.simulation.agent_name != "gold" or conditions.get("user") not in ("gold", "scripted") or disturbed:
        return None
    verdict = facts.simulation.reward_info
    breakdown = (verdict.reward_breakdown if verdict else None) or {}
    if all(breakdown.get(name, 1.0) == 1 for name in _MET_BY_REFERENCE):
        return None
    found = undecided_rules.unmet(facts)
    reason = "gold carries out the reference actions, so the task or its domain is wrong"
    return None if found is None else Attribution("task", reason, None, found.evidence)


#: The rules, in order. Those about how the user left apply if the agent was heading for the right final state.
RULES = (
    Rule(
        "harness", "a recorded conversation or model call is missing, or does not match this run", error_rules.recording
    ),
    Rule("harness", "the harness raised an exception", error_rules.harness),
    Rule("harness", "the agent asked for the model of the run, which has none", error_rules.missing_model),
    Rule("harness", "a model was not called because the budget of the trial is spent", error_rules.spent_budget),
    Rule("harness", "calls of the agent's own client cannot be watched in the process", error_rules.unwatched_model),
    Rule("harness", "a capability could not do its part", error_rules.broken_capability),
    Rule("harness", "code of another trial has blocked the event loop", error_rules.blocked_loop),
    Rule(
        "harness, task",
        "a tool server did not start, ended, or did not answer, a tool did not return, or a task's record has no "
        "result of a call",
        error_rules.lost_server,
    ),
    Rule(
        "domain",
        "a tool that is not declared as a write has changed the state, the tools do not begin with the same state or "
        "the reference actions lead to another one each time, or an assertion returned no bool",
        error_rules.contradictory_domain,
    ),
    Rule(
        "provider",
        "a model could not be called, retries of its calls took most of the time limit, or the server of the agent "
        "refuses the key",
        error_rules.provider,
    ),
    Rule(
        "user",
        "the user raised an exception, or took most of the time of a conversation that timed out",
        error_rules.user_error,
    ),
    Rule("provider, harness", "the judge or an evaluator failed", error_rules.ungraded),
    Rule("agent", "the agent raised an exception, timed out or exceeded its context window", error_rules.agent_error),
    Rule(
        "user, agent, undecided",
        "the scripted user did not understand a message, answered a which-question by yes or no, or gave up; unless "
        "an earlier call had put the right final state out of reach, or a rule about the environment or the "
        "reference applies",
        _not_understood,
    ),
    Rule(
        "user",
        "cut off by the limit of steps although every check was met and the agent had nothing more to do",
        limit_rules.never_stopped,
    ),
    Rule(
        "agent, user",
        "cut off: too many failed calls, by the side that made most of them",
        limit_rules.too_many_failures,
    ),
    Rule(
        "harness",
        "the environment was changed before the conversation or outside of its calls, and a check of the state or of "
        "the calls was not met",
        _changed_outside,
    ),
    Rule(
        "task",
        "the agent is `gold`, its user is `gold` or `scripted`, and nothing was changed on purpose",
        _reference_failed,
    ),
    Rule(
        "task",
        "the agent refused a write of the reference that breaks a rule about calls, which the data's policy states",
        contradicts_policy,
    ),
    Rule(
        "task",
        "nothing was left unsaid but amounts that the writes of the reference do not bring about",
        task_rules.requires_what_is_not_done,
    ),
    Rule("task", "nothing differs but arguments that the task leaves open", task_rules.only_open_choices),
    Rule(
        "task",
        "nothing differs but values of the reference that neither the user nor the policy states and no tool returns",
        task_rules.requires_what_nobody_knows,
    ),
    Rule(
        "task",
        "nothing differs but calls of the reference that their tools refuse, and the agent's calls instead of them",
        task_rules.requires_what_is_refused,
    ),
    Rule("undecided", "nothing differs but the form of a value, such as Texas and TX", undecided_rules.only_forms),
    Rule("agent", "a call that differs breaks a rule which counts", at_call(agent_rules.broke_rule_that_counts)),
    Rule(
        "user",
        "the user agreed to a question and ended the conversation in the same message",
        user_rules.agreed_and_left,
    ),
    Rule(
        "user", "the user ended the conversation after the agent had announced an action", user_rules.left_while_working
    ),
    Rule("user", "the user asked something and ended the conversation in the same message", user_rules.asked_and_left),
    Rule(
        "user",
        "the user ended the conversation without a word when the agent waited for its yes",
        user_rules.left_unanswered,
    ),
    Rule(
        "user",
        "the user gave up instead of answering a question, before the agent could look at anything",
        user_rules.hung_up,
    ),
    Rule(
        "user",
        "the user ended the conversation as transferred, but the agent had neither transferred it nor said so",
        user_rules.transferred_itself,
    ),
    Rule(
        "user",
        "the user ended the conversation as out of scope, not right after a failed call of the agent",
        user_rules.out_of_scope,
    ),
    Rule("user", "the turning point is a call of the user", user_rules.broke_the_state),
    Rule(
        "user",
        "the user asked for each value that differs, or for the call that is too much",
        at_first(user_evidence.asked_for_it),
    ),
    Rule(
        "user",
        "the user asked for what the reference has only after the agent's call",
        at_first(user_evidence.asked_too_late),
    ),
    Rule("user", "the user asked for parts, and its scenario wants everything", at_any(user_evidence.asked_for_less)),
    Rule("agent", "a call has what the user's last words had declined", at_call(agreed_rules.did_declined)),
    Rule(
        "agent",
        "a call lacks a part that the agent had proposed by its id, and the user agreed to",
        at_call(agreed_rules.dropped_part),
    ),
    Rule(
        "agent",
        "a call after the user's yes has another id or number than the agent's proposal, which was right",
        at_any(agreed_rules.did_other),
    ),
    Rule(
        "user",
        "the user chose another record by its id, when the agent had named both",
        at_call(script_rules.chose_record),
    ),
    Rule(
        "user",
        "the user never said an id or a number that its scenario gives and the call needs",
        at_any(undone_rules.never_asked),
    ),
    Rule(
        "user",
        "a call failed with an id that the user had made up, and nothing else was wrong or its record was never found",
        at_any(user_evidence.invented),
    ),
    Rule(
        "user",
        "the user said that the record of a missing call, which the agent had found, is not the one that it means",
        at_any(user_evidence.disowned),
    ),
    Rule(
        "agent",
        "the agent did not find the user, and never looked up an e-mail address that it had said",
        undone_rules.never_looked_up,
    ),
    Rule(
        "user",
        "the agent did not find the user, who never said an e-mail address or the id of its scenario",
        user_evidence.withheld,
    ),
    Rule(
        "user",
        "the user withdrew a request instead of confirming it, which the agent had not refused",
        at_first(user_evidence.gave_up),
    ),
    Rule(
        "user",
        "the user answered a request for its yes to a missing call with no, and nothing else",
        at_first(user_evidence.declined),
    ),
    Rule(
        "agent",
        "the agent did something else after its tool had refused its first call on the record",
        at_first(agent_rules.failed_first),
    ),
    Rule(
        "agent",
        "the agent made a call again that had succeeded, and the user had said nothing in between",
        at_first_call(agent_rules.did_again),
    ),
    Rule(
        "agent",
        "the tool refused a call of the reference after the agent's wrong one",
        at_call(agent_rules.made_impossible),
    ),
    Rule(
        "agent",
        "the user had asked for the value of the reference, and the agent used another one",
        at_call(agent_rules.ignored_wish),
    ),
    Rule(
        "agent",
        "the user had said how many it wanted, and the agent used another number",
        at_call(agent_rules.ignored_number),
    ),
    Rule("agent", "the agent chose a number of what neither side had named", at_call(agent_rules.chose_number)),
    Rule(
        "agent",
        "the user wanted the cheapest or most expensive, and a tool had shown a better one",
        at_any(agent_rules.missed_extreme),
    ),
    Rule(
        "agent",
        "the agent used an id or a number that neither the user had said nor a tool had shown",
        at_call(agent_rules.invented),
    ),
    Rule(
        "agent",
        "the agent used a record that it had not named, and the user had not asked for",
        at_call(agent_rules.not_agreed),
    ),
    Rule("agent", "the agent changed a whole record, and had named only a part of it", at_call(agent_rules.did_more)),
    Rule("agent", "the agent made a call of which neither side had named anything", at_call(agent_rules.unasked)),
    Rule("user", "the user agreed to what its scenario takes back", at_call(script_rules.kept_wish)),
    Rule(
        "user",
        "the user agreed to other values, and never spoke of what its scenario says of them",
        at_first_call(script_rules.kept_silent),
    ),
    Rule(
        "agent",
        "a call that differs breaks a rule of the policy about calls or about talk",
        at_call(agent_rules.broke_rule),
    ),
    Rule(
        "agent",
        "the user wanted the cheapest or most expensive, and a tool had shown several records that are so in sum",
        at_call(agent_rules.missed_extreme_in_sum),
    ),
    Rule(
        "undecided",
        "nothing differs but how amounts are listed that are the same in sum",
        undecided_rules.only_split,
    ),
    Rule("agent", "writes are missing, and the tool has refused one that the agent made", undone_rules.refused_by_tool),
    Rule("agent", "writes are missing, and the agent said that it had done one", at_missing(undone_rules.claimed)),
    Rule(
        "agent",
        "writes are missing, and the agent gave up after its tool had refused another call on the record",
        at_missing(undone_rules.withdrew),
    ),
    Rule("agent", "writes are missing, and the user had agreed to one", at_missing(undone_rules.not_done)),
    Rule(
        "agent", "writes are missing, and the agent has refused one that no rule forbids", at_any(undone_rules.refused)
    ),
    Rule(
        "agent",
        "writes are missing, and the agent never looked at the record, which a tool had listed",
        at_missing(unread_rules.never_looked),
    ),
    Rule(
        "agent",
        "writes are missing, and the agent has read other records than the one with what they need",
        at_missing(unread_rules.never_read),
    ),
    Rule("agent", "the agent made a change to several records, and forgot one", at_missing(agent_rules.forgot_sibling)),
    Rule(
        "agent",
        "writes are missing, and the user had asked for one by its values, and not withdrawn that",
        at_missing(undone_rules.ignored_request),
    ),
    Rule("agent", "the agent never asked the user to make a call of the user's", at_any(agent_rules.never_asked_user)),
    Rule(
        "agent",
        "writes are missing, and the agent transferred a user that had not asked for it",
        at_any(agent_rules.transferred),
    ),
    Rule("agent", "the agent broke a rule which counts", agent_rules.broke_counted_rule),
    Rule("agent", "a tool had shown what the agent did not say, or said wrong", unsaid_rules.said_other),
    Rule(
        "agent",
        "a read of the reference shows what was not said, and the agent never made it for a user that asked about it",
        unsaid_rules.never_read,
    ),
    Rule("user", "the user offered help, as the agent does", user_rules.spoke_as_agent),
    Rule("task", "a write of the reference was not made that breaks such a rule", requires_forbidden),
    Rule("undecided", "cut off: a limit of a capability", limit_rules.capability_limit),
    Rule(
        "agent",
        "cut off: by another limit than that of steps, or the agent did the same again and again",
        limit_rules.unfinished,
    ),
    Rule("undecided", "the final state is wrong, and nothing above shows why", undecided_rules.state_undecided),
    Rule(
        "undecided",
        "anything else: a phrase was not said, a call was not made, a statement is not true",
        undecided_rules.unmet,
    ),
)
