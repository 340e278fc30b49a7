"""Each rule of the linter: what it finds, and what it leaves alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest
from pydantic import BaseModel

from pytest_tau.capability import Capability
from pytest_tau.capability.views import LintView
from pytest_tau.environment import ToolError, ToolInfo, tool
from pytest_tau.environment.arguments import misfits
from pytest_tau.errors import ConfigurationError
from pytest_tau.lint import LintReport, lint_domain
from pytest_tau.references.known import Known

from . import tiny

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_tau.environment import Domain

    Lint = Callable[..., LintReport]


NOT_STATED = "neither the user nor the policy states it, and no tool returns it from what is known"


class Desk(tiny.TinyTools):
    """Tools that are looked up with, as an agent would."""

    @tool("read")
    def find_item(self, name: str, tag: str) -> tiny.Item:
        """Find an item by two facts."""
        for item in self.db.items.scan():
            if item.name == name and item.meta and item.meta["tag"] == tag:
                return item
        raise ToolError("no such item")

    @tool("read")
    def search(self, origin: str, destination: str, date: str) -> list[str]:
        """Find ways between two places."""
        if (origin, destination, date) != ("SEA", "JFK", "2024-05-20"):
            raise ToolError("no way")
        return ["way-7"]

    @tool("read")
    def list_codes(self) -> list[str]:
        """List all codes."""
        return ["code-1"]

    @tool("write")
    def go(self, way: str, origin: str, destination: str, how: Literal["slowly", "quickly"], date: str) -> str:
        """Take a way."""
        self.db.counter += 1
        return "gone"


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    """Checks tasks, or one task's criteria and fields, on the tiny domain."""

    def run(
        criteria: Any = None, *, tasks: Any = None, splits: Any = None, split: str = "base", **fields: Any
    ) -> LintReport:
        domain = _domain(tmp_path, tasks or [tiny.raw_task("t", criteria, **fields)], splits)
        return tiny.run(lint_domain(domain, split))

    return run


def _domain(folder: Path, tasks: list[Any], splits: Any) -> Domain:
    (folder / "tasks").mkdir()
    data = tiny.AGENT_DATA | {
        "items": {
            "lamp": {"item_id": "lamp", "name": "Lamp", "meta": {"tag": "bright", "supplier_ref": "SUP-99"}},
            "desk-12": {"item_id": "desk-12", "name": "Desk"},
        }
    }
    (folder / "db.json").write_text(json.dumps(data))
    (folder / "user_db.json").write_text(json.dumps(tiny.USER_DATA))
    (folder / "policy.md").write_text("Items are renamed to policy-name-1 only.")
    (folder / "tasks" / "tasks.json").write_text(json.dumps(tasks))
    if splits is not None:
        (folder / "tasks" / "split_tasks.json").write_text(json.dumps(splits))
    return tiny.spec(folder, agent_tools=Desk, policies={"default": tiny.PolicyFiles(("policy.md",))}).load()


def found(report: LintReport, *rules: str) -> list[tuple[str, str, str]]:
    """The findings of some rules, or of all: rule, severity, text."""
    return [(f.rule, f.severity, f.text) for f in report.findings if not rules or f.rule in rules]


def instructed(text: str) -> dict[str, Any]:
    return {"user_scenario": {"instructions": text}}


RENAME = tiny.action("rename", item_id="lamp", name="New")


def test_a_sound_task_has_no_findings(lint: Lint) -> None:
    criteria = {"actions": [RENAME], "communicate_info": ["done"]}
    report = lint(criteria, **instructed("Rename the lamp to New."))
    assert found(report) == []
    assert (report.tasks, report.floor, report.floor_but_for_judge) == (1, 0, 0)


def test_fields_that_are_ignored_are_warnings(lint: Lint) -> None:
    state = {"initialization_data": {"items": {"lamp": {"name": "x"}}}}
    scenario = {"instructions": "Rename the lamp to New.", "persoca": None}
    report = lint({"actions": [RENAME]}, user_scenario=scenario, initial_state=state)
    assert found(report, "ignored-field") == [
        (
            "ignored-field",
            "warning",
            "user_scenario.persoca: an unknown field without a value is ignored: remove it, or correct its name",
        ),
        (
            "ignored-field",
            "warning",
            "initial_state.initialization_data.items: a table next to agent_data is ignored: "
            "move it into agent_data, or into user_data",
        ),
    ]


