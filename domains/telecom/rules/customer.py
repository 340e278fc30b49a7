"""Rules about whom a conversation is about: the customer, and the line that the customer has named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_tau.policy import Rule, mentions, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.policy import Breach, MadeCall, Trajectory, Turn

_IDENTIFY = "Identify the customer before you do anything on an account or begin technical support."
#: Tools that find a customer.
_LOOKUPS = ("get_customer_by_phone", "get_customer_by_id", "get_customer_by_name")
#: Tools that show or change what belongs to a customer.
_ACCOUNT = (
    "get_details_by_id",
    "get_bills_for_customer",
    "get_data_usage",
    "suspend_line",
    "resume_line",
    "send_payment_request",
    "enable_roaming",
    "disable_roaming",
    "refuel_data",
)
#: Steps on a phone.
_STEP = re.compile(
    r"_\w+\b|\bstatus bar\b|\bairplane\b|\bSIM\b|\bAPN\b|\bsettings\b|\bspeed test\b|\bdata saver\b|\bVPN\b|"
    r"\breboot|\brestart|\bnetwork (?:status|mode)\b|\bMMS\b",
    re.IGNORECASE,
)
#: A question that asks to do something.
_REQUEST = re.compile(r"\W*(?:please|kindly|(?:can|could|would|will) you|try)\b", re.IGNORECASE)


def identified(trajectory: Trajectory, place: MadeCall | Turn) -> list[dict[str, Any]]:
    """Return the records of the customers who were identified before a turn, by what the user had said."""
    return [customer for call in trajectory.before(place) for customer in _named_customers(call, trajectory)]


def _named_customers(call: MadeCall, trajectory: Trajectory) -> list[dict[str, Any]]:
    """Return the records of customers that a call has shown, and whom the user had named before."""
    customers = customers_of(call)
    return customers if customers and was_said(call, trajectory) else []


def customers_of(call: MadeCall) -> list[dict[str, Any]]:
    """Return the records of customers that a call has shown."""
    by_id = call.name == "get_details_by_id" and str(call.arguments.get("id", "")).startswith("C")
    if call.failed or not (call.name in _LOOKUPS or by_id):
        return []
    values = call.value if isinstance(call.value, list) else [call.value]
    return [value for value in values if isinstance(value, dict) and "customer_id" in value]


def was_said(call: MadeCall, trajectory: Trajectory) -> bool:
    """Return whether the user has said what a customer was looked up by; a ticket is not part of a conversation."""
    if not trajectory.dialog:
        return True
    user_text = " ".join(turn.text for turn in trajectory.user_texts(before=call))
    return bool(call.arguments) and all(_is_in(user_text, value) for value in call.arguments.values())


def _is_in(said: str, value: Any) -> bool:
    digits = re.sub(r"\D", "", str(value))
    # Numbers and dates are written in many ways.
    spelled = len(digits) >= 6 and digits in re.sub(r"\D", "", said)
    return spelled or mentions(said, value) or _has_date(said, str(value))


def _has_date(said: str, value: str) -> bool:
    """Return whether a text has the year and the day of a date such as 1985-06-15."""
    match = re.fullmatch(r"(\d{4})-\d\d-(\d\d)", value)
    return match is not None and match[1] in said and re.search(rf"\b0?{int(match[2])}\b", said) is not None


def _identification(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.calls:
        plan = str(call.arguments.get("id", "")).startswith("P")
        if call.name not in _ACCOUNT or plan or customers_of(call):
            continue
        if not any(customers_of(earlier) for earlier in trajectory.before(call)):
            yield trajectory.breach(call, "before a customer was identified")
    yield from _early_support(trajectory)


def _early_support(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield the first step on the phone that the agent asks for, and gets, before the customer is identified."""
    texts = trajectory.agent_texts()
    for call in trajectory.user_calls:
        earlier_texts = [turn for turn in texts if turn.number < call.turn_number]
        earlier = [other for other in trajectory.calls if other.turn_number < call.turn_number]
        if any(customers_of(other) for other in earlier):
            return
        if (
            len(earlier_texts) > 1
            and call.turn_number - earlier_texts[-1].number == 1
            and _asks_for_step(earlier_texts[-1].text)
        ):
            yield trajectory.breach(earlier_texts[-1], "asks for a step on the phone before a customer was identified")
            return


