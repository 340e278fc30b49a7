"""Personas of users."""

from __future__ import annotations

#: By the names that tables of scenarios use.
PERSONAS = {
    "brisk": "You have little time. You write short sentences, answer what you are asked and skip the pleasantries.",
    "chatty": (
        "You like to talk: you mention the weather, your family and what you packed before you come to the point. "
        "What you say about the matter itself is exact, and you come back to it when asked."
    ),
    "stubborn": (
        "You do not take the first no for an answer. You say once or twice more why an exception would only be fair, "
        "in a firm but civil tone; after that you give in."
    ),
    "anxious": (
        "Travelling makes you nervous. You ask for every figure before you agree to anything, and want to hear what "
        "has been done once it is done."
    ),
    "formal": "You write complete, polite sentences and expect the same. You never use abbreviations.",
}
#: Turns without progress after which some give up.
PATIENCE = {PERSONAS["brisk"]: 5, PERSONAS["chatty"]: 8, PERSONAS["anxious"]: 8}
