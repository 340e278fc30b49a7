"""Documents that answer questions, and name no tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .document import document

if TYPE_CHECKING:
    from .document import Document

GENERAL: tuple[Document, ...] = (
    document(
        "opening_hours",
        "Hours of branches and of customer service",
        "Chat and telephone are open day and night. Branches open on weekdays; the branch in Duluth also on Saturdays.",
        {"Branches open": "9:15 am to 4:45 pm", "Duluth on Saturdays": "10:00 am to 1:30 pm"},
    ),
    document(
        "wire_transfers",
        "Wire transfers",
        "Wires are sent from the mobile app or at a branch, never by chat or telephone. Those that arrive are free.",
        {
            "Fee for a domestic wire": "$18",
            "Fee for a wire abroad": "$37",
            "Latest hour for the same day": "2:30 pm Eastern time",
        },
    ),
    document(
        "overdraft",
        "Overdrafts of checking accounts",
        "A payment that the account cannot cover is declined. Who has signed up for overdrafts in the mobile "
        "app can go below zero by a small amount, which is due within a month.",
        {"Overdraft fee": "$0", "Largest overdraft": "$120", "Overdraft due after": "30 days"},
    ),
    document(
        "holds_on_checks",
        "When a deposited check counts",
        "The first part of a check counts on the next business day, the rest after a hold. Checks of new "
        "customers have a longer hold.",
        {
            "Counts at once": "$275",
            "Hold": "3 business days",
            "Hold for accounts younger than 30 days": "7 business days",
        },
    ),
    document(
        "travel",
        "Cards on a journey",
        "No travel notice is needed. Payments abroad are in the currency of the country; choose that currency"
        " when a machine offers dollars. The fee for purchases abroad is in the fees document of each card.",
        {"Emergency cash abroad": "up to $800 a week"},
    ),
    document(
        "statements",
        "Statements",
        "Statements are in the mobile app from the third business day of a month and stay there for seven "
        "years. Paper statements are sent to customers who ask for them in the app.",
        {"Fee for a paper statement": "$1.50", "Kept for": "7 years"},
    ),
    document(
        "phishing",
        "Messages that pretend to come from the bank",
        "Rho-Bank never asks for a PIN, a password or a whole card number. A customer who clicked on a link "
        "in such a message changes the password in the app and forwards the message to abuse@rhobank.example.",
    ),
    document(
        "tax_forms",
        "Tax forms",
        "Form 1099-INT is in the mobile app for every savings account that earned enough interest in a year.",
        {"Ready by": "January 28", "From an interest of": "$10"},
    ),
    document(
        "joint_accounts",
        "Joint accounts",
        "Two people can hold an account together. Both go to a branch with their passports. Agents cannot add"
        " or remove a holder, and each holder can close the account alone.",
    ),
    document(
        "power_of_attorney",
        "Acting for somebody else",
        "Somebody with a power of attorney brings the signed paper to a branch, where it is checked within "
        "four business days. Until then they are treated like any other third person.",
    ),
    document(
        "beneficiaries",
        "Beneficiaries",
        "A beneficiary for a savings account is named in the mobile app, under Documents. There can be up to four.",
    ),
    document(
        "grace_period",
        "When interest on purchases begins",
        "Purchases are free of interest if the whole balance is paid by the due date. Cash advances have no such time.",
        {"Due date": "25 days after the statement", "Fee for a cash advance": "4 %, at least $8"},
    ),
    document(
        "authorized_users",
        "Further users of a credit card",
        "Up to five people can use a credit card account with cards of their own. They are added in the "
        "mobile app; the holder of the account pays for all of them.",
        {"Fee for a further card": "$0", "Lowest age": "16 years"},
    ),
    document(
        "points_redemption",
        "Using reward points",
        "Points are used in the mobile app: against the balance of the card, for gift cards, or for journeys."
        " They do not expire while the account is open.",
        {"Smallest number of points": "2,500", "Worth of 100 points": "$1"},
    ),
    document(
        "subscription",
        "The Rho-Bank+ subscription",
        "Subscribers have priority in the queue and a personal adviser. The subscription is booked in the mobile app.",
        {"Price": "$8 a month", "Notice": "to the end of a month"},
    ),
    document(
        "currency_exchange",
        "Foreign cash",
        "Branches order foreign cash within two business days. It is charged to a checking account.",
        {"Surcharge": "2.2 %", "Largest order": "$4,000 a week"},
    ),
    document(
        "safe_deposit",
        "Safe deposit boxes",
        "Boxes are rented at the branches in Omaha, Richmond and Spokane, for a year at a time.",
        {"Small box": "$70 a year", "Large box": "$145 a year"},
    ),
    document(
        "direct_deposit",
        "Salary on the account",
        "An employer needs the routing number and the account number, which the mobile app shows. Salary that"
        " is paid in this way counts a day early.",
        {"Routing number": "shown in the app only"},
    ),
    document(
        "dormant_accounts",
        "Accounts without movement",
        "An account on which nothing moves for eighteen months becomes dormant. Any deposit wakes it up.",
        {"Dormant after": "18 months", "Fee for a dormant account": "none"},
    ),
    document(
        "complaints",
        "Complaints",
        "Complaints are answered by the ombuds office within fifteen days. Agents listen, write the matter "
        "down in the summary of the conversation, and name the address ombuds@rhobank.example. They offer no "
        "money.",
    ),
)
