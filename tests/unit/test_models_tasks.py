from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pytest_tau.errors import TaskFormatError
from pytest_tau.models import REWARD_TYPES, EvaluationCriteria, Instructions, Task, UserScenario, parse_task
from pytest_tau.models.script import Answer
from pytest_tau.models.tasks import ForeignCriteria

from .tiny import action, raw_task, task

FULL: dict[str, Any] = {
    "id": "full",
    "description": {"purpose": "p", "relevant_policies": "r", "notes": "n"},
    "user_scenario": {
        "persona": "Brisk.",
        "instructions": {
            "domain": "d",
            "reason_for_call": "why",
            "known_info": "known",
            "unknown_info": "unknown",
            "task_instructions": "do",
        },
    },
    "ticket": "t",
    "initial_state": {
        "initialization_data": {"agent_data": {"a": 1}, "user_data": {"b": 2}},
        "initialization_actions": [{"env_type": "user", "func_name": "f", "arguments": {"x": 1}}],
        "message_history": [{"role": "user", "content": "Hi"}],
    },
    "evaluation_criteria": {
        "actions": [
            {
                "action_id": "a1",
                "requestor": "user",
                "name": "f",
                "arguments": {"x": 1},
                "info": "i",
                "compare_args": ["x"],
            }
        ],
        "env_assertions": [
            {"env_type": "assistant", "func_name": "g", "arguments": {}, "assert_value": False, "message": "m"}
        ],
        "communicate_info": ["10"],
        "nl_assertions": ["It is so."],
        "reward_basis": ["DB", "NL_ASSERTION"],
    },
    "annotations": {"anything": 1},
    "issues": [{"x": 1}],
    "required_documents": ["d"],
    "user_tools": ["f"],
}


def test_every_field_of_the_format_survives() -> None:
    dump = parse_task(FULL).model_dump(exclude_none=True, exclude_defaults=False)
    assert dump["evaluation_criteria"] == FULL["evaluation_criteria"]
    assert dump["user_scenario"] == FULL["user_scenario"]
    assert dump["initial_state"]["message_history"][0]["content"] == "Hi"
    for key in ("id", "description", "ticket", "annotations", "issues", "required_documents", "user_tools"):
        assert dump[key] == FULL[key]
    assert parse_task(parse_task(FULL).model_dump(mode="json")) == parse_task(FULL)


def test_defaults() -> None:
    wanted = task({"actions": [{"action_id": "a", "name": "f"}], "env_assertions": None})
    (only,) = wanted.criteria.actions or []
    assert (only.requestor, only.arguments, only.compare_args) == ("assistant", {}, None)
    assert wanted.criteria.reward_basis == ["DB", "COMMUNICATE"]
    assert wanted.criteria.env_assertions is None
    assert wanted.message_history == []
    assert task({"env_assertions": [{"env_type": "user", "func_name": "f"}]}).criteria.env_assertions[0].assert_value


def test_an_empty_list_of_actions_is_not_none() -> None:
    assert task({"actions": []}).criteria.actions == []
    assert task({}).criteria.actions is None
    assert task({"actions": [action("f", compare=[])]}).criteria.actions[0].compare_args == []


def test_without_criteria_nothing_gates() -> None:
    assert task().evaluation_criteria is None
    assert task().criteria == EvaluationCriteria(reward_basis=[])


@pytest.mark.parametrize(
    ("criteria", "needed"),
    [
        (None, False),
        ({"nl_assertions": ["x"]}, False),
        ({"nl_assertions": ["x"], "reward_basis": ["NL_ASSERTION"]}, True),
        ({"nl_assertions": [], "reward_basis": ["NL_ASSERTION"]}, False),
        ({"reward_basis": ["NL_ASSERTION"]}, False),
    ],
)
def test_a_judge_is_needed_where_statements_gate(criteria: Any, needed: bool) -> None:
    assert task(criteria).needs_judge is needed


def test_a_task_is_frozen() -> None:
    with pytest.raises(ValidationError):
        task().id = "other"  # type: ignore[misc]


def test_the_scenario_as_the_user_reads_it() -> None:
    assert str(UserScenario(instructions="Just this.")) == "Instructions:\n\tJust this."
    assert str(parse_task(FULL).user_scenario) == (
        "Persona:\n\tBrisk.\nInstructions:\n\tDomain: d\n\tReason for call:\n\t\twhy\n\tKnown info:\n\t\tknown\n"
        "\tUnknown info:\n\t\tunknown\n\tTask instructions:\n\t\tdo"
    )


def test_further_lines_of_the_scenario_are_indented_and_lines_without_text_are_not() -> None:
    scenario = UserScenario(
        persona="\nOne.\n\n  Two.\n",
        instructions=Instructions(domain="d", reason_for_call="a\nb\n \nc", task_instructions=""),
    )
    assert str(scenario) == (
        "Persona:\n\n\tOne.\n\n\t  Two.\n\n"
        "Instructions:\n\tDomain: d\n\tReason for call:\n\t\ta\n\t\tb\n \n\t\tc\n\tTask instructions:\n"
    )


