"""Episodes: conversations that are stepped by who plays one side."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import Episode, Evaluation, Limits, SimulationSettings
from pytest_tau.chat import LLM
from pytest_tau.environment import Retrieval
from pytest_tau.errors import (
    ConfigurationError,
    EpisodeError,
    JudgeError,
    ModelError,
    ParticipantError,
    TaskFormatError,
    TauError,
)
from pytest_tau.evaluation import STRICT
from pytest_tau.models import AssistantMessage, ToolMessage, UserMessage
from pytest_tau.runs.reader import open_run
from pytest_tau.testing import ScriptedJudge, ScriptedParticipant as Script, call as reply_call

from . import tiny
from .scripted_chat import Chat
from .tiny import action, run, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB", "ACTION"]})
RENAME = 'rename(item_id="lamp", name="Light")'
USER = ["Hi", "Thanks", "###STOP###"]


def episode(domain: Domain, user: Any = None, wanted: Any = WANTED, **options: Any) -> Episode:
    """An episode of the agent's side, with a script for the user."""
    user = USER if user is None else user
    return Episode(wanted, domain=domain, user=Script(user) if isinstance(user, list) else user, **options)


def settings(**options: Any) -> SimulationSettings:
    limits = {key: options.pop(key) for key in ("max_steps", "max_errors", "timeout") if key in options}
    return SimulationSettings(limits=Limits(**limits), **options)


def play(player: Episode, *actions: Any) -> list[Any]:
    """The results of all steps, the start among them; one's own loop."""

    async def steps() -> list[Any]:
        async with player:
            return [player._last, *[await player.step(each) for each in actions]]

    return run(steps())


# The agent's side


def test_an_episode_is_stepped_to_its_verdict(domain: Domain) -> None:
    player = episode(domain)
    start, renamed, said, end = play(player, RENAME, "Done.", {"role": "assistant", "content": "Bye"})
    assert start.messages[-1] == {"role": "user", "content": "Hi"}
    assert json.loads(renamed.messages[0]["content"])["name"] == "Light"
    assert renamed.read_as == [{"name": "rename", "arguments": {"item_id": "lamp", "name": "Light"}}]
    assert (said.messages, said.read_as, said.done) == ([{"role": "user", "content": "Thanks"}], "text", False)
    assert (end.reward, end.terminated, end.truncated, end.done) == (1.0, True, False, True)
    assert end.messages == [{"role": "user", "content": "###STOP###"}]
    assert (player.reward, player.done, player.terminated, player.truncated) == (1.0, True, True, False)
    assert player.simulation is not None
    assert player.simulation.termination_reason == "user_stop"
    assert player.simulation.reward_info is not None
    assert player.simulation.reward_info.reward_breakdown == {"DB": 1.0, "ACTION": 1.0}


def test_an_episode_is_graded_as_a_trial_is(domain: Domain) -> None:
    player = episode(domain, trial=2, seed=7)
    play(player, RENAME, "Done.", "Bye")
    agent = Script([reply_call("rename", item_id="lamp", name="Light"), "Done.", "Bye"])
    trial = pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=Script(USER), trial=2, seed=7)
    varying = {
        "id": True,
        "start_time": True,
        "end_time": True,
        "duration": True,
        "messages": {"__all__": {"timestamp"}},
    }
    varying["conditions"] = {"agent": True}
    assert player.simulation is not None
    assert player.simulation.conditions["agent"] == "episode"
    assert player.simulation.model_dump(exclude=varying) == trial.model_dump(exclude=varying)


