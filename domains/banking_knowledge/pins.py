"""The forms of PINs and other digits."""

from typing import Any, Final

from .refusals import require
from .tables import BankRecord

_SEQUENCES: Final = {
    *("0123", "1234", "2345", "3456", "4567", "5678", "6789"),
    *("9876", "8765", "7654", "6543", "5432", "4321", "3210"),
}


def require_digits(text: Any, length: int, name: str) -> None:
    """Refuse a text that is not so many digits.

    Raises:
        Refusal: It is not.
        AttributeError: It is no text; the tools fail then.
    """
    require(text.isdigit() and len(text) == length, f"{name} must be exactly {length} digits.")


def require_pin(pin: Any) -> None:
    """Refuse a PIN that is not four digits, or easy to guess.

    Raises:
        Refusal: It is.
        AttributeError: It is no text; the tools fail then.
    """
    require_digits(pin, 4, "PIN")
    advice = "Please choose a more secure PIN."
    require(pin not in _SEQUENCES, f"PIN cannot be sequential (e.g., 1234). {advice}")
    require(len(set(pin)) > 1, f"PIN cannot be all the same digit (e.g., 1111). {advice}")


def require_last_digits(card: BankRecord, digits: Any) -> None:
    """Refuse digits that are not the last ones of a card.

    Raises:
        Refusal: They are others.
    """
    same = card.get("last_4_digits") == digits
    require(same, "Card verification failed. The last 4 digits do not match our records.")
