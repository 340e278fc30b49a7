"""A trial's tools as the objects of agent frameworks; a framework is imported when its tools are asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from ..actors import named_by_framework
from ..documents import json_or_none
from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

_DEFINITIONS = "#/$defs/"


class TrialTool(Protocol):
    """A tool of a trial, as the frameworks need it.

    Attributes:
        name: The tool's name.
        description: The text that a model reads.
        parameters: JSON schema of the arguments, an object.
    """

    name: str
    description: str
    parameters: dict[str, Any]

    def call(self, **arguments: Any) -> str:
        """Call the tool, wait, and return the text of its result; a failed tool gives ``Error: …``."""
        ...

    async def acall(self, **arguments: Any) -> str:
        """Do the same as ``call`` without blocking the event loop."""
        ...

    async def acall_result(self, arguments: Any) -> Any:
        """Call the tool and return the text of its result, and whether it failed."""
        ...


def load_framework(module: str, package: str) -> ModuleType:
    """Return a module of a framework, imported now.

    Raises:
        ConfigurationError: It is not installed, or it cannot be imported; names the package.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = f"{module}.".startswith(f"{error.name}.")
        problem = "is not installed" if missing else f"cannot be imported ({error})"
        raise ConfigurationError(f"{package} {problem}: pip install {package}") from error


def _agent_framework(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``agent_framework.FunctionTool``, which need no approval."""
    tool_class = load_framework("agent_framework", "agent-framework-core").FunctionTool
    return [
        tool_class(
            name=tool.name,
            description=tool.description,
            func=tool.acall,
            input_model=tool.parameters,
            approval_mode="never_require",
        )
        for tool in trial_tools
    ]


def _google_adk(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``google.adk.tools.base_tool.BaseTool``.

    The kit gives a result to the model as ``{"result": TEXT}``, as it does with the text of any function.
    """
    base: Any = load_framework("google.adk.tools.base_tool", "google-adk").BaseTool
    types = load_framework("google.genai.types", "google-adk")

    class TrialBaseTool(base):  # type: ignore[misc] # a class that is known when it is imported
        """A tool of the trial with its JSON schema, which a function's signature could not give."""

        def __init__(self, tool: TrialTool) -> None:
            super().__init__(name=tool.name, description=tool.description)
            self._tool = tool

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=self.name, description=self.description, parameters_json_schema=self._tool.parameters
            )

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> dict[str, str]:
            with named_by_framework(getattr(tool_context, "agent_name", None)):
                return {"result": await self._tool.acall(**args)}

    return [TrialBaseTool(tool) for tool in trial_tools]


