"""Phrases that users say in many scenarios."""

from __future__ import annotations

from typing import Final

#: Facts that every booking needs, with the answers that apply unless others are given.
BOOKING: Final = {
    "cabin": "Economy.",
    "flights": "The cheapest direct flight.",
    "passengers": "I travel alone.",
    "baggage": "No checked bags.",
    "insurance": "No insurance.",
}
INSURED: Final = "Yes, with insurance."
#: Which flight is meant, where a day has several.
CHEAPEST: Final = BOOKING["flights"]
EARLIEST: Final = "The direct flight that departs first."
PLANS_CHANGED: Final = "My plans have changed."
