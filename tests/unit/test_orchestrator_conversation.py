from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import Limits, SimulationSettings
from pytest_tau.errors import ConfigurationError, ModelError, ReplayError, TaskFormatError
from pytest_tau.models import GREETING, MultiToolMessage, Notes, ToolCall, ToolMessage
from pytest_tau.participants import load_source
from pytest_tau.runner import TrialRunner, prepare_trial
from pytest_tau.testing import ScriptedParticipant as Script, call as reply_call

from .tiny import agent, call, run, task, user

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation, Task

PLAIN = task()
FAIL = reply_call("remove", item_id="sofa")
COUNT = reply_call("count")


def converse(
    domain: Domain,
    agent: Any,
    user: Any = ("Hi", "###STOP###"),
    wanted: Task = PLAIN,
    *,
    solo: bool = False,
    **limits: Any,
) -> Simulation:
    """A conversation between two scripts, or two participants."""
    agent = Script(agent) if isinstance(agent, list | tuple) else agent
    user = Script(user) if isinstance(user, list | tuple) else user
    settings = SimulationSettings(limits=Limits(**{"timeout": 20.0} | limits), solo=solo)
    return pytest_tau.simulate(wanted, domain=domain, agent=agent, user=user, settings=settings)


def route(simulation: Simulation) -> str:
    """Who speaks: a and u say, A and U call, r is a result for the agent, s one for the user."""
    letters = []
    for message in simulation.messages:
        if isinstance(message, ToolMessage):
            letters.append("r" if message.requestor == "assistant" else "s")
        else:
            letter = "a" if message.role == "assistant" else "u"
            letters.append(letter.upper() if getattr(message, "tool_calls", None) else letter)
    return "".join(letters)


# Routing


def test_the_agent_opens_and_the_user_answers(domain: Domain) -> None:
    simulation = converse(domain, [], ["###STOP###"])
    assert route(simulation) == "au"
    assert simulation.messages[0].content == GREETING == "Hi! How can I help you today?"


def test_texts_go_to_the_other_side_and_results_to_the_caller(domain: Domain) -> None:
    wanted = Script([COUNT, COUNT, "Your turn", "Bye"])
    theirs = Script(["Hi", reply_call("switch"), reply_call("read_phone"), "Done", "###STOP###"])
    simulation = converse(domain, wanted, theirs)
    assert route(simulation) == "auArAraUsUsuau"
    assert [type(m).__name__ for m in wanted.received] == ["UserMessage", "ToolMessage", "ToolMessage", "UserMessage"]
    assert [type(m).__name__ for m in theirs.received] == [
        "AssistantMessage",
        "AssistantMessage",
        "ToolMessage",
        "ToolMessage",
        "AssistantMessage",
    ]
    assert [m.content for m in theirs.received][2] == "on"


def test_several_calls_of_a_message_run_in_order_and_return_together(domain: Domain) -> None:
    wanted = Script(
        [{"tool_calls": [call("count", by=2), call("remove", item_id="sofa"), call("count", by=3)]}, "Done"]
    )
    simulation = converse(domain, wanted)
    assert route(simulation) == "auArrrau"
    (_, results) = wanted.received
    assert isinstance(results, MultiToolMessage)
    assert [(m.content, m.error) for m in results.tool_messages] == [
        ('"2"', False),
        ("Error: no item sofa", True),
        ('"5"', False),
    ]


def test_a_call_and_its_result_share_an_id(domain: Domain) -> None:
    calls = [call("count"), ToolCall(id="mine", name="count"), call("count")]
    simulation = converse(domain, [{"tool_calls": calls}, COUNT, "Done"])
    made = [made.call.id for made in simulation.calls]
    assert made == [made.result.id for made in simulation.calls if made.result]
    assert made[1] == "mine"
    assert all(made)
    assert len(set(made)) == 4


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "reply",
    [
        reply_call("rename", item_id="lamp", name="\ud800"),
        reply_call("ren\ud800", x=1),
        {"tool_calls": [{"name": "rename", "arguments": "{\ud800"}]},
        {"tool_calls": [{"id": "\ud800", "name": "count"}]},
        reply_call("rename", item_id="lamp", name=object()),
        reply_call("rename", item_id="lamp", name=nested(400)),
        reply_call("count", by=10**5000),
        {"content": "odd \ud800", "raw_data": {"x": "\ud800", "y": object()}},
    ],
    ids=["argument", "name", "malformed", "id", "object", "deep", "huge", "text"],
)
def test_whatever_an_agent_sends_the_simulation_can_be_written_down(domain: Domain, reply: Any) -> None:
    """Otherwise one odd reply would cost the results of a whole run. A fault of the agent's, or harmless."""
    simulation = converse(domain, [reply, "Done"])
    assert simulation.termination_reason in ("user_stop", "agent_error")
    assert simulation.model_dump_json().encode("utf-8")


