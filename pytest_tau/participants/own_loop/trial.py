"""A trial as an agent that runs its own loop is given it, with its tools."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ...actors import Speaking
from ...carried import carried
from ...errors import ConfigurationError, unknown_name
from ...models import clone
from ...proxies import loopback_exemption
from ...variables import environment_variables
from ..chat_format import visible_to
from .bridge import Bridge
from .session import AgentSession

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...endpoint import ToolOutcome
    from ...environment import Tool
    from ...models import Message
    from ..context import ParticipantContext


def tools_for(
    name: str, tools: Sequence[TrialTool], make: Callable[[str, Sequence[TrialTool]], Any] | None = None
) -> Any:
    """Return tools as objects of a framework.

    Args:
        name: The framework's name.
        tools: The tools.
        make: Asks the plugins of the run; it returns None if none knows the name.

    Raises:
        ConfigurationError: The name is unknown, or the framework is not installed.
    """
    by_factory = make(name, tools) if make else None
    if by_factory is not None:
        return by_factory
    # By name: integrations are imported when they are used, and may use what stands above this package.
    frameworks = importlib.import_module("pytest_tau.integrations.frameworks").FRAMEWORKS
    if name not in frameworks:
        raise ConfigurationError(f"tools_for: {unknown_name('framework', name, frameworks)}")
    return frameworks[name](tools)


#: The variables of the test run that any program is given: where programs and files are, language and terminal.
_NEEDED = {
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP"),
    # Windows.
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME", "USERPROFILE", "APPDATA"),
    *("LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES"),
}


def _is_needed(name: str) -> bool:
    return name.upper() in _NEEDED or name.startswith("LC_")


class TrialTool:
    """A tool of one trial.

    A call is carried out and recorded like that of any other agent. It does not raise if the tool fails: the result is
    then a text that begins with ``Error:``.

    Attributes:
        name: The tool's name.
        description: The description for the model.
        parameters: JSON schema of the arguments, an object.
    """

    def __init__(self, tool: Tool, bridge: Bridge) -> None:
        self.name, self.description, self.parameters = tool.name, tool.description, clone(tool.parameters)
        self._bridge = bridge

    def __repr__(self) -> str:
        return f"<TrialTool {self.name}>"

    @property
    def openai_schema(self) -> dict[str, Any]:
        """The tool in the format of OpenAI's chat API, a copy."""
        function = {"name": self.name, "description": self.description, "parameters": clone(self.parameters)}
        return {"type": "function", "function": function}

    def call(self, /, **arguments: Any) -> str:
        """Call the tool from blocking code and return the text of the result.

        Raises:
            RuntimeError: It is called on the event loop that must answer it, or while no message is being answered.
            concurrent.futures.CancelledError: The conversation ended before the call was answered.
        """
        return self.call_result(arguments).text

    async def acall(self, /, **arguments: Any) -> str:
        """Call the tool and return the text of the result, on any event loop.

        Raises:
            RuntimeError: No message is being answered.
            asyncio.CancelledError: The conversation ended before the call was answered.
        """
        return (await self.acall_result(arguments)).text

    def call_result(self, arguments: Any) -> ToolOutcome:
        """Call the tool from blocking code and return the result.

        Args:
            arguments: The arguments as a JSON object; for anything else, the result is an error.

        Raises:
            RuntimeError: As for ``call``.
            concurrent.futures.CancelledError: As for ``call``.
        """
        return self._bridge.call(self.name, arguments)

    async def acall_result(self, arguments: Any) -> ToolOutcome:
        """Call the tool and return the result, on any event loop.

        Args:
            arguments: The arguments as a JSON object; for anything else, the result is an error.

        Raises:
            RuntimeError: As for ``acall``.
            asyncio.CancelledError: As for ``acall``.
        """
        return await self._bridge.acall(self.name, arguments)


