from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.chat import ChatReply, ChatRequest, Identity, Player, Recorder, Usage
from pytest_tau.errors import ConfigurationError, ContextWindowError, ModelError, ReplayError
from pytest_tau.models import RecordingEnded

from .tiny import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WHOSE = Identity("tiny", "lamp", 0, 7, {"policy": "p1", "agent tools": "t1"})
TIMES = ["2026-01-02T03:04:05.000006+00:00", "2026-01-02T03:04:06.500000+00:00"]
AGAIN = "pytest tiny --tau-record=all"


class Scripted:
    """A chat model: replies, errors, or functions of the request, one after the other."""

    def __init__(self, *script: Any) -> None:
        self.script, self.asked = list(script), []

    async def __call__(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        step = self.script.pop(0)
        if callable(step):
            step = await step(request)
        if isinstance(step, BaseException):
            raise step
        return step if isinstance(step, ChatReply) else reply(step)


def reply(text: str, **fields: Any) -> ChatReply:
    usage = Usage(prompt_tokens=len(text), completion_tokens=2, cached_tokens=1)
    defaults: dict[str, Any] = {"usage": usage, "cost": 0.1 + 0.2, "seconds": 1 / 3, "finish_reason": "stop"}
    return ChatReply(message={"role": "assistant", "content": text}, **defaults | fields)


def request(*texts: str, **fields: Any) -> ChatRequest:
    roles = ["system", *["user", "assistant"] * len(texts)]
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return ChatRequest(**{"model": "openai/m", "messages": messages} | fields)


def schema(name: str, description: str = "Look.") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": {}}}


async def forever(_: ChatRequest) -> str:
    await asyncio.Event().wait()
    raise AssertionError


async def never(_: ChatRequest) -> ChatReply:
    raise AssertionError("a replayed trial asked a model")


async def cancelled(call: Any) -> None:
    """Let a call begin, and give it up."""
    task = asyncio.ensure_future(call)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cassettes" / "lamp.trial-0.cassette"


def part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def recorded(path: Path, *requests: ChatRequest, role: Any = "agent", timed_out: bool = False) -> None:
    """A cassette of requests, each answered by ``answer N``."""
    ask = Scripted(*(f"answer {number}" for number in range(1, len(requests) + 1)))
    recorder = Recorder(path, WHOSE, fresh=True)

    async def record() -> None:
        for one in requests:
            await recorder.answer(role, one, ask)

    run(record())
    recorder.finish("timeout" if timed_out else "user_stop", None, TIMES, timed_out=timed_out)


def answers(tape: Any, *asked: tuple[Any, ChatRequest], ask: Any = never) -> list[ChatReply]:
    async def talk() -> list[ChatReply]:
        # What waits for ever fails.
        return [await asyncio.wait_for(tape.answer(role, one, ask), 10) for role, one in asked]

    return run(talk())


def error_lines(tape: Any, one: ChatRequest, role: Any = "agent") -> list[str]:
    """The lines of the error that a replayed request gives."""
    with pytest.raises(ReplayError) as caught:
        answers(tape, (role, one))
    return str(caught.value).splitlines()


# Recording and replaying


def test_what_was_recorded_is_replayed_to_the_byte_without_a_model(path: Path) -> None:
    asked = [
        ("agent", request("Policy.\nBe kind.", "Hello", tools=[schema("look")], tool_choice="auto")),
        ("user", request("Scenario", "Hi", args={"temperature": 0.0, "seed": 7})),
        ("agent", request("Policy.\nBe kind.", "Hello", "Hi", "A lamp", tools=[schema("look")], tool_choice="auto")),
        ("judge", request("Judge", response_format={"type": "json_object"})),
    ]
    script = [
        reply("One\n\ntwo ", seconds=0.1 + 0.7),
        reply("Zwei 🎈", cost=None, usage=None, finish_reason=None),
        ChatReply(message={"tool_calls": [{"id": "1", "function": {"arguments": '{"a": 1'}}], "role": "assistant"}),
        reply("{}", model="openai/m-2026", cost=1e-9),
    ]
    recorder = Recorder(path, WHOSE)
    first = answers(recorder, *asked, ask=Scripted(*script))
    recorder.finish("user_stop", None, TIMES)
    player = Player(path, WHOSE)
    second = answers(player, *asked)
    player.finish("user_stop", None, player.times)
    assert [one.model_dump_json() for one in second] == [one.model_dump_json() for one in script]
    assert [one.model_dump_json() for one in first] == [one.model_dump_json() for one in script]
    assert player.times == TIMES
    assert recorder.times == []


def test_replaying_imports_no_client(path: Path) -> None:
    recorded(path, request("Hello"))
    code = f"""
import asyncio, pathlib, sys
from pytest_tau.chat import ChatRequest, Identity, Player
player = Player(pathlib.Path({str(path)!r}), Identity("tiny", "lamp", 0, 7))
request = ChatRequest(model="openai/m", messages=[{{"role": "system", "content": "Hello"}}])
print(asyncio.run(player.answer("agent", request, None)).text, {{"litellm", "httpx", "openai"}} & {{*sys.modules}})
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "answer 1 set()\n"


def test_equal_requests_are_answered_in_their_order(path: Path) -> None:
    recorded(path, request("Again"), request("Again"), request("Again"))
    replayed = answers(Player(path, WHOSE), *[("agent", request("Again"))] * 3)
    assert [one.text for one in replayed] == ["answer 1", "answer 2", "answer 3"]


def test_calls_at_the_same_time_may_come_back_in_any_order(path: Path) -> None:
    gates = {"one": asyncio.Event, "two": asyncio.Event}

    async def record(order: list[str]) -> None:
        events = {name: make() for name, make in gates.items()}

        async def ask(one: ChatRequest) -> ChatReply:
            text = one.messages[0]["content"]
            await events[text].wait()
            return reply(f"answer to {text}")

        recorder = Recorder(path, WHOSE)
        tasks = [asyncio.ensure_future(recorder.answer("agent", request(name), ask)) for name in gates]
        for name in order:
            await asyncio.sleep(0)
            events[name].set()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        recorder.finish("user_stop", None, TIMES)

    run(record(["one", "two"]))
    in_order = path.read_text(encoding="utf-8")
    run(record(["two", "one"]))
    assert path.read_text(encoding="utf-8") == in_order
    replayed = answers(Player(path, WHOSE), ("agent", request("two")), ("agent", request("one")))
    assert [one.text for one in replayed] == ["answer to two", "answer to one"]


def test_what_a_participant_does_to_its_messages_is_not_recorded(path: Path) -> None:
    recorder = Recorder(path, WHOSE)
    sent = request("Policy", "Hello")
    got = answers(recorder, ("agent", sent), ask=Scripted("Hi"))[0]
    got.message["content"] = sent.messages[0]["content"] = "changed"
    sent.messages.append({"role": "user", "content": "more"})
    recorder.finish("user_stop", None, TIMES)
    assert answers(Player(path, WHOSE), ("agent", request("Policy", "Hello")))[0].text == "Hi"


def test_request_or_answer_that_is_not_json_is_reported(path: Path) -> None:
    recorder = Recorder(path, WHOSE, rerun_command=AGAIN)
    lines = error_lines(recorder, request("Hi", args={"stop": {"a"}}))
    assert "the agent is not valid JSON" in lines[0]
    assert "the arguments: Object of type set" in lines[0]
    assert lines[-1] == f"record again: {AGAIN}"
    bad = ChatReply(message={"content": object()})
    with pytest.raises(ReplayError, match="an answer to the agent is not valid JSON"):
        answers(recorder, ("agent", request("Hi")), ask=Scripted(bad))


# Secrets


def test_keys_and_headers_are_in_no_file_and_make_no_difference(path: Path) -> None:
    secrets = {
        "api_key": "S3CRET-1",
        "extra_headers": {"Authorization": "S3CRET-2"},
        "aws_secret_access_key": "S3CRET-3",
        "azure_ad_token": "S3CRET-4",
        "vertex_credentials": "S3CRET-5",
        "api_base": "http://S3CRET-6",
        "fallbacks": [{"model": "openai/n", "api_key": "S3CRET-7"}],
        "temperature": 0.5,
    }
    recorder = Recorder(path, WHOSE)
    answers(recorder, ("agent", request("Hi", args=secrets)), ask=Scripted("Hi"))
    assert "S3CRET" not in part(path).read_text(encoding="utf-8")
    recorder.finish("user_stop", None, TIMES)
    text = path.read_text(encoding="utf-8")
    assert "S3CRET" not in text
    assert '"temperature": 0.5' in text
    other = {"api_key": "another", "fallbacks": [{"model": "openai/n"}], "temperature": 0.5}
    assert answers(Player(path, WHOSE), ("agent", request("Hi", args=other)))[0].text == "Hi"


def test_no_secret_is_in_the_error_of_a_difference(path: Path) -> None:
    recorded(path, request("Hi"))
    lines = error_lines(
        Player(path, WHOSE), request("Ho", args={"api_key": "S3CRET", "extra_headers": {"x": "S3CRET"}})
    )
    assert "S3CRET" not in "\n".join(lines)


# Faults and endings


def test_an_overflow_of_the_context_window_is_replayed_as_it_was(path: Path) -> None:
    recorder = Recorder(path, WHOSE)
    script = Scripted(ContextWindowError("12 of 8\ntokens"), ModelError("too long", kind="context_window"))
    for text in ("12 of 8\ntokens", "too long"):
        with pytest.raises(ContextWindowError) as caught:
            answers(recorder, ("agent", request(text)), ask=script)
        assert str(caught.value) == text
    recorder.finish("context_window_exceeded", "12 of 8", TIMES)
    player = Player(path, WHOSE)
    for text in ("12 of 8\ntokens", "too long"):
        with pytest.raises(ContextWindowError) as caught:
            answers(player, ("agent", request(text)))
        assert str(caught.value) == text
    player.finish("context_window_exceeded", "12 of 8", TIMES)


@pytest.mark.parametrize("fault", [ModelError("down"), ModelError("no key", kind="authentication"), KeyError("bug")])
def test_other_faults_of_a_model_pass_through_and_leave_nothing(path: Path, fault: Exception) -> None:
    recorder = Recorder(path, WHOSE)
    with pytest.raises(type(fault)) as caught:
        answers(recorder, ("agent", request("Hi")), ask=Scripted(fault))
    assert caught.value is fault
    answers(recorder, ("agent", request("Hi")), ask=Scripted("Hi"))
    recorder.finish("user_stop", None, TIMES)
    player = Player(path, WHOSE)
    assert answers(player, ("agent", request("Hi")))[0].text == "Hi"
    player.finish("user_stop", None, TIMES)
    assert '"call": 1,' in path.read_text(encoding="utf-8")


def by_the_clock(path: Path) -> None:
    """A trial that the clock ended while the agent's second call was on its way."""

    async def record() -> None:
        recorder = Recorder(path, WHOSE)
        await recorder.answer("agent", request("one"), Scripted("1"))
        await recorder.answer("user", request("one"), Scripted("1"))
        await cancelled(recorder.answer("agent", request("two"), Scripted(forever)))
        await recorder.answer("judge", request("verdict?"), Scripted("no"))
        recorder.finish("timeout", "out of time", TIMES, timed_out=True)

    run(record())


def test_a_call_that_the_clock_cut_off_ends_the_replay_at_once(path: Path) -> None:
    by_the_clock(path)
    player = Player(path, WHOSE)
    answers(player, ("agent", request("one")), ("user", request("one")))
    with pytest.raises(RecordingEnded) as caught:
        answers(player, ("agent", request("two")))
    assert (caught.value.termination_reason, caught.value.error) == ("timeout", "out of time")
    answers(player, ("judge", request("verdict?")))
    player.finish("timeout", "out of time", TIMES, timed_out=True)


def test_a_call_after_the_end_of_a_trial_that_the_clock_ended_ends_the_replay(path: Path) -> None:
    recorded(path, request("one"), timed_out=True)
    player = Player(path, WHOSE)
    answers(player, ("agent", request("one")))
    for role in ("agent", "user"):
        with pytest.raises(RecordingEnded):
            answers(player, (role, request("two")))
    with pytest.raises(ReplayError, match="the judge makes one call more than the 0 calls of the recording"):
        answers(player, ("judge", request("verdict?")))


def test_a_blocking_call_that_outlives_the_trial_is_cut_off_too(path: Path) -> None:
    async def record() -> None:
        recorder = Recorder(path, WHOSE)
        left_behind = asyncio.ensure_future(recorder.answer("agent", request("one"), Scripted(forever)))
        await asyncio.sleep(0)
        recorder.finish("timeout", None, TIMES, timed_out=True)
        text = content()
        assert (await recorder.answer("agent", request("two"), Scripted("late"))).text == "late"
        recorder.abandon()
        left_behind.cancel()
        await asyncio.gather(left_behind, return_exceptions=True)
        assert content() == text

    def content() -> str:
        return path.read_text(encoding="utf-8")

    run(record())
    with pytest.raises(RecordingEnded):
        answers(Player(path, WHOSE), ("agent", request("one")))


def race(tape_of: Callable[[], Any], *, ask: Any, loser: Any) -> str:
    """An agent that asks two models, takes the first answer, and gives the other up; the clock ends the trial later."""

    async def trial() -> str:
        tape = tape_of()
        slow = asyncio.ensure_future(tape.answer("agent", request("slow"), loser))
        await asyncio.sleep(0)
        fast = asyncio.ensure_future(tape.answer("agent", request("fast"), ask))
        done, _ = await asyncio.wait([slow, fast], return_when=asyncio.FIRST_COMPLETED)
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        texts = [one.result().text for one in done]
        texts.append((await tape.answer("user", request("next"), ask)).text)
        tape.finish("timeout", None, TIMES, timed_out=True)
        return " ".join(texts)

    return run(trial())


def test_a_call_that_its_asker_gave_up_is_given_up_again(path: Path) -> None:
    first = race(lambda: Recorder(path, WHOSE), ask=Scripted("quick", "next"), loser=Scripted(forever))
    assert first == race(lambda: Player(path, WHOSE), ask=never, loser=never) == "quick next"
    assert '"unanswered": "given up"' in path.read_text(encoding="utf-8")


def test_call_abandoned_at_the_end_need_not_be_made(path: Path) -> None:
    async def record() -> None:
        recorder = Recorder(path, WHOSE)
        await cancelled(recorder.answer("agent", request("in passing"), Scripted(forever)))
        recorder.finish("user_stop", None, TIMES)

    run(record())
    assert '"unanswered": "given up"' in path.read_text(encoding="utf-8")
    Player(path, WHOSE).finish("user_stop", None, TIMES)


def test_a_recording_that_goes_on_is_an_error(path: Path) -> None:
    recorded(path, request("one"), request("two"), request("three"), role="user")
    player = Player(path, WHOSE, rerun_command=AGAIN)
    answers(player, ("user", request("one")))
    with pytest.raises(ReplayError) as caught:
        player.finish("agent_error", "KeyError", TIMES)
    assert str(caught.value).splitlines() == [
        f"{path}: the recording has more calls: 2 calls of the user were not made, from call 2 on",
        "the recorded trial ended with user_stop, this one with agent_error",
        f"record again: {AGAIN}",
    ]
    player.finish("agent_error", None, TIMES)  # reported once
    abandoned = Player(path, WHOSE)
    abandoned.abandon()
    abandoned.finish("user_stop", None, TIMES)


def test_difference_ignored_by_a_participant_is_reported_at_the_end(path: Path) -> None:
    recorded(path, request("one"))
    player = Player(path, WHOSE)
    lines = error_lines(player, request("other"))
    answers(player, ("agent", request("one")))
    with pytest.raises(ReplayError) as caught:
        player.finish("user_stop", None, TIMES)
    assert str(caught.value).splitlines() == lines


# Unfinished recordings


def test_an_abandoned_recording_is_continued_by_the_next(path: Path) -> None:
    recorder = Recorder(path, WHOSE)
    answers(recorder, ("agent", request("one")), ("user", request("one")), ask=Scripted("1", "2"))
    recorder.abandon()
    assert not path.exists()
    recorder, ask = Recorder(path, WHOSE), Scripted("3")
    asked = [("agent", request("one")), ("user", request("one")), ("agent", request("one", "two"))]
    first = answers(recorder, *asked, ask=ask)
    recorder.finish("user_stop", None, TIMES)
    assert (recorder.reused, [one.messages for one in ask.asked]) == (2, [request("one", "two").messages])
    assert [one.text for one in first] == ["1", "2", "3"]
    assert answers(Player(path, WHOSE), *asked) == first
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_recording_is_continued_more_than_once(path: Path) -> None:
    for script in (("1",), ("2",), ("3",)):
        recorder = Recorder(path, WHOSE)
        done = int(script[0])
        answers(recorder, *[("agent", request("Again", str(n))) for n in range(done)], ask=Scripted(*script))
        recorder.abandon()
    recorder = Recorder(path, WHOSE)
    asked = [("agent", request("Again", str(n))) for n in range(3)]
    assert [one.text for one in answers(recorder, *asked)] == ["1", "2", "3"]
    recorder.finish("user_stop", None, TIMES)
    assert [one.text for one in answers(Player(path, WHOSE), *asked)] == ["1", "2", "3"]


def test_calls_that_came_back_in_another_order_are_continued_in_that_of_their_starts(path: Path) -> None:
    async def attempt() -> None:
        recorder, first = Recorder(path, WHOSE), asyncio.Event()

        async def slowly(_: ChatRequest) -> str:
            await first.wait()
            return "1"

        slow = asyncio.ensure_future(recorder.answer("agent", request("Again"), Scripted(slowly)))
        await asyncio.sleep(0)
        await recorder.answer("agent", request("Again"), Scripted("2"))
        first.set()
        await slow
        recorder.abandon()

    run(attempt())
    recorder = Recorder(path, WHOSE)
    assert [one.text for one in answers(recorder, *[("agent", request("Again"))] * 2)] == ["1", "2"]


def test_calls_of_several_attempts_have_numbers_of_their_own(path: Path) -> None:
    recorder = Recorder(path, WHOSE)
    with pytest.raises(ModelError):
        answers(recorder, ("agent", request("down")), ask=Scripted(ModelError("down")))
    answers(recorder, ("agent", request("one")), ask=Scripted("1"))
    recorder.abandon()
    recorder = Recorder(path, WHOSE)
    answers(recorder, ("agent", request("two")), ask=Scripted("2"))
    recorder.abandon()
    lines = part(path).read_text(encoding="utf-8").splitlines()
    numbers = [line.split(",")[0] for line in lines if line.startswith('{"call"')]
    assert len(numbers) == len({*numbers}) == 2


def test_a_recording_that_was_killed_inside_a_character_is_continued(path: Path) -> None:
    recorder = Recorder(path, WHOSE)
    answers(recorder, ("agent", request("a")), ("agent", request("ß")), ask=Scripted("1", "2"))
    content = part(path).read_bytes()
    part(path).write_bytes(content[: content.index("ß".encode()) + 1])
    recorder = Recorder(path, WHOSE)
    assert [one.text for one in answers(recorder, ("agent", request("a")))] == ["1"]


@pytest.mark.parametrize("cut", range(2, 400, 23))
def test_a_recording_that_was_killed_is_continued_from_its_last_whole_call(path: Path, cut: int) -> None:
    asked = [("agent", request("Policy\nß", "1")), ("user", request("Scenario")), ("agent", request("Policy\nß", "2"))]
    recorder = Recorder(path, WHOSE)
    answers(recorder, *asked, ask=Scripted("1", "2", "3"))
    content = part(path).read_bytes()
    part(path).write_bytes(content[:-cut])
    recorder, ask = Recorder(path, WHOSE), Scripted(*["new"] * 3)
    answers(recorder, *asked, ask=ask)
    recorder.finish("user_stop", None, TIMES)
    assert recorder.reused + len(ask.asked) == 3
    assert len(ask.asked) >= 1
    assert len(answers(Player(path, WHOSE), *asked)) == 3


def test_calls_of_an_earlier_attempt_are_omitted_if_not_repeated(path: Path) -> None:
    recorder = Recorder(path, WHOSE)
    answers(recorder, ("agent", request("old")), ("agent", request("kept")), ask=Scripted("1", "2"))
    recorder.abandon()
    recorder = Recorder(path, WHOSE)
    answers(recorder, ("agent", request("kept")))
    recorder.finish("user_stop", None, TIMES)
    player = Player(path, WHOSE)
    answers(player, ("agent", request("kept")))
    player.finish("user_stop", None, TIMES)


@pytest.mark.parametrize("again", [{"fresh": True}, {"identity": Identity("tiny", "lamp", 0, 7, {"policy": "p2"})}])
def test_a_fresh_recording_or_one_of_a_changed_trial_asks_everything_anew(path: Path, again: dict[str, Any]) -> None:
    recorder = Recorder(path, WHOSE)
    answers(recorder, ("agent", request("one")), ask=Scripted("old"))
    recorder.abandon()
    recorder = Recorder(path, again.pop("identity", WHOSE), **again)
    assert answers(recorder, ("agent", request("one")), ask=Scripted("new"))[0].text == "new"
    assert recorder.reused == 0


def test_a_recording_without_calls_leaves_no_part(path: Path) -> None:
    recorder = Recorder(path, WHOSE)
    assert part(path).exists()
    recorder.abandon()
    assert list(path.parent.iterdir()) == []


def test_overflows_are_continued_and_calls_that_were_cut_off_are_made_again(path: Path) -> None:
    async def attempt(script: Scripted) -> Recorder:
        recorder = Recorder(path, WHOSE)
        with pytest.raises(ContextWindowError, match="too long"):
            await recorder.answer("agent", request("one"), script)
        return recorder

    async def record() -> None:
        recorder = await attempt(Scripted(ContextWindowError("too long")))
        await cancelled(recorder.answer("agent", request("two"), Scripted(forever)))
        recorder.abandon()
        recorder = await attempt(Scripted())
        assert (await recorder.answer("agent", request("two"), Scripted("2"))).text == "2"
        assert recorder.reused == 1

    run(record())


@pytest.mark.parametrize("obstacle", ["a folder in its place", "a file for a folder"])
def test_unwritable_place_is_reported_before_any_call(path: Path, obstacle: str) -> None:
    if obstacle == "a folder in its place":
        path.mkdir(parents=True)
    else:
        path.parent.write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"lamp\.trial-0\.cassette: the cassette cannot be written: \w+"):
        Recorder(path, WHOSE)


