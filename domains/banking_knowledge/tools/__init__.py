"""The agent's tools: a room for each subject. Most are hidden, and reached through wrappers."""

from .bank_accounts import AccountCredits, BankAccounts
from .credit_cards import CreditCards, CreditLimits
from .customers import Customers, Escalations
from .debit_card_orders import DebitCardActivation, DebitCardOrders
from .debit_cards import DebitCardLimits, DebitCardPins, DebitCards
from .disputes import Disputes
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
