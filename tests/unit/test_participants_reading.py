"""How the user without a model reads an agent: layout, questions, what it says when it does not know or understand."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import pytest_tau
from benchmarks import user_reading
from pytest_tau.environment import Spoken, Toolkit, tool
from pytest_tau.language.layout import blocks
from pytest_tau.language.parser import parse
from pytest_tau.models import AssistantMessage, Task
from pytest_tau.participants import ParticipantContext, ScriptedUser
from pytest_tau.testing import scripted_facts, scripted_replies

from . import tiny
from .tiny import run

GREETING = "Hi! How can I help you today?"
SAY = "I would like to cancel my table."
FACTS = {"name": "Ada Berg", "booking_id": "B1"}


class Phone(Toolkit[tiny.TinyUserDB]):
    """A device whose tools have no words of a domain."""

    @tool("write")
    def unlock_bank_app(self) -> str:
        """Unlock the app."""
        return "Unlocked."

    @tool("write")
    def restart_phone(self) -> str:
        """Restart the phone."""
        return "Restarted."


def user_of(
    scenario: dict[str, Any] | None = None, *, tools: Any = (), spoken: Any = None, **script: Any
) -> ScriptedUser:
    wanted = {"requests": [{"say": SAY}], "facts": FACTS} | script
    scenario = {"instructions": "You want to cancel your table.", "script": wanted} | (scenario or {})
    task = Task.model_validate({"id": "t", "user_scenario": scenario})
    user = ScriptedUser(ParticipantContext("user", list(tools), "", task, spoken=spoken or {}))
    hear(user, GREETING)
    return user


def hear(user: ScriptedUser, text: str) -> str:
    return run(user.respond(AssistantMessage(content=text))).text


# Layout


def test_marks_are_no_words():
    text = "## Your **booking**\n> _Please_ see `B1`:\n---\n| Name | Time |\n|---|---|\n| Ada | 19:00 |"
    assert [tuple(each) for each in blocks(text)] == [
        ("Your booking", "heading"),
        ("Please see `B1`:", "text"),
        ("Name, Time", "row"),
        ("Ada, 19:00", "row"),
    ]


@pytest.mark.parametrize("mark", ["-", "*", "+", "•", "1.", "1)", "(1)", "a)", "✅", "1️⃣"])
def test_items_have_many_marks(mark):
    assert blocks(f"{mark} **Booking ID** – if you have it") == [("Booking ID – if you have it", "item")]


def test_names_of_tools_keep_their_underscores():
    assert (
        blocks("Use __check__ and set_apn_settings, not *this*.")[0].text == "Use check and set_apn_settings, not this."
    )


@pytest.mark.parametrize("text", ["User ID:\nBooking reference:", "Please send:\nUser ID\nBooking reference"])
def test_lines_of_a_form_are_items(text):
    assert [each.form for each in blocks(text)][-2:] == ["item", "item"]


LIST = "1. **Your name**\n2. **Your booking ID** (if you have it at hand)\n"


@pytest.mark.parametrize(
    "text",
    [
        f"I'll need a couple of things:\n\n{LIST}\nCould you please provide those?",
        f"Happy to help!\n\n{LIST}\nPlease share these details.",
        f"Please provide the following.\n{LIST}",
        f"**What I need**\n{LIST}\nOnce I have that, could you give me both?",
        f"To begin, please reply with:\n### About you\n{LIST}",
    ],
)
def test_a_list_is_what_the_sentence_before_or_after_it_asks_for(text):
    assert hear(user_of(), text) == "My name is Ada Berg. My booking id is B1."


@pytest.mark.parametrize(
    "text",
    [
        f"This is on file:\n{LIST}\nDoes everything look right?",
        f"Here is the summary:\n{LIST}\nPlease confirm these details.",
        f"Please confirm the following:\n{LIST.replace('Your', 'The')}",
        # An offer to find out which
        "Would you like me to check which tables are free?",
        "Shall I tell you what it costs?",
    ],
)
def test_a_list_of_details_and_an_offer_ask_for_nothing_but_a_yes(text):
    assert hear(user_of(), text) == "Yes, please."


@pytest.mark.parametrize(
    "text",
    [
        # The explanation of an item, and the purpose of a question
        "I need:\n- **Name** - as you have no email on file",
        "To check your email, may I have your name so that I can find your email?",
    ],
)
def test_what_explains_a_question_asks_for_nothing(text):
    assert hear(user_of(facts={"name": "Ada Berg", "email": "a@b.org"}), text) == "My name is Ada Berg."


# Questions


@pytest.mark.parametrize(
    "text",
    [
        "Which booking would you like me to cancel?",
        "Sure! Which booking would you like to cancel?",
        "Please let me know which booking you would like to cancel.",
        "I see two bookings. Which one do you want to cancel?",
        "What is your reservation number?",
    ],
)
def test_which_is_answered_by_the_fact(text):
    said = hear(user_of(), text)
    assert "My booking id is B1." in said
    assert "Yes" not in said


def test_which_without_a_fact_is_answered_by_the_request_and_then_by_a_wish_to_look():
    user = user_of(facts={})
    assert hear(user, "Which table do you mean?") == SAY
    assert hear(user, "Which table do you mean?") == "I am not sure. Could you look at each of them?"


def test_both_questions_of_a_text_are_answered():
    said = hear(user_of(), "Please confirm that you want to cancel it, and tell me which booking it is.")
    assert "My booking id is B1." in said
    assert "Yes, please." in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # A fact that the agent shows
        ("Your booking ID is B1. Can you confirm your booking ID?", "Yes, please. My booking id is B1."),
        # A question that the script does not know
        ("Did it rain yesterday?", f"I do not know. My name is Ada Berg. My booking id is B1. {SAY}"),
        # An unknown fact hides no known one
        (
            "Please give me your email address and your booking number.",
            "I do not know the email. My booking id is B1.",
        ),
        # An agent at work
        ("I am processing your cancellation.", "All right."),
    ],
)
def test_it_says_what_it_knows_and_no_more(text, said):
    assert hear(user_of(), text) == said


def test_asked_to_repeat_it_repeats_its_answer():
    user = user_of()
    assert hear(user, "Shall I go ahead?") == "Yes, please."
    assert hear(user, "I'm sorry, could you rephrase that?") == "Yes, please."


def test_a_statement_about_the_request_is_heard():
    user = user_of()
    assert hear(user, "The table is for six.") == f"All right, please go on. {SAY}"
    assert user.understandings[-1].outcome == "understood"


def test_what_the_script_declines_is_looked_for_within_a_sentence():
    user = user_of(declines=["new table"])
    assert hear(user, "Your table goes. Nothing new is booked. Shall I go ahead?") == "Yes, please."
    assert hear(user, "You get a new table. Shall I go ahead?") == "No, thank you."


@pytest.mark.parametrize(
    "text",
    [
        "Once you have found your booking ID, please send it to me.",
        '{"name": "get_booking", "arguments": {"booking_id": "<booking_id>"}}',
        '{"booking_id": "your_booking_id"}',
    ],
)
def test_a_gap_to_fill_asks_for_the_fact(text):
    user = user_of()
    assert "My booking id is B1." in hear(user, text)
    assert user.understandings[-1].outcome == "understood"


# What it does not know


def test_instead_of_an_unknown_fact_it_gives_what_the_agent_has_offered():
    user = user_of(facts=FACTS | {"zip": "12345"})
    said = hear(user, "What is your email? If you do not remember it, I can find you by name and zip code.")
    assert said == "I do not know the email. My name is Ada Berg. My zip is 12345."


def test_instead_of_an_unknown_fact_it_gives_what_it_is_found_by():
    user = user_of(facts=FACTS | {"reason": "I am ill."})
    assert hear(user, "May I have your email?") == "I do not know the email. My name is Ada Berg. My booking id is B1."
    assert hear(user, "May I have your email?") == f"I do not know the email. {SAY}"


def test_an_agent_that_has_not_found_it_and_asks_for_another_fact_has_not_refused():
    user = user_of()
    assert hear(user, "Unfortunately I cannot find you. What is your email?").startswith("My name is Ada Berg.")


def test_lost_it_gives_what_it_has_not_said_once():
    user = user_of()
    hear(user, "What is your name?")
    first = hear(user, "The weather is fine.")
    assert first == f"I am not sure what you mean. My booking id is B1. {SAY}"
    assert hear(user, "The weather is fine.") == f"I am not sure what you mean. {SAY}"
    assert [each.outcome for each in user.understandings] == ["understood"] * 2 + ["not understood"] * 2


def test_what_it_gave_when_lost_is_still_an_answer():
    user = user_of(patience=3)
    for text in ("The weather is fine.", "The weather is fine.", "What is your booking ID?", "The weather is fine."):
        said = hear(user, text)
    assert "###STOP###" not in said


def test_only_what_it_is_found_by_is_volunteered():
    user = user_of(facts={"name": "Ada Berg", "payment_method": "card_1"})
    assert "card_1" not in hear(user, "The weather is fine.")


def prose_user(rule: str) -> ScriptedUser:
    """Return a user whose task has no script."""
    instructions = {
        "reason_for_call": "You want a lamp.",
        "known_info": "You are Ada Berg. Your zip is 12345.",
        "task_instructions": rule,
    }
    task = Task.model_validate({"id": "t", "user_scenario": {"instructions": instructions}})
    return ScriptedUser(ParticipantContext("user", [], "", task))


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("You do not want to reveal much about yourself.", {"Ada Berg", "12345"}),
        ("Do not mention your zip code unless you are asked.", {"12345"}),
        ("You will not share your name.", {"Ada Berg"}),
        ("Do not tell the agent a joke.", set()),
    ],
)
def test_what_the_instructions_withhold_is_never_volunteered(rule, kept):
    user = prose_user(rule)
    hear(user, GREETING)
    said = hear(user, "The weather is fine.")
    assert {value for value in ("Ada Berg", "12345") if value not in said} == kept
    assert hear(user, "May I have your name and zip code?") == "My name is Ada Berg. My zip is 12345."


def test_a_script_is_followed_whatever_the_prose_says():
    user = user_of({"instructions": "You want to cancel your table. Never tell your name. Tell everything up front."})
    assert hear(user, "The weather is fine.") == (
        f"I am not sure what you mean. My name is Ada Berg. My booking id is B1. {SAY}"
    )


def test_all_is_given_at_first_if_the_instructions_want_it():
    user = prose_user("Provide all details in your first message.")
    assert hear(user, GREETING) == "I want a lamp. My name is Ada Berg. My zip is 12345."


def test_giving_up_is_recorded():
    user = user_of(patience=1)
    hear(user, "The weather is fine.")
    assert user.understandings[-1].outcome == "gave up"


# Words


@pytest.mark.parametrize("asked", ["Which trip is it?", "What is the reservation number?", "Your confirmation code?"])
def test_names_of_facts_have_synonyms(asked):
    assert hear(user_of(), asked) == "My booking id is B1."


def test_a_domain_adds_phrases_for_facts():
    spoken = {"booking_id": Spoken(("which/what voyage",))}
    assert hear(user_of(spoken=spoken), "Which voyage do you mean?") == "My booking id is B1."


@pytest.mark.parametrize(
    ("asked", "called"),
    [
        ("Please unlock your banking app.", "unlock_bank_app"),
        ("Let's try restarting your phone.", "restart_phone"),
        ("1. **Restart your phone**", "restart_phone"),
        ("### Restart your phone", None),
    ],
)
def test_tools_have_other_forms_of_their_words(asked, called):
    user = user_of(tools=Phone.tools().values())
    reply = run(user.respond(AssistantMessage(content=asked)))
    assert [call.name for call in reply.tool_calls or ()] == ([called] if called else [])


def test_a_value_may_be_in_another_sentence():
    domain = pytest_tau.load_domain("telecom")
    task = domain.tasks()[0]
    text = "Open the permissions of the messaging app. Then allow the storage permission."
    assert '"grant app permission"' in scripted_replies(domain, task, [GREETING, text])[1]


# The measure


def test_phrasings_of_agents_are_understood():
    answered = user_reading.phrasings_answered()
    wrong = [each for each in answered if not each.right]
    assert len(answered) >= 200
    assert len(wrong) <= len(answered) * 0.03, wrong


def test_the_measure_finds_a_user_that_says_yes_to_everything(monkeypatch):
    monkeypatch.setattr(user_reading, "scripted_replies", lambda domain, task, texts: ["", "Yes, please."])
    right = sum(each.right for each in user_reading.phrasings_answered())
    assert 0 < right < 120


def test_a_stored_conversation_of_another_user_is_compared(tmp_path, capsys):
    domain = pytest_tau.load_domain("retail")
    task = domain.tasks()[0]
    path = tmp_path / "run.json"
    simulation = pytest_tau.simulate(task, domain=domain, agent="rules", user="scripted")
    run_file = {"tasks": [], "simulations": [simulation.model_dump(mode="json")]}
    path.write_text(json.dumps(run_file), encoding="utf-8")
    assert user_reading.main([f"retail={path}"]) == 0
    assert "lost 0.0000" in capsys.readouterr().out


# For people who write scripts


def test_replies_and_facts_of_a_task():
    domain = pytest_tau.load_domain("telecom")
    task = domain.tasks()[0]
    replies = scripted_replies(
        domain, task, [GREETING, "Please check the status bar.", "I am transferring you.", "Hi?"]
    )
    assert replies[1].startswith('I did "check status bar". It says:')
    assert replies[2:] == ["All right, thank you. ###TRANSFER###"]
    assert scripted_facts(domain, task)["name"] == task.user_scenario.script.facts["name"]


def test_replies_within_an_event_loop():
    domain = pytest_tau.load_domain("mock")
    task = Task.model_validate({"id": "t", "user_scenario": {"instructions": "You want tea."}})

    async def replies() -> list[str]:
        return scripted_replies(domain, task, [GREETING])

    assert asyncio.run(replies()) == ["I want tea."]


def test_the_parser_marks_what_asks():
    sentence = parse("Could you please share your booking ID so I can look it up?").sentences[0]
    assert sentence.asked == ("booking", "id")
