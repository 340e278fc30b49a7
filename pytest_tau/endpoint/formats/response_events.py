"""OpenAI's Responses as events of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .events import cut, event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def stream(whole: Mapping[str, Any]) -> list[bytes]:
    """Return the events of an answer, which is given as a ``response`` object."""
    started = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": started},
        {"type": "response.in_progress", "response": started},
    ]
    for index, item in enumerate(whole["output"]):
        events += [{**each, "output_index": index} for each in _item_events(item)]
    events.append({"type": f"response.{whole['status']}", "response": whole})
    return [event({**each, "sequence_number": number}, each["type"]) for number, each in enumerate(events)]


def _item_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    kind = item["type"]
    inside = {"message": _message_events, "function_call": _call_events, "reasoning": _reasoning_events}[kind]
    empty: dict[str, Any] = {"content": []} if kind == "message" else {"summary": []}
    if kind == "function_call":
        empty = {"arguments": ""}
    yield {"type": "response.output_item.added", "item": {**item, "status": "in_progress", **empty}}
    for each in inside(item):
        yield {**each, "item_id": item["id"]}
    yield {"type": "response.output_item.done", "item": item}


def _message_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for index, part in enumerate(item["content"]):
        name = "text" if part["type"] == "output_text" else "refusal"
        kind, place = f"response.{part['type']}", {"content_index": index}
        probabilities: dict[str, Any] = {"logprobs": []} if name == "text" else {}
        yield {"type": "response.content_part.added", "part": {**part, name: ""}, **place}
        for piece in cut(part[name]):
            yield {"type": f"{kind}.delta", "delta": piece, **probabilities, **place}
        yield {"type": f"{kind}.done", name: part[name], **probabilities, **place}
        yield {"type": "response.content_part.done", "part": part, **place}


def _call_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for piece in cut(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", "delta": piece}
    done = {"arguments": item["arguments"], "name": item["name"]}
    yield {"type": "response.function_call_arguments.done", **done}


def _reasoning_events(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for index, part in enumerate(item["summary"]):
        place = {"summary_index": index}
        yield {"type": "response.reasoning_summary_part.added", "part": {**part, "text": ""}, **place}
        for piece in cut(part["text"]):
            yield {"type": "response.reasoning_summary_text.delta", "delta": piece, **place}
        yield {"type": "response.reasoning_summary_text.done", "text": part["text"], **place}
        yield {"type": "response.reasoning_summary_part.done", "part": part, **place}