def _langchain(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``langchain_core.tools.BaseTool``, which work with ``invoke`` and ``ainvoke``."""
    base: Any = load_framework("langchain_core.tools", "langchain-core").BaseTool
    config: Any = load_framework("langchain_core.runnables", "langchain-core").ensure_config

    def named() -> AbstractContextManager[None]:
        # create_agent(name=…) writes it for everything in the agent.
        return named_by_framework(config().get("metadata", {}).get("lc_agent_name"))

    class TrialBaseTool(base):  # type: ignore[misc] # a class that is known when it is imported
        """A tool of the trial. StructuredTool would keep a parameter named ``config`` for itself."""

        _tool: Any

        def __init__(self, tool: TrialTool) -> None:
            super().__init__(name=tool.name, description=tool.description, args_schema=tool.parameters)
            self._tool = tool

        def _run(self, /, **arguments: Any) -> str:
            with named():
                text: str = self._tool.call(**arguments)
            return text

        async def _arun(self, /, **arguments: Any) -> str:
            with named():
                text: str = await self._tool.acall(**arguments)
            return text

    return [TrialBaseTool(tool) for tool in trial_tools]


class TrialSession:
    """The part of ``mcp.ClientSession`` that agents use, without a server: the calls go to the trial.

    Results are the SDK's own objects. A program that connects by itself is given the trial's ``mcp_url`` instead.

    Raises:
        ConfigurationError: The SDK is not installed.
    """

    def __init__(self, trial_tools: Sequence[TrialTool]) -> None:
        self._types = load_framework("mcp.types", "mcp")
        self._tools = {tool.name: tool for tool in trial_tools}

    async def initialize(self) -> None:
        """Do nothing: there is no server to greet."""

    async def list_tools(self, *_args: Any, **_kwargs: Any) -> Any:
        """Return a ``ListToolsResult`` with all tools; there is one page."""
        tools = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters}
            for tool in self._tools.values()
        ]
        return self._types.ListToolsResult.model_validate({"tools": tools})

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, **_kwargs: Any) -> Any:
        """Return a ``CallToolResult``; one of an unknown or a failed tool has the SDK's mark of an error."""
        text, failed = f"Error: unknown tool {name!r}", True
        if name in self._tools:
            text, failed = (await self._tools[name].acall_result(arguments or {}))[:2]
        content = [{"type": "text", "text": text}]
        return self._types.CallToolResult.model_validate({"content": content, "isError": failed})


def _openai_agents(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``agents.FunctionTool``, with the schemas as they are (not in strict mode)."""
    tool_class = load_framework("agents", "openai-agents").FunctionTool

    def called(tool: TrialTool) -> Callable[[Any, str], Any]:
        async def call(context: Any, text: str) -> str:
            arguments = json_or_none(text) if text.strip() else {}
            if not isinstance(arguments, dict):
                return f"Error: arguments of '{tool.name}' must be a JSON object, got {text[:80]}"
            with named_by_framework(getattr(getattr(context, "agent", None), "name", None)):
                return await tool.acall(**arguments)

        return call

    return [
        tool_class(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=called(tool),
            strict_json_schema=False,
        )
        for tool in trial_tools
    ]


def _pydantic_ai(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``pydantic_ai.Tool``; arguments that do not fit reach the environment, which refuses them."""
    tool_class = load_framework("pydantic_ai", "pydantic-ai-slim").Tool

    def called(tool: TrialTool) -> Callable[..., Any]:
        async def call(context: Any, /, **arguments: Any) -> str:
            with named_by_framework(getattr(getattr(context, "agent", None), "name", None)):
                return await tool.acall(**arguments)

        return call

    return [
        tool_class.from_schema(
            called(tool),
            name=tool.name,
            description=tool.description,
            json_schema=tool.parameters,
            takes_ctx=True,
        )
        for tool in trial_tools
    ]


def _smolagents(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``smolagents.Tool``, which block."""
    base: Any = load_framework("smolagents", "smolagents").Tool

    class TrialBaseTool(base):  # type: ignore[misc] # a class that is known when it is imported
        """A tool of the trial, whose parameters are not in the signature of its method."""

        skip_forward_signature_validation = True
        output_type = "string"

        def __init__(self, tool: TrialTool) -> None:
            self.name, self.description, self.inputs = tool.name, tool.description, inputs_of(tool.parameters)
            self._tool = tool
            super().__init__()

        def forward(self, /, **arguments: Any) -> str:
            return self._tool.call(**arguments)

    return [TrialBaseTool(tool) for tool in trial_tools]


def inputs_of(parameters: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters of a JSON schema as smolagents declares them.

    Each has a ``type``, a ``description`` and, if it can be absent, ``nullable``. Definitions are written out, since
    there is no place for them. A parameter of several types becomes ``any``, of which smolagents makes a string.
    """
    required = parameters.get("required", ())
    definitions = parameters.get("$defs", {})
    return {
        name: _input(_written_out(schema, definitions), optional=name not in required)
        for name, schema in parameters.get("properties", {}).items()
    }


def _input(schema: dict[str, Any], *, optional: bool) -> dict[str, Any]:
    options = schema.get("anyOf", [schema])
    kinds = [option for option in options if option.get("type") != "null"]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    if len(kinds) == 1 and isinstance(kinds[0].get("type"), str):
        rest = kinds[0] | rest
    else:
        rest["type"] = "any"
    nullable = optional or len(kinds) < len(options)
    return {"description": "", **rest} | ({"nullable": True} if nullable else {})


def _written_out(schema: Any, definitions: dict[str, Any], inside: tuple[str, ...] = ()) -> Any:
    """Return a schema without references; one to a definition that contains itself becomes any object."""
    if isinstance(schema, list):
        return [_written_out(part, definitions, inside) for part in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix(_DEFINITIONS)
    if name in inside:
        return {"type": "object"}
    if name in definitions:
        return _written_out(definitions[name], definitions, (*inside, name))
    return {key: _written_out(value, definitions, inside) for key, value in schema.items()}


#: What makes the objects of each framework. Raises ``ConfigurationError`` if the framework is not installed.
FRAMEWORKS: dict[str, Callable[[Sequence[TrialTool]], Any]] = {
    "agent_framework": _agent_framework,
    "google_adk": _google_adk,
    "langchain": _langchain,
    "mcp": TrialSession,
    "openai_agents": _openai_agents,
    "pydantic_ai": _pydantic_ai,
    "smolagents": _smolagents,
}
