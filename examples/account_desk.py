"""An agent without a model. It fixes problems of the account and leaves the phone to the customer.

    pytest --tau-domain telecom --tau-agent examples/account_desk.py:AccountDesk --tau-user gold

It does not know about phones and never transfers a customer, so it passes some tasks and fails others. The conversation
is one generator: each ``yield`` sends a message and returns the reply.
"""

import json
import re


class AccountDesk:
    """An agent as a class with ``respond``, instantiated once per simulation."""

    def __init__(self):
        self._conversation = self._talk()
        next(self._conversation)

    def respond(self, message):
        """Reply to the customer's text or to a tool's result."""
        return self._conversation.send(message)

    def _talk(self):
        message = yield
        phone = re.search(r"\d{3}-\d{3}-\d{4}", message.content)
        while phone is None:
            message = yield "What is the phone number of the line?"
            phone = re.search(r"\d{3}-\d{3}-\d{4}", message.content)
        customer = json.loads((yield call("get_customer_by_phone", phone_number=phone[0])).content)
        lines = []
        for line_id in customer["line_ids"]:
            lines.append(json.loads((yield call("get_details_by_id", id=line_id)).content))
        line = next(line for line in lines if line["phone_number"] == phone[0])
        ids = {"customer_id": customer["customer_id"], "line_id": line["line_id"]}
        while True:
            yield from self._settle(ids, abroad="abroad" in message.content)
            message = yield "Your account is in order. Please try the next thing on your phone."

    def _settle(self, ids, *, abroad):
        """Fix what the tools can fix: bills, suspension, roaming, data."""
        bills = json.loads((yield call("get_bills_for_customer", customer_id=ids["customer_id"])).content)
        line = json.loads((yield call("get_details_by_id", id=ids["line_id"])).content)
        overdue = [bill["bill_id"] for bill in bills if bill["status"] == "Overdue"]
        if overdue:
            yield call("send_payment_request", customer_id=ids["customer_id"], bill_id=overdue[0])
        elif line["status"] == "Suspended" and all(bill["status"] != "Awaiting Payment" for bill in bills):
            yield call("resume_line", **ids)
        if abroad and not line["roaming_enabled"]:
            yield call("enable_roaming", **ids)
        usage = json.loads((yield call("get_data_usage", **ids)).content)
        if float(usage["data_used_gb"]) >= float(usage["data_limit_gb"]) + float(usage["data_refueling_gb"]):
            yield call("refuel_data", **ids, gb_amount=2.0)


def call(name, **arguments):
    """Return a message that calls one tool."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}