def test_the_prompt_and_the_tools_are_those_of_the_model_agent(domain: Domain) -> None:
    chat = Chat("What?", "Bye")
    llms: Any = {"agent": LLM("test/agent", chat)}
    options = settings(llms=llms)
    pytest_tau.simulate(WANTED, domain=domain, agent="llm", user=Script(["Hi", "###STOP###"]), settings=options)
    player = episode(domain, ["Hi", "###STOP###"])
    play(player, "What?")
    assert player.prompt == chat.sent[0][:3]
    assert [message["role"] for message in player.prompt] == ["system", "assistant", "user"]
    assert player.tools == chat.requests[0].tools
    said = [{"role": "assistant", "content": "What?"}, {"role": "user", "content": "###STOP###"}]
    assert player.messages == [*player.prompt, *said]


def test_own_calls_and_results_are_linked_in_the_chat(domain: Domain) -> None:
    player = episode(domain)
    play(player, '[look(item_id="lamp"), look(item_id="sofa")]')
    called, *results = player.messages[3:]
    ids = [call["id"] for call in called["tool_calls"]]
    assert len(set(ids)) == 2
    assert [result["tool_call_id"] for result in results] == ids
    assert results[1]["content"] == "Error: no item sofa"


def test_what_is_returned_is_a_copy(domain: Domain) -> None:
    player = episode(domain)
    _, renamed = play(player, RENAME)
    for given in (player.prompt, player.messages, player.tools, renamed.messages):
        given[0].clear()
    player.trajectory[0].content = "changed"
    assert player.prompt[0]["role"] == "system"
    assert player.messages[-1]["role"] == "tool"
    assert player.tools[0]["type"] == "function"
    assert player.trajectory[0].content == "Hi! How can I help you today?"


def test_the_message_history_is_a_part_of_the_prompt(domain: Domain) -> None:
    history = [
        AssistantMessage(content="Hello!"),
        UserMessage(content="Which name has the lamp?"),
        tiny.agent(tiny.call("look", item_id="lamp")),
        ToolMessage(id="", content="{}"),
    ]
    state = {"message_history": [message.model_dump() for message in history]}
    player = episode(domain, ["###STOP###"], tiny.parse_task(tiny.raw_task("t", {}, state)))
    play(player, "Lamp")
    assert [message["role"] for message in player.prompt] == ["system", "assistant", "user", "assistant", "tool"]
    assert [message.content for message in player.trajectory][-2:] == ["Lamp", "###STOP###"]


def test_the_agent_can_end_the_episode(domain: Domain) -> None:
    for last in ("done()", "###STOP###", {"content": "Bye ###STOP###"}):
        player = episode(domain)
        _, _, end = play(player, RENAME, last)
        assert (end.reward, end.terminated, end.messages) == (1.0, True, [])
        assert player.simulation is not None
        assert player.simulation.termination_reason == "agent_stop"


def test_solo(domain: Domain) -> None:
    wanted = task({"actions": [action("switch", "user")], "reward_basis": ["DB"]}, ticket="The phone is off.")
    player = Episode(wanted, domain=domain, settings=settings(solo=True))
    _, switched, end = play(player, "switch()", "done()")
    assert player.prompt[1:] == [{"role": "user", "content": "The phone is off."}]
    assert "The policy of one who is alone." in player.prompt[0]["content"]
    assert {"switch", "look", "done"} <= {each["function"]["name"] for each in player.tools}
    assert switched.messages[0]["content"] == "on"
    assert (end.reward, end.terminated) == (1.0, True)


def test_a_text_ends_an_episode_without_a_user_as_it_ends_a_trial(domain: Domain) -> None:
    player = Episode(task({}, ticket="Help."), domain=domain, settings=settings(solo=True))
    _, end = play(player, "I cannot help.")
    assert (end.reward, end.terminated) == (0.0, True)
    assert player.simulation is not None
    assert player.simulation.termination_reason == "agent_error"


# The user's side


