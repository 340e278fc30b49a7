"""The message at which a final state went wrong, or the write that never came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.diagnosis import Divergence
from pytest_tau.diagnosis.divergence import first_divergence
from pytest_tau.environment import tool
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.evaluation import evaluate
from pytest_tau.models import Simulation, Task, ToolCall, ToolMessage, UserMessage

from .tiny import STOP, TinyTools, action, agent, call, check, make, task, user

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

ONLY_DB = ["DB"]


def talk(*calls: ToolCall) -> list[Any]:
    """A conversation in which these calls are made, a message each; with results, as they have in a trajectory."""
    messages: list[Any] = [agent("Hello"), user("Hello")]
    for made in calls:
        messages += [user(made) if made.requestor == "user" else agent(made)]
        messages += [ToolMessage(content="", requestor=made.requestor)]
    return [*messages, STOP]


def simulated(domain: Domain, wanted: Task, messages: list[Any], *, solo: bool = False) -> Simulation:
    """The conversation, graded."""
    info = evaluate(wanted, messages, domain=domain, solo=solo)
    return Simulation(id="s", task_id="t", termination_reason="user_stop", messages=messages, reward_info=info)


def found(domain: Domain, criteria: dict[str, Any], *calls: ToolCall, **fields: Any) -> Divergence | None:
    wanted = task({"reward_basis": ONLY_DB, **criteria}, **fields)
    return first_divergence(wanted, simulated(domain, wanted, talk(*calls)), domain)


def diverged(point: Divergence | None, number: int, *parts: str) -> Divergence:
    assert point is not None
    assert (point.kind, point.message_idx) == ("diverged", number), point
    for part in parts:
        assert part in point.text
    return point


def missing(point: Divergence | None, *parts: str) -> Divergence:
    assert point is not None
    assert (point.kind, point.message_idx) == ("missing", None), point
    for part in parts:
        assert part in point.text
    return point


# Calls that lead astray. The calls of ``talk`` are messages 2, 4, 6 …


def test_first_irreparable_call_is_named_with_the_place(domain: Domain) -> None:
    wanted = {"actions": [action("tag", item_id="lamp", tag="new")]}
    old, older = call("tag", item_id="lamp", tag="old"), call("tag", item_id="lamp", tag="older")
    point = diverged(
        found(domain, wanted, old, older),
        2,
        'message 2, agent called tag(item_id="lamp", tag="old")',
        "after it items/lamp/tags",
    )
    assert 'after it items/lamp/tags/1 ("old") could no longer be absent' in point.text
    wrong = {"name": "tag", "arguments": {"item_id": "lamp", "tag": "old"}, "requestor": "assistant"}
    assert point == Divergence(2, "diverged", wrong, point.text)


def test_calls_of_the_reference_before_it_are_no_turning_point(domain: Domain) -> None:
    wanted = {"actions": [action("tag", item_id="lamp", tag="a"), action("tag", item_id="lamp", tag="b")]}
    right, wrong = call("tag", item_id="lamp", tag="a"), call("tag", item_id="lamp", tag="x")
    diverged(found(domain, wanted, right, wrong), 4)


def test_state_repaired_later_is_no_turning_point(domain: Domain) -> None:
    wanted = {"actions": [action("sit", seat_id="s1", who="Ada"), action("tag", item_id="lamp", tag="new")]}
    wrong, mended = call("sit", seat_id="s1", who="Bob"), call("sit", seat_id="s1", who="Ada")
    diverged(found(domain, wanted, wrong, mended, call("remove", item_id="desk")), 6, "items/desk could no longer be")
    missing(found(domain, wanted, wrong, mended), "never made: tag(")


def test_state_repaired_by_the_missing_write_is_no_turning_point(domain: Domain) -> None:
    wanted = {"actions": [action("rename", item_id="lamp", name="Right")]}
    missing(found(domain, wanted, call("rename", item_id="lamp", name="Wrong")), 'rename(item_id="lamp", name="Right")')


def test_a_record_that_is_gone(domain: Domain) -> None:
    diverged(found(domain, {"actions": []}, call("remove", item_id="desk")), 2, "items/desk could no longer be there")


def test_a_record_that_should_not_be_there(domain: Domain) -> None:
    made = call("add", item_id="vase", tags=[])
    diverged(found(domain, {"actions": []}, made), 2, "items/vase could no longer be absent")


def test_the_order_of_a_list_counts(domain: Domain) -> None:
    first, second = action("tag", item_id="lamp", tag="a"), action("tag", item_id="lamp", tag="b")
    early, late = call("tag", item_id="lamp", tag="b"), call("tag", item_id="lamp", tag="a")
    diverged(found(domain, {"actions": [first, second]}, early, late), 2)


def test_a_call_that_failed_after_it_had_changed_something(domain: Domain) -> None:
    diverged(found(domain, {"actions": []}, call("half_done", item_id="lamp")), 2, "items/lamp/name")


def test_calls_that_fail_or_are_unknown_or_read_are_passed_over(domain: Domain) -> None:
    wanted = {"actions": [action("rename", item_id="lamp", name="Right")]}
    nothing = [call("remove", item_id="nowhere"), call("fly"), call("look", item_id="lamp")]
    missing(found(domain, wanted, *nothing), "rename(")


def test_a_malformed_call_is_passed_over(domain: Domain) -> None:
    wanted = task({"actions": [], "reward_basis": ONLY_DB})
    malformed = ToolCall(name="remove", malformed="{")
    messages = talk(malformed, call("remove", item_id="desk"))
    diverged(first_divergence(wanted, simulated(domain, wanted, messages), domain), 4)


def test_calls_without_a_result_were_not_made(domain: Domain) -> None:
    wanted = task({"actions": [action("tag", item_id="lamp", tag="new")], "reward_basis": ONLY_DB})
    messages = [agent("Hello"), user("Hi"), agent(call("remove", item_id="desk"))]
    missing(first_divergence(wanted, simulated(domain, wanted, messages), domain), "tag(")


def test_shortest_of_many_places_are_named(domain: Domain) -> None:
    calls = [call("remove", item_id="lamp"), call("remove", item_id="desk"), call("count", by=5)]
    wanted = task({"actions": [], "reward_basis": ONLY_DB})
    messages = talk()
    messages[2:2] = [agent(None, *calls), *[ToolMessage(content="") for _ in calls]]
    point = first_divergence(wanted, simulated(domain, wanted, messages), domain)
    # All in one message: the first of them is the turning point.
    diverged(point, 2, "remove(", "items/lamp could no longer be there")


class NumberingTools(TinyTools):
    """Notices are made under the next number."""

    @tool("write")
    def notice(self, text: str) -> str:
        """Make a notice."""
        number = self.db.settings["last"] = self.db.settings.get("last", 0) + 1
        self.db.settings[f"notice{number}"] = {"text": text}
        return f"notice{number}"

    @tool("write")
    def tear_off(self, number: int) -> str:
        """Take a notice away."""
        del self.db.settings[f"notice{number}"]
        return "torn off"


@pytest.fixture
def numbering(tmp_path: Path) -> Domain:
    return make(tmp_path / "domain", agent_tools=NumberingTools)


def test_what_writes_of_the_reference_would_add_is_not_named(numbering: Domain) -> None:
    point = diverged(found(numbering, {"actions": [action("notice", text="vase")]}, call("notice", text="cup")), 2)
    # Not settings/last and settings/notice2, which are as they should be in the end.
    assert point.text.endswith(': after it settings/notice1/text could no longer be "vase"')


def test_a_turning_point_without_a_place_that_is_still_wrong_in_the_end(numbering: Domain) -> None:
    wanted = {"actions": [action("notice", text="vase")]}
    point = diverged(found(numbering, wanted, call("notice", text="cup"), call("tear_off", number=1)), 2)
    # The notice is missing in the end; nothing is wrong in its text.
    assert point.text.endswith(": after it the expected final state was out of reach")


def test_an_assertion_that_is_met_in_the_end_is_not_named(domain: Domain) -> None:
    wanted = {
        "env_assertions": [
            check("named", item_id="lamp", name="Lamp"),
            check("named", item_id="desk", name="Desk"),
        ],
        "actions": [],
        "reward_basis": ["ENV_ASSERTION"],
    }
    wrong = [call("rename", item_id="lamp", name="No"), call("rename", item_id="desk", name="No")]
    mended = call("rename", item_id="lamp", name="Lamp")
    named = 'named(item_id="lamp", name="Lamp") could no longer be true'
    diverged(found(domain, wanted, *wrong), 2, named)
    point = diverged(found(domain, wanted, *wrong, mended), 2)
    assert named not in point.text


# Writes that never came


def test_the_missing_writes_are_named_and_the_others_are_not(domain: Domain) -> None:
    first, second = action("rename", item_id="lamp", name="L"), action("rename", item_id="desk", name="D")
    point = missing(
        found(domain, {"actions": [first, second]}, call("rename", item_id="lamp", name="L")),
        'never made: rename(item_id="desk", name="D")',
    )
    assert "lamp" not in point.text
    assert point.call == {"name": "rename", "arguments": {"item_id": "desk", "name": "D"}, "requestor": "assistant"}


def test_of_many_missing_writes_two_are_named(domain: Domain) -> None:
    actions = [action("sit", seat_id=f"s{n}", who="Ada") for n in (1, 2, 3)]
    missing(found(domain, {"actions": actions}), 'seat_id="s1"', 'seat_id="s2"', "and 1 more")


def test_reads_of_the_reference_are_not_missing(domain: Domain) -> None:
    actions = [action("look", item_id="lamp"), action("rename", item_id="lamp", name="L")]
    point = missing(found(domain, {"actions": actions}), "rename(")
    assert "look" not in point.text


def test_a_write_that_another_call_made_up_for_is_not_missing(domain: Domain) -> None:
    added, tagged = action("add", item_id="vase", tags=[]), action("tag", item_id="vase", tag="a")
    actions = [added, tagged, action("rename", item_id="lamp", name="L")]
    done = call("add", item_id="vase", tags=[]), call("add", item_id="vase", tags=["a"])
    point = missing(found(domain, {"actions": actions}, *done), "rename(")
    assert "tag(" not in point.text


def test_a_write_that_came_too_early_is_due_again(domain: Domain) -> None:
    first, second = action("rename", item_id="lamp", name="a"), action("rename", item_id="lamp", name="b")
    early, late = call("rename", item_id="lamp", name="b"), call("rename", item_id="lamp", name="a")
    missing(found(domain, {"actions": [first, second]}, early, late), 'name="b"')


def test_missing_write_of_the_user_is_reported_as_the_users(domain: Domain) -> None:
    point = missing(
        found(domain, {"actions": [action("write_note", "user", note_id="n", text="x")]}),
        "write_note(",
        "(by the user)",
    )
    assert point.call["requestor"] == "user"


def test_long_arguments_are_cut(domain: Domain) -> None:
    point = missing(found(domain, {"actions": [action("rename", item_id="lamp", name="x" * 500)]}), "…")
    assert len(point.text) < 200


# Assertions, and both sides


def test_a_call_of_the_users_that_breaks_an_assertion(domain: Domain) -> None:
    wanted = {
        "actions": [action("switch", "user")],
        "env_assertions": [check("phone_on", "user")],
        "reward_basis": ["ENV_ASSERTION"],
    }
    on, off = call("switch", "user"), call("switch", "user")
    diverged(found(domain, wanted, on, off), 4, "user called switch()", "phone_on() was no longer true")


def test_a_switch_of_the_users_that_another_call_undoes_is_no_turning_point(domain: Domain) -> None:
    wanted = {
        "actions": [action("count", by=3)],
        "env_assertions": [check("phone_on", "user"), check("shows", "user", number=3)],
        "reward_basis": ["ENV_ASSERTION"],
    }
    on, off = call("switch", "user"), call("switch", "user")
    point = found(domain, wanted, on, off)
    missing(point, "count(by=3), switch() (by the user)")
    # What cannot be undone is the turning point, whatever the switch is set to.
    diverged(found(domain, wanted, on, off, call("count", by=20)), 6, "agent called count(by=20)")


def test_an_assertion_that_wants_false(domain: Domain) -> None:
    wanted = {
        "actions": [],
        "env_assertions": [{**check("named", item_id="lamp", name="Bad"), "assert_value": False}],
        "reward_basis": ["ENV_ASSERTION"],
    }
    made = call("rename", item_id="lamp", name="Bad")
    diverged(found(domain, wanted, made), 2, "could no longer be false")


def test_only_the_writes_that_an_assertion_needs_are_missing(domain: Domain) -> None:
    wanted = {
        "actions": [action("count", by=3), action("switch", "user"), action("rename", item_id="lamp", name="L")],
        "env_assertions": [check("phone_on", "user"), check("shows", "user", number=3)],
        "reward_basis": ["ENV_ASSERTION"],
    }
    point = missing(found(domain, wanted), "count(by=3), switch() (by the user)")
    assert "rename" not in point.text


def test_an_assertion_that_the_reference_does_not_meet_has_no_turning_point(domain: Domain) -> None:
    wanted = {"actions": [], "env_assertions": [check("phone_on", "user")], "reward_basis": ["ENV_ASSERTION"]}
    assert found(domain, wanted, call("rename", item_id="lamp", name="L")) is None


def test_an_agent_that_works_alone_makes_the_users_calls(domain: Domain) -> None:
    wanted = task(
        {
            "actions": [action("switch", "user"), action("count", by=2)],
            "env_assertions": [check("phone_on", "user"), check("shows", "user", number=2)],
            "reward_basis": ["ENV_ASSERTION"],
        },
        ticket="Do it.",
    )
    messages = [agent(call("switch")), ToolMessage(content="on"), agent("Done.")]
    point = first_divergence(wanted, simulated(domain, wanted, messages, solo=True), domain, solo=True)
    missing(point, "never made: count(by=2)")
    messages = [agent(call("count", by=2)), ToolMessage(content="2"), agent("Done.")]
    point = first_divergence(wanted, simulated(domain, wanted, messages, solo=True), domain, solo=True)
    assert point is not None
    assert point.text == "never made: switch()"


# Where there is none, and what is left alone


@pytest.mark.parametrize(
    "criteria",
    [
        {"actions": [], "communicate_info": ["never said"], "reward_basis": ["DB", "COMMUNICATE"]},
        {"actions": [action("remove", item_id="desk")], "reward_basis": ["ACTION"]},
        {"actions": [], "reward_basis": ["DB"]},
    ],
    ids=["a phrase", "a call that leaves no trace", "passed"],
)
def test_none_where_no_state_is_to_blame(domain: Domain, criteria: dict[str, Any]) -> None:
    assert found(domain, criteria) is None


def test_none_for_what_was_not_graded(domain: Domain) -> None:
    wanted = task({"actions": [action("remove", item_id="desk")]})
    lost = Simulation(id="s", task_id="t", termination_reason="infrastructure_error", messages=talk())
    assert first_divergence(wanted, lost, domain) is None


def test_calls_of_the_history_count(domain: Domain) -> None:
    history = [agent("Hello"), user("Hi"), agent(call("tag", item_id="lamp", tag="a")), ToolMessage(content="tagged")]
    wanted = task(
        {"actions": [action("tag", item_id="lamp", tag="b")], "reward_basis": ONLY_DB},
        state={"message_history": [message.model_dump() for message in history]},
    )
    said = [*history, agent("Done."), UserMessage(content="###STOP###")]
    missing(first_divergence(wanted, simulated(domain, wanted, said), domain), 'tag="b"')


def test_the_reference_and_the_verdict_stay_as_they_were(domain: Domain) -> None:
    wanted = task({"actions": [action("tag", item_id="lamp", tag="new")], "reward_basis": ONLY_DB})
    wrong = simulated(domain, wanted, talk(call("tag", item_id="lamp", tag="old")))
    before = reference_environment(domain, wanted).dump()
    first_divergence(wanted, wrong, domain)
    assert reference_environment(domain, wanted).dump() == before
    assert simulated(domain, wanted, wrong.messages).reward_info == wrong.reward_info
    right = simulated(domain, wanted, talk(call("tag", item_id="lamp", tag="new")))
    assert right.outcome == "passed"
