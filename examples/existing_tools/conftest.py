"""A domain over the methods of a class. Run it in this folder: pytest --tau-agent gold."""

from pathlib import Path

from shop import Shop

import pytest_tau


def pytest_tau_domains():
    shop = pytest_tau.domain_of(
        "shop",
        make=Shop,
        tools=[Shop.find_order, Shop.cancel_order],
        functions=[Shop.is_cancelled],
        reads={"find_order", "is_cancelled"},
        snapshot=vars,
        policy=Path("policy.md"),
        tasks="tasks.json",
    )
    return [shop]
