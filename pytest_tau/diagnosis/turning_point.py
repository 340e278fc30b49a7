"""What went wrong, in the words of reports: the turning point with all that follows from it, and a failure in brief."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluation import components_of
from ..evaluation.component_reports import Line
from ..evaluation.components.action import missing_lines
from ..models import Action, call_as_text
from ..text import error_line, listed, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..models import Call, Divergence, RewardInfo, Simulation

#: The reason of a failure whose missing call an agent has left to others.
HANDED_OVER = "it transferred the user instead of making a required call"
#: Characters of a call, and names of checks and calls, that are shown.
_WIDTH, _MOST = 240, 2


def point_lines(simulation: Simulation, info: RewardInfo) -> list[Line]:
    """Return the lines about the turning point: the missing writes, or the call that put the right state out of reach.

    Args:
        simulation: A failed simulation.
        info: Its verdict.
    """
    point = simulation.info.turning_point
    if missing := point.missing if point else ():
        strict = (info.info or {}).get("grading") == "strict"
        first, *others = missing_lines([_action(call) for call in missing], simulation.calls, strict=strict)
        return [first._replace(text=f"turning point: {first.text}"), *others]
    if point:
        who = "user" if point.call["requestor"] == "user" else "agent"
        called = shorten(call_as_text(point.call["name"], point.call["arguments"]), _WIDTH)
        earlier = _earlier(point, simulation)
        again = "" if earlier is None else f" again, as in message {earlier}"
        then = "after it, the right final state was out of reach"
        return [Line("head", f"turning point: message {point.message_idx}, {who} called {called}{again}: {then}")]
    problem = simulation.info.turning_point_problem
    return [Line("note", f"turning point: not found, {problem}")] if problem else []


def without_carried(simulation: Simulation, info: RewardInfo) -> RewardInfo:
    """Return a verdict without the checks of the state that the missing writes of the turning point would meet."""
    point = simulation.info.turning_point
    if point is None or not point.missing:
        return info
    basis = info.reward_basis or ()
    listed_calls = [(call["name"], call["arguments"]) for call in point.missing]
    actions = [
        each for each in info.action_checks or [] if (each.action.name, each.action.arguments) not in listed_calls
    ]
    return info.model_copy(
        update={
            "db_diff": [],
            "env_assertions": [] if "ENV_ASSERTION" in basis else info.env_assertions,
            "action_checks": actions if "ACTION" in basis else [],
        }
    )


def in_brief(simulation: Simulation) -> str | None:
    """Return what went wrong in a few words, such as ``never called cancel_order``; None if nothing is known.

    Args:
        simulation: A graded simulation that did not pass.
    """
    info, fault, point = simulation.reward_info, simulation.info.blame, simulation.info.turning_point
    lost = (
        fault
        and fault.party == "undecided"
        and any(message.role == "user" and message.misunderstanding for message in simulation.messages)
    )
    if fault and (lost or fault.party not in ("agent", "undecided")):
        return f"{fault.party}: {fault.reason}"
    if simulation.termination_reason == "agent_error" and simulation.error:
        return f"agent: {error_line(simulation.error)}"
    if info is None or "ended_early" in (info.info or {}):
        return None
    if missing := point.missing if point else ():
        return _never_called((call["name"] for call in missing), simulation)
    if point:
        earlier = _earlier(point, simulation)
        what = "wrong call" if earlier is None else "repeated call"
        where = f"message {point.message_idx}" + ("" if earlier is None else f", as message {earlier}")
        return f"{what} {point.call['name']} ({where})"
    gating = [each for each in components_of(info) if each.gates(info)]
    omitted = next((omission for each in reversed(gating) if (omission := each.omission(info))), None)
    unmet = [check for each in gating for check in each.failed_checks(info)]
    return omitted.evidence if omitted else f"not met: {listed(unmet, _MOST)}" if unmet else None


def _never_called(names: Iterable[str], simulation: Simulation) -> str:
    wanted, called = list(dict.fromkeys(names)), {made.call.name for made in simulation.calls}
    return f"{'not made:' if called & {*wanted} else 'never called'} {listed(wanted, _MOST)}"


def _earlier(point: Divergence, simulation: Simulation) -> int | None:
    """Return the number of the last message before the turning point that made the same call without an error."""
    call = (point.call["name"], point.call["arguments"], point.call["requestor"])
    same = None if point.message_idx is None else same_call_before(simulation.calls, call, point.message_idx)
    return same.message_idx if same else None


def same_call_before(calls: Sequence[Call], call: tuple[str, dict[str, Any], str], before: int) -> Call | None:
    """Return the last call before a message with this name, these arguments and this caller that had no error."""
    return next(
        (
            made
            for made in reversed(calls)
            if made.message_idx < before
            and (made.call.name, made.call.arguments, made.call.requestor) == call
            and made.result is not None
            and not made.result.error
        ),
        None,
    )


def _action(call: dict[str, Any]) -> Action:
    return Action(action_id="missing", **call)
