"""Endings that participants of a run cannot bring about by themselves: model errors, recordings, retries, interrupts."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import Environment, Limits
from pytest_tau.errors import ContextWindowError, ModelError, ReplayError
from pytest_tau.models import RecordingEnded
from pytest_tau.orchestrator import Conversation, ConversationSetup

from .tiny import agent, call, run, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.orchestrator import Ending


class Player:
    """A participant without the containment of other people's code: the entries of a script, seconds to wait among them."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)

    async def respond(self, message: Any) -> Any:
        reply = self.replies.pop(0)
        if isinstance(reply, float):
            await asyncio.sleep(reply)
            return await self.respond(message)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def is_stop(self, message: Any) -> bool:
        return "###STOP###" in message.text


def conversation(domain: Domain, agents: Any, users: Any, **limits: Any) -> Conversation:
    return Conversation(task(), domain.environment(), agents, users, ConversationSetup(Limits(**limits)))


def ending(domain: Domain, agents: Any, users: Any, **options: Any) -> Ending:
    return run(conversation(domain, agents, users, **options).run())


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ModelError("no answer"), "infrastructure_error"), (ReplayError("no recording"), "unexpected_error")],
)
def test_a_model_that_fails_is_nobodys_fault(domain: Domain, error: Exception, reason: str) -> None:
    text = f"{type(error).__name__}: {error}"
    for sides in ((Player(error), Player(user("Hi"))), (Player(), Player(error))):
        assert ending(domain, *sides) == (reason, None, text, type(error).__name__)


def test_a_context_window_that_is_too_small_is_the_agents_fault_alone(domain: Domain) -> None:
    error = ContextWindowError("too long")
    assert ending(domain, Player(error), Player(user("Hi"))).reason == "context_window_exceeded"
    assert ending(domain, Player(), Player(error)).reason == "infrastructure_error"


def test_a_recording_ends_as_the_recorded_conversation_did(domain: Domain) -> None:
    ended = RecordingEnded("max_steps", "200 steps, the limit is 200")
    assert ending(domain, Player(), Player(ended)) == ("max_steps", None, "200 steps, the limit is 200", None)


def test_ctrl_c_ends_the_run_and_not_the_conversation(domain: Domain) -> None:
    with pytest.raises(KeyboardInterrupt):
        ending(domain, Player(), Player(KeyboardInterrupt()))


def test_a_cancelled_reply_is_the_fault_of_its_side(domain: Domain) -> None:
    found = ending(domain, Player(asyncio.CancelledError("mine")), Player(user("Hi")))
    assert found.reason == "agent_error"


class TestTime:
    """The end of a conversation by the clock."""

    @pytest.mark.parametrize(
        ("agents", "users", "reason"),
        [
            (Player(9.0), Player(user("Hi")), "timeout"),
            (Player(), Player(9.0), "user_error"),
            (Player(0.01, agent("?"), 9.0), Player(0.15, user("Hi"), user("Hi")), "user_error"),
            (Player(0.15, agent("?")), Player(user("Hi"), 9.0), "timeout"),
        ],
        ids=["agent", "user", "user-most", "agent-most"],
    )
    def test_it_counts_against_the_side_that_took_most_of_it(
        self, domain: Domain, agents: Any, users: Any, reason: str
    ) -> None:
        found = ending(domain, agents, users, timeout=0.25)
        assert found.reason == reason
        assert found.error is not None
        assert found.error.startswith("no end after 0.25 s (waited 0.")
        assert found.error.endswith(" s for the user)")

    def test_the_error_has_the_seconds_of_each_side(self, domain: Domain) -> None:
        talk = conversation(domain, Player(9.0), Player(0.3, user("Hi")), timeout=0.6)
        found = run(talk.run())
        assert found.error in {
            f"no end after 0.6 s (waited {mine} s for the agent, {theirs} s for the user)"
            for mine in ("0.2", "0.3", "0.4")
            for theirs in ("0.3", "0.4")
        }

    @pytest.mark.parametrize(
        ("agent_retries", "user_retries", "reason"),
        [
            (9.0, 0.0, "infrastructure_error"),
            (0.0, 9.0, "timeout"),
            (0.08, 0.0, "timeout"),
            (0.16, 0.0, "infrastructure_error"),
        ],
    )
    def test_retries_of_model_calls_are_the_providers(
        self, domain: Domain, agent_retries: float, user_retries: float, reason: str
    ) -> None:
        """Of 0.25 s nearly all went to the agent; what a side is said to have lost is at most what it took."""
        retries = {"agent": agent_retries, "user": user_retries}
        setup = ConversationSetup(Limits(timeout=0.25), retry_seconds=retries.__getitem__)
        talk = Conversation(task(), domain.environment(), Player(9.0), Player(user("Hi")), setup)
        found = run(talk.run())
        assert found.reason == reason
        assert found.error is not None
        assert not agent_retries or "retries of model calls" in found.error

    def test_a_participant_that_blocks_the_loop_gets_no_further_turn(self, domain: Domain) -> None:
        class Blocking(Player):
            async def respond(self, message: Any) -> Any:
                time.sleep(0.2)  # noqa: ASYNC251 - what is tested
                return await super().respond(message)

        talk = conversation(domain, Blocking(agent("?"), agent("?")), Player(user("Hi"), user("Hi")), timeout=0.1)
        assert run(talk.run()).reason == "timeout"
        assert len(talk.messages) == 3

    def test_a_participant_may_use_a_second_to_handle_its_cancellation(self, domain: Domain) -> None:
        handled = []

        class Slow(Player):
            async def respond(self, message: Any) -> Any:
                try:
                    await asyncio.sleep(9)
                except asyncio.CancelledError:
                    await asyncio.sleep(0.05)
                    handled.append(True)
                    raise

        assert ending(domain, Player(), Slow(), timeout=0.05).reason == "user_error"
        assert handled == [True]


