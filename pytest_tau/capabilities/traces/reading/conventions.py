"""Conventions: which attributes say what a span is, and where each has messages, calls, results, names and tokens.

Everything that instrumentations call differently is in the tables here, in the order in which it is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .attributes import Attributes, decoded_text
from .messages import (
    Said,
    alternatives,
    arguments_of,
    decoded,
    is_error_text,
    read_messages,
    text_of,
    unwrapped,
    without_framework,
)
from .spans import at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .spans import Span

#: What a span is: a call of a model, the execution of a tool, an agent (or a chain that may have messages), or aside of
#: the conversation with all that is in it; by the value of an attribute, in lower case.
ROLES: Final[dict[str, dict[str, str]]] = {
    "gen_ai.operation.name": {
        **dict.fromkeys(("chat", "generate_content", "text_completion", "completion", "message"), "model"),
        **dict.fromkeys(("invoke_agent", "invoke_workflow", "plan"), "agent"),
        "execute_tool": "tool",
        **dict.fromkeys(("embeddings", "retrieval", "create_agent"), ""),
    },
    "openinference.span.kind": {
        **dict.fromkeys(("agent", "chain"), "agent"),
        **dict.fromkeys(("guardrail", "evaluator"), "aside"),
        **dict.fromkeys(("embedding", "retriever", "reranker", "prompt"), ""),
        "llm": "model",
        "tool": "tool",
    },
    "langfuse.observation.type": {
        **dict.fromkeys(("agent", "chain", "span"), "agent"),
        **dict.fromkeys(("guardrail", "evaluator"), "aside"),
        "generation": "model",
        "tool": "tool",
    },
    "mlflow.spanType": {
        **dict.fromkeys(("chat_model", "llm"), "model"),
        **dict.fromkeys(("agent", "chain", "workflow"), "agent"),
        "tool": "tool",
        "evaluator": "aside",
        "guardrail": "aside",
    },
    "langsmith.run_type": {"llm": "model", "tool": "tool", "chain": "agent"},
    "langsmith.span.kind": {"llm": "model", "tool": "tool", "chain": "agent"},
    "openai_agents.type": {
        **dict.fromkeys(("generation", "response"), "model"),
        **dict.fromkeys(("function", "mcp_tools"), "tool"),
        "agent": "agent",
        "guardrail": "aside",
    },
    "ai.operationId": {
        **dict.fromkeys(("ai.generatetext.dogenerate", "ai.streamtext.dostream"), "model"),
        **dict.fromkeys(("ai.generateobject.dogenerate", "ai.streamobject.dostream"), "model"),
        **dict.fromkeys(("ai.generatetext", "ai.streamtext"), "agent"),
        "ai.toolcall": "tool",
    },
    "traceloop.span.kind": {"tool": "tool", "agent": "agent", "workflow": "agent", "task": "agent"},
    "llm.request.type": {"chat": "model", "completion": "model"},
}
#: Attributes that only spans of one kind have, for those that say nothing else.
_TELLING: Final = {
    **dict.fromkeys(("gen_ai.input.messages", "gen_ai.prompt.0.role", "llm.input_messages.0.message.role"), "model"),
    **dict.fromkeys(("request_data", "gen_ai.request.model"), "model"),
    **dict.fromkeys(("gen_ai.tool.name", "tool_arguments", "tool.name"), "tool"),
}
#: Beginnings of names of spans that have no other sign; also taken off names of tools.
_NAMES: Final = {"execute_tool ": "tool", "running tool: ": "tool", "invoke_agent ": "agent", "chat ": "model"}

#: Where messages are: of the request, and of the answer. Attributes with an index after the name are one list.
MESSAGES: Final[tuple[tuple[str, str], ...]] = (
    ("gen_ai.input.messages", "gen_ai.output.messages"),
    ("llm.input_messages", "llm.output_messages"),
    ("gen_ai.prompt", "gen_ai.completion"),
    ("pydantic_ai.all_messages", ""),
    ("all_messages_events", ""),
    ("events", ""),
    ("langfuse.observation.input", "langfuse.observation.output"),
    ("mlflow.chat.messages", ""),
    ("mlflow.spanInputs", "mlflow.spanOutputs"),
    ("request_data", "response_data"),
    ("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
    ("ai.prompt.messages", "ai.response"),
    ("ai.prompt", "ai.response"),
    ("traceloop.entity.input", "traceloop.entity.output"),
    ("input.value", "output.value"),
)
#: Those with an attribute for each part of each message, of which some are lost to a limit on the number of attributes.
_FLAT: Final = ("llm.input_messages", "gen_ai.prompt")
_FEWER: Final = "the list of attributes (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT)"
_SYSTEM: Final = ("gen_ai.system_instructions",)
#: Where the parts of a tool's span are.
_TOOL_NAME: Final = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name", "tool_name")
_CALL_ID: Final = ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
_ARGUMENTS: Final = (
    *("gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args"),
    "langfuse.observation.input",
    *("mlflow.spanInputs", "traceloop.entity.input", "input.value"),
)
_RESULT: Final = (
    *("gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "gcp.vertex.agent.tool_response"),
    "langfuse.observation.output",
    *("mlflow.spanOutputs", "traceloop.entity.output", "output.value"),
)
#: What frameworks write around the arguments of a tool.
_AROUND_ARGUMENTS: Final = frozenset({"args", "sanitize_inputs_outputs", "input_str"})
#: What identifies a conversation; the first that any span of a trace has counts for all of them.
KEYS: Final = (
    *("gen_ai.conversation.id", "session.id", "langfuse.session.id", "langfuse.trace.session_id"),
    *("metadata.thread_id", "metadata.session_id", "metadata.conversation_id", "metadata.langfuse_session_id"),
    *("langsmith.trace.session_id", "langsmith.metadata.thread_id", "langsmith.metadata.session_id"),
    *("traceloop.association.properties.session_id", "traceloop.association.properties.thread_id"),
    *("traceloop.association.properties.chat_id", "group_id", "gcp.vertex.agent.session_id"),
    *("ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.threadId", "ai.telemetry.metadata.chatId"),
    *("mlflow.trace_metadata.mlflow.trace.session", "mlflow.trace.session"),
)
_AGENT: Final = ("gen_ai.agent.name", "agent.name", "agent_name", "metadata.lc_agent_name", "graph.node.id")
#: Where LangSmith has the message of an answer.
_ANSWER: Final = "output.value.generations.0.0.message.kwargs"
_MODEL: Final = (
    *("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "llm.response.model_name", "mlflow.llm.model"),
    *("langfuse.observation.model.name", "ai.model.id", f"{_ANSWER}.response_metadata.model_name", "model"),
)
#: Tokens sent, received, and read from a cache; and the cost in USD.
_USAGE: Final = {
    "prompt_tokens": (
        *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
        *("langfuse.observation.usage_details.prompt_tokens", "langfuse.observation.usage_details.input"),
        *("langfuse.observation.usage_details.input_tokens", "mlflow.chat.tokenUsage.input_tokens"),
        *(f"{_ANSWER}.usage_metadata.input_tokens", "ai.usage.promptTokens"),
    ),
    "completion_tokens": (
        *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
        *("langfuse.observation.usage_details.completion_tokens", "langfuse.observation.usage_details.output"),
        *("langfuse.observation.usage_details.output_tokens", "mlflow.chat.tokenUsage.output_tokens"),
        *(f"{_ANSWER}.usage_metadata.output_tokens", "ai.usage.completionTokens"),
    ),
    "cached_tokens": (
        *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
        *("llm.token_count.prompt_details.cache_read", "mlflow.chat.tokenUsage.cache_read_input_tokens"),
    ),
    "known_cost": ("llm.cost.total", "operation.cost", "pytest_tau.cost", "mlflow.llm.cost.total_cost"),
}
_TOOLS: Final = (
    *("gen_ai.tool.definitions", "llm.tools", "llm.request.functions", "mlflow.chat.tools", "tools"),
    *("langfuse.observation.input.tools", "llm.invocation_parameters.tools", "mlflow.spanInputs.tools"),
)
_RESPONSE_ID: Final = ("gen_ai.response.id", "llm.response.id", "ai.response.id")
_CHOICES: Final = ("gen_ai.request.choice.count", "llm.invocation_parameters.n", "request_data.n")
#: Events that are messages, in the forms of 2024 and 2025.
_ASKED: Final = {f"gen_ai.{role}.message" for role in ("system", "user", "assistant", "tool")}
_CHOICE: Final = "gen_ai.choice"
_DETAILS: Final = "gen_ai.client.inference.operation.details"
#: Attributes by which texts lie elsewhere.
_ELSEWHERE: Final = ("gen_ai.input.messages.ref", "gen_ai.output.messages.ref")
#: What our own export adds.
_OWN: Final = "pytest_tau."
#: What makes texts be recorded, by the beginning of the scope; the first that fits.
SETTINGS: Final = (
    ("opentelemetry.instrumentation.genai.openai_agents", "instrument the client of the model too"),
    ("opentelemetry.instrumentation.genai", "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"),
    ("opentelemetry.instrumentation.openai_v2", "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"),
    ("opentelemetry.instrumentation", "set TRACELOOP_TRACE_CONTENT=true"),
    ("opentelemetry.util.genai", "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"),
    ("openinference", "set OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and the others of this name to false"),
    ("pydantic-ai", "use InstrumentationSettings(include_content=True)"),
    ("langfuse", "record input and output of observations"),
    ("openai-agents", "texts of the Responses API are at the provider: instrument the client of the model"),
    ("langsmith", "set LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS to false"),
    ("", "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only, or what the instrumentation has for it"),
)


@dataclass(slots=True)
class Step:
    """A span of a conversation: a call of a model, the execution of a tool, or an agent.

    Attributes:
        role: ``model``, ``tool``, ``agent`` or ``aside``; empty for any other span.
        asked: The messages of the request.
        answers: The answers, mostly one.
        call: Of a tool: id, name, arguments and result.
        key: What identifies the conversation; empty if the span does not say it.
        rank: The place of its attribute in ``KEYS``.
        tools: Definitions of tools.
        delta: The request has only the messages since the previous one.
        own: What our own export has added.
        cut: Attributes whose JSON was cut.
        elsewhere: The texts are in other files.
        within: Of a tool, the agent whose span has it in it, if that counts as a call of a model.
        file: The file that it is from.
    """

    trace: str
    id: str
    parent: str
    name: str
    start: int
    end: int
    error: str | None
    scope: str
    role: str
    asked: list[Said] = field(default_factory=list)
    answers: list[list[Said]] = field(default_factory=list)
    call: Said | None = None
    arguments: dict[str, Any] | None = None
    key: str = ""
    rank: int = len(KEYS)
    agent: str = ""
    model: str = ""
    usage: dict[str, float] = field(default_factory=dict)
    response: str = ""
    tools: list[Any] = field(default_factory=list)
    delta: bool = False
    user: str = ""
    own: dict[str, Any] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)
    elsewhere: bool = False
    within: str = ""
    file: str = ""

    @property
    def has_messages(self) -> bool:
        """Return whether it says what was said."""
        return bool(self.answers) or any(message.role != "system" for message in self.asked)


def role_of(attributes: Mapping[str, Any], name: str, events: Iterable[tuple[str, Any]] = ()) -> str:
    """Return what a span is: by its attributes, then by its events, then by its name."""
    for attribute, roles in ROLES.items():
        value = str(decoded_text(attributes.get(attribute, ""))).lower()
        if value in roles:
            return roles[value]
    if any(event in _ASKED or event in (_CHOICE, _DETAILS) for event, _ in events):
        return "model"
    telling = next((role for attribute, role in _TELLING.items() if attribute in attributes), "")
    return telling or next((role for start, role in _NAMES.items() if name.startswith(start)), "")


def step_of(span: Span) -> Step:
    """Return a span as what it is in a conversation."""
    for name, content in span.events:
        if name == _DETAILS:
            span.attributes |= {key: value for key, value in content.items() if key not in span.attributes}
    look = Attributes(span.attributes)
    role = role_of(span.attributes, span.name, span.events)
    step = Step(span.trace, span.id, span.parent, span.name, span.start, span.end, span.error, span.scope, role)
    step.file = span.file
    for step.rank, name in enumerate((*KEYS, "")):
        if name and (conversation_key := look.first((name,))) not in (None, ""):
            step.key = str(conversation_key).encode("utf-8", "backslashreplace").decode()
            break
    step.user = look.text(("user.id", "langfuse.user.id", "enduser.id"))
    step.own = {key[len(_OWN) :]: value for key, value in span.attributes.items() if key.startswith(_OWN)}
    if role in ("model", "agent"):
        _add_messages(step, span, look)
    elif role == "tool":
        _add_call(step, look)
    return step


def _add_messages(step: Step, span: Span, look: Attributes) -> None:
    several = int(look.number(_CHOICES)) > 1
    request: list[Said] = []
    is_history = step.role == "agent"
    for incoming, outgoing in MESSAGES:
        if not request and (request := read_messages(look.whole(incoming, step.cut))):
            is_history = is_history or not outgoing
        if not step.answers and outgoing:
            step.answers = alternatives(look.whole(outgoing, step.cut), several=several)
    if (not request and not step.answers) or any(name in _ASKED for name, _ in span.events):
        request, step.answers = _of_events(span.events) or (request, step.answers)
    if span.dropped and (numbers := look.numbers(_FLAT)):
        # The first ones are lost, so that the first message of the rest may lack parts, and the answer as well.
        step.cut.append(_FEWER)
        request = request[1:] if numbers[0] else request
        step.answers = [answer for answer in step.answers if all(message.text or message.calls for message in answer)]
        step.answers = [
            answer for answer in step.answers if all(call.name for message in answer for call in message.calls)
        ]
    system = read_messages(look.whole(_SYSTEM[0], step.cut), "system")
    step.asked = [*system, *request]
    if "smolagents" in span.scope:
        step.asked = without_framework(step.asked)
        step.answers = [without_framework(answer) for answer in step.answers]
    if is_history:
        _as_history(step)
    step.agent, step.model = look.text(_AGENT), look.text(_MODEL)
    if span.attributes.get("openai_agents.type") == "agent":
        step.agent = span.name
    step.usage = {name: look.number(names) for name, names in _USAGE.items() if look.first(names) is not None}
    step.response, step.delta = look.text(_RESPONSE_ID), step.own.get("history") == "delta"
    step.elsewhere = look.first(_ELSEWHERE) is not None
    tools = decoded(look.first(_TOOLS))
    step.tools = [_definition(tool) for tool in tools] if isinstance(tools, list) else []


def _as_history(step: Step) -> None:
    """Take all messages, which may be in the input or in the output, for a request and one answer."""
    (answer,) = step.answers[:1] or [[]]
    if answer[: len(step.asked)] == step.asked or len(answer) > 1:
        messages = answer
    else:
        messages = step.asked if step.asked[-len(answer) :] == answer else [*step.asked, *answer]
    if messages and messages[-1].role == "assistant":
        step.asked, step.answers = messages[:-1], [messages[-1:]]


def _of_events(events: Iterable[tuple[str, Any]]) -> tuple[list[Said], list[list[Said]]] | None:
    """Return the messages that events are; None if there are none."""
    request: list[Said] = []
    answers: dict[int, list[Said]] = {}
    for name, content in events:
        inner = decoded(content.get("gen_ai.event.content", content)) if isinstance(content, dict) else {}
        if name in _ASKED:
            request += read_messages({"role": name.split(".")[1], **inner} if isinstance(inner, dict) else inner)
        elif name == _CHOICE and isinstance(inner, dict):
            message = inner.get("message", inner)
            message = {"role": "assistant", **message} if isinstance(message, dict) else message
            answers[int(inner.get("index") or 0)] = read_messages(message, "assistant")
    return (request, list(answers.values())) if request or answers else None


def _add_call(step: Step, look: Attributes) -> None:
    value, call_id, failed = unwrapped(look.first(_RESULT))
    name = look.text(_TOOL_NAME) or step.name
    for start in _NAMES:
        name = name.removeprefix(start)
    text = text_of(value) if isinstance(value, str) else text_of(decoded(value))
    step.call = Said("tool", text, call_id=look.text(_CALL_ID) or call_id, name=name)
    step.call.error = failed or step.error is not None or is_error_text(text)
    arguments = look.first(_ARGUMENTS)
    decoded_arguments = decoded(arguments)
    for inner in ("kwargs", "inputs"):
        if (
            isinstance(decoded_arguments, dict)
            and isinstance(decoded_arguments.get(inner), dict)
            and decoded_arguments.keys() & _AROUND_ARGUMENTS
        ):
            decoded_arguments = decoded_arguments[inner]
    step.arguments = arguments_of(decoded_arguments)[0] if isinstance(decoded_arguments, dict) else None
    step.agent = look.text(_AGENT)


def _definition(value: Any) -> Any:
    """Return the definition of a tool, without what conventions put around it."""
    definition = decoded(value)
    definition = (
        decoded(at(definition, "tool.json_schema"))
        if isinstance(definition, dict) and "tool" in definition
        else definition
    )
    inner = definition.get("function") if isinstance(definition, dict) else None
    return inner if isinstance(inner, dict) else definition
