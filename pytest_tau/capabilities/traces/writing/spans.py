"""A trial as spans, with OpenTelemetry's conventions for generative AI (version 1.37, opt-in ``gen_ai_latest``).

The same trial has the same ids in every export.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from ....environment import is_error
from ....evaluation import components_of
from ....models import AssistantMessage, UserMessage, calls_in
from ....plain import json
from ..facts import stored_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ....models import Call, Message, Simulation

#: Kinds of spans in OTLP.
INTERNAL, CLIENT = 1, 3
#: The key of the facts for the id of the trace that a trial was sent as; ``root`` is the id of its root.
SENT: Final = "sent"
_OPENINFERENCE = {"invoke_workflow": "CHAIN", "invoke_agent": "AGENT", "chat": "LLM", "execute_tool": "TOOL"}
_KINDS: Final = {"chat": CLIENT}
#: Tokens of a message's usage, by the names that providers give them.
_TOKENS: Final = {
    "gen_ai.usage.input_tokens": ("prompt_tokens", "input_tokens"),
    "gen_ai.usage.output_tokens": ("completion_tokens", "output_tokens"),
}


@dataclass
class Span:
    """A span.

    Attributes:
        id: 16 hexadecimal digits.
        parent: Likewise; empty for the root.
        name: Its name.
        kind: Its kind, as OTLP numbers them.
        start: Nanoseconds since 1970.
        end: Likewise; not before the start.
        attributes: Texts, numbers, bools and lists of texts; None is omitted.
        events: Time, name and attributes of each.
        error: What went wrong; empty if nothing did.
    """

    id: str
    parent: str
    name: str
    kind: int
    start: int
    end: int
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    error: str = ""


def trace_id_of(run: str, simulation: Simulation) -> str:
    """Return the id of a trial's trace: the one that it was run with, else one made of the names."""
    known = stored_facts(simulation).get(SENT)
    return str(known) if known else _hash(f"{run}\0{simulation.id}", 32)


def spans_of(simulation: Simulation, run: str, domain: str, test: str) -> list[Span]:
    """Return the spans of a trial, the root first.

    Args:
        simulation: The trial.
        run: The name of its run.
        domain: The name of its domain; empty if it is not known.
        test: The node id of its test; empty if there is none.
    """
    return _Trace(simulation, run, domain, test).spans


