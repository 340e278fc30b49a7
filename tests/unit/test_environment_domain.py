from __future__ import annotations

import dataclasses
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import DEFAULT_SPLIT, Domain, PolicyFiles, reference_states, tool
from pytest_tau.environment.initial_state import apply_initial_state
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau.models import Action
from pytest_tau.world import InWorld

from . import tiny
from .tiny import AGENT_DATA, USER_DATA, action, raw_task, task

if TYPE_CHECKING:
    from pathlib import Path


def ids(tasks: list[Any]) -> list[str]:
    return [found.id for found in tasks]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The domain's files, to be spoilt."""
    tiny.write(tmp_path / "domain")
    return tmp_path / "domain"


# Tasks and splits


def test_a_split_keeps_the_order_of_the_files(domain: Domain) -> None:
    assert DEFAULT_SPLIT == "base"
    assert ids(domain.tasks()) == ids(domain.tasks("base")) == ["one", "three"]
    assert ids(domain.tasks("rest")) == ["two"]
    assert ids(domain.tasks(None)) == ids(domain.tasks(split=None)) == ["one", "two", "three"]


def test_the_order_within_a_split_is_not_the_split_s(folder: Path) -> None:
    (folder / "tasks" / "split_tasks.json").write_text('{"base": ["three", "one"]}', encoding="utf-8")
    assert ids(tiny.spec(folder).load().tasks()) == ["one", "three"]


def test_an_unknown_split_lists_the_good_ones(domain: Domain) -> None:
    with pytest.raises(ConfigurationError, match=r"unknown split 'bas'; did you mean 'base'\? \(known: base, rest\)"):
        domain.tasks("bas")


def test_without_splits_everything_is_base(folder: Path) -> None:
    (folder / "tasks" / "split_tasks.json").unlink()
    domain = tiny.spec(folder).load()
    assert ids(domain.tasks()) == ids(domain.tasks("full")) == ["one", "two", "three"]
    with pytest.raises(ConfigurationError, match="unknown split 'rest'"):
        domain.tasks("rest")


def test_full_is_every_task_unless_it_is_defined(folder: Path) -> None:
    assert ids(tiny.spec(folder).load().tasks("full")) == ["one", "two", "three"]
    (folder / "tasks" / "split_tasks.json").write_text('{"full": ["three"]}', encoding="utf-8")
    assert ids(tiny.spec(folder).load().tasks("full")) == ["three"]


def test_a_split_that_names_a_missing_task(folder: Path) -> None:
    splits = folder / "tasks" / "split_tasks.json"
    splits.write_text('{"base": ["one", "zero"]}', encoding="utf-8")
    with pytest.raises(TaskFormatError, match="names a task that does not exist: 'zero'") as caught:
        tiny.spec(folder).load().tasks()
    assert caught.value.file == splits
    assert caught.value.field == "base"


def test_tasks_are_read_once(folder: Path) -> None:
    domain = tiny.spec(folder).load()
    first = domain.tasks(None)
    for file in (folder / "tasks").iterdir():
        file.unlink()
    assert domain.tasks(None)[0] is first[0]


def test_changing_the_list_of_tasks_changes_nothing(domain: Domain) -> None:
    domain.tasks(None).clear()
    assert len(domain.tasks(None)) == 3


def test_one_id_in_two_files(folder: Path) -> None:
    (folder / "tasks" / "c.json").write_text(json.dumps([raw_task("one")]), encoding="utf-8")
    with pytest.raises(TaskFormatError, match=r"a\.json has a task with this id") as caught:
        tiny.spec(folder).load().tasks(None)
    assert (caught.value.file, caught.value.task_id, caught.value.field) == (folder / "tasks" / "c.json", "one", "id")


def test_bad_task_file_is_reported_with_file_task_and_field(folder: Path) -> None:
    file = folder / "tasks" / "b.json"
    file.write_text(json.dumps([raw_task("three", {"actions": [{"name": "x"}]})]), encoding="utf-8")
    with pytest.raises(TaskFormatError) as caught:
        tiny.spec(folder).load().tasks()
    assert caught.value.file == file
    assert caught.value.task_id == "three"
    assert caught.value.field == "evaluation_criteria.actions.0.action_id"


