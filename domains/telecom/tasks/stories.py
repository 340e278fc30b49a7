"""What the users of generated tasks are told, and what the tickets of solo agents say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

#: Countries to travel to, for tasks in which the user is abroad.
DESTINATIONS = ("Portugal", "Japan", "Mexico", "Norway", "Morocco", "Italy", "Vietnam", "Iceland")


class Persona(NamedTuple):
    """A way to be on the phone; ``None`` for a user without a character.

    Attributes:
        patience: Turns in a row without progress that the user puts up with.
    """

    name: str
    text: str | None
    patience: int = 8


NO_PERSONA = Persona("None", None)
PERSONAS = (
    NO_PERSONA,
    Persona(
        "Relaxed",
        "You are in no hurry and good company. You use your phone every day, at work and at home, and find your way "
        "around its settings, though you have never had to repair anything.\n\n"
        "You like to take one step at a time. Where a step is new to you, you ask how it is done before you do it. "
        "You tell in full what you did and what you see, you say thank you, and you do not mind being asked twice.",
        patience=12,
    ),
    Persona(
        "Hurried",
        "You have squeezed this call in between two appointments. You know your way around phones and use the right "
        "words for things.\n\n"
        "You write short lines, often half sentences, and answer exactly what was asked. Long explanations, "
        "questions that you have answered already and phrases that sound read from a script make you impatient, and "
        "you say so. You carry out each step nevertheless, and what you report of it is exact.",
        patience=5,
    ),
    Persona(
        "Unsure",
        "You call, you write messages, you look at the pictures that your family sends; the rest of the phone is "
        "foreign country. SIM, APN, VPN or roaming mean nothing to you until somebody says them in plain words, and "
        "you ask for that.\n\n"
        "You worry about breaking something. Before a step that sounds serious, and a restart does, you ask whether "
        "your pictures are safe; one reassuring sentence is enough. You offer nothing of your own accord: what is on "
        "the screen you tell when you are asked for it. Given one clear instruction at a time, you follow it.",
    ),
)


@dataclass(frozen=True)
class Story:
    """The texts of one problem; braces hold what the generator fills in.

    Attributes:
        title: The problem, for people who read tasks.
        openings: Reasons for the call, to choose from.
        slow_openings: The same where data is slow rather than gone; empty where that makes no difference.
        wishes: When the user is content, and what they agree to.
        ticket: Symptom, customer, place, consents and success, for an agent that works alone.
        symptom: What the ticket says is wrong.
        slow_symptom: The same where data is slow rather than gone.
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
    """Everything a user has to observe."""
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