def test_a_recording_goes_where_it_was_meant_to_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path as APath

    monkeypatch.chdir(tmp_path)
    recorder = Recorder(APath("here.cassette"), WHOSE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    answers(recorder, ("agent", request("one")), ask=Scripted("1"))
    recorder.finish("user_stop", None, TIMES)
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["here.cassette"]


def test_a_failed_last_write_leaves_the_old_cassette_and_the_part(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path as APath

    recorded(path, request("one"))
    old = path.read_bytes()
    recorder = Recorder(path, WHOSE)
    answers(recorder, ("agent", request("one")), ask=Scripted("new"))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(APath, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            recorder.finish("user_stop", None, TIMES)
    assert path.read_bytes() == old
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name, part(path).name]


# Differences


def test_a_difference_begins_with_the_place_and_ends_with_the_command(path: Path) -> None:
    recorded(path, request("Policy", "Hello"), request("Policy", "Bye"))
    player = Player(path, WHOSE, rerun_command=AGAIN)
    answers(player, ("agent", request("Policy", "Hello")))
    assert error_lines(player, request("Policy", "Bye?")) == [
        f"{path}: call 2, of the agent, differs from the recorded one",
        'messages[1].content: recorded "Bye", now "Bye?"',
        f"record again: {AGAIN}",
    ]


def test_what_has_changed_of_the_trial_is_named(path: Path) -> None:
    recorded(path, request("Policy"))
    now = Identity("tiny", "lamp", 0, 8, {"policy": "p2", "agent tools": "t2", "task": "new"})
    assert error_lines(Player(path, now), request("Other"))[1:5] == [
        "the seed was 7 and is 8",
        "the agent tools have changed since the recording",
        "the policy has changed since the recording",
        "the task has changed since the recording",
    ]


@pytest.mark.parametrize(
    ("then", "now", "line"),
    [
        ({"model": "openai/m"}, {"model": "openai/n"}, 'model: recorded "openai/m", now "openai/n"'),
        ({"args": {"temperature": 0}}, {"args": {"temperature": 0.0}}, "args.temperature: recorded 0, now 0.0"),
        ({"args": {"logprobs": 1}}, {"args": {"logprobs": True}}, "args.logprobs: recorded 1, now true"),
        ({}, {"args": {"top_p": 0.9}}, "args.top_p: not recorded, now 0.9"),
        (
            {"args": {"stop": ["a", "b"]}},
            {"args": {"stop": ["a"]}},
            'args.stop[1]: recorded "b", not in the request now',
        ),
        ({}, {"tool_choice": "required"}, 'tool_choice: recorded null, now "required"'),
        (
            {"tools": [schema("look"), schema("add")]},
            {"tools": [schema("look"), schema("add", "Add.")]},
            'tools[1]: add.function.description: recorded "Look.", now "Add."',
        ),
        (
            {"tools": [schema("look"), schema("add")]},
            {"tools": [schema("add")]},
            f"tools[0]: look: recorded {json.dumps(schema('look'))}, not in the request now",
        ),
        (
            {"tools": [schema("look")]},
            {"tools": [schema("add")]},
            f"tools[0]: add: not recorded, now {json.dumps(schema('add'))}",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"strict": True}}},
            {"response_format": {"type": "json_schema", "json_schema": {"strict": False}}},
            "response_format.json_schema.strict: recorded true, now false",
        ),
        (
            {"messages": [{"role": "user", "content": "a\x1b[2J\u202eb\ud800"}]},
            {"messages": [{"role": "user", "content": "a"}]},
            r'messages[0].content: recorded "a\u001b[2J\u202eb\ud800", now "a"',
        ),
        (
            {"messages": [{"role": "user", "content": "a"}]},
            {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}]},
            'messages[0]: not recorded, now {"role": "system", "content": "s"}',
        ),
    ],
)
def test_each_part_of_a_request_is_compared(path: Path, then: Any, now: Any, line: str) -> None:
    recorded(path, request("Hi", **then))
    assert line in error_lines(Player(path, WHOSE), request("Hi", **now))


