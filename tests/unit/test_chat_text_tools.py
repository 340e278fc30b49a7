from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from pytest_tau.chat import LLM, ChatReply, TrialModels, Usage
from pytest_tau.chat.text_tools import TextTools
from pytest_tau.errors import ModelError
from pytest_tau.participants.replies import as_message

from .tiny import TinyTools, run

if TYPE_CHECKING:
    from pytest_tau.chat import ChatRequest

TOOLS = [tool.openai_schema for tool in list(TinyTools.tools().values())[:2]]
SYSTEM = {"role": "system", "content": "The policy."}
HELLO = {"role": "user", "content": "Hello"}
LOOK = '{"name": "look", "arguments": {"item_id": "lamp"}}'
RENAME = '{"name": "rename", "arguments": {"item_id": "lamp", "name": "Light"}}'


class Scripted:
    """A chat model that answers with texts, messages, replies or errors, one after the other."""

    def __init__(self, *script: Any) -> None:
        self.script, self.requests = list(script), []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = {"role": "assistant", "content": answer}
        return answer if isinstance(answer, ChatReply) else ChatReply(message=answer, finish_reason="stop")


def text_tools(*script: Any, **args: Any) -> tuple[TextTools, Scripted]:
    chat = Scripted(*script)
    return TextTools(TrialModels({"agent": LLM("local/model", chat, args)}).get("agent")), chat  # type: ignore[arg-type]


def answer(*script: Any, messages: list[dict[str, Any]] | None = None, **options: Any) -> dict[str, Any]:
    """The message that a caller gets for the first answer of a script."""
    model, _ = text_tools(*script)
    return run(model.complete(messages or [SYSTEM, HELLO], TOOLS, **options)).message


def calls_of(message: dict[str, Any]) -> list[tuple[str, str]]:
    return [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or []]


def request(messages: list[dict[str, Any]], tools: Any = TOOLS, **options: Any) -> ChatRequest:
    """What a model is sent for a conversation."""
    model, chat = text_tools("Fine.")
    run(model.complete(messages, tools, **options))
    return chat.requests[0]


def fenced(*calls: str) -> str:
    return "\n\n".join(f"```tool_call\n{call}\n```" for call in calls)


# The prompt of a model


def test_the_schemas_and_the_protocol_go_into_the_system_message() -> None:
    sent = request([SYSTEM, HELLO])
    assert sent.tools == []
    assert sent.tool_choice is None
    system, hello = sent.messages
    assert system["role"] == "system"
    assert system["content"].startswith("The policy.\n\n# Calling tools\n")
    lines = system["content"].splitlines()
    assert [json.loads(line) for line in lines[-2:]] == [tool["function"] for tool in TOOLS]
    assert "{{" not in system["content"]
    assert hello == HELLO


def test_the_example_in_the_protocol_is_itself_a_call() -> None:
    system = request([HELLO]).messages[0]
    assert system["role"] == "system"
    example = system["content"][system["content"].index("```tool_call") :].split("```")[1]
    assert calls_of(answer(f"```{example}```")) == [("name_of_the_tool", '{"first_argument": "value"}')]


def test_schema_is_shown_unchanged() -> None:
    tool = {"type": "function", "function": {"name": "odd", "description": "{{tools}} \\1 Größe", "parameters": {}}}
    told = request([SYSTEM, HELLO], [tool]).messages[0]["content"]
    assert json.loads(told.splitlines()[-1]) == tool["function"]
    assert "Größe" in told


def test_that_a_call_is_required_is_said_in_words() -> None:
    free = request([SYSTEM, HELLO], tool_choice="auto").messages[0]["content"]
    bound = request([SYSTEM, HELLO], tool_choice="required").messages[0]["content"]
    assert bound.startswith(free)
    assert bound.removeprefix(free).strip() == "Each of your replies must call at least one tool."