# The gold run


def test_a_gold_run_that_fails_is_an_error_with_its_reason(lint: Lint) -> None:
    criteria = {"env_assertions": [tiny.check("phone_on", "user")], "reward_basis": ["ENV_ASSERTION"]}
    assert found(lint(criteria), "gold-fails") == [("gold-fails", "error", "assertion phone_on(): not met")]


def test_statements_are_accepted(lint: Lint) -> None:
    criteria = {"actions": [RENAME], "nl_assertions": ["It is polite."], "reward_basis": ["DB", "NL_ASSERTION"]}
    assert found(lint(criteria, **instructed("Rename the lamp to New."))) == []


# Doing nothing


@pytest.mark.parametrize(
    ("criteria", "why"),
    [
        (None, "the task has no evaluation criteria"),
        (
            {"actions": []},
            "there are no reference actions: state what the agent has to say (communicate_info)",
        ),
        ({"actions": [tiny.action("look", item_id="lamp")]}, "no reference action writes"),
        (
            {"actions": [tiny.action("rename", item_id="lamp", name="Lamp")]},
            "the reference actions do not change the databases",
        ),
    ],
)
def test_a_task_that_a_greeting_passes_is_an_error(lint: Lint, criteria: Any, why: str) -> None:
    report = lint(criteria, **instructed("The lamp is a Lamp."))
    expected = ("passes-without-agent", "error", f"a greeting alone earns reward 1: {why}")
    assert found(report, "passes-without-agent") == [expected]
    assert (report.floor, report.floor_but_for_judge) == (1, 0)


def test_what_only_the_judge_stops_is_a_warning(lint: Lint) -> None:
    criteria = {"actions": [], "nl_assertions": ["It refused."], "reward_basis": ["DB", "NL_ASSERTION"]}
    report = lint(criteria)
    ((_, severity, text),) = found(report, "passes-without-agent")
    assert (severity, report.floor, report.floor_but_for_judge) == ("warning", 0, 1)
    assert "unless the judge objects" in text


# The reference actions


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (tiny.action("renme", item_id="lamp"), "did you mean 'rename'"),
        (tiny.action("switch"), '\'switch\' is a tool of the user, not of the assistant: set "requestor": "user"'),
        (tiny.action("fly", "user"), "unknown tool 'fly'"),
    ],
)
def test_an_action_that_no_tool_carries_out_is_an_error(lint: Lint, action: Any, text: str) -> None:
    ((_, severity, told),) = found(lint({"actions": [action, RENAME]}), "unknown-action")
    assert severity == "error"
    assert told.startswith("action 0 (")
    assert text in told


def test_an_action_that_the_task_s_user_has_no_tool_for_is_an_error(lint: Lint) -> None:
    report = lint({"actions": [tiny.action("switch", "user")]}, user_tools=["read_phone"])
    ((_, severity, text),) = found(report, "unknown-action")
    assert (severity, "user_tools" in text) == ("error", True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"item_id": "lamp"}, "name: missing"),
        ({"item_id": 3, "name": "New"}, "item_id: expected string, got 3"),
        ({"item_id": "lamp", "name": "New", "now": True}, "now: unknown argument (known: item_id, name)"),
    ],
)
def test_arguments_that_do_not_fit_are_errors(lint: Lint, arguments: Any, problem: str) -> None:
    action = tiny.action("rename") | {"arguments": arguments}
    expected = ("bad-arguments", "error", f"action 0 (rename): {problem}")
    assert expected in found(lint({"actions": [action]}), "bad-arguments")


@pytest.mark.parametrize(
    ("action", "severity", "problem"),
    [
        (
            tiny.action("count", "assistant", ["by"]),
            "warning",
            "action 0 (count): compare_args names 'by', which it does not have",
        ),
        (
            tiny.action("rename", "assistant", ["item_id", "nam"], item_id="lamp", name="New"),
            "error",
            "action 0 (rename): compare_args: unknown argument 'nam'; did you mean 'name'? (known: item_id, name)",
        ),
    ],
    ids=["missing", "unknown"],
)
def test_an_argument_that_is_compared_must_be_there(lint: Lint, action: Any, severity: str, problem: str) -> None:
    assert found(lint({"actions": [action]}), "bad-arguments") == [("bad-arguments", severity, problem)]


