"""Tasks of several sessions: their format, the break between two sessions, and what their participants know."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import pytest_tau
from pytest_tau.diagnosis import explain, plain_text
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.errors import TaskFormatError
from pytest_tau.models import AssistantMessage, Task, UserMessage, beginnings, calls_in, parse_task, shown_messages
from pytest_tau.models.sessions import heard, interval, remembered
from pytest_tau.reports.conversations import numbered_lines
from pytest_tau.reports.html.capability_blocks import ShownBlocks
from pytest_tau.reports.html.conversation import conversation
from pytest_tau.reports.html.environment_changes import StateHistories
from pytest_tau.runs.make_record import make_record
from pytest_tau.testing.scripted import ScriptedParticipant, call

MOCK = pytest_tau.load_domain("mock")
LATER: dict[str, Any] = {
    "id": "later",
    "hours": 26.5,
    "user_scenario": {"instructions": "b"},
    "initialization_actions": [
        {
            "env_type": "assistant",
            "func_name": "update_task_status",
            "arguments": {"task_id": "task_1", "status": "completed"},
        }
    ],
}


def document(*sessions: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "t", "sessions": [*sessions], **fields}


def first(**fields: Any) -> dict[str, Any]:
    return {"id": "first", "user_scenario": {"instructions": "a"}, **fields}


def create(title: str) -> dict[str, Any]:
    return {"action_id": title, "name": "create_task", "arguments": {"user_id": "user_1", "title": title}}


def two(**fields: Any) -> Task:
    return parse_task(document(first(actions=[create("A")], **fields), {**LATER, "actions": [create("B")]}))


def test_a_task_is_one_conversation_with_what_happens_in_between() -> None:
    task = two()
    assert [action.name for action in task.criteria.actions or []] == ["create_task", "begin_session", "create_task"]
    assert task.criteria.reward_basis == ["DB", "SESSIONS"]
    assert parse_task(task.model_dump(mode="json")) == task
    reference = reference_environment(MOCK, task)
    assert reference.elapsed == timedelta(hours=26, minutes=30)
    assert reference.dump()["agent"]["tasks"]["task_1"]["status"] == "completed"
    assert not reference.fork().equals(MOCK.environment(task))


@pytest.mark.parametrize(
    ("given", "field", "problem"),
    [
        (document(), "sessions", "expected at least two sessions, got 0"),
        (document(first()), "sessions", "expected at least two sessions, got 1"),
        (document(first(), {**LATER, "id": "first"}), "sessions", "two sessions have the id 'first'"),
        (document(first(), {"id": "endless"}), "sessions.1.user_scenario", "missing"),
        (document(first(), {**LATER, "hours": -1}), "sessions.1.hours", "greater than or equal to 0, got -1"),
        (document(first(), {**LATER, "hours": "1"}), "sessions.1.hours", "expected"),
        (document(first(), {**LATER, "when": 1}), "sessions.1.when", "unknown field 'when'"),
        (document(first(), {**LATER, "id": ""}), "sessions.1.id", "at least 1 character"),
        (document(first(hours=1), LATER), "sessions", "nothing happens before the first session"),
        (document(first(), LATER, ticket="t"), "sessions", "neither a ticket nor a message history"),
        (document(first(), LATER, user_scenario={"instructions": "c"}), "sessions", "that of its first session"),
        (
            document(first(), LATER, evaluation_criteria={"actions": []}),
            "sessions",
            "reference actions in the sessions",
        ),
        (document(3, LATER), "sessions.0", "expected an object, got 3"),
        ({"id": "t", "sessions": "x"}, "sessions", "expected an array"),
    ],
)
def test_a_malformed_session_is_refused(given: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(TaskFormatError) as error:
        parse_task({"user_scenario": first()["user_scenario"], **given})
    assert field in f"{error.value}"
    assert problem in f"{error.value}"


def run(task: Task, agent: Any, user: Any) -> Any:
    return pytest_tau.simulate(task, domain=MOCK, agent=agent, user=user)


class Caller:
    """Says where it is called, and stops."""

    def __init__(self, instructions: str, history: list[Any]) -> None:
        self.instructions, self.known = instructions.rsplit(maxsplit=1)[-1], [message.content for message in history]

    def respond(self, message: Any) -> str:
        return f"{self.instructions} after {len(self.known)} ###STOP###"


def test_the_next_session_begins_after_a_stop() -> None:
    simulation = run(two(), ScriptedParticipant(["-"]), Caller)
    texts = [message.content for message in simulation.messages]
    assert texts == [
        "Hi! How can I help you today?",
        "a after 0 ###STOP###",
        None,
        "later",
        "Hi! How can I help you today?",
        "[A new conversation, 1 day and 2 hours and 30 minutes later]\nb after 2 ###STOP###",
    ]
    assert beginnings(simulation.messages) == [2]
    assert simulation.facts["sessions"] == {
        "ids": ["first", "later"],
        "begin": [0, 2],
        "hours": [0, 26.5],
        "planned": 2,
    }


def test_a_limit_ends_all_sessions() -> None:
    """A session that does not end is the fault of who was cut off, and nothing of it is lost."""
    agent, user = ScriptedParticipant(["?"] * 9), ScriptedParticipant(["!"] * 9)
    settings = pytest_tau.SimulationSettings(limits=pytest_tau.Limits(max_steps=4))
    simulation = pytest_tau.simulate(two(), domain=MOCK, agent=agent, user=user, settings=settings)
    assert (simulation.outcome, simulation.termination_reason, len(simulation.messages)) == ("failed", "max_steps", 5)
    assert "later: did not take place" in (simulation.reward_info.custom_checks or [])[0].justification


def test_a_participant_cannot_begin_a_session() -> None:
    user = ScriptedParticipant([call("begin_session", "user", session="later", hours=5), "###STOP###"])
    simulation = run(two(), ScriptedParticipant(["-"]), user)
    assert simulation.messages[2].content == "Error: Tool 'begin_session' not found."
    assert simulation.messages[2].error
    environment = MOCK.environment()
    environment.replay(simulation.messages[:3])
    assert environment.elapsed == timedelta(0)


def test_a_session_is_graded_at_its_end() -> None:
    """What is made up for later is wrong all the same."""
    late = [call("create_task", user_id="user_1", title="A"), call("create_task", user_id="user_1", title="B"), "-"]
    users = iter([["###STOP###"], ["please", "###STOP###"]])

    class Late(ScriptedParticipant):
        def __init__(self) -> None:
            super().__init__(next(users))

    task = two(graded=True)
    simulation = run(task, ScriptedParticipant(late), Late)
    assert simulation.reward_info.custom_checks[0].justification.startswith(
        "first: at its end, the state is wrong at agent side: tasks/task_3"
    )


def test_another_caller_has_not_heard_the_first_one() -> None:
    task = parse_task(document(first(), {**LATER, "caller": "Ben"}))
    simulation = run(task, ScriptedParticipant(["-"]), Caller)
    assert simulation.messages[-1].text.endswith("b after 0 ###STOP###")
    third = {**LATER, "id": "third"}
    task = parse_task(document(first(), {**LATER, "caller": "Ben"}, third))
    messages = run(task, ScriptedParticipant(["-"]), Caller).messages
    assert messages[-1].text.endswith("b after 2 ###STOP###")
    assert [message.text for message in remembered(task, messages) if isinstance(message, UserMessage)] == [
        messages[1].text,
        messages[-1].text,
    ]
    assert len(heard(messages)) == len(messages) - 4


def test_a_caller_remembers_its_facts() -> None:
    script = {"requests": [{"say": "x"}]}
    known = {"instructions": "a", "script": {**script, "facts": {"zip": "1", "name": "Ada"}}}
    again = {"instructions": "b", "script": {**script, "facts": {"zip": "2"}}}
    task = parse_task(document(first(user_scenario=known), {**LATER, "user_scenario": again}))
    told = task.of_session(1).user_scenario.script
    assert told is not None
    assert told.facts == {"zip": "2", "name": "Ada"}


class Agent:
    """Counts the messages that it was given."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.given = 0

    def respond(self, message: Any) -> str:
        self.given += 1
        return f"{self.given}"