def test_without_tools_nothing_is_added_and_nothing_is_read() -> None:
    model, chat = text_tools(fenced(LOOK), fenced(LOOK))
    for tools in (None, []):
        assert run(model.complete([SYSTEM, HELLO], tools)).message == {"role": "assistant", "content": fenced(LOOK)}
    assert [sent.messages for sent in chat.requests] == [[SYSTEM, HELLO]] * 2


def test_everything_else_of_the_request_passes_through() -> None:
    model, chat = text_tools("Fine.", temperature=0.5, top_p=1)
    assert (model.name, model.args) == ("local/model", {"temperature": 0.5, "top_p": 1})
    run(model.complete([HELLO], TOOLS, response_format={"type": "json_object"}, temperature=0))
    assert chat.requests[0].model == "local/model"
    assert chat.requests[0].args == {"temperature": 0, "top_p": 1}
    assert chat.requests[0].response_format == {"type": "json_object"}


def test_a_system_message_of_parts_gets_one_more() -> None:
    parts = [{"type": "text", "text": "The policy.", "cache_control": {"type": "ephemeral"}}]
    system = request([{"role": "system", "content": parts}, HELLO]).messages[0]
    assert system["content"][0] == parts[0]
    assert system["content"][1]["text"].startswith("# Calling tools")


# How a model's calls are read


@pytest.mark.parametrize(
    "text",
    [
        fenced(LOOK),
        f"```tool_call {LOOK}```",
        f"```tool_calls\n[{LOOK}]\n```",
        f"```  tool_call\r\n{LOOK}\r\n```  ",
        f"```json\n{LOOK}\n```",
        f"```\n{LOOK}\n```",
        f"<tool_call>{LOOK}</tool_call>",
        f"<tool_call>\n{LOOK}\n</tool_call>",
        LOOK,
        f"  \n{LOOK}\n",
        f"[{LOOK}]",
        # Cut off behind the call.
        f"```tool_call\n{LOOK}",
        f"<tool_call>\n{LOOK}\n",
        f"```tool_call\n{LOOK}\n</tool_call>",
        f"```tool_call\n{LOOK},\n```",
        # Laid out over several lines.
        f"```tool_call\n{json.dumps(json.loads(LOOK), indent=2)}\n```",
        # As OpenAI has it.
        '```tool_call\n{"name": "look", "arguments": "{\\"item_id\\": \\"lamp\\"}"}\n```',
    ],
)
def test_a_call_is_read_in_whatever_form_it_comes(text: str) -> None:
    message = answer(text)
    assert message["content"] is None
    assert calls_of(message) == [("look", '{"item_id": "lamp"}')]
    assert message["tool_calls"][0]["id"] == "call_1"
    assert message["tool_calls"][0]["type"] == "function"


@pytest.mark.parametrize(
    "text",
    [
        fenced(LOOK, RENAME),
        f"```tool_call\n{LOOK}\n{RENAME}\n```",
        f"```tool_call\n[{LOOK}, {RENAME}]\n```",
        f"```json\n[{LOOK}, {RENAME}]\n```",
        f"<tool_call>{LOOK}</tool_call><tool_call>{RENAME}</tool_call>",
        f"{LOOK}\n{RENAME}",
    ],
)
def test_several_calls_keep_their_order(text: str) -> None:
    message = answer(text)
    assert [name for name, _ in calls_of(message)] == ["look", "rename"]
    assert [call["id"] for call in message["tool_calls"]] == ["call_1", "call_2"]


def test_text_next_to_calls_is_kept() -> None:
    message = answer(f"Let me look.\n\n{fenced(LOOK)}\nAnd rename it.\n{fenced(RENAME)}\n\nOne moment.\n")
    assert message["content"] == "Let me look.\n\nAnd rename it.\n\nOne moment."
    assert len(message["tool_calls"]) == 2


