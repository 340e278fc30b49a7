"""A party is named on proof alone: what was said, shown, asked for and done about each write that is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.diagnosis import facts
from pytest_tau.diagnosis.attribution import annotate_failure, attribute
from pytest_tau.diagnosis.divergence import first_divergence
from pytest_tau.references import OpenChoice

from .blames import HELLO, OTHER_VALUES, PRICE, STOP, answered, blamed, graded, scenario
from .tiny import action, agent, call, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain


@pytest.mark.parametrize(
    ("talk", "party", "message"),
    [
        ([HELLO, user("Set the price of the lamp to 170, please.")], "user", 1),
        ([user("Change the lamp."), agent("150 or 170?"), user("I take 170.")], "user", 2),
        ([HELLO, user("Set the price of the lamp to 150, please.")], "agent", 2),
        ([HELLO, user("Set the price to 150 instead of 170.")], "agent", 2),
    ],
    ids=["user-asked-for-it", "user-chose-it-of-two", "user-asked-for-the-right-one", "instead-of-is-no-wish"],
)
def test_who_has_chosen_another_value(domain: Domain, talk: list[Any], party: str, message: int) -> None:
    wanted = scenario("Set the price of the lamp to 150.", PRICE)
    found = blamed(domain, wanted, *talk, *answered(call("price", item_id="lamp", price=170)), STOP)
    reason = {"user": OTHER_VALUES, "agent": "it used another value than the user had asked for"}[party]
    assert (found.party, found.message_idx, found.reason) == (party, message, reason)


def test_what_the_agent_had_proposed_and_the_user_has_repeated_is_undecided(domain: Domain) -> None:
    wanted = scenario("Set the price of the lamp to 150.", PRICE)
    talk = [user("Change the lamp."), agent("Shall I set the price to 170?"), user("Yes, please set it to 170.")]
    found = blamed(domain, wanted, *talk, *answered(call("price", item_id="lamp", price=170)), STOP)
    assert found.party == "undecided"
    assert found.candidates == ("agent", "user")


def test_what_a_user_says_of_another_argument_is_not_this_one(domain: Domain) -> None:
    """As a city that the agent has entered as the street."""
    wanted = scenario("Call the lamp Torch.", action("rename", item_id="lamp", name="Torch"))
    found = blamed(
        domain, wanted, HELLO, user("The lamp."), *answered(call("rename", item_id="lamp", name="lamp")), STOP
    )
    assert found.party == "undecided"


def test_an_agent_that_uses_an_id_from_nowhere(domain: Domain) -> None:
    wanted = scenario("Give the lamp a new name.", action("rename", item_id="lamp", name="ab-1234"))
    talk = [user("Rename the lamp, please."), *answered(call("rename", item_id="lamp", name="zz-9999")), STOP]
    found = blamed(domain, wanted, HELLO, *talk)
    assert (found.party, found.message_idx, found.evidence) == ("agent", 2, "name: zz-9999")
    shown = answered(call("look", item_id="lamp"), '{"item_id": "lamp", "other": "zz-9999"}')
    # Nothing has the name that the reference gives it.
    other = blamed(domain, wanted, HELLO, talk[0], *shown, *talk[1:])
    assert (other.party, other.message_idx) == ("task", 4)
    assert other.reason == "it requires a value that comes from nowhere"


def test_a_user_that_never_says_what_its_scenario_gives(domain: Domain) -> None:
    wanted = scenario("Call the lamp ab-1234.", action("rename", item_id="lamp", name="ab-1234"))
    talk = [user("I want to rename the lamp."), agent("What is the new name?"), user("Let's leave it."), agent("Bye.")]
    found = blamed(domain, wanted, *talk, STOP)
    assert (found.party, found.message_idx, found.evidence) == ("user", 2, "ab-1234")


def test_an_agent_that_says_that_it_has_done_it(domain: Domain) -> None:
    wanted = scenario("Make it 150.", PRICE)
    shown = answered(call("look", item_id="lamp"), '{"item_id": "lamp", "name": "Lamp"}')
    claim = agent("I have updated the price of the lamp.")
    found = blamed(domain, wanted, user("Hi"), *shown, claim, STOP)
    assert (found.party, found.message_idx) == ("agent", 3)
    assert found.reason == "it said that it had done what it had not"
    renamed = answered(call("rename", item_id="desk", name="Desk"))
    assert blamed(domain, wanted, user("Hi"), *shown, *renamed, claim, STOP).reason != found.reason


@pytest.mark.parametrize(
    ("answer", "reply", "party"),
    [
        ("Yes, please.", "The lamp now has a new name.", "agent"),
        ("Yes, please.", "The desk now has a new name.", "undecided"),
        ("Yes, please.", "Anything else?", "undecided"),
        ("Let's leave it.", "Anything else?", "user"),
    ],
)
def test_a_user_that_has_agreed_need_not_say_more(domain: Domain, answer: str, reply: str, party: str) -> None:
    wanted = scenario("Call the lamp ab-1234.", action("rename", item_id="lamp", name="ab-1234"))
    shown = answered(call("look", item_id="lamp"), '{"item_id": "lamp", "name": "Lamp"}')
    proposal = agent("I will rename the lamp as we said. Do you confirm? (yes/no)")
    talk = [user("I want to rename the lamp."), *shown, proposal, user(answer), agent(reply), STOP]
    assert blamed(domain, wanted, *talk).party == party


def test_an_agent_that_gives_up_after_a_failed_call(domain: Domain) -> None:
    wanted = scenario("Set the price of the lamp to 150.", PRICE)
    shown = answered(call("look", item_id="lamp"), '{"item_id": "lamp-1", "name": "Lamp"}')
    failed = answered(call("price", item_id="lamp-1", price=-1), "Error: too low", error=True)
    wanted = scenario("Set it to 150.", action("price", item_id="lamp-1", price=150), PRICE)
    simulation = graded(domain, scenario("x", PRICE), user("Hi"), *shown, *failed, agent("Pity."), STOP)
    divergence = first_divergence(scenario("x", PRICE), simulation, domain)
    assert divergence is not None
    missing = replace(divergence, call={**divergence.call, "arguments": {"item_id": "lamp-1", "price": 150}})
    found = attribute(simulation, missing, wanted, domain)
    assert found is not None
    assert (found.party, found.message_idx) == ("agent", 3)
    assert found.reason == "it gave up after a call that its tool refused"


def test_a_number_that_the_user_has_named(domain: Domain) -> None:
    wanted = scenario("One bag.", action("price", item_id="lamp", price=1))
    talk = [HELLO, user("I want 1 price tag."), *answered(call("price", item_id="lamp", price=2)), STOP]
    found = blamed(domain, wanted, *talk)
    assert (found.party, found.reason) == ("agent", "it used another number than the user had asked for")


def test_a_call_that_neither_side_has_named(domain: Domain) -> None:
    wanted = scenario("Nothing.", PRICE)
    found = blamed(domain, wanted, user("Hi"), *answered(call("remove", item_id="desk")), agent("Done."), STOP)
    assert (found.party, found.reason) == ("agent", "it made a call that the user had not asked for")


def test_a_tool_had_shown_the_number_that_was_not_said(domain: Domain) -> None:
    wanted = scenario("How many lamps can be bought?", communicate_info=["2"], reward_basis=["COMMUNICATE"])
    lamps = '{"a1": {"sold": false, "here": true}, "b2": {"sold": false, "here": true}, "c3": {"here": false}}'
    talk = [user("How many?"), *answered(call("look", item_id="lamp"), lamps), agent("There are 3."), STOP]
    found = blamed(domain, wanted, *talk)
    assert (found.party, found.message_idx) == ("agent", 3)
    assert found.reason == "it said another number than its tool had shown"


@pytest.mark.parametrize("got", [170, 190])
def test_nothing_differs_but_what_the_task_leaves_open(
    domain: Domain, monkeypatch: pytest.MonkeyPatch, got: int
) -> None:
    choice = OpenChoice(0, "price", "price", 150, (170,), False, "150 and 170 fit")
    monkeypatch.setattr(facts, "open_choices", lambda *_: [choice])
    wanted = scenario("Set a price.", PRICE, action("price", item_id="desk", price=150))
    # What is open in one call of a tool is open in another one with the same value.
    calls = [*answered(call("price", item_id="lamp", price=got)), *answered(call("price", item_id="desk", price=170))]
    found = blamed(domain, wanted, user("A price, please."), *calls, STOP)
    assert (found.party == "task") is (got == 170)
    assert (found.evidence == choice.why) is (got == 170)


def test_a_rule_that_raises_does_not_touch_the_trial(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(facts, "open_choices", broken)
    wanted = scenario("Set a price.", PRICE)
    simulation = graded(domain, wanted, user("Hi"), *answered(call("price", item_id="lamp", price=3)), STOP)
    annotate_failure(simulation, wanted, domain)
    assert simulation.info.blame.party == "undecided"
    assert simulation.info.turning_point_problem == "RuntimeError: out of order"
