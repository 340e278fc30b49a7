"""Traces as conversations: what instrumentation repeats is taken once, and what is missing is named."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_tau.capabilities.traces.reading import Conversation, read_traces
from pytest_tau.capabilities.traces.reading.messages import read_messages, without_framework
from pytest_tau.capabilities.traces.reading.stored import Simulations
from pytest_tau.models import ToolMessage

SECOND = 1_000_000_000
CALL = {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {"order_id": "W1"}}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": '{"status": "pending"}'}]}


def said(role: str, *parts: Any) -> dict[str, Any]:
    """A message in the form of OpenTelemetry; a text is a part."""
    return {"role": role, "parts": [{"type": "text", "content": p} if isinstance(p, str) else p for p in parts]}


def user(text: str) -> dict[str, Any]:
    return said("user", text)


def agent(*parts: Any) -> dict[str, Any]:
    return said("assistant", *parts)


def span(
    name: str, start: float, *, trace: str = "a1", parent: str = "", end: float = 0, **more: Any
) -> dict[str, Any]:
    """A span of OTLP; attributes have ``__`` for dots, and values that are no texts become JSON."""
    number = sum(map(ord, f"{trace}/{name}/{start}")) * 7919 % 10**9
    error, kind = more.pop("error", None), more.pop("id", f"{number:016x}")
    attributes = [
        {
            "key": key.replace("__", "."),
            "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)},
        }
        for key, value in more.items()
    ]
    return {
        "traceId": trace.ljust(32, "0"),
        "spanId": kind.rjust(16, "0"),
        "parentSpanId": parent.rjust(16, "0") if parent else "",
        "name": name,
        "startTimeUnixNano": str(int((1_700_000_000 + start) * SECOND)),
        "endTimeUnixNano": str(int((1_700_000_000 + (end or start + 0.5)) * SECOND)),
        "attributes": attributes,
        "status": {"code": 2, "message": error} if error else {},
    }


def chat(start: float, asked: list[Any], *answers: Any, **more: Any) -> dict[str, Any]:
    """A call of a model."""
    attributes = {"gen_ai__operation__name": "chat", "gen_ai__input__messages": asked, **more}
    return span("chat m", start, **attributes, **({"gen_ai__output__messages": list(answers)} if answers else {}))


def tool(start: float, name: str = "get_order", result: str = '{"status": "pending"}', **more: Any) -> dict[str, Any]:
    """An execution of a tool."""
    own = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": name, "gen_ai__tool__call__result": result}
    return span(f"execute_tool {name}", start, **own, **more)


def request(*spans: Any) -> dict[str, Any]:
    scope = {"name": "opentelemetry.instrumentation.genai.openai"}
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": scope, "spans": list(spans)}]}]}


class Read:
    """What was read of files with these documents, in JSON lines."""

    def __init__(self, folder: Path, *documents: Any) -> None:
        file = folder / "traces.jsonl"
        file.write_text("".join(f"{json.dumps(each)}\n" for each in documents), "utf-8")
        self.of_files(folder, file)

    def of_files(self, folder: Path, *files: Path) -> Read:
        spool = folder / f"spool-{random.random()}"
        spool.mkdir()
        found = list(read_traces(files, spool))
        self.conversations = [each for each in found if isinstance(each, Conversation)]
        self.problems = [each for each in found if isinstance(each, str)]
        return self

    @property
    def texts(self) -> list[list[str]]:
        """Each conversation as texts: ``user hello``, ``assistant > get_order``, ``tool done``."""
        return [[_text(each) for each in one.messages] for one in self.conversations]

    @property
    def notes(self) -> list[str]:
        return [note for each in self.conversations for note in each.notes]


def _text(message: Any) -> str:
    return " ".join([message.role, *filter(None, [message.text]), *(f"> {call.name}" for call in message.calls)])


WHOLE = ["user where is W1?", "assistant > get_order", 'tool {"status": "pending"}', "assistant pending", "user thanks"]
TURN = [user("where is W1?"), agent(CALL), RESULT]


def whole_conversation(**more: Any) -> list[dict[str, Any]]:
    """Three calls of a model, of which each repeats the history."""
    return [
        chat(0, TURN[:1], agent(CALL), **more),
        chat(2, TURN, agent("pending"), **more),
        chat(4, [*TURN, agent("pending"), user("thanks")], agent("bye"), **more),
    ]


class TestHistories:
    def test_a_history_is_taken_once(self, tmp_path: Path) -> None:
        read = Read(tmp_path, request(*whole_conversation()))
        assert read.texts == [[*WHOLE, "assistant bye"]]
        assert read.notes == []

    def test_the_order_of_spans_does_not_matter(self, tmp_path: Path) -> None:
        spans = whole_conversation()
        for seed in range(6):
            random.Random(seed).shuffle(spans)
            assert Read(tmp_path, *map(request, spans)).texts == [[*WHOLE, "assistant bye"]]

    def test_conversations_without_ids_are_told_apart_by_their_histories(self, tmp_path: Path) -> None:
        spans = []
        for number in range(3):
            first, second = user("hi"), agent("hello")
            spans += [
                chat(number, [first], second, trace=f"a{number}"),
                chat(10 + number, [first, second, user(f"order {number}")], agent(f"is {number}"), trace=f"b{number}"),
            ]
        read = Read(tmp_path, request(*spans))
        wanted = [["user hi", "assistant hello", f"user order {n}", f"assistant is {n}"] for n in range(3)]
        assert sorted(read.texts) == wanted

    def test_a_history_whose_beginning_was_cut_off_keeps_it(self, tmp_path: Path) -> None:
        window = [RESULT, agent("pending"), user("thanks")]
        spans = [
            *whole_conversation(gen_ai__conversation__id="s")[:2],
            chat(4, window, agent("bye"), gen_ai__conversation__id="s"),
        ]
        assert Read(tmp_path, request(*spans)).texts == [[*WHOLE, "assistant bye"]]

    def test_a_summary_of_the_beginning_keeps_it_and_is_noted(self, tmp_path: Path) -> None:
        history = [user("Summary: the order was asked for."), RESULT, agent("pending"), user("thanks")]
        key = {"gen_ai__conversation__id": "s"}
        read = Read(tmp_path, request(*whole_conversation(**key)[:2], chat(4, history, agent("bye"), **key)))
        assert read.texts == [[*WHOLE, "assistant bye"]]
        assert read.notes == ["message 2: earlier messages were replaced in the history, they are kept"]

    def test_a_history_that_was_changed_counts_as_it_was_last(self, tmp_path: Path) -> None:
        key = {"gen_ai__conversation__id": "s"}
        changed = [*TURN, agent("pending"), user("no, thanks")]
        read = Read(tmp_path, request(*whole_conversation(**key), chat(9, [*changed], agent("fine"), **key)))
        assert read.texts == [[*WHOLE[:4], "user no, thanks", "assistant fine"]]
        assert "the history was changed from here on" in read.notes[0]

    @pytest.mark.parametrize("delta", [True, False])
    def test_requests_without_history_are_appended(self, tmp_path: Path, *, delta: bool) -> None:
        more = {"session__id": "s", **({"pytest_tau__history": "delta"} if delta else {})}
        spans = [
            chat(0, [user("hi")], agent("hello"), trace="a1", **more),
            chat(2, [user("thanks")], agent("bye"), trace="a2", **more),
        ]
        assert Read(tmp_path, request(*spans)).texts == [["user hi", "assistant hello", "user thanks", "assistant bye"]]

    def test_a_key_that_several_conversations_share_is_noted(self, tmp_path: Path) -> None:
        again = [
            chat(20 + n, m, a, trace="b1", session__id="ada") for n, (m, a) in enumerate([([user("x")], agent("y"))])
        ]
        spans = [*whole_conversation(session__id="ada"), *again]
        read = Read(tmp_path, request(*spans))
        assert read.texts == [[*WHOLE, "assistant bye"], ["user x", "assistant y"]]
        assert read.notes == ["2 conversations have the key 'ada'"] * 2


class TestCallsOfModels:
    def test_a_call_that_was_made_again_counts_once(self, tmp_path: Path) -> None:
        spans = whole_conversation(session__id="s")
        spans.insert(2, chat(1, TURN[:1], agent("I do not know."), session__id="s"))
        read = Read(tmp_path, request(*spans))
        assert read.texts == [[*WHOLE, "assistant bye"]]
        assert read.notes == ["1 call of models whose answer was not used skipped"]

    def test_a_call_that_failed_is_not_part_of_it(self, tmp_path: Path) -> None:
        spans = [chat(-1, TURN[:1], error="500"), *whole_conversation(), chat(3, TURN, error="500")]
        assert Read(tmp_path, request(*spans)).texts == [[*WHOLE, "assistant bye"]]

    def test_the_last_message_of_the_user_is_kept_if_the_call_failed(self, tmp_path: Path) -> None:
        failed = chat(9, [*TURN, agent("pending"), user("thanks")], error="500")
        read = Read(tmp_path, request(*whole_conversation()[:2], failed))
        assert read.texts == [WHOLE]
        assert "message 4: no answer is recorded" in read.notes

    def test_the_last_answer_may_be_in_the_span_of_the_agent_only(self, tmp_path: Path) -> None:
        root = span("run", 0, id="7001", openinference__span__kind="AGENT", input__value="hi", output__value="hello")
        read = Read(tmp_path, request(root, chat(1, [user("hi")], parent="7001")))
        assert read.texts == [["user hi", "assistant hello"]]

    def test_of_several_answers_the_one_that_the_history_has_counts(self, tmp_path: Path) -> None:
        several = {"gen_ai__request__choice__count": "2", "session__id": "s"}
        spans = [
            chat(0, [user("hi")], agent("good day"), agent("hello"), **several),
            chat(2, [user("hi"), agent("hello"), user("thanks")], agent("bye"), session__id="s"),
        ]
        assert Read(tmp_path, request(*spans)).texts == [["user hi", "assistant hello", "user thanks", "assistant bye"]]

    def test_calls_inside_of_a_tool_belong_to_the_tool(self, tmp_path: Path) -> None:
        inside = chat(1.1, [user("translate: pending")], agent("ausstehend"), parent="7001")
        spans = [*whole_conversation(), tool(1, id="7001", gen_ai__tool__call__id="c1"), inside]
        assert Read(tmp_path, request(*spans)).texts == [[*WHOLE, "assistant bye"]]

    def test_calls_that_serve_the_conversation_are_skipped_and_noted(self, tmp_path: Path) -> None:
        router = chat(-1, [said("system", "Choose a team."), user("where is W1?")], agent("orders"), session__id="s")
        title = chat(
            9, [said("system", "Make a title."), user("User: where is W1?")], agent("Order W1"), session__id="s"
        )
        read = Read(tmp_path, request(router, *whole_conversation(session__id="s"), title))
        assert read.texts == [[*WHOLE, "assistant bye"]]
        assert len(read.notes) == 2

    def test_a_call_that_is_instrumented_twice_counts_once(self, tmp_path: Path) -> None:
        inner = chat(0.1, [user("hi")], agent("hello"), parent="7001", gen_ai__usage__input_tokens="5")
        read = Read(tmp_path, request(chat(0, [user("hi")], agent("hello"), id="7001"), inner))
        assert read.texts == [["user hi", "assistant hello"]]
        assert read.conversations[0].usage["calls"] == 1
        assert read.conversations[0].usage["prompt_tokens"] == 5

    def test_messages_have_the_names_of_their_agents(self, tmp_path: Path) -> None:
        handoff = {"type": "tool_call", "id": "h", "name": "transfer_to_orders", "arguments": {}}
        moved = {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "h", "response": '{"assistant": "orders"}'}],
        }
        spans = [
            chat(0, [said("system", "Route."), user("hi")], agent(handoff), gen_ai__agent__name="triage"),
            chat(
                2,
                [said("system", "Sell."), user("hi"), agent(handoff), moved],
                agent("hello"),
                gen_ai__agent__name="orders",
            ),
        ]
        (found,) = Read(tmp_path, request(*spans)).conversations
        assert [said.name for said in found.messages if said.role == "assistant"] == ["triage", "orders"]
        assert (found.handoffs, found.system) == ([1, 2], "Sell.")

    def test_agents_count_where_calls_of_models_say_nothing(self, tmp_path: Path) -> None:
        root = span(
            "invoke_agent shop",
            0,
            end=9,
            id="7001",
            openinference__span__kind="AGENT",
            input__value="where is W1?",
            output__value="pending",
        )
        model = span("chat m", 1, parent="7001", gen_ai__operation__name="chat")
        read = Read(
            tmp_path, request(root, model, tool(2, parent="7001", gen_ai__tool__call__arguments={"order_id": "W1"}))
        )
        assert read.texts == [
            ["user where is W1?", "assistant > get_order", 'tool {"status": "pending"}', "assistant pending"]
        ]
        assert read.conversations[0].messages[1].calls[0].arguments == {"order_id": "W1"}

    def test_the_export_of_a_trial_has_all_messages_in_its_root(self, tmp_path: Path) -> None:
        by_user = {"type": "tool_call", "id": "u1", "name": "reboot", "arguments": {}, "requestor": "user"}
        done = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "u1", "response": "done"}]}
        own = {
            "pytest_tau__simulation": "t-0",
            "pytest_tau__task__id": "t",
            "pytest_tau__termination_reason": "user_stop",
        }
        root = span(
            "invoke_workflow telecom::t",
            0,
            id="7001",
            gen_ai__operation__name="invoke_workflow",
            gen_ai__input__messages=[agent("Hi!"), said("user", by_user), done],
            gen_ai__output__messages=[user("Thanks. ###STOP###")],
            **own,
        )
        turn = chat(1, [agent("Hi!")], agent("Please reboot."), parent="7001", pytest_tau__history="delta")
        read = Read(tmp_path, request(turn, root))
        assert read.texts == [["assistant Hi!", "user > reboot", "tool done", "user Thanks. ###STOP###"]]
        assert read.notes == []
        simulation = Simulations([]).simulation(read.conversations[0])
        assert (simulation.task_id, simulation.termination_reason) == ("t", "user_stop")
        assert [each.call.requestor for each in simulation.calls] == ["user"]
        assert [each.requestor for each in simulation.messages if isinstance(each, ToolMessage)] == ["user"]


class TestResults:
    def test_a_result_comes_from_its_span_if_no_history_has_it(self, tmp_path: Path) -> None:
        spans = [chat(0, TURN[:1], agent(CALL)), tool(1, result="Error: no such order", gen_ai__tool__call__id="c1")]
        (found,) = Read(tmp_path, request(*spans)).conversations
        assert (found.messages[-1].text, found.messages[-1].error) == ("Error: no such order", True)

    def test_parallel_calls_have_their_results_in_order(self, tmp_path: Path) -> None:
        calls = [{**CALL, "id": f"c{n}", "arguments": {"order_id": f"W{n}"}} for n in (1, 2)]
        results = [{"type": "tool_call_response", "id": f"c{n}", "response": f"order {n}"} for n in (2, 1)]
        history = [user("both?"), agent("Let me look.", *calls), {"role": "tool", "parts": results}]
        read = Read(tmp_path, request(chat(0, history[:1], history[1]), chat(2, history, agent("done"))))
        assert read.texts == [
            [
                "user both?",
                "assistant Let me look. > get_order > get_order",
                "tool order 1",
                "tool order 2",
                "assistant done",
            ]
        ]

    def test_calls_without_ids_are_paired_and_get_ids(self, tmp_path: Path) -> None:
        bare = {key: value for key, value in CALL.items() if key != "id"}
        result = {"role": "tool", "parts": [{"type": "tool_call_response", "response": "pending"}]}
        history = [user("hi"), agent(bare), result, agent(bare), result]
        read = Read(tmp_path, request(chat(0, history, agent("done"))))
        ids = [call.id for each in read.conversations[0].messages for call in each.calls]
        assert [each.call_id for each in read.conversations[0].messages if each.role == "tool"] == ids
        assert len(set(ids)) == 2

    def test_a_result_that_is_missing_in_the_middle_is_not_made_up(self, tmp_path: Path) -> None:
        history = [user("hi"), agent(CALL), agent("done")]
        read = Read(tmp_path, request(chat(0, [*history, user("thanks")], agent("bye"))))
        assert read.texts[0][2] == "tool"
        assert read.notes == ["message 2: no result is recorded"]

    def test_a_result_that_never_came_ends_the_conversation(self, tmp_path: Path) -> None:
        read = Read(tmp_path, request(chat(0, TURN[:1], agent(CALL))))
        assert read.texts == [WHOLE[:2]]
        assert not read.conversations[0].complete
        assert read.notes == ["message 1: no result of get_order is recorded, and nothing follows"]

    def test_a_result_that_differs_from_its_span_is_noted(self, tmp_path: Path) -> None:
        read = Read(tmp_path, request(*whole_conversation(), tool(1, result="shipped", gen_ai__tool__call__id="c1")))
        assert read.texts[0][2] == WHOLE[2]
        assert read.notes == ["message 2: the result of get_order differs from its span"]

    def test_arguments_that_are_not_an_object_are_kept_as_a_text(self, tmp_path: Path) -> None:
        read = Read(tmp_path, request(chat(0, TURN[:1], agent({**CALL, "arguments": '{"order_id": '}))))
        (call,) = read.conversations[0].messages[1].calls
        assert (call.arguments, call.malformed) == ({}, '{"order_id": ')


class TestMissingTexts:
    def test_the_setting_that_records_texts_is_named(self, tmp_path: Path) -> None:
        read = Read(tmp_path, request(span("chat m", 0, gen_ai__operation__name="chat", session__id="s"), tool(1)))
        assert not read.conversations
        assert "conversation 's': no texts were recorded" in read.problems[0]
        assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only" in read.problems[0]
        assert "get_order" in read.problems[0]

    def test_other_copies_of_redacted_texts_are_not_used(self, tmp_path: Path) -> None:
        hidden = chat(0, [user("__REDACTED__")], agent("__REDACTED__"), input__value="my card is 4111")
        read = Read(tmp_path, request(hidden))
        assert not read.conversations
        assert "redacted" in read.problems[0]

    def test_a_conversation_without_a_text_of_the_user_is_not_imported(self, tmp_path: Path) -> None:
        """As OPENINFERENCE_HIDE_INPUTS writes it: the answers are there."""
        hidden = {"openinference__span__kind": "LLM", "input__value": "__REDACTED__"}
        spans = [span("llm", n, **hidden, llm__output_messages=[ANSWER], session__id="s") for n in (0, 2)]
        read = Read(tmp_path, request(*spans))
        assert not read.conversations
        assert "its texts are redacted" in read.problems[0]

    def test_a_text_that_is_redacted_is_noted_at_its_place(self, tmp_path: Path) -> None:
        read = Read(tmp_path, request(chat(0, [user("I am [REDACTED]")], agent("hello"))))
        assert read.notes == ["message 0: its text is redacted"]

    def test_json_that_was_cut_off_is_named(self, tmp_path: Path) -> None:
        cut = span("chat m", 0, gen_ai__operation__name="chat", gen_ai__input__messages='[{"role": "user", "par')
        read = Read(tmp_path, request(cut))
        assert "gen_ai.input.messages is cut off" in read.problems[0]

    def test_parts_that_are_not_texts_are_noted(self, tmp_path: Path) -> None:
        image = said("user", "look", {"type": "blob", "modality": "image", "content": "aGk="})
        assert Read(tmp_path, request(chat(0, [image], agent("nice")))).notes == ["message 0: part blob is skipped"]


#: A question, a call and its result, as providers and frameworks write them.
FORMS: dict[str, list[Any]] = {
    "chat completions": [
        {"role": "user", "content": "where is W1?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "W1"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"status": "pending"}'},
    ],
    "responses": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "where is W1?"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "get_order", "arguments": '{"order_id": "W1"}'},
        {"type": "function_call_output", "call_id": "c1", "output": '{"status": "pending"}'},
    ],
    "anthropic": [
        {"role": "user", "content": "where is W1?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "…"},
                {"type": "tool_use", "id": "c1", "name": "get_order", "input": {"order_id": "W1"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": '{"status": "pending"}'}],
                }
            ],
        },
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "where is W1?"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "get_order", "args": {"order_id": "W1"}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "get_order", "response": '{"status": "pending"}'}}],
        },
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "where is W1?"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "c1", "name": "get_order", "input": {"order_id": "W1"}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": '{"status": "pending"}'}]}}],
        },
    ],
    "langchain": [
        [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "HumanMessage"],
                "kwargs": {"content": "where is W1?"},
            },
            {
                "type": "ai",
                "data": {
                    "content": "",
                    "tool_calls": [{"name": "get_order", "args": {"order_id": "W1"}, "id": "c1", "type": "tool_call"}],
                },
            },
            {"type": "tool", "content": '{"status": "pending"}', "tool_call_id": "c1", "id": "message"},
        ]
    ],
    "pydantic-ai": [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "where is W1?"}]},
        {
            "kind": "response",
            "parts": [
                {"part_kind": "tool-call", "tool_name": "get_order", "args": '{"order_id": "W1"}', "tool_call_id": "c1"}
            ],
        },
        {
            "kind": "request",
            "parts": [
                {
                    "part_kind": "tool-return",
                    "tool_name": "get_order",
                    "content": '{"status": "pending"}',
                    "tool_call_id": "c1",
                }
            ],
        },
    ],
    "vercel": [
        {"role": "user", "content": [{"type": "text", "text": "where is W1?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "c1", "toolName": "get_order", "input": {"order_id": "W1"}}
            ],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "c1", "toolName": "get_order", "output": '{"status": "pending"}'}
            ],
        },
    ],
    "events": [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "where is W1?"},
        {
            "event.name": "gen_ai.assistant.message",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": {"order_id": "W1"}}}
            ],
        },
        {"event.name": "gen_ai.tool.message", "id": "c1", "content": '{"status": "pending"}'},
    ],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("as_text", [True, False])
def test_messages_are_read_in_all_forms(form: str, *, as_text: bool) -> None:
    asked, called, result = read_messages(json.dumps(FORMS[form]) if as_text else FORMS[form])
    assert (asked.role, asked.text) == ("user", "where is W1?")
    assert (called.role, called.text or "") == ("assistant", "")
    assert [(call.id, call.name, call.arguments) for call in called.calls] == [("c1", "get_order", {"order_id": "W1"})]
    assert (result.role, result.call_id, result.text) == ("tool", "c1", '{"status": "pending"}')


ASKED, CALLED, DONE = FORMS["chat completions"]
ANSWER = {"role": "assistant", "content": "pending"}
#: By instrumentation, the attributes of the call of a model with a result in its request.
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "Vercel AI SDK": {
        "ai.operationId": "ai.streamText.doStream",
        "ai.prompt.messages": [ASKED, CALLED, DONE],
        "ai.response.text": "pending",
        "ai.response.finishReason": "stop",
    },
    "Google ADK": {
        "gen_ai.request.model": "gemini",
        "gcp.vertex.agent.llm_request": {"model": "gemini", "config": {}, "contents": FORMS["gemini"]},
        "gcp.vertex.agent.llm_response": {"content": {"role": "model", "parts": [{"text": "pending"}]}},
    },
    "Logfire": {
        "request_data": {"model": "m", "messages": [ASKED, CALLED, DONE]},
        "response_data": {"message": ANSWER, "usage": {}},
    },
    "pydantic-ai of 2025": {
        "gen_ai.operation.name": "chat",
        "events": [
            *FORMS["events"],
            {"event.name": "gen_ai.choice", "index": 0, "message": ANSWER},
        ],
    },
    "MLflow with all messages": {
        "mlflow.spanType": '"CHAT_MODEL"',
        "mlflow.chat.messages": [ASKED, CALLED, DONE, ANSWER],
        "mlflow.spanOutputs": {"choices": [{"message": ANSWER}]},
    },
    "OpenInference of 2024": {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "where is W1?",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.function_call_name": "get_order",
        "llm.input_messages.1.message.function_call_arguments_json": '{"order_id": "W1"}',
        "llm.input_messages.2.message.role": "function",
        "llm.input_messages.2.message.name": "get_order",
        "llm.input_messages.2.message.content": '{"status": "pending"}',
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "pending",
    },
    "a table of Phoenix": {
        "openinference.span.kind": "LLM",
        "llm.input_messages": [
            {"message.role": "user", "message.content": "where is W1?"},
            {
                "message.role": "assistant",
                "message.tool_calls": [
                    {
                        "tool_call.id": "c1",
                        "tool_call.function.name": "get_order",
                        "tool_call.function.arguments": '{"order_id": "W1"}',
                    }
                ],
            },
            {"message.role": "tool", "message.tool_call_id": "c1", "message.content": '{"status": "pending"}'},
        ],
        "llm.output_messages": [{"message.role": "assistant", "message.content": "pending"}],
    },
    "OpenLLMetry": {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": '[{"type": "text", "text": "where is W1?"}]',
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls.0.id": "c1",
        "gen_ai.prompt.1.tool_calls.0.name": "get_order",
        "gen_ai.prompt.1.tool_calls.0.arguments": '{"order_id": "W1"}',
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.content": '{"status": "pending"}',
        "gen_ai.prompt.2.tool_call_id": "c1",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "pending",
    },
    "Anthropic's API": {
        "openinference.span.kind": "LLM",
        "input.value": {
            "system": "Sell.",
            "messages": FORMS["anthropic"],
        },
        "output.value": {"id": "msg", "role": "assistant", "content": [{"type": "text", "text": "pending"}]},
    },
    "OpenAI's Responses": {
        "openinference.span.kind": "LLM",
        "input.value": {
            "instructions": "Sell.",
            "input": FORMS["responses"],
        },
        "output.value": {
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "pending"}]}
            ]
        },
    },
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_calls_of_models_are_read_as_each_instrumentation_writes_them(tmp_path: Path, name: str) -> None:
    read = Read(tmp_path, request(span("call", 0, **ATTRIBUTES[name])))
    assert read.problems == read.notes == []
    assert read.texts == [WHOLE[:4]]
    assert read.conversations[0].messages[1].calls[0].arguments == {"order_id": "W1"}
    assert read.conversations[0].spans[3]


def test_events_with_the_blocks_of_bedrock_are_read(tmp_path: Path) -> None:
    """As Strands Agents write them: the content of each message is JSON in an attribute of an event."""
    events = [
        {
            "name": f"gen_ai.{role}.message",
            "attributes": [{"key": "content", "value": {"stringValue": json.dumps(each["content"])}}],
        }
        for role, each in zip(("user", "assistant", "tool"), FORMS["bedrock"], strict=True)
    ]
    answer = [{"key": "message", "value": {"stringValue": '[{"text": "pending"}]'}}]
    made = span("chat", 0, gen_ai__operation__name="chat")
    made["events"] = [*events, {"name": "gen_ai.choice", "attributes": answer}]
    assert Read(tmp_path, request(made)).texts == [WHOLE[:4]]


def test_the_words_of_smolagents_are_removed() -> None:
    """The results of several calls are one text, and come from the spans of the tools instead."""
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": {"n": n}}} for n in (1, 2)]
    answer = {"id": "c3", "type": "function", "function": {"name": "final_answer", "arguments": {"answer": "done"}}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "New task:\nhi"}]},
        {"role": "tool-call", "content": [{"type": "text", "text": f"Calling tools:\n{calls[:1]}"}]},
        {"role": "tool-response", "content": [{"type": "text", "text": "Observation:\none"}]},
        {"role": "tool-call", "content": [{"type": "text", "text": f"Calling tools:\n{calls}"}]},
        {"role": "tool-response", "content": [{"type": "text", "text": "Observation:\none\ntwo"}]},
        {"role": "tool-call", "content": [{"type": "text", "text": f"Calling tools:\n{[answer]}"}]},
        {"role": "tool-response", "content": [{"type": "text", "text": "Observation:\ndone"}]},
    ]
    found = without_framework(read_messages(messages))
    assert [_text(each) for each in found] == [
        "user hi",
        "assistant > f",
        "tool one",
        "assistant > f > f",
        "assistant done",
    ]


def test_calls_that_a_message_has_twice_are_made_once() -> None:
    """LangChain has the calls of Anthropic's models as parts, and in a list of its own."""
    value = {
        "type": "ai",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "c", "name": "f", "input": {}},
        ],
        "tool_calls": [{"name": "f", "args": {}, "id": "c", "type": "tool_call"}],
    }
    (found,) = read_messages([value])
    assert (found.text, len(found.calls)) == ("Let me look.", 1)


