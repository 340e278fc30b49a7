"""Synchronization of the carrier's and the phone's state after each call."""

from .models import TelecomDB
from .user_models import PaymentRequest, TelecomUserDB


def sync(agent_db: TelecomDB, user_db: TelecomUserDB) -> None:
    """Show the user's line to the phone, settle a paid request, deliver a new one.

    The phone does not search the network here: a suspended or resumed line shows at its next search.
    Without a phone number nothing is synchronized.

    Raises:
        ToolError: The phone's number, its plan or a bill is unknown to the carrier.

    Source: τ²-bench v1.0.1, telecom domain.
    """
    around = user_db.surroundings
    if not around.phone_number:
        return
    line = agent_db.line_by_phone(around.phone_number)
    limit = agent_db.plan(line.plan_id).data_limit_gb + line.data_refueling_gb
    active, exceeded = line.status == "Active", line.data_used_gb >= limit
    # Setting a record's field takes longer than all the rest, and in most calls nothing has changed.
    if around.line_active is not active:
        around.line_active = active
    if around.roaming_allowed is not line.roaming_enabled:
        around.roaming_allowed = line.roaming_enabled
    if around.mobile_data_usage_exceeded is not exceeded:
        around.mobile_data_usage_exceeded = exceeded
    request = around.payment_request
    if request is not None and request.paid:
        bill_id = agent_db.bill(request.bill_id).bill_id
        agent_db.bills[bill_id].status = "Paid"
        around.payment_request = request = None
    if request is None:
        owner = agent_db.customer_by_phone(around.phone_number)
        bill = agent_db.first_bill(owner, "Awaiting Payment")
        if bill is not None:
            around.payment_request = PaymentRequest(bill_id=bill.bill_id, amount_due=bill.total_due)
