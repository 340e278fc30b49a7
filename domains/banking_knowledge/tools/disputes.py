"""Disputes of credit card and debit card transactions."""

from typing import Any, Final

from pytest_tau.environment import Toolkit

from ..answers import lines, titled
from ..clock import TODAY
from ..ids import dispute_id
from ..refusals import hidden, require, require_all, require_choice, require_given
from ..tables import BankDB, add

_TAKEN: Final = "Dispute may have already been filed for this transaction."
_CREDIT_CHOICES: Final = {
    "card_action": ("keep_active", "cancel_and_reissue"),
    "dispute_reason": (
        "unauthorized_fraudulent_charge",
        "duplicate_charge",
        "incorrect_amount",
        "goods_services_not_received",
        "goods_services_not_as_described",
        "canceled_subscription_still_charging",
        "refund_never_processed",
    ),
    "resolution_requested": ("full_refund", "partial_refund"),
}
_DEBIT_CHOICES: Final = {
    "dispute_category": (
        "unauthorized_transaction",
        "atm_cash_discrepancy",
        "atm_deposit_not_credited",
        "duplicate_charge",
        "incorrect_amount",
        "goods_services_not_received",
        "recurring_charge_after_cancellation",
        "card_present_fraud",
        "card_not_present_fraud",
    ),
    "transaction_type": (
        "pin_purchase",
        "signature_purchase",
        "online_purchase",
        "atm_withdrawal",
        "atm_deposit",
        "recurring_payment",
        "person_to_person",
    ),
    "pin_compromised": ("yes_shared", "yes_observed", "no", "unknown"),
    "card_action": ("keep_active", "freeze_pending_investigation", "close_and_reissue"),
}
_FRAUD: Final = ("unauthorized_transaction", "card_present_fraud", "card_not_present_fraud")
#: Facts that may be false, but must be stated.
_ANSWERS: Final = ("card_in_possession", "contacted_merchant", "police_report_filed", "written_statement_provided")
#: From this amount on, in USD, a police report is recommended.
_REPORTED: Final = 500


class Disputes(Toolkit[BankDB]):
    """Filing disputes. Neither the transaction nor the card nor the customer need exist."""

    @hidden("write")
    def file_credit_card_transaction_dispute_4829(  # noqa: PLR0913, PLR0917 - the record's fields
        self,
        transaction_id: Any,
        card_action: Any,
        card_last_4_digits: Any,
        full_name: Any,
        user_id: Any,
        phone: Any,
        email: Any,
        address: Any,
        contacted_merchant: Any,
        purchase_date: Any,
        issue_noticed_date: Any,
        dispute_reason: Any,
        resolution_requested: Any,
        eligible_for_provisional_credit: Any,
        partial_refund_amount: Any = None,
    ) -> str:
        """File a dispute of a credit card transaction."""
        fields = {
            "transaction_id": transaction_id,
            "user_id": user_id,
            "card_action": card_action,
            "card_last_4_digits": card_last_4_digits,
            "full_name": full_name,
            "phone": phone,
            "email": email,
            "address": address,
            "contacted_merchant": contacted_merchant,
            "purchase_date": purchase_date,
            "issue_noticed_date": issue_noticed_date,
            "dispute_reason": dispute_reason,
            "resolution_requested": resolution_requested,
            "partial_refund_amount": partial_refund_amount,
            "eligible_for_provisional_credit": eligible_for_provisional_credit,
        }
        _check_credit_dispute(fields)
        dispute, eligible = dispute_id(user_id, transaction_id), eligible_for_provisional_credit
        state = {"provisional_credit_given": eligible, "submitted_at": TODAY, "status": "SUBMITTED"}
        require(add(self.db.transaction_disputes, dispute, {"dispute_id": dispute, **fields, **state}), _TAKEN)
        return _credit_text(dispute, fields)

    @hidden("write")
    def file_debit_card_transaction_dispute_6281(  # noqa: PLR0913, PLR0917 - the record's fields
        self,
        transaction_id: Any,
        account_id: Any,
        card_id: Any,
        user_id: Any,
        dispute_category: Any,
        transaction_date: Any,
        discovery_date: Any,
        disputed_amount: Any,
        transaction_type: Any,
        card_in_possession: Any,
        pin_compromised: Any,
        contacted_merchant: Any,
        police_report_filed: Any,
        written_statement_provided: Any,
        provisional_credit_eligible: Any,
        customer_max_liability_amount: Any,
        card_action: Any,
    ) -> str:
        """File a dispute of a debit card transaction; the card stays as it is, whatever the action."""
        fields = dict(locals())
        del fields["self"], fields["card_action"], fields["customer_max_liability_amount"]
        _check_debit_dispute(fields, card_action, customer_max_liability_amount)
        dispute = dispute_id(user_id, transaction_id)
        record = _debit_dispute(dispute, fields, card_action, customer_max_liability_amount)
        require(add(self.db.debit_card_disputes, dispute, record), _TAKEN)
        return _debit_text(record)


