from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given, strategies as st

from pytest_tau.runner import item_id, select, trial_seeds, unmatched

from .tiny import task

if TYPE_CHECKING:
    from pytest_tau.models import Task


# Seeds


def test_seeds_are_the_reference_s() -> None:
    assert trial_seeds(300, 4) == [626729, 373753, 361454, 1567]


@given(st.integers(), st.integers(0, 8), st.integers(0, 8))
def test_more_trials_keep_the_seeds_of_fewer(seed: int, few: int, more: int) -> None:
    seeds = trial_seeds(seed, few + more)
    assert seeds[:few] == trial_seeds(seed, few)
    assert all(0 <= value <= 1_000_000 for value in seeds)


def test_seeds_come_from_no_global_state() -> None:
    import random

    random.seed(1)
    state = random.getstate()
    trial_seeds(300, 4)
    assert random.getstate() == state


# Item ids


@pytest.mark.parametrize("task_id", ["0", "return-two-items", "a.b_c+d-e", "x" * 60, "create_task_1"])
def test_a_short_safe_id_is_kept(task_id: str) -> None:
    assert item_id(task_id) == task_id


@pytest.mark.parametrize(
    ("task_id", "made"),
    [
        (
            "[lost_luggage]first_leg_cancelled|bag_tag_illegible[TEMPER:Hot]",
            "lost_luggage-first_leg_cancelled-bag_tag_illegible-",
        ),
        ("two words", "two-words-"),
        ("x" * 61, "x" * 51 + "-"),
        ("a/b::c", "a-b-c-"),
        ("--.--x y", "x-y-"),
    ],
)
def test_another_id_becomes_a_slug_and_eight_hex_digits_of_its_hash(task_id: str, made: str) -> None:
    found = item_id(task_id)
    slug, _, digest = found.rpartition("-")
    assert re.fullmatch(r"[0-9a-f]{8}", digest)
    assert digest == hashlib.sha256(task_id.encode()).hexdigest()[:8]
    assert f"{slug}-" == made


@pytest.mark.parametrize("task_id", ["", "::", "♥", "[]|"])
def test_an_id_without_safe_characters_is_its_hash(task_id: str) -> None:
    assert re.fullmatch(r"[0-9a-f]{8}", item_id(task_id))


@given(st.text())
@example("x\n")
@example("é" * 70)
def test_item_ids_are_safe_short_and_stable(task_id: str) -> None:
    found = item_id(task_id)
    assert 0 < len(found) <= 60
    assert all(each in "_.+-" or unicodedata.category(each)[0] in "LMN" for each in found)
    assert found == item_id(task_id)
    assert item_id(found) == found


@given(st.text(), st.text())
def test_item_ids_of_different_tasks_differ(one: str, two: str) -> None:
    assume(one != two)
    assert item_id(one) != item_id(two)


@given(st.text(alphabet="ab[]|: ", min_size=55, max_size=70), st.text(alphabet="ab[]|: ", max_size=5))
def test_item_ids_of_long_similar_tasks_differ(stem: str, end: str) -> None:
    assume(end)
    assert item_id(stem + end) != item_id(stem)


# Selection


def tasks(*ids: str) -> list[Task]:
    return [task(task_id=name) for name in ids]


TELECOM = "[mms_issue]airplane_mode_on|bad_vpn[PERSONA:None]"
TASKS = tasks("refund-1", "refund-2", "Refund-3", TELECOM, "10", "1")


def chosen(*patterns: str, num_tasks: int | None = None) -> list[str]:
    return [found.id for found in select(TASKS, patterns, num_tasks)]


@pytest.mark.parametrize(
    ("patterns", "ids"),
    [
        ((), ["refund-1", "refund-2", "Refund-3", TELECOM, "10", "1"]),
        (("refund-*",), ["refund-1", "refund-2"]),
        (("?efund-?",), ["refund-1", "refund-2", "Refund-3"]),
        (("1",), ["1"]),
        (("1*",), ["10", "1"]),
        (("refund-2", "refund-1"), ["refund-1", "refund-2"]),
        ((TELECOM,), [TELECOM]),
        (("[mms_issue]*",), [TELECOM]),
        (("*[PERSONA:None]",), [TELECOM]),
        (("*bad_vpn*",), [TELECOM]),
        ((item_id(TELECOM),), [TELECOM]),
        (("mms_issue-*",), [TELECOM]),
        (("refund",), []),
        (("*", "refund-1"), ["refund-1", "refund-2", "Refund-3", TELECOM, "10", "1"]),
    ],
)
def test_tasks_are_selected_by_id_item_id_or_glob_in_their_order(patterns: tuple[str, ...], ids: list[str]) -> None:
    assert chosen(*patterns) == ids


def test_at_most_so_many(domain: object) -> None:
    assert chosen(num_tasks=2) == ["refund-1", "refund-2"]
    assert chosen("*-*", num_tasks=3) == ["refund-1", "refund-2", "Refund-3"]
    assert chosen(num_tasks=0) == []
    assert chosen(num_tasks=99) == chosen()


def test_patterns_without_a_match_are_reported() -> None:
    assert unmatched(TASKS, ["refund-*", "refnd", "[mms_issue]*", "2"]) == ["refnd", "2"]
    assert unmatched(TASKS, []) == []


def test_any_iterable_of_patterns_will_do() -> None:
    assert [found.id for found in select(TASKS, iter(["1", "10"]))] == ["10", "1"]
