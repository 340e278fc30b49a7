"""The mock domain: its tools keep the reference's rules, and its tasks are sound."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from for_each import for_each

import pytest_tau
from pytest_tau import Evaluation, SimulationSettings
from pytest_tau.errors import TaskFormatError, ToolError
from pytest_tau.evaluation import BUILT_IN_JUDGES
from pytest_tau.models import GREETING, REWARD_TYPES, AssistantMessage, Task, ToolMessage, UserMessage, parse_task

if TYPE_CHECKING:
    from pytest_tau import Environment
    from pytest_tau.models import Action, Requestor

DOMAIN = pytest_tau.load_domain("mock")
TASKS = DOMAIN.tasks(split=None)
ACCEPTING = SimulationSettings(evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))

each_task = for_each({task.id: task for task in TASKS})
each_ticket = for_each({task.id: task for task in TASKS if task.ticket})


@pytest.fixture
def env() -> Environment:
    return DOMAIN.environment()


def result(message: ToolMessage) -> Any:
    assert not message.error, message.content
    return json.loads(message.content or "")


def failure(message: ToolMessage) -> str:
    assert message.error, message.content
    return message.content or ""


def world(**data: Any) -> Task:
    """A task that does nothing but lay data over the databases."""
    return parse_task(
        {"id": "t", "user_scenario": {"instructions": "-"}, "initial_state": {"initialization_data": data}}
    )


# The bundled data


def test_bundled_databases(env: Environment) -> None:
    dump = env.dump()
    agent, user = dump["agent"], dump["user"]
    assert {key: (person["name"], person["tasks"]) for key, person in agent["users"].items()} == {
        "user_1": ("Ada Moreno", ["task_1", "task_2"]),
        "user_2": ("Ben Okafor", []),
    }
    assert {key: task["status"] for key, task in agent["tasks"].items()} == {"task_1": "pending", "task_2": "completed"}
    assert {key: (note["status"], note["task_id"]) for key, note in user["notifications"].items()} == {
        "notif_1": ("unread", "task_1")
    }


def test_the_files_are_what_a_dump_gives(env: Environment) -> None:
    for side, stem in (("agent", "db"), ("user", "user_db")):
        assert json.loads((DOMAIN.folder / f"{stem}.json").read_text(encoding="utf-8")) == env.dump()[side]


# The agent's tools


def test_create_task(env: Environment) -> None:
    arguments = {"user_id": "user_2", "title": "Feed the cat", "description": "Twice a day"}
    created = {"task_id": "task_3", "title": "Feed the cat", "description": "Twice a day", "status": "pending"}
    assert result(env.call("create_task", arguments)) == created
    assert env.dump()["agent"]["tasks"]["task_3"] == created
    assert env.dump()["agent"]["users"]["user_2"]["tasks"] == ["task_3"]


def test_create_task_needs_no_description_and_takes_an_empty_title(env: Environment) -> None:
    created = result(env.call("create_task", {"user_id": "user_2", "title": ""}))
    assert created == {"task_id": "task_3", "title": "", "description": None, "status": "pending"}


@pytest.mark.parametrize("wrong", [{"title": 5}, {"title": None}, {"title": "T", "description": 5}])
def test_create_task_looks_for_the_user_before_the_rest(env: Environment, wrong: dict[str, Any]) -> None:
    before = env.dump()
    assert failure(env.call("create_task", {"user_id": "user_9", **wrong})) == "Error: User user_9 not found"
    assert "validation error" in failure(env.call("create_task", {"user_id": "user_1", **wrong}))
    assert env.dump() == before


def test_ids_count_tasks_and_can_overwrite_one() -> None:
    other = {"task_id": "task_4", "title": "Given", "status": "completed"}
    env = DOMAIN.environment(world(agent_data={"tasks": {"task_4": other}}))
    assert result(env.call("create_task", {"user_id": "user_1", "title": "New"}))["task_id"] == "task_4"
    dump = env.dump()["agent"]
    assert dump["tasks"]["task_4"]["title"] == "New"
    assert sorted(dump["tasks"]) == ["task_1", "task_2", "task_4"]
    assert dump["users"]["user_1"]["tasks"] == ["task_1", "task_2", "task_4"]


def test_get_users(env: Environment) -> None:
    assert result(env.call("get_users", {})) == [
        {"user_id": "user_1", "name": "Ada Moreno", "tasks": ["task_1", "task_2"]},
        {"user_id": "user_2", "name": "Ben Okafor", "tasks": []},
    ]


@pytest.mark.parametrize("status", ["completed", "pending", "foo", "", None, 7])
def test_update_task_status_takes_any_status(env: Environment, status: Any) -> None:
    assert result(env.call("update_task_status", {"task_id": "task_1", "status": status}))["status"] == status
    assert env.dump()["agent"]["tasks"]["task_1"]["status"] == status


def test_update_task_status_of_an_unknown_task(env: Environment) -> None:
    arguments = {"task_id": "task_9", "status": "completed"}
    assert failure(env.call("update_task_status", arguments)) == "Error: Task task_9 not found"


def test_transfer_changes_nothing(env: Environment) -> None:
    before = env.dump()
    assert env.call("transfer_to_human_agents", {"summary": "Too hard"}).content == "Transfer successful"
    assert env.dump() == before


# The user's tools


def test_check_notifications(env: Environment) -> None:
    (found,) = result(env.call("check_notifications", {}, "user"))
    assert found == env.dump()["user"]["notifications"]["notif_1"]


def test_dismiss_notification_is_repeatable(env: Environment) -> None:
    for _ in range(2):
        reply = env.call("dismiss_notification", {"notification_id": "notif_1"}, "user")
        assert (reply.content, reply.error) == ("Notification notif_1 dismissed", False)
        assert env.dump()["user"]["notifications"]["notif_1"]["status"] == "read"


def test_dismiss_an_unknown_notification(env: Environment) -> None:
    reply = env.call("dismiss_notification", {"notification_id": "notif_9"}, "user")
    assert failure(reply) == "Error: Notification notif_9 not found"


# Sides


@pytest.mark.parametrize(
    ("side", "expected"),
    [
        (
            "assistant",
            {
                "create_task": ("write", True),
                "get_users": ("read", False),
                "update_task_status": ("write", True),
                "transfer_to_human_agents": ("generic", False),
            },
        ),
        ("user", {"check_notifications": ("read", False), "dismiss_notification": ("write", True)}),
    ],
)
def test_each_side_has_its_own_tools(env: Environment, side: Requestor, expected: dict[str, tuple[str, bool]]) -> None:
    assert {tool.name: (tool.kind, tool.mutates) for tool in env.tools(side)} == expected


@pytest.mark.parametrize(
    ("side", "name"),
    [
        ("assistant", "check_notifications"),
        ("assistant", "dismiss_notification"),
        ("assistant", "assert_task_status"),
        ("assistant", "nonsense"),
        ("user", "get_users"),
        ("user", "transfer_to_human_agents"),
        ("user", "add_notification"),
        ("user", "nonsense"),
    ],
)
def test_nothing_else_can_be_called(env: Environment, side: Requestor, name: str) -> None:
    assert failure(env.call(name, {}, side)) == f"Error: Tool '{name}' not found."


def test_schema_of_create_task(env: Environment) -> None:
    schema = next(tool for tool in env.tools() if tool.name == "create_task").parameters
    description = schema["properties"]["description"]
    assert (description["type"], description["default"]) == ("string", None)
    assert schema["required"] == ["user_id", "title"]


# Solo


def test_solo_has_a_policy_of_its_own(env: Environment) -> None:
    alone = DOMAIN.environment(solo=True)
    assert alone.policy != env.policy
    assert "ompliment" in env.policy
    assert "ompliment" not in alone.policy


def test_solo_gives_the_agent_both_sides_tools() -> None:
    alone = DOMAIN.environment(solo=True)
    names = [tool.name for tool in alone.tools()]
    assert names == [
        "create_task",
        "get_users",
        "update_task_status",
        "transfer_to_human_agents",
        "check_notifications",
        "dismiss_notification",
    ]
    assert alone.tools("user") == []
    assert len(result(alone.call("check_notifications", {}))) == 1
    assert not alone.call("dismiss_notification", {"notification_id": "notif_1"}).error
    assert alone.dump()["user"]["notifications"]["notif_1"]["status"] == "read"
    assert not alone.call("update_task_status", {"task_id": "task_1", "status": "completed"}).error


@pytest.mark.parametrize("name", ["check_notifications", "get_users", "nonsense"])
def test_solo_refuses_calls_of_the_user(name: str) -> None:
    reply = DOMAIN.environment(solo=True).call(name, {}, "user")
    assert failure(reply) == "Error: User tool calls are not allowed in solo mode"


# Functions that only tasks can name


@pytest.mark.parametrize(
    ("side", "name", "arguments", "expected"),
    [
        ("assistant", "assert_number_of_tasks", {"user_id": "user_1", "expected_number": 2}, True),
        ("assistant", "assert_number_of_tasks", {"user_id": "user_2", "expected_number": 1}, False),
        ("assistant", "assert_task_status", {"task_id": "task_1", "expected_status": "pending"}, True),
        ("assistant", "assert_task_status", {"task_id": "task_2", "expected_status": "pending"}, False),
        ("user", "assert_notification_status", {"notification_id": "notif_1", "expected_status": "unread"}, True),
        ("user", "assert_notification_status", {"notification_id": "notif_1", "expected_status": "read"}, False),
    ],
)
def test_assertions(env: Environment, side: Requestor, name: str, arguments: dict[str, Any], expected: bool) -> None:
    assert env.run_function(side, name, arguments) is expected


@pytest.mark.parametrize(
    ("side", "name", "arguments", "message"),
    [
        ("assistant", "assert_number_of_tasks", {"user_id": "x", "expected_number": 2}, "User x not found"),
        ("assistant", "assert_task_status", {"task_id": "x", "expected_status": "pending"}, "Task x not found"),
        (
            "user",
            "assert_notification_status",
            {"notification_id": "x", "expected_status": "read"},
            "Notification x not found",
        ),
    ],
)
def test_assertions_about_unknown_ids(
    env: Environment, side: Requestor, name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError, match=re.escape(message)):
        env.run_function(side, name, arguments)


def test_add_notification_replaces_one_and_is_unread(env: Environment) -> None:
    env.call("dismiss_notification", {"notification_id": "notif_1"}, "user")
    env.run_function("user", "add_notification", {"notification_id": "notif_1", "message": "Again"})
    env.run_function("user", "add_notification", {"notification_id": "notif_2", "message": "More", "task_id": "task_2"})
    notes = env.dump()["user"]["notifications"]
    assert notes["notif_1"] == {"notification_id": "notif_1", "message": "Again", "status": "unread", "task_id": None}
    assert notes["notif_2"]["task_id"] == "task_2"


# Data laid over the databases (merge_aliases)


def test_agent_data_puts_both_sides_on_the_agents_database() -> None:
    extra = {"task_id": "task_3", "title": "Given", "status": "pending", "colour": "dropped"}
    env = DOMAIN.environment(world(agent_data={"tasks": {"task_3": extra}}))
    reply = env.call("check_notifications", {}, "user")
    assert failure(reply) == "Error: 'MockDB' object has no attribute 'notifications'"
    assert env.dump()["user"] == env.dump()["agent"]
    assert env.dump()["agent"]["tasks"]["task_3"] == {
        "task_id": "task_3",
        "title": "Given",
        "description": None,
        "status": "pending",
    }
    assert not env.call("update_task_status", {"task_id": "task_3", "status": "completed"}).error
    assert env.dump()["user"]["tasks"]["task_3"]["status"] == "completed"


def test_user_data_puts_both_sides_on_the_users_database() -> None:
    env = DOMAIN.environment(world(user_data={"notifications": {"notif_1": {"status": "read"}}}))
    assert failure(env.call("get_users", {})) == "Error: 'MockUserDB' object has no attribute 'users'"
    assert env.dump()["agent"] == env.dump()["user"]
    assert result(env.call("check_notifications", {}, "user"))[0]["status"] == "read"


def test_data_for_both_sides_is_refused() -> None:
    task = world(agent_data={"users": {"user_1": {"name": "A"}}}, user_data={"notifications": {}})
    with pytest.raises(TaskFormatError) as caught:
        DOMAIN.environment(task)
    assert caught.value.field == "initial_state.initialization_data.user_data.notifications"
    assert "unknown field 'notifications' (known: tasks, users)" in caught.value.problem


@pytest.mark.parametrize(
    "data",
    [
        {"agent_data": {"lists": {}}},
        {"user_data": {"inbox": {}}},
        {"user_data": {"notifications": {"notif_1": {"colour": "red"}}}},
    ],
)
def test_data_with_unknown_fields_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(TaskFormatError, match="initialization_data"):
        DOMAIN.environment(world(**data))


# The tasks as a set


def test_ids() -> None:
    assert len(TASKS) >= 12
    assert all(re.fullmatch(r"[a-z0-9-]{1,40}", task.id) for task in TASKS)


def test_splits() -> None:
    everything = [task.id for task in TASKS]
    judged = [task.id for task in TASKS if task.needs_judge]
    assert DOMAIN.splits.keys() == {"base", "full", "small", "judged"}
    assert DOMAIN.splits["full"] == everything
    assert DOMAIN.splits["judged"] == judged
    assert DOMAIN.splits["base"] == [name for name in everything if name not in judged]
    assert len(DOMAIN.tasks("small")) == 3
    assert not any(task.needs_judge for task in DOMAIN.tasks("small"))


def test_the_tasks_use_the_whole_format() -> None:
    criteria = [task.evaluation_criteria for task in TASKS if task.evaluation_criteria]
    states = [task.initial_state for task in TASKS if task.initial_state]
    actions = [action for part in criteria for action in part.actions or []]
    compared = [
        action.compare_args for part in criteria if "ACTION" in part.reward_basis for action in part.actions or []
    ]
    bases = {tuple(part.reward_basis) for part in criteria}
    assert {name for basis in bases for name in basis} == set(REWARD_TYPES)
    assert {("DB",), ("DB", "COMMUNICATE"), ("ENV_ASSERTION",), ("ACTION",)} <= bases
    assert any("reward_basis" not in part.model_fields_set for part in criteria)
    assert None in compared
    assert [] in compared
    assert any(compared)
    assert {action.requestor for action in actions} == {"assistant", "user"}
    assert any(not check.assert_value for part in criteria for check in part.env_assertions or [])
    assert all(len(task.criteria.nl_assertions or []) == 2 for task in TASKS if task.needs_judge)
    assert any(state.initialization_data for state in states)
    assert any(state.initialization_actions for state in states)
    last = [state.message_history[-1] for state in states if state.message_history]
    assert {type(message) for message in last} == {AssistantMessage, UserMessage}
    assert any(task.user_tools for task in TASKS)


@each_task
def test_a_task_has_a_ticket_where_it_can_be_done_alone(task: Task) -> None:
    needs_talk = bool(task.message_history or task.criteria.communicate_info or task.needs_judge)
    assert (task.ticket is None) == needs_talk


# Each task


@each_ticket
def test_gold_passes_alone(task: Task) -> None:
    simulation = pytest_tau.simulate(task, domain=DOMAIN, agent="gold", settings=SimulationSettings(solo=True))
    assert simulation.reward_info is not None
    assert simulation.termination_reason == "agent_stop"
    assert simulation.reward_info.passed, simulation.reward_info


@each_ticket
def test_noop_fails_alone(task: Task) -> None:
    assert pytest_tau.simulate(task, domain=DOMAIN, agent="noop", settings=SimulationSettings(solo=True)).reward == 0


@for_each({task.id: task for task in DOMAIN.tasks("judged")})
def test_the_judge_gates(task: Task) -> None:
    settings = SimulationSettings(evaluation=Evaluation(judge=BUILT_IN_JUDGES["reject"]))
    assert pytest_tau.simulate(task, domain=DOMAIN, agent="gold", settings=settings).reward == 0


@each_task
def test_every_reference_action_is_needed(task: Task) -> None:
    criteria = task.criteria
    for action in criteria.actions or []:
        rest = [other for other in criteria.actions or [] if other is not action]
        less = task.model_copy(update={"evaluation_criteria": criteria.model_copy(update={"actions": rest})})
        messages = pytest_tau.simulate(less, domain=DOMAIN, agent="gold", settings=ACCEPTING).messages
        reward = pytest_tau.evaluate(task, messages, domain=DOMAIN, judge=BUILT_IN_JUDGES["accept"])
        assert reward.reward == 0, action.action_id


@each_task
def test_a_history_repeats_exactly(task: Task) -> None:
    assert DOMAIN.environment(task, replay_history=False).replay(task.message_history) == []


@each_task
def test_what_must_be_said_is_the_agents_to_say(task: Task) -> None:
    given = "\n".join([GREETING, *_given_texts(task)]).lower()
    for phrase in task.criteria.communicate_info or []:
        assert phrase.lower() not in given
        assert "," not in phrase


@each_task
def test_the_scenario_names_every_fact(task: Task) -> None:
    assert _missing_arguments(task, "\n".join(_given_texts(task))) == []


@each_ticket
def test_the_ticket_names_every_fact(task: Task) -> None:
    assert _missing_arguments(task, task.ticket or "") == []


def _given_texts(task: Task) -> list[str]:
    """What is said by or to the user before the agent's first word, and the results of calls so far."""
    history = [message.content or "" for message in task.message_history]
    return [str(task.user_scenario), *history]


def _missing_arguments(task: Task, text: str) -> list[str]:
    """Arguments of reference actions that neither the text nor the lists and the inbox give."""
    return [
        f"{action.action_id}: {name}={value}"
        for action in task.criteria.actions or []
        for name, value in _compared(action).items()
        if not _is_given(name, value, text, DOMAIN.environment(task))
    ] + [
        f"{action.action_id}: whether there is a description"
        for action in task.criteria.actions or []
        if action.name == "create_task" and "description" not in text
    ]


def _compared(action: Action) -> dict[str, Any]:
    return {} if action.compare_args == [] else action.arguments


def _is_given(name: str, value: str, text: str, start: Environment) -> bool:
    if value in text:
        return True
    if name == "user_id":
        return start.dump()["agent"]["users"][value]["name"] in text
    notes = start.dump()["user"].get("notifications", {})
    return name == "task_id" and any(key in text and note["task_id"] == value for key, note in notes.items())
