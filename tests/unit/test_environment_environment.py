from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import example, given, settings, strategies as st

from pytest_tau import load_domain
from pytest_tau.environment import Environment, ToolError, same_result
from pytest_tau.errors import TaskFormatError
from pytest_tau.models import ToolCall, ToolMessage

from . import tiny
from .tiny import AGENT_DATA, USER_DATA, TinyDB, TinyTools, agent, call, user

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Requestor

PRISTINE = {"agent": AGENT_DATA, "user": USER_DATA}


def failed(result: ToolMessage) -> str:
    assert result.error
    assert result.content is not None
    assert result.content.startswith("Error: ")
    return result.content.removeprefix("Error: ")


# Calls


def test_a_call_gives_the_result_as_text(env: Environment) -> None:
    result = env.call("rename", {"item_id": "lamp", "name": "Light"})
    assert isinstance(result, ToolMessage)
    assert result.error is False
    assert result.requestor == "assistant"
    assert json.loads(result.content or "") == AGENT_DATA["items"]["lamp"] | {"name": "Light"}
    assert env.dump()["agent"]["items"]["lamp"]["name"] == "Light"


def test_a_user_s_call_works_on_the_user_s_side(env: Environment) -> None:
    result = env.call("switch", {}, requestor="user", call_id="c7")
    assert (result.content, result.error, result.requestor, result.id) == ("on", False, "user", "c7")
    assert env.dump()["user"]["phone"]["on"] is True
    assert env.dump()["agent"] == AGENT_DATA


def test_tool_exception_is_reported_and_not_rolled_back(env: Environment) -> None:
    assert failed(env.call("half_done", {"item_id": "lamp"})) == "only half done"
    assert env.dump()["agent"]["items"]["lamp"]["name"] == "half done"


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_exception_whose_text_raises_is_reported(env: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **_arguments: Any) -> None:
        raise _Unprintable

    monkeypatch.setattr(TinyTools, "look", fail)
    assert failed(env.call("look", {"item_id": "lamp"})) == "its text cannot be shown"


def test_refusal_is_reported(env: Environment) -> None:
    assert failed(env.call("rename", {"item_id": "sofa", "name": "Sofa"})) == "no item sofa"
    assert env.dump() == PRISTINE


def test_missing_key_is_quoted(env: Environment) -> None:
    assert failed(env.call("sit", {"seat_id": "s9", "who": "Ada"})) == "'s9'"


@pytest.mark.parametrize(
    ("name", "requestor"),
    [
        ("nowhere", "assistant"),
        ("nowhere", "user"),
        ("switch", "assistant"),
        ("rename", "user"),
        ("named", "assistant"),
        ("_item", "assistant"),
        ("phone_on", "user"),
        ("__init__", "assistant"),
        ("", "assistant"),
    ],
)
def test_what_is_no_tool_of_the_side_is_not_found(env: Environment, name: str, requestor: Any) -> None:
    assert failed(env.call(name, {}, requestor=requestor)) == f"Tool '{name}' not found."


@pytest.mark.parametrize(
    "arguments", [{}, {"item_id": "lamp", "name": "x", "more": 1}, {"itemid": "lamp", "name": "x"}]
)
def test_arguments_that_do_not_fit_are_reported(env: Environment, arguments: dict[str, Any]) -> None:
    assert "rename()" in failed(env.call("rename", arguments))
    assert env.dump() == PRISTINE


@pytest.mark.parametrize("arguments", [None, [], ["lamp", "x"], "lamp", 3])
def test_arguments_must_be_an_object(env: Environment, arguments: Any) -> None:
    assert failed(env.call("rename", arguments)) == (
        f"arguments of 'rename' must be a JSON object, got {json.dumps(arguments)}"
    )


def test_arguments_are_not_checked_by_type(env: Environment) -> None:
    assert not env.call("rename", {"item_id": "lamp", "name": None}).error
    assert env.dump()["agent"]["items"]["lamp"]["name"] is None


def test_results_can_be_written_to_a_file(env: Environment) -> None:
    """JSON arguments may contain lone surrogates, which no file can."""
    for result in (
        env.call("rename", {"item_id": "lamp", "name": "\ud800"}),
        env.call("remove", {"item_id": "\ud800"}),
        env.call("\ud800", {}),
        env.call("write_note", {"note_id": "n", "text": "x\ud800"}, requestor="user"),
    ):
        assert (result.content or "").encode("utf-8")