@pytest.mark.parametrize(("fresh", "made", "counted"), [(False, 1, "2"), (True, 2, "1")])
def test_the_agent_is_kept_or_made_again(fresh: bool, made: int, counted: str) -> None:
    from pytest_tau.capabilities.sessions import capability

    class Counting(Agent):
        made = 0

    class Twice(Caller):
        said = 0

        def respond(self, message: Any) -> str:
            self.said += 1
            return "x ###STOP###" if self.said == 2 else "x"

    settings = pytest_tau.SimulationSettings(capabilities=[capability.with_settings(fresh_sessions=fresh)])
    simulation = pytest_tau.simulate(two(), domain=MOCK, agent=Counting, user=Twice, settings=settings)
    assert Counting.made == made
    assert [m.text for m in simulation.messages if isinstance(m, AssistantMessage)][-1] == counted


def test_a_recording_of_sessions_is_replayed(tmp_path: Any) -> None:
    task = two()
    recorded = run(task, "gold", "gold")
    file = tmp_path / "recording.json"
    file.write_text(recorded.model_dump_json(), encoding="utf-8")
    again = run(task, f"replay:{file}", f"replay:{file}")
    assert [(m.role, getattr(m, "content", None)) for m in again.messages] == [
        (m.role, getattr(m, "content", None)) for m in recorded.messages
    ]
    assert again.reward == recorded.reward == 1


