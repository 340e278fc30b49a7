"""Customers of tasks: bundled ones that suit, and random ones, whose names and numbers are invented."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ..constants import TODAY
from .faults import Subject

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ..models import Customer, Line, Plan, TelecomDB

#: Countries to travel to, for tasks in which the user is abroad.
DESTINATIONS = ("Portugal", "Japan", "Mexico", "Norway", "Morocco", "Italy", "Vietnam", "Iceland")
#: More data than anybody uses up in a month.
UNLIMITED_GB = 500
_FIRST = (
    *("Alma", "Bruno", "Celia", "Dario", "Edda", "Farid", "Greta", "Hamid", "Ines", "Jonas", "Keiko", "Liam", "Mina"),
    *("Noor", "Otto", "Priya", "Quinn", "Rosa", "Samir", "Tova", "Umar", "Vera", "Wanda", "Xenia", "Yann", "Zora"),
)
_LAST = (
    *("Abbott", "Brandt", "Castillo", "Duarte", "Eklund", "Fontaine", "Gruber", "Haddad", "Ivanova", "Jensen", "Kaya"),
    *(
        "Lopes",
        "Marchetti",
        "Novak",
        "Okafor",
        "Petrov",
        "Quispe",
        "Rahman",
        "Silva",
        "Tanaka",
        "Ueda",
        "Varga",
        "Wolff",
    ),
)
#: City, state, zip code, area code; the numbers of 555-01… are reserved for fiction.
_PLACES = (
    ("Boise", "ID", "83702", "208"),
    ("Tampa", "FL", "33602", "813"),
    ("Tucson", "AZ", "85701", "520"),
    ("Duluth", "MN", "55802", "218"),
    ("Omaha", "NE", "68102", "402"),
    ("Savannah", "GA", "31401", "912"),
    ("Spokane", "WA", "99201", "509"),
    ("Albany", "NY", "12207", "518"),
)
_STREETS = ("Alder Street", "Birch Lane", "Cedar Avenue", "Dogwood Court", "Elm Road", "Foxglove Way", "Grove Terrace")
_MODELS = ("Nimbus 8", "Harrier X", "Lumen 5", "Petrel Mini", "Sable 12")
#: Phone numbers of a place.
_NUMBERS = 100
#: Numbers in the ids of customers; those of their lines, bills and devices have one digit more.
_IDS = range(6000, 9000)


def subjects(db: TelecomDB) -> list[Subject]:
    """Return every line that a task can break without disturbing the account's other data, in the database's order."""
    subjects_so_far: list[Subject] = []
    for customer in db.customers.scan():
        unsettled = db.first_bill(customer, "Overdue") or db.first_bill(customer, "Awaiting Payment")
        if customer.account_status == "Active" and db.first_bill(customer, "Draft") and not unsettled:
            for line in map(db.line, customer.line_ids):
                if _suits(db, line):
                    destination = DESTINATIONS[len(subjects_so_far) % len(DESTINATIONS)]
                    subjects_so_far.append(_subject(db, customer, line, destination))
    return subjects_so_far


def _suits(db: TelecomDB, line: Line) -> bool:
    return (
        line.status == "Active"
        and line.contract_end_date is not None
        and line.contract_end_date > TODAY
        and line.data_used_gb < db.plan(line.plan_id).data_limit_gb < UNLIMITED_GB
        and line.data_refueling_gb == 0
        and line.device_id is not None
        and db.device(line.device_id).device_type == "phone"
    )


def _subject(db: TelecomDB, customer: Customer, line: Line, destination: str) -> Subject:
    return Subject(
        name=customer.full_name,
        phone_number=line.phone_number,
        customer_id=customer.customer_id,
        line_id=line.line_id,
        overdue_bill_id=f"B9{line.line_id[1:]}",
        data_limit_gb=db.plan(line.plan_id).data_limit_gb,
        home=f"at home in {customer.address.city}, {customer.address.state}",
        abroad=f"abroad in {destination}",
    )


class Household(NamedTuple):
    """One customer.

    Attributes:
        subject: The customer with the first line.
        plan: The plan of that line.
        records: The customer's part of the carrier's database, by table.
    """

    subject: Subject
    plan: Plan
    records: dict[str, list[dict[str, Any]]]


def household(rng: random.Random, plans: Sequence[Plan], *, more_lines: int = 0) -> Household:
    """Draw a random customer; ids and phone numbers are none of the bundled ones.

    Args:
        rng: Source of every choice.
        plans: The plans to choose from.
        more_lines: The number of lines besides the first; at most 9.
    """
    number = rng.choice(_IDS)
    city, state, zip_code, area = rng.choice(_PLACES)
    chosen = [rng.choice(plans) for _ in range(more_lines + 1)]
    first = rng.randrange(_NUMBERS - len(chosen))
    lines = [_line(rng, f"{number}{i}", plan, f"{area}-555-01{first + i:02d}") for i, plan in enumerate(chosen)]
    items = [(f"{plan.name} - line {line['phone_number']}", plan) for plan, line in zip(chosen, lines, strict=True)]
    customer_id = f"C{number}"
    bills = [_bill(customer_id, f"B{number}{month}", month, items) for month in (1, 2, 3)]
    address = {"city": city, "state": state, "zip_code": zip_code}
    customer = {
        "customer_id": customer_id,
        **_person(rng, number, address),
        "phone_number": lines[0]["phone_number"],
        "account_status": "Active",
        "line_ids": [line["line_id"] for line in lines],
        "bill_ids": [bill["bill_id"] for bill in bills],
    }
    subject = Subject(
        name=customer["full_name"],
        phone_number=lines[0]["phone_number"],
        customer_id=customer_id,
        line_id=lines[0]["line_id"],
        overdue_bill_id=f"B9{lines[0]['line_id'][1:]}",
        data_limit_gb=chosen[0].data_limit_gb,
        home=f"at home in {city}, {state}",
        abroad=f"abroad in {rng.choice(DESTINATIONS)}",
    )
    devices = [_device(rng, line["device_id"]) for line in lines]
    return Household(subject, chosen[0], {"customers": [customer], "lines": lines, "bills": bills, "devices": devices})


def _person(rng: random.Random, number: int, address: dict[str, str]) -> dict[str, Any]:
    name = f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"
    method = {
        "method_type": rng.choice(("Credit Card", "Debit Card", "PayPal")),
        "account_number_last_4": f"{rng.randrange(10_000):04d}",
        "expiration_date": f"{rng.randrange(1, 13):02d}/{rng.randrange(2026, 2030)}",
    }
    return {
        "full_name": name,
        "date_of_birth": str(date(1945, 1, 1) + timedelta(days=rng.randrange(21_000))),
        "email": f"{name.lower().replace(' ', '.')}.{number}@example.com",
        "address": {"street": f"{rng.randrange(10, 990)} {rng.choice(_STREETS)}", **address},
        "payment_methods": [method],
        "created_at": f"20{rng.randrange(15, 25)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}T09:30:00",
    }


def _line(rng: random.Random, digits: str, plan: Plan, phone_number: str) -> dict[str, Any]:
    return {
        "line_id": f"L{digits}",
        "phone_number": phone_number,
        "status": "Active",
        "plan_id": plan.plan_id,
        "device_id": f"D{digits}",
        "data_used_gb": round(plan.data_limit_gb * rng.uniform(0.1, 0.8), 1),
        "roaming_enabled": rng.random() < 0.5,
        "contract_end_date": str(TODAY + timedelta(days=rng.randrange(30, 700))),
        "last_plan_change_date": str(TODAY - timedelta(days=rng.randrange(30, 700))),
    }


def _device(rng: random.Random, device_id: str) -> dict[str, Any]:
    return {
        "device_id": device_id,
        "device_type": "phone",
        "model": rng.choice(_MODELS),
        "imei": f"35{rng.randrange(10**13):013d}",
        "is_esim_capable": True,
        "activated": True,
        "activation_date": "2024-03-04T11:00:00",
    }


def _bill(customer_id: str, bill_id: str, month: int, items: list[tuple[str, Plan]]) -> dict[str, Any]:
    """Build the bill of a month of 2025: January's is paid, February's is issued, March's is a draft without items."""
    status = ("Paid", "Issued", "Draft")[month - 1]
    issued = f"2025-{month:02d}-05"
    lines = [
        {"description": text, "amount": plan.price_per_month, "date": issued, "item_type": "Plan Charge"}
        for text, plan in items
        if status != "Draft"
    ]
    return {
        "bill_id": bill_id,
        "customer_id": customer_id,
        "period_start": f"2025-{month:02d}-01",
        "period_end": str(date(2025, month + 1, 1) - timedelta(days=1)),
        "issue_date": issued,
        "total_due": 0.0 if status == "Draft" else sum(plan.price_per_month for _, plan in items),
        "due_date": f"2025-{month:02d}-28",
        "line_items": lines,
        "status": status,
    }