def test_reward_types_are_the_reference_s() -> None:
    assert REWARD_TYPES == ("DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": 5}, "id"),
        ({"user_scenario": None}, "user_scenario"),
        ({"user_scenario": {}}, "user_scenario.instructions"),
        (
            {"user_scenario": {"instructions": {"task_instructions": "x"}}},
            "user_scenario.instructions.reason_for_call",
        ),
        ({"colour": "red"}, "colour"),
        ({"evaluation_criteria": {"basis": []}}, "evaluation_criteria.basis"),
        ({"evaluation_criteria": {"actions": {}}}, "evaluation_criteria.actions"),
        (
            {"evaluation_criteria": {"actions": [{"action_id": "a", "name": "f", "requestor": "x"}]}},
            "evaluation_criteria.actions.0.requestor",
        ),
        ({"evaluation_criteria": {"communicate_info": "10"}}, "evaluation_criteria.communicate_info"),
        (
            {"evaluation_criteria": {"env_assertions": [{"env_type": "agent", "func_name": "f"}]}},
            "evaluation_criteria.env_assertions.0.env_type",
        ),
        ({"initial_state": {"message_history": [{"role": "x"}]}}, "initial_state.message_history.0"),
    ],
)
def test_a_bad_field_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(TaskFormatError) as caught:
        parse_task(raw_task("odd") | change)
    assert caught.value.field == field
    assert caught.value.task_id == ("odd" if "id" not in change else "#0")
    assert f": {field}: " in str(caught.value)


def test_problems_are_described_in_words() -> None:
    with pytest.raises(
        TaskFormatError,
        match=r"^task #4: id: missing; user_scenario: missing; colour: unknown field 'colour' \(known: ",
    ):
        parse_task({"colour": "red"}, position=4)
    with pytest.raises(TaskFormatError, match=r"^task #0: id: expected a valid string, got 7$"):
        parse_task(raw_task() | {"id": 7})
    with pytest.raises(TaskFormatError, match=r"^task t: ticket: expected a valid string, got \["):
        parse_task(raw_task("t") | {"ticket": ["7", None]})
    with pytest.raises(TaskFormatError, match="task #2"):
        parse_task(["no object"], position=2)


@pytest.mark.parametrize("value", ["false", "off", 0, 1.0])
def test_values_of_another_type_are_not_converted(value: Any) -> None:
    check = {"env_type": "user", "func_name": "f", "assert_value": value}
    with pytest.raises(TaskFormatError, match=r"assert_value: expected a valid boolean, got "):
        task({"env_assertions": [check]})


@pytest.mark.parametrize("value", ["3", 3.0, True])
def test_numbers_of_a_script_are_whole_numbers(value: Any) -> None:
    for script in ({"requests": [{"say": "x", "insist": value}]}, {"requests": [{"say": "x"}], "patience": value}):
        with pytest.raises(TaskFormatError, match=r"(insist|patience): expected a valid integer, got "):
            parse_task(raw_task("t") | {"user_scenario": {"instructions": "x", "script": script}})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tickets": "x"}, "tickets: unknown field 'tickets'; did you mean 'ticket'? (known: "),
        (
            {"evaluation_criteria": {"action": []}},
            "evaluation_criteria.action: unknown field 'action'; did you mean 'actions'? (known: actions, communicate_info, "
            "env_assertions, nl_assertions, outcomes, reward_basis)",
        ),
        (
            {"evaluation_criteria": {"actions": [{"action_id": "a", "name": "n", "argument": {}}]}},
            "evaluation_criteria.actions.0.argument: unknown field 'argument'; did you mean 'arguments'? (known: action_id, ",
        ),
        (
            {"user_scenario": {"instructions": {"reason_for_call": "x", "task_instructions": "x", "unknown": "x"}}},
            "user_scenario.instructions.unknown: unknown field 'unknown'; did you mean 'unknown_info'? (known: domain, ",
        ),
    ],
)
def test_an_unknown_field_is_reported_with_those_of_its_part(change: dict[str, Any], told: str) -> None:
    with pytest.raises(TaskFormatError) as caught:
        parse_task(raw_task("t") | change)
    assert str(caught.value).startswith(f"task t: {told}")


def test_an_unknown_field_of_a_scenario_is_ignored_only_without_a_value() -> None:
    for value in (None, "", [], {}):
        task = parse_task(raw_task() | {"user_scenario": {"instructions": "x", "persoca": value}})
        assert task.user_scenario.ignored == ("persoca",)
        assert "persoca" not in task.model_dump_json()
    with pytest.raises(TaskFormatError, match=r"user_scenario\.persoca: unknown field"):
        parse_task(raw_task() | {"user_scenario": {"instructions": "x", "persoca": "Calm."}})


def test_a_task_can_be_made_without_a_file() -> None:
    assert Task.model_validate(raw_task("x")).id == "x"


@pytest.mark.parametrize("asks", [[], ["when", " "]])
def test_a_question_of_a_script_has_words(asks: list[str]) -> None:
    with pytest.raises(ValidationError, match="expected at least one entry, each with words"):
        Answer(asks=asks, say="Today.")
    assert Answer(asks=["when"], say="Today.").asks == ["when"]


def test_a_part_of_another_program_that_is_no_object_is_refused() -> None:
    with pytest.raises(ValidationError):
        ForeignCriteria.model_validate("DB")
    assert ForeignCriteria.model_validate({"reward_basis": ["DB"], "theirs": None, "other": 1}).unknown == ["other"]
