from __future__ import annotations

import functools
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.chat import LLM, TrialModels
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import AssistantMessage, MultiToolMessage, SystemMessage, ToolCall, ToolMessage, UserMessage
from pytest_tau.participants import ParticipantContext, adapt, chat_messages
from pytest_tau.participants.adapters import check_form
from pytest_tau.participants.agents import NoopAgent
from pytest_tau.participants.chat_format import visible_to
from pytest_tau.participants.containment import ForeignError
from pytest_tau.testing import ScriptedParticipant, call as reply_call

from .tiny import STOP, TinyTools, agent, call, run, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

GREETING = AssistantMessage(content="Hi! How can I help you today?")
TOOLS = list(TinyTools.tools().values())[:2]
WANTED = task()


def context(side: str = "agent", **fields: Any) -> ParticipantContext:
    defaults: dict[str, Any] = {
        "tools": TOOLS,
        "instructions": "The policy.",
        "task": WANTED,
        "seed": 7,
        "history": [GREETING],
    }
    return ParticipantContext(side=side, **defaults | fields)  # type: ignore[arg-type]


def replies(target: Any, *messages: Any, side: str = "agent", **fields: Any) -> list[Any]:
    """What a target answers to messages, one after the other."""

    async def talk() -> list[Any]:
        participant = await adapt(target, context(side, **fields))
        try:
            return [await participant.respond(message) for message in messages]
        finally:
            await participant.close()

    return run(talk())


def simulate(domain: Domain, wanted: Any, agent: Any, user: Any = None) -> Simulation:
    return pytest_tau.simulate(
        wanted, domain=domain, agent=agent, user=user or ScriptedParticipant(["Go.", "###STOP###"])
    )


# The first form


class Everything:
    """Has all parameters that a constructor may have."""

    seen: dict[str, Any] = {}

    def __init__(self, tools, policy, domain_policy, task, seed, model, llm, llm_args, history) -> None:  # noqa: PLR0917
        type(self).seen = {key: value for key, value in locals().items() if key != "self"}

    def respond(self, message: Any) -> str:
        return "Hi"


def test_a_class_gets_what_its_signature_asks_for() -> None:
    args = {"temperature": 0}
    models = TrialModels({"agent": LLM("gpt", None, args)})  # type: ignore[arg-type]
    assert replies(Everything, user("Hello"), models=models) == [agent("Hi")]
    assert Everything.seen.pop("model").name == "gpt"
    assert Everything.seen == {
        "tools": TOOLS,
        "policy": "The policy.",
        "domain_policy": "The policy.",
        "task": WANTED,
        "seed": 7,
        "llm": "gpt",
        "llm_args": args,
        "history": [GREETING],
    }


def test_a_class_may_ask_for_little_or_take_everything() -> None:
    class Little:
        def __init__(self, policy: str, more: int = 3) -> None:
            self.told = f"{policy} {more}"

        def respond(self, message: Any) -> str:
            return self.told

    class Greedy(Little):
        def __init__(self, **kwargs: Any) -> None:
            self.told = " ".join(sorted(kwargs))

    class Nothing:
        def respond(self, message: Any) -> str:
            return "nothing"

    assert replies(Little, user("Hello")) == [agent("The policy. 3")]
    assert replies(Nothing, user("Hello")) == [agent("nothing")]
    assert replies(Greedy, user("Hello")) == [agent("domain_policy history llm llm_args model policy seed task tools")]


class WithClient:
    """An agent whose client somebody else has made."""

    greeting = "Good morning"

    def __init__(self, client: str, tools: Any, policy: str) -> None:
        self.said = f"{client} {len(tools)} {policy}"

    def respond(self, message: Any) -> str:
        return self.said


@pytest.mark.parametrize(
    "partial",
    [
        functools.partial(WithClient, "the client"),
        functools.partial(WithClient, client="the client"),
        functools.partial(functools.partial(WithClient), "the client"),
    ],
)
def test_a_partial_of_a_class_is_built_with_the_rest_of_its_arguments(partial: Any, domain: Domain) -> None:
    assert replies(partial, user("Hello")) == [agent(f"the client {len(TOOLS)} The policy.")]
    simulation = pytest_tau.simulate(task(), domain=domain, agent=partial, user=ScriptedParticipant([STOP]))
    assert simulation.messages[0].content == "Good morning"


