"""The checks of a simulation, each beside the turn that met or broke it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...evaluation.communicate import check_communicate
from ...models import AssistantMessage, call_as_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...evaluation import Grading
    from ...models import Call, Difference, RewardInfo, Simulation
    from .alignment import Row
    from .environment_changes import StateHistory, Turned


class PlacedCheck(NamedTuple):
    """A check and where it was decided.

    Attributes:
        kind: The component: ``DB``, ``ACTION`` …, or the name of one of a plugin's.
        text: What was checked.
        met: Whether it was met.
        gates: Whether the reward depends on it.
        turn: The message that met or broke it; None where no single one did.
        call: The position of the call that did, among all calls.
        note: What else is to be told.
    """

    kind: str
    text: str
    met: bool
    gates: bool
    turn: int | None = None
    call: int | None = None
    note: str = ""


def placed_checks(
    simulation: Simulation, rows: Sequence[Row], history: StateHistory, grading: Grading
) -> list[PlacedCheck]:
    """Every check that the verdict has, in the order of components.

    Args:
        simulation: With its verdict.
        rows: Its calls beside the reference actions.
        history: What they did to the databases.
        grading: The profile that it was graded with.
    """
    verdict = simulation.reward_info
    if verdict is None:
        return []
    calls = simulation.calls
    found = [
        *_database(verdict, history, calls, (simulation.info or {}).get("turning_point")),
        *_assertions(verdict, history, calls),
        *_actions(verdict, rows, calls),
        *_phrases(verdict, simulation, grading),
        *_statements(verdict),
    ]
    basis = set(verdict.reward_basis or ())
    return [check._replace(gates=check.kind in basis) for check in found]


def _database(
    verdict: RewardInfo, history: StateHistory, calls: Sequence[Call], turning_point: Any
) -> Iterator[PlacedCheck]:
    if verdict.db_check is None:
        return
    met, differences = verdict.db_check.db_match, verdict.db_diff or history.differences
    text = "the databases end as the reference actions leave them"
    note = ""
    if not met and differences:
        many = len(differences)
        note = f"{many} place{'s' * (many > 1)} differ{'s' * (many == 1)}"
    call = _agreeing(history.database, met=met)
    if not met and isinstance(turning_point, dict):
        call = _turning_call(turning_point, calls)
    elif not met:
        call = _last_write(differences, history) if differences else call
    yield _at(PlacedCheck("DB", text, met, False, note=note), call, calls)


def _turning_call(turning_point: dict[str, Any], calls: Sequence[Call]) -> int | None:
    """The call after which the right state was out of reach; None where a write is missing."""
    turn, told = turning_point.get("turn"), turning_point.get("call")
    name = told.get("name") if isinstance(told, dict) else None
    there = [position for position, made in enumerate(calls) if made.turn == turn]
    return next((position for position in there if calls[position].call.name == name), there[0] if there else None)


def _last_write(differences: Sequence[Difference], history: StateHistory) -> int | None:
    """The last call that wrote to a place that is wrong in the end."""
    wrong = [(difference.side, difference.path) for difference in differences]
    return max(
        (
            position
            for position, changes in history.changes.items()
            for change in changes
            if any(change.side == side and _overlap(change.path, path) for side, path in wrong)
        ),
        default=None,
    )


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _agreeing(turned: Turned | None, *, met: bool) -> int | None:
    """The deciding call, where the replay has come to the stored verdict."""
    return turned.call if turned is not None and turned.holds == met else None


def _assertions(verdict: RewardInfo, history: StateHistory, calls: Sequence[Call]) -> Iterator[PlacedCheck]:
    for number, check in enumerate(verdict.env_assertions or ()):
        wanted = check.env_assertion
        value = "" if wanted.assert_value else " is false"
        text = f"{wanted.env_type}: {call_as_text(wanted.func_name, wanted.arguments)}{value}"
        turned = history.assertions[number] if number < len(history.assertions) else None
        placed = PlacedCheck("ENV_ASSERTION", text, check.met, False, note=check.error or wanted.message or "")
        yield _at(placed, _agreeing(turned, met=check.met), calls)


def _actions(verdict: RewardInfo, rows: Sequence[Row], calls: Sequence[Call]) -> Iterator[PlacedCheck]:
    by_action = {row.action: row for row in rows if row.action is not None}
    for number, check in enumerate(verdict.action_checks or ()):
        action, row = check.action, by_action.get(number)
        side = "" if action.requestor == "assistant" else "user: "
        text = f"{side}{call_as_text(action.name, action.arguments)}"
        note = ""
        if not check.action_match and row is not None:
            note = f"made with other arguments: {', '.join(row.arguments)}" if row.arguments else ""
            note = "never called" if row.call is None else note
        met = check.action_match
        call = row.call if row is not None and (row.kind == "matched") == met else None
        yield _at(PlacedCheck("ACTION", text, met, False, note=note), call, calls)


def _phrases(verdict: RewardInfo, simulation: Simulation, grading: Grading) -> Iterator[PlacedCheck]:
    for check in verdict.communicate_checks or ():
        turn = _said_at(check.info, simulation, grading) if check.met else None
        yield PlacedCheck(
            "COMMUNICATE", check.info, check.met, False, turn=turn, note="" if check.met else "never said"
        )


def _statements(verdict: RewardInfo) -> Iterator[PlacedCheck]:
    for check in verdict.nl_assertions or ():
        yield PlacedCheck("NL_ASSERTION", check.nl_assertion, check.met, False, note=check.justification)
    for custom in verdict.custom_checks or ():
        yield PlacedCheck(custom.name, custom.name, custom.reward >= 1, False, note=custom.justification)


def _said_at(phrase: str, simulation: Simulation, grading: Grading) -> int | None:
    """The first message of the agent that has the phrase."""
    for turn, message in enumerate(simulation.messages):
        if isinstance(message, AssistantMessage) and check_communicate([phrase], [message], grading)[0].met:
            return turn
    return None


def _at(check: PlacedCheck, call: int | None, calls: Sequence[Call]) -> PlacedCheck:
    if call is None or call >= len(calls):
        return check
    return check._replace(call=call, turn=calls[call].turn)
