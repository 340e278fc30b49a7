"""What happens between two sessions of a task, as a tool that no participant can call."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..models import BEGIN_SESSION, FunctionCall, InitializationData
from .initial_state import initialize
from .toolkit import Toolkit, tool

if TYPE_CHECKING:
    from .environment import Environment


class Between(Toolkit[Any]):
    """The tool that begins a session: time passes, and the databases change.

    Args:
        environment: The environment, which is changed.
    """

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment.agent_db)
        self._environment = environment

    @tool("write", hidden=True)
    def begin_session(
        self,
        session: str,
        hours: float = 0,
        initialization_data: dict[str, Any] | None = None,
        initialization_actions: list[dict[str, Any]] | None = None,
    ) -> str:
        """Begin a session.

        Args:
            session: Its id.
            hours: The hours since the session before.
            initialization_data: Data that is merged into the databases.
            initialization_actions: Functions that are called after that.

        Raises:
            pydantic.ValidationError: The data or a function call is malformed.
            Exception: What a function of the domain raises.
        """
        environment = self._environment
        for toolkit in environment.toolkits:
            toolkit.tau_elapsed += timedelta(hours=hours)
        if initialization_data is not None:
            data = InitializationData.model_validate(initialization_data)
            environment.merge(data.agent_data, data.user_data)
        for action in initialization_actions or ():
            initialize(environment, FunctionCall.model_validate(action))
        return session


assert Between.tool_infos.keys() == {BEGIN_SESSION}
