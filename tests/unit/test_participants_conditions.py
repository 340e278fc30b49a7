"""What the scripted user reads of the conditions and wishes in a task's prose."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tau.models import AssistantMessage, Task, UserScript, parse_task
from pytest_tau.participants import ScriptedUser, script_of, unread_prose
from pytest_tau.participants.context import ParticipantContext
from pytest_tau.participants.task_views import view_of

REASON = "You want to cancel order #W1."


def a_task(reason: str = REASON, rules: str = "", **known: Any) -> Task:
    given = {"domain": "retail", "reason_for_call": reason, "task_instructions": rules, **known}
    return parse_task({"id": "t", "user_scenario": {"instructions": given}})


def script(reason: str = REASON, rules: str = "") -> UserScript:
    return script_of(a_task(reason, rules), [], {})


def answers(made: UserScript) -> list[tuple[list[str], str]]:
    return [(each.asks, each.say) for each in made.answers]


def said(task: Task, *texts: str) -> list[str]:
    user = ScriptedUser(ParticipantContext("user", [], "", view_of(task, "user"), seed=0))
    replies = []
    for text in ("Hi! How can I help you today?", *texts):
        try:
            user.respond(AssistantMessage(content=text)).send(None)
        except StopIteration as end:
            replies.append(end.value.content)
    return replies[1:]


class TestConditions:
    @pytest.mark.parametrize(
        ("rules", "fact", "value"),
        [
            ("If the agent asks for the reason, say you bought it twice.", "reason", "I bought it twice."),
            ("If asked for the payment method, you prefer the gift card.", "payment_method", "I prefer the gift card."),
            ("If the agent asks, you travel one way.", "trip_type", "I travel one way."),
            ("If several colours are available, you prefer blue.", "new_items", "I prefer blue."),
        ],
    )
    def test_an_answer_to_a_question_for_a_fact(self, rules: str, fact: str, value: str) -> None:
        assert script(rules=rules).facts[fact] == value
        assert not unread_prose(a_task(rules=rules))

    @pytest.mark.parametrize("then", ["say thanks and leave", "leave", "say that you will ask around, and leave"])
    def test_leaving_is_no_further_request(self, then: str) -> None:
        made = script(rules=f"Once it is cancelled, {then}.")
        assert [each.say for each in made.requests] == [each.say for each in script().requests]

    def test_an_answer_to_another_question(self) -> None:
        made = script(rules="If the agent asks you for which floor lamp, it is the green one.")
        assert made.facts["floor_lamp"] == "It is the green one."
        made = script(rules="If the agent wants you to pay a fee, mention that you have a voucher.")
        assert answers(made) == [(["fee"], "I have a voucher.")]

    def test_a_statement_if_asked(self) -> None:
        made = script(rules="The box has no lid; say so if asked.")
        assert answers(made) == [(["box lid"], "The box has no lid.")]

    def test_a_change_of_mind(self) -> None:
        reason = f"{REASON} When the agent asks for confirmation, only return the lamp."
        assert script(reason).requests[0].say == "I want to cancel order #W1."
        found = said(a_task(reason), "I will cancel order #W1. Do you confirm (yes/no)?", "Do you confirm (yes/no)?")
        assert found == ["Please only return the lamp.", "Yes, please."]

    @pytest.mark.parametrize(
        ("rules", "fallback"),
        [
            ("If that is not possible, you want a refund.", "I want a refund."),
            ("If the agent says that it cannot be stopped, mention that your dog is ill.", "My dog is ill."),
            (
                "If not possible, you are angry, then ask for a manager.",
                "I would like a manager.",
            ),
            ("If the agent refuses, ask to be transferred.", "I would like to be transferred."),
            ("If Agent tells you that it is not possible,\nask the agent to return it.", "Please return it."),
        ],
    )
    def test_a_refusal(self, rules: str, fallback: str) -> None:
        assert script(rules=rules).requests[0].fallback == fallback
        assert said(a_task(rules=rules), "I am sorry, that is not possible.") == [fallback]

    def test_a_refusal_of_something_certain_beside_any_other(self) -> None:
        made = script(
            rules="If the agent says the lamp is sold out, you want a candle. If it is not possible, you want a refund."
        )
        assert made.requests[0].fallback == "I want a refund."
        assert answers(made) == [(["lamp sold"], "I want a candle.")]

    @pytest.mark.parametrize("rules", ["If the agent refuses, accept it and move on.", "If asked to pay, you accept."])
    def test_giving_in_needs_no_words(self, rules: str) -> None:
        made = script(rules=rules)
        assert (made.requests[0].fallback, made.answers) == (None, [])
        assert not unread_prose(a_task(rules=rules))

    @pytest.mark.parametrize(
        "rules",
        [
            "If the fare is above $70, leave out the dog.",
            "When the agent asks you to confirm, agree below $30 only.",
            "You keep the lamp if there is no money back.",
            "If asked for your zip code, say 11111 first, then the right one.",
        ],
    )
    def test_a_decision_is_not_read(self, rules: str) -> None:
        made = script(rules=rules)
        assert (made.requests[0].fallback, made.answers) == (None, [])
        assert unread_prose(a_task(rules=rules)) == [rules]

    def test_in_the_reason_an_alternative_is_said(self) -> None:
        reason = "You want the red lamp. If there is no red one, you want the blue one."
        assert script(reason).requests[0].say == "I want the red lamp. If there is no red one, I want the blue one."
        reason = "You wonder if the agent can wrap it."
        assert script(reason).requests[0].say == "I wonder if the agent can wrap it."


class TestWishes:
    def test_facts(self) -> None:
        made = script(rules="You want to pay with your gift card. You don't need insurance. You want a window seat.")
        assert made.facts["payment_method"] == "I want to pay with my gift card."
        assert made.facts["insurance"] == "I don't need insurance."
        assert unread_prose(a_task(rules="You want a window seat.")) == ["You want a window seat."]

    def test_several_wishes_about_one_fact(self) -> None:
        made = script(rules="You do not want to fly at 5am. You prefer direct flights.")
        assert made.facts["flights"] == "I do not want to fly at 5am. I prefer direct flights."

    def test_further_requests(self) -> None:
        made = script(rules="You also want to know the weight. After it is done, ask the agent for a receipt.")
        assert [each.say for each in made.requests[1:]] == [
            "I also want to know the weight.",
            "I would like a receipt.",
        ]

    def test_what_the_reason_has_is_no_further_request(self) -> None:
        assert len(script(rules="You want to cancel the order.").requests) == 1

    def test_insisting(self) -> None:
        assert script(rules="Be persistent.").requests[0].insist == 2
        assert script().requests[0].insist == 0

    @pytest.mark.parametrize(
        "direction",
        ["Make sure to say both things.", "(The id is 5; do not mention it).", "."],
    )
    def test_directions_are_not_said(self, direction: str) -> None:
        assert script(f"{REASON} {direction}").requests[0].say == "I want to cancel order #W1."


def test_a_script_of_the_task_is_not_changed() -> None:
    task = a_task(rules="If that is not possible, you want a refund if it is above $5.")
    own = UserScript.model_validate({"requests": [{"say": "Hello."}]})
    scenario = task.user_scenario.model_copy(update={"script": own})
    scripted = task.model_copy(update={"user_scenario": scenario})
    assert script_of(scripted, [], {}) == own
    assert unread_prose(scripted) == []
