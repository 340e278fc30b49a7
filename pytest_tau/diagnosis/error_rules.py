"""Rules of attribution about errors: of the harness, a provider, the domain, the user or the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import FAULTS, Attribution, Party
from .endings import cut_off
from .facts import Facts, first_line
from .refusals import is_breach, is_refused_in, may_be_refused, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..models import TerminationReason
    from .deviations import Deviation


#: The reason of an error that neither side has made: the run differs from its recording.
NO_MATCH = "the recording does not match"
#: The reason if there is none.
NO_CASSETTE = "the cassette is missing"
#: The reason of another one: a setting of the run is missing.
NO_MODEL = "the run has no model for the agent"
#: And another: the trial may cost no more.
NO_MONEY = "the budget is spent"
#: What the error of a missing cassette says.
_MISSING = ": no such cassette, but "
#: What the error of tools that gave no result says, by the party and the reason. A ``ToolServerError`` may also come
#: from a search, whose model failed.
_TOOLS_LOST: tuple[tuple[str, Party, str], ...] = (
    ("the tool server of domain", "harness", "a tool server was lost"),
    ("off the record: ", "task", "its record has no result of a call"),
    (": a function has not returned", "harness", "a tool did not return"),
    ("the process that searches for patterns", "harness", "a program of the search failed"),
    ("bubblewrap (bwrap)", "harness", "a program of the search failed"),
)
#: How the error of a server of the agent begins: over A2A, and with OpenAI's chat API.
_AGENTS_SERVER = ("ModelError: a2a:", "ModelError: the agent's server refuses the key")


def _of_kind(kind: str, party: Party, reason: str) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to trials that ended in an error of a kind."""

    def rule(facts: Facts) -> Attribution | None:
        applies = facts.simulation.info.error_kind == kind and facts.simulation.outcome == "error"
        return Attribution(party, reason, None, first_line(facts.error)) if applies else None

    return rule


def _ended_by(party: Party, reasons: dict[TerminationReason, str]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to trials that ended for one of these reasons, each with its words."""

    def rule(facts: Facts) -> Attribution | None:
        reason = reasons.get(facts.simulation.termination_reason)
        return None if reason is None else Attribution(party, reason, None, first_line(facts.error))

    return rule


#: The agent asked for the model of the run, which has none.
missing_model = _of_kind("MissingModelError", "harness", NO_MODEL)
#: The agent called a model with a client of its own that cannot be watched.
unwatched_model = _of_kind("UnwatchedModelError", "harness", "calls of the agent's client cannot be watched")
#: A capability could not do its part.
broken_capability = _of_kind("CapabilityError", "harness", "a capability failed")
#: Code of another trial has blocked the event loop.
blocked_loop = _of_kind("BlockedLoopError", "harness", "the event loop was blocked")
#: A model was not called because its trial may cost no more.
spent_budget = _of_kind("BudgetError", "harness", NO_MONEY)
#: A domain contradicts what it declares.
contradictory_domain = _of_kind("DomainError", "domain", "it contradicts what it declares")
#: A capability could not do its part in a trial.
capability = _of_kind("CapabilityError", "harness", "a capability failed")
#: The harness raised an exception.
harness = _ended_by("harness", {"unexpected_error": "the harness failed"})
#: The user raised an exception, or took most of the time.
user_error = _ended_by("user", {"user_error": "it failed with an error"})
#: Limits that the agent alone can exceed.
_BY_AGENT: tuple[TerminationReason, ...] = ("timeout", "context_window_exceeded")
#: The agent raised an exception, timed out or exceeded its context window.
agent_error = _ended_by(
    "agent",
    {
        "agent_error": "it failed with an error",
        **{reason: cut_off(reason) for reason in _BY_AGENT},
    },
)


def recording(facts: Facts) -> Attribution | None:
    """Apply if a recording is missing, or does not match the run."""
    if facts.simulation.info.error_kind != "ReplayError" or facts.simulation.outcome != "error":
        return None
    reason = NO_CASSETTE if _MISSING in facts.error else NO_MATCH
    return Attribution("harness", reason, None, first_line(facts.error))


def lost_server(facts: Facts) -> Attribution | None:
    """Apply if a tool gave no result: its server was lost, it did not return, or its record lacks the call."""
    if facts.simulation.outcome != "error":
        return None
    if facts.simulation.info.error_kind == "ToolTimeoutError":
        return Attribution("harness", "a tool did not return", None, first_line(facts.error))
    if (
        facts.simulation.termination_reason != "infrastructure_error"
        and facts.simulation.info.error_kind != "ToolServerError"
    ):
        return None
    found = next((lost for lost in _TOOLS_LOST if lost[0] in facts.error), None)
    return None if found is None else Attribution(found[1], found[2], None, first_line(facts.error))


def provider(facts: Facts) -> Attribution | None:
    """Apply if a model could not be called."""
    if facts.simulation.termination_reason != "infrastructure_error":
        return None
    reason = "a model could not be called"
    if facts.simulation.info.error_kind == "UnusableReplyError":
        reason = "the replies of a model could not be used"
    elif facts.error.startswith(_AGENTS_SERVER):
        reason = "the server of the agent refuses the key"
    return Attribution("provider", reason, None, first_line(facts.error))


def ungraded(facts: Facts) -> Attribution | None:
    """Apply if the judge or an evaluator failed."""
    if facts.simulation.reward_info is not None or facts.simulation.termination_reason in FAULTS:
        return None
    if facts.simulation.info.error_kind == "EvaluatorError":
        return Attribution("harness", "an evaluator failed", None, first_line(facts.error))
    return Attribution("provider", "the judge failed", None, first_line(facts.error))


def contradicts_policy(facts: Facts) -> Attribution | None:
    """Apply if the agent has refused a call of the reference that breaks a rule of the policy."""
    return _forbidden(facts, refused=True)


def requires_forbidden(facts: Facts) -> Attribution | None:
    """Apply if a call of the reference that was not made breaks a rule of the policy."""
    return _forbidden(facts, refused=False)


def _forbidden(facts: Facts, *, refused: bool) -> Attribution | None:
    for breach in facts.reference_breaches:
        forbidden = next((deviation for deviation in facts.deviations if is_breach(breach, deviation)), None)
        if forbidden is None:
            continue
        at = refusal(facts, forbidden)
        if refused and (at is None or _refuses_more(facts, at[1], forbidden)):
            continue
        reason = "it requires a call that the policy forbids" + (", and the agent refused" if refused else "")
        evidence = f"{breach.rule}: {breach.call_text}: {breach.evidence}"
        return Attribution("task", reason, at[0] if at else None, evidence)
    return None


def _refuses_more(facts: Facts, sentence: str, forbidden: Deviation) -> bool:
    """Return whether a sentence refuses a missing call that the policy allows: then it is not about the policy."""
    allowed = [
        each
        for each in facts.deviations
        if each.made is None and not any(is_breach(breach, each) for breach in facts.reference_breaches)
    ]
    if any(each.tool == forbidden.tool for each in allowed) and not facts.names_record(sentence, forbidden):
        return True
    return any(may_be_refused(facts, each) and is_refused_in(facts, sentence, each) for each in allowed)