class TestOtherCallsOfModels:
    def test_an_agent_that_another_one_asks_is_not_part_of_the_conversation(self, tmp_path: Path) -> None:
        sub = chat(1, [said("system", "Search."), user("find W1")], agent("found"), session__id="s")
        spans = [chat(0, TURN[:1], agent(CALL), session__id="s"), sub, chat(2, TURN, agent("pending"), session__id="s")]
        assert Read(tmp_path, request(*spans)).texts == [WHOLE[:4]]

    def test_a_router_with_the_same_key_is_not_part_of_the_conversation(self, tmp_path: Path) -> None:
        key = {"session__id": "s"}
        spans = [
            chat(n - 1, [said("system", "Choose."), user(text)], agent("orders"), trace=f"b{n}", **key)
            for n, text in ((0, "where is W1?"), (4, "thanks"))
        ]
        assert Read(tmp_path, request(*spans, *whole_conversation(**key))).texts == [[*WHOLE, "assistant bye"]]

    def test_a_judge_in_the_same_trace_is_not_part_of_the_conversation(self, tmp_path: Path) -> None:
        judge = chat(5, [said("system", "Judge."), user("User: hi. Agent: hello.")], agent("good"), session__id="s")
        read = Read(tmp_path, request(chat(0, [user("hi")], agent("hello"), session__id="s"), judge))
        assert read.texts == [["user hi", "assistant hello"]]
        assert read.notes == ["1 call of models that serve the conversation skipped"]

    def test_guards_and_evaluations_are_not_part_of_the_conversation(self, tmp_path: Path) -> None:
        guard = span("guard", 0, id="7001", openinference__span__kind="GUARDRAIL")
        inside = chat(0.1, [user("is this safe?")], agent("yes"), parent="7001")
        assert Read(tmp_path, request(guard, inside, *whole_conversation())).texts == [[*WHOLE, "assistant bye"]]