def test_the_trajectory_is_numbered_and_dated(domain: Domain) -> None:
    simulation = converse(domain, [COUNT, "Done"])
    assert [m.turn_idx for m in simulation.messages] == list(range(6))
    stamps = [m.timestamp or "" for m in simulation.messages]
    assert stamps == sorted(stamps)
    assert all(stamps)


def test_a_malformed_call_is_answered_with_an_error_that_counts(domain: Domain) -> None:
    broken = {"tool_calls": [{"function": {"name": "count", "arguments": "{oops"}}]}
    simulation = converse(domain, [broken, "Sorry"], max_errors=2)
    (only,) = simulation.calls
    assert only.result is not None
    assert only.result.error
    assert "must be a JSON object, got {oops" in (only.result.content or "")
    assert simulation.termination_reason == "user_stop"
    assert converse(domain, [broken, broken, "Sorry"], max_errors=2).termination_reason == "too_many_errors"


def test_both_sides_are_in_step_after_the_environment_s_turn(domain: Domain) -> None:
    wanted = Script([reply_call("count", by=4), "Look"])
    simulation = converse(domain, wanted, ["Hi", reply_call("read_phone"), "###STOP###"])
    assert simulation.calls[1].result is not None
    assert '"shown": 4' in (simulation.calls[1].result.content or "")


# Endings


