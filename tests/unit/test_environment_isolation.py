"""Objects of a domain that share state are found, and objects that only differ are not accused."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import random
import time
import uuid
from datetime import UTC, date, datetime

import pytest

import pytest_tau
from pytest_tau.environment.functions import isolation

#: The time of a clock that only the test moves: new objects that are made one after the other have the same time.
MOMENT = [0]
DAY = 24 * 60 * 60


def orders():
    return {"o1": {"status": "open"}}


def cancel(shop, order_id: str) -> None:
    """Cancel an order."""
    shop.orders[order_id]["status"] = "cancelled"


def shop_with(of_orders, **drawn):
    """Return a class whose objects take their orders, and other attributes, from functions."""

    class Shop:
        def __init__(self):
            self.orders = of_orders()
            for name, draw in drawn.items():
                setattr(self, name, draw())

    return Shop


def problem_of(make, tool=cancel, **given):
    """Return what is found after orders were cancelled in two objects, and the time has passed."""
    MOMENT[0] = 0
    domain = pytest_tau.domain_of("shop", tools=[tool], make=make, **{"snapshot": vars} | given).load()
    for _ in range(2):
        environment = domain.environment()
        assert not environment.call(tool.__name__, {"order_id": "o1"}).error
        environment.close()
        MOMENT[0] += DAY
    return domain.isolation_problem()


def of_class():
    class Shop:
        def __init__(self):
            self.number = 1

    Shop.orders = orders()
    return Shop


def of_class_list():
    class Shop:
        log = []

        def __init__(self):
            self.orders = orders()

    return Shop


def log(shop, order_id: str) -> None:
    """Log an order."""
    shop.log.append(order_id)


def of_default_argument():
    class Shop:
        def __init__(self, orders=orders()):
            self.orders = orders

    return Shop


def singleton():
    shop = shop_with(orders)()
    return lambda: shop


def singleton_that_is_reset():
    shop = shop_with(orders)()

    def make():
        shop.orders = orders()
        return shop

    return make


def of_global():
    given = orders()
    return shop_with(lambda: given)


def of_shallow_copy():
    given = orders()
    return shop_with(lambda: dict(given))


def of_cached_loader():
    return shop_with(functools.cache(orders))


SHARING = [
    of_class,
    of_default_argument,
    singleton,
    singleton_that_is_reset,
    of_global,
    of_shallow_copy,
    of_cached_loader,
]
#: What objects take from elsewhere.
DRAWN = {
    "itertools.count": itertools.count().__next__,
    "uuid4": lambda: str(uuid.uuid4()),
    "time": time.time,
    "seconds": lambda: MOMENT[0],
    "datetime.now": lambda: datetime.now(UTC),
    "today": lambda: date.fromordinal(730_000 + MOMENT[0] // DAY),
    "day of the week": lambda: date.fromordinal(730_000 + MOMENT[0] // DAY).strftime("%A"),
    "random": random.random,
    "random of two": lambda: random.choice("ab"),
    "seeded": lambda: random.Random(7).random(),
}


@pytest.mark.parametrize("sharing", SHARING, ids=lambda each: each.__name__)
def test_shared_containers_are_found(sharing) -> None:
    problem = problem_of(sharing())
    assert 'orders/o1/status: in a new one, expected "open", got "cancelled": build new' in problem


def test_a_list_of_the_class_is_found() -> None:
    assert "share Shop.log" in problem_of(of_class_list(), log)


def test_a_state_that_only_the_snapshot_reads_is_found() -> None:
    state = orders()

    def cancel(_shop, order_id: str) -> None:
        """Cancel an order."""
        state[order_id]["status"] = "cancelled"

    problem = problem_of(shop_with(orders), cancel, snapshot=lambda _shop: {"orders": state})
    assert "share orders/o1/status" in problem


def test_a_file_that_tools_write_and_make_reads_is_found(tmp_path) -> None:
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(orders()))

    def cancel(shop, order_id: str) -> None:
        """Cancel an order."""
        shop.orders[order_id]["status"] = "cancelled"
        file.write_text(json.dumps(shop.orders))

    make = shop_with(lambda: json.loads(file.read_text()), made=lambda: MOMENT[0])
    problem = problem_of(make, cancel)
    assert (
        'share orders/o1/status: in a new one, expected "open", got "cancelled": make= reads what a tool has' in problem
    )


def test_a_time_that_both_make_and_tools_take_is_not_shared(monkeypatch) -> None:
    def touch(shop, order_id: str) -> None:
        """Touch an order."""
        MOMENT[0] += 1
        shop.orders[order_id]["touched"] = MOMENT[0]

    MOMENT[0] = 0
    make = shop_with(lambda: {"o1": {"touched": MOMENT[0]}})
    domain = pytest_tau.domain_of("shop", tools=[touch], make=make, snapshot=vars).load()
    environment = domain.environment()
    environment.call("touch", {"order_id": "o1"})
    environment.dump()
    environment.close()
    monkeypatch.setattr(isolation.time, "sleep", lambda _seconds: MOMENT.append(MOMENT.pop() + 1))
    assert domain.isolation_problem() is None


def test_a_domain_waits_for_its_clock_once(monkeypatch) -> None:
    def touch(shop, order_id: str) -> None:
        """Touch all orders."""
        MOMENT[0] += 1
        for order in shop.orders.values():
            order["touched"] = MOMENT[0]

    MOMENT[0] = 0
    make = shop_with(lambda: {f"o{number}": {"touched": MOMENT[0]} for number in range(5)})
    domain = pytest_tau.domain_of("shop", tools=[touch], make=make, snapshot=vars).load()
    waits = []
    monkeypatch.setattr(
        isolation.time, "sleep", lambda seconds: [waits.append(seconds), MOMENT.append(MOMENT.pop() + 1)]
    )
    for _ in range(4):
        environment = domain.environment()
        environment.call("touch", {"order_id": "o1"})
        environment.dump()
        environment.close()
        assert domain.isolation_problem() is None
    assert len(waits) == 1


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("place", ["attribute", "field", "key"])
def test_what_new_objects_draw_is_not_shared(drawn, place) -> None:
    draw = DRAWN[drawn]
    made = {
        "attribute": shop_with(orders, drawn=draw),
        "field": shop_with(lambda: {"o1": {"status": "open", "drawn": draw()}}),
        "key": shop_with(lambda: orders() | {f"o-{draw()}": {"status": "open"}}),
    }
    assert problem_of(made[place]) is None


@pytest.mark.parametrize("drawn", DRAWN)
def test_what_new_objects_draw_does_not_hide_shared_state(drawn) -> None:
    given = orders()
    assert "share orders/o1/status" in problem_of(shop_with(lambda: given, drawn=DRAWN[drawn]))


def test_copies_of_cached_data_are_not_shared() -> None:
    load = functools.cache(orders)
    assert problem_of(shop_with(lambda: copy.deepcopy(load()))) is None


def test_a_list_of_all_objects_is_not_shared() -> None:
    class Shop:
        made = []

        def __init__(self):
            self.orders = orders()
            Shop.made.append(1)
            self.number = len(Shop.made)

    assert problem_of(Shop) is None


def test_one_object_that_no_call_changes_may_be_used_by_all() -> None:
    shop = shop_with(orders)()

    def show(shop, order_id: str) -> str:
        """Show an order."""
        return shop.orders[order_id]["status"]

    assert problem_of(lambda: shop, show) is None
