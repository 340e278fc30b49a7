"""Scripts for users without a model; they say the same as the prose instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_tau.models.script import Goal, Request, UserScript

from ..constants import MAX_REFUEL_GB

if TYPE_CHECKING:
    from .faults import Subject

_ALLOWANCE = {"refuel_amount": f"{MAX_REFUEL_GB:g} GB"}
_NO_OTHER_PLAN = ("change plan", "another plan", "different plan", "other plan", "upgrade plan")


@dataclass(frozen=True)
class ScriptTexts:
    """The words and wishes of a user with one problem; the openings are those of the story, in the same order.

    Attributes:
        openings: The first words.
        slow_openings: The same for data that is slow rather than gone.
        goal: The check by which the user sees that the problem is solved.
        facts: Answers to questions, besides the name, the number and the place.
        accepts: Offers that the user accepts.
        declines: Offers that the user declines.
    """

    openings: tuple[str, ...]
    goal: Goal
    slow_openings: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    accepts: tuple[str, ...] = ()
    declines: tuple[str, ...] = ()


#: By intent.
SCRIPT_TEXTS = {
    "service_issue": ScriptTexts(
        openings=(
            "My phone has had no service for hours. Neither calls nor texts get through, and I want that mended.",
            "My phone finds no network today. I am waiting for a call that I must not miss, so this has to work again "
            "soon.",
            "A friend could not reach me, and then I saw it myself: no service, no calls, no texts. I want my phone "
            "back in the network.",
        ),
        goal=Goal(tool="check_status_bar", expects=["📶"]),
        accepts=("pay bill", "payment request"),
    ),
    "mobile_data_issue": ScriptTexts(
        openings=(
            "Mobile data on my phone is dead: no page opens, nothing loads. There is no Wi-Fi where I am. I want data "
            "back, and at excellent speed; anything less will not do.",
            "My maps and mails have stopped loading over mobile data, and I have no Wi-Fi to turn to. I expect not "
            "just some connection but an excellent one.",
        ),
        slow_openings=(
            "Mobile data on my phone crawls: pages take ages, pictures never arrive. There is no Wi-Fi where I am. I "
            "want excellent speed; anything less will not do.",
            "My videos stall and my maps trickle in, all over mobile data, and I have no Wi-Fi to turn to. I expect "
            "not just a better connection but an excellent one.",
        ),
        goal=Goal(tool="run_speed_test", expects=["Excellent"]),
        facts=tuple(_ALLOWANCE.items()),
        accepts=("refuel",),
        declines=_NO_OTHER_PLAN,
    ),
    "mms_issue": ScriptTexts(
        openings=(
            "Picture messages will not leave my phone: every MMS has failed for hours. There is one that I want to "
            "send today.",
            "I took a photo for my sister and cannot get it out by MMS, however often I try. I want to be able to "
            "send it.",
        ),
        goal=Goal(tool="can_send_mms", expects=["can send"]),
        facts=tuple(_ALLOWANCE.items()),
        accepts=("refuel",),
        declines=_NO_OTHER_PLAN,
    ),
}


def build_script(intent: str, subject: Subject, *, abroad: bool, slow: bool, opening: int, patience: int) -> UserScript:
    """Build the script of one scenario's user.

    Args:
        intent: The problem's name in the reference.
        subject: The customer.
        abroad: Whether the customer is travelling.
        slow: Whether data is slow rather than gone.
        opening: Index that chooses among the openings; any integer.
        patience: Turns in a row without progress that the user accepts.
    """
    texts = SCRIPT_TEXTS[intent]
    openings = texts.slow_openings if slow and texts.slow_openings else texts.openings
    facts = {
        "name": subject.name,
        "phone_number": subject.phone_number,
        "location": f"I am {subject.abroad if abroad else subject.home}.",
        **dict(texts.facts),
    }
    return UserScript(
        requests=[Request(say=openings[opening % len(openings)])],
        facts=facts,
        accepts=list(texts.accepts),
        declines=list(texts.declines),
        goals=[texts.goal],
        patience=patience,
    )
