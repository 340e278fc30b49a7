from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_tau.environment import check_task
from pytest_tau.environment.execution_checks import check_initial_state
from pytest_tau.errors import TaskFormatError
from pytest_tau.models import REWARD_TYPES

from . import tiny
from .tiny import action, check, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Task


def test_a_task_that_fits(domain: Domain) -> None:
    wanted = task(
        {
            "actions": [action("rename", item_id="lamp", name="x"), action("switch", "user")],
            "env_assertions": [
                check("named", item_id="lamp", name="x"),
                check("phone_on", "user"),
                check("look", item_id="lamp"),
            ],
            "reward_basis": list(REWARD_TYPES),
        },
        state={
            "initialization_actions": [{"env_type": "assistant", "func_name": "put_counter", "arguments": {"value": 3}}]
        },
    )
    check_task(wanted, domain.spec, REWARD_TYPES)
    check_task(task(), domain.spec, REWARD_TYPES)


@pytest.mark.parametrize(
    ("criteria", "state", "field", "told"),
    [
        (
            {"reward_basis": ["DB", "POLITENESS"]},
            None,
            "evaluation_criteria.reward_basis",
            "unknown reward basis 'POLITENESS'",
        ),
        (
            {"actions": [action("rename"), action("renam")]},
            None,
            "evaluation_criteria.actions.1.name",
            "unknown tool 'renam'; did you mean 'rename'",
        ),
        (
            {"actions": [action("switch")]},
            None,
            "evaluation_criteria.actions.0.name",
            '\'switch\' is a tool of the user, not of the assistant: set "requestor": "user"',
        ),
        ({"actions": [action("rename", "user")]}, None, "evaluation_criteria.actions.0.name", "of the user"),
        ({"actions": [action("named")]}, None, "evaluation_criteria.actions.0.name", "unknown tool 'named'"),
        (
            {"env_assertions": [check("name")]},
            None,
            "evaluation_criteria.env_assertions.0.func_name",
            "did you mean 'named'",
        ),
        (
            {"env_assertions": [check("phone_on")]},
            None,
            "evaluation_criteria.env_assertions.0.func_name",
            "on the assistant's side",
        ),
        (
            None,
            {"initialization_actions": [{"env_type": "user", "func_name": "_item"}]},
            "initial_state.initialization_actions.0.func_name",
            "on the user's side",
        ),
    ],
)
def test_a_task_that_names_what_the_domain_lacks(
    domain: Domain, tmp_path: Path, criteria: Any, state: Any, field: str, told: str
) -> None:
    wanted = task(criteria, task_id="odd", state=state)
    with pytest.raises(TaskFormatError, match=told) as caught:
        check_task(wanted, domain.spec, REWARD_TYPES, tmp_path / "odd.json")
    assert (caught.value.file, caught.value.task_id, caught.value.field) == (tmp_path / "odd.json", "odd", field)


def test_the_user_s_tools_of_a_task_exist(domain: Domain) -> None:
    check_task(task(user_tools=["switch"]), domain.spec, REWARD_TYPES)
    check_task(task(user_tools=[]), domain.spec, REWARD_TYPES)
    with pytest.raises(TaskFormatError, match="unknown tool 'swich'; did you mean 'switch'") as caught:
        check_task(task(user_tools=["switch", "swich"]), domain.spec, REWARD_TYPES)
    assert caught.value.field == "user_tools.1"


def _with_goal(tool: str, arguments: Any = None, **fields: Any) -> Task:
    goal = {"tool": tool, "arguments": arguments or {}, "expects": ["on"]}
    script = {"requests": [{"say": "Switch it on."}], "goals": [goal]}
    return task(user_scenario={"instructions": "Go.", "script": script}, **fields)


def test_the_goals_of_a_script_are_calls_that_the_user_can_make(domain: Domain, tmp_path: Path) -> None:
    check_task(_with_goal("read_phone"), domain.spec, REWARD_TYPES)
    check_task(_with_goal("read_phone", user_tools=["read_phone"]), domain.spec, REWARD_TYPES)
    for wanted, field, problem in (
        (_with_goal("read_fone"), "tool", "unknown tool 'read_fone'; did you mean 'read_phone'"),
        (_with_goal("look", {"item_id": "lamp"}), "tool", "unknown tool 'look'.* of the user"),
        (_with_goal("read_phone", user_tools=["switch"]), "tool", "unknown tool 'read_phone'"),
        (_with_goal("read_phone", {"loud": True}), "arguments", "read_phone: loud: unknown argument"),
    ):
        with pytest.raises(TaskFormatError, match=problem) as caught:
            check_task(wanted, domain.spec, REWARD_TYPES, tmp_path / "t.json")
        assert (caught.value.file, caught.value.field) == (
            tmp_path / "t.json",
            f"user_scenario.script.goals.0.{field}",
        )