def test_keys_may_come_in_any_order(path: Path) -> None:
    recorded(path, request(messages=[{"role": "user", "content": "a"}], args={"top_p": 1, "n": 1}))
    other = request(messages=[{"content": "a", "role": "user"}], args={"n": 1, "top_p": 1})
    assert answers(Player(path, WHOSE), ("agent", other))[0].text == "answer 1"


def test_a_changed_text_of_several_lines_shows_as_a_small_difference(path: Path) -> None:
    policy = [f"Rule {number}: " + "be kind, " * 20 + "always" for number in range(200)]
    changed = [*policy]
    changed[57] = policy[57].replace("kind", "firm")
    changed[120] += " "
    changed[150:150] = ["A new rule."]
    recorded(path, request("\n".join(policy)))
    lines = error_lines(Player(path, WHOSE), request("\n".join(changed)))
    assert lines[1:6] == [
        "messages[0].content:",
        "  @@ line 57 @@",
        f"    {policy[56][:110]}…",
        f"  - {policy[57][:110]}…",
        f"  + {changed[57][:110]}…",
    ]
    assert [line for line in lines if line.endswith('always "')]
    assert len(lines) < 20
    assert all(len(line) < 160 for line in lines[1:])


@pytest.mark.parametrize(
    ("then", "now", "shown"),
    [
        ("Be kind.\nLook.\n", "Be kind.\nLook up.\n", ["  @@ line 1 @@", "    Be kind.", "  - Look.", "  + Look up."]),
        ("a\n\nb\nc", "a\n\nB\nc", ["  @@ line 3 @@", "  - b", "  + B", "    c"]),
        ("a\nb", "a\nb\n", ["  @@ line 2 @@", "    b", '  + ""']),
    ],
)
def test_an_empty_line_is_shown_only_if_it_differs(path: Path, then: str, now: str, shown: list[str]) -> None:
    recorded(path, request(then))
    assert error_lines(Player(path, WHOSE), request(now))[2:] == shown