def test_no_task_files(folder: Path) -> None:
    for file in (folder / "tasks").iterdir():
        file.unlink()
    with pytest.raises(ConfigurationError, match="no task files of domain 'tiny'"):
        tiny.spec(folder).load().tasks(None)


def test_the_file_of_a_task(domain: Domain) -> None:
    one, two, three = domain.tasks(None)
    assert domain.file_of(one) == domain.file_of(two) == domain.tasks_folder / "a.json"
    assert domain.file_of(three) == domain.tasks_folder / "b.json"
    assert domain.file_of(task(task_id="elsewhere")) is None


# Data laid out as the official data are


def test_a_data_folder_has_databases_policies_and_tasks_in_one_place(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "data" / "domains" / "official"
    there.parent.mkdir(parents=True)
    folder.rename(there)
    shutil.rmtree(there / "tasks")
    (there / "tasks.json").write_text(json.dumps([raw_task("official")]), encoding="utf-8")
    (there / "tasks_small.json").write_text(json.dumps([raw_task("official")]), encoding="utf-8")
    (there / "db.json").write_text(json.dumps(AGENT_DATA | {"counter": 5}), encoding="utf-8")
    domain = tiny.spec(tmp_path / "bundled", data_name="official").load(tmp_path / "data")
    assert ids(domain.tasks()) == ["official"]  # other files next to tasks.json are subsets of it
    assert domain.environment().dump()["agent"]["counter"] == 5
    assert tiny.spec(tmp_path, data_name="official").load(str(tmp_path / "data")).folder == there


def test_a_folder_of_tasks_wins_over_a_tasks_file_next_to_it(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "data" / "domains" / "tiny"
    (there / "tasks").mkdir(parents=True)
    for name in ("task_002", "task_010", "task_001"):
        (there / "tasks" / f"{name}.json").write_text(json.dumps(raw_task(name)), encoding="utf-8")
    (there / "tasks.json").write_text(json.dumps([raw_task("stale")]), encoding="utf-8")
    (there / "split_tasks.json").write_text(json.dumps({"small": ["task_010"]}), encoding="utf-8")
    domain = tiny.spec(folder).load(tmp_path / "data")
    assert ids(domain.tasks(None)) == ["task_001", "task_002", "task_010"]
    assert ids(domain.tasks("small")) == ["task_010"]
    (there / "tasks" / "task_002.json").write_text("{", encoding="utf-8")
    with pytest.raises(TaskFormatError) as caught:
        tiny.spec(folder).load(tmp_path / "data").tasks(None)
    assert caught.value.file == there / "tasks" / "task_002.json"


def test_a_data_folder_without_the_domain(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no data of domain 'tiny' in .*expected a folder domains/tiny"):
        tiny.spec(tmp_path).load(tmp_path)


# Databases


def test_an_environment_has_the_files_content(domain: Domain) -> None:
    assert domain.environment().dump() == {"agent": AGENT_DATA, "user": USER_DATA}


def test_databases_are_read_once_and_shared(folder: Path) -> None:
    domain = tiny.spec(folder).load()
    one = domain.environment()
    (folder / "db.json").unlink()
    two = domain.environment()
    assert one.agent_db.items.peek("lamp") is two.agent_db.items.peek("lamp")  # type: ignore[attr-defined]
    assert one.agent_db is not two.agent_db


def test_a_database_may_be_toml(folder: Path) -> None:
    (folder / "user_db.json").unlink()
    (folder / "user_db.toml").write_text("[phone]\non = true\n", encoding="utf-8")
    assert tiny.spec(folder).load().environment().dump()["user"]["phone"]["on"] is True


def test_a_fresh_environment_is_in_step(folder: Path) -> None:
    (folder / "db.json").write_text(json.dumps(AGENT_DATA | {"counter": 5}), encoding="utf-8")
    assert tiny.spec(folder).load().environment().dump()["user"]["phone"]["shown"] == 5


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", r"db\.json: not valid JSON: .* \(line 1, column 2\)"),
        ("[]", r"db\.json"),
        (json.dumps(AGENT_DATA | {"counter": "x"}), r"db\.json: counter: "),
        (json.dumps(AGENT_DATA | {"more": 1}), r"db\.json: more: "),
        (json.dumps(AGENT_DATA | {"items": {"lamp": {"item_id": "lamp"}}}), r"db\.json: items/.*lamp/name: "),
    ],
)
def test_bad_database_is_reported_with_file_and_place(folder: Path, content: str, told: str) -> None:
    (folder / "db.json").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=told):
        tiny.spec(folder).load().environment()


