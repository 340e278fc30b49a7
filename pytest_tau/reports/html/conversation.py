"""One simulation as the page shows it: messages, calls with what they changed, checks, the task."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ...evaluation import OFFICIAL, components_of
from ...evaluation.evidence import Evidence, StateHistory
from ...evaluation.grading import profile_named
from ...masking import mask_secrets
from ...models import call_as_text, is_beginning, session_break
from ...plain import json
from ...regrade.recognition import worked_alone
from .alignment import align
from .capability_blocks import block_checks
from .json_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...environment import Domain
    from ...evaluation import Check, Grading, RewardComponent
    from ...evaluation.evidence import Row, StateChange
    from ...models import (
        Action,
        AssistantMessage,
        Attribution,
        Call,
        Difference,
        Divergence,
        Message,
        RewardInfo,
        Simulation,
        Task,
        UserMessage,
    )
    from .capability_blocks import ShownBlocks
    from .environment_changes import StateHistories


def located_checks(evidence: Evidence) -> list[dict[str, Any]]:
    """Return every check that the verdict has, in the order of components, as the page shows it.

    Args:
        evidence: The simulation with its verdict, its calls next to the reference actions, and its state's history.
    """
    verdict = evidence.simulation.reward_info
    if verdict is None:
        return []
    return [
        _shown(check, component, gates=gates)
        for component in components_of(verdict)
        for gates in [component.gates(verdict)]
        for check in component.located(verdict, evidence)
    ]


def _shown(check: Check, component: RewardComponent, *, gates: bool) -> dict[str, Any]:
    return {
        "kind": component.name,
        "text": check.text,
        "met": check.met,
        "gates": gates,
        "message_idx": check.message_idx,
        "call": check.call,
        "note": check.note,
        "ofCall": check.of_call,
    }


#: Places that are shown of what one call changed, or of what differs in the end.
_MOST_CHANGES = 200
_LONGEST_VALUE = 4000


def conversation(
    simulation: Simulation,
    calls: Sequence[Call],
    task: Task | None,
    domain: Domain | str,
    histories: StateHistories,
    blocks: ShownBlocks,
) -> dict[str, Any]:
    """Return everything that the page shows of a simulation when it is opened, as JSON.

    Args:
        simulation: It, with its verdict, if there is one.
        calls: Its calls.
        task: Its task; None if it is not known.
        domain: Where it took place, or why that is not available.
        histories: Of the trials of the run.
        blocks: The blocks of capabilities in the page.
    """
    verdict, trial_blocks = simulation.reward_info, blocks.of_trial(simulation)
    history = _history(simulation, calls, task, domain, histories)
    grading = _grading(verdict)
    actions = _reference_actions(verdict, task)
    rows = align(actions, [call.call for call in calls], grading)
    differences = (verdict.db_diff if verdict else None) or history.differences
    return {
        "messages": _messages(simulation.messages),
        "calls": [_call(call, history.changes.get(position, [])) for position, call in enumerate(calls)],
        "checks": located_checks(Evidence(simulation, calls, rows, history, grading)) + block_checks(trial_blocks),
        "blocks": blocks.as_json(trial_blocks),
        "actions": [_action(action) for action in actions],
        "rows": [row._asdict() for row in rows if not _begins_session(row, calls, actions)],
        "differences": [_difference(difference) for difference in differences[:_MOST_CHANGES]],
        "task": _task(task) if task else None,
        "verdict": _verdict(verdict) if verdict else None,
        "facts": _facts(simulation),
        "usage": [*_usage(simulation)],
        "blame": _blame(simulation.info.blame),
        "turning_point": _turning_point(simulation.info.turning_point),
        "error": mask_secrets(simulation.error) if simulation.error else None,
        "replay": simulation.replay_differences,
        "note": history.note,
    }


def fingerprints(messages: Sequence[Message]) -> bytes:
    """Return eight bytes for each message: equal if role, text and calls are."""
    return b"".join(_fingerprint(message) for message in messages)


def first_difference(one: bytes, other: bytes) -> int | None:
    """Return the first message at which two conversations differ, by their ``fingerprints``; None if they do not."""
    if one == other:
        return None
    size = 8
    pairs = zip(range(0, len(one), size), range(0, len(other), size), strict=False)
    for number, (here, there) in enumerate(pairs):
        if one[here : here + size] != other[there : there + size]:
            return number
    return min(len(one), len(other)) // size


def _fingerprint(message: Message) -> bytes:
    calls = [[call.name, call.arguments, call.malformed] for call in getattr(message, "tool_calls", None) or []]
    text = json.dumps([message.role, message.content or "", calls], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _history(
    simulation: Simulation,
    calls: Sequence[Call],
    task: Task | None,
    domain: Domain | str,
    histories: StateHistories,
) -> StateHistory:
    missing = "the task is not known" if task is None else domain if isinstance(domain, str) else None
    if task is None or isinstance(domain, str):
        return StateHistory(note=f"Changes to the environment are not shown: {missing}.")
    return histories.of(simulation, calls, task, domain, solo=worked_alone(simulation, domain))


def _grading(verdict: RewardInfo | None) -> Grading:
    name = (verdict.info or {}).get("grading") if verdict else None
    try:
        return profile_named(name) if isinstance(name, str) else OFFICIAL
    except ConfigurationError:  # a profile of somebody's own
        return OFFICIAL


def _reference_actions(verdict: RewardInfo | None, task: Task | None) -> list[Action]:
    if verdict and verdict.action_checks:
        return [check.action for check in verdict.action_checks]
    return list(task.criteria.actions or []) if task else []


def _begins_session(row: Row, calls: Sequence[Call], actions: Sequence[Action]) -> bool:
    """Return whether a row is what begins a session, which is shown in the conversation."""
    return is_beginning(calls[row.call].call if row.call is not None else actions[row.action or 0])


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the texts of messages and the positions of their calls, which have the results."""
    documents: list[dict[str, Any]] = []
    waiting = position = 0
    for number, message in enumerate(messages):
        # The class of a model takes longer to ask for than its role.
        if message.role == "tool" and waiting:
            waiting -= 1
            continue
        document: dict[str, Any] = {"message_idx": number, "role": message.role, "text": message.content or ""}
        if message.role in ("assistant", "user"):
            if calls := message.tool_calls:
                document["calls"] = list(range(position, position + len(calls)))
            if (text := session_break(message)) is not None:
                document["break"] = text
            if message.role == "assistant" and message.actor:
                document["actor"] = message.actor
            waiting = len(calls or ())
            position += waiting
            _add_facts(document, message)
        documents.append(document)
    return documents


