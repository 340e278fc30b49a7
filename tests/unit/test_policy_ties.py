"""The sentences of a policy, with their places and what is tied to them."""

from __future__ import annotations

import pytest

from pytest_tau import load_domain
from pytest_tau.policy import Rule, fingerprint, load_rules
from pytest_tau.policy.ties import Tie, policy_sentences

POLICY = """Be brief.

# Bags
- Each *extra* bag costs **50** dollars. Ask first!

| Level | Free |
|---|---|
| `gold` | 3 |
"""


def rule(sentence, *editions):
    return Rule("bags", sentence, lambda _: [], editions=editions)


def test_sentences_are_lines_rows_and_their_places():
    found = policy_sentences(POLICY)
    assert [(each.text, each.line, each.heading) for each in found] == [
        ("Be brief.", 1, ""),
        ("Each *extra* bag costs **50** dollars.", 4, "Bags"),
        ("Ask first!", 4, "Bags"),
        ("| `gold` | 3 |", 8, "Bags"),
    ]
    assert [POLICY[each.start : each.end] for each in found] == [each.text for each in found]


@pytest.mark.parametrize(
    ("sentence", "tied"),
    [
        ("Each extra bag costs 50 dollars.", [1]),
        ("EACH extra\nbag", [1]),
        ("50 dollars. Ask first", [1, 2]),
        ("Each extra bag costs 5 dollars.", []),
    ],
)
def test_a_rule_is_tied_to_the_sentences_that_it_quotes(sentence, tied):
    found = policy_sentences(POLICY, [rule(sentence)])
    assert [number for number, each in enumerate(found) if each.ties == (Tie("rule", "bags"),)] == tied


def test_an_edition_ties_its_sentences_if_the_policy_has_all():
    edition = (fingerprint("Ask first"), fingerprint("Be brief"))
    tied = policy_sentences(POLICY, [rule("Something else.", edition)])
    assert [each.text for each in tied if each.ties] == ["Be brief.", "Ask first!"]
    partly = policy_sentences(POLICY, [rule("Something else.", (*edition, "0" * 12))])
    assert not any(each.ties for each in partly)


def test_other_ties_are_by_text():
    found = policy_sentences(POLICY, ties=[(Tie("value", "free_bags[gold]"), "`gold` | 3")])
    assert [each.line for each in found if Tie("value", "free_bags[gold]") in each.ties] == [8]


@pytest.mark.parametrize("name", ["mock", "airline", "retail", "telecom"])
def test_each_rule_of_a_bundled_domain_is_tied_to_its_policy(name):
    domain = load_domain(name)
    rules = load_rules(domain.spec)
    found = policy_sentences(domain.environment().policy, rules)
    assert {tie.name for each in found for tie in each.ties} == {rule.name for rule in rules}
    assert any(not each.ties for each in found)
