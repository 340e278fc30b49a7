"""The report of a failed simulation: plain lines, laid out by whoever shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..capability import installed
from ..capability.calls import failure_lines
from ..evaluation import components_of
from ..evaluation.component_reports import BY_USER, Line
from ..evaluation.outside import outside_lines
from ..models import AssistantMessage, ToolMessage, UserMessage, call_as_text, session_break, shown_messages
from ..text import counted, has_traceback, plural, shorten
from .endings import cut_off, ended
from .error_rules import NO_CASSETTE, NO_MATCH, NO_MODEL, NO_MONEY
from .misunderstandings import CALLS_FAILED, REPEATED, misunderstood_lines
from .turning_point import point_lines, without_carried

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ..capability import Capability
    from ..evaluation import Evaluator
    from ..models import Attribution, Message, RewardInfo, Simulation, ToolCall

#: Messages that are shown of the end of the conversation.
_LAST_MESSAGES = 3
#: Characters of the name of an actor that are shown.
_LONGEST_NAME = 40
#: Lines of an error that are shown.
_LONGEST_ERROR = 48
_COMMANDS = ("record again: ", "record it: ")


def verdict(simulation: Simulation) -> str:
    """Return the reward and its factors: ``reward 0 = DB 0 x COMMUNICATE 1``."""
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
    """Return how the conversation ended, and after how many turns."""
    return f"{ended(simulation)} after {plural(simulation.turns, 'turn')}"


def explain(
    simulation: Simulation,
    again: str | None = None,
    evaluators: Sequence[Evaluator] = (),
    hint: str | None = None,
    *,
    last_messages: bool = True,
    asked: Collection[str] = (),
    capabilities: Sequence[Capability] | None = None,
) -> list[Line]:
    """Return the report of a failed simulation: verdict, unmet checks, last messages, the command that runs it again.

    Args:
        simulation: A graded simulation.
        again: The command that runs exactly this trial.
        evaluators: The components of plugins, if they are available.
        hint: A fact about the run that puts the fault in doubt; shown below whose fault it looks like.
        last_messages: Whether the end of the conversation is part of the report.
        asked: The names of the capabilities whose details are shown.
        capabilities: The capabilities of the run; None for those that are installed.
    """
    info = simulation.reward_info
    early = info is not None and _ended_early(info)
    lines = misunderstood_lines(simulation.messages) if simulation.outcome == "failed" else []
    lines.append(Line("verdict", verdict(simulation) if early else f"{verdict(simulation)}   {ending(simulation)}"))
    if simulation.error:
        lines += _error(simulation.error)
    if outside := simulation.info.outside_changes:
        lines += outside_lines(outside)
    if info is not None and simulation.outcome != "error":
        lines += _of_verdict(simulation, info, evaluators)
    lines += _cut_off(simulation)
    lines += [Line("note", line) for line in failure_lines(capabilities or installed(), simulation, asked)]
    lines += _late_calls(simulation)
    said = _last_messages(simulation) if last_messages else []
    lines += _fault(simulation, [*lines, *said])
    lines += [Line("note", hint)] if hint else []
    lines += [*_replay(simulation), *said]
    if again:
        lines.append(Line("command", f"again: {again}"))
    return lines


def _ended_early(info: RewardInfo) -> bool:
    return "ended_early" in (info.info or {})


def _of_verdict(simulation: Simulation, info: RewardInfo, evaluators: Sequence[Evaluator]) -> list[Line]:
    """Return the lines about the checks of a verdict."""
    lines: list[Line] = []
    if _ended_early(info):
        lines.append(Line("note", f"only a stop can earn more than 0; the checks would give {_factors(info)}"))
    if not _broke_off(simulation):
        lines += point_lines(simulation, info)
        lines += _judge(info)
        left = without_carried(simulation, info)
        for component in components_of(info, evaluators):
            lines += component.explain(left, simulation.calls)
    return lines


def _broke_off(simulation: Simulation) -> bool:
    """Return whether an exception of the agent is the reason, and not what it left undone."""
    return simulation.termination_reason == "agent_error"


def _error(error: str) -> list[Line]:
    """Return the end of a traceback or the beginning of any other error; commands in one piece.

    The lines are indented: text of participants and providers does not look like a line of this package or of pytest.
    """
    lines = error.strip().splitlines()
    shown = lines[-12:] if has_traceback(error) else lines[:_LONGEST_ERROR]
    return [Line("command" if text.startswith(_COMMANDS) else "bad", f"  {text}") for text in shown]


def _late_calls(simulation: Simulation) -> list[Line]:
    """Return a line with the calls that the agent made after the conversation."""
    found = simulation.info.late_calls
    return [Line("note", f"after the conversation, the agent called {counted(found)}: not executed")] if found else []


def _cut_off(simulation: Simulation) -> list[Line]:
    """Return a line for each side whose model's answers were cut off, which may be why the trial failed."""
    found: dict[str, list[int]] = {}
    for number, message in enumerate(simulation.messages):
        if isinstance(message, AssistantMessage | UserMessage) and message.cut_off:
            side = "agent" if message.role == "assistant" else "user"
            found.setdefault(f"reply of the {side} {message.cut_off}", []).append(number)
    return [Line("bad", f"{what}: message {', '.join(map(str, where))}") for what, where in found.items()]