def test_an_argument_of_a_partial_is_not_replaced() -> None:
    assert replies(functools.partial(WithClient, "c", policy="mine"), user("Hello")) == [agent(f"c {len(TOOLS)} mine")]


def test_a_partial_that_lacks_an_argument_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="WithClient cannot be created: its constructor needs 'client'"):
        replies(functools.partial(WithClient))


def test_user_gets_instructions_instead_of_a_policy() -> None:
    class User:
        def __init__(self, instructions: str, tools: Any) -> None:
            self.told = f"{instructions} {len(tools)}"

        def respond(self, message: Any) -> str:
            return self.told

    assert replies(User, GREETING, side="user", instructions="You want something.") == [user("You want something. 2")]


def test_respond_may_be_async_and_may_return_what_is_awaitable() -> None:
    class Async:
        async def respond(self, message: Any) -> str:
            return f"async {message.content}"

    class Lazy:
        def respond(self, message: Any) -> Any:
            return Async().respond(message)

    assert replies(Async, user("a"), user("b")) == [agent("async a"), agent("async b")]
    assert replies(Lazy, user("a")) == [agent("async a")]


def test_an_instance_is_used_as_it_is() -> None:
    scripted = ScriptedParticipant(["one", {"content": "two"}, agent(call("look"))])
    given = [user("a"), user("b"), ToolMessage(content="c")]
    assert replies(scripted, *given) == [agent("one"), agent("two"), agent(call("look"))]
    assert scripted.received == given


@pytest.mark.parametrize("side", ["agent", "user"])
def test_constructor_with_unknown_parameters_is_reported_before_anything_runs(side: str) -> None:
    class Odd:
        def __init__(self, tools: Any, engine: str) -> None:
            raise AssertionError("never built")

        def respond(self, message: Any) -> str:
            return ""

    with pytest.raises(ConfigurationError, match=f"Odd cannot be created: its constructor needs 'engine'; an? {side}"):
        replies(Odd, side=side)


def test_a_user_cannot_ask_for_the_policy() -> None:
    with pytest.raises(ConfigurationError, match="needs 'policy'"):
        replies(type("Odd", (), {"__init__": lambda self, policy: None, "respond": None}), side="user")


# The second form


