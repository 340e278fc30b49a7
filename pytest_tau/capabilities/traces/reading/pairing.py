"""A conversation that was read, and its calls with their results: of the history, and of the spans of tools."""

from __future__ import annotations

import copy
import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .messages import Call, Said, decoded
from .spans import UNSURE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .conventions import Step

#: How ids of OpenAI's Responses begin that are of an entry of the history, not of the call in it.
_ITEM: Final = "fc_"
#: Results that frameworks give to calls that hand a conversation over to another agent.
_HANDED_OVER: Final = (
    *("transferred to ", "successfully transferred to ", "transferring to "),
    *("handed off to ", "handing off to ", "handoff to "),
)
_RECEIVERS: Final = ("assistant", "agent", "handoff_to", "transferred_to")
_HANDOFFS: Final = ("transfer_to_", "handoff_to_", "hand_off_to_", "transfer_back_to_", "delegate_to_")
#: The tool of Google's ADK, whose result is nothing.
_TO_AGENT: Final = "transfer_to_agent"
#: Words for people: to hand over to one of them is work for the user, and not of a framework.
_PEOPLE: Final = re.compile(r"human|person|people|representative|operator|live|staff|support_team")


@dataclass
class Conversation:
    """A conversation that was read.

    Attributes:
        key: What identifies it: a session, a thread; None if nothing does.
        system: The instructions of the agent; of several agents, those of the last.
        messages: The messages, oldest first, without those of the system.
        spans: The id of the span that each message comes from; empty if only histories have it.
        traces: The ids of its traces.
        scopes: The libraries that have recorded it.
        files: The files that it is from.
        tools: Definitions of tools.
        notes: What is missing or was decided, each with the number of its message.
        handoffs: The numbers of messages that hand the conversation over to another agent, and of their results.
        usage: Model, calls, tokens, cost in USD, and seconds of the calls of models.
        own: What our own export has added.
        start: When it began, in nanoseconds; 0 if that is not known.
        end: When it ended.
        complete: Whether it ends with an answer of the agent.
    """

    key: str | None
    system: str | None = None
    messages: list[Said] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    tools: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    handoffs: list[int] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    start: int = 0
    end: int = 0
    complete: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return it as ``tau import --json`` prints it."""
        names = {call.id: call.name for message in self.messages for call in message.calls}
        return {
            "key": self.key,
            "system": self.system,
            "messages": [
                {
                    **_as_json(message, names),
                    **({"handoff": True} if number in self.handoffs and message.role == "tool" else {}),
                }
                for number, message in enumerate(self.messages)
            ],
            "traces": self.traces,
            "notes": self.notes,
        }


class Results:
    """The executions of tools, each used once."""

    def __init__(self, tools: list[Step]) -> None:
        self._tools = sorted(tools, key=lambda step: step.start)
        self._used: set[int] = set()

    def of(self, call: Call, after: int, before: int) -> tuple[Step | None, bool]:
        """Return the execution of a call, and whether it is surely that.

        It is found by its id; else by name and arguments, else by name, in a span of time.
        """
        timed = [step for step in self._tools if after <= step.start and (not before or step.start <= before)]
        known = [step for step in timed if step.call and step.call.name == call.name]
        known = [step for step in known if not call.id or not step.call or not step.call.call_id]
        same = [step for step in known if step.arguments == call.arguments]
        by_id = [step for step in self._tools if call.id and step.call and step.call.call_id == call.id]
        for steps in (by_id, same, known):
            for step in steps:
                if id(step) not in self._used:
                    self._used.add(id(step))
                    return step, steps is not known
        return None, False

    def within(self, step: Step) -> list[Step]:
        """Return the executions that an agent's span has in it."""
        return [execution for execution in self._tools if execution.within == step.id and execution.trace == step.trace]


