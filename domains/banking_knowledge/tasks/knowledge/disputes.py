"""Documents about disputed transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .document import document, dollars
from .rules import (
    DEBIT_PROVISIONAL_DAYS,
    DISPUTE_DAYS,
    LIABILITY_EARLY,
    LIABILITY_LATE,
    PROVISIONAL_AGE,
    PROVISIONAL_FROM,
)

if TYPE_CHECKING:
    from .document import Document

DISPUTES: tuple[Document, ...] = (
    document(
        "credit_card_dispute",
        "Disputing a credit card transaction",
        """
        A dispute is filed with `file_credit_card_transaction_dispute_4829`. Find the transaction with
        get_credit_card_transactions_by_user; purchase_date is the date of the transaction. Full name, phone, email and
        address are those of the profile. Ask for the last four digits of the card, for the day on which the customer
        noticed the issue, and whether the merchant was contacted.

        Purchases that are older than stated below cannot be disputed. Except for charges by somebody else
        (unauthorized_fraudulent_charge), the customer contacts the merchant first; without that nothing is filed.

        dispute_reason is one of unauthorized_fraudulent_charge, duplicate_charge, incorrect_amount,
        goods_services_not_received, goods_services_not_as_described, canceled_subscription_still_charging,
        refund_never_processed. card_action is cancel_and_reissue for a charge by somebody else, and keep_active in all
        other cases. resolution_requested is full_refund, or partial_refund with partial_refund_amount.

        eligible_for_provisional_credit is true if the amount and the age of the card account both reach the figures
        below, and false otherwise. After a charge by somebody else the card is replaced, too, for the reason
        fraud_suspected; see the procedure for replacing a credit card.
        """,
        {
            "Latest dispute": f"{DISPUTE_DAYS} days after the purchase",
            "Provisional credit from an amount of": dollars(PROVISIONAL_FROM),
            "Provisional credit from a card account age of": f"{PROVISIONAL_AGE} days",
        },
    ),
    document(
        "credit_card_dispute_2022",
        "Disputing a credit card transaction",
        """
        A dispute is filed with `file_credit_card_transaction_dispute_4829`. Everybody who disputes a transaction gets a
        provisional credit, whatever the amount.
        """,
        {
            "Latest dispute": "180 days after the purchase",
            "Provisional credit from an amount of": "none",
            "Provisional credit from a card account age of": "0 days",
        },
        since="09/01/2022",
    ),
    document(
        "debit_card_dispute",
        "Disputing a debit card transaction",
        f"""
        A dispute is filed with `file_debit_card_transaction_dispute_6281`. Find the account, its cards with
        `get_debit_cards_by_account_id_7823`, and the transaction with `get_bank_account_transactions_9173`.

        Ask for: the day of discovery, whether the card is in the customer's hands, whether the PIN was shared or seen
        (yes_shared, yes_observed, no, unknown), whether the merchant was contacted, whether the police has a report,
        and whether there is a written statement. disputed_amount is positive.

        provisional_credit_eligible is true if there is a written statement and the transaction is not older than
        {DEBIT_PROVISIONAL_DAYS} days. customer_max_liability_amount follows the days from the transaction to the
        discovery: up to {LIABILITY_EARLY[0]} days {dollars(LIABILITY_EARLY[1])}, up to {LIABILITY_LATE[0]} days
        {dollars(LIABILITY_LATE[1])}, later -1 for all of it; never more than the disputed amount. For categories that
        are not fraud it is 0.

        card_action is freeze_pending_investigation for fraud while the card is in the customer's hands,
        close_and_reissue for fraud if it is not, and keep_active otherwise. The dispute itself changes no card; freeze
        or close the card with its own tool.
        """,
        {
            "Provisional credit up to an age of": f"{DEBIT_PROVISIONAL_DAYS} days",
            "Liability, discovered early": dollars(LIABILITY_EARLY[1]),
            "Liability, discovered late": dollars(LIABILITY_LATE[1]),
        },
    ),
    document(
        "dispute_history",
        "The state of earlier disputes",
        """
        Disputes of credit card transactions are listed by `get_user_dispute_history_7291` with user_id, those of debit
        card transactions by `get_debit_dispute_status_7483` with user_id. A dispute that is SUBMITTED or UNDER_REVIEW
        is decided within ten business days. It cannot be hurried.
        """,
    ),
    document(
        "atm_deposit_dispute",
        "A deposit at an ATM with the wrong amount",
        """
        If an ATM of Rho-Bank recorded another amount than was put in, look at the scan of the envelope with
        `get_atm_deposit_images_8473`, parameter transaction_id. If the scan shows another amount than the machine
        recorded, file a dispute with the category atm_deposit_not_credited for the difference. For machines of other
        banks there are no scans.
        """,
    ),
)