def test_an_agent_alone_that_is_done_at_once_ends_it(domain: Domain) -> None:
    wanted = task(ticket="Do it.")
    talk = Conversation(
        wanted,
        domain.environment(wanted, solo=True),
        Player(agent(call("done"))),
        Player(),
        ConversationSetup(Limits()),
    )
    assert run(talk.run()).reason == "agent_stop"
    assert len(talk.messages) == 1


def test_a_history_that_ends_with_neither_side_is_continued_by_the_agent(domain: Domain) -> None:
    wanted = task(state={"message_history": [{"role": "system", "content": "Be kind."}]})
    talk = Conversation(
        wanted, domain.environment(wanted), Player(agent("Hi ###STOP###")), Player(), ConversationSetup(Limits())
    )
    assert run(talk.run()).reason == "agent_stop"


@pytest.mark.exhaustive
def test_a_participant_that_ignores_its_cancellation_is_waited_for_a_second(domain: Domain) -> None:
    class Deaf(Player):
        async def respond(self, message: Any) -> Any:
            end = time.perf_counter() + 1.6
            while time.perf_counter() < end:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(end - time.perf_counter())
            return user("Hi")

    found = ending(domain, Player(), Deaf(), timeout=0.1)
    assert found.reason == "user_error"
    assert found.error is not None
    assert found.error.startswith("no end after 0.1 s (waited 0.0 s for the agent, 1.")


@pytest.mark.parametrize("waits", [True, False])
def test_a_tool_that_waits_runs_in_another_thread(domain: Domain, monkeypatch: pytest.MonkeyPatch, waits: bool) -> None:
    threads = []
    answer = Environment.answer

    def answered(self: Environment, made: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return answer(self, made)

    monkeypatch.setattr(Environment, "waits_for", lambda *_: waits)
    monkeypatch.setattr(Environment, "answer", answered)
    found = ending(
        domain, Player(agent(call("look", item_id="lamp")), agent("Done.")), Player(user("Hi"), user("###STOP###"))
    )
    assert found.reason == "user_stop"
    assert threads == [not waits]


def test_a_call_that_has_not_returned_is_abandoned_with_its_trial(
    domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, called, let_go = domain.environment(), threading.Event(), threading.Event()

    def hang(*_: Any) -> None:
        called.set()
        let_go.wait(10)

    monkeypatch.setattr(Environment, "waits_for", lambda *_: True)
    monkeypatch.setattr(Environment, "answer", hang)
    talk = Conversation(
        task(), environment, Player(agent(call("count"))), Player(user("Hi")), ConversationSetup(Limits())
    )

    async def cancel() -> None:
        trial = asyncio.ensure_future(talk.run())
        await asyncio.to_thread(called.wait, 10)
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial

    run(cancel())
    let_go.set()
    assert environment.abandoned


def test_the_protocol_allows_either_text_or_calls(domain: Domain) -> None:
    both, setup = (
        agent("One moment.", call("look", item_id="lamp")),
        ConversationSetup(Limits(), enforces_protocol=True),
    )
    found = run(Conversation(task(), domain.environment(), Player(both), Player(user("Hi")), setup).run())
    assert found.reason == "agent_error"
    assert found.error == "a message with both text and tool calls, which --tau-enforce-protocol does not allow"