def test_a_block_of_something_else_hides_no_call() -> None:
    for other in ("```python\nlook(1)\n```", '```json\n{"price": 1}\n```', "```\nplain\n```"):
        message = answer(f"{other}\nSo I look:\n{fenced(LOOK)}")
        assert calls_of(message) == [("look", '{"item_id": "lamp"}')]
        assert message["content"] == f"{other}\nSo I look:"


@pytest.mark.parametrize("marked", ['{"name": "done"}', '{"name": "done", "arguments": {}}'])
def test_arguments_of_a_marked_call_are_optional(marked: str) -> None:
    assert calls_of(answer(fenced(marked))) == [("done", "{}")]


def test_fences_and_line_breaks_inside_of_arguments_end_nothing() -> None:
    note = 'See:\n```python\nprint("</tool_call>")\n```\nEnd.'
    written = json.dumps({"name": "rename", "arguments": {"name": note}})
    for text in (written, written.replace("\\n", "\n")):
        [(name, arguments)] = calls_of(answer(f"{fenced(text)}\nDone."))
        assert name == "rename"
        assert json.loads(arguments) == {"name": note}


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "",
        "   ",
        "[hangs up]",
        "{} is what I would call empty.",
        'Your order: {"name": "lamp", "arguments": {}}',
        '```json\n{"name": "lamp", "price": 10}\n```',
        '```json\n{"name": "lamp"}\n```',
        '```json\n{"name": "lamp", "arguments": {}, "more": 1}\n```',
        '```json\n[{"name": "lamp", "arguments": {}}, 5]\n```',
        "```python\nlook(1)\n```\nThat is how.",
        '```json\n{"name": "lamp",\n```',
        '{"name": "lamp", "price": 10}',
        f"```tool_calling\n{LOOK}\n```",
        "```json\n```",
    ],
)
def test_what_is_no_call_stays_text_to_the_letter(text: str) -> None:
    sent = {"role": "assistant", "content": text, "reasoning_content": "Hm."}
    model, _ = text_tools(sent)
    reply = run(model.complete([SYSTEM, HELLO], TOOLS))
    assert reply.message == sent
    assert reply.finish_reason == "stop"


def test_calls_that_are_only_thought_of_are_not_made() -> None:
    draft = f"<think>I could {fenced(RENAME)}, but no.</think>"
    message = answer(f"{draft}\n{LOOK}")
    assert calls_of(message) == [("look", '{"item_id": "lamp"}')]
    assert message["content"] == draft
    assert not calls_of(answer(f"{draft}\nHello!"))


# Calls that cannot be read


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (fenced('{"name": "look", "arguments": {"item_id": lamp}}'), "look"),
        (fenced('{"name": "look", "arguments": {"item_id": "lamp"}'), "look"),
        (fenced(f"{LOOK}}}"), "look"),
        (fenced("look(item_id='lamp')"), "tool_call"),
        (fenced(""), "tool_call"),
        (fenced("[]"), "tool_call"),
        (fenced("5"), "tool_call"),
        (fenced('{"tool": "look", "arguments": {}}'), "tool_call"),
        (fenced('{"name": 5, "arguments": {}}'), "tool_call"),
        (fenced('{"name": "", "arguments": {}}'), "tool_call"),
        ('<tool_call>{"name": ""', "tool_call"),
        (fenced('{"name": "look", "parameters": {"item_id": "lamp"}}'), "look"),
        # The first could be made, but what follows it was meant as well.
        (fenced(f"{LOOK}\n{RENAME[:-3]}"), "look"),
        (f"<tool_call>{LOOK[:-1]}</tool_call>", "look"),
        (f"<tool_call>{LOOK[:-9]}", "look"),
        # Unmarked, and yet plainly meant as a call.
        (LOOK[:-1], "look"),
        (f"{LOOK} I am looking.", "look"),
        (f"```json\n{LOOK[:-1]}\n```", "look"),
        (fenced('{"name": "look", "arguments": {"n": ' + "9" * 5000 + "}}"), "look"),
        (fenced('{"name": "look", "arguments": ' + "[" * 200_000), "look"),
    ],
)
def test_a_call_that_cannot_be_read_is_answered_with_an_error(text: str, name: str) -> None:
    message = answer(text)
    assert calls_of(message) == [(name, text)]
    reply = as_message(message, "agent")
    assert reply.tool_calls
    assert reply.tool_calls[0].malformed == text
    assert reply.tool_calls[0].arguments == {}


