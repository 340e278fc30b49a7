"""Customers themselves: profile, applications, referrals, checks, questions, and transfers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...._kit.dialog import Declined
from .. import reading
from ..session import procedure, refusing

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ..session import Procedure, Session

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.\w+)+")
_REFERRING = "refer people: referrals with the status COMPLETE count against the yearly number, share a link"
_PERSON = "matters belong to a person: death, letters from a court, account of another person"


@procedure("change the email address of the profile after a yes")
def change_email(session: Session, text: str) -> Talk[str]:
    """Change the email address."""
    address = _EMAIL.search(text) or _EMAIL.search((yield from session.ask("What is the new email address?")))
    if not address:
        raise Declined("I need the new email address")
    yield from session.confirm(f"I will change your email address to {address[0]}.")
    yield from session.call("change_user_email", user_id=session.user["user_id"], new_email=address[0])
    return f"Your email address has been changed to {address[0]}."


refuse_profile = refusing(
    "change the email address of the profile after a yes", "phone numbers and addresses are changed in the mobile app"
)


@procedure("customers apply for a credit card by themselves card_type annual_income lowest income")
def apply_for_card(session: Session, text: str) -> Talk[str]:
    """Let the customer apply for a credit card if the income is high enough."""
    match = re.search(r"\bapply for the ([A-Z][\w-]+(?: [A-Z][\w-]+)*)", text)
    if not match:
        raise Declined("I need the name of the card")
    name = match[1]
    yield from session.search(f"who can have the {name}, and what a referral brings, lowest yearly income")
    income = reading.amount((yield from session.ask("What is your annual income?"))) or session.income
    session.income = income
    lowest = session.figure("Lowest yearly income", f"{name}: applying")
    if income < lowest:
        raise Declined(f"the {name} asks for an income of {reading.dollars(lowest)}")
    arguments = f'card_type="{name}", customer_name="{session.user["name"]}", annual_income={income:.0f}'
    yield from session.ask(f"You can apply now. Please apply_for_credit_card with {arguments}.")
    return "Your application has been received."


@procedure(_REFERRING)
def refer(session: Session, text: str) -> Talk[str]:
    """Let the customer refer somebody, unless the yearly number is reached."""
    heard = yield from session.call("get_referrals_by_user", user_id=session.user["user_id"])
    today = yield from session.look_at_clock()
    completed = [
        referral
        for referral in reading.records(heard.text)
        if referral["referral_status"] == "COMPLETE" and referral["date"].endswith(str(today.year))
    ]
    if len(completed) >= session.figure("Completed referrals a year"):
        raise Declined("you have reached the number of referrals for this year")
    match = re.search(r"\bfor the ([A-Z][\w-]+(?: [A-Z][\w-]+)*)", text)
    if not match:
        raise Declined("I need the name of the product")
    if match[1].endswith("Account"):
        use = f'submit_referral with user_id="{session.user["user_id"]}", account_type="{match[1]}"'
        yield from session.ask(f"You can refer your friend now. Please {use}.")
    else:
        yield from session.give("get_referral_link", user_id=session.user["user_id"], card_name=match[1])
    return "The referral has been recorded."


@procedure("deposits a check by taking a photo in the mobile app check_amount")
def deposit_check(session: Session, text: str) -> Talk[str]:
    """Let the customer deposit a check in the app."""
    amount = reading.amount(text) or 0
    if amount > session.figure("Largest check by the mobile app"):
        raise Declined("checks of this size are taken by branches only")
    account = yield from session.account(text)
    yield from session.give("deposit_check", account_id=account["account_id"], check_amount=reading.whole(amount))
    return "The check has been deposited."


def answer(session: Session, text: str) -> Talk[str]:
    """Answer a question with the statement of a document that fits it best."""
    yield from session.search(text.lower().rstrip("?"), f"{text.lower().rstrip('?')}:")
    statement = session.library.answer(text)
    if statement is None:
        raise Declined("I find no document about that")
    return f"This is what I find: {statement}."


def _hand_over(reason: str, summary: str, *, identified: bool = False) -> Procedure:
    """Return a procedure for what belongs to a person."""

    @procedure(_PERSON, identified=identified)
    def act(session: Session, text: str) -> Talk[str]:
        del text
        yield from session.transfer(reason, summary)
        return ""

    return act


report_death = _hand_over("deceased_account_holder", "A relative reports the death of an account holder.")
report_letter = _hand_over(
    "legal_or_regulatory_matter", "The customer has a letter about a matter of law.", identified=True
)
refuse_third_party = _hand_over("third_party_inquiry", "Somebody asks about the account of another person.")