def test_a_malformed_call_is_answered_and_not_executed(env: Environment) -> None:
    result = env.answer(ToolCall(id="c1", name="count", arguments={}, malformed="{by: 2"))
    assert failed(result) == "arguments of 'count' must be a JSON object, got {by: 2"
    assert result.id == "c1"
    assert env.dump() == PRISTINE


def test_an_answer_carries_the_call_s_id_and_requestor(env: Environment) -> None:
    result = env.answer(ToolCall(id="c2", name="switch", requestor="user"))
    assert (result.id, result.requestor, result.content) == ("c2", "user", "on")


# Sync


def test_both_sides_are_in_step_after_each_successful_call(env: Environment) -> None:
    env.call("count", {"by": 4})
    assert env.dump()["user"]["phone"]["shown"] == 4


def test_there_is_no_sync_after_a_failing_call(env: Environment) -> None:
    env.execute("count", {"by": 4})
    env.call("rename", {"item_id": "sofa", "name": "x"})
    assert env.dump()["user"]["phone"]["shown"] == 0
    env.call("look", {"item_id": "lamp"})
    assert env.dump()["user"]["phone"]["shown"] == 4


def test_a_sync_that_raises_makes_the_reply_an_error_though_the_change_stays(env: Environment) -> None:
    assert failed(env.call("count", {"by": 13})) == "thirteen"
    assert env.dump()["agent"]["counter"] == 13
    assert env.dump()["user"]["phone"]["shown"] == 0


def test_execute_gives_the_value_itself_and_does_not_sync(env: Environment) -> None:
    assert env.execute("count", {"by": 2}) == 2
    assert env.dump()["user"]["phone"]["shown"] == 0
    with pytest.raises(RuntimeError, match="only half done"):
        env.execute("half_done", {"item_id": "lamp"})
    with pytest.raises(ToolError, match="not found"):
        env.execute("nowhere", {})


def test_a_domain_without_a_user_side() -> None:
    env = Environment(domain_name="half", policy="", agent=TinyTools(TinyDB.model_validate(AGENT_DATA)), sync=tiny.sync)
    assert failed(env.call("switch", {}, requestor="user")) == "User tools not available"
    assert env.tools("user") == []
    assert env.user_db is None
    assert env.dump() == {"agent": AGENT_DATA, "user": None}
    assert not env.call("count", {"by": 13}).error  # no sides to be in step
    with pytest.raises(ToolError, match="no user side"):
        env.merge(None, {"phone": {"on": True}})


# Functions of initial states and assertions


def test_functions_need_not_be_tools(env: Environment) -> None:
    assert env.run_function("assistant", "named", {"item_id": "lamp", "name": "Lamp"}) is True
    assert env.run_function("user", "phone_on", {}) is False
    assert env.run_function("user", "switch", {}) == "on"


def test_a_function_is_followed_by_a_sync(env: Environment) -> None:
    env.run_function("assistant", "put_counter", {"value": 9})
    assert env.dump()["user"]["phone"]["shown"] == 9


@pytest.mark.parametrize(
    ("env_type", "name"), [("assistant", "nowhere"), ("user", "named"), ("assistant", "_item"), ("assistant", "tools")]
)
def test_unknown_functions_are_refused(env: Environment, env_type: Any, name: str) -> None:
    with pytest.raises(ToolError, match=f"no function '{name}' on the {env_type}'s side of tiny"):
        env.run_function(env_type, name, {})


# Solo mode


@pytest.fixture
def solo(domain: Domain) -> Environment:
    return domain.environment(solo=True)


def test_alone_the_agent_has_both_sides_tools(env: Environment, solo: Environment) -> None:
    both = [tool.name for tool in [*env.tools("assistant"), *env.tools("user")]]
    assert [tool.name for tool in solo.tools()] == both
    assert solo.tools("user") == []
    assert solo.policy == "The policy of one who is alone."


