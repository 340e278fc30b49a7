"""Conversations in ticks: speech takes time, both sides can speak at once, and what comes of it is graded as ever."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.capabilities.voice import capability
from pytest_tau.capabilities.voice.facts import VoiceFacts
from pytest_tau.capabilities.voice.participants import Manners, Say, TickAgent
from pytest_tau.capabilities.voice.talk.conditions import (
    Conditions,
    Effects,
    EffectSchedule,
    conditions_of,
    heard_through,
    sampled,
    stored_conditions,
)
from pytest_tau.capabilities.voice.talk.speech import Mouth, Pace
from pytest_tau.capabilities.voice.talk.timeline import Timeline
from pytest_tau.chat import LLM, ChatReply
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import AssistantMessage, UserMessage
from pytest_tau.testing import ScriptedParticipant as Script, call

from .tiny import action, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.chat import ChatRequest
    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})
RENAME = call("rename", item_id="lamp", name="Light")
LONG = "It costs " + "a great deal of money and " * 8 + "that is all."


def settings_with(conditions: str = "control", **options: Any) -> SimulationSettings:
    given = {"mode": "voice", "voice_conditions": conditions, **options}
    return SimulationSettings(capabilities=(capability.with_settings(**given),))


def talk(domain: Domain, agent: Any, user: Any, conditions: str = "control", **options: Any) -> Simulation:
    wanted = options.pop("wanted", WANTED)
    settings = settings_with(conditions, **options)
    return pytest_tau.simulate(wanted, domain=domain, agent=agent, user=user, seed=3, settings=settings)


def facts_of(found: Simulation) -> tuple[VoiceFacts, Timeline]:
    facts = capability.read(found.facts)
    assert isinstance(facts, VoiceFacts)
    assert facts.timeline is not None
    return facts, facts.timeline


def said(found: Simulation) -> list[tuple[str, str]]:
    return [(each.role, each.content or "") for each in found.messages if each.content and each.role != "tool"]


def test_chunks_are_the_words_in_the_ticks_in_which_they_begin() -> None:
    chunks = Pace(rate=2.5).chunks("Good morning, how are you?")
    assert chunks == ["Good ", "", "morning, ", "", "", "how ", "", "are ", "", "you?", ""]
    assert len(Pace(rate=5.0).chunks("Good morning, how are you?")) < len(chunks)


def test_what_is_spelled_takes_longer_than_a_word() -> None:
    assert len(Pace().chunks("#W5744371")) > 3 * len(Pace().chunks("order"))


def test_an_utterance_is_what_was_said_until_it_was_cut_off() -> None:
    mouth = Mouth(Pace())
    mouth.say("one two three")
    assert [mouth.speak(tick) for tick in range(3)] == ["one ", "", "two "]
    mouth.hush(3)
    assert [tuple(each) for each in mouth.over] == [(0, 3, "one two", "three")]
    assert mouth.speak(3) is None
    assert len(mouth.over) == 1


def test_the_trajectory_is_that_of_the_turns(domain: Domain) -> None:
    found = talk(domain, Script([RENAME, "It is renamed."]), Script(["Rename the lamp.", "Thanks. ###STOP###"]))
    assert said(found) == [
        ("assistant", "Hi! How can I help you today?"),
        ("user", "Rename the lamp."),
        ("assistant", "It is renamed."),
        ("user", "Thanks. ###STOP###"),
    ]
    assert (found.reward, found.termination_reason, found.stop_token) == (1.0, "user_stop", "###STOP###")
    facts, timeline = facts_of(found)
    greeting, request, answer, stop = timeline.utterances
    assert (greeting.start, greeting.message_idx, stop.message_idx) == (0, 0, 5)
    # After more than a second of silence and more than five since the user's last word: at the beginning it had none.
    assert request.start == max(greeting.end + 6, 26)
    # Silence of 0.4 s, 0.6 s until there is an answer, the time of the call, and 0.6 s again.
    (made,) = timeline.calls
    assert made.start == request.end + 5
    assert answer.start == made.end + 3
    assert facts.response_latencies == [pytest.approx((answer.start - request.end) * 0.2)]
    assert facts.after_calls == [0]


def test_messages_have_the_costs_of_their_replies(domain: Domain) -> None:
    called = AssistantMessage(tool_calls=RENAME["tool_calls"], cost=0.25)
    agent = Script([called, AssistantMessage(content="It is renamed.", cost=0.5)])
    user = Script([UserMessage(content="Rename the lamp.", cost=0.125), "Thanks. ###STOP###"])
    found = talk(domain, agent, user)
    costs = [(each.role, getattr(each, "cost", None)) for each in found.messages]
    assert costs[1:5] == [("user", 0.125), ("assistant", 0.25), ("tool", None), ("assistant", 0.5)]


def test_a_conversation_is_the_same_each_time_and_another_by_another_seed(domain: Domain) -> None:
    def facts(seed: int) -> Any:
        user, agent = Script(["Rename the lamp and tell me more.", "Go on.", "###STOP###"]), Script([LONG, LONG])
        settings = settings_with("regular")
        found = pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=user, seed=seed, settings=settings)
        return found.facts

    assert facts(3) == facts(3)
    assert len({str(facts(seed)) for seed in range(4)}) > 1


class Patient(TickAgent):
    """Renames the lamp as soon as it hears of it, then speaks until it is interrupted."""

    heard: str = ""

    def __init__(self, tools: Any, policy: str) -> None:
        self.asked = False
        assert tools
        assert policy

    def tick(self, heard: Any) -> Any:
        self.heard += heard.text
        if "lamp" in self.heard and not self.asked:
            self.asked = True
            return Say(calls=[RENAME["tool_calls"][0]])
        if heard.results is not None:
            assert heard.results.requestor == "assistant"
            return "It is renamed."
        return Say(stop="bye" in self.heard)


def test_an_agent_that_ticks_has_the_rights_of_any_other(domain: Domain) -> None:
    found = talk(domain, Patient, Script(["Rename the lamp now, please, as I said.", "bye"]))
    assert (found.reward, found.termination_reason) == (1.0, "agent_stop")
    _, timeline = facts_of(found)
    (made,), request = timeline.calls, timeline.utterances[1]
    assert request.start < made.start < request.end  # it has called while the user was still speaking
    assert timeline.utterances[2].start < request.end


def test_what_an_agent_that_ticks_raises_is_its_failure(domain: Domain) -> None:
    class Broken(TickAgent):
        def tick(self, heard: Any) -> Any:
            if heard.tick == 5:
                raise RuntimeError("lost the line")

    class Wrong(TickAgent):
        def tick(self, heard: Any) -> Any:
            return 7

    found = talk(domain, Broken, Script(["Hello."]))
    assert (found.termination_reason, found.reward) == ("agent_error", 0.0)
    assert "lost the line" in (found.error or "")
    assert said(found) == [("assistant", "Hi! How")]  # what it had said by then
    wrong = talk(domain, Wrong, Script(["Hello."]))
    assert "tick() returned int 7; expected a Say, a text or None" in (wrong.error or "")


def test_an_agent_that_ticks_needs_the_mode(domain: Domain) -> None:
    found = pytest_tau.simulate(WANTED, domain=domain, agent=Patient, user=Script(["Hello."]))
    assert "Patient speaks in ticks: add --tau-mode voice" in (found.error or "")


class Interrupting(TickAgent):
    """Speaks at once and without an end, whoever speaks."""

    greeting = "Good morning."

    def tick(self, heard: Any) -> Any:
        return None if heard.left else LONG


def test_a_user_yields_to_an_agent_that_talks_over_them(domain: Domain) -> None:
    found = talk(domain, Interrupting, Script(["Hello.", "Hello again."]), voice_seconds=60.0)
    facts, _ = facts_of(found)
    assert found.termination_reason == "max_steps"
    assert found.error == "no end after 60 s of talk"
    assert facts.agent_interruptions == 0  # the user never gets a word in
    assert [side for side, _ in said(found)] == ["assistant"]


def test_a_silent_agent_is_asked_twice_and_then_given_up(domain: Domain) -> None:
    class Mute(TickAgent):
        def tick(self, heard: Any) -> Any:
            return None

    found = talk(domain, Mute, Script(["Rename the lamp."]))
    assert [text for side, text in said(found) if side == "user"] == [
        "Rename the lamp.",
        "Hello? Are you still there?",
        "Hello? Can you hear me?",
        "I will call again later. ###STOP###",
    ]
    assert found.termination_reason == "user_stop"
    assert facts_of(found)[0].metrics["response_rate"] == 0.0


def test_an_interrupted_agent_stops_and_is_told_what_it_had_said(domain: Domain) -> None:
    agent = Script([f"Do you want it? {LONG}", "Fine."])
    found = talk(domain, agent, Script(["Tell me about it.", "Yes, I do.", "###STOP###"]), "regular")
    facts, timeline = facts_of(found)
    cut = timeline.utterances[2]
    assert cut.rest
    assert said(found)[2] == ("assistant", cut.text)
    reminded = agent.received[1].content
    assert reminded.startswith('[You were interrupted after: "')
    assert reminded.endswith('"] Yes, I do.')
    assert facts.metrics["yield_rate"] == 1.0


def test_an_agent_that_never_yields_says_all_of_it(domain: Domain) -> None:
    class Rude(Script):
        manners = Manners(yields=False)

    agent = Rude([f"Do you want it? {LONG}", "Fine."])
    found = talk(domain, agent, Script(["Tell me about it.", "Yes, I do.", "###STOP###"]), "regular")
    facts, timeline = facts_of(found)
    assert timeline.utterances[2].side == "user"  # theirs was over before
    assert all(not each.rest for each in timeline.utterances)
    assert facts.metrics["yield_rate"] == 0.0
    assert facts.faults[0].kind == "no_yield"


class Streaming:
    """Says a text piece by piece, and notes which pieces were wanted."""

    manners = Manners(reminder=False)

    def __init__(self, pieces: list[str], *, in_threads: bool) -> None:
        self.pieces, self.in_threads, self.wanted, self.closed = pieces, in_threads, [], False

    def respond(self, message: Any) -> Any:
        del message
        if self.wanted:
            return "Fine."
        return self.sync() if self.in_threads else self.asynchronous()

    def sync(self) -> Any:
        try:
            for piece in self.pieces:
                self.wanted.append(piece)
                yield piece
        finally:
            self.closed = True

    async def asynchronous(self) -> Any:
        for piece in self.sync():
            yield piece

    def is_stop(self, message: Any) -> bool:
        return bool(message.content.endswith("Goodbye."))


def pieces_of(text: str) -> list[str]:
    return [text[at : at + 5] for at in range(0, len(text), 5)]


@pytest.mark.parametrize("in_threads", [True, False])
def test_a_stream_is_spoken_as_it_comes_in_the_time_of_the_whole_text(domain: Domain, in_threads: bool) -> None:
    text = f"{LONG} Your id is AB12-9, by the way: note it, please. Goodbye."
    streamed = Streaming(pieces_of(text), in_threads=in_threads)
    found, whole = (talk(domain, agent, Script(["Hello."])) for agent in (streamed, Whole(text)))
    assert facts_of(found)[1] == facts_of(whole)[1]
    assert said(found)[-1] == ("assistant", text)
    assert found.termination_reason == whole.termination_reason == "agent_stop"
    assert streamed.wanted == streamed.pieces
    assert streamed.closed


class Whole:
    manners = Streaming.manners
    is_stop = Streaming.is_stop

    def __init__(self, text: str) -> None:
        self.text = text

    def respond(self, message: Any) -> str:
        del message
        return self.text


@pytest.mark.parametrize("in_threads", [True, False])
def test_what_is_left_of_a_stream_is_not_wanted_after_an_interruption(domain: Domain, in_threads: bool) -> None:
    agent = Streaming([f"{word} " for word in f"Do you want it? {LONG}".split()], in_threads=in_threads)
    found = talk(domain, agent, Script(["Tell me about it.", "Yes, I do.", "###STOP###"]), "regular")
    spoken = next(text for _, text in said(found) if text.startswith("Do you"))
    assert "".join(agent.wanted).startswith(spoken)
    assert len(agent.wanted) <= len(spoken.split()) + 2 < len(agent.pieces)
    assert agent.closed


def test_a_stream_that_breaks_off_is_the_failure_of_the_agent(domain: Domain) -> None:
    agent = Streaming(["Good ", "morning, ", 7], in_threads=True)  # type: ignore[list-item]
    found = talk(domain, agent, Script(["Hello."]))
    assert found.termination_reason == "agent_error"
    assert "expected pieces of text" in (found.error or "")
    assert said(found)[-1] == ("assistant", "Good morning,")


def test_no_conversation_is_continued_in_ticks(domain: Domain) -> None:
    begun = task({}, initial_state={"message_history": [{"role": "assistant", "content": "Hi"}]})
    with pytest.raises(ConfigurationError, match="cannot be used for a conversation that has begun"):
        talk(domain, Script(["Hi"]), Script(["Hi"]), wanted=begun)


def test_stored_conditions_of_a_task_come_before_drawn_ones(tmp_path: Path) -> None:
    file = tmp_path / "tasks_voice.json"
    assert stored_conditions(file) == {}
    file = tmp_path / "other.json"
    file.write_text('{"configs": {"a": {"configs": {"regular": {"persona_name": "wei_lin"}}}, "b": {"control": {}}}}')
    stored = stored_conditions(file)
    assert conditions_of("regular", stored["a"], 1).persona_name == "wei_lin"
    assert conditions_of("control", stored["a"], 1) == sampled("control", 1)
    assert conditions_of("control", stored["b"], 1).complexity == "control"
    with pytest.raises(ConfigurationError, match="voice conditions 'regular'"):
        conditions_of("regular", {"regular": {"persona_config": 7}}, 1)


def test_an_ablation_is_control_with_parts_of_regular() -> None:
    regular, control, behavior = (sampled(name, 5) for name in ("regular", "control", "control_behavior"))
    assert (regular.interrupts, control.interrupts, behavior.interrupts) == (True, False, True)
    assert behavior.speech_effects_config == regular.speech_effects_config
    assert behavior.channel_effects_config == control.channel_effects_config
    assert sampled("control_audio", 5).channel_effects_config.frame_drop_rate == 0.005


def test_effects_come_as_often_as_the_conditions_say() -> None:
    schedule, ticks = EffectSchedule(Conditions(), 7, 0.2), 60_000
    found = [schedule.tick(user_speaks=False) for _ in range(ticks)]
    minutes = ticks * 0.2 / 60
    assert sum(each.insert is not None for each in found) / minutes == pytest.approx(0.7, rel=0.2)
    # A state lasts a tick at least, so that more is lost than the 2 % of the conditions: as in the reference.
    leave_good, leave_bad = 1 - exp(-10 * 0.02 / 0.18 * 0.2), 1 - exp(-10 * 0.2)
    expected = 0.2 * leave_good / (leave_good + leave_bad)
    assert sum(each.lost for each in found) / ticks == pytest.approx(expected, rel=0.1)
    none = EffectSchedule(sampled("control", 1), 7, 0.2)
    assert not any(any(none.tick(user_speaks=False)) for _ in range(1000))


def test_words_are_lost_or_joined() -> None:
    lost = next(each for each in _lossy() if each.lost and not each.joins)
    joined = next(each for each in _lossy() if each.joins)
    assert (heard_through("order ", lost), heard_through("order ", joined)) == ("", "order")
    assert heard_through("order ", Effects()) == "order "


def _lossy() -> Any:
    schedule = EffectSchedule(Conditions(), 7, 0.2)
    return (schedule.tick(user_speaks=True) for _ in range(10_000))


class UserModel:
    """Plays the user, and decides when to interrupt: as soon as it has heard the word ``deal``."""

    def __init__(self) -> None:
        self.replies = iter(["Tell me about it.", "Stop, that is enough.", "Bye. ###STOP###"])
        self.asked: list[str] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        last = request.messages[-1]["content"]
        if "Answer with YES or NO only." not in last:
            return ChatReply(message={"role": "assistant", "content": next(self.replies)})
        self.asked.append(last)
        wants = "interrupt" in last.partition("\n")[0] and "deal" in last.splitlines()[-1]
        return ChatReply(message={"role": "assistant", "content": "yes " if wants else "no"})


def test_a_model_that_plays_the_user_decides_when_to_interrupt(domain: Domain) -> None:
    model = UserModel()
    settings = replace(settings_with("regular"), llms={"user": LLM("m", model)})
    agent = Script([LONG, "Fine."])
    found = pytest_tau.simulate(WANTED, domain=domain, agent=agent, user="llm", seed=3, settings=settings)
    facts, timeline = facts_of(found)
    assert facts.metrics["yield_rate"] == 1.0
    assert timeline.utterances[2].rest
    assert said(found)[3] == ("user", "Stop, that is enough.")
    first = next(each for each in model.asked if "USER:" in each).splitlines()
    assert first[-3:-1] == [
        "AGENT: Hi! How can I help you today?",
        "USER: Tell me about it.",
    ]
    assert first[-1].startswith("AGENT: It costs a great deal")
    assert first[-1].endswith(" [still speaking]")
