"""Texts of generated tasks: instructions for users, and tickets for solo agents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Story:
    """The texts of one problem, with placeholders in braces.

    Attributes:
        title: The problem, for people who read tasks.
        openings: Reasons for the call, to choose from.
        slow_openings: The same for data that is slow rather than gone; empty if that makes no difference.
        wishes: When the user is content, and the offers to which they agree.
        ticket: Symptom, customer, place, consents and success, for an agent that works alone.
        symptom: The problem in the ticket's words.
        slow_symptom: The same for data that is slow rather than gone.
    """

    title: str
    openings: tuple[str, ...]
    wishes: str
    ticket: str
    symptom: str
    slow_openings: tuple[str, ...] = ()
    slow_symptom: str = ""


KNOWN = "You are {name}. The line in question has the phone number {phone_number}. You are {location}."

_MANNERS = (
    "Do what the agent asks of you, in the order in which you are asked. Once a step has changed nothing, let some "
    "annoyance show, and keep cooperating. Name no causes and propose no remedies yourself."
)
_RULES = (
    "What a step reports may be out of date. Where it matters how things are now, look again with the check that "
    "shows it, and tell what that says.\n\n"
    "Everything you say about the phone comes from the tools: call the one that shows it, then answer. Never make up "
    "a reading, a setting or the outcome of a step. Where you do not understand what to do, or have no tool for it, "
    "say so and ask.\n\n"
    "If you are told that this cannot be solved and that a colleague takes over, accept it."
)
_ALLOWANCE = (
    "Should your data allowance turn out to be used up, you agree to refuel {refuel_gb} GB, no more and no less, at "
    "your plan's price. Another plan is out of the question."
)
_ALLOWANCE_ON_TICKET = (
    "If the data allowance is used up, the customer agrees to refuel {refuel_gb} GB at the plan's price, and rules out "
    "a change of plan."
)


def instructions(story: Story) -> str:
    """Return the task instructions of a story's user."""
    return f"{_MANNERS}\n\n{story.wishes}\n\n{_RULES}"


#: By intent.
STORIES = {
    "service_issue": Story(
        title="No service",
        openings=(
            "Your phone has had no service for hours. Neither calls nor texts get through, and you want that mended.",
            "Your phone finds no network today. You are waiting for a call that you must not miss, so this has to "
            "work again soon.",
            "A friend could not reach you, and then you saw it yourself: no service, no calls, no texts. You want your "
            "phone back in the network.",
        ),
        wishes=(
            "You are content once the status bar shows a signal, not earlier. Look at the status bar whenever you are "
            "asked about your service. Should an unpaid bill be the reason, you are willing to pay it: when you hear "
            "that a payment request was sent, check it and pay."
        ),
        ticket=(
            "{name} ({phone_number}), {location}, reports: {symptom}. The customer agrees to pay every overdue bill if "
            "that is what it takes. Solved when the phone's status bar shows a signal."
        ),
        symptom="the phone has had no service for hours, calls and texts do not get through",
    ),
    "mobile_data_issue": Story(
        title="Mobile data unavailable or slow",
        openings=(
            "Mobile data on your phone is dead: no page opens, nothing loads. There is no Wi-Fi where you are. You "
            "want data back, and at excellent speed; anything less will not do.",
            "Your maps and mails have stopped loading over mobile data, and you have no Wi-Fi to turn to. You expect "
            "not just some connection but an excellent one.",
        ),
        slow_openings=(
            "Mobile data on your phone crawls: pages take ages, pictures never arrive. There is no Wi-Fi where you "
            "are. You want excellent speed; anything less will not do.",
            "Your videos stall and your maps trickle in, all over mobile data, and you have no Wi-Fi to turn to. You "
            "expect not just a better connection but an excellent one.",
        ),
        wishes=(
            "You are content once a speed test rates your connection as excellent. Poor, fair or good will not do: say "
            "so, and ask what else can be done. " + _ALLOWANCE
        ),
        ticket=(
            "{name} ({phone_number}), {location}, reports: {symptom}. There is no Wi-Fi. "
            + _ALLOWANCE_ON_TICKET
            + " Solved when a speed test on the phone rates the connection as excellent, and not before."
        ),
        symptom="mobile data does not work at all",
        slow_symptom="mobile data works but is far too slow",
    ),
    "mms_issue": Story(
        title="MMS not sending",
        openings=(
            "Picture messages will not leave your phone: every MMS has failed for hours. There is one that you want to "
            "send today.",
            "You took a photo for your sister and cannot get it out by MMS, however often you try. You want to be able "
            "to send it.",
        ),
        wishes=(
            "You are content once your messaging app can send an MMS; see for yourself with the tool before you agree "
            "that it can. " + _ALLOWANCE
        ),
        ticket=(
            "{name} ({phone_number}), {location}, reports: {symptom}. "
            + _ALLOWANCE_ON_TICKET
            + " Solved when the messaging app can send an MMS."
        ),
        symptom="picture messages (MMS) have failed for hours",
    ),
}
