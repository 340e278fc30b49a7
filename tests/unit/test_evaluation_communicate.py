from __future__ import annotations

import pytest

from pytest_tau.evaluation import OFFICIAL, STRICT
from pytest_tau.evaluation.components.communicate import check_communicate
from pytest_tau.models import ToolMessage

from .tiny import agent, call, user


@pytest.mark.parametrize(
    ("phrase", "text", "official", "strict"),
    [
        pytest.param("Order 5", "your order 5 is here", True, True, id="case"),
        pytest.param("5", "there are 51", True, False, id="part-of-a-number"),
        pytest.param("5", "there are 15", True, False, id="end-of-a-number"),
        pytest.param("10", "it costs 10.50", True, False, id="whole-part-of-a-decimal"),
        pytest.param("10", "it costs 3.10", True, False, id="fraction-of-a-decimal"),
        pytest.param("10.5", "it costs 10.50", True, True, id="shorter-decimal"),
        pytest.param("60", "it costs $60.00.", True, True, id="no-decimals"),
        pytest.param("60.00", "it costs $60", False, True, id="needless-decimals"),
        pytest.param("10.5", "it costs 10.55", True, False, id="another-decimal"),
        pytest.param("1.2", "version 1.2.0", True, False, id="a-version-is-no-number"),
        pytest.param("10", "it costs $10.", True, True, id="end-of-a-sentence"),
        pytest.param("10", "from 10, or so", True, True, id="before-a-comma"),
        pytest.param("cat", "a category", True, False, id="part-of-a-word"),
        pytest.param("1234", "it costs 1,234 in all", True, True, id="comma-in-the-text"),
        pytest.param("1,234", "it costs 1,234 in all", False, True, id="comma-in-both"),
        pytest.param("1,234", "it costs 1234 in all", False, True, id="comma-in-the-phrase"),
        pytest.param("1234567", "1,234,567", True, True, id="two-commas"),
        pytest.param("1,234,567.89", "$1234567.89", False, True, id="money"),
        pytest.param("12", "1,2 or 3", True, False, id="a-list-is-no-number"),
        pytest.param("yes, sir", "yes, sir", False, True, id="comma-in-words"),
        pytest.param("yes sir", "yes, sir", True, False, id="comma-only-in-the-text"),
        pytest.param("$5 (net)", "it is $5 (net) now", True, True, id="signs-are-meant-literally"),
        pytest.param("5.5", "515", False, False, id="a-dot-is-a-dot"),
        pytest.param("blue", "red", False, False, id="absent"),
        pytest.param("50", "-50 EUR", True, False, id="negative-at-the-start"),
        pytest.param("50", "your balance is -50 EUR.", True, False, id="negative"),
        pytest.param("50", "your balance is \N{MINUS SIGN}50.00 EUR.", True, False, id="minus-sign"),
        pytest.param("50", "the balance (-50 EUR)", True, False, id="negative-in-brackets"),
        pytest.param("50", "the balance is **-50**", True, False, id="negative-and-bold"),
        pytest.param("50", "the balance is $-50", True, False, id="sign-after-the-currency"),
        pytest.param("50", "the balance is -$50", True, False, id="sign-before-the-currency"),
        pytest.param("$50", "the balance is -$50", True, False, id="currency-and-another-sign"),
        pytest.param("1050", "the balance is -1,050.00", True, False, id="negative-with-a-comma"),
        pytest.param("-50", "the balance is -50.00", True, True, id="sign-in-both"),
        pytest.param("-50", "the balance is \N{MINUS SIGN}50", False, True, id="two-kinds-of-minus"),
        pytest.param("\N{MINUS SIGN}50", "the balance is -50", False, True, id="minus-sign-in-the-phrase"),
        pytest.param("-50", "the balance is 50", False, False, id="sign-only-in-the-phrase"),
        pytest.param("-50", "a range of 10-50", True, False, id="a-range-has-no-sign"),
        pytest.param("50", "a range of 10-50", True, True, id="end-of-a-range"),
        pytest.param("50", "a range of 10\N{MINUS SIGN}50", True, True, id="range-with-a-minus-sign"),
        pytest.param("50", "from 10€-50€", True, True, id="range-of-amounts"),
        pytest.param("50", "from 10 €-50 €", True, True, id="range-of-spaced-amounts"),
        pytest.param("50", "from $10-$50", True, True, id="range-of-amounts-after-currencies"),
        pytest.param("50", "on 2026-01-50", True, True, id="part-of-a-date"),
        pytest.param("50", "room A-50", True, True, id="part-of-a-name"),
        pytest.param("50", "- 50 EUR", True, True, id="item-of-a-list"),
        pytest.param("50", "it is 10 - 50 EUR", True, True, id="hyphen-between-spaces"),
        pytest.param("50", "it is +50 EUR", True, True, id="positive"),
    ],
)
def test_phrases(phrase: str, text: str, official: bool, strict: bool) -> None:
    messages = [agent(text)]
    assert [check.met for check in check_communicate([phrase], messages, OFFICIAL)] == [official]
    assert [check.met for check in check_communicate([phrase], messages, STRICT)] == [strict]


@pytest.mark.parametrize("grading", [OFFICIAL, STRICT])
def test_only_the_agent_s_texts_count(grading: object) -> None:
    silent = [user("ten"), ToolMessage(content="ten"), agent(call("f", x="ten")), agent(None)]
    assert not check_communicate(["ten"], silent, grading)[0].met  # type: ignore[arg-type]
    assert check_communicate(["ten"], [*silent, agent("Ten.")], grading)[0].met  # type: ignore[arg-type]


def test_text_next_to_a_call_counts() -> None:
    assert check_communicate(["ten"], [agent("It is ten.", call("f"))], OFFICIAL)[0].met


def test_a_phrase_is_found_within_one_text() -> None:
    assert not check_communicate(["one two"], [agent("one"), agent("two")], OFFICIAL)[0].met


def test_checks_keep_the_order_and_the_spelling_of_the_phrases() -> None:
    checks = check_communicate(["B", "A"], [agent("a")], OFFICIAL)
    assert [(check.info, check.met, check.justification) for check in checks] == [
        ("B", False, "never said"),
        ("A", True, "said by the agent"),
    ]
    assert check_communicate([], [agent("a")], OFFICIAL) == []
