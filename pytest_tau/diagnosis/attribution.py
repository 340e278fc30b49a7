"""The party that a failure is attributed to: rules in order, the first that applies decides.

Each rule looks at the conversation, its verdict and its first divergence alone. The result is a hint for whoever reads
the failure, and no verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import is_interrupt
from ..evaluation.outside import OUTSIDE
from ..models import CAPABILITY_LIMIT, STOPS, AssistantMessage, UserMessage
from ..run_settings import DomainSettings, Limits, PromptingSettings
from ..settings import options_of
from . import agent_rules, error_rules, task_rules, undecided_rules, undone_rules, user_evidence, user_rules
from .divergence import first_divergence
from .endings import cut_off
from .error_rules import contradicts_policy, requires_forbidden
from .facts import Attribution, Facts, Said, first_line, quoted
from .misunderstandings import misunderstood, repeats

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment import Domain
    from ..models import Call, Simulation, Task
    from .deviations import Deviation
    from .divergence import Divergence
    from .facts import Party

#: The components that the reference actions meet if the task and its domain are right.
_MET_BY_REFERENCE = ("DB", "ENV_ASSERTION", "ACTION")
#: Messages without a call of the agent's, after which it has nothing more to do.
_IDLE = 4
#: Settings, by label, that change nothing for the reference actions: limits, and how models are asked.
_NO_DISTURBANCE = {row.label for kind in (DomainSettings, Limits, PromptingSettings) for row in options_of(kind)} | {
    "user persona"
}
#: The components that depend on the calls of the conversation.
_OF_CALLS = ("DB", "ENV_ASSERTION", "ACTION")


class Rule(NamedTuple):
    """A rule: when it applies, in words, and its test; ``apply`` returns None if it does not apply."""

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
    found: dict[str, Any] = {}
    divergence = None
    try:
        if simulation.outcome == "failed":  # an error is not a verdict on the calls of a side
            divergence = first_divergence(task, simulation, domain, solo=solo)
    except BaseException as error:
        if is_interrupt(error):
            raise
        # The domain's own toolkits and records run here, on states that grading has not seen, and may raise anything.
        # The verdict stands without this; the report shows that it is missing.
        found["turning_point_problem"] = f"{type(error).__name__}: {error}"
    if divergence is not None:
        found["turning_point"] = divergence.as_dict()
    try:
        fault = attribute(simulation, divergence, task, domain)
    except BaseException as error:
        if is_interrupt(error):
            raise
        found.setdefault("turning_point_problem", f"{type(error).__name__}: {error}")
        fault = attribute(simulation, divergence)
    if fault is not None:
        found["blame"] = fault.as_dict()
    simulation.info = (simulation.info or {}) | found


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


def _at_first(rule: Callable[[Facts, Deviation], Attribution | None]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to the first write that is not as in the reference."""

    def apply(facts: Facts) -> Attribution | None:
        return rule(facts, facts.deviations[0]) if facts.deviations else None

    return apply


