"""What names of tools, arguments and fields say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_tau.language.names import (
    is_name_of_amount,
    is_name_of_cost,
    is_name_of_handover,
    is_name_of_personal_data,
    labels_of,
    name_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("name", ["orderId", "order_id", "order-id", "OrderId"])
def test_words_of_a_name(name: str) -> None:
    assert name_words(name) == ["order", "id"]


@pytest.mark.parametrize(
    ("is_of_kind", "names", "others"),
    [
        (is_name_of_handover, ("escalate_to_human", "HandOff", "hand_over"), ("transfer_money", "handle_order")),
        (is_name_of_amount, ("total_price", "amount", "points_balance"), ("passengers", "total_baggages")),
        (
            is_name_of_cost,
            ("amount", "paid_amount", "late_fee", "total_price"),
            ("points", "amount_of_bags", "unit_price"),
        ),
        (
            is_name_of_personal_data,
            ("email", "order_id", "full_name", "name", "address1"),
            ("product_name", "item_id", "status"),
        ),
    ],
)
def test_kinds_of_names(is_of_kind: Callable[[str], bool], names: tuple[str, ...], others: tuple[str, ...]) -> None:
    assert [name for name in (*names, *others) if is_of_kind(name)] == [*names]


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("date_of_birth", ["date of birth", "date_of_birth", "dob"]),
        ("phone_number", ["phone number", "phone_number", "pn", "phone"]),
        ("email", ["email"]),
    ],
)
def test_labels_of_a_field(name: str, labels: list[str]) -> None:
    assert labels_of(name) == labels
