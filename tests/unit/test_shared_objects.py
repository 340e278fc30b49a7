"""Agents and users that are one object for several trials: which attributes count as remembered."""

from __future__ import annotations

import gc
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.models import Simulation
from pytest_tau.runner.shared_objects import SharedObjects, Uses
from pytest_tau.runs.make_record import make_record
from pytest_tau.runs.record import TrialRecord

if TYPE_CHECKING:
    from collections.abc import Callable


class Foreign:
    """An object whose own code must not be called."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("called")

    def __repr__(self) -> str:
        raise AssertionError("called")

    __hash__ = None  # type: ignore[assignment]


class Words(list[str]):
    """A list whose own code must not be called."""

    def __len__(self) -> int:
        raise AssertionError("called")

    def __iter__(self) -> Any:
        raise AssertionError("called")


class Bot:
    """An agent that does in a trial what a test wants."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    def respond(self, message: Any) -> str:
        return "Hello."


def trials(bot: Any, *changes: Callable[[], object], objects: SharedObjects | None = None) -> list[list[str]]:
    """Return the attributes that were noted at the end of each trial, one after the other."""
    from pytest_tau.participants.base import Adapter

    uses, found = Uses(objects or SharedObjects()), []
    for change in changes:
        adapter = Adapter.__new__(Adapter)
        adapter._target = bot
        uses.begin("agent", "mine.py:bot", adapter)
        change()
        simulation = Simulation(id="s", task_id="t", termination_reason="user_stop")
        uses.end(simulation)
        found.append(simulation.shared_objects.get("agent", {}).get("attributes", []))
    return found


def nothing() -> None:
    """Change nothing."""


@pytest.mark.parametrize(
    ("value", "grow"),
    [
        ([], lambda value: value.append("B1")),
        ({}, lambda value: value.update(id="B1")),
        (set(), lambda value: value.add("B1")),
        (deque(), lambda value: value.append("B1")),
        (bytearray(), lambda value: value.extend(b"B1")),
        (Words(), lambda value: value.append("B1")),
        ({"messages": []}, lambda value: value["messages"].append("B1") or value.update(more=1)),
    ],
)
def test_a_container_that_has_grown_is_remembered_in_the_next_trial(value: Any, grow: Any) -> None:
    bot = Bot(history=value)
    assert trials(bot, lambda: grow(value), nothing) == [[], ["history"]]


def test_an_attribute_that_changes_in_several_trials_is_remembered() -> None:
    bot = Bot(turn=0, name="a")
    assert trials(bot, *[lambda: setattr(bot, "turn", bot.turn + 1)] * 3) == [[], ["turn"], ["turn"]]
    nested: dict[str, list[str]] = {"messages": []}
    bot = Bot(state=nested)
    assert trials(bot, *[lambda: nested["messages"].append("x")] * 2) == [[], ["state"]]


def test_an_attribute_that_is_set_once_is_a_client_made_at_its_first_use() -> None:
    bot = Bot(client=None)
    assert trials(bot, lambda: setattr(bot, "client", Foreign()), nothing, nothing) == [[], [], []]
    assert trials(bot := Bot(), nothing, lambda: setattr(bot, "tools", [1, 2]), nothing) == [[], [], []]


def test_an_object_that_only_has_a_client_and_settings_is_not_noted() -> None:
    bot = Bot(client=Foreign(), settings={"a": Foreign()}, names=["a"], rate=float("nan"))
    assert trials(bot, nothing, nothing, nothing) == [[], [], []]


def test_a_replaced_object_is_noted_without_a_call_of_its_code() -> None:
    bot = Bot(last=Foreign())
    assert trials(bot, *[lambda: setattr(bot, "last", Foreign())] * 2) == [[], ["last"]]


def test_the_place_at_which_a_generator_waits_is_remembered() -> None:
    def talk() -> Any:
        yield "Hello."
        yield from ["Which?", "Done."]

    bot = Bot(conversation=talk())
    assert trials(bot, *[lambda: next(bot.conversation)] * 2) == [[], ["conversation"]]


def test_attributes_in_slots_are_compared() -> None:
    class Slim:
        __slots__ = ("history", "unset")

        def __init__(self) -> None:
            self.history: list[str] = []

    bot = Slim()
    assert trials(bot, *[lambda: bot.history.append("x")] * 2) == [[], ["history"]]


def test_what_is_set_back_before_a_trial_is_not_remembered() -> None:
    """As by ``get_init_state`` or ``close``."""
    bot, objects, found = Bot(history=[], seed=1), SharedObjects(), []
    for seed in range(1000, 1003):
        bot.history, bot.seed = [], seed  # type: ignore[attr-defined]
        found += trials(bot, lambda: bot.history.append("x"), objects=objects)  # type: ignore[attr-defined]
    assert found == [[], [], []]


def test_what_is_set_back_is_mixed_by_trials_at_the_same_time() -> None:
    from pytest_tau.participants.base import Adapter

    bot, objects = Bot(history=[]), SharedObjects()
    adapter = Adapter.__new__(Adapter)
    adapter._target = bot
    one, two = Uses(objects), Uses(objects)
    one.begin("user", "Bot", adapter)
    two.begin("user", "Bot", adapter)
    bot.history.append("x")  # type: ignore[attr-defined]
    for uses in (one, two):
        simulation = Simulation(id="s", task_id="t", termination_reason="user_stop")
        uses.end(simulation)
        assert simulation.shared_objects == {"user": {"name": "Bot", "attributes": ["history"]}}
        record = make_record(simulation, None, "mock")
        assert TrialRecord.from_dict(record.as_dict()).shared_objects == simulation.shared_objects


def test_new_objects_are_not_kept_alive_and_not_taken_for_each_other() -> None:
    objects = SharedObjects()
    for _ in range(3):
        bot = Bot(history=[])
        assert trials(bot, lambda bot=bot: bot.history.append("x"), objects=objects) == [[]]  # type: ignore[misc]
        del bot
    gc.collect()
    assert objects._found == {}


@pytest.mark.parametrize("entry", [None, 5, [], {"agent": 5}, {"agent": {}}, {"agent": {"name": 5, "attributes": []}}])
def test_foreign_content_is_tolerated(entry: Any) -> None:
    info = {"shared_objects": entry}
    simulation = Simulation(id="s", task_id="t", termination_reason="user_stop", info=info)
    assert simulation.shared_objects == {}
