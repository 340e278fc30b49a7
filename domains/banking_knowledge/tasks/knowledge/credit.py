"""Documents about what is done with credit cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .document import document
from .rules import (
    COURTESY_DAYS,
    COURTESY_ON_TIME,
    INCREASE_AGE,
    INCREASE_COOLDOWN,
    INCREASE_ON_TIME,
    INCREASE_UTILIZATION,
    RETENTION_YEARS,
    WAIVER_UNTIL,
)

if TYPE_CHECKING:
    from .document import Document

CREDIT: tuple[Document, ...] = (
    document(
        "credit_card_replacement",
        "Replacing a credit card",
        """
        A credit card that is lost, stolen, damaged, expired or used by somebody else is replaced. First look for a
        replacement that is on its way: use the tool `get_pending_replacement_orders_5765` with credit_card_account_id.
        If there is an order that was not delivered, do not order another one; say when it is expected.

        Otherwise use `order_replacement_credit_card_7291` with credit_card_account_id, user_id, shipping_address (the
        address of the profile, as it is written there), reason and expedited_shipping. The reason is fraud_suspected,
        lost, stolen, damaged, expired or other. The old card stops working with the order, so ask for a yes before.

        Expedited shipping is true if the reason is stolen or fraud_suspected, or if the fees document of the card says
        that express delivery is free and the customer wants it; else it is false. Customers cannot pay for it.
        """,
        {"Standard shipping": "7-10 business days", "Expedited shipping": "2-3 business days"},
    ),
    document(
        "credit_limit_increase",
        "Raising a credit limit",
        """
        An increase is decided at once by these steps, in this order.

        1. Record the request: use `submit_credit_limit_increase_request_7392` with credit_card_account_id, user_id and
        requested_increase_amount, in whole dollars.
        2. Look at earlier requests with `get_credit_limit_increase_history_4829`, parameter credit_card_account_id,
        before the request is recorded, and at payments with `get_payment_history_6183`, parameters
        credit_card_account_id and months (6).
        3. Deny with `deny_credit_limit_increase_5848`, parameters credit_card_account_id, user_id and denial_reason, if
        a condition below is missed; the first one that is missed gives the reason. Else approve with
        `approve_credit_limit_increase_5847`, parameters credit_card_account_id, user_id and new_credit_limit, the
        present limit plus the increase.

        The conditions and their reasons: the age of the card account (insufficient_account_age); the waiting time
        since an earlier request was decided (cooldown_period_active); nothing past due (past_due_balance); the part of
        the limit that is in use (high_utilization); payments on time in a row (insufficient_payment_history); the
        largest increase at once, which is in the credit limit document of the card (requested_amount_exceeds_limit).
        """,
        {
            "Lowest age of the card account": f"{INCREASE_AGE} days",
            "Waiting time after a decision": f"{INCREASE_COOLDOWN} days",
            "Highest part of the limit in use": f"{INCREASE_UTILIZATION} %",
            "Payments on time in a row": str(INCREASE_ON_TIME),
        },
    ),
    document(
        "credit_limit_increase_2023",
        "Raising a credit limit",
        """
        An increase of a credit limit is recorded with `submit_credit_limit_increase_request_7392`, and decided by the
        conditions below: approve it with `approve_credit_limit_increase_5847`, or deny it with
        `deny_credit_limit_increase_5848` and a denial_reason. Look at `get_credit_limit_increase_history_4829` for the
        waiting time since an earlier request, and at `get_payment_history_6183` for payments on time. The largest
        increase is the same for all cards.
        """,
        {
            "Lowest age of the card account": "60 days",
            "Waiting time after a decision": "30 days",
            "Highest part of the limit in use": "75 %",
            "Payments on time in a row": "2",
        },
        since="06/01/2023",
    ),
    document(
        "late_fee_courtesy",
        "Taking back a late fee",
        """
        A late fee on a credit card can be taken back as a courtesy. The amount is the late fee that the fees document
        of the card gives; it is not what the customer remembers. Look at the payments first: use
        `get_payment_history_6183` with credit_card_account_id and months (12). The payments before the late one have
        to be on time, as many in a row as stated below; the late payment itself does not count.

        Then look for an earlier courtesy among the card's transactions: a statement credit with the reason
        late_fee_reversal. If one is more recent than the time stated below, there is no second one.

        If both conditions are met, use `apply_statement_credit_8472` with the amount of the fee, user_id,
        credit_card_account_id, and the reason late_fee_reversal.
        """,
        {
            "Payments on time before the late one": str(COURTESY_ON_TIME),
            "Time between two courtesies": f"{COURTESY_DAYS} days",
        },
    ),
    document(
        "late_fee_courtesy_2022",
        "Taking back a late fee",
        """
        A late fee is taken back with `apply_statement_credit_8472` whenever a customer asks for it the first time.
        """,
        {"Payments on time before the late one": "0", "Time between two courtesies": "90 days"},
        since="02/01/2022",
    ),
    document(
        "credit_card_closing",
        "Closing a credit card",
        """
        Ask why the customer wants to close the card, and record it: use `log_credit_card_closure_reason_4521` with
        credit_card_account_id, user_id and closure_reason: annual_fee, not_using_card, found_better_card,
        unhappy_with_rewards, simplifying_finances, negative_experience or other. It is recorded even if the customer
        keeps the card in the end. Reasons of earlier attempts are listed by `get_closure_reason_history_8293` with
        credit_card_account_id; look there only if the customer asks about them.

        If the reason is annual_fee, make the retention offer if the customer is entitled to it; see the document about
        waiving an annual fee. If the offer is taken, the card stays open.

        A card is closed only with a balance of $0.00. With a balance the customer pays first, for example from a
        checking account of theirs. Then use `close_credit_card_account_7834` with credit_card_account_id and user_id.
        Points that were not used are lost; say so before.
        """,
    ),
    document(
        "annual_fee_waiver",
        "Waiving an annual fee to keep a customer",
        """
        The only retention offer is a year without annual fee. It is made to customers who want to close a card because
        of its annual fee and have had the card for as long as stated below, counted from the opening of the card
        account. Nobody else gets it, however they ask.

        If it is taken, use `apply_credit_card_account_flag_6147` with credit_card_account_id, user_id, flag_type
        (annual_fee_waived), expiration_date (as stated below) and reason (retention_offer).
        """,
        {"Years with the card": str(RETENTION_YEARS), "Offers of 2025 expire on": WAIVER_UNTIL},
    ),
    document(
        "credit_card_payment",
        "Paying a credit card from a checking account",
        """
        A customer can pay a credit card from a checking account of their own. Use `pay_credit_card_from_checking_9182`
        with user_id, checking_account_id, credit_card_account_id and amount. The amount may be anything up to the
        balance of the card, and not more than the checking account holds. If the customer names more than the balance
        of the card, offer to pay the balance. The payment counts at once. Savings accounts cannot pay for cards; move
        the money to a checking account first.
        """,
    ),
    document(
        "wrong_reward_points",
        "Correcting wrong reward points",
        """
        If a customer misses points for a purchase, find the transaction with get_credit_card_transactions_by_user, and
        compute the points from the rate in the rewards document of the card: the amount times the rate of the
        category, cut to whole points. If the points are right, explain that, and do nothing else.

        If they are wrong, give the customer the tool `submit_cash_back_dispute_0589` and ask them to call it with
        user_id and transaction_id. The answer has a status. RESOLVED means that the points have to be corrected now:
        use `update_transaction_rewards_3847` with transaction_id and new_rewards_earned, such as "120 points".
        SUBMITTED means that a colleague decides within ten days: then change nothing.
        """,
    ),
    document(
        "statement_credits",
        "Other credits on a card statement",
        """
        Credits on a statement are for late fees under the courtesy rule and for nothing else that an agent decides.
        Goodwill for long waits, unfriendly colleagues or prices that fell elsewhere is not given as money. Thank the
        customer for the remark instead.
        """,
    ),
)
