"""Rows behave like frozen dataclasses."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import pytest

from pytest_tau.rows import Row


class Point(Row):
    x: int
    y: int = 0
    label: str = ""


def test_fields_are_given_by_position_or_by_name():
    point = Point(1, label="corner")
    assert (point.x, point.y, point.label) == (1, 0, "corner")
    assert point.values() == {"x": 1, "y": 0, "label": "corner"}
    assert point == Point(x=1, y=0, label="corner")
    assert len({point, Point(1, 0, "corner"), Point(2)}) == 2
    assert repr(point) == "Point(x=1, y=0, label='corner')"
    assert pickle.loads(pickle.dumps(point)) == point


def test_it_is_changed_by_a_copy_only():
    point = Point(1, 2)
    assert point.replaced(y=3) == Point(1, 3)
    assert point == Point(1, 2)
    with pytest.raises(FrozenInstanceError):
        point.y = 3
    with pytest.raises(FrozenInstanceError):
        del point.y


@pytest.mark.parametrize(
    ("values", "named", "problem"),
    [
        ((), {"y": 1}, "Point: missing: x"),
        ((1,), {"x": 2}, "Point: given twice: x"),
        ((1, 2, "", 4), {}, "Point: expected at most 3 values, got 4"),
        ((1,), {"z": 2}, "Point: unknown: z (known: x, y, label)"),
    ],
)
def test_wrong_fields_are_named(values, named, problem):
    with pytest.raises(TypeError) as error:
        Point(*values, **named)
    assert str(error.value) == problem
