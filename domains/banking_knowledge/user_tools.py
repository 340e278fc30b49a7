"""The customer's tools: applications, referrals, purchases, and those that the agent gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from pytest_tau.environment import tool

from .answers import executed, lines
from .clock import TODAY
from .discoverable import HiddenTexts, arguments_in, parameters_of
from .ids import card_transaction_id, credit_card_digits, dispute_id, id_of, id_of_texts, user_call_id
from .money import balance, dollars
from .query import exists, query
from .refusals import Refusal, answering, hidden, number, require
from .rewards import CARD_TYPES, RATES, rate
from .tables import add

if TYPE_CHECKING:
    from pytest_tau.models import Requestor

_OPEN: Final = ("ACTIVE", "OPEN")


class BankUserTools(HiddenTexts):
    """The customer's tools of a bank, on the agent's database. Source: the reference's banking_knowledge domain."""

    side: ClassVar[Requestor] = "user"

    @tool("write")
    @answering
    def apply_for_credit_card(
        self, card_type: str, customer_name: str, annual_income: float, rho_bank_subscription: bool = False
    ) -> str:
        """Apply for a credit card.

        Args:
            card_type: The name of the card.
            customer_name: Your full legal name.
            annual_income: Your income in a year, in USD.
            rho_bank_subscription: Whether you have Rho-Bank+.
        """
        known = f"Invalid card_type '{card_type}'. Must be one of: {list(CARD_TYPES)}"
        require(card_type in list(CARD_TYPES), known)
        income = number(annual_income, "Invalid annual_income. Must be a number.")
        key = id_of("credit_card", card_type, customer_name, income, rho_bank_subscription, length=16)
        record = {
            "application_id": key,
            "card_type": card_type,
            "customer_name": customer_name,
            "annual_income": income,
            "rho_bank_subscription": rho_bank_subscription,
            "status": "PENDING",
            "date": TODAY,
        }
        if not add(self.db.credit_card_applications, key, record):
            return f"Failed to submit application: Record ID '{key}' may already exist."
        return (
            "Credit card application submitted:\nYour application has been successfully submitted. You will receive a "
            "decision within 5-7 business days via email."
        )

    @tool("write")
    def submit_referral(self, user_id: str, account_type: str) -> str:
        """Refer somebody who wants to open an account.

        Args:
            user_id: Your customer id.
            account_type: The account that the other person wants to open.
        """
        key = id_of_texts("referral", user_id, account_type, length=16)
        if not add(self.db.referrals, key, _referral(key, user_id, account_type)):
            return f"Failed to submit referral: Record ID '{key}' may already exist."
        return lines(
            "Referral request submitted successfully!",
            f"  - Referral ID: {key}",
            f"  - Referrer ID: {user_id}",
            f"  - Account Type: {account_type}",
            "  - Status: NO_PROGRESS",
            f"  - Date: {TODAY}",
            "",
            "Share your referral ID with the person you're referring. They will need to use this when applying for "
            "their account.",
        )

    @tool("write")
    @answering
    def call_discoverable_user_tool(self, discoverable_tool_name: str, arguments: str = "{}") -> str:
        """Take a step with a tool that the agent has given you.

        Args:
            discoverable_tool_name: The tool's name, as the agent has stated it.
            arguments: A JSON object, as text, of its arguments: '{"user_id": "u1"}'.
        """
        parameters = parameters_of("user", discoverable_tool_name)
        if parameters is None:
            raise Refusal(f"Error: Unknown discoverable tool '{discoverable_tool_name}'.")
        tool_arguments = arguments_in(arguments, parse_int=float)
        for name, required in parameters.items():
            require(not required or name in tool_arguments, f"Missing required parameter: {name}")
        for name in tool_arguments:
            require(name in list(parameters), f"Unexpected parameter: {name}")
        try:
            result: str = getattr(self, discoverable_tool_name)(**tool_arguments)
        except TypeError as error:
            return f"Error: Invalid arguments for tool '{discoverable_tool_name}': {error}"
        return result

    @tool("read")
    def list_discoverable_user_tools(self) -> str:
        """List the tools that the agent has given you."""
        return "Tools given to you by the agent:\n" + query(self.db, "user_discoverable_tools")

    @tool("write")
    def request_human_agent_transfer(self) -> str:
        """Ask for a person instead of the agent."""
        position = query(self.db, "human_transfer_requests").count("request_id") + 1
        key = f"transfer_request_{position}"
        record = {"request_id": key, "request_number": position, "requested_at": TODAY, "status": "PENDING"}
        add(self.db.human_transfer_requests, key, record)
        return f"Transfer request #{position} submitted.\nThe agent will process your request."

    @tool("write")
    @answering
    def submit_transaction(
        self, user_id: str, credit_card_type: str, merchant_name: str, amount: float, category: str
    ) -> str:
        """Pay with a credit card.

        Args:
            user_id: Your customer id.
            credit_card_type: The name of the card, such as "Gold Rewards Card".
            merchant_name: Where you pay.
            amount: How much, in USD.
            category: What for: "Groceries", "Dining", "Travel", "Software", "Entertainment" and so on.
        """
        known = f"Unknown credit card type '{credit_card_type}'. Available types: {list(RATES)}"
        require(credit_card_type in list(RATES), known)
        percent = rate(credit_card_type, category)
        key = card_transaction_id(user_id, credit_card_type, merchant_name, amount, category)
        points = int(amount * percent)
        record = {
            "transaction_id": key,
            "user_id": user_id,
            "credit_card_type": credit_card_type,
            "merchant_name": merchant_name,
            "transaction_amount": f"${amount:.2f}",
            "transaction_date": TODAY,
            "category": category,
            "status": "COMPLETED",
            "rewards_earned": f"{points} points",
        }
        if not add(self.db.credit_card_transaction_history, key, record):
            return f"Failed to submit transaction: Record ID '{key}' may already exist."
        return lines(
            "Transaction submitted successfully!",
            f"  - Transaction ID: {key}",
            f"  - User ID: {user_id}",
            f"  - Card Type: {credit_card_type}",
            f"  - Merchant: {merchant_name}",
            f"  - Amount: ${amount:.2f}",
            f"  - Category: {category}",
            f"  - Date: {TODAY}",
            f"  - Rewards Earned: {points} points ({percent}% cashback rate)",
            "",
        )

    @hidden("write")
    def submit_cash_back_dispute_0589(self, user_id: Any, transaction_id: Any) -> str:
        """Dispute the cash back of a transaction."""
        arguments = {"user_id": user_id, "transaction_id": transaction_id}
        self._begin("submit_cash_back_dispute_0589", arguments)
        dispute, resolved = dispute_id(user_id, transaction_id), self._resolves_disputes()
        status = "RESOLVED" if resolved else "SUBMITTED"
        record = {"dispute_id": dispute, **arguments, "submitted_at": TODAY, "status": status}
        new = add(self.db.cash_back_disputes, dispute, record | ({"resolution": "APPROVED"} if resolved else {}))
        outcome = (
            "RESOLVED - The dispute has been reviewed and approved. The transaction rewards need to be updated."
            if resolved
            else "SUBMITTED - Your dispute has been queued for review."
        )
        return executed(
            "Cash back dispute submitted successfully. Your case has been queued for review.",
            "submit_cash_back_dispute_0589",
            f"Dispute ID: {dispute}\nStatus: {outcome}"
            if new
            else "Note: Dispute may have already been submitted for this transaction.",
            arguments=arguments,
        )

    @hidden("write")
    def get_referral_link(self, user_id: Any, card_name: Any) -> str:
        """Make a link that refers somebody to a credit card."""
        arguments = {"user_id": user_id, "card_name": card_name}
        self._begin("get_referral_link", arguments)
        key = id_of("referral_link", user_id, card_name, length=16)
        new = add(self.db.referrals, key, _referral(key, user_id, card_name))
        return executed(
            "Referral link generated successfully. Share this link with the person you want to refer.",
            "get_referral_link",
            f"Referral ID: {key}\nReferral link: https://rhobank.com/refer/{key}"
            if new
            else "Note: A referral link for this card may have already been generated.",
            arguments=arguments,
        )

    @hidden("read", mutates=False)  # the log of a call by its own name is not replayed, as in the reference
    def get_card_last_4_digits(self, credit_card_account_id: Any) -> str:
        """Read the last four digits of a credit card."""
        arguments = {"credit_card_account_id": credit_card_account_id}
        self._begin("get_card_last_4_digits", arguments)
        is_account = exists(self.db, "credit_card_accounts", "account_id", credit_card_account_id)
        require(is_account, f"Credit card account '{credit_card_account_id}' not found.")
        return executed(
            "Card information retrieved successfully.",
            "get_card_last_4_digits",
            f"Last 4 digits of card: {credit_card_digits(credit_card_account_id)}",
            arguments=arguments,
        )

    @hidden("write")
    def deposit_check_3847(self, account_id: Any, check_amount: Any) -> str:
        """Deposit a check into an account."""
        arguments = {"account_id": account_id, "check_amount": check_amount}
        self._begin("deposit_check_3847", arguments)
        amount = number(check_amount, f"Invalid check amount '{check_amount}'. Must be a number.")
        require(amount > 0, "Check amount must be positive.")
        require(account_id in self.db.accounts, f"Account '{account_id}' not found.")
        account = self.db.accounts[account_id]
        require(account.get("status") in _OPEN, f"Account '{account_id}' is not active.")
        old = balance(account)
        account["current_holdings"] = dollars(old + amount)
        return executed(
            "Check deposited successfully. Funds will be available according to your account's deposit policy.",
            "deposit_check_3847",
            "Check deposit processed!",
            f"  - Account: {account_id}",
            f"  - Check Amount: ${amount:.2f}",
            f"  - Previous Balance: ${old:.2f}",
            f"  - New Balance: ${old + amount:.2f}",
            arguments=arguments,
        )

    def _begin(self, name: str, arguments: dict[str, Any]) -> None:
        """Refuse a tool that was not given; log the call, whatever becomes of it."""
        require(
            exists(self.db, "user_discoverable_tools", "tool_name", name),
            f"Tool '{name}' has not been given to you by the agent. The agent must first use "
            "`give_discoverable_user_tool` to give this tool to you.",
        )
        log = {"tool_name": name, "arguments": arguments, "called_at": TODAY, "status": "CALLED"}
        add(self.db.user_discoverable_tool_calls, user_call_id(name, arguments), log)

    def _resolves_disputes(self) -> bool:
        settings = self.db.task_config.peek("dispute_settings") or {}
        return bool(settings.get("auto_resolve_disputes", False))


def _referral(key: str, user_id: Any, account_type: Any) -> dict[str, Any]:
    return {
        "referral_id": key,
        "referrer_id": user_id,
        "referred_account_type": account_type,
        "referral_status": "NO_PROGRESS",
        "date": TODAY,
    }
