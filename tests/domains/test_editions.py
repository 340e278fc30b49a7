"""Editions of the bundled domains: other values in policy, tools, rules and tasks."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pytest_tau import load_domain, simulate
from pytest_tau.capabilities.editions import EditionSettings
from pytest_tau.capabilities.editions.edition import edition_of, in_edition, seeded, with_edition
from pytest_tau.capabilities.editions.varying import stated_names, vary
from pytest_tau.errors import ConfigurationError
from pytest_tau.lint.verdicts import accepting
from pytest_tau.policy import load_rules, states
from pytest_tau.runner import SimulationSettings

AIRLINE = load_domain("airline")
ACCEPTING = SimulationSettings(evaluation=accepting())
#: Values of airline that no bundled task notices, as ``tau vary airline`` lists them.
UNNOTICED = {
    "refund_days",
    "max_credit_cards",
    "free_bags[silver][business]",
    "free_bags[gold][basic_economy]",
    "free_bags[gold][business]",
}


def edition(**changes):
    return with_edition(AIRLINE.spec, changes).load()


def test_the_policy_the_tools_and_the_rules_state_the_new_values():
    other = edition(extra_bag_fee=65, max_passengers=4)
    assert "Each bag beyond that costs $65." in other.environment().policy
    assert "at most four." in other.environment().policy
    assert "$65 for each bag" in other.spec.agent_tools.tools()["book_reservation"].description
    assert all(states(rule.sentence, other.environment().policy) for rule in load_rules(other.spec))
    # The domain itself, in the same process, is what it was.
    assert "Each bag beyond that costs $50." in AIRLINE.environment().policy
    assert "$50 for each bag" in AIRLINE.spec.agent_tools.tools()["book_reservation"].description


def test_the_tools_of_two_editions_do_not_meet():
    task = next(task for task in AIRLINE.tasks() if task.id == "book-new-card-refused")
    call = task.criteria.actions[-1]
    cheaper, dearer = edition(insurance_fee=25).environment(), edition(insurance_fee=40).environment()
    texts = [each.call(call.name, call.arguments).content for each in (cheaper, dearer, AIRLINE.environment())]
    paid = call.arguments["payment_methods"][0]["amount"]
    assert f"total price is {paid - 5}," in texts[0]
    assert f"total price is {paid + 10}," in texts[1]
    assert "HATHAT" in texts[2]


def test_a_task_whose_reference_breaks_the_new_policy_does_not_carry_over():
    spec = with_edition(AIRLINE.spec, {"max_passengers": 4})
    stale = replace(AIRLINE.spec, make_tasks=None)  # the tasks keep what they say
    lost = with_edition(stale, {"max_passengers": 4}).load().not_carried_over
    assert lost == {"book-six-refused": "the reference breaks the rule booking-limits: 5 passengers"}
    assert spec.load().not_carried_over == {}


def test_the_agent_of_the_old_values_fails_and_that_of_the_new_ones_passes():
    spec = with_edition(AIRLINE.spec, {"certificate_for_delayed": 85})
    other, old = spec.load(), AIRLINE.environment().policy
    forgetful = replace(spec, policy_text=lambda _texts: old).load()
    task = next(task for task in other.tasks() if task.id == "compensation-delayed-cancel")
    assert simulate(task, domain=other, agent="rules", user="scripted").reward == 1
    assert simulate(task, domain=forgetful, agent="rules", user="scripted").reward == 0


def test_a_seed_changes_all_values_in_the_same_way_each_time():
    values = seeded(AIRLINE.spec.values, 7)
    assert values == seeded(AIRLINE.spec.values, 7) != seeded(AIRLINE.spec.values, 8)
    assert all(AIRLINE.spec.values.of(name) != new for name, new in values.items())
    assert values.keys() == AIRLINE.spec.values.declared.keys()


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [1, 2])
def test_the_rules_agent_passes_an_edition_of_all_values(seed):
    other = with_edition(AIRLINE.spec, seeded(AIRLINE.spec.values, seed)).load()
    verdicts = [simulate(task, domain=other, agent="rules", user="scripted").reward for task in other.tasks()]
    assert len(verdicts) >= 0.8 * len(AIRLINE.tasks())
    assert sum(verdicts) >= 0.98 * len(verdicts)


@pytest.mark.exhaustive
# One noticed value in four, and all others; ``tau vary airline`` tries every one.
@pytest.mark.parametrize("name", sorted({*UNNOTICED, *stated_names(AIRLINE)[::4]}))
def test_a_value_of_airline_is_noticed_or_known_not_to_be(name):
    (varied,) = vary(AIRLINE, "rules", [name], "base")
    assert bool(varied.failed) == (name not in UNNOTICED)


def test_an_edition_of_official_data_has_the_values_that_are_known():
    known = edition_of("airline_plus", AIRLINE.spec)
    other = with_edition(AIRLINE.spec, known.values).load()
    assert other.spec.values["free_bags"]["silver"] == {"basic_economy": 0, "economy": 1, "business": 4}
    assert other.spec.values["reservation_ids"][0] == "MERMER"
    assert other.environment().call("send_certificate", {"user_id": "x", "amount": 1}).error


@pytest.mark.parametrize(
    ("name", "domain", "problem"),
    [
        ("7", "telecom", "domain 'telecom' declares no values"),
        ("nope", "airline", "unknown edition 'nope'"),
    ],
)
def test_an_edition_that_cannot_be_is_refused(name, domain, problem):
    with pytest.raises(ConfigurationError, match=problem):
        edition_of(name, load_domain(domain).spec)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("extra_bag_fee = 65", "unknown key 'extra_bag_fee'"),
        ("domain = 'airline'", r"there is no table \[values\]"),
        ("[values", "cannot be read"),
    ],
)
def test_a_wrong_file_of_values_is_refused(tmp_path, text, problem):
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=problem):
        edition_of(str(file), AIRLINE.spec)


def test_the_retail_agent_names_the_refund_time_of_its_policy():
    retail = load_domain("retail")
    other = with_edition(retail.spec, {"refund_days": "12"}).load()
    assert "within 12 business days" in other.environment().policy
    task = next(task for task in other.tasks(None) if task.id == "judged-time-of-a-refund")
    assert task.criteria.nl_assertions[0] == "The agent says that the refund takes 12 business days."
    simulation = simulate(task, domain=other, agent="rules", user="scripted", settings=ACCEPTING)
    assert any("within 12 business days" in (message.content or "") for message in simulation.messages)


@pytest.mark.exhaustive
def test_what_no_task_of_retail_notices_without_a_judge():
    (varied,) = vary(load_domain("retail"), "rules", ["refund_days"], "small")
    assert not varied.failed


def test_tools_of_retail_plus_do_not_repeat_its_policy():
    retail = load_domain("retail").spec
    plus = in_edition(EditionSettings("retail_plus"), retail, None).load().environment()
    own = retail.load().environment()
    changed = {tool.name for tool in plus.tools() if tool != {other.name: other for other in own.tools()}[tool.name]}
    assert changed == {"cancel_pending_order", "modify_pending_order_items", "exchange_delivered_order_items"}
    texts = " ".join(f"{tool.description} {tool.parameters}" for tool in plus.tools() if tool.name in changed)
    assert not re.search("business days|at once|once for|no longer needed", texts)
    assert "within 3 to 6 business days" in plus.policy


def test_descriptions_of_unknown_tools_are_refused(tmp_path):
    file = tmp_path / "my.toml"
    file.write_text('[values]\nrefund_days = "12"\n[descriptions]\n"cancel_pending_order.why" = "Why."\n')
    with pytest.raises(ConfigurationError, match="descriptions: unknown tool or parameter"):
        in_edition(EditionSettings(str(file)), load_domain("retail").spec, None)


@pytest.mark.parametrize(("most", "cards"), [(1, 1), (2, 2)])
def test_the_rules_agent_splits_a_price_between_as_many_cards_as_the_policy_allows(most, cards):
    task = next(task for task in AIRLINE.tasks() if task.id == "book-two-cards-refused")
    simulation = simulate(task, domain=edition(max_credit_cards=most), agent="rules", user="scripted")
    (booking,) = (made.call for made in simulation.calls if made.call.name == "book_reservation")
    paid = {payment["payment_id"]: payment["amount"] for payment in booking.arguments["payment_methods"]}
    assert len(paid) == cards
    assert max(paid.values()) - min(paid.values()) <= 1
