"""What looks like proof against a party and is none, each with the case in which it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.diagnosis import agent_rules, undecided_rules
from pytest_tau.diagnosis.attribution import annotate_failure
from pytest_tau.language.wishes import asks_for_person, disowns, withdraws
from pytest_tau.models import Difference
from pytest_tau.policy import Rule

from .blames import OTHER_VALUES, PRICE, REFUSED, STOP, answered, blamed, facts_of, graded, scenario
from .tiny import action, agent, call, make, task, user

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

RENAME = action("rename", item_id="lamp", name="n-1")


def shown(record: str, **fields: Any) -> list[Any]:
    return answered(call("look", item_id=record), json.dumps({"item_id": record, **fields}))


def lamp(record: str, colour: str, price: float) -> list[Any]:
    return shown(record, name="Lamp", price=price, options={"colour": colour})


@pytest.mark.parametrize(
    ("offer", "party"), [("The red n-2? A blue box is here, too.", "undecided"), ("n-1 or the red n-2?", "user")]
)
def test_a_user_chooses_only_from_what_the_agent_has_offered(domain: Domain, offer: str, party: str) -> None:
    wanted = scenario("The blue one.", RENAME)
    looked = [*lamp("n-1", "blue", 30.0), *lamp("n-2", "red", 20.0)]
    talk = [user("Hi"), *looked, agent(offer), user("I take the red one.")]
    assert blamed(domain, wanted, *talk, *answered(call("rename", item_id="lamp", name="n-2")), STOP).party == party


@pytest.mark.parametrize(("old", "party"), [("red", "undecided"), ("green", "user")])
def test_a_user_that_keeps_what_it_has_departs_from_nothing(domain: Domain, old: str, party: str) -> None:
    wanted = scenario("Another one.", RENAME)
    looked = [*lamp("lamp", old, 10.0), *lamp("n-1", "blue", 30.0), *lamp("n-2", "red", 20.0)]
    talk = [user("Hi"), *looked, agent("n-1, blue, or n-2, red?"), user("I take the red one.")]
    assert blamed(domain, wanted, *talk, *answered(call("rename", item_id="lamp", name="n-2")), STOP).party == party


@pytest.mark.parametrize(("record", "is_users"), [("t-2", False), ("t-9", True)])
def test_a_call_that_lacks_a_record_is_not_what_the_user_asked_for(domain: Domain, record: str, is_users: bool) -> None:
    """A text that no tool has shown is a part of what the user has said otherwise, as of an address."""
    wanted = scenario("Add it.", action("add", item_id="x-1", tags=["t-1", record]))
    talk = [agent("Hello"), user("Add x-3 with t-1, please."), *shown("t-2", name="Tag")]
    found = blamed(domain, wanted, *talk, *answered(call("add", item_id="x-3", tags=["t-1"])), STOP)
    assert (found.reason == OTHER_VALUES) is is_users


@pytest.mark.parametrize(("also", "is_users"), [(" And set n-1 to 150.", False), ("", True)])
def test_a_user_that_asks_for_both_asks_for_the_right_one_too(domain: Domain, also: str, is_users: bool) -> None:
    wanted = scenario("Set n-1 to 150.", action("price", item_id="n-1", price=150))
    talk = [agent("Hello"), user(f"Set the price of the desk to 170.{also}"), user("Now the desk, at 170, please.")]
    found = blamed(domain, wanted, *talk, *answered(call("price", item_id="desk", price=170)), STOP)
    assert (found.reason == OTHER_VALUES) is is_users


@pytest.mark.parametrize(("record", "party"), [("nothing", "task"), ("desk", "agent")])
def test_a_task_whose_reference_is_refused(domain: Domain, record: str, party: str) -> None:
    wanted = scenario("Set a price.", action("price", item_id=record, price=150))
    talk = [
        agent("Hello"),
        user(f"Set the price of {record} to 150."),
        *answered(call("price", item_id="lamp", price=150)),
    ]
    found = blamed(domain, wanted, *talk, STOP)
    assert found.party == party
    assert (found.reason == "it requires a call that its tool refuses") is (party == "task")


@pytest.mark.parametrize(
    ("said", "is_refusal"),
    [
        ("I cannot rename it.", True),
        ("I cannot remove it.", False),  # another act
        ("I cannot find it to rename it.", False),
        ("Unfortunately, you only have one to rename.", False),
        ("I cannot rename desk-1.", False),  # another record
    ],
)
def test_what_refuses_a_call(domain: Domain, said: str, is_refusal: bool) -> None:
    talk = [user("Hi"), *shown("desk-1", name="Desk"), agent(said), STOP]
    assert (blamed(domain, scenario("x", RENAME), *talk).reason == REFUSED) is is_refusal


@pytest.mark.parametrize(("then", "is_refusal"), [("Shall I proceed to rename it?", False), ("Bye.", True)])
def test_a_refusal_that_is_taken_back(domain: Domain, then: str, is_refusal: bool) -> None:
    talk = [user("Hi"), agent("I cannot rename it."), user("Hm."), agent(then), STOP]
    assert (blamed(domain, scenario("x", RENAME), *talk).reason == REFUSED) is is_refusal


@pytest.mark.parametrize("more", [False, True])
def test_a_refusal_of_more_than_the_policy_forbids(tmp_path: Path, more: bool) -> None:
    def of_lamps(trajectory: Any) -> Any:
        for each in trajectory.of_tool("rename"):
            if each.arguments["item_id"] == "lamp":
                yield trajectory.breach(each, "a lamp")

    strict = make(tmp_path, rules=[Rule("lamps", "Lamps stay.", of_lamps, absolute=True)])
    (strict.folder / "policy.md").write_text("# Rules\n\nLamps stay.\n", encoding="utf-8")
    wanted = scenario("x", RENAME, *([action("rename", item_id="desk", name="n-2")] if more else []))
    simulation = graded(strict, wanted, user("Hi"), agent("I cannot rename it."), STOP)
    annotate_failure(simulation, wanted, strict)
    blame = simulation.info.blame
    assert blame.party == "task"
    assert blame.reason.endswith("and the agent refused") is not more


@pytest.mark.parametrize(("said", "party"), [("Use the other card.", "undecided"), ("Do it.", "agent")])
def test_the_other_card_is_one_that_the_user_has_spoken_of(domain: Domain, said: str, party: str) -> None:
    wanted = scenario("The other card.", action("rename", item_id="lamp", name="card_11"))
    cards = [*shown("card_11", brand="Visa"), *shown("card_22", brand="Visa")]
    talk = [user("Hi"), *cards, agent("Very well."), user(said)]
    found = blamed(domain, wanted, *talk, *answered(call("rename", item_id="lamp", name="card_22")), STOP)
    assert found.party == party


@pytest.mark.parametrize(("tried", "party"), [("x@example.com", "agent"), ("ann@example.com", "user")])
def test_an_address_that_the_agent_never_looked_up(domain: Domain, tried: str, party: str) -> None:
    wanted = scenario("You are ann@example.com or ann2@example.com.", RENAME)
    failed = answered(call("look", item_id=tried), "no user", error=True)
    talk = [user("Hi"), agent("Who are you?"), user("I am ann@example.com."), *failed, agent("I see nobody."), STOP]
    found = blamed(domain, wanted, *talk)
    assert found.party == party
    assert (found.reason == "it did not look up what the user gave to be found by") is (party == "agent")


@pytest.mark.parametrize(
    ("looked", "asked", "question", "is_fault"),
    [
        (False, "Set the price, please.", "Which one?", True),
        (True, "Set the price, please.", "Which one?", False),
        (False, "Rename it.", "Which one?", False),
        (False, "Set the price, please.", "Is it the lamp?", False),
    ],
)
def test_a_record_that_the_agent_never_looked_at(
    domain: Domain, looked: bool, asked: str, question: str, is_fault: bool
) -> None:
    listed = answered(call("look", item_id="ann"), '{"user_id": "ann", "items": ["lamp"]}')
    seen = shown("lamp", name="Thing") if looked else []
    talk = [user(asked), *listed, *seen, agent(question), user("I don't know."), agent("Bye."), STOP]
    found = blamed(domain, scenario("x", PRICE), *talk)
    assert (found.reason == "it never looked at the record, which its tool had listed") is is_fault


@pytest.mark.parametrize(("texts", "party"), [(["a", "a", "a"], "agent"), (["a", "b", "c"], "undecided")])
def test_who_has_used_up_the_steps(domain: Domain, texts: list[str], party: str) -> None:
    talk = [message for text in texts for message in (user("Go on."), agent(text))]
    wanted = scenario("x", PRICE)
    cut_off = graded(domain, wanted, *talk).model_copy(update={"termination_reason": "max_steps"})
    annotate_failure(cut_off, wanted, domain)
    assert cut_off.info.blame is not None
    assert cut_off.info.blame.party == party


@pytest.mark.parametrize(("amount", "is_shown"), [(-52, True), (-53, False)])
def test_what_was_refunded_is_a_negative_payment(domain: Domain, amount: int, is_shown: bool) -> None:
    wanted = scenario("How much?", communicate_info=["52"], reward_basis=["COMMUNICATE"])
    paid = answered(call("look", item_id="lamp"), json.dumps({"item_id": "lamp", "amount": amount}))
    found = blamed(domain, wanted, user("How much do I get?"), *paid, agent("You get some of it."), STOP)
    assert (found.reason == "it did not say what a tool had shown") is is_shown


@pytest.mark.parametrize(("total", "party"), [("107", "undecided"), ("108", "agent")])
def test_the_parts_of_a_total_that_was_said(domain: Domain, total: str, party: str) -> None:
    wanted = scenario("How much?", communicate_info=["167", "60", total], reward_basis=["COMMUNICATE"])
    paid = answered(call("look", item_id="lamp"), json.dumps({"item_id": "lamp", "paid": 167, "refunded": 60}))
    found = blamed(domain, wanted, user("How much in total?"), *paid, agent(f"{total} in total."), STOP)
    assert found.party == party


@pytest.mark.parametrize(
    ("said", "is_withdrawn"),
    [
        ("I do not want to take any further actions on other orders.", True),
        ("I don't want any other changes.", True),
        ("I do not want to wait any longer.", False),
    ],
)
def test_what_withdraws_a_wish(said: str, is_withdrawn: bool) -> None:
    assert withdraws(said) is is_withdrawn


@pytest.mark.parametrize(
    ("said", "is_disowned"),
    [
        ("No, that's not the right reservation.", True),
        ("That doesn't quite match what I have.", True),
        ("This still doesn't sound like my order.", True),
        ("I don't recall ordering an electric kettle.", True),
        ("I did not book that flight.", True),
        ("If that's not right, please tell me.", False),
        ("Don't order the lamp.", False),
        ("It's not my fault.", False),
    ],
)
def test_what_the_user_does_not_know(said: str, is_disowned: bool) -> None:
    assert disowns(said) is is_disowned


@pytest.mark.parametrize(
    ("said", "is_asked_for"),
    [
        ("Is there any supervisor or someone else I can speak to?", True),
        ("I give up my seat for someone else.", False),
        ("My manager has booked it.", False),
    ],
)
def test_who_asks_for_a_person(said: str, is_asked_for: bool) -> None:
    assert asks_for_person(said) is is_asked_for


LISTED = answered(call("look", item_id="ann"), '{"user_id": "ann", "items": ["lamp", "desk"], "seats": ["s1"]}')
READ_DESK = answered(call("look", item_id="desk"), '{"item_id": "desk", "name": "Desk"}')
NEVER_READ = "it never read a record that its tool had listed, and which has what the call needs"


@pytest.mark.parametrize(
    ("before", "asked", "name", "is_fault"),
    [
        ([*LISTED, *READ_DESK], "Rename the sofa after the other one.", "Desk lamp 100", True),
        # It has read none of the list or all of it, the user has said it, or wants something else.
        (LISTED, "Rename the sofa after the other one.", "Desk lamp 100", False),
        (
            [*LISTED, *READ_DESK, *shown("lamp", name="?")],
            "Rename the sofa after the other one.",
            "Desk lamp 100",
            False,
        ),
        ([*LISTED, *READ_DESK], "Rename the sofa: Desk lamp 100.", "Desk lamp 100", False),
        ([*LISTED, *READ_DESK], "Remove it.", "Desk lamp 100", False),
        # No record has it.
        ([*LISTED, *READ_DESK], "Rename the sofa after the other one.", "Floor lamp 200", False),
    ],
)
def test_a_record_that_the_agent_never_read_beside_others(
    domain: Domain, before: list[Any], asked: str, name: str, is_fault: bool
) -> None:
    item = {"item_id": "lamp", "name": "Desk lamp 100", "price": 1.0, "tags": [], "meta": None}
    wanted = task(
        {"actions": [action("rename", item_id="desk", name=name)], "reward_basis": ["DB"]},
        user_scenario={"instructions": "x"},
        initial_state={"initialization_data": {"agent_data": {"items": {"lamp": item}}}},
    )
    found = blamed(domain, wanted, user(asked), *before, agent("I see no name."), user("Pity."), agent("Bye."), STOP)
    assert (found.reason == NEVER_READ) is is_fault


def flights(*numbers: str, economy: float, business: float) -> list[Any]:
    prices = {"economy": economy, "business": business}
    return answered(
        call("look", item_id="f"), json.dumps([{"flight_number": number, "prices": prices} for number in numbers])
    )


@pytest.mark.parametrize(
    ("wish", "shown_flights", "is_fault"),
    [
        ("The cheapest flights.", [("HAT1", "HAT2", 40.0, 90.0), ("HAT3", "HAT4", 30.0, 99.0)], True),
        # They are cheaper, cost the same, are cheaper in the other cabin alone, or are not what was wanted.
        ("The cheapest flights.", [("HAT1", "HAT2", 20.0, 90.0), ("HAT3", "HAT4", 30.0, 99.0)], False),
        ("The cheapest flights.", [("HAT1", "HAT2", 30.0, 90.0), ("HAT3", "HAT4", 30.0, 99.0)], False),
        ("The cheapest flights.", [("HAT1", "HAT2", 30.0, 99.0), ("HAT3", "HAT4", 30.0, 10.0)], False),
        ("The second cheapest flights.", [("HAT1", "HAT2", 40.0, 90.0), ("HAT3", "HAT4", 30.0, 99.0)], False),
        ("The fastest flights.", [("HAT1", "HAT2", 40.0, 90.0), ("HAT3", "HAT4", 30.0, 99.0)], False),
        # Of those of the reference nothing was shown.
        ("The cheapest flights.", [("HAT1", "HAT2", 40.0, 90.0)], False),
    ],
)
def test_flights_that_cost_more_together(
    domain: Domain, wish: str, shown_flights: list[tuple[str, str, float, float]], is_fault: bool
) -> None:
    looked = [
        each
        for one, other, economy, business in shown_flights
        for each in flights(one, other, economy=economy, business=business)
    ]
    taken = call("add", item_id="economy", tags=["HAT1", "HAT2"])
    wanted = scenario("x", action("add", item_id="economy", tags=["HAT3", "HAT4"]))
    facts = facts_of(domain, wanted, user(wish), *looked, agent("HAT1, HAT2?"), user("Yes."), *answered(taken), STOP)
    found = agent_rules.missed_extreme_in_sum(facts, facts.deviations[0], facts.calls[-1])
    assert (found is not None) is is_fault
    if found is not None:
        assert found.evidence == "HAT1, HAT2: 80; HAT3, HAT4: 60"


@pytest.mark.parametrize(
    ("asked", "read", "said", "is_fault"),
    [
        ("What does the desk cost?", [], "200.0", True),
        # It has read it, the user has not asked about it, or it is not there.
        ("What does the desk cost?", answered(call("look", item_id="desk"), "{}"), "200.0", False),
        ("What does it cost?", [], "200.0", False),
        ("What does the desk cost?", [], "300.0", False),
    ],
)
def test_what_the_agent_has_not_read_for_a_question(
    domain: Domain, asked: str, read: list[Any], said: str, is_fault: bool
) -> None:
    wanted = scenario("x", action("look", item_id="desk"), communicate_info=[said], reward_basis=["DB", "COMMUNICATE"])
    found = blamed(domain, wanted, user(asked), *read, agent("I do not know."), STOP)
    assert (found.reason == "it never read what the user had asked about") is is_fault
    assert (found.party, found.message_idx) == ("agent", 1) if is_fault else found.party != "agent"


@pytest.mark.parametrize(
    ("places", "is_split"),
    [
        ([("a/1/amount", 396, -114), ("a/2", {"amount": -510, "card": "x"}, None)], True),
        # The sums differ, one entry differs alone, or something else does.
        ([("a/1/amount", 396, -110), ("a/2", {"amount": -510}, None)], False),
        ([("a/1/amount", 396, 396)], False),
        ([("a/1/amount", 396, -114), ("a/2", {"amount": -510}, None), ("name", "x", "y")], False),
        ([("a/1/amount", 396, -114), ("b/2", {"amount": -510}, None)], False),
    ],
)
def test_amounts_that_are_split_in_another_way(
    domain: Domain, places: list[tuple[str, Any, Any]], is_split: bool
) -> None:
    facts = facts_of(
        domain, scenario("x", PRICE), user("Hi"), *answered(call("price", item_id="lamp", price=170)), STOP
    )
    differences = [Difference(side="agent", path=path, expected=one, got=other) for path, one, other in places]
    info = facts.simulation.reward_info.model_copy(update={"db_diff": differences})
    facts.simulation = facts.simulation.model_copy(update={"reward_info": info})
    found = undecided_rules.only_split(facts)
    assert (found is not None) is is_split
    assert found is None or found.candidates == ("agent", "task")