def test_tables_next_to_initialization_data_are_ignored_and_other_names_refused(domain: Domain) -> None:
    def state(name: str) -> Any:
        return {"initialization_data": {"agent_data": {"counter": 4}, name: {"lamp": {"name": "x"}}}}

    for table in ("items", "phone"):
        wanted = task(state=state(table))
        check_task(wanted, domain.spec, REWARD_TYPES)
        assert domain.environment(wanted).dump() == domain.environment(task(state=state(table))).dump()
        assert domain.environment(wanted).dump()["agent"]["items"] == domain.environment().dump()["agent"]["items"]
    with pytest.raises(TaskFormatError, match="unknown field 'agent_dta'; did you mean 'agent_data'") as caught:
        check_task(task(state=state("agent_dta")), domain.spec, REWARD_TYPES)
    assert caught.value.field == "initial_state.initialization_data.agent_dta"
    with pytest.raises(TaskFormatError, match="unknown field"):
        task(state={"initialization_data": {"items": 5}})


def test_components_of_plugins_may_be_named(domain: Domain) -> None:
    check_task(task({"reward_basis": ["POLITENESS"]}), domain.spec, [*REWARD_TYPES, "POLITENESS"])


def test_a_domain_without_a_user_side_has_no_user_tools(tmp_path: Path) -> None:
    spec = tiny.spec(tmp_path, user_tools=None, user_db=None)
    with pytest.raises(TaskFormatError, match="known: none"):
        check_task(task({"actions": [action("switch", "user")]}), spec, REWARD_TYPES)


def test_arguments_of_reference_actions_fit_the_schema(domain: Domain) -> None:
    wanted = task({"actions": [action("count", by=1), action("count", by="many")]})
    with pytest.raises(TaskFormatError, match="count: ") as caught:
        check_task(wanted, domain.spec, REWARD_TYPES)
    assert caught.value.field == "evaluation_criteria.actions.1.arguments"


def test_compared_arguments_are_arguments_of_the_tool(domain: Domain) -> None:
    check_task(
        task({"actions": [action("count", compare=["by"]), action("count", compare=[])]}), domain.spec, REWARD_TYPES
    )
    wanted = task({"actions": [action("count", compare=["by"], by=1), action("count", compare=["bye"], by=1)]})
    with pytest.raises(TaskFormatError, match="count: unknown argument 'bye'; did you mean 'by'") as caught:
        check_task(wanted, domain.spec, REWARD_TYPES)
    assert caught.value.field == "evaluation_criteria.actions.1.compare_args"


def _initially(name: str, side: str = "assistant", **arguments: Any) -> dict[str, Any]:
    return {"initialization_actions": [{"env_type": side, "func_name": name, "arguments": arguments}]}


@pytest.mark.parametrize(
    ("criteria", "state", "problem"),
    [
        (None, _initially("put_counter"), "put_counter: value: missing"),
        (None, _initially("put_counter", value="x"), "put_counter: value: expected integer, got"),
        (None, _initially("put_counter", value=1, by=1), r"put_counter: by: unknown argument \(known: value\)"),
        (None, _initially("switch", "user", on=True), r"switch: on: unknown argument \(known: none\)"),
        (None, _initially("rename", item_id="lamp"), "rename: name: missing"),
        ({"env_assertions": [check("named", item_id="lamp")]}, None, "named: name: missing"),
        ({"env_assertions": [check("shows", "user", number=[])]}, None, "shows: number: expected integer"),
    ],
)
def test_arguments_of_functions_match_their_signatures(domain: Domain, criteria: Any, state: Any, problem: str) -> None:
    with pytest.raises(TaskFormatError, match=problem) as caught:
        check_task(task(criteria, state=state), domain.spec, REWARD_TYPES)
    place = "initial_state.initialization_actions" if state else "evaluation_criteria.env_assertions"
    assert caught.value.field == f"{place}.0.arguments"


@pytest.mark.parametrize(
    ("wanted", "field", "problem"),
    [
        (
            task({"actions": [action("count", by=6), action("count", by=6.0)]}),
            "evaluation_criteria.actions.1.arguments",
            "count: by: expected integer, got 6.0: write 6",
        ),
        (
            task({"env_assertions": [check("shows", "user", number=2.0)]}),
            "evaluation_criteria.env_assertions.0.arguments",
            "shows: number: expected integer, got 2.0: write 2",
        ),
        (
            task(state=_initially("put_counter", value=3.0)),
            "initial_state.initialization_actions.0.arguments",
            "put_counter: value: expected integer, got 3.0: write 3",
        ),
    ],
)
def test_a_number_with_a_fraction_is_no_integer(domain: Domain, wanted: Task, field: str, problem: str) -> None:
    with pytest.raises(TaskFormatError, match=problem) as caught:
        check_task(wanted, domain.spec, REWARD_TYPES)
    assert caught.value.field == field


def test_numbers_of_initialization_data_and_for_fractions_are_accepted(domain: Domain) -> None:
    data = {"agent_data": {"counter": 4.0, "items": {"lamp": {"price": 3}}}}
    wanted = task({"actions": [action("price", item_id="lamp", price=6.0)]}, state={"initialization_data": data})
    check_task(wanted, domain.spec, REWARD_TYPES)
    agent = domain.environment(wanted).dump()["agent"]
    assert [repr(agent["counter"]), repr(agent["items"]["lamp"]["price"])] == ["4", "3.0"]


