"""Faults in what an agent is given: the policy, and the tools with their descriptions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...environment import number_word
from ...language import has_word
from ...policy import policy_sentences
from ...references import choices_in
from .mutant import GIVEN, Mutant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...environment import Tool
    from ...participants import ParticipantContext

#: Numbers that are written as words; "one" is mostly none, and what follows the last one is not known.
_WORDS_OF_NUMBERS = [number_word(number) for number in range(2, 11)]
_NUMBER = re.compile(rf"(?<![\w.#-])(?:\d+|{'|'.join(_WORDS_OF_NUMBERS[:-1])})(?![\w-])")
#: Sentences of fewer words are marks of lists and cells of tables.
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
    for sentence in dict.fromkeys(sentence.text for sentence in policy_sentences(policy)):
        if len(sentence.split()) < _WORDS:
            continue
        yield Mutant("sentence-dropped", detail=sentence)
        for number in _NUMBER.finditer(sentence):
            new = f"{sentence[: number.start()]}{_next_number(number[0])}{sentence[number.end() :]}"
            yield Mutant("sentence-changed", detail=sentence, new=new)
        for value, other in choices.items():
            if has_word(sentence, value):
                yield Mutant("sentence-changed", detail=sentence, new=sentence.replace(value, other, 1))
                break
    yield from (Mutant("descriptions-swapped", first, second) for first, second in _similar(tools))


def _next_number(number: str) -> str:
    return str(int(number) + 1) if number.isdecimal() else _WORDS_OF_NUMBERS[_WORDS_OF_NUMBERS.index(number) + 1]


def _choices(tools: Sequence[Tool]) -> dict[str, str]:
    """Return each text of a closed choice of a tool with the next one of that choice."""
    next_values: dict[str, str] = {}
    for tool in tools:
        by_path: dict[str, list[str]] = {}
        for path, value in choices_in(tool.parameters):
            by_path.setdefault(path, []).extend([value] if isinstance(value, str) else [])
        for values in by_path.values():
            for value, other in zip(values, [*values[1:], *values[:1]], strict=True):
                if value != other:
                    next_values.setdefault(value, other)
    return next_values


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