class _Trace:
    def __init__(self, simulation: Simulation, run: str, domain: str, test: str) -> None:
        self._simulation = simulation
        self._times, estimated = _times(simulation)
        conversation = f"{run}/{simulation.task_id}/{simulation.trial}" if run else simulation.id
        self._session = {"gen_ai.conversation.id": conversation, "session.id": conversation}
        self._agent = simulation.agent_name or "agent"
        self._calls: dict[tuple[int, int], Call] = {}
        for call in calls_in(simulation.messages):
            place = sum(position == call.message_idx for position, _ in self._calls)
            self._calls[call.message_idx, place] = call
        self.spans: list[Span] = []
        workflow = f"{domain}::{simulation.task_id}" if domain else simulation.task_id
        self._root = self._add(
            "root",
            "",
            ("invoke_workflow", workflow),
            (self._times[0], self._times[-1]),
            {
                "gen_ai.workflow.name": workflow,
                "pytest_tau.run": run,
                "pytest_tau.domain": domain or None,
                "pytest_tau.task.id": simulation.task_id,
                "pytest_tau.trial": simulation.trial,
                "pytest_tau.seed": simulation.seed,
                "pytest_tau.test": test or None,
                "pytest_tau.simulation": simulation.id,
                "pytest_tau.outcome": simulation.outcome,
                "pytest_tau.reward": simulation.reward_info.reward if simulation.reward_info else None,
                "pytest_tau.termination_reason": simulation.termination_reason,
                "pytest_tau.times": "estimated" if estimated else None,
                # All of it once: what the user called and said last is in no turn of the agent.
                "gen_ai.input.messages": _as_json([_message(m) for m in simulation.messages[:-1]]),
                "gen_ai.output.messages": _as_json([_message(m) for m in simulation.messages[-1:]]),
            },
            error=(simulation.error or simulation.termination_reason) if simulation.outcome == "error" else "",
        )
        self._root.events = [
            (self._times[-1], "gen_ai.evaluation.result", evaluation) for evaluation in _evaluations(simulation)
        ]
        for number, (begin, end) in enumerate(_turns(simulation.messages)):
            self._add_turn(number, begin, end)

    def _add(
        self,
        key: str,
        parent: str,
        operation_and_name: tuple[str, str],
        times: tuple[int, int],
        attributes: Mapping[str, Any],
        error: str = "",
    ) -> Span:
        (operation, name), (start, end) = operation_and_name, times
        known = {
            "gen_ai.operation.name": operation,
            **self._session,
            **attributes,
            "openinference.span.kind": _OPENINFERENCE[operation],
        }
        sent = stored_facts(self._simulation) if key == "root" else {}
        span = Span(
            sent.get("root") or _hash(f"{self._simulation.id}\0{key}", 16),
            parent,
            f"{operation} {name}".strip(),
            _KINDS.get(operation, INTERNAL),
            start,
            max(start, end),
            {name: value for name, value in known.items() if value is not None},
            error=error,
        )
        self.spans.append(span)
        return span

    def _add_turn(self, number: int, begin: int, end: int) -> None:
        """Add the span of a turn of the agent: what reached it since its last answer, its calls, and its answer."""
        messages = self._simulation.messages
        first = next((n for n in range(max(begin, 1), end) if messages[n].role == "assistant"), end)
        heard, agent_messages = messages[begin:first], messages[first:end]
        answer = [m for m in agent_messages if m.role == "assistant" and not m.tool_calls]
        heard_text, said_text = _last_text(heard), _last_text(answer)
        turn = self._add(
            f"turn/{number}",
            self._root.id,
            ("invoke_agent", self._agent),
            (self._times[begin], self._times[end]),
            {
                "gen_ai.agent.name": self._agent,
                "gen_ai.input.messages": _as_json([_message(m) for m in heard]),
                "gen_ai.output.messages": _as_json([_message(m) for m in answer]),
                "pytest_tau.message": number,
                "pytest_tau.history": "delta",
                "input.value": heard_text,
                "output.value": said_text,
            },
        )
        for position in range(begin, end):
            message = messages[position]
            if not isinstance(message, AssistantMessage | UserMessage):
                continue
            by_user = message.role == "user"
            parent = self._root.id if by_user else turn.id
            if message.usage or message.cost is not None or message.generation_time_seconds is not None:
                self._add_chat(position, parent, by_user=by_user)
            for place in range(len(message.tool_calls or ())):
                self._add_call(position, place, self._calls[position, place], parent, by_user=by_user)

    def _add_chat(self, position: int, parent: str, *, by_user: bool) -> None:
        message: Any = self._simulation.messages[position]
        of_side = self._simulation.model_usage.get("user" if by_user else "agent")
        model = of_side.model if of_side else ""
        usage = message.usage or {}
        tokens = {name: next((usage[k] for k in keys if k in usage), None) for name, keys in _TOKENS.items()}
        seen = [m for m in self._simulation.messages[:position] if _is_seen(m, "user" if by_user else "assistant")]
        seconds = message.generation_time_seconds or 0.0
        end = self._times[position + 1]
        self._add(
            f"message/{position}",
            parent,
            ("chat", model),
            (max(self._times[position], end - int(seconds * 1e9)), end),
            {
                "gen_ai.request.model": model or None,
                "gen_ai.agent.name": None if by_user else message.actor,
                "gen_ai.provider.name": model.partition("/")[0] if "/" in model else None,
                "gen_ai.response.finish_reasons": [message.finish_reason] if message.finish_reason else None,
                **tokens,
                "llm.token_count.prompt": tokens["gen_ai.usage.input_tokens"],
                "llm.token_count.completion": tokens["gen_ai.usage.output_tokens"],
                "llm.model_name": model or None,
                "pytest_tau.cost": message.cost,
                "llm.cost.total": message.cost,
                "pytest_tau.role": "user" if by_user else None,
                "gen_ai.input.messages": _as_json([_message(m) for m in seen]),
                "gen_ai.output.messages": _as_json([{**_message(message), "finish_reason": message.finish_reason}]),
            },
        )

    def _add_call(self, position: int, place: int, made: Call, parent: str, *, by_user: bool) -> None:
        call, result = made.call, made.result
        number = len(getattr(self._simulation.messages[position], "tool_calls", None) or ())
        text = result.content if result else None
        failed = result is not None and is_error(result)
        arguments = call.malformed if call.malformed is not None else _as_json(call.arguments)
        self._add(
            f"call/{position}/{place}",
            parent,
            ("execute_tool", call.name),
            (self._times[position + 1], self._times[min(position + 1 + number, len(self._times) - 1)]),
            {
                "gen_ai.tool.name": call.name,
                "gen_ai.tool.type": "function",
                "gen_ai.agent.name": getattr(self._simulation.messages[position], "actor", None),
                "gen_ai.tool.call.id": call.id or None,
                "gen_ai.tool.call.arguments": arguments,
                "gen_ai.tool.call.result": text,
                "tool.name": call.name,
                "input.value": arguments,
                "output.value": text,
                "error.type": "tool_error" if failed else None,
                "pytest_tau.role": "user" if by_user else None,
                "pytest_tau.malformed": True if call.malformed is not None else None,
                "pytest_tau.fault": result.fault if result else None,
            },
            error=(text or "") if failed else "",
        )