@pytest.mark.parametrize("stem", ["db", "user_db"])
def test_a_key_that_a_database_has_twice(folder: Path, stem: str) -> None:
    file = folder / f"{stem}.json"
    data = file.read_text(encoding="utf-8").rstrip().removesuffix("}")
    first = next(iter(json.loads(file.read_text(encoding="utf-8"))))
    file.write_text(f'{data},\n"{first}": {{"lamp": 1}}}}', encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match=rf"/{stem}\.json: the key \"{first}\" is given twice \(lines 1 and 2\)"
    ):
        tiny.spec(folder).load().environment()


def test_a_record_that_a_table_has_twice(folder: Path) -> None:
    lamp = json.dumps(AGENT_DATA["items"]["lamp"])
    (folder / "db.json").write_text(f'{{"items": {{"lamp": {lamp}, "lamp": {lamp}}}, "counter": 0}}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r'/db\.json: the key "lamp" is given twice \(line 1\); remove one'):
        tiny.spec(folder).load().environment()


def test_keys_of_a_large_official_database_are_not_compared(folder: Path) -> None:
    """Its files are written by programs; ``tests/parity`` checks those of the reference once."""
    there = folder.parent / "data" / "domains" / "tiny"
    there.parent.mkdir(parents=True)
    folder.rename(there)
    text = json.dumps(AGENT_DATA)
    (there / "db.json").write_text(f'{{"counter": 7, {text[1:]}', encoding="utf-8")
    environment = tiny.spec(folder).load(folder.parent / "data").environment()
    assert environment.dump()["agent"] == AGENT_DATA


def test_a_missing_database(folder: Path) -> None:
    (folder / "db.json").unlink()
    with pytest.raises(ConfigurationError, match=r"db\.(json|toml)"):
        tiny.spec(folder).load().environment()


def test_database_of_bad_toml_is_reported(folder: Path) -> None:
    (folder / "db.json").unlink()
    (folder / "db.toml").write_text("[items\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"db\.toml"):
        tiny.spec(folder).load().environment()


# Policies


def test_first_policy_variant_is_the_default(domain: Domain) -> None:
    assert domain.environment().policy == "The policy."
    assert domain.environment(policy="default").policy == "The policy."
    assert domain.environment(policy="short").policy == "Be brief.\nThe policy."


def test_a_domain_may_make_one_text_of_its_files(folder: Path) -> None:
    spec = tiny.spec(folder, policy_text=lambda texts: f"<{len(texts)}>")
    assert spec.load().environment(policy="short").policy == "<2>"


def test_unknown_policy_variant_lists_the_known_ones(domain: Domain) -> None:
    with pytest.raises(ConfigurationError, match=r"unknown policy 'long'.*known: default, short"):
        domain.environment(policy="long")


def test_a_missing_policy_file(folder: Path) -> None:
    (folder / "policy.md").unlink()
    loaded = tiny.spec(folder).load()
    for read in (loaded.environment, loaded.check_data):
        with pytest.raises(ConfigurationError, match=r"^policy of domain 'tiny': there is no file .*policy.md: write"):
            read()


# Solo mode


def test_policy_variant_without_a_solo_text_cannot_be_run_solo(domain: Domain) -> None:
    assert domain.environment(solo=True).solo
    with pytest.raises(ConfigurationError, match="'tiny' cannot be run solo"):
        domain.environment(solo=True, policy="short")


def test_a_domain_without_user_tools_cannot_be_run_solo(folder: Path) -> None:
    spec = tiny.spec(folder, user_db=None, user_tools=None, sync=None)
    with pytest.raises(ConfigurationError, match="cannot be run solo"):
        spec.load().environment(solo=True)
    assert spec.load().environment().dump()["user"] is None


def test_a_tool_that_both_sides_have_cannot_be_called_solo(folder: Path) -> None:
    class BothTools(tiny.TinyUserTools):
        @tool("read")
        def look(self) -> str:
            """Look at the phone."""
            return "a phone"

    shared = tiny.spec(folder, user_tools=BothTools).load()
    with pytest.raises(
        ConfigurationError, match=r"'tiny' cannot be run solo: both sides have the tool 'look', .* rename"
    ):
        shared.environment(solo=True)
    assert shared.environment().call("look", {}, "user").content == "a phone"


# Initial states


def test_data_then_actions_then_history_then_sync(domain: Domain) -> None:
    wanted = task(
        state={
            "initialization_data": {"agent_data": {"counter": 5}, "user_data": {"phone": {"on": True}}},
            "initialization_actions": [
                {"env_type": "assistant", "func_name": "count", "arguments": {"by": 2}},
                {"env_type": "user", "func_name": "switch"},
                {"env_type": "assistant", "func_name": "rename", "arguments": {"item_id": "lamp", "name": "A"}},
            ],
            "message_history": [
                {"role": "assistant", "tool_calls": [{"id": "1", "name": "count", "arguments": {"by": 10}}]},
                {"role": "tool", "id": "1", "content": "17"},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "2", "name": "rename", "arguments": {"item_id": "lamp", "name": "B"}}],
                },
                {"role": "tool", "id": "2", "content": "whatever"},
                {"role": "user", "content": "Hello"},
            ],
        }
    )
    dump = domain.environment(wanted).dump()
    assert dump["agent"]["counter"] == 17
    assert dump["agent"]["items"]["lamp"]["name"] == "B"
    assert dump["user"]["phone"] == {"on": False, "shown": 17}
    without = domain.environment(wanted, replay_history=False).dump()
    assert without["agent"]["counter"] == 7
    assert without["agent"]["items"]["lamp"]["name"] == "A"


