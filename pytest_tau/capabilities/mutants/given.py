"""Faults in what an agent is given: the policy, and the tools with their descriptions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...policy.editions import sentences_of
from .mutant import GIVEN, Mutant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...environment import Tool
    from ...participants import ParticipantContext

_NUMBER = re.compile(r"(?<![\w.#-])\d+(?![\w-])")
#: Shorter sentences are headings and marks of lists.
_WORDS = 3


def changed_context(context: ParticipantContext, mutants: Iterable[Mutant]) -> ParticipantContext:
    """Return what an agent is given, with the faults of some mutants."""
    policy, tools = context.instructions, list(context.tools)
    for mutant in mutants:
        if mutant.kind in ("sentence-dropped", "sentence-changed"):
            policy = policy.replace(mutant.detail, mutant.new, 1)
        elif mutant.kind == "descriptions-swapped":
            texts = {tool.name: tool.description for tool in tools}
            other = {mutant.tool: mutant.detail, mutant.detail: mutant.tool}
            tools = [tool._replace(description=texts.get(other.get(tool.name, ""), tool.description)) for tool in tools]
        elif mutant.kind == "tool-gone":
            tools = [tool for tool in tools if tool.name != mutant.tool]
    return replace(context, instructions=policy, tools=tools)


def given_mutants(policy: str, tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield the mutants of a policy and of the descriptions of tools: each sentence, and each pair of similar tools."""
    choices = _choices(tools)
    for sentence in dict.fromkeys(sentences_of(policy)):
        if len(sentence.split()) < _WORDS or sentence not in policy:
            continue
        yield Mutant("sentence-dropped", detail=sentence)
        if number := _NUMBER.search(sentence):
            new = f"{sentence[: number.start()]}{int(number[0]) + 1}{sentence[number.end() :]}"
            yield Mutant("sentence-changed", detail=sentence, new=new)
        for value, other in choices.items():
            if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", sentence):
                yield Mutant("sentence-changed", detail=sentence, new=sentence.replace(value, other, 1))
                break
    yield from (Mutant("descriptions-swapped", one, other) for one, other in _similar(tools))


def _choices(tools: Sequence[Tool]) -> dict[str, str]:
    """Return each value of a closed choice of a tool with the next one of that choice."""
    found: dict[str, str] = {}
    for values in (values for tool in tools for values in _enums(tool.parameters)):
        for value, other in zip(values, [*values[1:], values[0]], strict=True):
            found.setdefault(value, other)
    return found


def _enums(schema: Any) -> Iterator[list[str]]:
    if isinstance(schema, dict):
        values = schema.get("enum")
        if isinstance(values, list) and len(values) > 1 and all(isinstance(value, str) for value in values):
            yield values
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _enums(part)


def _similar(tools: Sequence[Tool]) -> Iterator[tuple[str, str]]:
    """Yield pairs of tools, each tool with the next one in the order of their parameters' and their own names."""

    def key(tool: Tool) -> tuple[str, ...]:
        properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
        return (tool.kind, *sorted(properties), tool.name)

    names = [tool.name for tool in sorted(tools, key=key)]
    yield from zip(names[::2], names[1::2], strict=False)


def is_given(mutant: Mutant) -> bool:
    """Return whether a mutant changes only what the agent is given."""
    return mutant.kind in GIVEN
