"""Conversations of the tiny domain that have failed, and the party that is named for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_tau.diagnosis.attribution import attribute
from pytest_tau.diagnosis.divergence import first_divergence
from pytest_tau.diagnosis.facts import Facts
from pytest_tau.evaluation import evaluate
from pytest_tau.models import Simulation, ToolMessage

from .tiny import action, agent, task, user

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.diagnosis import Attribution
    from pytest_tau.environment import Domain
    from pytest_tau.models import Task, TerminationReason, ToolCall

HELLO = agent("Hello")
STOP = user("Thank you. ###STOP###")
PRICE = action("price", item_id="lamp", price=150)

#: Reasons that several modules look for: of a user, and of an agent.
OTHER_VALUES = "it asked for other values than its task has"
REFUSED = "it refused a required call that no rule forbids"


def scenario(text: str, *actions: Any, **criteria: Any) -> Task:
    """A task whose user wants what the text says."""
    criteria = {"actions": list(actions), "reward_basis": ["DB"], **criteria}
    return task(criteria, user_scenario={"instructions": text})


def answered(call: ToolCall, content: str = '{"done": true}', *, error: bool = False) -> list[Any]:
    """A call with its result."""
    caller = user(call) if call.requestor == "user" else agent(call)
    return [caller, ToolMessage(content=content, requestor=call.requestor, error=error)]


def graded(
    domain: Domain,
    wanted: Task,
    *messages: Any,
    reason: TerminationReason = "user_stop",
    error: str | None = None,
    grading: bool = True,
    kind: str | None = None,
) -> Simulation:
    """A finished conversation; of calls only those are made whose results are there."""
    info = evaluate(wanted, messages, termination_reason=reason, domain=domain) if grading else None
    simulation = Simulation(
        id="s",
        task_id="t",
        termination_reason=reason,
        error=error,
        messages=list(messages),
        reward_info=info,
    )
    if kind is not None:
        simulation.note_error_kind(kind)
    return simulation


def blamed(domain: Domain, wanted: Task, *messages: Any, **how: Any) -> Attribution:
    """Whom all rules together name; ``how`` as in `graded`."""
    simulation = graded(domain, wanted, *messages, **how)
    attribution = attribute(simulation, first_divergence(wanted, simulation, domain), wanted, domain)
    assert attribution is not None
    return attribution


def facts_of(domain: Domain, wanted: Task, *messages: Any) -> Facts:
    """What a single rule is given of a conversation."""
    simulation = graded(domain, wanted, *messages)
    return Facts(simulation, first_divergence(wanted, simulation, domain), wanted, domain)


def named(attribution: Attribution | None) -> tuple[str, int | None] | None:
    """The party and the message that a rule names."""
    return None if attribution is None else (attribution.party, attribution.message_idx)


def named_for_call(rule: Callable[..., Attribution | None], facts: Facts, **changes: Any) -> Any:
    """What a rule names for the first call that deviates, with other fields of the deviation."""
    deviation = facts.deviations[0]._replace(**changes)
    assert deviation.made is not None
    return named(rule(facts, deviation, deviation.made))