def test_a_tool_that_writes_without_being_declared_as_a_write_is_an_error(
    lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(Desk.tool_infos, "count", ToolInfo("read", mutates=False))
    report = lint({"actions": [tiny.action("count")]})
    text = "tool 'count' is declared as read but has changed counter: declare it @tool(\"write\")"
    assert found(report, "undeclared-write") == [("undeclared-write", "error", text)]
    assert found(report, "gold-fails") == []


def test_an_action_that_raises_is_an_error(lint: Lint) -> None:
    actions = [RENAME, tiny.action("remove", item_id="lamp"), tiny.action("remove", item_id="lamp")]
    expected = ("action-raises", "error", "action 2 (remove): ToolError: no item lamp")
    assert found(lint({"actions": actions}), "action-raises") == [expected]


def test_an_error_of_pydantic_in_a_tool_is_one_line(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    class Label(BaseModel):
        size: int

    monkeypatch.setattr(Desk, "list_codes", lambda _: Label.model_validate({"size": "XL"}))
    ((_, _, text),) = found(lint({"actions": [tiny.action("list_codes")]}), "action-raises")
    assert text == 'action 0 (list_codes): ValidationError: Label: size: expected a valid integer, got "XL"'


def test_a_writing_action_that_changes_nothing_is_noted(lint: Lint) -> None:
    twice = [RENAME, RENAME, tiny.action("tag", item_id="lamp", tag="new")]
    expected = 'action {}: reward 1 without rename(item_id="lamp", name="New")'
    assert found(lint({"actions": twice}, **instructed("New lamp")), "action-not-needed") == [
        ("action-not-needed", "note", expected.format(position)) for position in (0, 1)
    ]


def test_an_action_that_must_be_made_is_needed(lint: Lint) -> None:
    twice = {"actions": [RENAME, tiny.action("rename", item_id="lamp", name="Lamp")], "reward_basis": ["DB", "ACTION"]}
    assert found(lint(twice), "action-not-needed") == []


def test_a_task_whose_gold_run_fails_has_no_unneeded_actions(lint: Lint) -> None:
    criteria = {"actions": [RENAME], "env_assertions": [tiny.check("phone_on", "user")]}
    criteria["reward_basis"] = ["ENV_ASSERTION"]
    assert found(lint(criteria), "action-not-needed") == []


# Findings that follow from others

MISFIT = tiny.action("rename") | {"arguments": {"item_id": "lamp"}}


@pytest.mark.parametrize(
    ("actions", "rules"),
    [
        ([MISFIT], ["bad-arguments"]),
        ([MISFIT, tiny.action("rename", item_id="lmp", name="New")], ["bad-arguments"]),
        ([MISFIT, tiny.action("renme", item_id="lamp")], ["bad-arguments", "unknown-action"]),
        ([tiny.action("renme", item_id="lmp")], ["unknown-action"]),
        ([tiny.action("remove", item_id="lmp"), tiny.action("remove", item_id="lmq")], ["action-raises"]),
        ([tiny.action("remove", item_id="lmp") for _ in range(12)], ["action-raises"]),
        ([tiny.action("look", item_id="lmp"), RENAME], ["action-raises"]),
        ([*[tiny.action("look", item_id="lmp")] * 12, RENAME], ["action-raises"] * 12),
        ([tiny.action("look", item_id="lmp")], ["passes-without-agent", "action-raises"]),
        ([tiny.action("rename", item_id="lamp", name="Lamp")], ["passes-without-agent"]),
    ],
    ids=["arguments", "later", "both", "unknown", "raises", "breaks-off", "read", "reads", "only-read", "no-change"],
)
def test_only_the_cause_is_reported(lint: Lint, actions: Any, rules: list[str]) -> None:
    report = lint({"actions": actions}, **instructed("Rename the lamp to New, it is a Lamp."))
    assert [rule for rule, _, _ in found(report)] == rules


# What must be said


@pytest.mark.parametrize(("basis", "severity"), [(["DB", "COMMUNICATE"], "error"), (["DB"], "note")])
def test_a_phrase_in_the_greeting_says_nothing(lint: Lint, basis: list[str], severity: str) -> None:
    criteria = {"actions": [RENAME], "communicate_info": ["help"], "reward_basis": basis}
    expected = ("communicate-in-greeting", severity, "'help' is said before the agent's first message")
    assert expected in found(lint(criteria))


def test_a_phrase_that_the_history_says_is_said(lint: Lint) -> None:
    history = [{"role": "assistant", "content": "It is 42."}, {"role": "user", "content": "And?"}]
    report = lint({"actions": [RENAME], "communicate_info": ["42"]}, state={"message_history": history})
    assert len(found(report, "communicate-in-greeting")) == 1


@pytest.mark.parametrize(("basis", "severity"), [(["DB", "COMMUNICATE"], "warning"), (["DB"], "note")])
def test_a_phrase_of_one_character_is_weak(lint: Lint, basis: list[str], severity: str) -> None:
    criteria = {"actions": [RENAME], "communicate_info": ["4 ", "42"], "reward_basis": basis}
    ((_, told, text),) = found(lint(criteria), "communicate-one-character")
    assert told == severity
    assert text.startswith("'4 ' is in nearly any answer")


@pytest.mark.parametrize(("basis", "severity"), [(["DB", "COMMUNICATE"], "warning"), (["DB"], "note")])
def test_a_phrase_in_the_user_s_text_may_be_repeated(lint: Lint, basis: list[str], severity: str) -> None:
    criteria = {"actions": [RENAME], "communicate_info": ["1234", "12"], "reward_basis": basis}
    ((_, told, text),) = found(lint(criteria, **instructed("I have 1,234.")), "communicate-in-user-text")
    assert told == severity
    assert text.startswith("'1234'")


# Facts


@pytest.mark.parametrize(
    ("text", "action", "missing"),
    [
        ("Rename the lamp to New", RENAME, None),
        ("Rename the LAMP to 'nEW'", RENAME, None),
        ("Rename the thing", tiny.action("rename", item_id="lamp", name="Novel"), "name 'Novel'"),
        ("Rename the lamp to policy-name-1", tiny.action("rename", item_id="lamp", name="policy-name-1"), None),
        ("The lamp", tiny.action("rename", item_id="lamp", name="policy-name-1"), None),
        ("The new bright lamp", tiny.action("rename", item_id="lamp", name="Bright New"), None),
        ("Rename it, lamp", tiny.action("rename", item_id="lamp", name="code-1"), None),
        ("Seat", tiny.action("sit", seat_id="s1", who="Mia Li"), "who 'Mia Li'"),
        ("You are Mia Li", tiny.action("sit", seat_id="s1", who="Mia Li"), None),
        # Given by reading: the desk's record names the desk.
        ("It is desk-12", tiny.action("rename", item_id="desk-12", name="Desk"), None),
        ("It is Lamp, and bright", tiny.action("rename", item_id="lamp", name="SUP-99"), None),
        # The tool finds the lamp by the user's word for it.
        ("It is dark", tiny.action("rename", item_id="lamp", name="SUP-99"), None),
        ("It is dark", tiny.action("rename", item_id="lamp", name="SUP-98"), "name 'SUP-98'"),
        # Numbers, choices and codes need not be given by the user.
        ("Price", tiny.action("price", item_id="lamp", price=12345), None),
        ("Hand over", tiny.action("transfer", summary="Whatever he said."), None),
        ("A lamp", tiny.action("add", item_id="lamp", tags=["red", "very-blue"]), "tags.1 'very-blue'"),
    ],
)
def test_a_fact_comes_from_a_text_or_from_reading(lint: Lint, text: str, action: Any, missing: str | None) -> None:
    findings = found(lint({"actions": [action]}, **instructed(f"{text}. Of course the lamp.")), "fact-missing")
    expected = (
        [("fact-missing", "warning", f"action 0 ({action['name']}): the agent cannot know {missing}: {NOT_STATED}")]
        if missing
        else []
    )
    assert findings == expected


def test_what_an_action_gives_is_known_after_it(lint: Lint) -> None:
    look, rename = (tiny.action("look", item_id="lamp"), tiny.action("rename", item_id="lamp", name="SUP-99"))
    text = instructed("the lamp")
    assert found(lint({"actions": [look, rename]}, **text), "fact-missing") == []


def test_value_without_a_source_is_reported_once(lint: Lint) -> None:
    actions = [tiny.action("rename", item_id="lamp", name="Novel"), tiny.action("tag", item_id="lamp", tag="Novel")]
    assert len(found(lint({"actions": actions}, **instructed("the lamp")), "fact-missing")) == 1


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("From SEA to JFK on May 20", True),
        ("From SEA to JFK on the 20th of May", True),
        ("From SEA to JFK, 5/21", True),
        ("From SEA to JFK on 2024-05-18, two days later", True),
        ("From SEA to JFK on June 20", False),
    ],
)
def test_what_can_be_searched_for_is_given(lint: Lint, text: str, given: bool) -> None:
    action = tiny.action("go", way="way-7", origin="SEA", destination="JFK", how="slowly", date="2024-05-20")
    assert (found(lint({"actions": [action]}, **instructed(text)), "fact-missing") == []) is given


