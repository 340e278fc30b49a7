"""Personas of customers: ways to write."""

from __future__ import annotations

CHATTY = (
    "You are cheerful and a little scattered. You tell in passing what is going on around you, a dog that wants out, a "
    "cake in the oven, and come back to the matter when you are asked."
)
TERSE = (
    "You type on a phone with one hand. Your messages are short, in lower case, often without a verb. You answer what "
    "is asked and nothing more."
)
WARY = (
    "You once lost money in an online shop and have been careful since. You want to hear again what exactly will "
    "happen before you agree to it, but once it has been said clearly you do agree."
)
CROSS = (
    "You had a bad day and the shop is one more thing. You are curt, you sigh in writing, and you do not take a "
    "first no for an answer, but you never insult anybody."
)
FORMAL = (
    "You write in full sentences, with a greeting and a thank-you, as you would in a letter. You dislike to be rushed "
    "and never volunteer more than one matter at a time."
)
NOVICE = (
    "It is the first time that you shop online. You use everyday words, do not know what a variant or a fulfillment "
    "is, and ask for the meaning of a word when you meet one."
)
#: By the names that tables of scenarios use.
PERSONAS = {"chatty": CHATTY, "terse": TERSE, "wary": WARY, "cross": CROSS, "formal": FORMAL, "novice": NOVICE}
#: Turns without progress after which some give up.
PATIENCE = {CROSS: 4, TERSE: 5, CHATTY: 8, NOVICE: 8}
