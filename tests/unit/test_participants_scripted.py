"""The user without a model: what it understands, what it says, and when it stops."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.environment import Spoken, ToolError, Toolkit, tool
from pytest_tau.models import AssistantMessage, MultiToolMessage, Task, ToolMessage, UserMessage, UserScript
from pytest_tau.participants import ParticipantContext, ScriptedUser, load_source, script_of

from . import tiny
from .tiny import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.environment import Domain

GREETING = "Hi! How can I help you today?"
RETURN = {
    "say": "I want to return the lamp of my last order.",
    "facts": {"order_id": "#W12", "payment_method": "paypal_7"},
}

SPOKEN = {
    "toggle_lamp": Spoken(("turn/switch lamp",)),
    "check_lamp": Spoken(("check/is/look lamp",), shows={"lamp on": "is ON"}),
    "ring": Spoken(("ring bell",), values={"tune": {"high": ("high/loud tune",), "low": ("low/soft tune",)}}),
}


class Handset(Toolkit[tiny.TinyUserDB]):
    """A device with a lamp and a bell."""

    @tool("write")
    def toggle_lamp(self) -> str:
        """Flip the lamp."""
        self.db.phone.on = not self.db.phone.on
        return f"Lamp is now {'ON' if self.db.phone.on else 'OFF'}."

    @tool("read")
    def check_lamp(self) -> str:
        """Look at the lamp."""
        return f"The lamp is {'ON' if self.db.phone.on else 'OFF'}"

    @tool("write")
    def ring(self, tune: str) -> str:
        """Ring the bell.

        Args:
            tune: Which.
        """
        if tune == "low":
            raise ToolError("the bell is broken")
        return f"Rang {tune}."


class Talk:
    """A user with a script, and the device in its hand."""

    def __init__(self, script: dict[str, Any] | None = None, *, on: bool = False, **scenario: Any) -> None:
        fields = {"instructions": "You want something.", "script": script} | scenario
        task = Task.model_validate({"id": "t", "user_scenario": fields})
        self._handset = Handset(tiny.TinyUserDB(phone=tiny.Phone(on=on)))
        tools = list(Handset.tools().values())
        history: list[Any] = [AssistantMessage(content=GREETING)]
        self._user = ScriptedUser(ParticipantContext("user", tools, "", task, history=history, spoken=SPOKEN))
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def say(self, text: str) -> str:
        """What the user says to a text, its calls carried out."""
        reply = run(self._user.respond(AssistantMessage(content=text)))
        while reply.tool_calls:
            (call,) = reply.tool_calls
            self.calls.append((call.name, call.arguments))
            try:
                result = ToolMessage(content=getattr(self._handset, call.name)(**call.arguments), requestor="user")
            except ToolError as error:
                result = ToolMessage(content=f"Error: {error}", requestor="user", error=True)
            reply = run(self._user.respond(result))
        assert isinstance(reply, UserMessage)
        return reply.text

    @property
    def called(self) -> list[str]:
        return [name for name, _ in self.calls]


def talk(*requests: Any, **script: Any) -> Talk:
    """A user who has put its first request."""
    opened = Talk({"requests": list(requests) or [RETURN], **script})
    opened.say(GREETING)
    return opened


# The opening


def test_it_opens_with_the_first_request() -> None:
    assert Talk({"requests": [RETURN, {"say": "And another."}]}).say(GREETING) == RETURN["say"]


def test_it_does_not_open_twice_where_the_conversation_has_begun() -> None:
    task = Task.model_validate({"id": "t", "user_scenario": {"instructions": "x", "script": {"requests": [RETURN]}}})
    past: list[Any] = [UserMessage(content="Hello."), AssistantMessage(content="Which order is it?")]
    user = ScriptedUser(ParticipantContext("user", [], "", task, history=past))
    assert run(user.respond(past[-1])).text == "My order id is #W12."


# Facts


FACTS = {"name": "Ada Berg", "email": "ada@example.com", "zip": "12345"}
MORE_FACTS = {
    "lucky_number": "7",
    "member_id": "m7",
    "member_number": "12",
    "items": "the lamp and the desk",
    "location": "I am abroad in Norway.",
}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Could you please provide your email address?", "My email is ada@example.com."),
        ("What is your first and last name?", "My name is Ada Berg."),
        ("Please tell me your full name and your zip code.", "My name is Ada Berg. My zip is 12345."),
        ("May I have the order number?", "My order id is #W12."),
        ("Which payment method would you like to use?", "My payment method is paypal_7."),
        ("To find you, I need the following:\n- Your name\n- Your postal code", "My name is Ada Berg. My zip is 12345."),
        ("I can look you up by name and zip code. Could you provide these details?",
         "My name is Ada Berg. My zip is 12345."),
        ("I’ll need your e-mail.", "My email is ada@example.com."),
        ("Which payment method would you like me to use?", "My payment method is paypal_7."),
        ("Your name and your order are shown here. What is your zip code?", "My zip is 12345."),
        # A fact without a row in the table is meant by its own words
        ("What is your lucky number?", "My lucky number is 7."),
        # Plural facts and sentences are phrased as such
        ("Which items are it?", "My items are the lamp and the desk."),
        ("Are you travelling?", "I am abroad in Norway."),
        # An id and a number are two facts if the script has both
        ("What is your member number?", "My member number is 12."),
        ("What is your member ID?", "My member id is m7."),
        # Several things are answered at once
        ("What is your zip code? And please check the lamp. Do you confirm the return?",
         'I did "check lamp". It says: The lamp is OFF. My zip is 12345. Yes, please.'),
    ],
)  # fmt: skip
def test_it_gives_the_requested_facts(asked: str, told: str) -> None:
    assert talk(facts=FACTS | MORE_FACTS).say(asked) == told


def test_a_fact_of_the_request_comes_before_a_general_one() -> None:
    user = talk({"say": "One.", "facts": {"reason": "It broke."}}, {"say": "Two."}, facts={"reason": "I moved."})
    assert user.say("Why is that?") == "It broke."
    user.say("I have cancelled it.")
    assert user.say("Why is that?") == "I moved."


@pytest.mark.parametrize(
    "asked",
    ["What is your member ID?", "May I have your member number?", "I need the number of the member.", "Member code?"],
)
@pytest.mark.parametrize("name", ["member_id", "member_number"])
def test_an_id_of_its_own_is_also_a_number_or_a_code(name: str, asked: str) -> None:
    assert "is m7." in talk(facts={name: "m7"}).say(asked)


def test_an_email_address_is_no_address() -> None:
    user = talk(facts={"address": "1 Old Road"})
    assert user.say("What is your email address?") == "I do not know the email. My order id is #W12."


# Answers


def test_an_answer_is_given_when_all_its_words_occur() -> None:
    user = talk(answers=[{"asks": ["gift wrap", "card inside"], "say": "Blue paper."}])
    assert user.say("Do you want a wrap?") != "Blue paper."
    assert user.say("What wrap should the gift have?") == "Blue paper."


def test_an_answer_comes_once_before_a_yes() -> None:
    user = talk({"say": "Send all back.", "answers": [{"asks": ["confirm"], "say": "No, wait: not the tent."}]})
    assert user.say("All items go back. Do you confirm?") == "No, wait: not the tent."
    assert user.say("All but the tent go back. Do you confirm?") == "Yes, please."


# Confirmation and offers


@pytest.mark.parametrize(
    "text",
    [
        "I would return the lamp, which cannot be undone. Do you confirm? (yes/no)",
        "The refund goes to paypal_7. Shall I proceed?",
        "You want the lamp to be returned. Is that correct?",
        "Before I go on, please confirm:\n- the lamp goes back",
        "Would you like me to return the lamp?",
        "Would you like to return it today?",
        "I will return it now. Do you confirm?",
    ],
)
def test_it_confirms(text: str) -> None:
    assert talk().say(text) == "Yes, please."


@pytest.mark.parametrize(
    "text",
    ["What would you like me to do?", "How exactly would you like us to proceed?", "Okay. What do you want me to do?"],
)
def test_it_answers_an_open_question_by_its_request(text: str) -> None:
    assert talk().say(text) == RETURN["say"]


def test_a_question_for_a_fact_that_it_has_not_is_no_yes() -> None:
    assert "Yes" not in talk().say("Which colour would you like me to look for?")


def test_it_turns_down_what_its_script_declines() -> None:
    user = talk(accepts=["gift card"], declines=["gift card less"])
    assert user.say("Would you like a gift card?") == "Yes, please."
    assert user.say("I can only offer a gift card with 10 % less. Do you accept?") == "No, thank you."


def test_it_turns_down_extras_that_it_has_no_word_on() -> None:
    user = talk(accepts=["warranty"])
    assert user.say("Can I offer you a newspaper?") == "No, thank you."
    assert user.say("Would you also like our warranty?") == "Yes, please."


E_BIKE = {
    "say": "I would like to rent an e-bike for Saturday.",
    "facts": {"payment_method": "credit_card_1"},
    "insist": 1,
    "fallback": "Then I would like a city bike.",
}
YES = "Yes, please."


def renter(**script: Any) -> Talk:
    """A user who has asked for an e-bike."""
    return talk(E_BIKE, facts={"name": "Ada Berg", "user_id": "ada_1", "shop": "Dock 4"}, **script)


@pytest.mark.parametrize(
    "offer",
    [
        "Would you like to subscribe to our newsletter?",
        "Would you like to add travel insurance for $30?",
        "Do you want a helmet with that?",
        "Would you be interested in our gold membership?",
        "Interested in our gold membership?",
        "Can I interest you in our premium roadside membership?",
        "Would it be OK to add you to the mailing list for the newsletter?",
        "For just $5 more, I can add a helmet. Shall I?",
        "You might enjoy our membership programme. Should I enrol you?",
        "I recommend the premium insurance. Shall I go ahead and add it?",
        "May I add a helmet to your order?",
        "Care for a helmet?",
        "We also have a helmet for $5. Want one?",
        "There is also a helmet. Need it?",
        "Want the newsletter?",
        "Add insurance?",
    ],
)
def test_it_turns_down_offers_of_what_it_has_not_asked_for(offer: str) -> None:
    assert renter().say(offer) == "No, thank you."
    assert renter(accepts=["newsletter", "insurance", "helmet", "membership"]).say(offer) == YES


@pytest.mark.parametrize(
    "question",
    ["I can book the e-bike now. Shall I?", "The e-bike is free. Want it?", "Need a receipt?", "OK to go?", "May I?"],
)
def test_it_agrees_to_short_questions(question: str) -> None:
    assert renter().say(question) == YES


def test_it_has_no_objections() -> None:
    assert renter().say("I will book the e-bike. Any objections?") == "No objections, please go ahead."
    assert renter().say("Would you mind if I booked the e-bike?") == "No objections, please go ahead."
    assert renter().say("Mind if I add a helmet?") == "Please do not do that."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Would you like a city bike or an e-bike?", "An e-bike, please."),
        ("Is that for Saturday or Sunday?", "Saturday, please."),
        ("Should I charge credit_card_1 or paypal_2?", "Credit_card_1, please."),
        ("Would you prefer the morning or the afternoon?", E_BIKE["say"]),
    ],
)
def test_it_chooses_between_things_and_says_no_yes(text: str, said: str) -> None:
    assert renter().say(text) == said


@pytest.mark.parametrize(
    "text", ["May I verify your identity first?", "Please confirm your identity.", "I need to identify you first."]
)
def test_it_says_who_it_is(text: str) -> None:
    assert renter().say(text) == "My name is Ada Berg. My user id is ada_1."


def test_what_is_not_to_be_had_is_a_refusal() -> None:
    user = renter()
    assert user.say("I am sorry, there is no e-bike available.") == f"I must insist. {E_BIKE['say']}"
    assert user.say("They are all sold out.") == E_BIKE["fallback"]
    assert user.say("City bikes are out of stock, too.").endswith("###STOP###")
    for text in ("That model is on backorder.", "None of our bikes are free.", "E-bikes are out of service."):
        assert renter().say(text) == f"I must insist. {E_BIKE['say']}"


def test_it_does_not_agree_to_what_exceeds_its_budget() -> None:
    user, dear = renter(), "That costs $396, which exceeds your $100 budget. Shall I book it anyway?"
    assert user.say(dear) == f"No, thank you. {E_BIKE['fallback']}"
    assert user.say(dear) == "No, thank you."
    text = "It would cost more than you wanted to spend. OK?"
    assert renter().say(text) == f"No, thank you. {E_BIKE['fallback']}"


def test_an_envelope_and_thoughts_are_not_heard() -> None:
    user = renter()
    assert user.say('{"message": "May I have your user id?"}') == "My user id is ada_1."
    assert user.say("<think>The shop? Shall I proceed?</think>May I have your name?") == "My name is Ada Berg."


def test_the_answer_to_a_confirmation_waits_for_one() -> None:
    other = {"asks": ["(yes/no)"], "say": "I would prefer the other card."}
    user = renter(answers=[other])
    assert user.say("To proceed, I would like to have your user id, please.") == "My user id is ada_1."
    assert user.say("I will rent it for $20. Do you confirm (yes/no)?") == other["say"]
    assert user.say("I will rent it for $20. Do you confirm (yes/no)?") == YES


def test_a_fact_is_given_next_to_a_prepared_answer() -> None:
    answer = {"asks": ["gift wrap"], "say": "Blue, please."}
    user = renter(answers=[answer])
    assert user.say("Do you want gift wrap? And may I have your user id?") == "My user id is ada_1. Blue, please."


def test_of_two_ways_it_takes_the_one_that_it_accepts() -> None:
    user = talk(accepts=["refuel"], declines=["another plan"])
    assert (
        user.say("Would you like to refuel data or to change to another plan?") == "Refuel, please, not another plan."
    )


# The device


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Please turn on the lamp.", 'I did "toggle lamp". It says: Lamp is now ON.'),
        ("Is the lamp on?", 'I did "check lamp". It says: The lamp is OFF.'),
        ("Please ring the bell with the soft tune.", 'I tried "ring", but it says: Error: the bell is broken.'),
        ("Please ring the bell.", "Which tune do you mean?"),
    ],
)
def test_it_reports_what_its_device_says(text: str, said: str) -> None:
    assert talk().say(text) == said


TOGGLE, CHECK = ("toggle_lamp", {}), ("check_lamp", {})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("Please turn on the lamp.", [TOGGLE]),
        ('Please use `check_lamp`, then call ring(tune="shrill").', [CHECK, ("ring", {"tune": "shrill"})]),
        # In order of mention
        (
            "First ring the bell with the loud tune, then switch the lamp on and check the lamp.",
            [("ring", {"tune": "high"}), TOGGLE, CHECK],
        ),
        # What hangs on a condition waits for what does not
        ("Please check the lamp. If it is off, turn the lamp on.", [CHECK]),
        # An argument is missing
        ("Please ring the bell.", []),
        # Nothing is asked of it
        ("Do not turn on the lamp.", []),
        ("I will turn on the lamp at our shop.", []),
        ("Are you willing to turn on the lamp?", []),
        ("The lamp was turned on yesterday.", []),
    ],
)
def test_it_does_on_its_device_what_it_is_asked_to(text: str, calls: Any) -> None:
    user = talk()
    user.say(text)
    assert user.calls == calls


def test_a_switch_that_stands_right_stays_as_it_is() -> None:
    opened = Talk({"requests": [RETURN]}, on=True)
    opened.say(GREETING)
    assert opened.say("Please turn on the lamp.") == 'I did "toggle lamp". It says: Lamp is now ON.'
    assert opened.called == ["toggle_lamp", "toggle_lamp"]


def test_it_does_not_do_what_its_script_declines() -> None:
    user = talk(declines=["ring bell"])
    assert user.say("Please ring the bell with the loud tune.") == "No, thank you."
    assert user.calls == []


def test_several_results_in_one_message_are_read() -> None:
    task = Task.model_validate({"id": "t", "user_scenario": {"instructions": "x", "script": {"requests": [RETURN]}}})
    user = ScriptedUser(ParticipantContext("user", list(Handset.tools().values()), "", task, spoken=SPOKEN))
    assert run(user.respond(AssistantMessage(content="Please check the lamp."))).tool_calls
    results = [ToolMessage(content="The lamp glows.", requestor="user")]
    assert "The lamp glows." in run(user.respond(MultiToolMessage(tool_messages=results))).text


# Refusals


def test_it_insists_then_falls_back_then_goes_on() -> None:
    user = talk(RETURN | {"insist": 1, "fallback": "Then exchange it."}, {"say": "And cancel the desk."})
    assert user.say("Unfortunately, I cannot return it.") == f"I must insist. {RETURN['say']}"
    assert user.say("I am sorry, but that is not possible.") == "Then exchange it."
    assert user.say("I am unable to exchange it.") == "And cancel the desk."


def test_refusal_with_a_question_gives_new_facts_only() -> None:
    user = talk(RETURN | {"insist": 1})
    text = "I cannot find that. Which order is it?"
    assert user.say(text) == "My order id is #W12."
    assert user.say(text) == f"I must insist. {RETURN['say']}"


def test_a_refusal_that_comes_with_an_accepted_offer_is_no_end() -> None:
    user = talk(accepts=["voucher"])
    assert user.say("Unfortunately I cannot refund it. Would you like a voucher?") == "Yes, please."


# The end of a request


@pytest.mark.parametrize(
    "news",
    [
        "I have cancelled it.",
        "Your lamp has been returned.",
        "All set!",
        "The return is now on its way. Is there anything else I can help you with?",
        "Your return was successful. If you need anything else, let me know!",
    ],
)
def test_news_leads_to_the_next_request_and_then_to_the_end(news: str) -> None:
    user = talk(RETURN, {"say": "Now the desk."})
    assert user.say(news) == "Now the desk."
    assert user.say(news) == "Thank you, that was all. ###STOP###"


@pytest.mark.parametrize(
    "text",
    [
        "I have found your account. How can I help you?",
        "Thank you, I have verified your identity. What would you like me to do with the lamp?",
        "Once it has been returned, you get the money.",
    ],
)
def test_what_is_no_news_leads_nowhere(text: str) -> None:
    user = talk(RETURN, {"say": "Now the desk."})
    assert "desk" not in user.say(text)


@pytest.mark.parametrize(
    "text",
    [
        "I have found it: it has been ordered for Friday. I will return it right away.",
        "Since it has been delivered, I'll return it for you.",
        "Your lamp has been found. Let me return it",
        "It has been found. I am going to return it.",
        "It has been found. I\N{RIGHT SINGLE QUOTATION MARK}m returning it now.",
        "Done, it has been found. I will go ahead and return it.",
    ],
)
def test_news_next_to_an_announcement_is_no_end(text: str) -> None:
    user = talk(RETURN, {"say": "Now the desk."})
    assert user.say(text) == "All right."
    assert user.say("It has been returned.") == "Now the desk."


@pytest.mark.parametrize(
    "text",
    [
        "It has been returned. You will receive an email.",
        "It has been returned. I will send you a confirmation.",
        "It has been returned. I will refund you within five days.",
        "I will return it now. It has been returned.",
        "I will return it, and now it has been returned.",
        "It has been returned. I will make sure that it arrives.",
        "It has been returned. I will keep an eye on it. Is there anything else?",
        "It has been returned. I will note that. Have a nice day!",
    ],
)
def test_a_promise_and_what_has_been_done_are_no_announcement(text: str) -> None:
    assert talk(RETURN, {"say": "Now the desk."}).say(text) == "Now the desk."


def test_a_question_is_dealt_with_by_an_answer() -> None:
    user = talk({"say": "How much is left on my card?"}, {"say": "Now the desk."})
    assert user.say("There are $12 left.") == "Now the desk."


def test_what_else_there_is_counts_once_the_request_was_dealt_with() -> None:
    user = talk()
    assert user.say("Is there anything else?").endswith(RETURN["say"])
    assert "###STOP###" in user.say("Is there anything else?")


LAMP_ON = {"goals": [{"tool": "check_lamp", "expects": ["is on"]}]}


def test_it_believes_no_news_before_its_goal_is_met() -> None:
    user = talk(**LAMP_ON)
    assert user.say("That should work now.").startswith("It is not solved yet.")
    user.say("Please switch on the lamp.")
    assert "###STOP###" in user.say("Is it working now?")


def test_a_goal_is_for_the_last_request_only() -> None:
    user = talk({"say": "Which lamp is it?"}, {"say": "Light it."}, **LAMP_ON)
    assert user.say("It is the desk lamp. Anything else?") == "Light it."
    assert user.calls == []


@pytest.mark.parametrize(
    "notice",
    [
        "ONE MOMENT PLEASE, A HUMAN AGENT TAKES OVER FROM HERE.",
        "YOU ARE BEING TRANSFERRED TO A HUMAN AGENT..",
        "I am transferring you to a colleague now.",
    ],
)
def test_a_transfer_ends_it(notice: str) -> None:
    assert talk().say(notice).endswith("###TRANSFER###")


@pytest.mark.parametrize(
    "text",
    ["Would you like to be transferred to a human agent?", "I cannot transfer you for this.", "Is it connected?"],
)
def test_talk_of_a_transfer_is_none(text: str) -> None:
    assert "###TRANSFER###" not in talk().say(text)


# Patience


def test_what_it_does_not_understand_it_says_and_in_the_end_it_gives_up() -> None:
    user = talk(patience=3)
    said = [user.say("The weather is fine.") for _ in range(3)]
    assert said[0] == f"I am not sure what you mean. My order id is #W12. {RETURN['say']}"
    assert said[1] == f"I am not sure what you mean. {RETURN['say']}"
    assert said[2] == "This is getting us nowhere. I give up. ###STOP###"


def test_being_asked_the_same_again_and_again_is_no_progress() -> None:
    user = talk(facts=FACTS, patience=3)
    said = [user.say("What is your name?") for _ in range(4)]
    assert said[:3] == ["My name is Ada Berg."] * 3
    assert "###STOP###" in said[3]


def test_progress_restores_its_patience() -> None:
    user = talk(facts=FACTS, patience=2)
    user.say("The weather is fine.")
    user.say("What is your name?")
    assert "###STOP###" not in user.say("The weather is fine.")


# In a conversation


def test_it_is_the_user_called_scripted(tmp_path: Any) -> None:
    assert load_source("scripted", "user").target is ScriptedUser
    domain: Domain = tiny.make(tmp_path)
    wanted = Task.model_validate(
        {"id": "t", "user_scenario": {"instructions": "x", "script": {"requests": [RETURN], "facts": FACTS}}}
    )
    replies: list[str] = ["What is your zip code?", "It has been returned. Anything else?"]
    agent: Callable[..., str] = lambda messages, tools: replies.pop(0)  # noqa: E731 - as short as can be
    simulation = pytest_tau.simulate(wanted, domain=domain, agent=agent, user="scripted")
    said = [message.content for message in simulation.messages if message.role == "user"]
    assert said == [RETURN["say"], "My zip is 12345.", "Thank you, that was all. ###STOP###"]
    assert simulation.termination_reason == "user_stop"


# Without a script


def prose(reason: str, known: str = "", rules: str = "") -> dict[str, Any]:
    return {"instructions": {"reason_for_call": reason, "known_info": known, "task_instructions": rules}}


def made(scenario: dict[str, Any]) -> Any:
    task = Task.model_validate({"id": "t", "user_scenario": scenario})
    return script_of(task, list(Handset.tools().values()), SPOKEN)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        # Tokens that end a conversation are not said
        ("You want a refund. Say ###STOP### then, or ###TRANSFER### now.", "I want a refund. Say then, or now."),
        (
            "Your lamp is broken and you want a new one. They told you to call yourself.",
            "My lamp is broken and I want a new one. They told me to call myself.",
        ),
    ],
)
def test_the_reason_for_the_call_is_said_in_the_first_person(reason: str, said: str) -> None:
    assert [request.say for request in made(prose(reason)).requests] == [said]


def test_facts_are_taken_from_the_prose() -> None:
    known = (
        "You are Ada Berg, your user id is ada_berg_1234 and your email is ada@example.com. You live in zip code 12345. "
        "Your phone number is 555-123-2002. You are currently abroad in Norway."
    )
    assert made(prose("You want to return order #W12 and cancel reservation ABC12D.", known)).facts == {
        "name": "Ada Berg",
        "email": "ada@example.com",
        "zip": "12345",
        "user_id": "ada_berg_1234",
        "phone_number": "555-123-2002",
        "order_id": "#W12",
        "reservation_id": "ABC12D",
        "location": "abroad in Norway",
    }


@pytest.mark.parametrize(
    ("known", "facts"),
    [
        (
            "You are ada_berg_1234 living in zipcode 12345.",
            {"name": "Ada Berg", "zip": "12345", "user_id": "ada_berg_1234"},
        ),
        ("You name is Ada Berg, and you live in Denver, CO, 12345.", {"name": "Ada Berg", "zip": "12345"}),
    ],
)
def test_a_name_may_hide_in_an_id_and_a_zip_code_in_an_address(known: str, facts: Any) -> None:
    assert made(prose("You want to return order #W12345.", known)).facts == {**facts, "order_id": "#W12345"}


def test_offers_and_goals_are_taken_from_the_prose() -> None:
    rules = "You are willing to refuel 2.0 GB, but you do not want to change your plan. You are content when the lamp is on."
    script = made(prose("Your data is gone.", "", rules))
    assert (script.accepts, script.declines) == (["refuel"], ["change plan"])
    assert script.facts["refuel_amount"] == "2.0 GB"
    assert [(goal.tool, goal.expects) for goal in script.goals] == [("check_lamp", ["is ON"])]


def test_one_text_of_instructions_will_do() -> None:
    user = Talk(instructions="You are Ada Berg. You want a lamp.")
    assert user.say(GREETING) == "I am Ada Berg. I want a lamp."
    assert user.say("What is your name?") == "My name is Ada Berg."


def test_the_script_of_the_docs_is_one() -> None:
    text = (Path(__file__).parents[2] / "docs" / "scripted_user.md").read_text("utf-8")
    shown = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert shown
    script = UserScript.model_validate(json.loads(shown[1])["script"])
    assert script.requests[0].facts["order_id"] == "#W12"


# The words of a domain


def test_how_people_talk_of_a_tool_is_no_part_of_what_a_model_sees() -> None:
    ring = Handset.tools()["ring"]
    assert SPOKEN["ring"].values["tune"]["low"] == ("low/soft tune",)
    assert "soft" not in str(ring.openai_schema)
    assert not hasattr(ring, "spoken")