def test_values_of_the_initial_state_are_known(lint: Lint) -> None:
    data = {"agent_data": {"items": {"vase-5": {"item_id": "vase-5", "name": "Ming-77"}}}}
    action = tiny.action("tag", item_id="vase-5", tag="Ming-77")
    report = lint({"actions": [action]}, state={"initialization_data": data}, **instructed("vase-5"))
    assert found(report, "fact-missing") == []


@pytest.mark.parametrize(
    ("text", "value", "known"),
    [
        ("my order W123", "#W123", True),
        ("on 2024-02-30", "2024-02-30", True),
        ("on 2024-02-29", "2024-02-30", False),
        ("Dec. 31st", "2024-01-02", True),
        ("31 December", "2024-01-02", True),
        ("anna", "Anna Smith", False),
    ],
)
def test_values_are_found_in_many_spellings(text: str, value: str, known: bool) -> None:
    assert Known([text]).has(value) is known


# The set


def test_tasks_with_the_same_opening_are_reported(lint: Lint) -> None:
    tasks = [tiny.raw_task("a", {"actions": []}), tiny.raw_task("b"), tiny.raw_task("c", ticket="x")]
    (finding,) = (f for f in lint(tasks=tasks).findings if f.rule == "duplicate-instructions")
    assert (finding.severity, finding.task_id, finding.text) == ("warning", "b", "has the same beginning as task a")