FUNCTION = {"env_type": "assistant", "func_name": "named", "arguments": {"item_id": "sofa", "name": "x"}}


@pytest.mark.parametrize(
    ("state", "field", "told"),
    [
        (
            {"initialization_data": {"agent_data": {"x": 1}}},
            "initial_state.initialization_data.agent_data.x",
            "unknown field 'x'",
        ),
        (
            {"initialization_data": {"user_data": {"phone": 1}}},
            "initial_state.initialization_data.user_data.phone",
            "expected an object, got 1$",
        ),
        ({"initialization_actions": [FUNCTION]}, "initial_state.initialization_actions.0", "no item sofa"),
        (
            {
                "initialization_actions": [
                    {"env_type": "user", "func_name": "switch"},
                    {"env_type": "user", "func_name": "nowhere"},
                ]
            },
            "initial_state.initialization_actions.1",
            "no function 'nowhere'",
        ),
        (
            {"initialization_actions": [{"env_type": "assistant", "func_name": "count", "arguments": {"to": 1}}]},
            "initial_state.initialization_actions.0",
            "count",
        ),
    ],
)
def test_inapplicable_state_is_reported_with_task_and_field(
    domain: Domain, state: dict[str, Any], field: str, told: str
) -> None:
    with pytest.raises(TaskFormatError, match=told) as caught:
        domain.environment(task(task_id="spoilt", state=state))
    assert (caught.value.task_id, caught.value.field) == ("spoilt", field)


