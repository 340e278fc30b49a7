"""Documents about what is done with debit cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .document import document

if TYPE_CHECKING:
    from .document import Document

DEBIT: tuple[Document, ...] = (
    document(
        "debit_card_overview",
        "Finding the debit cards of an account",
        """
        Debit cards belong to checking accounts. Use `get_debit_cards_by_account_id_7823` with account_id. The answer
        shows the id, the state and the last four digits of each card, and in issue_reason why it was issued. Look here
        before anything is done with a debit card.
        """,
    ),
    document(
        "debit_card_activation",
        "Activating a debit card",
        """
        A card that arrives is PENDING until the customer activates it with your help. Look at the card first. The tool
        depends on the issue_reason of the card:

        - new_account or first_card: `activate_debit_card_8291`
        - lost, stolen or fraud: `activate_debit_card_8292`
        - expired, damaged, upgrade or bank_reissue: `activate_debit_card_8293`

        Each has the parameters card_id, last_4_digits, expiration_date (MM/YY), cvv and pin. The customer reads the
        first three from the card and chooses the PIN. The last four digits have to be those of the record; if they are
        not, do not call the tool. Rules for PINs are in the document about PINs. Unlock only the tool that fits.
        """,
    ),
    document(
        "debit_card_pins",
        "PINs of debit cards",
        """
        A PIN has four digits. It is not a row such as 1234 or 8765, and not one digit four times. If a customer
        chooses such a PIN, ask for another one before you call any tool. Never suggest a PIN, and never repeat it in a
        summary.

        Who has forgotten the PIN or is locked out gets a new one: use `reset_debit_card_pin_6284` with card_id,
        last_4_digits and new_pin. Who knows the present PIN changes it: use `change_debit_card_pin_6285` with card_id,
        current_pin and new_pin. Both work for cards that are ACTIVE only.
        """,
    ),
    document(
        "debit_card_freeze",
        "Freezing a debit card, and releasing it",
        """
        A customer who has misplaced a card and may find it again freezes it: use `freeze_debit_card_3892` with card_id.
        A frozen card makes no purchases and no recurring payments. When it is found, use `unfreeze_debit_card_3893`
        with card_id. A frozen card that stays away is not closed by itself. Do not freeze a card that the customer
        calls lost for good or stolen: that is closed.
        """,
    ),
    document(
        "debit_card_closing",
        "Closing a debit card",
        """
        A debit card that is lost for good, stolen, copied, broken or not wanted is closed: use `close_debit_card_4721`
        with card_id and reason: lost, stolen, fraud_suspected, damaged, no_longer_needed or account_closing. A closed
        card never works again. Ask whether the customer wants a new one; it is ordered as the procedure for ordering
        debit cards describes, after the old one is closed.
        """,
    ),
    document(
        "debit_card_ordering",
        "Ordering a debit card",
        """
        A checking account has at most one card that is ACTIVE. The account has to hold at least $25.00, and all fees.
        Fees are in the document "ordering a debit card" of the account's product. If nothing else is asked for, the
        delivery is STANDARD and the design CLASSIC.

        Use `order_debit_card_5739` with account_id, user_id, delivery_option (STANDARD, EXPEDITED, RUSH),
        delivery_fee, card_design (CLASSIC, PREMIUM, CUSTOM), design_fee, and shipping_address, the address of the
        profile. Fees are numbers; 0 for what is free. Say the sum of the fees before the order, and order after a yes.
        excess_replacement_fee is not used.
        """,
        {"Lowest balance for an order": "$25.00"},
    ),
    document(
        "debit_card_ordering_2024",
        "Ordering a debit card",
        """
        A checking account has at most one debit card that is ACTIVE. Use `order_debit_card_5739` with delivery_fee and
        design_fee. Every account has the same fees: standard delivery costs $5, expedited delivery $20, rush delivery
        $35, and every design but the classic one $10.
        """,
        {"Lowest balance for an order": "$900.00"},
        since="02/01/2024",
    ),
    document(
        "debit_card_fraud_alerts",
        "Alerts and blocks of debit cards",
        """
        Look at the card: fraud_alert_active says whether there is an alert, alert_source who raised it. If it is
        customer_initiated, and the customer says that the payments were their own, use
        `clear_debit_card_fraud_alert_4892` with card_id and the reason customer_verified. If alert_source is
        bank_initiated, an agent cannot clear it: transfer the customer, with the reason fraud_or_security_concern.

        If velocity_blocked is true, many payments came in a short time. If they were the customer's own, use the same
        tool with the reason velocity_clear.
        """,
    ),
    document(
        "debit_card_temporary_limit",
        "A higher daily limit for a day",
        """
        For 24 hours the daily limit of a debit card can be raised: use
        `request_temporary_debit_card_limit_increase_8374` with card_id, limit_type (atm or purchase) and new_limit, in
        whole dollars. The account has to be at least as old as stated below, the card ACTIVE, and the new limit at
        most one and a half times the present one. If the customer asks for more, offer that. Light Green Accounts are
        excluded, and so are limits in other currencies.
        """,
        {"Lowest age of the account": "60 days", "Highest temporary limit": "150 % of the daily limit"},
    ),
    document(
        "debit_card_recurring",
        "Blocking recurring payments of a debit card",
        """
        A customer who cannot end subscriptions one by one can have all recurring payments of a debit card declined.
        Use `set_debit_card_recurring_block_7382` with block_recurring (true to block, false to allow) and card_id. The
        block takes effect within 24 hours and affects no single purchases. The card has to be ACTIVE.
        """,
    ),
)