def test_splits_with_unknown_tasks_are_reported(lint: Lint) -> None:
    tasks = [tiny.raw_task("a"), tiny.raw_task("b"), tiny.raw_task("c")]
    report = lint(tasks=tasks, splits={"base": ["a", "zz"], "more": ["b", "b"]})
    assert found(report, "unknown-split-id", "in-no-split") == [
        ("unknown-split-id", "error", "split 'base' names unknown tasks: 'zz'"),
        ("unknown-split-id", "warning", "split 'more' names 'b' twice"),
        ("in-no-split", "note", "tasks in no split (1): 'c'"),
    ]
    assert report.tasks == 1


def test_invalid_split_is_reported(lint: Lint) -> None:
    with pytest.raises(ConfigurationError, match="unknown split 'tst'"):
        lint({"actions": []}, splits={"base": ["t"], "test": []}, split="tst")


@pytest.mark.parametrize(
    ("criteria", "state", "text"),
    [
        ({"actions": [], "reward_basis": ["LUCK"]}, None, "unknown reward basis 'LUCK'"),
        ({"env_assertions": [tiny.check("lit")]}, None, "unknown function 'lit'"),
        (None, {"initialization_actions": [{"env_type": "user", "func_name": "no"}]}, "unknown function 'no'"),
        (None, {"initialization_data": {"agent_data": {"counter": "x"}}}, ".agent_data.counter: expected"),
    ],
)
def test_a_task_that_its_domain_cannot_begin_is_an_error_and_nothing_more(
    lint: Lint, criteria: Any, state: Any, text: str
) -> None:
    tasks = [tiny.raw_task("bad", criteria, state), tiny.raw_task("t", {"actions": [RENAME]}, ticket="New lamp")]
    report = lint(tasks=tasks)
    ((rule, severity, told),) = found(report)
    assert (rule, severity) == ("does-not-fit", "error")
    assert text in told


# JSON schema

