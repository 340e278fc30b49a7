"""Personas of users."""

from __future__ import annotations

from typing import Final

BRISK: Final = "You have little time. You write short sentences, answer what you are asked and skip the pleasantries."
CHATTY: Final = (
    "You like to talk: you mention the weather, your family and what you packed before you come to the point. What you "
    "say about the matter itself is exact, and you come back to it when asked."
)
STUBBORN: Final = (
    "You do not take the first no for an answer. You say once or twice more why an exception would only be fair, in a "
    "firm but civil tone; after that you give in."
)
ANXIOUS: Final = (
    "Travelling makes you nervous. You ask for every figure before you agree to anything, and want to hear what has "
    "been done once it is done."
)
FORMAL: Final = "You write complete, polite sentences and expect the same. You never use abbreviations."
#: By the names that tables of scenarios use.
PERSONAS = {"brisk": BRISK, "chatty": CHATTY, "stubborn": STUBBORN, "anxious": ANXIOUS, "formal": FORMAL}
#: Turns without progress after which some give up.
PATIENCE: Final = {BRISK: 5, CHATTY: 8, ANXIOUS: 8}