class Pairing:
    """Appends messages to a conversation, calls with their results.

    Args:
        conversation: The conversation.
        pool: The executions of its tools.
        name: What makes ids of calls unique.
    """

    def __init__(self, conversation: Conversation, pool: Results, name: str) -> None:
        self._conversation, self._pool, self._name = conversation, pool, name
        self._ids: set[str] = set()

    def add(self, message: Said, results: list[Said], following: Said | None) -> None:
        """Append a message, and a result for each of its calls.

        Args:
            message: The message.
            results: The results that follow it in the history; they are used up.
            following: The message after them; None at the end, where a result that is missing is one that never came.
        """
        conversation, number = self._conversation, len(self._conversation.messages)
        self._append(message)
        if message.role == "tool":
            conversation.notes.append(f"message {number}: a result without a call")
        start, end = message.time if message.span else 0, following.time if following else 0
        for place, call in enumerate(message.calls):
            known = _take(results, call)
            if known and known.call_id and call.id.startswith(_ITEM):
                call.id = known.call_id
            step, sure = self._pool.of(call, start - UNSURE, end)
            if not call.id or call.id in self._ids:
                call.id = f"call_{hashlib.sha256(f'{self._name} {number} {place}'.encode()).hexdigest()[:12]}"
            self._ids.add(call.id)
            result = self._result(call, known, step, sure=sure)
            if result is None and following is None:
                conversation.complete = False
                conversation.notes.append(
                    f"message {number}: no result of {call.name} is recorded, and nothing follows"
                )
                continue
            result = result or Said("tool", missing="result")
            result.call_id, result.name, result.by_user = call.id, call.name, message.role == "user"
            if _hands_over(call, result):
                conversation.handoffs += [
                    *([] if number in conversation.handoffs else [number]),
                    len(conversation.messages),
                ]
            self._append(result)
        for extra in results:
            conversation.notes.append(
                f"message {number}: a result of {extra.name or 'a tool'} without a call is skipped"
            )

    def _append(self, message: Said) -> None:
        self._conversation.messages.append(message)
        self._conversation.spans.append(message.span)

    def _result(self, call: Call, known: Said | None, step: Step | None, *, sure: bool) -> Said | None:
        """Return the result of a call: that of the history, which the model has read, else that of the tool's span."""
        ran = step.call if step is not None else None
        if step is None or ran is None:
            return known
        if known is None or known.text is None:
            known = copy.copy(ran) if ran.text is not None else known
        elif sure and ran.text is not None and decoded(known.text.strip()) != decoded(ran.text.strip()):
            self._conversation.notes.append(
                f"message {len(self._conversation.messages)}: the result of {call.name} differs from its span"
            )
        if known is not None:
            known.error = known.error or ran.error
            known.span, known.time = step.id, step.end or step.start
        return known


def _take(results: list[Said], call: Call) -> Said | None:
    """Remove and return the result of a call: by its id, else the first result without an id of the same kind."""
    result = next((candidate for candidate in results if candidate.call_id and candidate.call_id == call.id), None)
    result = result or next(
        (candidate for candidate in results if not candidate.call_id or not call.id or call.id.startswith(_ITEM)), None
    )
    if result is not None:
        results.remove(result)
    return result


def _hands_over(call: Call, result: Said) -> bool:
    """Return whether a call hands the conversation over to another agent, and is not a call of a tool of the domain."""
    if not call.name.startswith(_HANDOFFS) or _PEOPLE.search(call.name):
        return False
    text = (result.text or "").strip()
    value = decoded(text)
    has_receiver = isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _RECEIVERS
    return call.name == _TO_AGENT or has_receiver or text.lower().startswith(_HANDED_OVER)


def with_calls_of_agents(messages: list[Said], steps: list[Step], pool: Results) -> Iterator[Said]:
    """Yield the messages, with the executions of tools before the answer of an agent whose models say nothing."""
    agents = {step.id: step for step in steps}
    for message in messages:
        step = agents.get(message.span) if message.role == "assistant" and not message.calls else None
        ran = pool.within(step) if step is not None else []
        if not any(other.calls for other in messages):
            for group in _parallel(ran):
                calls = [
                    Call(execution.call.call_id, execution.call.name, execution.arguments or {})
                    for execution in group
                    if execution.call
                ]
                yield Said(
                    "assistant", calls=calls, name=message.name, span=step.id if step else "", time=group[0].start
                )
        yield message


def _parallel(steps: Iterable[Step]) -> list[list[Step]]:
    """Return executions in groups that overlap in time."""
    groups: list[list[Step]] = []
    for step in steps:
        if groups and step.start < max(member.end for member in groups[-1]):
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def _as_json(message: Said, names: dict[str, str]) -> dict[str, Any]:
    if message.role == "tool":
        name = names.get(message.call_id, message.name)
        return {"role": "tool", "id": message.call_id, "name": name, "content": message.text, "error": message.error}
    document: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "assistant" and message.name:
        document["actor"] = message.name
    if message.calls:
        document["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            | ({} if call.malformed is None else {"malformed": call.malformed})
            for call in message.calls
        ]
    return document
