"""Tools that exist already begin each trial with the same state, or their domain is refused."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import uuid
from datetime import date

import pytest

import pytest_tau
from pytest_tau.errors import DomainError

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
    """Return what is found in a new object after an order was cancelled in another one, and the time has passed."""
    MOMENT[0] = 0
    domain = pytest_tau.domain_of("shop", tools=[tool], make=make, **{"snapshot": vars} | given).load()
    environment = domain.environment()
    assert not environment.call(tool.__name__, {"order_id": "o1"}).error
    environment.close()
    MOMENT[0] += DAY
    try:
        domain.environment().open()
    except DomainError as error:
        return str(error)
    return None


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
    of_global,
    of_shallow_copy,
    of_cached_loader,
]
#: What objects take from elsewhere.
DRAWN = {
    "itertools.count": itertools.count().__next__,
    "uuid4": lambda: str(uuid.uuid4()),
    "seconds": lambda: MOMENT[0],
    "today": lambda: date.fromordinal(730_000 + MOMENT[0] // DAY),
}


@pytest.mark.parametrize("sharing", SHARING, ids=lambda each: each.__name__)
def test_shared_containers_are_found(sharing) -> None:
    found = "domain 'shop': its tools do not begin with the same state each time: "
    assert problem_of(sharing()).startswith(f'{found}orders/o1/status: "open" at first, now "cancelled": build new')


def test_one_object_for_all_is_found() -> None:
    assert "make= returns the same object each time" in problem_of(singleton_that_is_reset())


def test_a_list_of_the_class_is_found() -> None:
    assert 'log: [] at first, now ["o1"]' in problem_of(of_class_list(), log)


def test_a_state_that_only_the_snapshot_reads_is_found() -> None:
    state = orders()

    def cancel(_shop, order_id: str) -> None:
        """Cancel an order."""
        state[order_id]["status"] = "cancelled"

    problem = problem_of(shop_with(orders), cancel, snapshot=lambda _shop: {"orders": state})
    assert 'orders/o1/status: "open" at first' in problem


def test_a_file_that_tools_write_and_make_reads_is_found(tmp_path) -> None:
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(orders()))

    def cancel(shop, order_id: str) -> None:
        """Cancel an order."""
        shop.orders[order_id]["status"] = "cancelled"
        file.write_text(json.dumps(shop.orders))

    problem = problem_of(shop_with(lambda: json.loads(file.read_text())), cancel)
    assert 'orders/o1/status: "open" at first' in problem
    assert "let no tool write what make= reads" in problem


def test_a_state_that_restore_does_not_set_back_is_found() -> None:
    state = {"orders": orders(), "log": []}

    def cancel(order_id: str) -> None:
        """Cancel an order."""
        state["log"].append(order_id)

    def restore(kept):
        state["orders"] = kept["orders"]

    domain = pytest_tau.domain_of("shop", tools=[cancel], snapshot=lambda: state, restore=restore).load()
    domain.environment().open()
    domain.environment().call("cancel", {"order_id": "o1"})
    with pytest.raises(DomainError, match=r'log: \[\] at first, now \["o1"\]: restore= must set back all'):
        domain.environment().open()


@pytest.mark.parametrize("drawn", DRAWN)
def test_what_differs_each_time_does_not_belong_to_the_state(drawn) -> None:
    make = shop_with(orders, drawn=DRAWN[drawn])
    problem = problem_of(make)
    assert ": drawn: " in problem and problem.endswith("snapshot= must not have what differs each time")
    assert problem_of(make, snapshot=lambda shop: shop.orders) is None


def test_copies_of_cached_data_are_not_shared() -> None:
    load = functools.cache(orders)
    assert problem_of(shop_with(lambda: copy.deepcopy(load()))) is None


def test_a_container_of_the_class_that_is_no_part_of_the_state() -> None:
    class Shop:
        _made = []

        def __init__(self):
            self.orders = orders()
            Shop._made.append(1)

    assert problem_of(Shop) is None


def test_one_object_that_no_call_changes_may_be_used_by_all() -> None:
    shop = shop_with(orders)()

    def show(shop, order_id: str) -> str:
        """Show an order."""
        return shop.orders[order_id]["status"]

    assert problem_of(lambda: shop, show, reads={"show"}) is None