def test_an_assertion_among_the_actions_is_a_plain_call(domain: Domain) -> None:
    """Source: telecom specification, section 5."""
    false = {"env_type": "assistant", "func_name": "named", "arguments": {"item_id": "lamp", "name": "x"}}
    domain.environment(task(state={"initialization_actions": [false]}))


def test_calls_of_the_history_that_fail_are_history(domain: Domain) -> None:
    failing = {"role": "assistant", "tool_calls": [{"id": "1", "name": "remove", "arguments": {"item_id": "sofa"}}]}
    wanted = task(state={"message_history": [failing, {"role": "tool", "id": "1", "content": "Error", "error": True}]})
    assert domain.environment(wanted).dump()["agent"] == AGENT_DATA


# The reference state


def test_the_reference_state_is_that_after_the_actions(domain: Domain) -> None:
    wanted = task({"actions": [action("rename", item_id="lamp", name="Light"), action("switch", "user")]})
    dump = reference_environment(domain, wanted).dump()
    assert dump["agent"]["items"]["lamp"]["name"] == "Light"
    assert dump["user"]["phone"]["on"] is True


def test_a_reference_action_that_raises_is_skipped_with_its_partial_effects(domain: Domain) -> None:
    wanted = task(
        {
            "actions": [
                action("half_done", item_id="desk"),
                action("nowhere"),
                action("rename", "user", item_id="lamp", name="not the user's"),
                action("rename", item_id="lamp", name="Light"),
            ]
        }
    )
    items = reference_environment(domain, wanted).dump()["agent"]["items"]
    assert items["desk"]["name"] == "half done"
    assert items["lamp"]["name"] == "Light"


def test_there_is_no_sync_between_reference_actions(domain: Domain) -> None:
    wanted = task({"actions": [action("count", by=13), action("count", by=1)]})
    dump = reference_environment(domain, wanted).dump()
    assert dump["agent"]["counter"] == 14
    assert dump["user"]["phone"]["shown"] == 0


def test_the_reference_state_begins_where_the_task_does(domain: Domain) -> None:
    history = [{"role": "assistant", "tool_calls": [{"id": "1", "name": "count", "arguments": {"by": 3}}]}]
    history.append({"role": "tool", "id": "1", "content": '"3"'})
    wanted = task({"actions": [action("count", by=1)]}, state={"message_history": history})
    assert reference_environment(domain, wanted).dump()["agent"]["counter"] == 4