def test_the_user_is_played(domain: Domain) -> None:
    wanted = task({"actions": [action("switch", "user")], "reward_basis": ["DB"]})
    player = Episode(wanted, domain=domain, side="user", agent=Script(["Switch it on, please.", "Fine."]))
    start, asked, switched, end = play(
        player, "My phone is off.", "switch()", {"role": "user", "content": "###STOP###"}
    )
    assert start.messages == [{"role": "user", "content": "Hi! How can I help you today?"}]
    assert player.prompt[0]["role"] == "system"
    assert "You want something." in player.prompt[0]["content"]
    assert "The policy." not in json.dumps(player.messages)
    assert asked.messages == [{"role": "user", "content": "Switch it on, please."}]
    assert (switched.messages[0]["role"], switched.messages[0]["content"]) == ("tool", "on")
    assert (end.reward, end.terminated) == (1.0, True)
    assert [each["function"]["name"] for each in player.tools] == ["switch", "read_phone", "write_note"]


def test_the_agent_s_calls_are_not_seen_by_the_user(domain: Domain) -> None:
    agent = Script([reply_call("rename", item_id="lamp", name="Light"), "Done."])
    player = Episode(WANTED, domain=domain, side="user", agent=agent)
    _, answer = play(player, "Rename the lamp.")
    assert answer.messages == [{"role": "user", "content": "Done."}]
    assert len(player.trajectory) == 5


def test_tools_that_the_task_withholds_are_not_listed(domain: Domain) -> None:
    wanted = task({}, user_tools=["switch"])
    player = Episode(wanted, domain=domain, side="user", agent=Script(["Yes?"]))
    assert [each["function"]["name"] for each in player.tools] == ["switch"]


# Faults of one's own action


@pytest.mark.parametrize(
    ("act", "answer"),
    [
        ('look("lamp")', "Error: 'look' takes named arguments only, got 'lamp'; write look(item_id=...)"),
        ("", "Error: an empty reply: no text and no tool calls"),
        ("switch()", "Error: Tool 'switch' not found."),
        ("lok(item_id=1)", "Error: Tool 'lok' not found."),
        ('{"name": "switch", "arguments": {}, "requestor": "user"}', "Error: the requestor 'user' is the other side"),
        ({"tool_calls": [{"name": "switch", "requestor": "user"}]}, "Error: the requestor 'user' is the other side"),
        (
            {"tool_calls": [{"name": "look", "arguments": "{"}]},
            "Error: arguments of 'look' must be a JSON object, got {",
        ),
        ({"content": ""}, "Error: an empty reply"),
    ],
)
def test_a_faulty_action_is_answered_by_an_error_and_counts_as_one(domain: Domain, act: Any, answer: str) -> None:
    player = episode(domain, settings=settings(max_errors=2))
    _, first, second = play(player, act, act)
    assert first.messages[0]["content"].startswith(answer)
    assert not first.done
    assert (second.done, second.truncated, second.terminated, second.reward) == (True, True, False, 0.0)
    assert player.simulation is not None
    assert player.simulation.termination_reason == "too_many_errors"
    assert player.environment.dump()["user"]["phone"]["on"] is False


def test_a_faulty_action_is_a_part_of_the_stored_conversation(domain: Domain, tmp_path: Path) -> None:
    player = episode(domain)
    play(player, "look('lamp')", RENAME, "Done.", "Bye")
    assert player.simulation is not None
    first = player.simulation.calls[0]
    assert (first.call.malformed, first.result and first.result.error) == ("look('lamp')", True)
    assert player.reward == 1.0
    assert "problem" not in player.simulation.model_dump_json()


# Limits


def test_a_limit_truncates(domain: Domain) -> None:
    player = episode(domain, ["Hi"] * 9, settings=settings(max_steps=3))
    results = play(player, "One")
    assert (results[-1].truncated, results[-1].terminated, results[-1].reward) == (True, False, 0.0)


def test_the_clock_truncates(domain: Domain) -> None:
    async def slow() -> Any:
        async with episode(domain, settings=settings(timeout=0.25)) as player:
            await asyncio.sleep(0.35)
            assert not player.done  # as far as the player knows
            end = await player.step("Hello")
            assert (end.truncated, end.terminated, end.messages) == (True, False, [])
            return player

    player = run(slow())
    assert player.truncated
    assert player.simulation.termination_reason == "timeout"
    assert "Hello" not in [message.content for message in player.simulation.messages]


