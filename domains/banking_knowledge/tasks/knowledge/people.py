"""Documents about customers themselves: who they are, what they have, whom they refer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .document import document, dollars
from .rules import CHECK_LIMIT, REFERRALS_A_YEAR

if TYPE_CHECKING:
    from .document import Document

PEOPLE: tuple[Document, ...] = (
    document(
        "identity_check",
        "Checking who a customer is",
        """
        Before anything of a customer's records is looked up for them or changed, the customer gives their full name
        and two of these: date of birth, phone number, email address, postal address. Look the customer up by name,
        email or user id, and compare. A name or a user id alone proves nothing. Say nothing about the records before.

        Then call log_verification once. All values are those of the record, letter by letter; time_verified is the
        time that get_current_time returns, with date, time and time zone, without any other word. General questions
        about products need no check, and then none is logged.
        """,
    ),
    document(
        "identity_check_failed",
        "When a customer cannot be identified",
        """
        If a value does not match the record, ask for another of the four. After two values that do not match, end the
        attempt: nothing is logged, nothing is looked up, and the customer is asked to visit a branch with a passport.
        Never say which value was wrong, and never read a value of the record out.
        """,
        {"Attempts": "two"},
    ),
    document(
        "account_overview",
        "Finding the accounts of a customer",
        """
        The ids, products, balances and opening dates of a customer's bank accounts and credit cards are needed for
        nearly every request. After the identity check, use the tool `get_all_user_accounts_by_user_id_3847` with the
        parameter user_id. It shows bank accounts and credit card accounts in one list. A status of CLOSED means that
        nothing can be done with that account any more.

        For credit cards alone the visible tool get_credit_card_accounts_by_user is enough.
        """,
    ),
    document(
        "account_transactions",
        "Listing the transactions of a bank account",
        """
        Withdrawals, deposits, fees and interest of a checking or savings account are listed by the tool
        `get_bank_account_transactions_9173` with the parameter account_id, the latest first. Transactions of credit
        cards are listed by the visible tool get_credit_card_transactions_by_user.
        """,
    ),
    document(
        "email_change",
        "Changing an email address",
        """
        A customer who passed the identity check may change the email address of the profile. Have the new address
        spelled out, repeat it, and call change_user_email after a yes. Statements go to the new address at once. Phone
        numbers and postal addresses cannot be changed on the phone or by chat; that is done in the mobile app.
        """,
    ),
    document(
        "card_application",
        "Applying for a credit card",
        """
        Customers apply by themselves, with their own tool apply_for_credit_card: card_type, customer_name,
        annual_income, and rho_bank_subscription if they have one. Agents cannot apply for them. Recommend a card only
        if the yearly income reaches the lowest income that the card's document "applying and referring" gives; if it
        does not, say so and name a card that fits. A decision comes within 5-7 business days by email.
        """,
    ),
    document(
        "referral_rules",
        "Referring friends",
        """
        A customer who passed the identity check can refer people. For a credit card they share a link; for a bank
        account they submit a referral. Look at the referrals so far with the visible tool get_referrals_by_user first.
        Referrals with the status COMPLETE and a date in this year count against the yearly number. Who has reached it
        gets no further link and no further referral before January. The bonus of a card is in the card's document
        "applying and referring".

        For a link, give the customer the tool `get_referral_link` and ask them to call it with user_id and card_name.
        For a bank account, the customer uses their own tool submit_referral with user_id and account_type.
        """,
        {"Completed referrals a year": str(REFERRALS_A_YEAR)},
    ),
    document(
        "referral_rules_2023",
        "Referring friends",
        """
        A customer who passed the identity check can refer people with the tool `get_referral_link`. The number of
        completed referrals counts over the whole life of the customer, not by year.
        """,
        {"Completed referrals a year": "2"},
        since="03/01/2023",
    ),
    document(
        "mobile_check_deposit",
        "Depositing a check by the mobile app",
        f"""
        A customer deposits a check by taking a photo in the mobile app. Look up the accounts first, as the account has
        to be one of the customer's own and open. Then give the customer the tool `deposit_check_3847` and ask them to
        call it with account_id and check_amount. Checks above {dollars(CHECK_LIMIT)} are not taken by the app: they go
        to a branch, and the tool is not given.
        """,
        {"Largest check by the mobile app": dollars(CHECK_LIMIT)},
    ),
    document(
        "human_transfer",
        "Transferring a customer to a person",
        """
        Some matters belong to a person. After the identity check, where the customer can pass one, call
        transfer_to_human_agents with a summary and the reason that fits:

        - Death of an account holder, reported by a relative: deceased_account_holder
        - Letters from a court, a lawyer or an authority: legal_or_regulatory_matter
        - Two people who both claim an account: account_ownership_dispute
        - Fraud that the bank itself has flagged: fraud_or_security_concern
        - Somebody who asks about the account of another person: third_party_inquiry
        - Needs because of a disability that chat cannot meet: accessibility_or_special_needs

        A relative who reports a death and somebody who asks for another person are not identified, and nothing is
        logged for them. What the documents let an agent do is not transferred; ask for one more try instead.
        """,
    ),
    document(
        "last_four_digits",
        "Finding the last four digits of a credit card",
        """
        Customers read the last four digits from their card. If the card is not at hand, give them the tool
        `get_card_last_4_digits`, which they call with credit_card_account_id. Agents never see these digits
        themselves. Do not give the tool if the customer knows the digits.
        """,
    ),
)
