"""The proof of a task: it lets what is right pass, and nothing else that is tried."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from .... import simulate
from ....environment import is_error
from ....errors import TauError
from ....evaluation import evaluate
from ....lint import lint_domain
from ....participants import FAULTY_AGENTS, GoldAgent, Recording, ReplayParticipant
from .state import problem_of
from .user import unsaid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....environment import Domain
    from ....models import Simulation, Task

#: The faulty agents that must fail, where they change anything about what is done.
SABOTEURS = ("forgets-last-write", "wrong-item", "transfers-too-soon")
#: The tool of the agent that transfers, which not every domain has.
_TRANSFER = "transfer_to_human_agents"


class Check(NamedTuple):
    """One thing that was tried.

    Attributes:
        name: Who or what was tried.
        ok: Whether the verdict is the one that it should be.
        text: The verdict in words; what is wrong if it is.
    """

    name: str
    ok: bool
    text: str


def prove(task: Task, domain: Domain, conversation: Simulation, *, wrong: bool = False) -> list[Check]:
    """Try a task.

    Args:
        task: The task.
        domain: Its domain.
        conversation: The recorded conversation.
        wrong: The conversation went wrong, and must fail.

    Returns:
        One entry for each thing that was tried; the first that is not ok ends the list.
    """
    checks = []
    for check in _checks(task, domain, conversation, wrong=wrong):
        checks.append(check)
        if not check.ok:
            break
    return checks


def _checks(task: Task, domain: Domain, conversation: Simulation, *, wrong: bool) -> Iterator[Check]:
    try:
        gold = simulate(task, domain=domain, agent="gold", seed=1)
        yield _expect("gold", gold, passes=True)
        yield _expect("noop", simulate(task, domain=domain, agent="noop", seed=1), passes=False)
        yield _regraded(task, domain, conversation, passes=not wrong)
        if not wrong:
            replayed = simulate(task, domain=domain, agent=_replay(conversation), user="scripted", seed=1)
            if replayed.outcome != "passed" and not unsaid(conversation.messages, replayed.messages):
                yield Check("replay", True, f"{replayed.outcome}, although the user has said what the person said")
            else:
                yield _expect("replay", replayed, passes=True)
        yield from _spoiled(task, domain, gold)
        report = asyncio.run(lint_domain(domain, None, [task]))
        problems = [f"{finding.rule}: {finding.text}" for finding in report.findings if finding.severity != "note"]
        yield Check("lint", not problems, "; ".join(problems[:3]) or "clean")
    except TauError as error:
        yield Check("task", False, problem_of(error))


def _expect(name: str, tried: Simulation, *, passes: bool) -> Check:
    if tried.outcome == "error":
        return Check(name, not passes, f"no verdict: {tried.error}")
    text: str = tried.outcome
    if (tried.outcome == "passed") != passes:
        text += f", should have {'passed' if passes else 'failed'}"
        if not passes and name == "noop":
            text += ": the task checks nothing"
    return Check(name, (tried.outcome == "passed") == passes, text)


def _regraded(task: Task, domain: Domain, conversation: Simulation, *, passes: bool) -> Check:
    reason: Any = "user_stop"  # who ended a conversation in production is not known
    reward_info = evaluate(task, conversation.messages, termination_reason=reason, domain=domain)
    if reward_info.passed == passes:
        return Check("conversation", True, "passed" if passes else "failed")
    factors = ", ".join(f"{name} {value:g}" for name, value in (reward_info.reward_breakdown or {}).items())
    return Check("conversation", False, f"{'failed' if passes else 'passed'}: {factors}")


def _replay(conversation: Simulation) -> type:
    """Return an agent that says and calls what the recorded one did, as long as the user lets it."""
    recording = Recording(conversation.task_id, conversation.trial, conversation.messages, "user_stop")

    def begin(self: Any, context: Any) -> None:
        ReplayParticipant.__init__(self, recording, context)

    return type("RecordedAgent", (ReplayParticipant,), {"__init__": begin})


def _spoiled(task: Task, domain: Domain, gold: Simulation) -> Iterator[Check]:
    """Yield the verdicts of the faulty agents that change anything about the work of a right one.

    The right one is the domain's agent by rules if it does the task with the scripted user, else the reference itself.
    """
    right, user, agent = gold, "gold", None
    if "rules" in domain.spec.agents:
        by_rules = simulate(task, domain=domain, agent="rules", user="scripted", seed=1)
        if by_rules.outcome == "passed":
            right, user, agent = by_rules, "scripted", "saboteur:{}"
            yield Check("rules", True, "passed")
    offered = domain.spec.tool_names
    for kind in SABOTEURS:
        if kind == "transfers-too-soon" and _TRANSFER not in offered:
            continue
        spoiled = agent.format(kind) if agent else _spoiled_gold(kind)
        tried = simulate(task, domain=domain, agent=spoiled, user=user, seed=1)
        # One that reaches another right outcome has done no harm.
        reached = tried.reward_info.reached_outcome if tried.reward_info else None
        if reached is None and _differs(tried, right, task, domain):
            yield _expect(kind, tried, passes=False)


def _spoiled_gold(kind: str) -> type:
    faulty: Any = FAULTY_AGENTS[kind]

    def begin(self: Any, context: Any) -> None:
        faulty.__init__(self, GoldAgent(context), context)

    return type(f"Spoiled{faulty.__name__}", (faulty,), {"__init__": begin, "needs_reference": True})


def _differs(tried: Simulation, right: Simulation, task: Task, domain: Domain) -> bool:
    """Return whether faulty work is other work: other writes; if only assertions count, one of the reference less."""
    tried_writes, right_writes = _writes(tried, domain), _writes(right, domain)
    if "DB" in task.criteria.reward_basis:
        return tried_writes != right_writes
    reference = [(action.name, action.arguments) for action in task.criteria.actions or ()]
    return any(write in reference and write not in tried_writes for write in right_writes)


def _writes(simulation: Simulation, domain: Domain) -> list[tuple[str, Any]]:
    environment = domain.environment()
    return [
        (call.call.name, call.call.arguments)
        for call in simulation.calls
        if environment.mutates(call.call.name, call.call.requestor) and call.result and not is_error(call.result)
    ]