def test_times_are_told() -> None:
    assert [interval(hours) for hours in (0, 1, 2, 24, 26.5, 0.25)] == [
        "no time",
        "1 hour",
        "2 hours",
        "1 day",
        "1 day and 2 hours and 30 minutes",
        "15 minutes",
    ]


def test_what_cannot_happen_is_refused_before_the_conversation() -> None:
    broken = {**LATER, "initialization_data": {"agent_data": {"tasks": {"task_1": {"status": "lost"}}}}}
    task = parse_task(document(first(), broken))
    with pytest.raises(TaskFormatError, match=r"begin_session: agent_data\.tasks\.task_1\.status: expected"):
        run(task, ScriptedParticipant(["-"]), Caller)


def test_a_booking_is_dated_by_the_clock_that_has_moved() -> None:
    """The reference sees the same time: a booking of the second session is made a day later."""
    airline = pytest_tau.load_domain("airline")
    booking = next(
        action
        for task in airline.tasks()
        for action in task.criteria.actions or []
        if action.name == "book_reservation"
    )
    task = parse_task(document(first(), {**LATER, "hours": 25, "initialization_actions": None, "actions": [booking]}))
    before, after = airline.environment(task).dump()["agent"], reference_environment(airline, task).dump()["agent"]
    (made,) = after["reservations"].keys() - before["reservations"].keys()
    assert after["reservations"][made]["created_at"] == "2024-05-16T16:00:00"


def test_the_break_is_shown_as_a_break() -> None:
    """In the terminal and in the page; it is nobody's call, and no reference action."""
    simulation = run(two(), ScriptedParticipant(["-"]), Caller)
    shown = [
        line.text for number, message in shown_messages(simulation.messages) for line in numbered_lines(number, message)
    ]
    assert shown[2:4] == [
        "    2  --- session later, 1 day and 2 hours and 30 minutes later ---",
        "    4  agent  Hi! How can I help you today?",
    ]
    assert "begin_session" not in plain_text(explain(simulation))
    verdict = simulation.reward_info
    assert [check.action.name for check in verdict.action_checks or []] == ["create_task", "create_task"]
    assert verdict.partial["selection"] == 0
    record = make_record(simulation, two(), "mock")
    assert (record.calls, record.groups["actions"]) == (0, "2")
    page = conversation(
        simulation, calls_in(simulation.messages), two(), MOCK, StateHistories(), ShownBlocks([], Path())
    )
    assert page["messages"][2]["break"] == "session later, 1 day and 2 hours and 30 minutes later"
    assert page["calls"][0]["changes"] == [["agent", "tasks/task_1/status", '"pending"', '"completed"']]
    assert [row["kind"] for row in page["rows"]] == ["missing", "missing"]


def test_the_side_of_an_episode_is_not_given_the_break() -> None:
    async def play() -> list[Any]:
        async with pytest_tau.Episode(two(), domain=MOCK, side="user", agent=ScriptedParticipant(["-"])) as episode:
            heard_next = (await episode.step("###STOP###")).messages
            await episode.step("###STOP###")
            return heard_next

    assert asyncio.run(play()) == [{"role": "user", "content": "Hi! How can I help you today?"}]
