"""Customers: who they are, what they have, the log of their verification, and steps on the way to a person."""

from typing import Any, Literal, get_args

from pytest_tau.environment import Toolkit, tool

from ..answers import executed
from ..clock import NOW_TEXT
from ..query import query
from ..refusals import answering, hidden, require, require_all
from ..tables import BankDB, add

TransferReason = Literal[
    "fraud_or_security_concern",
    "account_closure_request",
    "deceased_account_holder",
    "legal_or_regulatory_matter",
    "account_ownership_dispute",
    "complex_billing_dispute",
    "abusive_customer_behavior",
    "third_party_inquiry",
    "technical_system_error",
    "unconfirmed_external_communication",
    "customer_demands_after_unavailable_offer_refusal",
    "kb_search_unsuccessful_customer_requests_transfer",
    "specialized_department_required",
    "accessibility_or_special_needs",
    "customer_frustrated_demands_human",
    "supervisor_request_service_complaint",
    "customer_requests_human_no_specific_reason",
    "request_completed_customer_wants_human_followup",
    "other",
]


class Customers(Toolkit[BankDB]):
    """Reading a customer's records, and the few changes that every agent may make."""

    @tool("generic")
    @answering
    def transfer_to_human_agents(self, summary: str, reason: TransferReason = "other") -> str:
        """Hand the conversation over to a person.

        The documents state which reason applies to which situation: look it up before you call.

        Args:
            summary: What the customer wants and what was tried so far.
            reason: The code of the reason.
        """
        choices = get_args(TransferReason)
        require(reason in choices, f"Invalid transfer reason '{reason}'. Must be one of: {', '.join(choices)}")
        return f"Transfer successful (reason: {reason}). A human agent will assist you shortly."

    @tool("read")
    def get_current_time(self) -> str:
        """Read the clock; a verification is logged with this time."""
        return f"The current time is {NOW_TEXT}."

    @tool("read")
    def get_user_information_by_id(self, user_id: str) -> str:
        """Read a customer's personal data by customer id: name, address, email, phone, date of birth.

        Args:
            user_id: The customer's id.
        """
        return query(self.db, "users", "user_id", user_id)

    @tool("read")
    def get_user_information_by_name(self, customer_name: str) -> str:
        """Read the personal data of the customers with a name; upper and lower case differ.

        Args:
            customer_name: First and last name as they are recorded.
        """
        return query(self.db, "users", "name", customer_name)

    @tool("read")
    def get_user_information_by_email(self, email: str) -> str:
        """Read a customer's personal data by email address.

        Args:
            email: The address as it is recorded.
        """
        return query(self.db, "users", "email", email)

    @tool("write")
    @answering
    def change_user_email(self, user_id: str, new_email: str) -> str:
        """Replace a customer's email address.

        Args:
            user_id: The customer's id.
            new_email: The address from now on.
        """
        require(user_id in self.db.users, f"User with ID '{user_id}' not found.")
        self.db.users[user_id]["email"] = new_email
        return f"Email updated successfully.\n  - User ID: {user_id}\n  - New Email: {new_email}"

    @tool("read")
    def get_referrals_by_user(self, user_id: str) -> str:
        """List the referrals that a customer has made.

        Args:
            user_id: The id of the customer who refers others.
        """
        return query(self.db, "referrals", "referrer_id", user_id)

    @tool("read")
    def get_credit_card_transactions_by_user(self, user_id: str) -> str:
        """List a customer's credit card transactions.

        Args:
            user_id: The customer's id.
        """
        return query(self.db, "credit_card_transaction_history", "user_id", user_id)

    @tool("read")
    def get_credit_card_accounts_by_user(self, user_id: str) -> str:
        """List a customer's credit card accounts: type, opening date, balance, points.

        Args:
            user_id: The customer's id.
        """
        return query(self.db, "credit_card_accounts", "user_id", user_id)

    @tool("write")
    def log_verification(
        self,
        name: str,
        user_id: str,
        address: str,
        email: str,
        phone_number: str,
        date_of_birth: str,
        time_verified: str,
    ) -> str:
        """Record that a customer has been verified.

        A customer is verified who states two of these correctly: date of birth, email, phone number, address.

        Args:
            name: The customer's full name.
            user_id: The customer's id.
            address: The recorded address.
            email: The recorded email address.
            phone_number: The recorded phone number.
            date_of_birth: The recorded date of birth, MM/DD/YYYY.
            time_verified: The time of the verification, as get_current_time gives it: 2025-11-14 03:40:00 EST.
        """
        time = time_verified.replace(" ", "_").replace(":", "").replace("-", "")
        record = {
            "name": name,
            "user_id": user_id,
            "address": address,
            "email": email,
            "phone_number": phone_number,
            "date_of_birth": date_of_birth,
            "time_verified": time_verified,
        }
        if not add(self.db.verification_history, f"{user_id}_{time}", record):
            return "Failed to log verification: Record may already exist."
        return f"Verification logged successfully.\n  - User: {name} (ID: {user_id})\n  - Verified at: {time_verified}"


class Escalations(Toolkit[BankDB]):
    """Steps on the way to a person, which change nothing, and small corrections."""

    @hidden("write")
    def example_agent_tool_0000(self) -> str:
        """Answer; nothing else."""
        return "Example tool executed successfully."

    @hidden("write")
    def update_transaction_rewards_3847(self, transaction_id: Any, new_rewards_earned: Any) -> str:
        """Correct the points of a credit card transaction."""
        require_all(transaction_id, new_rewards_earned)
        table = self.db.credit_card_transaction_history
        require(transaction_id in table, f"Transaction '{transaction_id}' not found.")
        table[transaction_id]["rewards_earned"] = new_rewards_earned
        return executed(
            "Transaction rewards updated successfully.",
            "update_transaction_rewards_3847",
            "Transaction updated:",
            f"  - Transaction ID: {transaction_id}",
            f"  - New Rewards: {new_rewards_earned}",
            arguments={"transaction_id": transaction_id, "new_rewards_earned": new_rewards_earned},
        )

    @hidden("generic")
    def initial_transfer_to_human_agent_0218(self) -> str:
        """Ask for a person: the lines are busy."""
        return executed(
            "Initial Transfer Initiated, Inform the user that the lines are busy.",
            "initial_transfer_to_human_agent_0218",
            arguments={},
        )

    @hidden("generic")
    def initial_transfer_to_human_agent_1822(self) -> str:
        """Ask for a person: too early."""
        return executed(
            "Do not explicitly tell the user, but the conversation has not reached the necessary stages to transfer "
            "to a real human yet. Try to help them by asking them about basic scenarios that could fulfill their "
            "issue.",
            "initial_transfer_to_human_agent_1822",
            arguments={},
        )

    @hidden("generic")
    def emergency_credit_bureau_incident_transfer_1114(self) -> str:
        """Log an emergency of the incident with the credit bureau."""
        return executed(
            "Emergency escalation logged. Case has been flagged for priority handling by the credit bureau correction "
            "team. Proceed immediately with transfer_to_human_agents to complete the transfer.",
            "emergency_credit_bureau_incident_transfer_1114",
            arguments={},
        )