def test_the_user_s_own_time_truncates(domain: Domain) -> None:
    async def slow() -> Any:
        options = settings(timeout=0.05)
        async with Episode(WANTED, domain=domain, side="user", agent=Script([]), settings=options) as player:
            await asyncio.sleep(0.2)
            assert (await player.step("Hello")).truncated
            return player

    assert run(slow()).simulation.termination_reason == "user_error"


# Faults of others


def test_a_provider_s_fault_is_raised_and_the_conversation_is_kept(domain: Domain) -> None:
    llms: Any = {"user": LLM("test/user", Chat("Hi", ModelError("quota used up", kind="quota")))}
    player = Episode(WANTED, domain=domain, settings=settings(llms=llms))
    with pytest.raises(ModelError, match="quota used up"):
        play(player, "Hello")
    assert player.done
    assert player.simulation is not None
    assert [message.content for message in player.simulation.messages][-1] == "Hello"
    assert player.simulation.user_cost == 0.5


def test_a_fault_at_the_start_is_raised(domain: Domain) -> None:
    llms: Any = {"user": LLM("test/user", Chat(ModelError("no such model", kind="unknown_model")))}
    with pytest.raises(ModelError, match="no such model"):
        play(Episode(WANTED, domain=domain, settings=settings(llms=llms)))


def test_the_other_side_s_fault_is_raised(domain: Domain) -> None:
    player = episode(domain, ["Hi", ValueError("broken user")])
    with pytest.raises(ParticipantError, match="the user failed: ValueError: broken user") as caught:
        play(player, "Hello")
    assert isinstance(caught.value.__cause__, ValueError)
    other = Episode(WANTED, domain=domain, side="user", agent=Script([ValueError("broken agent")]))
    with pytest.raises(ParticipantError, match="the agent failed: ValueError: broken agent"):
        play(other, "Hello")


def test_a_judge_s_fault_is_raised_and_the_conversation_is_kept(domain: Domain) -> None:
    wanted = task({"nl_assertions": ["It was polite."], "reward_basis": ["NL_ASSERTION"]})
    options = settings(evaluation=Evaluation(judge=ScriptedJudge({})))
    player = episode(domain, ["Hi", "###STOP###"], wanted, settings=options)
    with pytest.raises(JudgeError, match="no verdict"):
        play(player, "Hello")
    assert player.simulation is not None
    assert player.simulation.termination_reason == "user_stop"