class Recorder:
    """A function of the conversation and the tools that remembers what it was given."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.messages, self.tools = iter(answers), [], None

    def __call__(self, messages: Any, tools: Any) -> Any:
        self.messages.append(messages)
        self.tools = tools
        return next(self.answers)


def chat(recorder: Recorder) -> list[tuple[str, Any]]:
    """The last conversation that it was given."""
    return [(m["role"], m.get("content") or m.get("tool_calls")) for m in recorder.messages[-1]]


def openai_call(name: str, arguments: str, call_id: str = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_function_gets_the_policy_the_history_and_the_tools_in_chat_format() -> None:
    recorder = Recorder("Hi", {"tool_calls": [openai_call("look", '{"item_id": "lamp"}')]}, "Done")
    replies(recorder, user("Hello"), user("Look"), ToolMessage(id="c1", content="a lamp"))
    assert recorder.tools == [tool.openai_schema for tool in TOOLS]
    assert recorder.messages[0] == [
        {"role": "system", "content": "The policy."},
        {"role": "assistant", "content": GREETING.content},
        {"role": "user", "content": "Hello"},
    ]
    assert recorder.messages[2][3:] == [
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": None, "tool_calls": [openai_call("look", '{"item_id": "lamp"}')]},
        {"role": "tool", "tool_call_id": "c1", "content": "a lamp"},
    ]


def test_several_results_are_several_chat_messages() -> None:
    recorder = Recorder({"tool_calls": [openai_call("look", "{}", "a"), openai_call("look", "{}", "b")]}, "Done")
    results = MultiToolMessage(tool_messages=[ToolMessage(id="a", content="1"), ToolMessage(id="b", content="2")])
    replies(recorder, user("Hello"), results)
    assert [m.get("tool_call_id") for m in recorder.messages[-1][-2:]] == ["a", "b"]


def test_what_a_function_is_given_is_its_own() -> None:
    class Vandal(Recorder):
        def __call__(self, messages: Any, tools: Any) -> Any:
            answer = super().__call__(json.loads(json.dumps(messages)), tools)
            messages.clear()
            tools[0]["function"]["name"] = "broken"
            return answer

    vandal = Vandal("a", "b")
    replies(vandal, user("one"), user("two"))
    assert [content for _, content in chat(vandal)] == ["The policy.", GREETING.content, "one", "a", "two"]
    assert TOOLS[0].openai_schema["function"]["name"] == "look"


def test_a_user_s_function_sees_itself_as_the_assistant() -> None:
    recorder = Recorder("I want something", {"tool_calls": [openai_call("switch", "{}")]}, "Thanks")
    on = ToolMessage(id="c1", content="on", requestor="user")
    made = replies(recorder, GREETING, agent("Switch it on"), on, side="user", instructions="You want something.")
    assert chat(recorder)[:4] == [
        ("system", "You want something."),
        ("user", GREETING.content),
        ("assistant", "I want something"),
        ("user", "Switch it on"),
    ]
    assert chat(recorder)[-1] == ("tool", "on")
    assert made[1] == user(ToolCall(id="c1", name="switch", requestor="user"))


def test_a_malformed_call_goes_back_as_it_came() -> None:
    recorder = Recorder({"tool_calls": [openai_call("look", "{oops")]}, "Sorry")
    replies(recorder, user("Look"), ToolMessage(id="c1", content="Error", error=True))
    assert recorder.messages[-1][-2]["tool_calls"] == [openai_call("look", "{oops")]


HISTORY = [
    user("First"),
    agent(ToolCall(id="a1", name="look", arguments={"item_id": "lamp"})),
    ToolMessage(id="a1", content="a lamp"),
    agent("Switch it on"),
    user(ToolCall(id="u1", name="switch")),
    ToolMessage(id="u1", content="on", requestor="user"),
    user("Done"),
]


def test_a_class_gets_a_copy_of_the_history_that_its_side_sees() -> None:
    class Agent:
        given: list[Any] = []

        def __init__(self, history: list[Any]) -> None:
            type(self).given = history

        def respond(self, message: Any) -> str:
            return "Hi"

    replies(Agent, HISTORY[-1], history=HISTORY)
    assert Agent.given == HISTORY[:4]  # the user's calls are its own
    assert not any(one is other for one in Agent.given for other in HISTORY)


def test_arguments_of_models_are_copies() -> None:
    args = {"extra_body": {"top_k": 1}}
    models = TrialModels({"agent": LLM("gpt", None, args)})  # type: ignore[arg-type]
    replies(Everything, user("Hello"), models=models)
    Everything.seen["llm_args"]["extra_body"]["top_k"] = 2
    Everything.seen["model"].args["extra_body"]["top_k"] = 3
    Everything.seen["tools"][0].parameters.clear()
    assert args == {"extra_body": {"top_k": 1}}
    assert TOOLS[0].parameters


def test_function_continues_a_history_and_gets_each_message_once() -> None:
    recorder = Recorder("Fine", "Bye")
    replies(recorder, HISTORY[-1], user("More"), history=HISTORY)
    assert [role for role, _ in chat(recorder)] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert [content for _, content in chat(recorder)[4:]] == ["Switch it on", "Done", "Fine", "More"]


PENDING = [user("Look"), agent(ToolCall(id="a1", name="look", arguments={"item_id": "lamp"}))]


def test_a_function_whose_call_waits_for_its_result_knows_the_call() -> None:
    """In chat format a result without its call is refused by every provider."""
    recorder = Recorder("A lamp.")
    replies(recorder, ToolMessage(id="a1", content="a lamp"), history=PENDING)
    assert [role for role, _ in chat(recorder)] == ["system", "user", "assistant", "tool"]
    assert recorder.messages[0][2]["tool_calls"][0]["id"] == "a1"


def test_a_stateful_agent_whose_call_waits_for_its_result_knows_the_call() -> None:
    Stateful.made.clear()
    replies(Stateful, ToolMessage(id="a1", content="a lamp"), history=PENDING)
    assert Stateful.made[0].history == PENDING


def test_a_greeting_of_the_agent_s_own_is_the_only_one_that_the_user_reads(domain: Domain) -> None:
    class Polite:
        greeting = "Good morning."

        def respond(self, message: Any) -> str:
            return "Bye"

    recorder = Recorder("###STOP###")
    simulation = simulate(domain, WANTED, Polite, recorder)
    assert simulation.messages[0].content == "Good morning."
    assert chat(recorder)[1:] == [("user", "Good morning.")]


# The third form


class Stateful:
    """Has the interface of τ²-bench's agents; its state is the list of messages that it received."""

    made: list[Stateful] = []

    def __init__(self, tools: Any, domain_policy: str) -> None:
        self.tools, self.policy, self.seeds = tools, domain_policy, []
        self.history: Any = None
        self.told: list[Any] = []
        type(self).made.append(self)

    def set_seed(self, seed: int) -> None:
        self.seeds.append(seed)

    def get_init_state(self, message_history: Any = None) -> list[Any]:
        self.history = list(message_history or [])
        return list(self.history)

    def generate_next_message(self, message: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        reply = AssistantMessage(content=f"reply {len(state)}")
        self.told = [*state, message, reply]
        return reply, self.told


class StatefulUser(Stateful):
    made: list[Stateful] = []

    def __init__(self, tools: Any, instructions: str) -> None:
        super().__init__(tools, instructions)

    def generate_next_message(self, message: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        reply = UserMessage(content="###STOP###" if state else "Please")
        self.told = [*state, message, reply]
        return reply, self.told


def test_a_stateful_agent_is_built_seeded_and_keeps_its_state() -> None:
    Stateful.made.clear()
    first, second = replies(Stateful, user("a"), user("b"), history=[])
    (only,) = Stateful.made
    assert (only.tools, only.policy, only.seeds) == (TOOLS, "The policy.", [7])
    assert (first.content, second.content) == ("reply 0", "reply 2")
    assert [message.content for message in only.told] == ["a", "reply 0", "b", "reply 2"]


def test_a_stateful_agent_without_a_seed_gets_none() -> None:
    Stateful.made.clear()
    replies(Stateful, user("a"), seed=None)
    assert Stateful.made[0].seeds == []


def test_its_functions_may_be_async() -> None:
    class Async:
        async def get_init_state(self, message_history: Any = None) -> int:
            return 1

        async def generate_next_message(self, message: Any, state: int) -> tuple[str, int]:
            return f"{message.content} {state}", state + 1

    assert replies(Async(), user("a"), user("b")) == [agent("a 1"), agent("b 2")]


def test_it_sees_its_side_of_the_history(domain: Domain) -> None:
    assert visible_to("agent", HISTORY) == [HISTORY[0], HISTORY[1], HISTORY[2], HISTORY[3], HISTORY[6]]
    assert visible_to("user", HISTORY) == [HISTORY[0], *HISTORY[3:]]
    mixed = user("Wait", call("switch"))
    assert visible_to("agent", [SystemMessage(content="x"), mixed]) == []


def contents(messages: list[Any]) -> list[Any]:
    return [getattr(message, "content", None) for message in messages]


def test_stateful_agent_gets_each_message_once(domain: Domain) -> None:
    """The message that it answers is not in the state that it begins with."""
    Stateful.made.clear()
    wanted = task(
        state={"message_history": [{"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "Go"}]}
    )
    simulate(domain, wanted, Stateful, ScriptedParticipant(["###STOP###"]))
    assert contents(Stateful.made[0].told)[:-1] == ["Yes?", "Go"]
    Stateful.made.clear()
    simulate(domain, WANTED, Stateful)
    assert contents(Stateful.made[0].told)[:-1] == [GREETING.content, "Go."]


def test_stateful_user_gets_each_message_once(domain: Domain) -> None:
    StatefulUser.made.clear()
    simulate(domain, WANTED, ScriptedParticipant(["Yes?"]), StatefulUser)
    assert contents(StatefulUser.made[0].told) == [GREETING.content, "Please", "Yes?", "###STOP###"]


# Endings


def test_a_participant_may_end_the_conversation_by_its_own_is_stop(domain: Domain) -> None:
    class Ending(ScriptedParticipant):
        def is_stop(self, message: Any) -> bool:
            return "over" in (message.content or "")

    simulation = simulate(domain, WANTED, Ending(["Wait.", "It is over."]), ScriptedParticipant(["Go.", "Well?"]))
    assert simulation.termination_reason == "agent_stop"
    assert simulation.messages[-1].content == "It is over."
    by_user = simulate(domain, WANTED, ScriptedParticipant(["Yes?"]), Ending(["Go.", "It is over."]))
    assert (by_user.termination_reason, by_user.stop_token) == ("user_stop", None)


async def _later() -> bool:
    return True


@pytest.mark.parametrize(
    ("answer", "shown"), [(lambda: "no", "str 'no'"), (lambda: None, "None"), (_later, "coroutine <coroutine")]
)
def test_an_is_stop_that_returns_no_bool_is_the_side_s_fault(domain: Domain, answer: Any, shown: str) -> None:
    class Unsure(ScriptedParticipant):
        def is_stop(self, message: Any) -> Any:
            return answer()

    simulation = simulate(domain, WANTED, Unsure(["Hello."]), ScriptedParticipant(["Go."]))
    assert simulation.termination_reason == "agent_error"
    assert simulation.error is not None
    assert f"is_stop() returned {shown}" in simulation.error
    assert "expected True or False" in simulation.error


def test_a_user_s_own_is_stop_replaces_the_tokens(domain: Domain) -> None:
    class Stubborn(ScriptedParticipant):
        def is_stop(self, message: Any) -> bool:
            return message.content == "bye"

    simulation = simulate(domain, WANTED, ScriptedParticipant(["Yes?"]), Stubborn(["###STOP###", "bye"]))
    assert simulation.termination_reason == "user_stop"
    assert len(simulation.messages) == 4


def test_an_agent_does_not_stop_by_a_user_s_token(domain: Domain) -> None:
    simulation = simulate(domain, WANTED, ScriptedParticipant(["###STOP###"]))
    assert simulation.termination_reason == "user_stop"
    assert [type(message).__name__ for message in simulation.messages][-2:] == ["AssistantMessage", "UserMessage"]


def test_close_is_called_sync_or_async() -> None:
    class Closing(ScriptedParticipant):
        async def close(self) -> None:  # type: ignore[override]
            self.closed = True

    for kind in (ScriptedParticipant, Closing):
        target = kind(["Hi"])
        replies(target, user("Hello"))
        assert target.closed


# Chat format


@pytest.mark.parametrize(
    ("message", "for_agent", "for_user"),
    [
        (agent("Hi"), [{"role": "assistant", "content": "Hi"}], [{"role": "user", "content": "Hi"}]),
        (user("Hi"), [{"role": "user", "content": "Hi"}], [{"role": "assistant", "content": "Hi"}]),
        (SystemMessage(content="x"), [{"role": "system", "content": "x"}], [{"role": "system", "content": "x"}]),
        (ToolMessage(id="1", content="x"), [{"role": "tool", "tool_call_id": "1", "content": "x"}], []),
        (
            ToolMessage(id="1", content="x", requestor="user"),
            [],
            [{"role": "tool", "tool_call_id": "1", "content": "x"}],
        ),
        (
            agent("Wait", ToolCall(id="1", name="f", arguments={"a": "é"})),
            [{"role": "assistant", "content": "Wait", "tool_calls": [openai_call("f", '{"a": "\\u00e9"}', "1")]}],
            [],
        ),
    ],
)
def test_each_side_sees_itself_as_the_assistant(message: Any, for_agent: Any, for_user: Any) -> None:
    assert chat_messages(message, "agent") == for_agent
    assert chat_messages(message, "user") == for_user


# What is no participant


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (object(), "is not a valid agent: expected a class with respond"),
        (object, "object is not a valid agent"),
        (5, "5 is not a valid agent"),
        (None, "None is not a valid agent"),
        (lambda: "Hi", r"<lambda> is not a valid agent: it must accept \(messages, tools\)"),
        (lambda messages: "Hi", "it must accept"),
        (lambda messages, tools, more: "Hi", "it must accept"),
    ],
)
def test_object_of_no_form_is_an_error(target: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        replies(target)


def test_functions_with_more_optional_parameters_are_fine() -> None:
    assert replies(lambda messages, tools, more=1, *args, **kwargs: "Hi", user("a")) == [agent("Hi")]


# Factories


class Made:
    def __init__(self, *given: Any) -> None:
        self.given = given

    def respond(self, message: Any) -> str:
        return f"{message.content} {self.given}"


def by_two(tools: Any, policy: Any) -> Made:
    return Made(len(tools), policy)


async def slow_factory(policy: str) -> Made:
    return Made(policy)


def of_chat(*, seed: int) -> Any:
    return lambda messages, tools: f"{messages[-1]['content']} {seed}"


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (by_two, "a (2, 'Be kind.')"),
        (lambda policy: Made(policy), "a ('Be kind.',)"),
        (lambda task, seed=5: Made(task.id, seed), "a ('t', 7)"),
        (lambda tools, **more: Made(sorted(more)[:2]), "a (['domain_policy', 'history'],)"),
        (slow_factory, "a ('Be kind.',)"),
        (of_chat, "a 7"),
        (lambda tools: Recorder("a"), "a"),
        (lambda policy: Made, "a ()"),
        (functools.partial(lambda client, policy: Made(client), "c"), "a ('c',)"),
    ],
)
def test_a_function_with_parameters_of_a_constructor_is_called_once_for_each_simulation(
    factory: Any, said: str
) -> None:
    assert replies(factory, user("a"), instructions="Be kind.", seed=7) == [agent(said)]


def test_a_factory_s_participant_keeps_its_state_and_is_made_in_the_thread_in_which_it_runs() -> None:
    made = []

    class Counting:
        def __init__(self) -> None:
            self.thread, self.heard = threading.get_ident(), 0
            made.append(self)

        def respond(self, message: Any) -> str:
            self.heard += 1
            return f"{self.heard} {threading.get_ident() == self.thread}"

    assert replies(lambda tools: Counting(), user("a"), user("b")) == [agent("1 True"), agent("2 True")]
    assert len(made) == 1


def test_a_user_s_factory_takes_what_a_user_takes() -> None:
    assert replies(lambda instructions: Made(), agent("a"), side="user") == [user("a ()")]
    with pytest.raises(ConfigurationError, match="it must accept"):
        replies(lambda policy: Made(), agent("a"), side="user")


@pytest.mark.parametrize("chat", [lambda history, tools: "Hi", lambda msgs, tools: "Hi"])
def test_other_functions_of_two_parameters_answer(chat: Any) -> None:
    assert replies(chat, user("a")) == [agent("Hi")]


def test_messages_and_tools_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"expected \(messages, tools\), got \(tools, messages\)"):
        check_form(lambda tools, messages: "Hi", "agent")


def test_a_factory_that_needs_something_unknown_is_refused_before_anything_runs() -> None:
    with pytest.raises(ConfigurationError, match="cannot be called: it needs 'client'; an agent can take tools, "):
        check_form(lambda tools, client: Made(), "agent")


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        (lambda tools: None, r"<lambda> is taken for a factory by its parameters \(tools\) and returned nothing"),
        (lambda policy: "Hi", "'Hi' is not a valid agent"),
        (lambda policy: by_two, "returned the factory by_two; expected an object with respond"),
    ],
)
def test_what_a_factory_must_return(factory: Any, told: str) -> None:
    with pytest.raises(ForeignError, match=told):
        replies(factory)