def test_alone_the_agent_calls_the_user_s_tools(solo: Environment) -> None:
    assert solo.call("switch", {}).content == "on"
    assert not solo.call("count", {}).error
    assert solo.dump()["user"]["phone"] == {"on": True, "shown": 1}


def test_user_call_without_a_user_toolkit_is_an_error(solo: Environment) -> None:
    for name in ("switch", "count", "nowhere"):
        assert failed(solo.call(name, {}, requestor="user")) == "User tool calls are not allowed in solo mode"


def test_alone_unknown_tools_are_not_found(solo: Environment) -> None:
    assert failed(solo.call("nowhere", {})) == "Tool 'nowhere' not found."


def test_alone_both_sides_calls_of_the_agent_are_replayed(solo: Environment) -> None:
    solo.replay([agent(call("switch"), call("count")), user(call("switch"))])
    assert solo.dump()["user"]["phone"] == {"on": True, "shown": 1}


# Replay


def test_what_a_replay_carries_out(env: Environment) -> None:
    env.replay(
        [
            agent("Hello."),
            agent(call("rename", item_id="lamp", name="Light"), call("price", item_id="lamp", price=3)),
            user(call("switch")),
            agent(call("nowhere", x=1)),
            agent(call("look", item_id="lamp")),
            agent(call("peek_and_count")),
            agent(call("count_unseen")),
            agent(ToolCall(name="count", malformed="{")),
            agent(call("rename", item_id="sofa", name="fails")),
            user(call("rename", item_id="lamp", name="not the user's tool")),
        ]
    )
    dump = env.dump()
    assert dump["agent"]["items"]["lamp"] == AGENT_DATA["items"]["lamp"] | {"name": "Light", "price": 3}
    assert dump["agent"]["counter"] == 1  # peek_and_count says that it mutates, count_unseen that it does not
    assert dump["user"]["phone"] == {"on": True, "shown": 1}


def test_a_replay_skips_what_does_not_mutate(env: Environment) -> None:
    assert env.mutates("rename", "assistant")
    assert env.mutates("peek_and_count", "assistant")
    assert not env.mutates("look", "assistant")
    assert not env.mutates("count_unseen", "assistant")
    assert not env.mutates("nowhere", "assistant")
    assert not env.mutates("switch", "assistant")
    assert env.mutates("switch", "user")


def test_replay_reports_the_results_that_differ(env: Environment) -> None:
    messages: list[Any] = [
        agent(ToolCall(id="1", name="count", arguments={"by": 2})),
        ToolMessage(id="1", content='"2"'),
        agent(ToolCall(id="2", name="count", arguments={"by": 2})),
        ToolMessage(id="2", content='"5"'),
        agent(ToolCall(id="3", name="look", arguments={"item_id": "lamp"})),
        ToolMessage(id="3", content="not carried out again"),
        agent(ToolCall(id="4", name="count", arguments={"by": 2})),
        user("There was no result."),
    ]
    assert env.replay(messages) == ["count: recorded '\"5\"', replayed '\"4\"'"]
    assert env.dump()["agent"]["counter"] == 6


def test_a_replayed_call_that_fails_again_as_it_was_recorded_is_no_difference(env: Environment) -> None:
    failing = agent(ToolCall(id="1", name="rename", arguments={"item_id": "sofa", "name": "fails"}))
    recorded = env.fork().answer(failing.tool_calls[0])
    assert recorded.error
    assert env.replay([failing, recorded]) == []
    other = recorded.model_copy(update={"content": "Error: of another kind"})
    assert env.replay([failing, other]) == [f"rename: recorded {other.content!r}, replayed {recorded.content!r}"]


class _Counted(Environment):
    """An environment of a test that looks at each call."""

    names: ClassVar[list[str]] = []

    def call(self, name: str, arguments: Any, requestor: Requestor = "assistant", call_id: str = "") -> ToolMessage:
        self.names.append(name)
        return super().call(name, arguments, requestor, call_id)


def test_a_subclass_that_overrides_call_sees_the_calls_of_participants_and_of_replays(env: Environment) -> None:
    counted = _Counted.__new__(_Counted)
    vars(counted).update(vars(env))
    calls = [call("count"), call("look", item_id="lamp")]
    results = [counted.answer(each) for each in calls]
    counted.replay([agent(*calls), *results])
    assert counted.names == ["count", "look", "count"]


