"""The calculator: Python's results for what Python accepts, refusals for the rest, and all of it at once."""

from __future__ import annotations

import time
import warnings

import pytest
from hypothesis import given, strategies as st

from pytest_tau.environment import ToolError
from pytest_tau.environment.calculator import calculate


def in_python(expression: str) -> str | None:
    """Python's result; None if it fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of calls of a number
        try:
            return str(round(float(eval(expression, {})), 2))
        except Exception:
            return None


def ours(expression: str) -> str | None:
    try:
        return calculate(expression)
    except ToolError:
        return None


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2 + 2", "4.0"),
        ("2 * ((350 - 122) + (499 - 127))", "1200.0"),
        ("1/3", "0.33"),
        ("7//2", "3.0"),
        ("7 // -2", "-4.0"),
        ("2.675", "2.67"),
        ("0.125", "0.12"),
        ("-0.001", "-0.0"),
        ("10**16", "1e+16"),
        ("10.0**308 * 10", "inf"),
        ("10.0**308 * 10 - 10.0**308 * 10", "nan"),
        ("10**400 / 10**399", "10.0"),
        ("-2**2", "-4.0"),
        ("2**-1", "0.5"),
        ("2**3**2", "512.0"),
        ("2**-2**2 * 4", "0.25"),
        ("8 / 4 / 2 - 1 - 1", "-1.0"),
        ("--+-3", "-3.0"),
        ("  (((1.)))  ", "1.0"),
        (".5 + 007.5 + 00", "8.0"),
        ("1**99999999999", "1.0"),
        ("(-1)**99999999999", "-1.0"),
    ],
)
def test_results(expression: str, result: str) -> None:
    assert calculate(expression) == result


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("2 + x", "Invalid characters in expression"),
        ("1e5", "Invalid characters in expression"),
        ("1\n", "Invalid characters in expression"),
        ("٣", "Invalid characters in expression"),
        (5, "Invalid characters in expression"),
        (["1"], "Invalid characters in expression"),
        ("", "Expression is not complete"),
        ("   ", "Expression is not complete"),
        ("1 +", "Expression is not complete"),
        ("2 * (3", "'(' was never closed"),
        ("2) * 3", "unmatched ')'"),
        ("()", "invalid syntax: ')' at position 2"),
        ("(2)(3)", "invalid syntax: '(' at position 4"),
        ("2 2", "invalid syntax: '2' at position 3"),
        ("1 / / 2", "invalid syntax: '/' at position 5"),
        ("1***2", "invalid syntax: '*' at position 4"),
        ("1..2", "invalid syntax: '.2' at position 3"),
        ("...", "invalid syntax: '.' at position 1"),
        ("1 . 5", "invalid syntax: '.' at position 3"),
        ("007", "leading zeros in a whole number"),
        ("1/0", "division by zero"),
        ("1.0 // 0", "division by zero"),
        ("0**-1", "division by zero"),
        ("(-8)**0.5", "Result is not a real number"),
        ("10**400", "Result is too large"),
        ("2.0**5000", "Result is too large"),
    ],
)
def test_refusals(expression: str, text: str) -> None:
    with pytest.raises(ToolError) as refusal:
        calculate(expression)
    assert str(refusal.value) == text


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "9**(9**99)",
        "(10**4000)**4000",
        "9" * 1_000_000,
        "9" * 4301,
        "1+" * 1_000_000 + "1",
        "(" * 1_000_000,
        "(" * 201 + "1" + ")" * 201,
        "99999*" * 833 + "9",
        "-" * 20_000,
    ],
    ids=lambda expression: f"{expression[:10]}... {len(expression)}",
)
def test_what_would_take_long_is_refused_at_once(expression: str) -> None:
    begin = time.process_time()
    assert ours(expression) is None
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    "expression",
    ["-" * 19_999 + "1", "1**" * 6666 + "1", "(" * 200 + "1" + ")" * 200, "9" * 2000 + "//" + "9" * 1999],
)
def test_depth_and_length_within_bounds_are_fine(expression: str) -> None:
    assert ours(expression) is not None


def test_a_long_sum_is_computed_as_by_the_reference() -> None:
    assert calculate("+".join(["19.99"] * 2000)) == "39980.0"


def test_the_longest_expressions_do_not_hang() -> None:
    begin = time.process_time()
    calculate("9" * 300 + "*1" * 9_850)
    ours("9" * 4300 + "*1" * 7_850)
    assert time.process_time() - begin < 5


numbers = st.sampled_from(["0", "1", "2", "7", "10", "350", "00", "1.", ".5", "0.125", "19.99", "1000000"])
spaces = st.sampled_from(["", "", " ", "  "])


@st.composite
def joined(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    """Two expressions and an operator."""
    sign = draw(st.sampled_from(["+", "-", "*", "/", "//"]))
    return draw(inner) + draw(spaces) + sign + draw(spaces) + draw(inner)


#: Small bases and exponents: Python hangs over large ones.
powers = st.tuples(numbers, spaces, st.sampled_from(["2", "-1", "0.5", "+ 3", "2**2", "-2**.5"])).map(
    "{0[0]}{0[1]}**{0[1]}{0[2]}".format
)
expressions = st.recursive(
    numbers | powers,
    lambda inner: joined(inner) | inner.map("({})".format) | inner.map("-{}".format) | inner.map("+ {}".format),
    max_leaves=12,
)


@given(expressions)
def test_expressions_have_the_results_of_python(expression: str) -> None:
    assert ours(expression) == in_python(expression)


@given(st.lists(st.sampled_from([*"012.()+-*/ ", "**", "//"]), max_size=6).map("".join))
def test_whatever_python_refuses_is_refused(expression: str) -> None:
    assert ours(expression) == in_python(expression)


@given(st.text("0123456789.()+-/ ", max_size=30))
def test_any_row_of_characters_is_read_as_python_does(expression: str) -> None:
    assert ours(expression) == in_python(expression)
