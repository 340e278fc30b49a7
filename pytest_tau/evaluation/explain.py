"""Why a simulation failed, in lines that a person reads: plain data, laid out by whoever shows it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..models import AssistantMessage, ToolMessage, UserMessage, call_as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..models import Action, Call, Difference, RewardInfo, Simulation, ToolCall

LineKind: TypeAlias = Literal["verdict", "head", "bad", "error", "note", "agent", "user", "tool", "command"]

_MOST = {"differences": 8, "assertions": 6, "actions": 5, "phrases": 5, "messages": 6}


#: Characters of a whole record that is shown.
_RECORD = 200
#: Lines of an error that are shown.
_LONGEST_ERROR = 48
_COMMANDS = ("record again: ", "record it: ")


class Line(NamedTuple):
    """One line: what it is, so that it can be coloured, and its text."""

    kind: LineKind
    text: str


def verdict(simulation: Simulation) -> str:
    """The reward and its factors: ``reward 0 = DB 0 x COMMUNICATE 1``."""
    info = simulation.reward_info
    if info is None:
        return "not graded"
    if simulation.outcome == "error":
        return f"no verdict on the agent: {ending(simulation)}"
    factors = _factors(info)
    if "ended_early" in (info.info or {}):
        return f"reward 0, {ending(simulation)}"
    return f"reward {info.reward:g}" + (f" = {factors}" if factors else "")


def _factors(info: RewardInfo) -> str:
    return " x ".join(f"{name} {value:g}" for name, value in (info.reward_breakdown or {}).items())


def ending(simulation: Simulation) -> str:
    """How the conversation ended, and after how many turns."""
    turns = sum(isinstance(m, AssistantMessage | UserMessage) for m in simulation.messages)
    how = {
        "user_stop": f"ended by the user's {simulation.stop_token or 'stop'}",
        "agent_stop": "ended by the agent",
        "max_steps": "cut off: too many steps",
        "too_many_errors": "cut off: too many failed calls",
        "timeout": "cut off: out of time",
        "agent_error": "ended by a fault of the agent",
        "user_error": "ended by a fault of the user",
    }.get(simulation.termination_reason, f"ended by {simulation.termination_reason}")
    return f"{how} after {counted(turns, 'turn')}"


def explain(simulation: Simulation, again: str | None = None) -> list[Line]:
    """What a failed simulation shows: verdict, unmet checks, last turns, the command that runs it again.

    Args:
        simulation: A graded simulation.
        again: The command that runs exactly this trial.
    """
    info = simulation.reward_info
    early = info is not None and "ended_early" in (info.info or {})
    lines = [Line("verdict", verdict(simulation) if early else f"{verdict(simulation)}   {ending(simulation)}")]
    if simulation.error:
        lines += _told(simulation.error, simulation.termination_reason)
    if early and info is not None and simulation.outcome != "error":
        lines.append(Line("note", f"only a stop can earn more than 0; the checks would give {_factors(info)}"))
    if info is not None and simulation.outcome != "error":
        lines += _unmet(info, simulation)
    lines += _fault(simulation)
    lines += _replay(simulation)
    lines += _last_turns(simulation)
    if again:
        lines.append(Line("command", f"again: {again}"))
    return lines


def _told(error: str, reason: str) -> list[Line]:
    """What went wrong: of a traceback the end, of anything else the beginning; commands in one piece."""
    lines = error.strip().splitlines()
    shown = lines[-12:] if reason == "unexpected_error" else lines[:_LONGEST_ERROR]
    return [Line("command" if text.startswith(_COMMANDS) else "bad", text) for text in shown]


def _unmet(info: RewardInfo, simulation: Simulation) -> list[Line]:
    basis, strict = info.reward_basis or [], (info.info or {}).get("grading") == "strict"
    return [
        *_judge(info),
        *(_database(info.db_diff or []) if "DB" in basis else []),
        *_assertions(info),
        *_actions(info, simulation.calls, strict=strict),
        *_phrases(info, gating="COMMUNICATE" in basis),
        *_statements(info),
        *(
            Line("bad", f"{check.name} {check.reward:g}: {check.justification}")
            for check in info.custom_checks or []
            if check.reward < 1
        ),
    ]


def _judge(info: RewardInfo) -> list[Line]:
    judge = (info.info or {}).get("judge")
    if judge in ("accept", "reject"):
        return [Line("note", f"NL assertions judged by {judge!r}: every statement alike, no one read it")]
    return []


def _database(differences: Sequence[Difference]) -> list[Line]:
    lines = []
    for side in ("agent", "user"):
        mine = [difference for difference in differences if difference.side == side]
        if not mine:
            continue
        lines.append(Line("head", f"database, {side} side: {counted(len(mine), 'difference')}"))
        width = min(max(len(difference.path) for difference in mine), 48)
        lines += [Line("bad", f"  {d.path:<{width}}  {_expected_got(d)}") for d in _first(mine, "differences")]
        lines += _more(mine, "differences")
    return lines


def _expected_got(difference: Difference) -> str:
    if difference.missing == "got":
        return f"expected {_short(difference.expected, _RECORD)}   missing"
    if difference.missing == "expected":
        return f"not expected   got {_short(difference.got, _RECORD)}"
    return f"expected {_short(difference.expected)}   got {_short(difference.got)}"


def _assertions(info: RewardInfo) -> list[Line]:
    unmet = [check for check in info.env_assertions or [] if not check.met]
    lines = []
    for check in _first(unmet, "assertions"):
        wanted = check.env_assertion
        value = "" if wanted.assert_value else " to be false"
        lines.append(
            Line("bad", f"not met, {wanted.env_type} side: {call_as_text(wanted.func_name, wanted.arguments)}{value}")
        )
        note = check.error or wanted.message
        lines += [Line("note", f"  {note}")] if note else []
    return lines + _more(unmet, "assertions")


def _actions(info: RewardInfo, calls: list[Call], *, strict: bool) -> list[Line]:
    missing = [check.action for check in info.action_checks or [] if not check.action_match]
    if missing == [check.action for check in info.action_checks or []] and not calls and len(missing) > 1:
        names = ", ".join(dict.fromkeys(action.name for action in missing))
        return [Line("head", f"none of {len(missing)} reference actions made, no tool was called: {_clip(names, 200)}")]
    lines = []
    for action in _first(missing, "actions"):
        by = "" if action.requestor == "assistant" else " (by the user)"
        nearest = _nearest(action, calls, strict=strict)
        note = "" if nearest else "  (never called)"
        lines.append(
            Line("head", f"reference action not made{by}: {call_as_text(action.name, action.arguments)}{note}")
        )
        lines += [Line("bad", f"  {nearest}")] if nearest else []
    return lines + _more(missing, "actions")


def _nearest(action: Action, calls: list[Call], *, strict: bool) -> str | None:
    same_name = [made for made in calls if made.call.name == action.name]
    if not same_name:
        return None
    keys = action.compare_args

    def differing(made: Call) -> list[str]:
        compared = keys if keys is not None else list(made.call.arguments)
        if strict and keys is None:
            compared = list(dict.fromkeys([*compared, *action.arguments]))
        return [key for key in compared if action.arguments.get(key, ...) != made.call.arguments.get(key, ...)]

    nearest = min(same_name, key=lambda made: (made.call.malformed is not None, len(differing(made))))
    told = [
        f"{key}  expected {_short(action.arguments.get(key, ...))}   got {_short(nearest.call.arguments.get(key, ...))}"
        for key in differing(nearest)
    ]
    result = f"  -> {_clip(nearest.result.content or '', 80)}" if nearest.result and nearest.result.error else ""
    if nearest.call.malformed is not None:
        told = ["malformed arguments"]
    elif not told:
        told = [f"made by the {nearest.call.requestor}, or counted for another reference action"]
    return f"nearest call, turn {nearest.turn}: {'; '.join(told)}{result}"


def _phrases(info: RewardInfo, *, gating: bool) -> list[Line]:
    unsaid = [check for check in info.communicate_checks or [] if not check.met] if gating else []
    return [Line("bad", f"never said: {check.info!r}") for check in _first(unsaid, "phrases")] + _more(
        unsaid, "phrases"
    )


def _statements(info: RewardInfo) -> list[Line]:
    untrue = [check for check in info.nl_assertions or [] if not check.met]
    return [
        Line("bad", f"judged untrue: {check.nl_assertion}  ({_clip(check.justification, 120)})")
        for check in _first(untrue, "phrases")
    ] + _more(untrue, "phrases")


def _fault(simulation: Simulation) -> list[Line]:
    """Where it went wrong, and whose fault it looks like."""
    info = simulation.info or {}
    turning, blame, problem = info.get("turning_point"), info.get("blame"), info.get("turning_point_problem")
    lines = [Line("head", f"turning point: {turning['told']}")] if turning else []
    lines += [Line("note", f"turning point: not found, {problem}")] if problem else []
    if blame:
        told = f"looks like the {blame['party']}'s fault: {blame['reason']}"
        told += f", turn {blame['turn']}" if blame["turn"] is not None else ""
        # What stands in the lines above is not said again.
        above = [turning["told"] if turning else "", simulation.error or ""]
        evidence = blame["evidence"].removeprefix(f"{above[0]}; ")
        new = not any(evidence.strip("…") in each for each in above)
        lines.append(Line("note", f"{told}: {_one_line(evidence)}" if new else told))
    return lines


def _replay(simulation: Simulation) -> list[Line]:
    differences = simulation.replay_differences
    if not differences:
        return []
    head = Line("head", f"replay: {differing(len(differences))}")
    return [head, *(Line("note", f"  {_clip(text, 300)}") for text in differences[:4])]


def _last_turns(simulation: Simulation) -> list[Line]:
    messages = simulation.messages[-_MOST["messages"] :]
    lines = [Line("head", "last turns")] if messages else []
    for message in messages:
        if isinstance(message, ToolMessage):
            lines.append(Line("tool", f"         = {_one_line(message.content)}"))
        elif isinstance(message, AssistantMessage | UserMessage):
            who: Literal["agent", "user"] = "agent" if message.role == "assistant" else "user"
            if message.content:
                lines.append(Line(who, f"  {who:<5}  {_one_line(message.content)}"))
            lines += [Line(who, f"  {who:<5}  > {_call_text(call)}") for call in message.tool_calls or []]
    return lines


def _call_text(call: ToolCall) -> str:
    return call_as_text(call.name, call.arguments) if call.malformed is None else f"{call.name}({call.malformed})"


def _first(items: Sequence[Any], kind: str) -> Sequence[Any]:
    return items[: _MOST[kind]]


def _more(items: Sequence[Any], kind: str) -> list[Line]:
    left = len(items) - _MOST[kind]
    return [Line("note", f"  and {left} more")] if left > 0 else []


def _short(value: Any, width: int = 60) -> str:
    return "nothing" if value is ... else _clip(json.dumps(value, ensure_ascii=False, default=str), width)


def _one_line(text: str | None) -> str:
    return _clip(" ".join((text or "").split()), 240)


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(number: int, noun: str) -> str:
    """The number with its noun: ``1 task``, ``2 tasks``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def differing(results: int) -> str:
    """So many results of a replay differ."""
    return f"{counted(results, 'tool result')} {'differs' if results == 1 else 'differ'} from the recording"


def plain_text(lines: Iterable[Line]) -> str:
    """The lines as one text."""
    return "\n".join(line.text for line in lines)