class AgentTrial:
    """One trial, for an agent that runs its own loop.

    Attributes:
        policy: The domain's policy, which belongs in the system message.
        ticket: The text that an agent without a user works from; None with a user.
        seed: The trial's seed.
        history: The conversation before the first message that the agent answers, oldest first: the greeting, or the
            task's message history as the agent sees it.
        tools: The tools that the agent can call.
    """

    def __init__(self, context: ParticipantContext) -> None:
        self.policy, self.seed = context.instructions, context.seed
        self.ticket: str | None = context.task.ticket if context.solo else None
        self.history: list[Message] = clone(visible_to(context.side, context.past))
        self.bridge = Bridge([tool.name for tool in context.tools])
        self.tools = [TrialTool(tool, self.bridge) for tool in context.tools]
        self.session = AgentSession(context.models, self.bridge, self.tools, context.other_loop)
        self._make_tools = context.make_tools
        self._outlives = context.other_loop is not None
        self._program_env = context.program_env

    def speaking_as(self, actor: str) -> Speaking:
        """Say who speaks from now on, if the agent consists of several actors.

        The tool calls and model calls of this task or thread are the actor's, and so are those of the tasks and threads
        that it starts. The text that ``run`` returns is the actor's, unless another one is named after it. In a
        ``with`` statement the one before speaks again at its end.

        Args:
            actor: Its name.

        Raises:
            ParticipantError: The agent declares its actors, but not this one.
        """
        self.bridge.actors.check(actor)
        return Speaking(actor, self.bridge.actors)

    def tools_for(self, name: str) -> Any:
        """Return the tools as objects of a framework.

        Args:
            name: ``langchain``, ``openai_agents``, ``pydantic_ai``, ``agent_framework``, ``smolagents``,
                ``google_adk``, ``mcp``, or a name that a plugin knows (``pytest_tau_tools_for``).

        Raises:
            ConfigurationError: The name is unknown, or the framework is not installed.
        """
        return tools_for(name, self.tools, self._make_tools)

    @property
    def base_url(self) -> str:
        """The address of the trial's model endpoint for clients of OpenAI's API: ``http://127.0.0.1:…/v1``.

        Raises:
            ConfigurationError: The packages of the extra ``endpoint`` are not installed.
        """
        return self.session.address.base_url

    @property
    def api_key(self) -> str:
        """The key for the endpoint, which identifies the trial."""
        return self.session.address.api_key

    @property
    def mcp_url(self) -> str:
        """The address of the trial's tools for clients of MCP, over streamable HTTP."""
        return self.session.address.mcp_url

    @property
    def anthropic_base_url(self) -> str:
        """The address of the endpoint for clients of Anthropic's API, which add the version themselves."""
        return self.session.address.anthropic_base_url

    @property
    def environ(self) -> dict[str, str]:
        """The environment variables of this process with those that point a child process to the trial's endpoint.

        ``OPENAI_BASE_URL``, ``OPENAI_API_KEY``, ``ANTHROPIC_BASE_URL``, ``ANTHROPIC_API_KEY`` and ``TAU_MCP_URL``. If a
        proxy is set, ``NO_PROXY`` exempts this machine from it.
        """
        return self._pointed_to_trial(environment_variables())

    @property
    def program_environ(self) -> dict[str, str]:
        """The environment variables of an agent that is a program: what it needs to run, what is named, the endpoint.

        Keys of the test run are not for an agent that is tested: it calls its model through the endpoint.
        """
        return self._pointed_to_trial(self.shared_environ)

    @property
    def shared_environ(self) -> dict[str, str]:
        """The environment variables of a program that several trials share: without the endpoint."""
        variables = {
            name: value
            for name, value in environment_variables().items()
            if _is_needed(name) or name in self._program_env
        }
        return {**variables, **loopback_exemption(variables)}

    def _pointed_to_trial(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return variables with those of the endpoint, which is on this machine and reached without a proxy."""
        address = self.session.address
        return {
            **variables,
            **loopback_exemption(variables),
            "OPENAI_BASE_URL": address.base_url,
            "OPENAI_API_KEY": address.api_key,
            "ANTHROPIC_BASE_URL": address.anthropic_base_url,
            "ANTHROPIC_API_KEY": address.api_key,
            "TAU_MCP_URL": address.mcp_url,
            **{name.upper(): value for name, value in carried.get().items()},
        }

    @property
    def fault(self) -> BaseException | None:
        """The error that ends the trial: of a model call, or of a tool call that could not be a part of it."""
        return self.bridge.failure or self.bridge.misuse

    def end(self) -> None:
        """End the conversation. The endpoint goes on if a fixture has made it, whose test may use it afterwards."""
        self.bridge.close()
        self.session.count_unmade()
        if not self._outlives:
            self.session.close()
