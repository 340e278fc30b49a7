"""What purchases with credit cards earn."""

from typing import Final

_DEFAULT: Final = "default"
#: Percent by type of card and category; ``default`` is for all other categories.
RATES: Final[dict[str, dict[str, float]]] = {
    "Bronze Rewards Card": {_DEFAULT: 1.0},
    "Silver Rewards Card": {"Travel": 4.0, "Software": 4.0, _DEFAULT: 1.0},
    "Gold Rewards Card": {_DEFAULT: 2.5},
    "Platinum Rewards Card": {_DEFAULT: 10.0},
    "Business Bronze Rewards Card": {_DEFAULT: 1.0},
    "Business Silver Rewards Card": {"Travel": 10.0, "Software": 10.0, _DEFAULT: 1.0},
    "Green Rewards Card": {"Sustainable": 3.0, _DEFAULT: 1.0},
    "Business Gold Rewards Card": {"Operations": 2.5, _DEFAULT: 1.0},
    "Business Platinum Rewards Card": {"Travel": 4.0, "Software": 4.0, "Media": 4.0, _DEFAULT: 1.5},
    "Silver Zoom Card": {"Transportation": 3.0, _DEFAULT: 1.0},
    "Diamond Elite Card": {_DEFAULT: 5.0},
    "EcoCard": {"Green": 5.0, _DEFAULT: 1.0},
    "Crypto-Cash Back": {_DEFAULT: 2.0},
}
CARD_TYPES: Final = tuple(sorted(RATES))


def rate(card_type: str, category: str) -> float:
    """Return what a purchase of a category earns with a card, in percent."""
    rates = RATES[card_type]
    return rates.get(category, rates[_DEFAULT])