@pytest.mark.parametrize("arguments", ["[1]", "5", '"lamp"', "true"])
def test_arguments_that_are_no_object_are_malformed(arguments: str) -> None:
    reply = as_message(answer(fenced(f'{{"name": "look", "arguments": {arguments}}}')), "agent")
    assert reply.tool_calls
    assert reply.tool_calls[0].name == "look"
    assert reply.tool_calls[0].malformed == arguments.strip('"')


def test_nesting_is_no_exception() -> None:
    # Near the interpreter's limit some Pythons read what they cannot write.
    for depth in (50, *range(850, 1000), 1400, 5000, 100_000):
        text = fenced('{"name": "look", "arguments": {"deep": ' + "[" * depth + "]" * depth + "}}")
        assert [name for name, _ in calls_of(answer(text))] == ["look"]


def test_of_several_blocks_the_broken_one_alone_is_malformed() -> None:
    broken = fenced(RENAME[:-1])
    assert calls_of(answer(f"{fenced(LOOK)}\n{broken}")) == [("look", '{"item_id": "lamp"}'), ("rename", broken)]


PIECES = ["```", "tool_call", "json", "<tool_call>", "</tool_call>", "</think>", LOOK, LOOK[:9], *'{[}]" ,x\n']


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_reply_is_an_exception_and_no_text_is_lost_unread(text: str) -> None:
    message = answer(text)
    if not calls_of(message):
        assert message == {"role": "assistant", "content": text}
    for call in message.get("tool_calls") or []:
        assert call["function"]["name"]
        assert isinstance(call["function"]["arguments"], str)


def test_white_space_without_end_is_read_in_no_time() -> None:
    text = "```tool_call\n{" + " \n" * 200_000 + "x"
    assert calls_of(answer(text)) == [("tool_call", text)]


# How the conversation is shown


def native(content: str | None, *calls: tuple[str, str, str]) -> dict[str, Any]:
    listed = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": content, "tool_calls": listed}


def result(call: str, content: str | None) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": content}


def test_a_conversation_goes_on_over_calls_and_results() -> None:
    first = f"Let me look.\n<tool_call>{LOOK}</tool_call>   "
    model, chat = text_tools(first, fenced(RENAME, LOOK), "Done.")
    talk: list[dict[str, Any]] = [SYSTEM, HELLO]
    for results in (["a lamp"], ["renamed", "a light"], []):
        message = run(model.complete(talk, TOOLS)).message
        talk += [message, *(result(c["id"], r) for c, r in zip(message.get("tool_calls") or [], results, strict=True))]
    assert talk[-1] == {"role": "assistant", "content": "Done."}
    assert [call["id"] for message in talk for call in message.get("tool_calls", [])] == ["call_1", "call_2", "call_3"]
    system, *shown = chat.requests[-1].messages
    assert system == chat.requests[0].messages[0]
    assert shown == [
        HELLO,
        # To the letter, blanks and all.
        {"role": "assistant", "content": first},
        {"role": "user", "content": '<tool_result call="call_1" tool="look">\na lamp\n</tool_result>'},
        {"role": "assistant", "content": fenced(RENAME, LOOK)},
        {
            "role": "user",
            "content": '<tool_result call="call_2" tool="rename">\nrenamed\n</tool_result>\n\n'
            '<tool_result call="call_3" tool="look">\na light\n</tool_result>',
        },
    ]
    assert not any(sent.tools for sent in chat.requests)


