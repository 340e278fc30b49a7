"""What looks like a fault of the user and is what its scenario says, or what the agent has led it to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from benchmarks.known_faults import SPOILED_USERS
from pytest_tau.diagnosis import (
    agent_rules,
    agreed_rules,
    limit_rules,
    script_rules,
    undecided_rules,
    user_evidence,
    user_rules,
)
from pytest_tau.diagnosis.deviations import Deviation
from pytest_tau.language.forms import forms_of, is_same
from pytest_tau.language.wishes import refused_in, withdraws

from .blames import HELLO, PRICE, STOP, answered, blamed, facts_of, named, named_for_call, scenario
from .tiny import action, agent, call, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

VOUCHER = "Remove the mug. If the shop cannot refund to a voucher, no cancellation at all."


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("I cannot refund it to a voucher, only to your card.", ("user", 4)),
        # The condition was not met, as far as the user knows.
        ("I cannot remove single parts of it.", None),
        ("You have a mug.", None),
    ],
)
def test_a_condition_that_the_agent_has_not_refused(domain: Domain, before: str, expected: Any) -> None:
    shown_mug = answered(call("look", item_id="lamp"), '{"item_id": "lamp", "name": "Mug"}')
    talk = [*shown_mug, agent(f"{before} Shall I remove the mug? Do you confirm?"), user("Yes.")]
    facts = facts_of(domain, scenario(VOUCHER), HELLO, *talk, *answered(call("tag", item_id="lamp", tag="mug")), STOP)
    assert named_for_call(script_rules.kept_wish, facts, wanted=None) == expected


@pytest.mark.parametrize(
    ("sentence", "condition"),
    [
        ("If you cannot pay to a voucher, keep it.", "pay to a voucher"),
        ("Take the red one (if not possible, do nothing).", "Take the red one"),
        ("If they ask for a yes, only take the lamp.", None),
        ("You regret it.", None),
    ],
)
def test_what_a_condition_says_is_refused(sentence: str, condition: str | None) -> None:
    found = refused_in(sentence)
    assert (found is None) is (condition is None)
    assert set((condition or "").split()) <= set((found or "").replace("(", "").split())


def test_two_ways_of_writing_one_value() -> None:
    assert {"Texas", "TX"} <= set(forms_of("Texas"))
    # As a word it is in many texts.
    assert forms_of("IN") == ["Indiana"]
    assert {"May 20", "20th of May", "5/20/2024"} <= set(forms_of("2024-05-20"))
    assert "5551232002" in forms_of("555-123-2002")
    assert forms_of("lamp-1") == ["lamp-1"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("TX", "Texas", True),
        ("USA", "United States", True),
        ("2024-05-20", "May 20, 2024", True),
        ("(555) 123-2002", "555-123-2002", True),
        ("TX", "Tennessee", False),
        ("2024-05-20", "2023-05-20", False),
        ("2024-13-40", "May 20, 2024", False),
        ("555-123-2002", "555-123-2003", False),
        ("#W12", "#W21", False),
    ],
)
def test_values_that_are_the_same(one: str, other: str, expected: bool) -> None:
    assert is_same(one, other) is is_same(other, one) is expected


@pytest.mark.parametrize(("got", "is_form"), [("Texas", True), ("Maine", False)])
def test_only_the_form_of_a_value_differs(domain: Domain, got: str, is_form: bool) -> None:
    wanted = scenario("You live in Texas. Name the lamp after it.", action("rename", item_id="lamp", name="TX"))
    talk = [user(f"Call the lamp {got}, please."), *answered(call("rename", item_id="lamp", name=got))]
    facts = facts_of(domain, wanted, HELLO, *talk, STOP)
    assert named(undecided_rules.only_forms(facts)) == (("undecided", 2) if is_form else None)
    asked = user_evidence.asked_for_it(facts, facts.deviations[0])
    assert named(asked) == (None if is_form else ("user", 1))


CARDS = [
    *answered(call("look", item_id="card_11"), '{"item_id": "card_11", "brand": "Visa"}'),
    *answered(call("look", item_id="card_22"), '{"item_id": "card_22", "brand": "Amex"}'),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pay for the lamp.", ("user", 5)),
        # Its scenario has what it asks for: the value, or the other one of a kind.
        ("Pay for the lamp with your Amex.", None),
        ("Pay for the lamp with the other card.", None),
        ("Pay for the lamp with your Visa, not with your Amex.", ("user", 5)),
    ],
)
def test_a_user_that_asks_for_what_its_scenario_says(domain: Domain, text: str, expected: Any) -> None:
    wanted = scenario(text, action("rename", item_id="lamp", name="card_11"))
    talk = [*CARDS, user("The Amex, please."), *answered(call("rename", item_id="lamp", name="card_22"))]
    facts = facts_of(domain, wanted, HELLO, *talk, STOP)
    assert named(user_evidence.asked_for_it(facts, facts.deviations[0])) == expected


LAMPS = answered(
    call("look", item_id="n"),
    json.dumps([{"item_id": f"n-{number}", "name": "Lamp", "price": number * 10.0} for number in (1, 2)]),
)


@pytest.mark.parametrize(
    ("offer", "expected"),
    [
        ("There are n-1 and n-2. Which one?", ("user", 4)),
        # The agent has said which one is right, if wrongly.
        ("There are n-1 and n-2. The cheapest one is n-2.", None),
        ("There are n-1 and n-2. I recommend n-2.", None),
        # What it has said so is the other one.
        ("There are n-1 and n-2. The cheapest one is n-1.", ("user", 4)),
    ],
)
def test_a_choice_that_the_agent_has_made_for_the_user(domain: Domain, offer: str, expected: Any) -> None:
    wanted = scenario("The first one.", action("rename", item_id="lamp", name="n-1"))
    talk = [*LAMPS, agent(offer), user("I take n-2."), *answered(call("rename", item_id="lamp", name="n-2"))]
    facts = facts_of(domain, wanted, HELLO, *talk, STOP)
    assert named(user_evidence.asked_for_it(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("said", "is_withdrawn"),
    [
        ("I'd prefer to wait for all of the results. Can you go on?", False),
        ("I'll wait for you to look it up.", False),
        ("I'd rather wait until next month.", True),
        ("Then I'll wait.", True),
    ],
)
def test_who_waits_for_the_agent_withdraws_nothing(said: str, is_withdrawn: bool) -> None:
    assert withdraws(said) is is_withdrawn


@pytest.mark.parametrize(("seat", "expected"), [("s1", ("user", 3)), ("s2", None)])
def test_a_request_that_follows_is_not_one_that_came_too_late(domain: Domain, seat: str, expected: Any) -> None:
    """Another seat and another item are another wish."""
    listed = answered(
        call("look", item_id="i"), '[{"item_id": "i-1", "name": "Lamp"}, {"item_id": "i-2", "name": "Desk"}]'
    )
    wanted = scenario("Put the desk onto a seat.", action("sit", seat_id="s1", who="i-2"))
    talk = [*listed, user("Put the lamp there."), *answered(call("sit", seat_id=seat, who="i-1")), agent("Done.")]
    facts = facts_of(domain, wanted, HELLO, *talk, user("Now the desk."), STOP)
    assert named(user_evidence.asked_too_late(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("said", "answer", "expected"),
    [
        ("I book one seat.", "Yes.", ("agent", 3)),
        ("I book one seat, with no bags.", "Yes.", None),
        ("I book one seat.", "Yes. What do bags cost?", None),
    ],
)
def test_a_number_of_what_nobody_has_spoken_of(domain: Domain, said: str, answer: str, expected: Any) -> None:
    talk = [agent(said), user(answer), *answered(call("price", item_id="lamp", price=0)), STOP]
    facts = facts_of(domain, scenario("One seat, and 3 bags, if they ask.", PRICE), HELLO, *talk)
    bags = facts.deviations[0].slots[0]._replace(name="total_bags", got=(0,), wanted=(3,))
    assert named_for_call(agent_rules.chose_number, facts, slots=(bags,)) == expected


@pytest.mark.parametrize(
    ("answer", "party"),
    [("I am sorry, but I cannot do that.", "undecided"), ("Anything else?", "user")],
)
def test_a_user_that_insists_until_the_limit(domain: Domain, answer: str, party: str) -> None:
    talk = [message for _ in range(3) for message in (user("Do it, I insist."), agent(answer))]
    facts = facts_of(domain, scenario("Insist on it."), HELLO, *talk)
    facts.simulation = facts.simulation.model_copy(update={"termination_reason": "max_steps"})
    found = limit_rules.never_stopped(facts)
    assert found is not None
    assert (found.party, found.message_idx) == (party, 5)


REPORT = "The lamp costs 150 now, and the desk 12."


@pytest.mark.parametrize(
    ("actions", "before", "expected"),
    [
        ([PRICE], "Which lamp?", ("user", 2)),
        # It says again what the agent has said, or nothing was left to do.
        ([PRICE], REPORT, None),
        ([], "Which lamp?", None),
    ],
)
def test_who_repeats_the_agent_does_not_play_it(domain: Domain, actions: list[Any], before: str, expected: Any) -> None:
    wanted = scenario("Set a price.", *actions, communicate_info=["7"], reward_basis=["DB", "COMMUNICATE"])
    talk = [agent(before), user(f"{REPORT} How can I help you?"), agent("Shall I go ahead?"), STOP]
    facts = facts_of(domain, wanted, HELLO, *talk)
    assert named(user_rules.spoke_as_agent(facts)) == expected


@pytest.mark.parametrize(
    ("between", "party"),
    [
        ([], ("agent", 4)),
        ([agent("Anything else?"), user("No, thanks.")], None),
        ([agent("Anything else?"), user("Tag the lamp as new again.")], ("user", 5)),
    ],
)
def test_a_call_that_is_made_twice(domain: Domain, between: list[Any], party: Any) -> None:
    wanted = scenario("Tag the lamp as new.", action("tag", item_id="lamp", tag="new"))
    tagged = answered(call("tag", item_id="lamp", tag="new"))
    facts = facts_of(domain, wanted, HELLO, user("Tag the lamp as new."), *tagged, *between, *tagged, STOP)
    (deviation,) = facts.deviations
    assert deviation.made is not None
    asked = user_evidence.asked_for_it(facts, deviation)
    assert named(asked or agent_rules.did_again(facts, deviation, deviation.made)) == party


@pytest.mark.parametrize(
    ("instructions", "party"),
    [
        ("Set the price of the lamp to 150.", "user"),
        ({"domain": "tiny", "reason_for_call": "The lamp, at 150.", "task_instructions": ""}, "user"),
        # It could not depart from what it was not given.
        ("", "undecided"),
        ({"domain": "tiny", "reason_for_call": " ", "task_instructions": ""}, "undecided"),
    ],
)
def test_a_user_that_was_given_nothing_departs_from_nothing(domain: Domain, instructions: Any, party: str) -> None:
    wanted = task(
        {"actions": [PRICE], "reward_basis": ["DB"]}, user_scenario={"persona": "Calm.", "instructions": instructions}
    )
    talk = [
        user("Set the price of the lamp to 170, please."),
        *answered(call("price", item_id="lamp", price=170)),
        STOP,
    ]
    assert blamed(domain, wanted, HELLO, *talk).party == party


def test_a_value_that_was_not_said_excuses_no_claim_of_a_change() -> None:
    airline = pytest_tau.load_domain("airline")
    (booking,) = [each for each in airline.tasks(None) if each.id == "book-cheapest-one-way"]
    run = pytest_tau.simulate(booking, domain=airline, agent="saboteur:forgets-last-write", user="scripted", seed=300)
    assert blamed(airline, booking, *run.messages).party == "agent"


@pytest.mark.parametrize(
    ("proposal", "answers", "expected"),
    [
        ("I will set the price of the lamp to 150.", ["No."], ("user", 4)),
        ("I will set the price of the lamp to 150.", ["No, thanks."], ("user", 4)),
        # It says more than no: what it wants may differ from what was proposed.
        ("I will set the price of the lamp to 150.", ["No, I want a receipt first."], ("undecided", None)),
        # The proposal was wrong, or of something else.
        ("I will set the price of the lamp to 170.", ["No."], ("undecided", None)),
        ("I will set the price of the lamp to 170.", ["No.", "Make it 150."], ("agent", 3)),
        # What came last counts.
        ("I will set the price of the lamp to 150.", ["No.", "Yes, please."], ("agent", 7)),
    ],
)
def test_an_answer_to_what_the_agent_has_proposed(
    domain: Domain, proposal: str, answers: list[str], expected: tuple[str, int | None]
) -> None:
    wanted = scenario("Set the price of the lamp to 150.", PRICE)
    asked = agent(f"{proposal} Do you confirm? (yes/no)")
    shown = answered(call("look", item_id="lamp"), '{"item_id": "lamp", "name": "Lamp", "price": 90}')
    talk = [turn for answer in answers for turn in (asked, user(answer))]
    opening = user("Set the price of the lamp to 150, please.")
    found = blamed(domain, wanted, opening, *shown, *talk, agent("All right. Anything else?"), STOP)
    assert (found.party, found.message_idx if found.party != "undecided" else None) == expected


def test_a_user_that_hangs_up_before_the_agent_could_look(domain: Domain) -> None:
    wanted = scenario("You want a note.", action("write_note", "user", note_id="n", text="x"))
    opening = [user("Nothing works."), agent("What is your number?")]
    found = blamed(domain, wanted, *opening, user("Never mind, goodbye. ###STOP###"))
    assert (found.party, found.message_idx) == ("user", 2)
    stayed = blamed(domain, wanted, *opening, user("It is 5."), *answered(call("look", item_id="lamp")), STOP)
    assert stayed.party == "agent"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, kind) for name in ("airline", "retail", "telecom") for kind in ("hangs-up", "refuses")),
        # In retail, wrong digits may be those of another order.
        *((name, "wrong-numbers") for name in ("airline", "telecom")),
    ],
)
def test_a_user_that_makes_a_known_mistake_is_not_taken_for_the_agent(name: str, kind: str) -> None:
    domain = pytest_tau.load_domain(name)
    failed = []
    for wanted in domain.tasks()[:20]:
        run = pytest_tau.simulate(wanted, domain=domain, agent="rules", user=SPOILED_USERS[kind], seed=300)
        if run.outcome == "failed":
            assert run.info.blame is not None
            assert run.info.blame.party != "agent", (wanted.id, run.info.blame)
            failed.append(wanted.id)
    assert failed


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ({"item_id": "desk-2", "price": 150}, ("agent", 6, "item_id: desk-2, not lamp-1")),
        # The user has been told of it.
        ({"item_id": "lamp-9", "price": 150}, None),
        # More than the id differs.
        ({"item_id": "desk-2", "price": 90}, None),
        ({"item_id": "lamp-1", "price": 150}, None),
    ],
)
def test_a_call_that_is_not_what_the_user_has_agreed_to(domain: Domain, made: dict[str, Any], expected: Any) -> None:
    wanted = scenario("Set the price of lamp-1 to 150.", action("price", item_id="lamp-1", price=150))
    asked = agent("I will set the price of lamp-1, not of lamp-9, to 150. Do you confirm? (yes/no)")
    shown = answered(call("look", item_id="desk-2"), '{"item_id": "desk-2", "name": "Desk"}')
    talk = [HELLO, user("Lamp-1, please."), *shown, asked, user("Yes, please."), *answered(call("price", **made))]
    facts = facts_of(domain, wanted, *talk, STOP)
    deviation = Deviation(None, wanted.criteria.actions[0], ())
    found = agreed_rules.did_other(facts, deviation)
    assert (found and (found.party, found.message_idx, found.evidence)) == expected