def test_of_many_lines_that_cannot_be_read_the_first_are_named(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("{}\n" + "x\n" * 1_200)
    first, *_, more, _, _ = Read(tmp_path).of_files(tmp_path, file).problems
    assert first == f"{file}, line 2: not valid JSON: Expecting value (column 1)"
    assert more == f"{file}, line 1201: 200 more parts up to here cannot be read"


def test_results_of_calls_that_have_the_id_of_their_entry_in_the_history_are_paired(tmp_path: Path) -> None:
    called = [{"type": "tool_call", "id": f"fc_{n}", "name": "get_order", "arguments": {"n": n}} for n in (1, 2)]
    done = [said("tool", {"type": "tool_call_response", "id": f"call_{n}", "response": f"order {n}"}) for n in (1, 2)]
    read = Read(tmp_path, request(chat(0, [user("where are they?"), agent(*called), *done], agent("pending"))))
    (found,) = read.conversations
    assert [call.id for each in found.messages for call in each.calls] == ["call_1", "call_2"]
    assert [each.text for each in found.messages if each.role == "tool"] == ["order 1", "order 2"]
    assert read.notes == []


def test_a_list_of_attributes_that_a_limit_has_cut_is_named_and_its_rest_is_read(tmp_path: Path) -> None:
    texts = ["where is W1?", "which one?", "W1", "It is pending.", "and W2?"]
    flat = {
        f"llm__input_messages__{n}__message__{key}": value
        for n, text in enumerate(texts)
        for key, value in (("content", text), ("role", ("user", "assistant")[n % 2]))
    }
    out = "llm__output_messages__0__message"
    answer = {f"{out}__content": "Sent.", f"{out}__role": "assistant"}
    llm = {"openinference__span__kind": "LLM"}
    first = {**answer, f"{out}__content": "It is pending."}
    began = span("call", 0, **llm, **dict([*flat.items()][:6]), **first)
    # Half of the second message is left.
    rest = span("call", 9, **llm, **dict([*flat.items()][3:]), **answer)
    rest["droppedAttributesCount"] = 3
    read = Read(tmp_path, request(began, rest))
    assert read.texts == [[f"{('user', 'assistant')[n % 2]} {text}" for n, text in enumerate([*texts, "Sent."])]]
    assert read.notes[-1] == "the list of attributes (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT) is cut off in 1 span"