def test_a_fault_of_the_harness_is_raised(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a bug")

    player = episode(domain)
    monkeypatch.setattr(player.environment, "answer", broken)
    with pytest.raises(TauError, match=r"no verdict \(unexpected_error\): RuntimeError: a bug"):
        play(player, RENAME)


# Misuse


def test_a_step_after_the_end_is_an_error(domain: Domain) -> None:
    async def beyond() -> None:
        async with episode(domain, ["###STOP###"]) as player:
            assert player.done
            with pytest.raises(EpisodeError, match=r"task 't' is over \(user_stop\): make a new episode"):
                await player.step("Hello?")

    run(beyond())


def test_a_step_before_the_start_is_an_error(domain: Domain) -> None:
    with pytest.raises(EpisodeError, match="has not begun: await start"):
        run(episode(domain).step("Hello"))


def test_a_second_start_is_an_error(domain: Domain) -> None:
    async def twice() -> None:
        async with episode(domain) as player:
            with pytest.raises(EpisodeError, match="has begun: make a new episode"):
                await player.start()
            assert (await player.step("Hello")).messages  # goes on

    run(twice())


def test_a_closed_episode_cannot_be_used(domain: Domain, tmp_path: Path) -> None:
    async def closed() -> None:
        player = episode(domain)
        await player.start()
        await player.close()
        await player.close()
        assert (player.done, player.terminated, player.truncated, player.simulation) == (True, False, False, None)
        assert player.reward == 0.0
        assert player.trajectory
        with pytest.raises(EpisodeError, match="was closed before its end"):
            player.save(tmp_path)
        for call in (player.step("Hello"), player.start()):
            with pytest.raises(EpisodeError, match="was closed"):
                await call
        never = episode(domain)
        await never.close()
        with pytest.raises(EpisodeError, match="was closed"):
            await never.start()

    run(closed())


def test_two_players_of_one_episode_are_an_error(domain: Domain) -> None:
    class Slow(Script):
        async def respond(self, message: Any) -> Any:
            await asyncio.sleep(0.02)
            return super().respond(message)

    async def both() -> None:
        async with episode(domain, user=Slow(USER)) as player:
            results = await asyncio.gather(player.step("One"), player.step("Two"), return_exceptions=True)
            assert isinstance(results[1], EpisodeError)
            assert "a step is under way" in str(results[1])
            assert [message.content for message in player.trajectory].count("Two") == 0
            await player.step("Three")

    run(both())


def test_another_event_loop_is_an_error(domain: Domain) -> None:
    player = episode(domain)
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(player.start())
        for call in (player.step("Hello"), player.close()):
            with pytest.raises(EpisodeError, match="belongs to another event loop"):
                run(call)
        loop.run_until_complete(player.close())
    finally:
        loop.close()


def test_an_action_of_a_wrong_type_leaves_the_episode_as_it_is(domain: Domain) -> None:
    async def wrong() -> None:
        async with episode(domain) as player:
            before = player.messages
            with pytest.raises(EpisodeError, match="an action is a text or a message"):
                await player.step(7)  # type: ignore[arg-type]
            assert player.messages == before
            assert not (await player.step("Hello")).done

    run(wrong())


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"side": "judge"}, "side: expected 'agent' or 'user', got 'judge'"),
        ({"agent": "rules"}, "agent='rules': the agent is played by steps; name the user"),
        ({"side": "user", "user": "scripted"}, "user='scripted': the user is played by steps; name the agent"),
        ({"side": "user", "settings": settings(solo=True)}, "solo mode has no user to play"),
        ({"user": "scripted", "settings": settings(solo=True)}, "user='scripted': solo mode has no user"),
        ({"user": "scirpted"}, "unknown user 'scirpted'; did you mean 'scripted'"),
        ({"settings": settings(policy="long")}, "unknown policy 'long'"),
    ],
)
def test_what_cannot_be_run_is_reported_when_the_episode_is_made(
    domain: Domain, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        Episode(WANTED, domain=domain, **options)


def test_a_task_that_cannot_be_graded_is_reported_before_the_conversation(domain: Domain) -> None:
    user = Script(USER)
    player = episode(domain, user=user, wanted=task({"reward_basis": ["LUCK"]}))
    with pytest.raises(TaskFormatError, match="unknown reward basis 'LUCK'"):
        play(player)
    assert user.received == []
    assert player.done
    assert player.simulation is None


def test_a_domain_without_an_agent_of_its_own_is_reported(domain: Domain) -> None:
    player = Episode(WANTED, domain=domain, side="user")
    with pytest.raises(ConfigurationError, match="agent 'rules': the domain has no agent of this name"):
        play(player)


# Many at once, and nothing stays


@pytest.mark.exhaustive
def test_hundreds_run_on_one_loop(domain: Domain) -> None:
    together = asyncio.Barrier(300)

    class Waits:
        def __init__(self) -> None:
            self.turns, self.begun = iter(USER), False

        async def respond(self, message: Any) -> Any:
            if not self.begun:
                self.begun = True
                await asyncio.wait_for(together.wait(), 60)
            return next(self.turns)

    async def one(number: int) -> float:
        async with Episode(WANTED, domain=domain, user=Waits, seed=number) as player:
            if number % 2:
                await player.step(RENAME)
            while not player.done:
                await player.step("Hello")
            return player.reward

    async def many() -> list[float]:
        return await asyncio.gather(*(one(number) for number in range(300)))

    assert run(many()) == [0.0, 1.0] * 150


@pytest.mark.exhaustive
def test_nothing_of_a_closed_episode_stays(domain: Domain) -> None:
    class Hangs:
        async def respond(self, message: Any) -> Any:
            await asyncio.sleep(1000)

    async def leave() -> weakref.ref[Any]:
        player = episode(domain)
        await player.start()
        await player.close()
        hanging = episode(domain, user=Hangs)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(hanging.start(), 0.05)
        assert hanging.done
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return weakref.ref(player)

    threads = threading.active_count()
    left = run(leave())
    gc.collect()
    assert left() is None
    assert threading.active_count() <= threads + 1  # a thread of a blocking participant ends by itself


def test_a_cancelled_step_closes_the_episode(domain: Domain) -> None:
    closed = []

    class Hangs:
        def __init__(self) -> None:
            self.turns = iter(["Hi"])

        async def respond(self, message: Any) -> Any:
            return next(self.turns, None) or await asyncio.sleep(1000)

        def close(self) -> None:
            closed.append(True)

    async def cancelled() -> None:
        async with episode(domain, user=Hangs) as player:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(player.step("Hello"), 0.05)
            with pytest.raises(EpisodeError, match="was closed"):
                await player.step("Hello")

    run(cancelled())
    assert closed == [True]


def test_close_ends_a_step_that_waits(domain: Domain) -> None:
    class Hangs:
        async def respond(self, message: Any) -> Any:
            await asyncio.sleep(1000)

    async def closing() -> None:
        player = episode(domain, user=Hangs)
        waiting = asyncio.ensure_future(player.start())
        await asyncio.sleep(0.02)
        await player.close()
        with pytest.raises(EpisodeError, match="was closed"):
            await waiting

    run(closing())


def test_settings_apply(domain: Domain) -> None:
    player = episode(domain, settings=settings(policy="short", evaluation=Evaluation(grading=STRICT)))
    play(player, RENAME, "Done.", "Bye")
    assert "Be brief." in player.prompt[0]["content"]
    assert player.simulation is not None
    assert player.simulation.reward_info is not None
    assert player.simulation.reward_info.info is not None
    assert player.simulation.reward_info.info["grading"] == "strict"


# Saving


def test_simulations_are_saved_for_the_other_commands(domain: Domain, tmp_path: Path) -> None:
    for trial in range(2):
        player = episode(domain, trial=trial)
        with pytest.raises(EpisodeError, match="is not over: there is no simulation to save"):
            player.save(tmp_path)
        play(player, RENAME, "Done.", "Bye")
        assert player.save(tmp_path) == tmp_path / "simulations.jsonl"
    stored = list(open_run(tmp_path).trials())
    assert [(each.domain, each.simulation.trial, each.simulation.reward) for each in stored] == [
        ("tiny", 0, 1.0),
        ("tiny", 1, 1.0),
    ]
    assert stored[0].task is not None
    file = episode(domain)
    play(file, "Bye", "Bye")
    assert file.save(tmp_path / "new" / "mine.jsonl") == tmp_path / "new" / "mine.jsonl"
    assert len(list(open_run(tmp_path / "new" / "mine.jsonl").trials())) == 1


def test_an_episode_has_the_retrieval_of_its_settings() -> None:
    bank = pytest_tau.load_domain("banking_knowledge")
    settings = pytest_tau.SimulationSettings(retrieval=Retrieval("grep_only"))
    player = pytest_tau.Episode(bank.tasks()[0], domain=bank, user="scripted", settings=settings)
    assert [tool["function"]["name"] for tool in player.tools][:2] == ["grep", "transfer_to_human_agents"]
