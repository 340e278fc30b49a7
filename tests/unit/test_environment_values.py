"""The values of a domain: declarations, placeholders, and what a policy states."""

from __future__ import annotations

import pytest

from pytest_tau.environment import declare_values
from pytest_tau.environment.values import filled, flat_values, named_in, read_values
from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau.models import Task

VALUES = declare_values(
    {
        "fee": {"value": 50, "becomes": [45, 65]},
        "days": {"value": "5 to 7", "becomes": ["12"]},
        "most": {"value": 5, "becomes": [3]},
        "ids": {"value": ["A"], "becomes": [["B"]]},
        "free": {"gold": {"economy": {"value": 3, "becomes": [2, 4]}}},
    }
)


def test_a_value_is_read_by_its_name_and_keys():
    assert VALUES["fee"] == 50
    assert VALUES["free"]["gold"]["economy"] == VALUES.of("free[gold][economy]") == 3
    assert VALUES.with_changes({"free[gold][economy]": 2})["free"]["gold"]["economy"] == 2
    assert VALUES["free"]["gold"]["economy"] == 3
    assert VALUES.with_changes({"ids": ["B"]})["ids"] == ("B",)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("${fee} a bag", "$50 a bag"),
        ("{fee * 2 + 1}", "101"),
        ("{2 * fee}", "{2 * fee}"),
        ("{free[gold][economy]}", "3"),
        ("at most {most:word}", "at most five"),
        ("within {days} days", "within 5 to 7 days"),
        ('{"fee": 1}', '{"fee": 1}'),
        ("{fee.real} {fee()} {fee ** 2} {fee!r} {not a name}", "{fee.real} {fee()} {fee ** 2} {fee!r} {not a name}"),
    ],
)
def test_placeholders_are_names_keys_and_arithmetic(text, shown):
    assert VALUES.fill(text, "policy") == shown


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{fees}", "policy: {fees}: unknown value 'fees'; did you mean 'fee'?"),
        ("{free[gold][first]}", "unknown value 'free[gold][first]'"),
        ("{fee // 0}", "cannot be calculated"),
        ("{days * 2}", "'5 to 7' is not a number"),
        ("{fee:word}", "expected a number from 0 to 10, got 50"),
        ("{ids}", "expected a number or a text"),
        ("{fee * 9999999999999}", "cannot be calculated"),
    ],
)
def test_a_wrong_placeholder_is_named(text, problem):
    with pytest.raises(ConfigurationError) as caught:
        VALUES.fill(text, "policy")
    assert problem in str(caught.value)


def test_a_text_that_is_one_placeholder_becomes_a_number():
    document = {"amount": "{fee * 2}", "text": "{fee} dollars", "list": ["{most}", 1, None]}
    assert VALUES.fill_all(document, "") == {"amount": 100, "text": "50 dollars", "list": [5, 1, None]}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"fee": 66}, "value fee: expected a whole number from 45 to 65, got 66"),
        ({"fee": "65"}, "got '65'"),
        ({"fee": True}, "value fee"),
        ({"days": "1"}, "value days: expected one of '5 to 7', '12', got '1'"),
        ({"fe": 1}, "unknown value 'fe'; did you mean 'fee'?"),
    ],
)
def test_a_value_out_of_its_range_is_refused(changes, problem):
    with pytest.raises(ConfigurationError) as caught:
        VALUES.with_changes(changes, "my.toml")
    assert str(caught.value).startswith("my.toml: ")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "declared",
    [
        {"fee": 50},
        {"fee": {"value": 50}},
        {"fee": {"value": 50, "becomes": 60}},
        {"fee": {"value": 50, "becomes": ["60"]}},
        {"fee": {"value": 1.5, "becomes": [2.5]}},
        {"Fee": {"value": 50, "becomes": [60]}},
    ],
)
def test_a_wrong_declaration_is_refused(declared):
    with pytest.raises(ConfigurationError, match=r"values: .*[Ff]ee"):
        declare_values(declared)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match=r"none\.toml: cannot be read"):
        read_values(tmp_path / "none.toml")


def test_what_a_policy_states_is_read_line_by_line():
    template = "A bag costs ${fee}.\nAt most {most:word}; {free[gold][economy]} free.\nWithin {days} days."
    edition = VALUES.with_changes({"fee": 65, "most": 3, "days": "12", "free[gold][economy]": 2})
    assert VALUES.stated_in(edition.fill(template, ""), template) == edition
    # A line that is gone or worded differently leaves its values as they are.
    stated = VALUES.stated_in("A bag costs $65.\nNo more than 3.", template)
    assert dict(stated.changed) == {"fee": 65}


def test_names_of_placeholders_and_of_tables():
    assert named_in("{fee * 2} {most:word} {free[gold][economy]} {x: 1}") == ["fee", "most", "free[gold][economy]"]
    assert flat_values({"fee": 1, "free": {"gold": {"economy": 2}}}) == {"fee": 1, "free[gold][economy]": 2}


def task(**fields):
    document = {
        "id": "t",
        "user_scenario": {"instructions": "You know that it costs {fee} dollars."},
        "evaluation_criteria": {
            "actions": [{"action_id": "0", "name": "pay", "arguments": {"amount": "{fee * 3}", "note": "{x: 1}"}}],
            "communicate_info": ["{fee * 3}"],
        },
    }
    return Task.model_validate(document | fields)


def test_a_task_is_filled_in_scenario_arguments_and_required_statements():
    made = filled(task(), VALUES)
    assert made.user_scenario.instructions == "You know that it costs 50 dollars."
    assert made.criteria.actions[0].arguments == {"amount": 150, "note": "{x: 1}"}
    assert made.criteria.communicate_info == ["150"]


def test_a_wrong_placeholder_of_a_task_is_named_with_its_field():
    with pytest.raises(TaskFormatError) as caught:
        filled(task(ticket="{fees}"), VALUES)
    assert (caught.value.task_id, caught.value.field) == ("t", "ticket")