@pytest.mark.parametrize("token", ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"])
def test_the_user_ends_it_and_the_token_is_kept(domain: Domain, token: str) -> None:
    simulation = converse(domain, ["Hm"], ["Hi", f"Bye {token}"])
    assert (simulation.termination_reason, simulation.stop_token) == ("user_stop", token)
    assert simulation.error is None


def test_token_in_a_message_with_a_call_does_not_end_the_conversation(domain: Domain) -> None:
    both = {"content": "###STOP###", "tool_calls": [call("switch")]}
    simulation = converse(domain, ["Hm"], ["Hi", both, "###STOP###"])
    assert route(simulation) == "auaUsu"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        SystemExit(3),
        *(kind("its own") for kind in (TimeoutError, ConfigurationError, ModelError, ReplayError)),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize(("side", "outcome"), [("agent", "failed"), ("user", "error")])
def test_whose_fault_an_exception_is(domain: Domain, side: str, outcome: str, error: BaseException) -> None:
    scripts: dict[str, Any] = {"agent": [COUNT, "Well", "Well"], "user": ["Hi", "Well", "###STOP###"]}
    scripts[side] = [scripts[side][0], error]
    simulation = converse(domain, scripts["agent"], scripts["user"])
    assert (simulation.termination_reason, simulation.outcome) == (f"{side}_error", outcome)
    assert simulation.reward == 0.0
    assert type(error).__name__ in (simulation.error or "")
    assert route(simulation).startswith("auAr")  # what was said before is kept


def test_the_line_that_raised_is_named_wherever_the_project_lies(domain: Domain, tmp_path: Path) -> None:
    file = tmp_path / "pytest_tau_agents" / "mine.py"
    namespace: dict[str, Any] = {}
    exec(
        compile("class Mine:\n    def respond(self, message):\n        raise ValueError('no')\n", file, "exec"),
        namespace,
    )
    assert converse(domain, namespace["Mine"]()).error == f"ValueError: no (line 3 of {file})"


def test_an_agent_whose_own_task_was_cancelled(domain: Domain) -> None:
    """Cancellation that is not the deadline's is an exception like any other."""

    class Cancelled:
        async def respond(self, message: Any) -> str:
            raise asyncio.CancelledError("its own")

    simulation = converse(domain, Cancelled())
    assert simulation.termination_reason == "agent_error"
    assert (simulation.error or "").startswith("CancelledError: its own (line ")


def test_interruption_is_not_a_fault_of_a_participant(domain: Domain) -> None:
    class Interrupted:
        async def respond(self, message: Any) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        converse(domain, Interrupted())


def test_interruption_in_is_stop_is_not_a_fault(domain: Domain) -> None:
    class Interrupted(Script):
        def is_stop(self, message: Any) -> bool:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        converse(domain, Interrupted(["Hello"]))


def test_a_bad_reply_is_the_side_s_fault(domain: Domain) -> None:
    simulation = converse(domain, [""])
    assert simulation.termination_reason == "agent_error"
    assert "empty reply" in (simulation.error or "")
    assert converse(domain, ["Hm"], [5]).termination_reason == "user_error"


def test_an_is_stop_that_raises_is_the_side_s_fault(domain: Domain) -> None:
    class Odd(Script):
        def is_stop(self, message: Any) -> bool:
            raise ValueError("odd")

    by_agent, by_user = converse(domain, Odd(["Hm"])), converse(domain, ["Hm"], Odd(["Hi"]))
    assert (by_agent.termination_reason, by_user.termination_reason) == ("agent_error", "user_error")
    assert all((each.error or "").startswith("ValueError: odd (line ") for each in (by_agent, by_user))


class Stopping(Script):
    """An agent that ends the conversation by saying bye."""

    def is_stop(self, message: Any) -> bool:
        return "bye" in (message.content or "")


# Steps. The greeting is no hop; user's text 1, agent's call 2, result 3, agent's text 4, user's text 5 …


def steps(domain: Domain, most: int) -> tuple[str, str]:
    simulation = converse(
        domain, [COUNT, "a", COUNT, "a"], ["Hi", reply_call("switch"), "u", "###STOP###"], max_steps=most
    )
    return simulation.termination_reason, route(simulation)


#: The whole conversation: hop      1 23 4 56 7 89 10 11
WHOLE = "auAraUsuArau"


@pytest.mark.parametrize(
    ("most", "reason", "length"),
    [
        (1, "max_steps", 2),  # the user's first text
        (2, "max_steps", 4),  # the call goes to the environment, where no limit is checked
        (3, "max_steps", 4),
        (4, "max_steps", 5),
        (5, "max_steps", 7),
        (6, "max_steps", 7),
        (7, "max_steps", 8),
        (10, "max_steps", 11),
        (11, "max_steps", 12),  # the stop is on the very hop
        (12, "user_stop", 12),
    ],
)
def test_a_step_is_a_hop_and_limits_wait_for_the_environment(
    domain: Domain, most: int, reason: str, length: int
) -> None:
    assert steps(domain, most) == (reason, WHOLE[:length])


@pytest.mark.parametrize(
    ("most", "error"),
    [
        (2, "3 steps, the limit is 2 (not checked before the result of a tool call)"),
        (3, "3 steps, the limit is 3"),
    ],
)
def test_the_step_beyond_the_limit_is_explained(domain: Domain, most: int, error: str) -> None:
    assert converse(domain, [COUNT, "a"], max_steps=most).error == error


def test_several_calls_of_a_message_are_one_hop(domain: Domain) -> None:
    both = {"tool_calls": [call("count"), call("count")]}
    assert route(converse(domain, [both, "a"], max_steps=3)) == "auArr"
    assert route(converse(domain, [both, "a"], max_steps=4)) == "auArra"
    assert converse(domain, [both, "a"], max_steps=6).termination_reason == "user_stop"


def test_a_stop_on_the_hop_that_reaches_the_limit_is_the_limit(domain: Domain) -> None:
    simulation = converse(domain, ["a"], max_steps=3)
    assert simulation.termination_reason == "max_steps"
    assert simulation.messages[-1].content == "###STOP###"
    assert simulation.reward == 0.0
    assert converse(domain, ["a"], max_steps=4).termination_reason == "user_stop"
    assert converse(domain, Stopping(["bye"]), max_steps=2).termination_reason == "max_steps"
    assert converse(domain, Stopping(["bye"]), max_steps=3).termination_reason == "agent_stop"


def test_the_limit_is_two_hundred_steps(domain: Domain) -> None:
    class Endless:
        def respond(self, message: Any) -> str:
            return "on and on"

    simulation = converse(domain, Endless(), Endless())
    assert simulation.termination_reason == "max_steps"
    assert len(simulation.messages) == 201
    assert (Limits().max_steps, Limits().max_errors, Limits().timeout) == (200, 10, None)


# Errors


def test_errors_of_both_sides_add_up_over_the_whole_conversation(domain: Domain) -> None:
    wrong = reply_call("nowhere")
    simulation = converse(domain, [wrong, COUNT, "a", wrong, "a"], ["Hi", wrong, "u", "###STOP###"], max_errors=3)
    assert simulation.termination_reason == "too_many_errors"
    assert route(simulation) == "auArAraUsuAr"
    assert (
        converse(domain, [wrong, COUNT, "a", wrong, "a"], ["Hi", wrong, "u", "###STOP###"]).termination_reason
        == "user_stop"
    )


def test_ten_errors_are_too_many(domain: Domain) -> None:
    assert converse(domain, [FAIL] * 9 + ["a"]).termination_reason == "user_stop"
    simulation = converse(domain, [FAIL] * 10 + ["a"])
    assert simulation.termination_reason == "too_many_errors"
    assert sum(made.result is not None and made.result.error for made in simulation.calls) == 10


def test_several_errors_of_a_message_are_all_answered(domain: Domain) -> None:
    simulation = converse(domain, [{"tool_calls": [call("nowhere")] * 4}, "a"], max_errors=2)
    assert (simulation.termination_reason, route(simulation)) == ("too_many_errors", "auArrrr")


def test_too_many_errors_win_over_too_many_steps(domain: Domain) -> None:
    simulation = converse(domain, [FAIL, "a"], max_errors=1, max_steps=3)
    assert simulation.termination_reason == "too_many_errors"
    assert converse(domain, [FAIL, "a"], max_errors=2, max_steps=3).termination_reason == "max_steps"


def test_errors_of_the_history_do_not_count(domain: Domain) -> None:
    history = [
        {"role": "assistant", "tool_calls": [{"id": "1", "name": "nowhere"}]},
        {"role": "tool", "id": "1", "content": "Error", "error": True},
        {"role": "assistant", "content": "Oh."},
    ]
    wanted = task(state={"message_history": history})
    assert converse(domain, [FAIL, "a"], ["Hi", "###STOP###"], wanted, max_errors=2).termination_reason == "user_stop"


# The clock


def hanging(side: str, kind: str) -> tuple[Any, Callable[[], None]]:
    """A participant that greets once and then hangs, and what lets it go."""
    gate = threading.Event()

    class Hangs:
        turn = 0

        def respond(self, message: Any) -> Any:
            self.turn += 1
            if self.turn == 1:
                return COUNT if side == "agent" else "Hi"
            return self.hang()

        def hang(self) -> Any:
            if kind == "sync":
                gate.wait(10)
                return "late"
            return asyncio.sleep(10, "late")

    return Hangs(), gate.set


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("side", ["agent", "user"])
def test_what_hangs_is_cut_off_and_what_was_said_is_kept(domain: Domain, side: str, kind: str) -> None:
    participant, let_go = hanging(side, kind)
    start = time.perf_counter()
    scripts = {"agent": ["a", "a"], "user": ["Hi"]} | {side: participant}
    simulation = converse(domain, scripts["agent"], scripts["user"], timeout=0.2)
    assert time.perf_counter() - start < 4
    let_go()
    # A time-out counts against the agent, unless it was the user who took the time.
    assert simulation.termination_reason == ("timeout" if side == "agent" else "user_error")
    assert simulation.outcome == ("failed" if side == "agent" else "error")
    assert "0.2 s" in (simulation.error or "")
    assert route(simulation) == ("auAr" if side == "agent" else "aua")
    assert simulation.reward_info is not None  # graded nevertheless


def test_the_clock_does_not_beat_a_stop(domain: Domain) -> None:
    class Slow:
        async def respond(self, message: Any) -> str:
            time.sleep(0.1)  # noqa: ASYNC251 - blocks the loop, so that the deadline passes within the hop
            return "Bye ###STOP###"

    simulation = converse(domain, ["a"], Slow(), timeout=0.05)
    assert simulation.termination_reason == "user_stop"


@pytest.mark.parametrize("timeout", [None, 5.0])
def test_blocking_code_runs_in_a_thread(domain: Domain, timeout: float | None) -> None:
    class Where(Script):
        def respond(self, message: Any) -> Any:
            self.thread = threading.get_ident()
            return super().respond(message)

    agent = Where(["a"])
    converse(domain, agent, timeout=timeout)
    assert agent.thread != threading.get_ident()


# Message histories

LOOKED = [
    {"role": "assistant", "tool_calls": [{"id": "1", "name": "look", "arguments": {"item_id": "lamp"}}]},
    {"role": "tool", "id": "1", "content": "a lamp"},
]
LOOKED_TWICE = [
    {
        "role": "assistant",
        "tool_calls": [{"id": n, "name": "look", "arguments": {"item_id": n}} for n in ("lamp", "desk")],
    },
    {"role": "tool", "id": "lamp", "content": "a lamp"},
    {"role": "tool", "id": "desk", "content": "a desk"},
]
SWITCHED = [
    {"role": "user", "tool_calls": [{"id": "1", "name": "switch", "requestor": "user"}]},
    {"role": "tool", "id": "1", "content": "on", "requestor": "user"},
]


@pytest.mark.parametrize(
    ("history", "agents", "users", "expected", "first"),
    [
        ([{"role": "assistant", "content": "Yes?"}], [], ["###STOP###"], "au", ("user", "Yes?")),
        ([{"role": "user", "content": "Hi"}], ["a"], ["###STOP###"], "uau", ("agent", "Hi")),
        (LOOKED, ["a"], ["###STOP###"], "Arau", ("agent", "a lamp")),
        (LOOKED_TWICE, ["a"], ["###STOP###"], "Arrau", ("agent", "a lamp\na desk")),
        (SWITCHED, [], ["###STOP###"], "Usu", ("user", "on")),
        (SWITCHED[:1], [], ["###STOP###"], "Usu", ("user", "on")),
        (LOOKED[:1], ["a"], ["###STOP###"], "Arau", ("agent", None)),
    ],
    ids=["agent-text", "user-text", "agent-result", "agent-results", "user-result", "user-call", "agent-call"],
)
def test_history_is_continued_by_the_next_side(
    domain: Domain, history: Any, agents: Any, users: Any, expected: str, first: Any
) -> None:
    scripts = {"agent": Script(agents), "user": Script(users)}
    simulation = converse(domain, scripts["agent"], scripts["user"], task(state={"message_history": history}))
    assert simulation.error is None
    assert route(simulation) == expected
    side, content = first
    received = scripts[side].received[0]
    assert received.content == content or content is None
    assert isinstance(received, MultiToolMessage) == (history is LOOKED_TWICE)


def test_generated_ids_count_the_calls(domain: Domain) -> None:
    look = call("look", item_id="lamp")
    simulation = converse(domain, [agent(look, look), agent(look), "a"], ["u", "###STOP###"])
    assert [made.call.id for made in simulation.calls] == ["tau_call_1", "tau_call_2", "tau_call_3"]


def test_a_history_is_part_of_the_trajectory_but_not_of_the_count(domain: Domain) -> None:
    history = [{"role": "user", "content": "Hi"}, *LOOKED, {"role": "assistant", "content": "Yes?"}]
    wanted = task(state={"message_history": history})
    assert route(converse(domain, ["a"], ["u", "###STOP###"], wanted)) == "uArauau"
    assert route(converse(domain, ["a"], ["u", "###STOP###"], wanted, max_steps=1)) == "uArau"
    assert wanted.message_history[0].turn_idx is None


def test_a_call_of_the_history_that_waits_for_its_result_is_made_once(domain: Domain) -> None:
    pending = {"role": "assistant", "tool_calls": [{"id": "1", "name": "count", "arguments": {"by": 2}}]}
    wanted = task(state={"message_history": [{"role": "user", "content": "Hi"}, pending]})
    simulation = converse(domain, ["Done"], ["###STOP###"], wanted)
    assert [made.result and made.result.content for made in simulation.calls] == ['"2"']


def test_the_database_is_as_the_history_left_it(domain: Domain) -> None:
    counted = [
        {"role": "assistant", "tool_calls": [{"id": "1", "name": "count", "arguments": {"by": 2}}]},
        {"role": "tool", "id": "1", "content": '"2"'},
    ]
    simulation = converse(domain, [COUNT, "a"], ["###STOP###"], task(state={"message_history": counted}))
    assert simulation.calls[1].result is not None
    assert simulation.calls[1].result.content == '"3"'


# Working alone

TICKET = task(ticket="Switch it on.")


def alone(domain: Domain, agent: Any, **limits: Any) -> Simulation:
    return converse(domain, agent, "dummy", TICKET, solo=True, **limits)


def test_an_agent_alone_reads_the_ticket_and_calls_until_it_is_done(domain: Domain) -> None:
    script = Script([reply_call("switch"), COUNT, reply_call("done")])
    simulation = alone(domain, script)
    assert script.received[0].content == "Switch it on."
    assert route(simulation) == "ArAra"
    assert simulation.termination_reason == "agent_stop"
    assert simulation.messages[-1].content == "###STOP###"
    assert simulation.info == Notes(solo=True)


def test_an_agent_alone_may_stop_in_words_or_by_its_own_is_stop(domain: Domain) -> None:
    for script in (Script([COUNT, "###STOP###"]), Stopping([COUNT, "bye"])):
        simulation = alone(domain, script)
        assert (simulation.termination_reason, route(simulation)) == ("agent_stop", "Ara")


def test_solo_agent_has_no_user(domain: Domain) -> None:
    simulation = alone(domain, [COUNT, "Hello?"])
    assert simulation.termination_reason == "agent_error"
    assert simulation.error == "in solo mode, the agent must call a tool, or 'done' when finished; it said: 'Hello?'"
    assert alone(domain, ["Hello?"]).termination_reason == "agent_error"


def test_limits_apply_to_a_solo_agent(domain: Domain) -> None:
    assert alone(domain, [FAIL] * 3, max_errors=2).termination_reason == "too_many_errors"
    assert alone(domain, [COUNT] * 9, max_steps=4).termination_reason == "max_steps"


def test_an_agent_alone_is_offered_the_tool_to_say_that_it_is_done(domain: Domain) -> None:
    """Source: specification of telecom, section 5: both tool lists plus a stop tool."""
    offered: list[str] = []

    def listening(messages: Any, tools: Any) -> Any:
        offered.extend(tool["function"]["name"] for tool in tools)
        return reply_call("done")

    alone(domain, listening)
    assert offered[-1] == "done"
    assert {"count", "switch"} <= set(offered)


def test_an_agent_alone_needs_a_ticket(domain: Domain) -> None:
    script = Script([reply_call("done")])
    with pytest.raises((ConfigurationError, TaskFormatError), match="ticket"):
        converse(domain, script, "dummy", PLAIN, solo=True)
    assert script.received == []


def test_a_function_alone_reads_policy_and_ticket(domain: Domain) -> None:
    read: list[Any] = []

    def reading(messages: Any, tools: Any) -> Any:
        read.extend(message["content"] for message in messages)
        return reply_call("done")

    alone(domain, reading)
    assert read == ["The policy of one who is alone.", "Switch it on."]


def test_a_stateful_agent_alone_begins_with_nothing(domain: Domain) -> None:
    """As τ²-bench's: the ticket is in its task."""

    class Solo:
        seen: list[Any] = []

        def __init__(self, task: Any) -> None:
            self.ticket = task.ticket

        def get_init_state(self, message_history: Any = None) -> list[Any]:
            return list(message_history or [])

        def generate_next_message(self, message: Any, state: list[Any]) -> tuple[Any, list[Any]]:
            self.seen.append((self.ticket, message, list(state)))
            return agent(call("done")), state

    alone(domain, Solo)
    assert Solo.seen == [("Switch it on.", None, [])]


def test_messages_are_reported_as_they_arrive(domain: Domain) -> None:
    heard: list[str] = []
    trial = prepare_trial(PLAIN, domain, SimulationSettings(), on_message=lambda message: heard.append(message.role))
    sources = load_source(Script([COUNT, "a"]), "agent"), load_source(Script(["Hi", user("###STOP###")]), "user")
    simulation = run(TrialRunner(trial, *sources).run())
    assert heard == [message.role for message in simulation.messages]
    assert len(heard) == 6


@pytest.mark.exhaustive
def test_a_participant_that_ignores_its_cancellation_adds_nothing_to_what_was_graded(domain: Domain) -> None:
    class Deaf:
        async def respond(self, message: Any) -> str:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                await asyncio.sleep(1.5)
            return "Here I am!"

    async def later() -> Any:
        settings = SimulationSettings(limits=Limits(timeout=0.1))
        simulation = await pytest_tau.asimulate(
            PLAIN, domain=domain, agent=Deaf, user=Script(["Hi"]), settings=settings
        )
        before = len(simulation.messages)
        await asyncio.sleep(1)
        return simulation, before

    simulation, before = asyncio.run(later())
    assert simulation.termination_reason == "timeout"
    assert len(simulation.messages) == before == 2
