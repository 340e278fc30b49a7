"""The material of a review as text: sections between tags, in which no text looks like the end of its section."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...chat import entries_of, entry
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...models import Attribution
    from .case import ReviewCase


def material(case: ReviewCase) -> str:
    """Return everything that a reviewer with a model is given of a conversation."""
    parts = [*_sections(case), ("conversation", "\n".join(_conversation(case)))]
    text = "\n\n".join(f"<{name}>\n{content}\n</{name}>" for name, content in parts if content)
    return f"{text}\n\nGive your review as the JSON object described above."


def _sections(case: ReviewCase) -> Iterator[tuple[str, str]]:
    """Yield the sections before the conversation; those without content are empty."""
    yield "policy", _block(case.policy) if case.policy else ("(not available)" if case.mode == "full" else "")
    yield "agent_tools", _json_lines(_tool(tool) for tool in case.tools)
    yield "user_tools", _json_lines(_tool(tool) for tool in case.user_tools)
    yield "scenario", _block(case.scenario) if case.scenario else "(not available)"
    if case.mode == "user":
        return
    yield "reference_actions", "(none)" if case.actions is None else _json_lines(case.actions) or "(no action)"
    yield "verdict", _verdict(case)
    if case.turning_point:
        yield "turning_point", _block(_at(case.turning_point.message_idx, case.turning_point.text))
    if case.blame:
        yield "blame", _blame(case.blame, case.rules)


def _verdict(case: ReviewCase) -> str:
    if case.verdict is None:
        return "(not graded)"
    factors = ", ".join(f"{name} {value:g}" for name, value in (case.verdict.get("reward_breakdown") or {}).items())
    lines = [f"the task {case.outcome}: reward {case.verdict['reward']:g}" + (f" ({factors})" if factors else "")]
    lines.append(f"the conversation was ended by {case.ended_by}")
    lines += [entry("missed", check) for check in case.verdict["failed_checks"]]
    for difference in case.differences:
        values = [
            f"{name} {_json(difference[name])}" for name in ("expected", "got") if difference.get("missing") != name
        ]
        lines.append(entry(f"differs, {difference['side']}'s database, {difference['path']}", ", ".join(values)))
    return "\n".join(lines)


def _blame(blame: Attribution, rules: Iterable[str]) -> str:
    text = f"{blame.party}: {blame.reason}: {blame.evidence}"
    numbered = [f"rule {number}: {rule}" for number, rule in enumerate(rules, 1)]
    return "\n".join([_block(_at(blame.message_idx, text)), *numbered])


def _at(number: int | None, text: str) -> str:
    return text if number is None else f"[{number}] {text}"


def _conversation(case: ReviewCase) -> Iterator[str]:
    """Yield texts, calls and results, oldest first, each after the number of its message and its label."""
    yield from (
        entry(f"[{number}] {label}", text) for number, message in case.messages for label, text in entries_of([message])
    )


def _block(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _tool(schema: dict[str, Any]) -> dict[str, Any]:
    definition: dict[str, Any] = schema.get("function", schema)
    return definition


def _json_lines(values: Iterable[Any]) -> str:
    return "\n".join(map(_json, values))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