def _add_facts(document: dict[str, Any], message: AssistantMessage | UserMessage) -> None:
    """Add what is known of the model's answer, and the reasoning that a built-in strategy has kept from the others."""
    if message.cost is not None:
        document["cost"] = message.cost
    if message.generation_time_seconds is not None:
        document["seconds"] = message.generation_time_seconds
    thought = message.raw_data and message.raw_data.get("thought")
    if isinstance(thought, str) and thought:
        document["thought"] = thought


def _call(made: Call, changes: Sequence[StateChange]) -> dict[str, Any]:
    call, result = made.call, made.result
    return {
        "message_idx": made.message_idx,
        "name": call.name,
        "by": call.requestor,
        "arguments": _arguments(call.arguments),
        "malformed": call.malformed,
        "result": None if result is None else result.content or "",
        "error": bool(result and result.error),
        "fault": result.fault if result else None,
        "changes": [list(change) for change in changes[:_MOST_CHANGES]],
        "more": max(0, len(changes) - _MOST_CHANGES),
    }


def _arguments(arguments: dict[str, Any]) -> list[list[str]]:
    return [[name, value_text(value)] for name, value in arguments.items()]


def _action(action: Action) -> dict[str, Any]:
    return {"name": action.name, "by": action.requestor, "arguments": _arguments(action.arguments), "info": action.info}


def _difference(difference: Difference) -> list[str | None]:
    expected = None if difference.missing == "expected" else value_text(difference.expected, _LONGEST_VALUE)
    actual = None if difference.missing == "got" else value_text(difference.got, _LONGEST_VALUE)
    return [difference.side, difference.path, expected, actual]


def _task(task: Task) -> list[list[str]]:
    """Return the parts of a task that a reader wants to know, each with its title."""
    description, scenario = task.description, task.user_scenario
    parts: list[tuple[str, str | None]] = [
        ("Purpose", description.purpose if description else None),
        ("Policies", description.relevant_policies if description else None),
        ("Notes", description.notes if description else None),
        ("Persona", scenario.persona),
    ]
    if isinstance(scenario.instructions, str):
        parts.append(("What the user wants", scenario.instructions))
    else:
        wants = scenario.instructions
        parts += [
            ("Why the user calls", wants.reason_for_call),
            ("What the user knows", wants.known_info),
            ("What the user does not know", wants.unknown_info),
            ("How the user acts", wants.task_instructions),
        ]
    parts += [(f"Session {session.id}", str(session.user_scenario)) for session in (task.sessions or ())[1:]]
    parts.append(("Ticket", task.ticket))
    for number, outcome in enumerate(task.criteria.outcomes or ()):
        calls = [call_as_text(action.name, action.arguments) for action in outcome.actions]
        parts.append((f"Right outcome {number}", "\n".join([outcome.why, *calls])))
    return [[title, text] for title, text in parts if text]


def _verdict(verdict: RewardInfo) -> dict[str, Any]:
    notes = {key: value for key, value in (verdict.info or {}).items() if isinstance(value, str | int | bool)}
    return {
        "reward": verdict.reward,
        "breakdown": [[name, value] for name, value in (verdict.reward_breakdown or {}).items()],
        "basis": verdict.reward_basis,
        "notes": [[key, value_text(value)] for key, value in notes.items()],
    }


def _facts(simulation: Simulation) -> list[list[str]]:
    facts = [
        ("Seed", simulation.seed),
        ("Began", simulation.start_time),
        ("Ended", simulation.end_time),
        ("Simulation", simulation.id),
    ]
    return [[title, str(value)] for title, value in facts if value not in (None, "")]


def _usage(simulation: Simulation) -> Iterator[dict[str, Any]]:
    """Yield the sums over the model calls of each role, and of each actor after its role."""
    for role, used in simulation.model_usage.items():
        yield {"role": role, **used.model_dump(exclude={"actors"})}
        for actor, actor_usage in used.actors.items():
            yield {"role": f"{role} · {actor}", **actor_usage.model_dump(exclude={"actors"})}


def _blame(blame: Attribution | None) -> dict[str, Any] | None:
    """Return whose fault it looks like; the evidence may be an error's text."""
    if blame is None:
        return None
    texts = {"party": blame.party, "reason": mask_secrets(blame.reason), "evidence": mask_secrets(blame.evidence)}
    where = {"message_idx": blame.message_idx, "actor": blame.actor}
    return {**texts, **where, "candidates": list(blame.candidates or ("agent", "user"))}


def _turning_point(point: Divergence | None) -> dict[str, Any] | None:
    """Return what is shown of the turning point."""
    if point is None:
        return None
    return {"message_idx": point.message_idx, "kind": point.kind, "text": mask_secrets(point.text)}