def _turns(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Yield the positions between which each turn is: from what reached the agent to its answer, the greeting aside."""
    begin = 0
    for position, message in enumerate(messages):
        if message.role == "assistant" and position and not message.tool_calls:
            yield begin, position + 1
            begin = position + 1
    if begin < len(messages):
        yield begin, len(messages)


def _times(simulation: Simulation) -> tuple[list[int], bool]:
    """Return the time at which each message was begun, and the end, in nanoseconds; and whether any is estimated."""
    start, last = _nanoseconds(simulation.start_time), _nanoseconds(simulation.end_time)
    known = [_nanoseconds(m.timestamp) for m in simulation.messages]
    estimated = not start or not all(known)
    now = start or next(filter(None, known), 0) or 1
    times = [now]
    for time, message in zip(known, simulation.messages, strict=True):
        seconds = getattr(message, "generation_time_seconds", None) or 0.0
        now = max(now, time or now + int(seconds * 1e9))
        times.append(now)
    times[-1] = max(times[-1], last or 0)
    return times, estimated


def _nanoseconds(text: str | None) -> int:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return 0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = int(moment.replace(microsecond=0).timestamp())
    return seconds * 1_000_000_000 + moment.microsecond * 1000


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": message.id, "response": message.content}],
        }
    parts: list[dict[str, Any]] = [{"type": "text", "content": message.content}] if message.content else []
    for call in getattr(message, "tool_calls", None) or ():
        arguments = call.arguments if call.malformed is None else call.malformed
        part = {"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments}
        parts.append(part | ({"requestor": "user"} if call.requestor == "user" else {}))
    actor = {"name": message.actor} if isinstance(message, AssistantMessage) and message.actor else {}
    return {"role": message.role, **actor, "parts": parts}


def _is_seen(message: Message, side: str) -> bool:
    """Return whether a side gets a message: all texts, and its own calls and results."""
    if message.role == "tool":
        return message.requestor == side
    return not getattr(message, "tool_calls", None) or message.role == side


def _last_text(messages: Sequence[Message]) -> str | None:
    return next((m.content for m in reversed(messages) if m.role in ("user", "assistant") and m.content), None)


def _evaluations(simulation: Simulation) -> Iterator[dict[str, Any]]:
    """Yield the attributes of each result: the verdict, and each component of the reward."""
    reward_info = simulation.reward_info
    if reward_info is None:
        return
    failed = {component.name: [*component.failed_checks(reward_info)] for component in components_of(reward_info)}
    missed = [
        check
        for component in components_of(reward_info)
        if component.gates(reward_info)
        for check in failed[component.name]
    ]
    values = {"reward": reward_info.reward, **(reward_info.reward_breakdown or {})}
    for name, value in values.items():
        checks = "; ".join(missed if name == "reward" else failed.get(name, []))
        evaluation = {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": float(value),
            "gen_ai.evaluation.score.label": "pass" if value >= 1 else "fail",
            "gen_ai.evaluation.explanation": checks or None,
        }
        yield {key: part for key, part in evaluation.items() if part is not None}


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _hash(text: str, digits: int) -> str:
    """Return hexadecimal digits that are not all zero, which no id may be."""
    hexdigest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:digits]
    return hexdigest if hexdigest.strip("0") else _hash(f"{text}\0", digits)