def test_calls_that_a_conversation_ends_with_were_not_made(env: Environment) -> None:
    env.replay([agent(call("count")), ToolMessage(content='"1"'), agent(call("count"), call("count"))])
    assert env.dump()["agent"]["counter"] == 1


def test_a_replay_ends_in_step(env: Environment) -> None:
    env.execute("count", {"by": 7})
    env.replay([])
    assert env.dump()["user"]["phone"]["shown"] == 7


@pytest.mark.parametrize(
    ("recorded", "replayed", "same"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', True),
        ("[1, 2]", "[2, 1]", False),
        ("1", "1.0", True),
        ('"1"', "1", False),
        ("plain text", "plain text", True),
        ("plain text", "other text", False),
        ('{"a": 1}', "plain text", False),
        ("null", None, False),
        (None, None, True),
    ],
)
def test_results_are_compared_as_json_or_as_text(recorded: str | None, replayed: str | None, same: bool) -> None:
    assert same_result(recorded, replayed) is same


# Initialization data


def test_each_side_s_data_go_to_its_side(env: Environment) -> None:
    env.merge({"counter": 3}, {"phone": {"on": True}})
    assert env.dump()["agent"] == AGENT_DATA | {"counter": 3}
    assert env.dump()["user"]["phone"] == {"on": True, "shown": 3}


def test_with_aliases_data_for_one_side_put_both_on_its_database(tmp_path: Any) -> None:
    env = tiny.make(tmp_path / "d", merge_aliases=True, sync=None).environment()
    env.merge({"counter": 3}, None)
    assert env.dump() == {"agent": AGENT_DATA | {"counter": 3}, "user": AGENT_DATA | {"counter": 3}}
    assert env.call("switch", {}, requestor="user").error


def test_merging_what_does_not_fit_raises(env: Environment) -> None:
    with pytest.raises(TaskFormatError, match=r"^agent_data\.nowhere: unknown field 'nowhere' \(known: "):
        env.merge({"nowhere": 1}, None)


# Isolation


ITEMS = st.sampled_from(["lamp", "desk", "sofa"])
NAMES = st.sampled_from(["x", "y"])
TAGS = st.lists(NAMES, max_size=2)
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("rename"), st.fixed_dictionaries({"item_id": ITEMS, "name": NAMES})),
        st.tuples(st.just("price"), st.fixed_dictionaries({"item_id": ITEMS, "price": st.integers(0, 3)})),
        st.tuples(st.just("add"), st.fixed_dictionaries({"item_id": ITEMS, "tags": TAGS})),
        st.tuples(st.just("tag"), st.fixed_dictionaries({"item_id": ITEMS, "tag": NAMES})),
        st.tuples(st.just("remove"), st.fixed_dictionaries({"item_id": ITEMS})),
        st.tuples(st.just("look"), st.fixed_dictionaries({"item_id": ITEMS})),
        st.tuples(
            st.just("sit"), st.fixed_dictionaries({"seat_id": st.sampled_from(["s1", "s2", "s9"]), "who": NAMES})
        ),
        st.tuples(st.just("count"), st.fixed_dictionaries({"by": st.integers(1, 13)})),
        st.tuples(st.just("half_done"), st.fixed_dictionaries({"item_id": ITEMS})),
        st.tuples(st.just("nowhere"), st.just({})),
        st.tuples(st.just("switch"), st.just({})),
        st.tuples(
            st.just("write_note"), st.fixed_dictionaries({"note_id": st.sampled_from(["n1", "n2"]), "text": NAMES})
        ),
    ),
    max_size=12,
)


def make_calls(env: Environment, calls: list[tuple[str, dict[str, Any]]]) -> list[str | None]:
    users = ("switch", "write_note")
    return [env.call(name, arguments, "user" if name in users else "assistant").content for name, arguments in calls]


ADD_AND_TAG = [("add", {"item_id": "sofa", "tags": ["x"]}), ("tag", {"item_id": "sofa", "tag": "y"})]


