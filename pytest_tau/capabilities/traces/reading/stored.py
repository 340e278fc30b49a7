"""Conversations of traces as simulations of a run, without verdicts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, get_args

from ....files import digest
from ....models import (
    AssistantMessage,
    Message,
    ModelUsage,
    Requestor,
    Simulation,
    TerminationReason,
    ToolCall,
    ToolMessage,
    UserMessage,
    writable,
)
from ....plain import json
from ....runs import model_text
from ..facts import SourceFile, TraceFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .messages import Said
    from .pairing import Conversation

#: Why a conversation ends as it does, if its trace says nothing.
_INCOMPLETE: Final = "the trace ends before the conversation does"


class Simulations:
    """Makes a simulation of each conversation, with a task id and a trial of its own.

    Args:
        files: The files that the conversations are from.
        domain: The name of their domain; None if that is not known.
    """

    def __init__(self, files: Sequence[SourceFile], domain: str | None = None) -> None:
        self._files, self._domain = list(files), domain
        self._trials = Counter[str]()

    def line(self, conversation: Conversation) -> str:
        """Return the line of a conversation in the file of simulations."""
        attributes = conversation.own
        simulation = self.simulation(conversation)
        domain = attributes.get("domain") or self._domain
        head = {"test": "", **({"domain": str(domain)} if domain else {})}
        return f"{json.dumps(head)[:-1]}, {model_text(simulation)[1:]}\n"

    def simulation(self, conversation: Conversation) -> Simulation:
        """Return a conversation as a simulation."""
        attributes = conversation.own
        task_id = str(attributes.get("task.id") or conversation.key or conversation.traces[0])
        trial = attributes.get("trial")
        trial = trial if isinstance(trial, int) else self._trials[task_id]
        self._trials[task_id] += 1
        reason = attributes.get("termination_reason")
        known = reason in get_args(TerminationReason)
        complete = conversation.complete or known
        ended: Any = reason if known else "user_stop" if complete else "unexpected_error"
        seed = attributes.get("seed")
        return Simulation(
            id=f"{task_id}-{trial}-{digest(''.join(conversation.traces))[:8]}",
            task_id=task_id,
            trial=trial,
            seed=seed if isinstance(seed, int) else None,
            start_time=_time(conversation.start) or "",
            end_time=_time(conversation.end) or "",
            duration=max(0, conversation.end - conversation.start) / 1e9,
            termination_reason=ended,
            error=None if complete else _INCOMPLETE,
            model_usage={"agent": _usage(conversation.usage)} if conversation.usage.get("calls") else {},
            messages=[_message(message, number) for number, message in enumerate(conversation.messages)],
            facts={
                "traces": TraceFacts(
                    files=[file for file in self._files if file.name in conversation.files],
                    scopes=conversation.scopes,
                    key=conversation.key,
                    trace_ids=conversation.traces,
                    span_ids=conversation.spans,
                    system=conversation.system,
                    tools=conversation.tools,
                    notes=conversation.notes,
                    handoffs=conversation.handoffs,
                    complete=conversation.complete,
                    unknown=[] if known else ["termination_reason"],
                    origin=attributes,
                ).model_dump(mode="json")
            },
        )


def _message(message: Said, number: int) -> Message:
    at: dict[str, Any] = {"turn_idx": number, "timestamp": _time(message.time)}
    if message.role == "tool":
        requestor: Requestor = "user" if message.by_user else "assistant"
        return ToolMessage(
            id=message.call_id, content=_writable(message.text), error=message.error, requestor=requestor, **at
        )
    side: Requestor = "user" if message.role == "user" else "assistant"
    calls = [
        ToolCall(
            id=call.id,
            name=writable(call.name),
            arguments=_writable(call.arguments),
            malformed=_writable(call.malformed),
            requestor=side,
        )
        for call in message.calls
    ]
    content, tool_calls = _writable(message.text), calls or None
    if side == "user":
        return UserMessage(content=content, tool_calls=tool_calls, **at)
    return AssistantMessage(content=content, tool_calls=tool_calls, actor=_writable(message.name) or None, **at)


def _writable(value: Any) -> Any:
    """Return a JSON value with lone surrogates escaped, as tools' results and tasks have them."""
    if isinstance(value, dict):
        return {writable(name): _writable(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_writable(element) for element in value]
    return writable(value) if isinstance(value, str) else value


def _usage(totals: dict[str, Any]) -> ModelUsage:
    token_counts: dict[str, Any] = {
        name: int(totals.get(name, 0)) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
    }
    calls, unpriced = int(totals["calls"]), int(totals["unpriced_calls"])
    usage = ModelUsage(model=totals["model"], calls=calls, unpriced_calls=unpriced, **token_counts)
    usage.known_cost, usage.seconds = float(totals.get("known_cost", 0)), totals["seconds"]
    return usage


def _time(nanoseconds: int) -> str | None:
    if not nanoseconds:
        return None
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="milliseconds")