class _Odd(tiny.TinyTools):
    """Functions whose signatures do not say everything."""

    def untyped(self, a, b=1):  # type: ignore[no-untyped-def]
        """Accepts any type."""

    def any_name(self, a: int, **others: int) -> None:
        """Accepts any name."""

    def unknown_type(self, a: Missing) -> None:  # type: ignore[name-defined] # noqa: F821
        """Has an annotation that cannot be read."""

    def no_schema(self, a: type, json: str = "") -> None:
        """Has an annotation without a schema, and a name that a model uses itself."""

    extension = staticmethod(iter)

    def dated(
        self, day: date, days: list[date] | None = None, size: Literal[1, 2] = 1, point: tuple[int, int] = (0, 0)
    ) -> bool:
        """Has annotations of which a value is converted."""
        return True


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        (_initially("untyped", a="x", b=[]), None),
        (_initially("untyped", b=2), "untyped: a: missing"),
        (_initially("untyped", a=1, c=2), r"untyped: c: unknown argument \(known: a, b\)"),
        (_initially("any_name", a="x", b=2), None),
        (_initially("any_name", b=2), "any_name: a: missing"),
        (_initially("unknown_type", a=1), None),
        (_initially("unknown_type"), "unknown_type: a: missing"),
        (_initially("no_schema", a=1, json="x"), None),
        (_initially("no_schema", b=1), "no_schema: b: unknown argument"),
        (_initially("extension", anything=1), None),
        (_initially("dated", day="2026-02-28", days=["2026-02-28"], size=2, point=[1, 2]), None),
        (_initially("dated", day="2026-02-30"), 'dated: day: expected a valid date.*, got "2026-02-30"'),
        (_initially("dated", day="2026-02-28", days=["x"]), "dated: days.0: expected a valid date"),
    ],
)
def test_what_a_signature_does_not_say_is_accepted(tmp_path: Path, state: Any, problem: str | None) -> None:
    spec = tiny.spec(tmp_path, agent_tools=_Odd)
    if problem is None:
        check_task(task(state=state), spec, REWARD_TYPES)
        return
    with pytest.raises(TaskFormatError, match=problem):
        check_task(task(state=state), spec, REWARD_TYPES)


def test_an_argument_of_an_assertion_can_be_converted(tmp_path: Path) -> None:
    spec = tiny.spec(tmp_path, agent_tools=_Odd)
    asserted = task({"env_assertions": [check("dated", day="2026-02-28"), check("dated", day="2026-02-82")]})
    with pytest.raises(TaskFormatError, match="dated: day: expected a valid date") as caught:
        check_task(asserted, spec, REWARD_TYPES)
    assert caught.value.field == "evaluation_criteria.env_assertions.1.arguments"


def test_initial_states_are_applied(domain: Domain, tmp_path: Path) -> None:
    check_initial_state(task(), domain)
    check_initial_state(task(state=_initially("put_counter", value=3)), domain)
    thirteen = task(state=_initially("put_counter", value=13), task_id="odd")
    with pytest.raises(TaskFormatError, match="cannot be applied: thirteen") as caught:
        check_initial_state(thirteen, domain, tmp_path / "odd.json")
    assert (caught.value.file, caught.value.task_id) == (tmp_path / "odd.json", "odd")
    assert caught.value.field == "initial_state.initialization_actions.0"


@pytest.mark.parametrize(
    ("annotations", "field", "problem"),
    [
        ({"tau.cluster": 7}, "annotations.tau.cluster", "expected a text that is not empty, such as 'refund', got 7"),
        ({"tau.cluster": " "}, "annotations.tau.cluster", "expected a text that is not empty"),
        ({"tau.cluster": None}, "annotations.tau.cluster", "expected a text that is not empty"),
        ({"tau.clsuter": "a"}, "annotations.tau.clsuter", "did you mean 'tau.cluster'"),
        ({"tau": {"cluster": "a"}}, "annotations.tau", 'expected the cluster as annotations["tau.cluster"]'),
    ],
)
def test_a_cluster_that_is_not_one_is_refused(
    domain: Domain, annotations: dict[str, Any], field: str, problem: str
) -> None:
    with pytest.raises(TaskFormatError) as caught:
        check_task(task(annotations=annotations), domain.spec, REWARD_TYPES)
    assert field in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("annotations", "cluster"),
    [({"tau.cluster": " a ", "mine": 1}, "a"), ({"tau": "mine"}, ""), ("mine", ""), (["tau.cluster"], ""), (None, "")],
)
def test_other_annotations_are_the_users_own(domain: Domain, annotations: Any, cluster: str) -> None:
    wanted = task(annotations=annotations)
    check_task(wanted, domain.spec, REWARD_TYPES)
    assert wanted.cluster == cluster