def _asks_for_step(text: str) -> bool:
    """Return whether a text asks for a step on the phone; a question about the phone is none."""
    return any(_STEP.search(part) and (_REQUEST.match(part) or not part.endswith("?")) for part in sentences(text))


def _own_records(trajectory: Trajectory) -> Iterator[Breach]:
    identifications = [(call, customer) for call in trajectory.calls for customer in _named_customers(call, trajectory)]
    for call in trajectory.calls:
        own = [customer for lookup, customer in identifications if lookup.turn_number < call.turn_number]
        for customer in customers_of(call):
            if not (customer in own or was_said(call, trajectory)):
                yield trajectory.breach(call, f"shows {customer['full_name']}, whom the customer has not named")
        for name, value in call.arguments.items() if own and not customers_of(call) else ():
            if not _belongs(name, value, own, trajectory, call):
                ids = ", ".join(record["customer_id"] for record in own)
                yield trajectory.breach(call, f"{name} {value} is not of the customer {ids}")


def _belongs(name: str, value: Any, own: list[dict[str, Any]], trajectory: Trajectory, call: MadeCall) -> bool:
    """Return whether the value of an argument, if it is an id, is one of the identified customers' ids."""
    kind = {"customer_id": "C", "line_id": "L", "bill_id": "B", "id": str(value)[:1]}.get(name)
    if kind == "C":
        return any(value == customer["customer_id"] for customer in own)
    if kind in ("L", "B"):
        listed = [record_id for customer in own for record_id in customer["line_ids" if kind == "L" else "bill_ids"]]
        return value in listed or (kind == "B" and _made_since(value, own, trajectory, call))
    return True


def _made_since(bill_id: Any, own: list[dict[str, Any]], trajectory: Trajectory, call: MadeCall) -> bool:
    """Return whether a list of the customer's bills has shown a bill that was made after the customer was looked up."""
    lists = [earlier for earlier in trajectory.before(call) if earlier.name == "get_bills_for_customer"]
    customers = [customer["customer_id"] for customer in own]
    return any(
        f'"{bill_id}"' in (listing.result or "") for listing in lists if listing.arguments["customer_id"] in customers
    )


def _named_line(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.writes:
        line_id = call.arguments.get("line_id")
        user_text = " ".join(turn.text for turn in trajectory.user_texts(before=call))
        # A customer with a single line need not name it.
        single = any(customer["line_ids"] == [line_id] for customer in identified(trajectory, call))
        if line_id is None or single or mentions(user_text, line_id):
            continue
        number = _number(trajectory, call, line_id)
        if number is None or not _is_in(user_text, number):
            yield trajectory.breach(call, f"the customer has not named line {line_id} ({number or 'not read'})")


def _number(trajectory: Trajectory, call: MadeCall, line_id: Any) -> str | None:
    """Return the phone number of a line, as the agent has read it."""
    for earlier in trajectory.before(call):
        if (
            isinstance(earlier.value, dict)
            and earlier.value.get("line_id") == line_id
            and "phone_number" in earlier.value
        ):
            return str(earlier.value["phone_number"])
    return None


CUSTOMER_RULES = [
    Rule(
        "identification",
        _IDENTIFY,
        _identification,
        needs_dialog=True,
        before_write="verified",
        editions=(("6ee0d4dd723f",),),
    ),
    Rule("own-records", _IDENTIFY, _own_records),
    Rule(
        "named-line",
        "The line concerned is the one with the phone number that the customer names; it need not be the first on the "
        "account.",
        _named_line,
        needs_dialog=True,
    ),
]