# Structure and streams, in each form


async def spoken() -> Any:
    yield "Hel"
    yield "lo"


@pytest.mark.parametrize(("reply", "said"), [({"a": 1}, '{"a":1}'), (("Hel", "lo"), "Hello"), (None, "Hello")])
def test_each_form_may_answer_with_structure_or_a_stream(reply: Any, said: str) -> None:
    def answer() -> Any:
        return spoken() if reply is None else iter(reply) if isinstance(reply, tuple) else reply

    class Stateful:
        def get_init_state(self, message_history: Any = None) -> int:
            return 0

        def generate_next_message(self, message: Any, state: int) -> Any:
            return answer(), state + 1

    class Responding:
        async def respond(self, message: Any) -> Any:
            return answer()

    for target in (Stateful, Responding, lambda messages, tools: answer()):
        assert replies(target, user("a")) == [agent(said)]


def test_respond_may_be_a_generator() -> None:
    class Sync:
        def respond(self, message: Any) -> Any:
            yield "H"
            yield message.content

    class Async:
        async def respond(self, message: Any) -> Any:
            yield "H"
            yield message.content

    assert replies(Sync, user("i")) == replies(Async, user("i")) == [agent("Hi")]


def test_built_in_participants_need_no_adapting() -> None:
    built = NoopAgent(context())
    assert run(adapt(built, context())) is built
    assert isinstance(run(adapt(NoopAgent, context())), NoopAgent)


def test_scripted_calls_of_either_side(domain: Domain) -> None:
    simulation = pytest_tau.simulate(
        WANTED,
        domain=domain,
        agent=ScriptedParticipant([reply_call("count", by=2), "Done"]),
        user=ScriptedParticipant(["Hi", reply_call("switch"), STOP]),
    )
    assert [
        (made.call.name, made.call.requestor, made.result and made.result.content) for made in simulation.calls
    ] == [
        ("count", "assistant", '"2"'),
        ("switch", "user", "on"),
    ]
