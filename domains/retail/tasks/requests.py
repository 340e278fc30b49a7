"""Phrases that customers say in many scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau.models import Answer

from ..._kit.user_script import first_person

if TYPE_CHECKING:
    from .world import Swap

#: What a cancellation may be for, as the customer says it.
NOT_NEEDED = "It is no longer needed."
MISTAKE = "It was ordered by mistake."
#: Who pays, and where a refund goes, as the customer says it.
SAME_METHOD = "The method that paid for the order."
#: Offers to change the profile, too, turned down by somebody who wants a single order changed.
PROFILE_STAYS = ("also profile", "also default address")


def say_before(deed: str, say: str) -> Answer:
    """Return what is said, once, where the agent sums up what it is about to do, or asks whether that is all.

    Args:
        deed: What it is about to do, such as ``return``.
        say: What is said.
    """
    asked = ("confirm", "agree", "proceed", "go ahead", "correct", "any other", "only once")
    return Answer(asks=[f"{deed} {words}" for words in asked], say=first_person(say))


def swap_phrase(swap: Swap) -> str:
    """Return what the new version should be like."""
    return f"With {swap.phrase}, otherwise the same."