def _judge(info: RewardInfo) -> list[Line]:
    judge = (info.info or {}).get("judge")
    if judge in ("accept", "reject"):
        return [
            Line("note", f"NL assertions judged by {judge!r}: same verdict for every statement, no statement was read")
        ]
    if problem := (info.info or {}).get("judge_problem"):
        return [Line("note", f"NL assertions not judged, and the reward does not depend on them: {_one_line(problem)}")]
    return []


def _fault(simulation: Simulation, known: Iterable[Line]) -> list[Line]:
    """Return the line about whose fault it looks like, if the other lines do not show that the agent failed."""
    fault = simulation.info.blame
    if not fault or (fault.party == "agent" and not _is_told(fault)):
        return []
    neither = fault.reason in (NO_CASSETTE, NO_MATCH, NO_MODEL, NO_MONEY)
    whose = f"looks like the {fault.party}'s fault"
    if fault.party == "undecided":
        *others, last = fault.candidates
        whose = f"undecided whether the {', the '.join(others)} or the {last} failed"
    whose = "neither side failed" if neither else whose
    text = f"{whose}: {fault.reason}"
    by = f" by {fault.actor}" if fault.actor else ""
    text += f" (message {fault.message_idx}{by})" if fault.message_idx is not None else ""
    shown = "\n".join([*(line.text for line in known), simulation.error or ""])
    new = [each for each in fault.evidence.split("; ") if not _is_in(each, shown)]
    return [Line("note", f"{text}: {_one_line('; '.join(new))}" if new else text)]


def _is_told(fault: Attribution) -> bool:
    """Return whether a fault of the agent says more than the rest of a report does."""
    evident = fault.message_idx is None or fault.reason == cut_off("too_many_errors")
    return fault.reason in (REPEATED, CALLS_FAILED) or not evident


def _is_in(evidence: str, known: str) -> bool:
    """Return whether everything that a text lists after its first colon is known, or the text itself."""
    listed = evidence.partition(": ")[2] or evidence
    return evidence.strip("…") in known or all(
        each.removesuffix(BY_USER).strip("…") in known for each in listed.split(", ")
    )


def _replay(simulation: Simulation) -> list[Line]:
    differences = simulation.replay_differences
    if not differences:
        return []
    head = Line("head", f"replay: {differing_results(len(differences))}")
    return [head, *(Line("note", f"  {shorten(text, 300)}") for text in differences[:4])]


def _last_messages(simulation: Simulation) -> list[Line]:
    start = max(len(simulation.messages) - _LAST_MESSAGES, 0)
    while start and isinstance(simulation.messages[start], ToolMessage):  # a result is shown with its call
        start -= 1
    messages = [message for number, message in shown_messages(simulation.messages) if number >= start]
    lines = [Line("head", "last messages")] if messages else []
    return lines + [line for message in messages for line in message_lines(message, _one_line)]


def message_lines(message: Message, shown: Callable[[str | None], str]) -> list[Line]:
    """Return the lines of a message of a conversation: who says or calls what, or the result of a call.

    Args:
        message: The message.
        shown: Returns the part of a text that is shown.
    """
    if isinstance(message, ToolMessage):
        return [Line("tool", f"         = {shown(message.content)}")]
    if not isinstance(message, AssistantMessage | UserMessage):
        return []
    if (text := session_break(message)) is not None:
        return [Line("head", f"  --- {text} ---")]
    who: Literal["agent", "user"] = "agent" if message.role == "assistant" else "user"
    actor = (
        f"[{shorten(message.actor, _LONGEST_NAME)}] " if isinstance(message, AssistantMessage) and message.actor else ""
    )
    lines = [Line(who, f"  {who:<5}  {actor}{shown(message.content)}")] if message.content else []
    if message.cut_off:
        lines.append(Line("bad", f"  {'':<5}  [{message.cut_off}]"))
    if isinstance(message, UserMessage) and message.misunderstanding:
        lines.append(Line("bad", f"  {'':<5}  [{message.misunderstanding}]"))
    return lines + [Line(who, f"  {who:<5}  {actor}> {_call_text(call)}") for call in message.tool_calls or []]


def _call_text(call: ToolCall) -> str:
    return call_as_text(call.name, call.arguments) if call.malformed is None else f"{call.name}({call.malformed})"


def _one_line(text: str | None) -> str:
    return shorten(" ".join((text or "").split()), 240)


def differing_results(results: int) -> str:
    """Return how many results of a replay differ."""
    return f"{plural(results, 'tool result')} {'differs' if results == 1 else 'differ'} from the recording"


def plain_text(lines: Iterable[Line]) -> str:
    """Return the lines as one text."""
    return "\n".join(line.text for line in lines)
