"""Personas of customers: ways to write."""

from __future__ import annotations

BREEZY = (
    "You are in a good mood and write in long, friendly sentences. You like to explain how a matter came about, but "
    "you answer every question."
)
BRIEF = "You are at work and write between two meetings: a few words, no greeting, no thanks."
CAREFUL = (
    "You read everything twice. You want to know what will change before you agree, and you agree once it is said "
    "clearly."
)
IMPATIENT = "You think that this should have been done yesterday, and you say so once. You stay polite."
NEW_HERE = (
    "You have been with the bank for a short time and do not know its words. You ask what a word means if you need to."
)
#: Turns without progress after which some give up.
PATIENCE = {IMPATIENT: 5, BRIEF: 6, BREEZY: 8, NEW_HERE: 8}