@settings(deadline=None)
@given(CALLS, CALLS)
def test_no_call_in_one_environment_changes_another(domain: Domain, mine: Any, theirs: Any) -> None:
    one, two = domain.environment(), domain.environment()
    results = make_calls(two, copy.deepcopy(theirs))
    before = two.dump()
    make_calls(one, copy.deepcopy(mine))
    assert two.dump() == before
    fresh = domain.environment()
    assert fresh.dump() == PRISTINE
    # What was called elsewhere has no influence on results either.
    assert make_calls(fresh, copy.deepcopy(theirs)) == results
    assert fresh.dump() == before


@settings(deadline=None)
@given(CALLS)
@example(ADD_AND_TAG)
def test_calls_leave_their_arguments_alone(domain: Domain, calls: Any) -> None:
    """Arguments are part of the trajectory or of the task: a tool that stores a list does not own it."""
    sent = copy.deepcopy(calls)
    make_calls(domain.environment(), sent)
    assert sent == calls


def test_a_stored_argument_is_not_the_trajectory_s(env: Environment) -> None:
    made = ToolCall(name="add", arguments={"item_id": "sofa", "tags": ["soft"]})
    env.answer(made)
    env.call("tag", {"item_id": "sofa", "tag": "red"})
    assert made.arguments == {"item_id": "sofa", "tags": ["soft"]}
    assert env.dump()["agent"]["items"]["sofa"]["tags"] == ["soft", "red"]


def test_trials_of_one_task_begin_alike(domain: Domain) -> None:
    wanted = tiny.task(
        state={
            "initialization_data": {"agent_data": {"items": {"lamp": {"meta": {"sizes": [7]}}}}},
            "initialization_actions": [
                {"env_type": "assistant", "func_name": "add", "arguments": {"item_id": "sofa", "tags": ["soft"]}}
            ],
        }
    )
    first = domain.environment(wanted)
    before = first.dump()
    first.call("tag", {"item_id": "sofa", "tag": "red"})
    first.agent_db.items["lamp"].meta["sizes"].append(8)  # type: ignore[attr-defined]
    assert domain.environment(wanted).dump() == before


# What leaves an environment is its own


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "field"),
    [
        ("retail", "get_order_details", "order_id", "status"),
        ("airline", "get_user_details", "user_id", "email"),
        ("telecom", "get_customer_by_id", "customer_id", "full_name"),
    ],
)
def test_a_returned_record_is_no_part_of_any_environment(name: str, tool: str, arguments: str, field: str) -> None:
    domain = load_domain(name)
    env, other = domain.environment(), domain.environment()
    before = env.dump()
    table = {"order_id": "orders", "user_id": "users", "customer_id": "customers"}[arguments]
    record_id = next(iter(getattr(env.agent_db, table)))
    found = env.execute(tool, {arguments: record_id})
    setattr(found, field, "spoilt")
    assert env.dump() == other.dump() == domain.environment().dump() == before
    assert env.agent_db.equals(other.agent_db)
    assert not env.agent_db.changes(other.agent_db)
    assert "spoilt" not in str(domain.environment().call(tool, {arguments: record_id}).content)


def test_functions_return_copies(env: Environment) -> None:
    found = env.run_function("assistant", "look", {"item_id": "lamp"})
    found.name = "spoilt"
    assert "spoilt" not in str(env.dump())


def test_schemas_of_tools_are_copies(env: Environment) -> None:
    tool = env.tools()[0]
    before = str(tool.parameters)
    tool.parameters["additionalProperties"] = False
    tool.openai_schema["function"]["parameters"].clear()
    del tool.parameters["title"]
    assert str(env.tools()[0].parameters) == str(env.shared_tools()[0].parameters) == before


def test_a_domain_without_a_user_side_has_no_data_of_the_user(tmp_path: Path) -> None:
    alone = tiny.make(tmp_path / "alone", user_db=None, user_tools=None, sync=None).environment()
    with pytest.raises(ToolError, match="tiny has no user side"):
        alone.merge(None, {"phone": {"on": True}})


def test_a_result_that_no_call_waits_for_is_not_compared(domain: Domain) -> None:
    results = [
        ToolMessage(id="1", content="5"),
        agent(call("count")),
        *(ToolMessage(id=n, content='"1"') for n in "23"),
    ]
    assert domain.environment().replay(results) == []