def _at_any(rule: Callable[[Facts, Deviation], Attribution | None]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to any write that is not as in the reference, the first one that fits."""

    def apply(facts: Facts) -> Attribution | None:
        applied = (rule(facts, deviation) for deviation in facts.deviations)
        return next((fault for fault in applied if fault is not None), None)

    return apply


def _at_call(rule: Callable[[Facts, Deviation, Call], Attribution | None]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to any call of the agent's that is not as in the reference."""

    def at(facts: Facts, deviation: Deviation) -> Attribution | None:
        made = deviation.made
        return None if made is None or deviation.by_user else rule(facts, deviation, made)

    return _at_any(at)


def _at_missing(rule: Callable[[Facts, Deviation], Attribution | None]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to any write of the agent's that is missing."""

    def at(facts: Facts, deviation: Deviation) -> Attribution | None:
        return rule(facts, deviation) if deviation.made is None and not deviation.by_user else None

    return _at_any(at)


def _not_understood(facts: Facts) -> Attribution | None:
    """Apply if the user has not understood the agent or gave up, and nothing that would have failed anyway is known."""
    gold = (facts.simulation.conditions or {}).get("agent") == "gold"  # it does not listen to the user
    known = gold or _changed_outside(facts) is not None
    return None if known else misunderstood(facts)


def _never_stopped(facts: Facts) -> Attribution | None:
    reason, messages = facts.simulation.termination_reason, facts.simulation.messages
    idle = not any(isinstance(m, AssistantMessage) and m.tool_calls for m in messages[-_IDLE:])
    last = Said.last(messages, UserMessage)
    if reason != "max_steps" or not facts.everything_met or not idle or last is None:
        return None
    return Attribution(
        "user", "every check was met, but it did not end the conversation", last.message_idx, quoted(last.words)
    )


def _too_many_failures(facts: Facts) -> Attribution | None:
    simulation = facts.simulation
    if simulation.termination_reason != "too_many_errors":
        return None
    failed = [made for made in simulation.calls if made.result is not None and made.result.error]
    by_user = [made for made in failed if made.call.requestor == "user"]
    party: Party = "user" if len(by_user) * 2 > len(failed) else "agent"
    last = (by_user if party == "user" else failed)[-1:]
    shown = last[0].result.content if last and last[0].result else None
    shown = first_line(shown or facts.error)
    return Attribution(party, cut_off("too_many_errors"), last[0].message_idx if last else None, shown)


def _capability_limit(facts: Facts) -> Attribution | None:
    """Apply if a capability's limit was reached: what it counts, and of which side, only the capability knows."""
    reason = facts.simulation.termination_reason
    limited = reason == CAPABILITY_LIMIT
    return Attribution("undecided", cut_off(reason), None, first_line(facts.error)) if limited else None


def _unfinished(facts: Facts) -> Attribution | None:
    """Apply if the conversation was cut off, by whichever limit: the rules before have had the other endings."""
    reason = facts.simulation.termination_reason
    # Either side may have used up the steps, unless all was done, or the agent did the same again and again.
    proved = reason not in STOPS and (
        reason != "max_steps" or facts.everything_met or repeats(facts.simulation.messages)
    )
    return Attribution("agent", cut_off(reason), None, first_line(facts.error)) if proved else None


def _changed_outside(facts: Facts) -> Attribution | None:
    found, info = (facts.simulation.info or {}).get(OUTSIDE), facts.simulation.reward_info
    if found is None or info is None or all((info.reward_breakdown or {}).get(name, 1) == 1 for name in _OF_CALLS):
        return None
    reason = "the environment was changed " + (
        "outside of the conversation's calls" if found["when"] == "during" else "before the conversation"
    )
    return Attribution("harness", reason, None, ", ".join(found["tools"]))


def _reference_failed(facts: Facts) -> Attribution | None:
    """Apply if the reference actions were carried out, and nothing but the task and its domain can have failed them."""
    conditions = facts.simulation.conditions or {}
    disturbed = conditions.get("variant") or conditions.get("changed", {}).keys() - _NO_DISTURBANCE
    if conditions.get("agent") != "gold" or conditions.get("user") not in ("gold", "scripted") or disturbed:
        return None
    verdict = facts.simulation.reward_info
    breakdown = (verdict.reward_breakdown if verdict else None) or {}
    if all(breakdown.get(name, 1.0) == 1 for name in _MET_BY_REFERENCE):
        return None
    found = undecided_rules.unmet(facts)
    reason = "gold carries out the reference actions, so the task or its domain is wrong"
    return None if found is None else Attribution("task", reason, None, found.evidence)


def _broken_by_user(facts: Facts) -> Attribution | None:
    divergence = facts.divergence
    if divergence is None or divergence.kind != "diverged" or divergence.call["requestor"] != "user":
        return None
    return Attribution("user", "its call made the final state wrong", divergence.message_idx, divergence.text)


def _refused_by_tool(facts: Facts) -> Attribution | None:
    refused = facts.refused_by_tool()
    if facts.divergence is None or refused is None or refused.result is None:
        return None
    reason = "the tool refused a required call, and it did not succeed later"
    evidence = f"{facts.divergence.text}; {first_line(refused.result.content or '')}"
    return Attribution("agent", reason, refused.message_idx, evidence)


#: The rules, in order. Those about how the user left apply if the agent was heading for the right final state.
RULES = (
    Rule("a recorded conversation or model call is missing, or does not match this run", error_rules.recording),
    Rule("the harness raised an exception", error_rules.harness),
    Rule("the agent asked for the model of the run, which has none", error_rules.missing_model),
    Rule("a model was not called because the budget of the trial is spent", error_rules.spent_budget),
    Rule("calls of the agent's own client cannot be watched in the process", error_rules.unwatched_model),
    Rule("a capability could not do its part", error_rules.broken_capability),
    Rule("code of another trial has blocked the event loop", error_rules.blocked_loop),
    Rule(
        "a tool server did not start, ended, or did not answer, a tool did not return, or a task's record has no "
        "result of a call",
        error_rules.lost_server,
    ),
    Rule(
        "a tool that is not declared as a write has changed the state, the tools do not begin with the same state or "
        "the reference actions lead to another one each time, or an assertion returned no bool",
        error_rules.contradictory_domain,
    ),
    Rule(
        "a model could not be called, retries of its calls took most of the time limit, or the server of the agent "
        "refuses the key",
        error_rules.provider,
    ),
    Rule(
        "the user raised an exception, or took most of the time of a conversation that timed out",
        error_rules.user_error,
    ),
    Rule("the judge or an evaluator failed", error_rules.ungraded),
    Rule("the agent raised an exception, timed out or exceeded its context window", error_rules.agent_error),
    Rule(
        "the scripted user did not understand a message, answered a which-question by yes or no, or gave up; unless an "
        "earlier call had put the right final state out of reach, or a rule about the environment or the reference "
        "applies",
        _not_understood,
    ),
    Rule(
        "cut off by the limit of steps although every check was met and the agent had nothing more to do",
        _never_stopped,
    ),
    Rule("cut off: too many failed calls, by the side that made most of them", _too_many_failures),
    Rule(
        "the environment was changed before the conversation or outside of its calls, and a check of the state or of "
        "the calls was not met",
        _changed_outside,
    ),
    Rule(
        "the agent is `gold`, its user is `gold` or `scripted`, and nothing was changed on purpose",
        _reference_failed,
    ),
    Rule(
        "the agent refused a write of the reference that breaks a rule about calls, which the data's policy states",
        contradicts_policy,
    ),
    Rule(
        "nothing was left unsaid but amounts that the writes of the reference do not bring about",
        task_rules.requires_what_is_not_done,
    ),
    Rule("nothing differs but arguments that the task leaves open", task_rules.only_open_choices),
    Rule(
        "nothing differs but calls of the reference that their tools refuse, and the agent's calls instead of them",
        task_rules.requires_what_is_refused,
    ),
    Rule("the user agreed to a question and ended the conversation in the same message", user_rules.agreed_and_left),
    Rule(
        "the user ended the conversation after the agent had announced an action",
        user_rules.left_while_working,
    ),
    Rule("the user asked something and ended the conversation in the same message", user_rules.asked_and_left),
    Rule(
        "the user ended the conversation without a word when the agent waited for its yes",
        user_evidence.left_unanswered,
    ),
    Rule(
        "the user ended the conversation as transferred, but the agent had neither transferred it nor said so",
        user_rules.transferred_itself,
    ),
    Rule(
        "the user ended the conversation as out of scope, not right after a failed call of the agent",
        user_rules.out_of_scope,
    ),
    Rule("the turning point is a call of the user", _broken_by_user),
    Rule(
        "the user asked for each value that differs, or for the call that is too much",
        _at_first(user_evidence.asked_for_it),
    ),
    Rule(
        "the user asked for what the reference has only after the agent's call", _at_first(user_evidence.asked_too_late)
    ),
    Rule("the user asked for parts, and its scenario wants everything", _at_any(user_evidence.asked_for_less)),
    Rule(
        "the user never said an id or a number that its scenario gives and the call needs",
        _at_any(user_evidence.never_asked),
    ),
    Rule(
        "a call failed with an id that the user had made up, and what it wanted was never found",
        _at_any(user_evidence.invented),
    ),
    Rule(
        "the agent did not find the user, and never looked up an e-mail address that it had said",
        undone_rules.never_looked_up,
    ),
    Rule("the agent did not find the user, who never said an e-mail address of its scenario", user_evidence.withheld),
    Rule(
        "the user withdrew a request instead of confirming it, which the agent had not refused",
        _at_first(user_evidence.gave_up),
    ),
    Rule(
        "the agent did something else after its tool had refused its first call on the record",
        _at_first(agent_rules.failed_first),
    ),
    Rule("the tool refused a call of the reference after the agent's wrong one", _at_call(agent_rules.made_impossible)),
    Rule(
        "the user had asked for the value of the reference, and the agent used another one",
        _at_call(agent_rules.ignored_wish),
    ),
    Rule(
        "the user had said how many it wanted, and the agent used another number", _at_call(agent_rules.ignored_number)
    ),
    Rule(
        "the user wanted the cheapest or most expensive, and a tool had shown a better one",
        _at_any(agent_rules.missed_extreme),
    ),
    Rule(
        "the agent used an id or a number that neither the user had said nor a tool had shown",
        _at_call(agent_rules.invented),
    ),
    Rule(
        "the agent used a record that it had not named, and the user had not asked for",
        _at_call(agent_rules.not_agreed),
    ),
    Rule("the agent changed a whole record, and had named only a part of it", _at_call(agent_rules.did_more)),
    Rule("the agent made a call of which neither side had named anything", _at_call(agent_rules.unasked)),
    Rule("a call that differs breaks a rule of the policy about calls or about talk", _at_call(agent_rules.broke_rule)),
    Rule("writes are missing, and the tool has refused one that the agent made", _refused_by_tool),
    Rule("writes are missing, and the agent said that it had done one", _at_missing(undone_rules.claimed)),
    Rule(
        "writes are missing, and the agent gave up after its tool had refused another call on the record",
        _at_missing(undone_rules.withdrew),
    ),
    Rule("writes are missing, and the user had agreed to one", _at_missing(undone_rules.not_done)),
    Rule("writes are missing, and the agent has refused one that no rule forbids", _at_any(undone_rules.refused)),
    Rule(
        "writes are missing, and the agent never looked at the record, which a tool had listed",
        _at_missing(undone_rules.never_looked),
    ),
    Rule("the agent made a change to several records, and forgot one", _at_missing(agent_rules.forgot_sibling)),
    Rule(
        "writes are missing, and the user had asked for one by its values, and not withdrawn that",
        _at_missing(undone_rules.ignored_request),
    ),
    Rule("the agent never asked the user to make a call of the user's", _at_any(agent_rules.never_asked_user)),
    Rule(
        "writes are missing, and the agent transferred a user that had not asked for it",
        _at_any(agent_rules.transferred),
    ),
    Rule("all is right but that the agent broke a rule which counts", agent_rules.broke_counted_rule),
    Rule("a tool had shown what the agent did not say, or said wrong", agent_rules.said_other),
    Rule("the user offered help, as the agent does", user_rules.spoke_as_agent),
    Rule("a write of the reference was not made that breaks such a rule", requires_forbidden),
    Rule("cut off: a limit of a capability", _capability_limit),
    Rule("cut off: by another limit than that of steps, or the agent did the same again and again", _unfinished),
    Rule("the final state is wrong, and nothing above shows why", undecided_rules.state_undecided),
    Rule("anything else: a phrase was not said, a call was not made, a statement is not true", undecided_rules.unmet),
)
