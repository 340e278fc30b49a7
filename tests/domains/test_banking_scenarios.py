"""Rows of the bank's scenarios: what templates, facts and steps become."""

from __future__ import annotations

import json

import pytest

from pytest_tau_domains._kit.cases import Case, let, where
from pytest_tau_domains.banking_knowledge.tasks.calls import given, hidden, offered
from pytest_tau_domains.banking_knowledge.tasks.documents import stated
from pytest_tau_domains.banking_knowledge.tasks.scenarios import disputes, people
from pytest_tau_domains.banking_knowledge.tasks.templates import fill, scenario
from pytest_tau_domains.banking_knowledge.tasks.world import World

WORLD = World({"users": {"u1": {"user_id": "u1", "name": "Ada"}, "u2": {"user_id": "u2", "name": "Bo"}}})
CASE = Case(user={"user_id": "u1"}, card={"card_id": "c1"}, amount=12.5, wish="{amount}")


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{amount}", 12.5),
        ("{wish}", 12.5),
        ("${amount:.2f} of {user[user_id]}", "$12.50 of u1"),
        ({"{card[card_id]}": ["{amount}", None, True]}, {"c1": [12.5, None, True]}),
        (lambda case: {"more": "{amount}", "twice": case.amount * 2}, {"more": 12.5, "twice": 25.0}),
    ],
)
def test_templates(template, filled):
    assert fill(template, CASE) == filled


def test_an_unknown_fact_is_an_error():
    with pytest.raises(KeyError, match="nothing"):
        fill("{nothing}", CASE)


def test_a_hidden_tool_is_unlocked_and_gets_the_arguments_that_it_usually_has():
    unlock, call = fill(hidden("close_debit_card_4721", reason="{amount}"), CASE)
    assert unlock.arguments == {"agent_tool_name": "close_debit_card_4721"}
    assert json.loads(call.arguments["arguments"]) == {"card_id": "c1", "reason": 12.5}
    give, use = fill(given("get_referral_link", card_name="EcoCard"), CASE)
    assert (give.requestor, use.requestor) == ("assistant", "user")
    assert json.loads(use.arguments["arguments"]) == {"user_id": "u1", "card_name": "EcoCard"}
    (plain,) = fill(offered("get_referrals_by_user", user_id="{user[user_id]}"), CASE)
    assert plain == ("get_referrals_by_user", {"user_id": "u1"}, "assistant")


def test_a_scenario_yields_a_draft_for_each_case_that_fits():
    cases = (
        let(size=lambda case: len(case.user["name"]), kind=lambda case: "usual"),
        where(lambda case: case.size > case.least),
    )
    row = scenario(
        "a-task", "A purpose.", cases=cases,
        least=2, kind="special", reason="You are {user[name]}, {size}, {kind}.", documents=("one", "two"),
    )  # fmt: skip
    assert (row.task_id, row.purpose, row.rule) == ("a-task", "A purpose.", "one")
    (draft,) = row.drafts(WORLD)
    assert (draft.caller["name"], draft.reason, draft.calls) == ("Ada", "You are Ada, 3, special.", [])


def test_figures_of_scenarios_are_those_of_the_documents():
    dispute = "credit_card_dispute"
    assert stated(dispute, "Provisional credit from an amount of") == f"${disputes._PROVISIONAL_FROM}"
    assert stated(dispute, "Provisional credit from a card account age of") == f"{disputes._PROVISIONAL_AGE} days"
    assert stated("referral_rules", "Completed referrals a year") == str(people._REFERRALS_A_YEAR)
    assert stated("mobile_check_deposit", "Largest check by the mobile app") == f"${people._CHECK_LIMIT:,}"