def test_a_difference_late_in_a_long_line_is_shown_around_it(path: Path) -> None:
    recorded(path, request("x" * 5000 + "kind" + "y" * 5000))
    lines = error_lines(Player(path, WHOSE), request("x" * 5000 + "firm" + "y" * 5000))
    assert lines[1:] == [
        "messages[0].content:",
        "  recorded  …" + "x" * 40 + "kind" + "y" * 66 + "…",
        "  now       …" + "x" * 40 + "firm" + "y" * 66 + "…",
    ]


def test_a_text_that_was_written_anew_shows_both_sides(path: Path) -> None:
    recorded(path, request("\n".join(f"Old {n}." for n in range(40))))
    lines = error_lines(Player(path, WHOSE), request("\n".join(f"New {n}." for n in range(30))))
    assert lines[2:] == [
        "  @@ line 1 @@",
        *(f"  - Old {n}." for n in range(5)),
        "  - … 35 more lines",
        *(f"  + New {n}." for n in range(5)),
        "  + … 25 more lines",
    ]


def test_differences_are_bounded(path: Path) -> None:
    text = [f"{line}\n" for line in range(90)]
    changed = [f"new\n{line}" if place % 5 == 0 else line for place, line in enumerate(text)]
    one = [{"role": "user", "content": "".join(text) + str(n)} for n in range(100)]
    two = [{"role": "user", "content": "".join(changed) + str(n)} for n in range(100)]
    recorded(path, request(messages=one))
    lines = error_lines(Player(path, WHOSE), request(messages=two))
    assert len(lines) <= 40
    assert lines[-1].startswith("… and 9")
    assert any("more lines" in line for line in lines)


def test_a_call_more_than_was_recorded_is_shown(path: Path) -> None:
    recorded(path, request("one"))
    player = Player(path, WHOSE, rerun_command=AGAIN)
    answers(player, ("agent", request("one")))
    assert error_lines(player, request("one", "two")) == [
        f"{path}: the agent makes one call more than the 1 call of the recording",
        'messages[1]: {"role": "user", "content": "two"}',
        f"record again: {AGAIN}",
    ]


def test_a_cassette_that_is_missing_or_of_another_trial_is_refused(path: Path) -> None:
    with pytest.raises(ReplayError) as caught:
        Player(path, WHOSE, rerun_command=AGAIN)
    assert str(caught.value) == f"{path}: no recording of this trial\nrecord again: {AGAIN}"
    recorded(path, request("one"))
    with pytest.raises(ReplayError) as caught:
        Player(path, Identity("tiny", "lamp", 1, 7), rerun_command=AGAIN)
    assert str(caught.value).splitlines() == [
        f"{path}: is a recording of trial 0 of task 'lamp' of tiny; this is trial 1 of task 'lamp' of tiny",
        f"record again: {AGAIN}",
    ]
