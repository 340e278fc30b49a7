"""The agent's tools: a room for each subject. Most are hidden, and reached through wrappers."""

from .account_credits import AccountCredits
from .bank_accounts import BankAccounts
from .credit_cards import CreditCards
from .credit_limits import CreditLimits
from .customers import Customers
from .debit_card_activation import DebitCardActivation
from .debit_card_limits import DebitCardLimits
from .debit_card_orders import DebitCardOrders
from .debit_card_pins import DebitCardPins
from .debit_cards import DebitCards
from .disputes import Disputes
from .escalations import Escalations
from .histories import Histories
from .wrappers import Wrappers

__all__ = ["BankTools"]


class BankTools(
    Customers,
    Wrappers,
    Escalations,
    Disputes,
    Histories,
    CreditCards,
    CreditLimits,
    BankAccounts,
    AccountCredits,
    DebitCardOrders,
    DebitCardActivation,
    DebitCards,
    DebitCardPins,
    DebitCardLimits,
):
    """The agent's tools of a bank. Source: the reference's banking_knowledge domain."""
