"""Rules about the agent and the user, each with a conversation that it names and ones near it that it must not name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.diagnosis import agent_rules, undone_rules, user_evidence
from pytest_tau.diagnosis.deviations import Deviation, Slot
from pytest_tau.diagnosis.refusals import refusal

from .blames import HELLO, PRICE, STOP, answered, facts_of, named, named_for_call, scenario
from .tiny import action, agent, call, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

FAILED = answered(call("rename", item_id="lamp", name=""), "Error: no name", error=True)
OTHER_FAILED = answered(call("rename", item_id="desk", name=""), "Error: no name", error=True)
AGAIN_FAILED = answered(call("price", item_id="lamp", price=-1), "Error: too low", error=True)
LAMP = answered(call("look", item_id="lamp"), '{"item_id": "lamp", "name": "Lamp"}')
PRICED = answered(call("price", item_id="lamp", price=170))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (FAILED, ("agent", 3)),
        # It was about another record, or the same call in another form, or nothing failed.
        (OTHER_FAILED, None),
        (AGAIN_FAILED, None),
        ([], None),
    ],
)
def test_failed_first(domain: Domain, before: list[Any], expected: Any) -> None:
    facts = facts_of(domain, scenario("x", PRICE), HELLO, *LAMP, *before, *PRICED, STOP)
    assert named(agent_rules.failed_first(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("after", "error", "expected"),
    [
        (call("price", item_id="lamp", price=150), True, ("agent", 1)),
        # It succeeded, or another call was refused.
        (call("price", item_id="lamp", price=150), False, None),
        (call("price", item_id="lamp", price=160), True, None),
    ],
)
def test_made_impossible(domain: Domain, after: Any, error: bool, expected: Any) -> None:
    tried = answered(after, "Error: priced already" if error else "{}", error=error)
    facts = facts_of(domain, scenario("x", PRICE), HELLO, *PRICED, *tried, STOP)
    priced = facts.calls[0]
    assert named(agent_rules.made_impossible(facts, Deviation(priced, None, ()), priced)) == expected


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("Make it 150.", ("agent", 2)),
        # It spoke of the other one as well, or did not want it.
        ("Make it 150. No, 170.", None),
        ("Not 150, please.", None),
        ("Make it cheap.", None),
    ],
)
def test_ignored_wish(domain: Domain, wish: str, expected: Any) -> None:
    facts = facts_of(domain, scenario("x", PRICE), HELLO, user(wish), *PRICED, STOP)
    assert named_for_call(agent_rules.ignored_wish, facts) == expected


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("I want 2 bags.", ("agent", 2)),
        ("No bags, or 2 bags?", None),  # it has named both
        ("I want 2 seats.", None),
    ],
)
def test_ignored_number(domain: Domain, wish: str, expected: Any) -> None:
    facts = facts_of(
        domain, scenario("x", PRICE), HELLO, user(wish), *answered(call("price", item_id="lamp", price=0)), STOP
    )
    bags = facts.deviations[0].slots[0]._replace(name="total_bags", got=(0,), wanted=(2,))
    assert named_for_call(agent_rules.ignored_number, facts, slots=(bags,)) == expected


def of_price(record: str, price: float) -> list[Any]:
    return answered(call("look", item_id=record), json.dumps({"item_id": record, "name": "Lamp", "price": price}))


@pytest.mark.parametrize(
    ("wish", "price", "expected"),
    [
        ("The cheapest one.", 10.0, ("agent", 6)),
        ("The most expensive one.", 90.0, ("agent", 6)),
        # What it took is the better one, or the user wants neither end.
        ("The cheapest one.", 90.0, None),
        ("The most expensive one.", 10.0, None),
        ("Not the cheapest one.", 10.0, None),
    ],
)
def test_missed_extreme(domain: Domain, wish: str, price: float, expected: Any) -> None:
    wanted = scenario("x", action("rename", item_id="lamp", name="n-1"))
    talk = [user(wish), *of_price("n-1", price), *of_price("n-2", 50.0)]
    facts = facts_of(domain, wanted, HELLO, *talk, *answered(call("rename", item_id="lamp", name="n-2")), STOP)
    assert named(agent_rules.missed_extreme(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I rename it.", ("agent", 6)),
        # The user has heard of it, by its id or by what only this one has.
        ("I take n-2.", None),
        ("I take the one for 250.", None),
    ],
)
def test_not_agreed(domain: Domain, said: str, expected: Any) -> None:
    wanted = scenario("x", action("rename", item_id="lamp", name="n-1"))
    talk = [user("Hi"), *of_price("n-1", 10.0), *of_price("n-2", 250.0), agent(said)]
    facts = facts_of(domain, wanted, *talk, *answered(call("rename", item_id="lamp", name="n-2")), STOP)
    assert named_for_call(agent_rules.not_agreed, facts) == expected


@pytest.mark.parametrize(
    ("wish", "expected"),
    [("Hi", ("agent", 1)), ("Remove the desk.", None)],
)
def test_unasked(domain: Domain, wish: str, expected: Any) -> None:
    facts = facts_of(domain, scenario("x"), user(wish), *answered(call("remove", item_id="desk")), STOP)
    assert named_for_call(agent_rules.unasked, facts) == expected


def missing_price(facts: Any) -> Deviation:
    (wanted,) = [each for each in facts.reference if each.name == "price"]
    return Deviation(None, wanted, (Slot("item_id", (), ("lamp",)), Slot("price", (), (150,))))


@pytest.mark.parametrize(
    ("failed", "after", "expected"),
    [
        (AGAIN_FAILED, [], ("agent", 3)),
        # The same with all but its tool.
        (answered(call("rename", item_id="lamp", name="150"), "Error: no", error=True), [], ("agent", 3)),
        (FAILED, [], ("agent", 3)),
        # It was about something else of a record that it has changed, it has done it since, or has offered it at last.
        (FAILED, answered(call("tag", item_id="lamp", tag="new")), None),
        (AGAIN_FAILED, answered(call("price", item_id="lamp", price=1)), None),
        (AGAIN_FAILED, [agent("Shall I set its price to 150?")], None),
    ],
)
def test_withdrew(domain: Domain, failed: list[Any], after: list[Any], expected: Any) -> None:
    wanted = scenario("x", action("rename", item_id="lamp", name="Torch"), PRICE)
    facts = facts_of(domain, wanted, HELLO, *LAMP, *failed, *after, STOP)
    missing = missing_price(facts)
    assert named(undone_rules.withdrew(facts, missing)) == expected


def test_what_fails_after_a_wrong_call_is_not_given_up(domain: Domain) -> None:
    wanted = scenario("x", PRICE)
    gone = answered(call("remove", item_id="lamp"))
    facts = facts_of(domain, wanted, HELLO, *LAMP, *gone, *AGAIN_FAILED, STOP)
    missing = missing_price(facts)
    assert facts.divergence is not None
    assert undone_rules.withdrew(facts, missing) is None


@pytest.mark.parametrize(
    ("asked", "answer", "then", "expected"),
    [
        ("Shall I proceed to set the lamp to 150?", "Yes, go ahead.", "Anything else?", ("agent", 3)),
        # It was another one, the user had a question, or the agent is about to do it.
        ("Shall I proceed to set the desk to 12?", "Yes, go ahead.", "Anything else?", None),
        ("Shall I proceed to set the lamp to 150?", "Yes?", "Anything else?", None),
        ("Shall I proceed to set the lamp to 150?", "Yes, on November 15th.", "Anything else?", None),
        ("Shall I proceed to set the lamp to 150?", "Yes, that of desk_12.", "Anything else?", None),
        ("Shall I proceed to set the lamp to 150?", "Yes, go ahead.", "One moment, I will now set it.", None),
        # It asks for something more, or the user wants a person.
        ("Shall I proceed to set the lamp to 150?", "Yes, go ahead.", "It costs 10. Do you still want it?", None),
        ("Shall I proceed to set the lamp to 150?", "Yes, go ahead, or transfer me.", "Anything else?", None),
    ],
)
def test_not_done(domain: Domain, asked: str, answer: str, then: str, expected: Any) -> None:
    facts = facts_of(domain, scenario("x", PRICE), HELLO, agent(asked), user(answer), agent(then), STOP)
    assert named(undone_rules.not_done(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("wish", "later", "expected"),
    [
        ("Price the lamp at 150.", "Thanks.", ("agent", 2)),
        # It has withdrawn it, has named half of it, or does not want it.
        ("Price the lamp at 150.", "Never mind.", None),
        ("Price it.", "Thanks.", None),
        ("Don't price the lamp at 150.", "Thanks.", None),
        ("Price the lamp at 150. No, let's skip that.", "Thanks.", None),
        # It does not know the lamp.
        ("Price the lamp at 150.", "That's not the right order.", None),
    ],
)
def test_ignored_request(domain: Domain, wish: str, later: str, expected: Any) -> None:
    facts = facts_of(domain, scenario("x", PRICE), HELLO, user(wish), agent("Hm."), user(later), agent("Bye."), STOP)
    assert named(undone_rules.ignored_request(facts, facts.deviations[0])) == expected


CALLED = action("rename", item_id="lamp", name="ab-1234")


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("What is the name?", "I don't know.", ("user", 4)),
        # It has said it, the agent has, or nothing was asked.
        ("What is the name?", "It is ab-1234.", None),
        ("Is it ab-1234?", "I don't know.", None),
        ("I see.", "I don't know.", None),
    ],
)
def test_never_asked(domain: Domain, question: str, answer: str, expected: Any) -> None:
    wanted = scenario("Call the lamp ab-1234.", CALLED)
    facts = facts_of(domain, wanted, HELLO, agent(question), user(answer), agent("Bye."), STOP)
    assert named(user_evidence.never_asked(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("asked", "answer", "expected"),
    [
        ("I set the lamp to 150. Do you confirm? (yes/no)", "Let's leave it.", ("user", 2)),
        # It was another one, nothing was asked, or it agrees.
        ("I set the desk to 12. Do you confirm? (yes/no)", "Let's leave it.", None),
        ("I could set the lamp to 150.", "Let's leave it.", None),
        ("I set the lamp to 150. Do you confirm? (yes/no)", "Yes. Forget the rest.", None),
    ],
)
def test_gave_up(domain: Domain, asked: str, answer: str, expected: Any) -> None:
    facts = facts_of(domain, scenario("x", PRICE), HELLO, agent(asked), user(answer), agent("Bye."), STOP)
    assert named(user_evidence.gave_up(facts, facts.deviations[0])) == expected


NOBODY = answered(call("look", item_id="zz-9999"), "Error: not found", error=True)


@pytest.mark.parametrize(
    ("text", "wish", "after", "expected"),
    [
        ("Take your seat.", "It is zz-9999.", [], ("user", 1)),
        # Its scenario has it, the agent has made it up, or has found the right one.
        ("Take your seat zz-9999.", "It is zz-9999.", [], None),
        ("Take your seat.", "It is mine.", [], None),
        ("Take your seat.", "It is zz-9999.", answered(call("look", item_id="s1")), None),
    ],
)
def test_invented(domain: Domain, text: str, wish: str, after: list[Any], expected: Any) -> None:
    wanted = scenario(text, action("sit", seat_id="s1", who="Ada"))
    facts = facts_of(domain, wanted, HELLO, user(wish), *NOBODY, *after, agent("Bye."), STOP)
    assert named(user_evidence.invented(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [("I cannot take s2 for you.", None), ("I cannot take s3 for you.", ("agent", 6)), ("Fine.", ("agent", 6))],
)
def test_a_sibling_that_was_refused_is_not_forgotten(domain: Domain, said: str, expected: Any) -> None:
    looked = answered(
        call("look", item_id="s"), '[{"seat_id": "s2", "row": "back"}, {"seat_id": "s3", "row": "front"}]'
    )
    wanted = scenario("x", *(action("sit", seat_id=seat, who="Ada") for seat in ("s1", "s2")))
    talk = [*looked, agent(said), *answered(call("sit", seat_id="s1", who="Ada")), agent("Done.")]
    facts = facts_of(domain, wanted, HELLO, *talk, STOP)
    missing = [deviation for deviation in facts.deviations if deviation.made is None]
    assert named(agent_rules.forgot_sibling(facts, missing[0])) == expected


SHARED = "card_7"
TRIED_OTHER = answered(call("rename", item_id="s2", name=SHARED), "Error: not enough", error=True)
TRIED = answered(call("rename", item_id="s1", name=SHARED), "Error: not enough", error=True)
SEATS = answered(call("look", item_id="s"), json.dumps([{"seat_id": "s1"}, {"seat_id": "s2"}, {"card_id": SHARED}]))


@pytest.mark.parametrize(("tried", "expected"), [(TRIED, ("agent", 3)), (TRIED_OTHER, None)])
def test_a_call_for_another_record_with_one_card_is_another_one(
    domain: Domain, tried: list[Any], expected: Any
) -> None:
    """Neither given up for the one, nor failed before the other."""
    wanted = scenario("x", action("sit", seat_id="s1", who=SHARED))
    given_up = facts_of(domain, wanted, HELLO, *SEATS, *tried, STOP)
    assert named(undone_rules.withdrew(given_up, given_up.deviations[0])) == expected
    done = answered(call("sit", seat_id="s1", who="voucher"))
    repeated = facts_of(domain, wanted, HELLO, *SEATS, *tried, *done, STOP)
    assert named(agent_rules.failed_first(repeated, repeated.deviations[0])) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Shall I proceed to take s1 with card_7?", ("agent", 5)),
        # The user has agreed to something else.
        ("Shall I proceed to take s2 with card_7?", None),
    ],
)
def test_what_was_agreed_to_for_another_record(domain: Domain, asked: str, expected: Any) -> None:
    wanted = scenario("x", action("sit", seat_id="s1", who=SHARED))
    facts = facts_of(domain, wanted, HELLO, *SEATS, agent(asked), user("Yes, go ahead."), agent("Anything else?"), STOP)
    assert named(undone_rules.not_done(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I cannot offer your lamp as a tag.", "I cannot offer your lamp as a tag."),
        # Things of a kind are not the one that is required, and what is not there is not refused.
        ("We do not offer waitlists for tags.", None),
        ("I see that there are still no tags on your lamp.", None),
    ],
)
def test_what_is_refused_is_the_thing_that_is_spoken_of(domain: Domain, said: str, expected: Any) -> None:
    facts = facts_of(domain, scenario("x", action("tag", item_id="lamp", tag="Ada")), HELLO, *LAMP, agent(said), STOP)
    found = refusal(facts, facts.deviations[0])
    assert (None if found is None else found[1]) == expected


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("Take s1 and s2.", "Thanks.", ("agent", 6)),
        # The user has given one up, or the agent has tried it or said why not.
        ("Take s1, and let's skip s2.", "Thanks.", None),
        ("Take s1 and s2.", "Leave it as it is.", None),
    ],
)
def test_a_sibling_that_the_user_gave_up_is_not_forgotten(
    domain: Domain, earlier: str, later: str, expected: Any
) -> None:
    wanted = scenario("x", *(action("sit", seat_id=seat, who="Ada") for seat in ("s1", "s2")))
    talk = [user(earlier), *answered(call("sit", seat_id="s1", who="Ada")), user(later), HELLO, agent("Done.")]
    facts = facts_of(domain, wanted, HELLO, *talk, STOP)
    missing = [deviation for deviation in facts.deviations if deviation.made is None]
    assert named(agent_rules.forgot_sibling(facts, missing[0])) == (expected and ("agent", 5))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I have removed the desk for you.", ("agent", 6)),
        ("I have removed the lamp for you.", None),  # that was done
    ],
)
def test_a_claim_of_what_was_done_before(domain: Domain, said: str, expected: Any) -> None:
    wanted = scenario("x", action("remove", item_id="lamp"), action("remove", item_id="desk"))
    done = [*LAMP, *answered(call("remove", item_id="lamp"))]
    facts = facts_of(domain, wanted, HELLO, *done, user("Is it done?"), agent(said), STOP)
    missing = [deviation for deviation in facts.deviations if deviation.made is None]
    assert named(undone_rules.claimed(facts, missing[0])) == expected


RECORD = answered(call("look", item_id="s"), '[{"seat_id": "s1", "row": "12"}]')


@pytest.mark.parametrize(
    ("found", "answer", "expected"),
    [
        ("I see s1, in row 12.", "No, that's not the right booking.", ("user", 4)),
        ("I see s1, in row 12.", "I never booked that.", ("user", 4)),
        # The agent has not named it, it is the one, or the scenario says what the user misses.
        ("I see row 12.", "No, that's not the right booking.", None),
        ("I see s1, in row 12.", "Yes, that's my booking.", None),
        ("I see s1, in row 12.", "That's not the right booking, mine is of 2023.", None),
    ],
)
def test_a_user_that_does_not_know_its_record(domain: Domain, found: str, answer: str, expected: Any) -> None:
    wanted = scenario("You think it was booked in 2023.", action("sit", seat_id="s1", who="Ada"))
    facts = facts_of(domain, wanted, HELLO, *RECORD, agent(found), user(answer), agent("Bye."), STOP)
    assert named(user_evidence.disowned(facts, facts.deviations[0])) == expected


@pytest.mark.parametrize(
    ("name", "wish", "expected"),
    [
        ("card_9999", "Use card_9999.", ("user", 3)),
        # Something else of the call was wrong, or the agent has made it up.
        ("card_9999", "Use mine.", None),
    ],
)
def test_a_call_that_fails_by_nothing_but_what_the_user_made_up(
    domain: Domain, name: str, wish: str, expected: Any
) -> None:
    tried = answered(call("sit", seat_id="s1", who=name), "Error: not found", error=True)
    wanted = scenario("Take your seat.", action("sit", seat_id="s1", who="card_7"))
    seen = answered(call("look", item_id="s1"), '{"seat_id": "s1"}')
    facts = facts_of(domain, wanted, HELLO, *seen, user(wish), *tried, agent("Bye."), STOP)
    assert named(user_evidence.invented(facts, facts.deviations[0])) == expected
    other = scenario("Take your seat.", action("sit", seat_id="s2", who="card_7"))
    elsewhere = facts_of(domain, other, HELLO, *answered(call("look", item_id="s2")), user(wish), *tried, STOP)
    assert user_evidence.invented(elsewhere, elsewhere.deviations[0]) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("I have nothing else.", ("user", 5)), ("It is 12345.", None), (None, None)],
)
def test_what_the_reference_looks_the_user_up_by(domain: Domain, answer: str | None, expected: Any) -> None:
    """The user was asked again, and has not said it."""
    wanted = scenario("You are Ada, 12345.", action("look", item_id="12345"), PRICE)
    failed = answered(call("look", item_id="99999"), "Error: nobody", error=True)
    asked = [agent("What else?"), user(answer)] if answer else []
    facts = facts_of(domain, wanted, HELLO, user("I am 99999."), *failed, *asked, agent("Bye."))
    assert named(user_evidence.withheld(facts)) == expected