SCHEMA = {
    "$defs": {"Part": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
    "type": "object",
    "properties": {
        "part": {"$ref": "#/$defs/Part"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "choice": {"enum": ["a", "b"]},
        "only": {"const": 1},
        "map": {"type": "object", "additionalProperties": {"type": "number"}},
        "flag": {"type": "boolean"},
        "any": {},
        "typed": {"type": "string", "enum": ["a", "b"]},
    },
}


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"part": {"n": 1}, "parts": [{"n": 2.0}], "either": None, "choice": "a", "only": 1, "any": [{}]}, []),
        ({"part": {}}, ["part.n: missing"]),
        ({"part": {"n": 1.5}}, ["part.n: expected integer, got 1.5"]),
        ({"part": {"n": True}}, ["part.n: expected integer, got true"]),
        ({"part": {"n": float("inf")}}, ["part.n: expected integer, got Infinity"]),
        ({"parts": [{"n": 1}, 2]}, ["parts.1: expected object, got 2"]),
        ({"parts": {}}, ["parts: expected array, got {}"]),
        ({"either": 1}, ["either: expected string, got 1"]),
        ({"choice": "c"}, ['choice: expected one of "a", "b", got "c"']),
        ({"only": 2}, ["only: expected one of 1, got 2"]),
        ({"map": {"x": 1, "y": "1"}}, ['map.y: expected number, got "1"']),
        ({"flag": 1}, ["flag: expected boolean, got 1"]),
        ({"new": 1}, ["new: unknown argument (known: part, parts, either, choice, only, map, flag, any, typed)"]),
        ({"typed": "b"}, []),
        ({"typed": "c"}, ['typed: expected one of "a", "b", got "c"']),
    ],
)
def test_arguments_are_checked_against_the_schema(arguments: Any, problems: list[str]) -> None:
    assert misfits(arguments, SCHEMA) == problems


STORED_SCHEMA = {
    "$defs": {"Part": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    "properties": {
        "whole": {"type": "integer"},
        "price": {"type": "number"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
        "two": {"type": ["integer", "string"]},
        "size": {"enum": [1, 2], "type": "integer"},
        "rate": {"enum": [1.0, 2], "type": "number"},
        "only": {"const": 1},
    },
}


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"whole": 6, "price": 6.0, "parts": [{"n": 6}], "maybe": None, "either": 6.0, "two": 6, "size": 1}, []),
        ({"price": 6, "maybe": 6, "either": 6, "two": "x", "rate": 1.0, "only": 1}, []),
        ({"whole": 6.0}, ["whole: expected integer, got 6.0: write 6"]),
        ({"whole": -0.0}, ["whole: expected integer, got -0.0: write -0"]),
        ({"whole": 6.5}, ["whole: expected integer, got 6.5"]),
        ({"whole": float("inf")}, ["whole: expected integer, got Infinity"]),
        ({"whole": True}, ["whole: expected integer, got true"]),
        ({"parts": [{"n": 6}, {"n": 1e3}]}, ["parts.1.n: expected integer, got 1000.0: write 1000"]),
        ({"maybe": 6.0}, ["maybe: expected integer, got 6.0: write 6"]),
        ({"two": 6.0}, ["two: expected integer or string, got 6.0: write 6"]),
        ({"size": 2.0}, ["size: expected one of 1, 2, got 2.0: write 2"]),
        ({"size": 3.0}, ["size: expected one of 1, 2, got 3.0"]),
        ({"rate": 2.0}, ["rate: expected one of 1.0, 2, got 2.0: write 2"]),
        ({"only": 1.0}, ["only: expected one of 1, got 1.0: write 1"]),
    ],
)
def test_a_number_with_a_fraction_is_no_integer_if_it_is_stored(arguments: Any, problems: list[str]) -> None:
    assert misfits(arguments, STORED_SCHEMA, stored=True) == problems
    others = [each for each in problems if "write" not in each]
    assert misfits(arguments, STORED_SCHEMA) == others


def test_a_text_of_a_capability_is_a_line_about_the_domain(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    async def figures(view: LintView) -> list[str]:
        return [f"{len(view.tasks)} tasks"] if view.task is None else []

    monkeypatch.setattr("pytest_tau.lint.installed", lambda: (Capability(name="figures", lint=figures),))
    report = lint(tasks=[tiny.raw_task(name, {"actions": [RENAME]}, ticket=name) for name in ("a", "b")])
    assert report.figures == ["2 tasks"]