def test_calls_of_a_history_are_shown_as_the_protocol_wants_them() -> None:
    history = [
        SYSTEM,
        HELLO,
        native("One moment.", ("x", "look", '{"item_id": "lamp"}'), ("y", "done", "")),
        result("x", "a lamp"),
        result("y", None),
        HELLO,
    ]
    before = copy.deepcopy(history)
    _, hello, called, results = request(history).messages
    assert hello == HELLO
    assert called == {
        "role": "assistant",
        "content": f"One moment.\n\n{fenced(LOOK)}\n\n" + fenced('{"name": "done", "arguments": {}}'),
    }
    assert results["content"] == (
        '<tool_result call="x" tool="look">\na lamp\n</tool_result>\n\n'
        '<tool_result call="y" tool="done">\n\n</tool_result>\n\nHello'
    )
    assert history == before


def test_what_is_shown_of_a_history_reads_as_the_same_calls() -> None:
    history = [HELLO, native(None, ("x", 'odd "name"', '{"text": "```\\n Größe"}')), result("x", "ok")]
    shown = request(history).messages[2]["content"]
    assert calls_of(answer(shown)) == [('odd "name"', '{"text": "```\\n Größe"}')]


def test_ids_go_on_where_a_history_ends_and_never_start_again() -> None:
    history = [HELLO, native(None, ("call_7", "look", "{}"), ("other", "look", "{}")), result("call_7", "a")]
    model, _ = text_tools(fenced(LOOK), fenced(LOOK))
    assert run(model.complete(history, TOOLS)).message["tool_calls"][0]["id"] == "call_8"
    # A window has dropped everything that had an id.
    assert run(model.complete([HELLO], TOOLS)).message["tool_calls"][0]["id"] == "call_9"


def test_messages_of_the_user_in_a_row_become_one() -> None:
    parts = {"role": "user", "content": [{"type": "text", "text": "c"}]}
    said = {"role": "assistant", "content": "d"}
    shown = request([SYSTEM, {"role": "user", "content": "a"}, {"role": "user", "content": "b"}, said, HELLO, parts])
    assert shown.messages[1:] == [
        {"role": "user", "content": "a\n\nb"},
        said,
        {"role": "user", "content": [{"type": "text", "text": "Hello"}, {"type": "text", "text": "c"}]},
    ]


def test_result_of_an_unknown_call_is_shown() -> None:
    assert (
        request([HELLO, result("z", "stray")])
        .messages[1]["content"]
        .endswith('<tool_result call="z">\nstray\n</tool_result>')
    )


# What a caller gets


def test_usage_cost_and_provider_fields_are_kept() -> None:
    sent = ChatReply(
        message={"role": "assistant", "content": fenced(LOOK), "reasoning_content": "I look."},
        usage=Usage(prompt_tokens=7, completion_tokens=3),
        cost=0.25,
        seconds=1.5,
        finish_reason="stop",
        model="model-0613",
    )
    model, chat = text_tools(sent, "Fine.")
    reply = run(model.complete([SYSTEM, HELLO], TOOLS))
    assert reply.message["reasoning_content"] == "I look."
    assert (reply.usage, reply.cost, reply.seconds, reply.model) == (sent.usage, 0.25, 1.5, "model-0613")
    assert reply.finish_reason == "tool_calls"
    run(model.complete([SYSTEM, HELLO, reply.message, result("call_1", "a lamp")], TOOLS))
    assert chat.requests[1].messages[2] == sent.message


def test_calls_that_a_server_has_read_by_itself_are_taken_as_they_are() -> None:
    sent = native(fenced(RENAME), ("srv-1", "look", "{}"))
    assert answer(sent) == sent


def test_model_error_is_raised_unchanged() -> None:
    failure = ModelError("no more", kind="quota")
    with pytest.raises(ModelError) as caught:
        answer(failure)
    assert caught.value is failure
