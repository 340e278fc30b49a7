"""Editions of a policy: a rule holds where the text has its sentence, or all sentences of an edition that it names."""

from pathlib import Path

import pytest

from pytest_tau.capabilities.editions.lint import lint
from pytest_tau.capability import LintView
from pytest_tau.policy import Rule, fingerprint
from pytest_tau.policy.editions import holds_in, sentences_of

from . import tiny

POLICY = """# Bags
- Each *extra* bag costs 50 dollars.
- **Silver** members have 2 free bags. Gold members have `3`!

1. Ask first
"""


def test_sentences_are_those_of_lines_and_lists():
    assert [*sentences_of(POLICY)] == [
        "# Bags",
        "Each *extra* bag costs 50 dollars.",
        "**Silver** members have 2 free bags.",
        "Gold members have `3`!",
        "Ask first",
    ]


@pytest.mark.parametrize("same", ["each extra bag costs 50 dollars", "Each _extra_  bag\ncosts 50 dollars."])
def test_layout_and_case_do_not_change_a_fingerprint(same):
    assert fingerprint(same) == fingerprint("Each *extra* bag costs 50 dollars.")


def rule(sentence="Bags beyond it cost money.", *editions):
    return Rule("bags", sentence, lambda _: [], editions=editions)


@pytest.mark.parametrize(
    ("held", "editions"),
    [
        (False, []),
        (True, [["Each extra bag costs 50 dollars."]]),
        (True, [["Each extra bag costs 50 dollars.", "Silver members have 2 free bags."]]),
        (False, [["Each extra bag costs 50 dollars.", "Silver members have 3 free bags."]]),
        (False, [["Each extra bag costs 65 dollars."]]),
        (True, [["Each extra bag costs 65 dollars."], ["Ask first"]]),
    ],
)
def test_a_rule_holds_if_all_sentences_of_an_edition_are_there(held, editions):
    assert holds_in(rule("Other.", *(tuple(map(fingerprint, each)) for each in editions)), POLICY) is held


def test_a_rule_holds_where_its_own_sentence_is():
    assert holds_in(rule("silver members have 2 free bags"), POLICY)


def test_data_without_a_policy_have_no_line_of_its_values(tmp_path: Path) -> None:
    """As published tasks, the policies of which are in other files."""
    view = LintView(tiny.make(tmp_path), None, None, None, [])
    (tmp_path / "policy.md").unlink()
    assert tiny.run(lint(view)) == []
    (tmp_path / "policy.md").write_text("Ask for 2 names.")
    assert tiny.run(lint(view)) == ["values of the policy: none is declared; 1 sentence of the policy state a number"]
