"""Bank accounts: opening, closing, moving money, interest, and fees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...._kit.dialog import Declined
from .. import reading
from ..session import procedure

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ..session import Session

_MOVING = "moving money between accounts of the customer source_account_id destination_account_id"
_LISTING = "transactions of a checking or savings account are listed by the tool, the latest first"


@procedure("open_bank_account account_type account_class conditions checking savings business_savings")
def open_account(session: Session, text: str) -> Talk[str]:
    """Open an account if the customer has what it takes."""
    match = re.search(r"\bopen an? (?:new )?([A-Z][\w+' -]+)", text)
    if not match:
        raise Declined("I need the name of the product")
    product = match[1].strip()
    yield from session.search(f"the {product} is an account of the type", f"the {product}, a savings account")
    kind = session.library.fact("Account type", f"{product}: overview")
    if kind is None:
        kind = "savings" if session.library.fact("APY", f"{product}: interest") else "checking"
    accounts = yield from session.accounts()
    yield from _check_opening(session, kind, [account for account in accounts if account["status"] == "OPEN"], accounts)
    yield from session.confirm(f"I will open a {product} for you.")
    yield from session.hidden("open_bank_account", account_type=kind, account_class=product)
    return f"Your {product} has been opened."


def _check_opening(
    session: Session, kind: str, opened: list[dict[str, str]], accounts: list[dict[str, str]]
) -> Talk[None]:
    """Check what an account of this kind asks for."""
    checking = [account for account in opened if account.get("class") == "checking"]
    business = [account for account in opened if account.get("class") == "business_checking"]
    needed = {"savings": checking, "business_savings": business}.get(kind)
    if needed is not None:
        name = "Checking account before savings" if kind == "savings" else "Business checking before business savings"
        oldest = 0
        for account in needed:
            oldest = max(oldest, (yield from session.age(account["date_opened"])))
        if not needed or oldest < session.figure(name):
            raise Declined(f"there has to be a checking account of the right kind for {session.fact(name)} before")
    if kind == "business_checking" and (not checking or any(account["status"] == "CLOSED" for account in accounts)):
        raise Declined("that needs an open checking account, and no account that was closed")


@procedure("closing a bank account close_bank_account early closure fee is due", _MOVING)
def close_account(session: Session, text: str) -> Talk[str]:
    """Close an account, with what has to be moved or to stay."""
    accounts = yield from session.accounts()
    account = session.pick_account(accounts, text)
    level = account["level"]
    yield from session.search(f"fees of the {level}, monthly fee and early closure fee")
    fee, waived = yield from _closing_fee(session, account, accounts)
    holds = reading.money(account["current_holdings"])
    if holds < fee:
        raise Declined(f"an early closure fee of {reading.dollars(fee)} is due, and the account holds less")
    rest = round(holds - fee, 2)
    target = (yield from _other(session, account, accounts)) if rest else None
    steps = [f"I will move {reading.dollars(rest)} to your {target['level']}."] if target else []
    steps += [f"The early closure fee is {reading.dollars(fee)}."] if fee else []
    yield from session.confirm(" ".join([*steps, f"I will close your {level}."]))
    if target:
        yield from _move(session, account, target, rest)
    more = {"waive_early_closure_fee": True} if waived else {}
    yield from session.hidden("close_bank_account", account_id=account["account_id"], **more)
    return f"Your {level} has been closed."


def _closing_fee(session: Session, account: dict[str, str], accounts: list[dict[str, str]]) -> Talk[tuple[float, bool]]:
    """Return the fee that is due, and whether one is waived."""
    title = f"{account['level']}: fees"
    stated = session.library.fact("Early closure fee", title)
    fee = reading.amount(stated) or 0
    days = reading.number(session.library.fact("Early closure fee counts for", title)) or 0
    age = yield from session.age(account["date_opened"])
    if not fee or age >= days:
        return 0, False
    for other in accounts:
        older = other["class"] == "checking" and (yield from session.age(other["date_opened"])) > age
        if older and other["account_id"] != account["account_id"]:
            return 0, True
    return fee, False


def _other(session: Session, account: dict[str, str], accounts: list[dict[str, str]]) -> Talk[dict[str, str]]:
    """Return the account that money is moved to."""
    others = [other for other in accounts if other is not account and other["status"] == "OPEN"]
    if not others:
        raise Declined("the account has to be empty, and there is no other account to move the money to")
    answer = yield from session.ask("To which account should the money move?")
    return session.pick_account(others, answer)


def _move(session: Session, source: dict[str, str], target: dict[str, str], amount: float) -> Talk[None]:
    yield from session.hidden(
        "transfer_funds_between_bank_accounts",
        source_account_id=source["account_id"],
        destination_account_id=target["account_id"],
        amount=reading.whole(amount),
    )


@procedure(_MOVING)
def transfer_money(session: Session, text: str) -> Talk[str]:
    """Move money between accounts of the customer."""
    accounts = yield from session.accounts()
    names = reading.mentioned(text, {account["level"] for account in accounts})
    if len(names) != 2:
        raise Declined("I can move money between two accounts of yours only")
    source, target = (session.pick_account(accounts, name) for name in names)
    amount, holds = reading.amount(text) or 0, reading.money(source["current_holdings"])
    if amount > holds:
        raise Declined(f"the account holds {reading.dollars(holds)}")
    yield from session.confirm(f"I will move {reading.dollars(amount)} from your {names[0]} to your {names[1]}.")
    yield from _move(session, source, target, amount)
    return f"{reading.dollars(amount)} have been moved to your {names[1]}."


@procedure("interest of a month is the balance times APY, report wrong interest", _LISTING)
def check_interest(session: Session, text: str) -> Talk[str]:
    """Compare the interest of a month with what it should be."""
    account = yield from session.account(text, "saving")
    level = account["level"]
    yield from session.search(f"interest of the {level}, a savings account APY:")
    transactions = yield from session.hidden("get_bank_account_transactions")
    credit = next(
        (transaction for transaction in reading.records(transactions) if transaction["type"] == "interest"), None
    )
    if credit is None:
        raise Declined("I find no interest on this account")
    expected = session.figure("APY", f"{level}: interest")
    right = round(reading.money(account["current_holdings"]) * expected / 100 / 12, 2)
    difference = round(right - float(credit["amount"]), 2)
    if difference <= 0:
        raise Declined(f"the interest is right: {expected:g} % a year are {reading.dollars(right)} a month")
    actual = reading.number(credit["description"]) or 0
    at_once = difference <= session.figure("Credited at once up to")
    more = " and credit it to the account" if at_once else ""
    yield from session.confirm(f"I will report a difference of {reading.dollars(difference)}{more}.")
    yield from session.hidden(
        "submit_interest_discrepancy_report",
        expected_apy=expected,
        actual_apy=actual,
        amount_difference=difference,
    )
    if at_once:
        kind = "interest_correction"
        yield from session.hidden("apply_savings_account_credit", amount=difference, credit_type=kind)
    return "The difference has been reported" + (" and credited." if at_once else ".")


@procedure("refund fee at ATMs of other banks, products refund fee_refund", _LISTING)
def refund_atm_fee(session: Session, text: str) -> Talk[str]:
    """Refund a fee for an ATM of another bank where the product includes that."""
    account = yield from session.account(text, "checking")
    level = account["level"]
    yield from session.search(f"fees of the {level}, monthly fee and early closure fee")
    if session.fact("Fee at an ATM of another bank", f"{level}: fees") != "refunded":
        raise Declined("this account does not include that, so the fee is due")
    transactions = yield from session.hidden("get_bank_account_transactions")
    fee = next((transaction for transaction in reading.records(transactions) if transaction["type"] == "atm_fee"), None)
    if fee is None:
        raise Declined("I find no such fee")
    if (yield from session.age(fee["date"])) > session.figure("Latest refund"):
        raise Declined(f"the fee of {fee['date']} is too old for a refund")
    amount = -float(fee["amount"])
    yield from session.confirm(f"I will refund the fee of {reading.dollars(amount)}.")
    yield from session.hidden("apply_checking_account_credit", amount=reading.whole(amount), credit_type="fee_refund")
    return f"{reading.dollars(amount)} have been refunded."
