"""Rules about bills, suspended lines and data: what has to be true, read, stated and agreed before a call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from pytest_tau.policy import Rule, is_no, is_yes, sentences, wishes

from ..constants import MAX_REFUEL_GB, TODAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.policy import Breach, MadeCall, Trajectory

    from ..models import Line, TelecomDB

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MONEY = re.compile(r"\$\s?(\d+(?:\.\d+)?)|\b(\d+(?:\.\d+)?) ?(?:dollars|USD)\b", re.IGNORECASE)
_WORDS = {"one": 1, "a": 1, "an": 1, "single": 1, "two": 2, "couple": 2, "half": 0.5, "three": 3, "four": 4, "five": 5}
_WORD = re.compile(r"\b(?:(a|an|one|single|half)(?= (?:\w+ )?(?:gb|gig))|(two|couple|three|four|five))\b")
_PAID = re.compile(
    r"\b(?:bill|payment)\b[^.!?]{0,60}\b(?:(?:has|have) been|is|was) (?:now |already |successfully )*"
    r"(?:paid|settled|processed|received|completed|successful)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:once|after|when|whether|until|if|as soon as|unless|before)\b|\?", re.IGNORECASE)
_SUSPEND = re.compile(r"\bsuspen|\bpause|\bon hold\b|\bfreez|\bdeactivat|\block my line\b", re.IGNORECASE)


def records(trajectory: Trajectory, call: MadeCall) -> TelecomDB | None:
    """Return the carrier's records as they were before a call; None if they are not available."""
    environment = trajectory.shared_state_before(call)
    return cast("TelecomDB", environment.agent_db) if environment else None


def _line(trajectory: Trajectory, call: MadeCall) -> tuple[TelecomDB, Line] | None:
    db = records(trajectory, call)
    line = db.lines.peek(call.arguments.get("line_id", "")) if db else None
    return (db, line) if db and line else None


def _read_before_write(trajectory: Trajectory) -> Iterator[Breach]:
    if not trajectory.dialog and not any(call.kind == "read" for call in trajectory.calls):
        return  # reference calls, which read nothing
    for call in trajectory.writes:
        seen = "\n".join(earlier.result or "" for earlier in trajectory.before(call) if earlier.kind == "read")
        line_id, bill_id = call.arguments.get("line_id"), call.arguments.get("bill_id")
        needed = [(f"line {line_id}", f'"line_id": "{line_id}"')] if line_id else []
        needed += [(f"bill {bill_id}", f'"bill_id": "{bill_id}"')] if bill_id else []
        for record, id_text in needed:
            if id_text not in seen:
                yield trajectory.breach(call, f"{record} was not read before")