@pytest.fixture
def computed(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The tasks whose reference actions were executed; none was in an earlier test."""
    monkeypatch.setattr(domain, "_of_tasks", InWorld(dict))
    executed, execute = list[Any](), reference_states.after_reference_actions

    def counted(domain: Domain, task: Any) -> Any:
        executed.append(task)
        return execute(domain, task)

    monkeypatch.setattr(reference_states, "after_reference_actions", counted)
    return executed


def test_the_reference_state_is_computed_once(domain: Domain, computed: list[Any]) -> None:
    wanted, other = task({"actions": [action("count")]}), task({"actions": [action("count", by=2)]})
    first, second = reference_environment(domain, wanted), reference_environment(domain, wanted)
    assert first.dump() == second.dump()
    assert computed == [wanted]
    assert reference_environment(domain, other).dump()["agent"]["counter"] == 2
    assert computed == [wanted, other]


@pytest.mark.parametrize("data", [None, {"user_data": {"phone": {"on": True}}}])
def test_the_reference_state_that_is_returned_is_a_copy(domain: Domain, data: Any) -> None:
    state = {"initialization_data": data} if data else None
    wanted = task({"actions": [action("tag", item_id="lamp", tag="x")]}, state=state)
    before = reference_environment(domain, wanted).dump()
    spoiled = reference_environment(domain, wanted)
    spoiled.call("count", {"by": 3})
    spoiled.call("switch", {}, "user")
    spoiled.agent_db.items["lamp"].tags.clear()  # type: ignore[attr-defined]
    del spoiled.agent_db.items["desk"]  # type: ignore[attr-defined]
    spoiled.agent_db.settings["theme"] = "light"  # type: ignore[attr-defined]
    assert spoiled.user_db is not None
    assert spoiled.user_db.phone.shown == 3  # type: ignore[attr-defined]
    assert reference_environment(domain, wanted).dump() == before


def test_a_copy_of_sides_on_one_database_is_on_one_database(tmp_path: Path) -> None:
    domain = tiny.make(tmp_path / "merging", merge_aliases=True, sync=None)
    environment = domain.environment(task(state={"initialization_data": {"agent_data": {"counter": 2}}}))
    assert environment.user_db is environment.agent_db
    twin = environment.fork()
    assert twin.user_db is twin.agent_db
    assert twin.agent_db is not environment.agent_db


def test_a_copy_without_a_user_side_has_none(tmp_path: Path) -> None:
    environment = tiny.make(tmp_path / "alone", user_tools=None, user_db=None).environment()
    twin = environment.fork()
    twin.call("count", {"by": 3})
    assert (twin.user_db, twin.dump()["agent"]["counter"], environment.dump()["agent"]["counter"]) == (None, 3, 0)


def test_reference_actions_leave_the_task_alone(domain: Domain) -> None:
    wanted = task({"actions": [action("add", item_id="sofa", tags=["soft"]), action("tag", item_id="sofa", tag="x")]})
    assert reference_environment(domain, wanted).dump()["agent"]["items"]["sofa"]["tags"] == ["soft", "x"]
    assert wanted.criteria.actions is not None
    assert wanted.criteria.actions[0].arguments == {"item_id": "sofa", "tags": ["soft"]}


# Declaring


def test_a_declaration_needs_little(folder: Path) -> None:
    spec = tiny.spec(folder)
    assert spec.load().name == "tiny"
    assert dataclasses.replace(spec, name="other").load().name == "other"
    assert PolicyFiles(("a.md",)).solo == ()


def test_what_is_made_of_a_task_is_made_once(domain: Domain) -> None:
    wanted, made = task(), list[str]()

    def compute(given: Any) -> str:
        made.append(given.id)
        return f"of {given.id}"

    found = [domain.once_per_task(wanted, what, compute) for what in ("one", "one", "other")]
    assert found == [f"of {wanted.id}"] * 3
    assert len(made) == 2
    domain.once_per_task(wanted.model_copy(), "one", compute)  # the same task
    assert len(made) == 2
    domain.once_per_task(wanted.model_copy(update={"ticket": "Other."}), "one", compute)  # another one of the same id
    assert len(made) == 3


def test_what_is_made_of_a_task_is_made_again_when_the_task_is_changed_in_place(domain: Domain) -> None:
    wanted = task({"actions": []})
    count = Action(action_id="1", name="count", arguments={"by": 2})
    before = reference_environment(domain, wanted)
    wanted.criteria.actions.append(count)  # type: ignore[union-attr]
    after = reference_environment(domain, wanted)
    assert before.dump() != after.dump()
    wanted.criteria.actions[0].arguments["by"] = 3  # type: ignore[index]
    assert reference_environment(domain, wanted).dump() not in (before.dump(), after.dump())


def test_a_task_with_a_value_that_is_no_json_has_a_reference_state(domain: Domain, computed: list[Any]) -> None:
    for number, odd in enumerate((object(), "\ud800"), 1):
        wanted = task({"actions": []})
        wanted.criteria.actions.append(Action(action_id="1", name="count", arguments={"by": odd}))  # type: ignore[union-attr]
        assert reference_environment(domain, wanted).dump() == reference_environment(domain, wanted).dump()
        assert len(computed) == number


def test_without_an_initial_state_nothing_is_applied(domain: Domain) -> None:
    environment = domain.environment()
    before = environment.dump()
    apply_initial_state(environment, task())
    assert environment.dump() == before