def _check_credit_dispute(given: dict[str, Any]) -> None:
    require_all(given["transaction_id"], given["user_id"])
    for name, choices in _CREDIT_CHOICES.items():
        require_choice(name, given[name], choices)
    require(
        given["resolution_requested"] != "partial_refund" or given["partial_refund_amount"] is not None,
        "partial_refund_amount is required when resolution_requested is 'partial_refund'.",
    )


def _credit_text(dispute: str, given: dict[str, Any]) -> str:
    refund, credit = given["partial_refund_amount"], "ELIGIBLE - Credit will be applied within 2 business days."
    return lines(
        "Credit card transaction dispute filed successfully. A case has been opened and will be reviewed within "
        "10 business days.",
        "",
        "Executed: file_credit_card_transaction_dispute_4829",
        f"Dispute ID: {dispute}",
        f"Transaction: {given['transaction_id']}",
        f"Reason: {titled(given['dispute_reason'])}",
        f"Resolution Requested: {titled(given['resolution_requested'])}",
        # An amount that is a text fails here, when the dispute is stored, as in the reference.
        f"Partial Refund Amount: ${refund:.2f}" if refund else None,
        f"Provisional Credit: {credit if given['eligible_for_provisional_credit'] else 'Not eligible at this time.'}",
    )


def _debit_dispute(dispute: str, given: dict[str, Any], card_action: Any, liability: Any) -> dict[str, Any]:
    eligible = given["provisional_credit_eligible"]
    return {
        "dispute_id": dispute,
        **given,
        "provisional_credit_issued": eligible,
        "provisional_credit_amount": given["disputed_amount"] if eligible else None,
        "customer_max_liability_amount": liability,
        "card_action": card_action,
        "is_fraud_category": given["dispute_category"] in _FRAUD,
        "pin_shared_voluntarily": given["pin_compromised"] == "yes_shared",
        "submitted_at": TODAY,
        "status": "OPEN",
    }


def _debit_text(record: dict[str, Any]) -> str:
    amount = record["disputed_amount"]
    credit = f"ISSUED - ${amount:.2f} credited within 10 business days per Regulation E."
    no_credit = "Not eligible - see Debit Card Provisional Credit Guidelines for details."
    shared = "WARNING: Customer indicated PIN was shared voluntarily. This may affect liability determination."
    report = "RECOMMENDATION: For fraud disputes over $500, filing a police report is recommended."
    recommended = record["is_fraud_category"] and not record["police_report_filed"] and amount > _REPORTED
    return lines(
        f"Dispute ID: {record['dispute_id']}",
        f"Transaction: {record['transaction_id']}",
        f"Account: {record['account_id']}",
        f"Category: {titled(record['dispute_category'])}",
        f"Disputed Amount: ${amount:.2f}",
        f"Card Action: {titled(record['card_action'])}",
        f"Provisional Credit: {credit if record['provisional_credit_issued'] else no_credit}",
        shared if record["pin_shared_voluntarily"] else None,
        report if recommended else None,
    )


def _check_debit_dispute(given: dict[str, Any], card_action: Any, liability: Any) -> None:
    optional = ("provisional_credit_eligible", *_ANSWERS)
    require_all(*(value for name, value in given.items() if name not in optional), card_action)
    require_given(liability, text="customer_max_liability_amount is required.")
    text = f"{', '.join(_ANSWERS[:-1])}, and {_ANSWERS[-1]} are required boolean fields."
    require_given(*(given[name] for name in _ANSWERS), text=text)
    for name, choices in _DEBIT_CHOICES.items():
        require_choice(name, card_action if name == "card_action" else given[name], choices)
    require(given["disputed_amount"] > 0, "disputed_amount must be a positive number.")
