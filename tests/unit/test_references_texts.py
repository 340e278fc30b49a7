"""What a scenario leaves open or says against its reference: each kind, and texts that settle it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_tau.environment import Database, DomainSpec, Record, Table, ToolError, Toolkit, tool
from pytest_tau.errors import ConfigurationError
from pytest_tau.lint.texts import check_texts
from pytest_tau.policy import Rule, WayRound
from pytest_tau.references import faults, open_choices

from . import tiny

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Action, Task
    from pytest_tau.policy import Breach, Trajectory


class Product(Record):
    name: str
    versions: dict[str, dict[str, Any]]


class Guest(Record):
    name: str
    ways_to_pay: dict[str, dict[str, str]]
    bookings: list[str]


class Booking(Record):
    guest: str
    lamp: str
    paid_with: str = "card_1"
    amount: float = 10
    room: str = "single"
    status: str = "open"
    beds: int = 1
    note: str | None = None


class InnDB(Database):
    products: Table[Product]
    guests: Table[Guest]
    bookings: Table[Booking]


class InnTools(Toolkit[InnDB]):
    """The tools of an inn."""

    @tool("write")
    def swap_lamp(self, booking_id: str, lamps: list[str], new_lamps: list[str], payment_id: str) -> Booking:
        """Replace a lamp."""
        booking = self._open(booking_id)
        if lamps != [booking.lamp] or payment_id not in self.db.guests[booking.guest].ways_to_pay:
            raise ToolError("no")
        if booking.amount > 10 and booking.paid_with != payment_id:
            raise ToolError("one way to pay for all lamps of a booking")
        booking.lamp, booking.paid_with = new_lamps[0], payment_id
        booking.amount += 5
        return booking

    @tool("write")
    def change_room(self, booking_id: str, room: Literal["single", "large_single", "double"]) -> Booking:
        """Change the room."""
        booking = self._open(booking_id)
        booking.room = room
        return booking

    @tool("write")
    def cancel_booking(self, booking_id: str, reason: str) -> Booking:
        """Cancel a booking.

        Args:
            booking_id: Which.
            reason: Either "change of plans" or "wrong day".
        """
        booking = self._open(booking_id)
        booking.status, booking.note = "cancelled", reason
        return booking

    @tool("write")
    def order_beds(self, booking_id: str, beds: int) -> Booking:
        """Change the number of beds."""
        booking = self._open(booking_id)
        booking.beds = beds
        return booking

    def is_cancelled(self, booking_id: str) -> bool:
        """Tell whether a booking is cancelled."""
        return self.db.bookings[booking_id].status == "cancelled"

    def has_guest(self, name: str) -> bool:
        """Tell whether there is a guest."""
        return name in self.db.guests

    def _open(self, booking_id: str) -> Booking:
        booking = self.db.bookings.get(booking_id)
        if booking is None or booking.status != "open":
            raise ToolError("no such open booking")
        return booking


DATA = {
    "products": {
        "P1": {
            "name": "Lamp",
            "versions": {
                "L1": {"options": {"color": "white", "power": "battery", "shade": "round"}, "available": True},
                "L2": {"options": {"color": "black", "power": "mains", "shade": "round"}, "available": True},
                "L3": {"options": {"color": "black", "power": "battery", "shade": "square"}, "available": True},
                "L4": {"options": {"color": "black", "power": "mains", "shade": "square"}, "available": False},
            },
        }
    },
    "guests": {
        "ada": {
            "name": "Ada",
            "ways_to_pay": {"card_1": {"source": "credit_card"}, "voucher_2": {"source": "gift_voucher"}},
            "bookings": ["B1", "B2", "B3"],
        }
    },
    "bookings": {
        "B1": {"guest": "ada", "lamp": "L1"},
        "B2": {"guest": "ada", "lamp": "L1"},
        "B3": {"guest": "ada", "lamp": "L1", "status": "over"},
    },
}


def inn(folder: Path, **declared: Any) -> Domain:
    (folder / "db.json").write_text(json.dumps(DATA))
    (folder / "policy.md").write_text("Vouchers pay for nothing. Be kind.")
    spec = DomainSpec("inn", folder, folder, InnDB, InnTools, **declared)
    return spec.load()


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    return inn(tmp_path)


def task(text: str, *actions: tuple[str, dict[str, Any]], basis: Sequence[str] = ("DB",)) -> Task:
    raw = [{"action_id": str(n), "name": name, "arguments": arguments} for n, (name, arguments) in enumerate(actions)]
    return tiny.task({"actions": raw, "reward_basis": [*basis]}, user_scenario={"instructions": text})


def swap(new: str = "L2", payment: str = "card_1") -> tuple[str, dict[str, Any]]:
    return "swap_lamp", {"booking_id": "B1", "lamps": ["L1"], "new_lamps": [new], "payment_id": payment}


def cancel(booking: str, reason: str = "wrong day") -> tuple[str, dict[str, Any]]:
    return "cancel_booking", {"booking_id": booking, "reason": reason}


def kinds(text: str, domain: Domain, *actions: tuple[str, dict[str, Any]]) -> list[str]:
    return [fault.kind for fault in faults(task(text, *actions), domain)]


BLACK = "You want a black lamp for mains power with booking B1."


def test_a_payment_of_which_nothing_is_said_is_open(domain: Domain) -> None:
    (choice,) = open_choices(task(BLACK, swap()), domain)
    assert (choice.action, choice.name, choice.argument) == (0, "swap_lamp", "payment_id")
    assert (choice.value, choice.alternatives, choice.is_present) == ("card_1", ("voucher_2",), True)
    assert choice.why.startswith("card_1 and voucher_2 fit;")


def test_a_value_that_the_record_does_not_have_is_marked(domain: Domain) -> None:
    (choice,) = open_choices(task(BLACK, swap(payment="voucher_2")), domain)
    assert (choice.value, choice.is_present) == ("voucher_2", False)


@pytest.mark.parametrize(
    "words", ["Pay by card.", "You pay with the voucher.", "Use the original method.", "You have a GV.", "card_1"]
)
def test_any_word_about_the_payment_closes_it(domain: Domain, words: str) -> None:
    assert open_choices(task(f"{BLACK} {words}", swap()), domain) == []


def test_a_value_with_which_a_later_call_fails_is_no_alternative(domain: Domain) -> None:
    second = "swap_lamp", {"booking_id": "B1", "lamps": ["L2"], "new_lamps": ["L3"], "payment_id": "card_1"}
    assert open_choices(task("You want other lamps for booking B1.", swap(), second), domain) == []


def test_a_value_that_a_rule_of_calls_forbids_is_no_alternative(tmp_path: Path) -> None:
    def no_vouchers(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.of_tool("swap_lamp"):
            if str(call.arguments["payment_id"]).startswith("voucher"):
                yield trajectory.breach(call, "a voucher")

    rule = Rule("no-vouchers", "Vouchers pay for nothing.", no_vouchers, absolute=True)
    assert open_choices(task(BLACK, swap()), inn(tmp_path, rules=[rule])) == []


def test_a_reason_of_which_nothing_is_said_is_open(domain: Domain) -> None:
    (choice,) = open_choices(task("Cancel B1.", cancel("B1")), domain)
    assert (choice.argument, choice.alternatives) == ("reason", ("change of plans",))
    for words in ("You took the wrong day.", "You cancel because you are ill.", "Your reason is private."):
        assert open_choices(task(f"Cancel B1. {words}", cancel("B1")), domain) == []


def test_a_choice_that_the_record_has_already_stays(domain: Domain) -> None:
    rooms = [("change_room", {"booking_id": "B1", "room": room}) for room in ("double", "single")]
    assert [len(open_choices(task("Make B1 nicer.", room), domain)) for room in rooms] == [1, 0]


def test_a_number_of_which_nothing_is_said_is_open(domain: Domain) -> None:
    beds = ("order_beds", {"booking_id": "B1", "beds": 3})
    (choice,) = open_choices(task("More people come to B1.", beds), domain)
    assert (choice.argument, choice.value, choice.alternatives) == ("beds", 3, (4, 2))
    for words in ("You want a third bed in B1.", "We come to B1 with three people.", "We are 3 in B1."):
        assert open_choices(task(words, beds), domain) == []


DAY = "Cancel your booking. You took the wrong day."


def with_state(wanted: Task, bookings: dict[str, Any]) -> Task:
    """A task that begins with other bookings."""
    state = {"initialization_data": {"agent_data": {"bookings": bookings}}}
    return type(wanted).model_validate(wanted.model_dump(mode="json", exclude_none=True) | {"initial_state": state})


def test_a_record_that_is_like_another_one_is_open(domain: Domain) -> None:
    (choice,) = open_choices(task(DAY, cancel("B1")), domain)
    assert (choice.argument, choice.value, choice.alternatives) == ("booking_id", "B1", ("B2",))
    assert choice.why == "B1 and B2 fit: they differ in nothing but ids, of which the scenario has none"


@pytest.mark.parametrize(
    ("text", "bookings"),
    [
        (f"{DAY} It is B1.", {}),
        (f"{DAY} You keep B2.", {}),
        # What differs may be told by a word, whether or not one is found.
        (DAY, {"B2": {"beds": 2}}),
        (DAY, {"B2": {"guest": "bob"}}),
        (DAY, {"B2": {"note": "with a view"}}),
        # The call fails for the other one.
        (DAY, {"B1": {"status": "open"}, "B2": {"status": "over"}}),
    ],
)
def test_a_record_that_can_be_told_from_others_is_not_open(domain: Domain, text: str, bookings: dict[str, Any]) -> None:
    assert open_choices(with_state(task(text, cancel("B1")), bookings), domain) == []


def test_a_record_is_not_open_where_the_reference_writes_to_its_twin_as_well(domain: Domain) -> None:
    assert open_choices(task(DAY, cancel("B1"), cancel("B2")), domain) == []


def test_a_twin_that_the_task_begins_with_is_found(domain: Domain) -> None:
    wanted = with_state(task(DAY, cancel("B3", "wrong day")), {"B3": {"status": "open", "beds": 4}})
    assert open_choices(wanted, domain) == []
    twins = with_state(wanted, {"B3": {"status": "open", "beds": 4}, "B4": DATA["bookings"]["B1"] | {"beds": 4}})
    (choice,) = open_choices(twins, domain)
    assert (choice.value, choice.alternatives) == ("B3", ("B4",))


WRONG = "You took the wrong day."
#: Ada's bookings are not like each other.
APART = {"B2": {"beds": 2, "amount": 25.0}}


@pytest.mark.parametrize(
    ("text", "alternatives"),
    [
        (f"Cancel it. {WRONG}", ["B2"]),  # the third is over
        # Any word of its name, or of what is known of one of them, may tell which.
        (f"Cancel your booking. {WRONG}", []),
        (f"Cancel B1. {WRONG}", []),
        (f"Cancel it, the single one. {WRONG}", []),
        (f"Cancel it, with two of them. {WRONG}", []),
    ],
)
def test_one_of_several_records_of_a_user(domain: Domain, text: str, alternatives: list[str]) -> None:
    found = open_choices(with_state(task(text, cancel("B1")), APART), domain)
    assert [value for choice in found for value in choice.alternatives] == alternatives


def test_one_of_several_records_has_to_be_known_to_the_user(domain: Domain) -> None:
    """A ticket is read by an agent that is alone."""
    wanted = with_state(task(f"Cancel it. {WRONG}", cancel("B1")), APART).model_copy(update={"ticket": "It is B1."})
    assert [choice.alternatives for choice in open_choices(wanted, domain)] == [("B2",)]


@pytest.mark.parametrize(
    ("statement", "is_open"),
    [
        (tiny.check("is_cancelled", booking_id="B1"), True),
        # It is true whatever the agent chooses.
        (tiny.check("has_guest", name="ada"), False),
    ],
)
def test_where_statements_alone_are_graded_a_choice_breaks_one(domain: Domain, statement: Any, is_open: bool) -> None:
    name, arguments = cancel("B1")
    criteria = {"actions": [tiny.action(name, **arguments)], "env_assertions": [statement]}
    wanted = tiny.task(
        {**criteria, "reward_basis": ["ENV_ASSERTION"]}, user_scenario={"instructions": f"Cancel it. {WRONG}"}
    )
    found = [finding.rule for finding in check_texts(with_state(wanted, APART), domain)]
    assert found == (["open-choice"] if is_open else [])


IN_BLACK = "You want the lamp of B1 in black. Pay by card."
SINGLE = ("change_room", {"booking_id": "B1", "room": "single"})
TWO_BEDS = [("order_beds", {"booking_id": booking, "beds": 2}) for booking in ("B1", "B2")]
CANCELLED = [cancel("B1"), cancel("B2", "change of plans")]
ALL = "Cancel all your bookings, made for the wrong day."


@pytest.mark.parametrize(
    ("text", "actions", "kind"),
    [
        # Options that change without a word
        (IN_BLACK, [swap("L4")], "unasked-change"),
        (f"{IN_BLACK} Power from the mains.", [swap("L4")], None),  # one may follow from the others
        ("You want any other lamp for B1. Pay by card.", [swap("L4")], None),
        ("You want lamp L4. Pay by card.", [swap("L4")], None),
        # Something similar fits several
        ("You want a similar lamp, but black. Pay by card.", [swap("L3")], "vague-wish"),
        ("You want the same lamp, but black. Pay by card.", [swap("L3")], None),
        # A word that is part of two values, with a comparison
        ("You want the cheapest single room.", [SINGLE], "two-values"),
        ("You want the cheapest single, not a large single.", [SINGLE], None),
        ("You want a single room.", [SINGLE], None),
        # Another value in the sentence about the call
        ("B1 is for the wrong day. Cancel B2 after a change of plans, and cancel B1.", CANCELLED, "two-values"),
        ("Cancel B1, the wrong day. Cancel B2 after a change of plans.", CANCELLED, None),
        # A write above the limit
        (f"{BLACK} Pay by card, up to $4.", [swap()], "over-budget"),
        (f"{BLACK} Pay by card, up to $5.", [swap()], None),
        (f"{BLACK} Pay by card, up to $4, or up to $9 for a lamp.", [swap()], None),
        (f"{BLACK} Pay by card. It must not cost more than $4.", [swap()], "over-budget"),
        (f"{BLACK} Pay by card. You will not pay more than $4.", [swap()], "over-budget"),
        (f"{BLACK} Pay by card. You never spend more than $4.", [swap()], "over-budget"),
        # A limit of one of several payments, or of each lamp, is none of what the call costs
        (f"{BLACK} No more than $4 by card.", [swap()], None),
        (f"{BLACK} Pay by card. You pay up to $4 per lamp.", [swap()], None),
        # One record is named, and several are written
        ("Order two beds from a recent booking.", TWO_BEDS, "one-of-several"),
        ("Order two beds from a recent booking and another booking.", TWO_BEDS, None),
        ("Order two beds from a recent booking.", TWO_BEDS[:1], None),
        # All are meant, and some cannot
        (ALL, [cancel("B1"), cancel("B2")], "not-all"),
        (f"{ALL} If one cannot be cancelled, leave it.", [cancel("B1"), cancel("B2")], None),
        ("Cancel all your open or pending bookings.", [cancel("B1"), cancel("B2")], None),
        ("You want all your money back.", [cancel("B1"), cancel("B2")], None),
        # "Only if" has another case
        ("You want a lamp, but only if it is bright.", [], "no-else"),
        ("You want a lamp, but only if it is bright. Otherwise keep it.", [], None),
    ],
)
def test_faults_of_a_text(domain: Domain, text: str, actions: Any, kind: str | None) -> None:
    assert kinds(text, domain, *actions) == ([kind] if kind else [])


def test_a_vague_wish_names_what_fits(domain: Domain) -> None:
    (fault,) = faults(task("You want a similar lamp, but black. Pay by card.", swap("L3")), domain)
    assert "L3 and L2" in fault.text


def test_a_way_round_a_refusal_is_taken_or_forbidden(tmp_path: Path) -> None:
    def over(db: InnDB, text: str, actions: Sequence[Action]) -> Iterator[str]:
        yield from (name for name, booking in db.bookings.peek_items() if name.lower() in text and not actions)

    way = WayRound("claim an illness", r"\bcancel", r"\bill\b|healthy", over)
    domain = inn(tmp_path, ways_round=[way])
    (fault,) = faults(task("Cancel B3.", *()), domain)
    assert (fault.kind, fault.change) == ("way-round", "say whether the user will claim an illness")
    assert kinds("Cancel B3. You are healthy.", domain) == []
    assert kinds("Show B3.", domain) == []


def test_a_wrong_declaration_of_ways_is_named(tmp_path: Path) -> None:
    for wrong in ("no_such_module:WAYS", ["a way"]):
        with pytest.raises(ConfigurationError, match="domain 'inn': ways_round: "):
            faults(task("Cancel B3."), inn(tmp_path, ways_round=wrong))


def test_findings_say_what_shows_them_and_what_changes_them(domain: Domain) -> None:
    (finding,) = check_texts(task(BLACK, swap()), domain)
    assert (finding.rule, finding.severity) == ("open-choice", "warning")
    assert finding.proof
    assert finding.change
    assert [*check_texts(task(BLACK, swap(), basis=["COMMUNICATE"]), domain)] == []
