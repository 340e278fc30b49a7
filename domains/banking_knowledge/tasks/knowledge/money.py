"""Documents about bank accounts and the money on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .document import document, dollars
from .rules import ATM_FEE_DAYS, INTEREST_AT_ONCE

if TYPE_CHECKING:
    from .document import Document

MONEY: tuple[Document, ...] = (
    document(
        "account_opening",
        "Opening an account",
        """
        Use `open_bank_account_4821` with user_id, account_type (checking, savings, business_checking,
        business_savings) and account_class, the full name of the product. Look at the accounts of the customer first:

        - checking: nothing is needed.
        - savings: a personal checking account that is open and at least as old as stated below.
        - business_checking: an open personal checking account, and no account of the customer that is closed.
        - business_savings: a business checking account that is open and at least as old as stated below, and no
        account with a negative balance.

        If a condition is missed, do not call the tool; say what is missing.
        """,
        {"Checking account before savings": "14 days", "Business checking before business savings": "30 days"},
    ),
    document(
        "account_opening_2023",
        "Opening an account",
        """
        Use `open_bank_account_4821`. Anybody can have a savings account; a checking account is not asked for.
        """,
        {"Checking account before savings": "0 days", "Business checking before business savings": "0 days"},
        since="05/01/2023",
    ),
    document(
        "account_closing",
        "Closing a bank account",
        """
        Use `close_bank_account_7392` with account_id; the parameter reason stays at its default. Look at the account
        first. Within the days that the fees document of the product names, counted from the opening, the early closure
        fee is due: then the account must hold exactly the fee when it is closed. After that time, and for products
        without this fee, it must hold $0.00.

        Move what is above that to another account of the customer first, with the tool for transfers between accounts.
        If the account holds less than the fee, the customer pays in first; there is no closing on credit. A customer
        without another account takes the money out at a branch, and calls again.

        The fee is waived (waive_early_closure_fee true) only if the customer opens or has another checking account with
        Rho-Bank that is older than the one that is closed. Then the account must hold $0.00. In all other cases leave
        that parameter out.
        """,
    ),
    document(
        "account_closing_2024",
        "Closing a bank account",
        """
        Closing a bank account: use `close_bank_account_7392` with account_id. The early closure fee is due only if the
        customer does not ask for a waiver; for all others set waive_early_closure_fee to true.
        """,
        since="01/10/2024",
    ),
    document(
        "transfers_between_accounts",
        "Moving money between accounts",
        """
        Use `transfer_funds_between_bank_accounts_7291` with source_account_id, destination_account_id and amount. Both
        accounts have to belong to the customer and be open. Money for other people is not moved by agents, whatever
        the reason; the customer does that in the mobile app. If the account holds less than the amount, say what it
        holds and ask for another amount. The transfer counts at once, is free, and cannot be taken back.
        """,
    ),
    document(
        "wrong_interest",
        "Wrong interest on a savings account",
        f"""
        Interest of a month is the balance times the APY of the product, divided by twelve, rounded to cents. The APY is
        in the interest document of the product. List the transactions of the account and compare the last interest
        credit with what it should be. If it is right, explain that, and do nothing else.

        If it is too low, report it: use `submit_interest_discrepancy_report_7294` with account_id, user_id,
        expected_apy, actual_apy (both in per cent; the actual one is in the description of the credit) and
        amount_difference. If the difference is at most {dollars(INTEREST_AT_ONCE)}, credit it at once with
        `apply_savings_account_credit_6831`, parameters account_id, amount and credit_type (interest_correction). A
        larger difference is not credited by agents; the report is enough.
        """,
        {"Credited at once up to": dollars(INTEREST_AT_ONCE)},
    ),
    document(
        "atm_fee_refund",
        "Refunding a fee for an ATM of another bank",
        f"""
        Some products refund the bank's fee at ATMs of other banks: their fees document says "refunded". If such a fee
        was charged all the same, and not longer ago than {ATM_FEE_DAYS} days, refund it: list the transactions, then
        use `apply_checking_account_credit_5829` with account_id, amount and credit_type (fee_refund). For products that
        charge the fee nothing is refunded.
        """,
        {"Latest refund": f"{ATM_FEE_DAYS} days after the fee"},
    ),
    document(
        "atm_fee_refund_2023",
        "Refunding a fee for an ATM of another bank",
        """
        Fees at ATMs of other banks are refunded for every product, with `apply_checking_account_credit_5829`.
        """,
        {"Latest refund": "365 days after the fee"},
        since="04/01/2023",
    ),
)