def _overdue_only(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool("send_payment_request"):
        db = records(trajectory, call)
        bill = db.bills.peek(call.arguments["bill_id"]) if db else None
        if bill and bill.status != "Overdue":
            yield trajectory.breach(call, f"the status of bill {bill.bill_id} is {bill.status}")


def _unpaid_bills(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool("resume_line"):
        if db_and_line := _line(trajectory, call):
            customer = db_and_line[0].customer(call.arguments["customer_id"])
            bills = [db_and_line[0].bill(bill_id) for bill_id in customer.bill_ids]
            unpaid = [bill for bill in bills if bill.status in ("Overdue", "Awaiting Payment")]
            if unpaid:
                yield trajectory.breach(call, f"bill {unpaid[0].bill_id} is {unpaid[0].status}")


def _ended_contract(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool("resume_line"):
        db_and_line = _line(trajectory, call)
        if db_and_line and db_and_line[1].contract_end_date and db_and_line[1].contract_end_date < TODAY:
            yield trajectory.breach(
                call, f"the contract of line {db_and_line[1].line_id} ended {db_and_line[1].contract_end_date}"
            )


def _refuel_limit(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool("refuel_data"):
        db_and_line = _line(trajectory, call)
        total = db_and_line[1].data_refueling_gb + float(call.arguments["gb_amount"]) if db_and_line else 0
        if total > MAX_REFUEL_GB:
            yield trajectory.breach(call, f"{total:g} GB in total")


def _no_suspension(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.calls:
        texts = trajectory.user_texts(before=call) if call.name == "suspend_line" else []
        if call.name == "suspend_line" and not any(_SUSPEND.search(turn.text) for turn in texts):
            yield trajectory.breach(call, "the customer has not asked for it")


def _bill_stated(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool("send_payment_request"):
        amounts = [
            record["total_due"]
            for earlier in trajectory.before(call)
            for record in _records_of(earlier)
            if record.get("bill_id") == call.arguments["bill_id"] and "total_due" in record
        ]
        agent_text = " ".join(turn.text for turn in trajectory.agent_texts(before=call))
        if not any(_states(agent_text, amount) for amount in amounts):
            yield trajectory.breach(call, "the amount was not stated to the customer before")


def _records_of(call: MadeCall) -> list[dict[str, Any]]:
    values = call.value if isinstance(call.value, list) else [call.value]
    return [value for value in values if isinstance(value, dict)]


def _states(text: str, amount: float) -> bool:
    return any(float(match[1] or match[2]) == round(amount, 2) for match in _MONEY.finditer(text.replace(",", "")))


def _confirmation(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool("refuel_data"):
        answers = trajectory.user_texts(before=call)
        prices = [_price(earlier) for earlier in trajectory.before(call) if _price(earlier)]
        amount = float(call.arguments["gb_amount"])
        agent_text = " ".join(turn.text for turn in trajectory.agent_texts(before=call))
        if not any(_states(agent_text, price) or _states(agent_text, price * amount) for price in prices):
            yield trajectory.breach(call, "the price was not stated to the customer before")
        elif not answers or not _agrees(answers[-1].text):
            last = answers[-1].text if answers else ""
            yield trajectory.breach(call, f'no yes before it: the customer\'s last words were "{last}"')


def _agrees(text: str) -> bool:
    """Return whether a customer who knows the price agrees to it, or orders an amount."""
    return (is_yes(text) or wishes(text)) and not is_no(text)


def _amounts(text: str) -> list[float]:
    """Return the numbers in a text, in digits or words."""
    words = [_WORDS[match[1] or match[2]] for match in _WORD.finditer(text.lower())]
    return [*map(float, _NUMBER.findall(text)), *words]


def _price(call: MadeCall) -> float:
    value = call.value if isinstance(call.value, dict) else {}
    return float(value.get("data_refueling_price_per_gb") or 0)


def _chosen_amount(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool("refuel_data"):
        user_text = " ".join(turn.text for turn in trajectory.user_texts(before=call))
        if float(call.arguments["gb_amount"]) not in _amounts(user_text):
            yield trajectory.breach(call, "an amount that the customer has not named")


def _verified_payment(trajectory: Trajectory) -> Iterator[Breach]:
    for request in trajectory.of_tool("send_payment_request"):
        bill_id = request.arguments["bill_id"]
        for turn in trajectory.agent_texts(after=request):
            if any(_PAID.search(part) and not _CONDITION.search(part) for part in sentences(turn.text)):
                seen = [record for call in trajectory.before(turn) for record in _records_of(call)]
                if not any(record.get("bill_id") == bill_id and record.get("status") == "Paid" for record in seen):
                    yield trajectory.breach(turn, f"bill {bill_id} was not read as Paid before")
                break


ACCOUNT_RULES = [
    Rule(
        "read-before-write",
        "Where this policy sets a condition, verify it yourself before you call.",
        _read_before_write,
        before_write="read",
    ),
    Rule(
        "overdue-bills-only",
        "`send_payment_request` would accept any bill; you send it for overdue ones only.",
        _overdue_only,
    ),
    Rule(
        "bill-stated",
        "Confirm that the status is `Overdue`, and tell the customer the bill and its amount.",
        _bill_stated,
        needs_dialog=True,
        before_write="stated",
    ),
    Rule("verified-payment", "Call it paid only when its status is `Paid`.", _verified_payment, needs_dialog=True),
    Rule("unpaid-bills", "Once all of them are `Paid`, call `resume_line`.", _unpaid_bills),
    Rule(
        "ended-contract",
        "If its contract end date has passed, the suspension can never be lifted, not even when every bill is paid",
        _ended_contract,
        absolute=True,
    ),
    Rule(
        "chosen-amount",
        "Ask how many GB the customer wants; do not choose for them.",
        _chosen_amount,
        needs_dialog=True,
        before_write="confirmed",
    ),
    Rule("refuel-limit", "A line may get at most 2 GB in total", _refuel_limit),
    Rule(
        "confirmation",
        "State the price (GB × price per GB) and get a yes.",
        _confirmation,
        needs_dialog=True,
        before_write="confirmed",
        editions=(("0b4867f72e92",),),
    ),
    Rule("no-suspension", "Never call `suspend_line` as a troubleshooting step.", _no_suspension, absolute=True),
]
