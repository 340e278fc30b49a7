"""The agent's way to tools that are not offered: unlock them, call them, and give the user's to the user."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from pytest_tau.environment import tool

from ..answers import NO_ARGUMENTS
from ..discoverable import HiddenTexts, arguments_in, given_text, hidden_tools, unlocked_text
from ..ids import id_of
from ..query import query
from ..refusals import Refusal, answering, require
from ..tables import BankDB, add
from ..user_tools import BankUserTools

if TYPE_CHECKING:
    from pytest_tau.models import Requestor, Task


class Wrappers(HiddenTexts):
    """Tools that reach hidden tools, and show their texts."""

    side: ClassVar[Requestor] = "assistant"

    def __init__(self, db: BankDB) -> None:
        super().__init__(db)
        # Not part of the database. Both are replaced and never changed, so that a copy of the toolkit has its own.
        self._unlocked: frozenset[str] = frozenset()
        self._logged: frozenset[str] = frozenset()

    def begin_task(self, task: Task) -> None:
        """Log the calls of tools that the task's reference actions call, also of those that change nothing."""
        actions = task.criteria.actions or []
        called = [action.arguments.get("agent_tool_name") for action in actions if action.name == _CALL]
        self._logged = frozenset(name for name in called if isinstance(name, str))

    @tool("generic", mutates=True)
    @answering
    def give_discoverable_user_tool(self, discoverable_tool_name: str, arguments: str = "{}") -> str:
        """Give the customer a tool, to call it with call_discoverable_user_tool.

        Do so where a document says that the customer takes this step, not you.

        Args:
            discoverable_tool_name: The tool's name, as the document has it.
            arguments: A JSON object, as text, of the arguments that the customer should use: '{"user_id": "u1"}'.
        """
        offered = hidden_tools("user", BankUserTools.tool_infos, self.texts).get(discoverable_tool_name)
        if offered is None:
            raise Refusal(f"Error: Unknown discoverable tool '{discoverable_tool_name}'.")
        tool_arguments = arguments_in(arguments)
        for key in tool_arguments:
            require(key in list(offered.parameters["properties"]), f"Unexpected parameter: {key}")
        record = {"tool_name": offered.name, "status": "GIVEN"}
        add(self.db.user_discoverable_tools, id_of("user_discoverable_tool", offered.name, length=16), record)
        return given_text(offered, json.dumps(tool_arguments, indent=2) if tool_arguments else NO_ARGUMENTS)

    @tool("generic", mutates=True)
    @answering
    def unlock_discoverable_agent_tool(self, agent_tool_name: str) -> str:
        """Unlock a tool that a document names, and read what it does and which arguments it takes.

        Then call it with call_discoverable_agent_tool.

        Args:
            agent_tool_name: The tool's name, as the document has it.
        """
        self._require_known(agent_tool_name)
        self._unlocked |= {agent_tool_name}
        return unlocked_text(self.hidden_tools()[agent_tool_name])

    @tool("write")
    @answering
    def call_discoverable_agent_tool(self, agent_tool_name: str, arguments: str = "{}") -> str:
        """Call a tool that you have unlocked.

        Args:
            agent_tool_name: The tool's name.
            arguments: A JSON object, as text, of its arguments: '{"user_id": "u1"}'.
        """
        self._require_known(agent_tool_name)
        require(
            agent_tool_name in self._unlocked,
            f"Tool '{agent_tool_name}' has not been unlocked. You must first use `unlock_discoverable_agent_tool` to "
            "unlock this tool before calling it.",
        )
        tool_arguments = arguments_in(arguments, parse_int=float)
        try:
            result: str = getattr(self, agent_tool_name)(**tool_arguments)
        except TypeError as error:  # what is changed until then stays, and nothing is logged
            return f"Error: Invalid arguments: {error}"
        if self.tool_infos[agent_tool_name].mutates or agent_tool_name in self._logged:
            record = {"tool_name": agent_tool_name, "status": "CALLED"}
            add(self.db.agent_discoverable_tools, id_of("agent_discoverable_tool", agent_tool_name, length=16), record)
        return result

    @tool("read")
    def list_discoverable_agent_tools(self) -> str:
        """List the tools that you have called with call_discoverable_agent_tool."""
        return "Your called agent tools:\n" + query(self.db, "agent_discoverable_tools")

    def _require_known(self, name: str) -> None:
        info = self.tool_infos.get(name)
        require(info and info.hidden, f"Unknown agent tool '{name}'. This tool is not available.")


_CALL = "call_discoverable_agent_tool"
