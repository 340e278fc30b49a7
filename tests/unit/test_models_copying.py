from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, PrivateAttr

from pytest_tau.models import AssistantMessage, Simulation, ToolCall, ToolMessage, UserMessage, clone, json_copy


class Pair(NamedTuple):
    one: list[int]
    two: str


class Odd(BaseModel):
    model_config = ConfigDict(extra="allow")

    values: tuple[list[int], ...] = ()
    _seen: list[int] = PrivateAttr(default_factory=list)


class Equal(str):
    """Equals everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__

    def __str__(self) -> str:
        return self


class Number(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Fraction(float):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = float.__hash__


def test_a_message_is_copied_with_its_calls_and_their_arguments() -> None:
    message = AssistantMessage(tool_calls=[ToolCall(name="look", arguments={"ids": ["a"]})], usage={"tokens": [1]})
    copy = clone(message)
    assert copy == message
    assert copy.model_fields_set == message.model_fields_set
    assert copy.model_dump() == message.model_dump()
    copy.tool_calls[0].arguments["ids"].append("b")  # type: ignore[index]
    copy.usage["tokens"].append(2)  # type: ignore[index]
    copy.content = "Hi"
    assert message.tool_calls[0].arguments == {"ids": ["a"]}  # type: ignore[index]
    assert message.usage == {"tokens": [1]}
    assert "content" not in message.model_fields_set


def test_tuples_extra_and_private_values_are_copied() -> None:
    pair, odd = Pair([1], "a"), Odd(values=([1],), more=[2])
    odd._seen.append(3)
    same, copy = clone(pair), clone(odd)
    assert isinstance(same, Pair) and same == pair and same.one is not pair.one
    assert copy == odd
    copy.values[0].append(0)
    copy.more.append(0)  # type: ignore[attr-defined]
    copy._seen.append(0)
    assert (odd.values, odd.more, odd._seen) == (([1],), [2], [3])  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Box:
    names: list[str]
    more: dict[str, set[str]] = field(default_factory=dict)


def test_containers_of_all_kinds_and_dataclasses_are_copied() -> None:
    counts = defaultdict(list, a=[1])
    values: list[Any] = [{"a"}, bytearray(b"a"), deque([[1]], maxlen=2), counts, OrderedDict(a=[1]), Counter("aab")]
    values += [Box(["a"], {"b": {"c"}})]
    for value in values:
        copy = clone({"value": [value]})["value"][0]
        assert copy == value
        assert type(copy) is type(value)
        assert copy is not value
    copied = clone(values)
    copied[2][0].append(2)
    copied[3]["a"].append(2)
    copied[3]["new"].append(1)
    copied[4]["a"].append(2)
    copied[6].names.append("b")
    copied[6].more["b"].add("d")
    assert copied[2].maxlen == 2
    assert values[2:5] == [deque([[1]]), {"a": [1]}, OrderedDict(a=[1])]
    assert values[6] == Box(["a"], {"b": {"c"}})


def test_what_cannot_change_is_shared() -> None:
    for value in ("a", 1, 1.5, None, True, date(2025, 1, 2), Equal("a")):
        assert clone(value) is value


def test_a_json_copy_consists_of_plain_values() -> None:
    odd: Any = {Equal("key"): [Equal("value"), Number(3), Fraction(0.5), True, None]}
    copy = json_copy(odd)
    ((key, values),) = copy.items()
    assert [type(each) for each in (key, *values)] == [str, str, int, float, bool, type(None)]
    assert copy == {"key": ["value", 3, 0.5, True, None]}


def test_a_dump_without_unset_fields_can_be_read_back() -> None:
    messages: list[Any] = [
        AssistantMessage(content="Hi"),
        UserMessage(content="Look."),
        AssistantMessage(tool_calls=[ToolCall(name="look")]),
        ToolMessage(content="a lamp"),
        UserMessage.model_construct(content="###STOP###"),
    ]
    simulation = Simulation(id="s", task_id="t", termination_reason="user_stop", messages=messages)
    dump = simulation.model_dump(exclude_unset=True)
    assert [each["role"] for each in dump["messages"]] == ["assistant", "user", "assistant", "tool", "user"]
    assert "cost" not in dump["messages"][0]
    assert Simulation.model_validate(dump) == simulation
    assert Simulation.model_validate_json(simulation.model_dump_json(exclude_unset=True)) == simulation


def test_types_of_which_nothing_is_known_are_returned_as_they_are() -> None:
    class Own:
        pass

    one, many = Own(), [Own() for _ in range(3)]
    assert clone(one) is one
    assert clone({"a": (one, [many])}) == {"a": (one, [many])}
    assert clone(many) is not many
