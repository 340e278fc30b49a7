"""The approver for agents whose framework interrupts its run before a call that needs an approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...documents import json_or_none
from ...errors import ConfigurationError
from ...policy import REQUEST
from .approver import Decision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ... import AgentTrial


async def ask_approver(trial: AgentTrial, tool: str, arguments: Mapping[str, Any] | str, note: str = "") -> Decision:
    """Ask the approver about a call, as the tool ``request_approval`` does, and wait for the answer.

    Args:
        trial: The trial of an agent that runs its own loop.
        tool: The tool.
        arguments: The arguments of the call, as an object or as JSON.
        note: What the approver should know.

    Returns:
        The decision; a call that needs no approval is approved, and a request that cannot be made is rejected.

    Raises:
        ConfigurationError: The domain has no approvals.
    """
    request = next((candidate for candidate in trial.tools if candidate.name == REQUEST), None)
    if request is None:
        raise ConfigurationError("ask_approver: the domain has no approvals: declare it by with_approvals")
    parsed = json_or_none(arguments) if isinstance(arguments, str) else dict(arguments)
    outcome = await request.acall_result({"tool": tool, "arguments": parsed, **({"note": note} if note else {})})
    answer = json_or_none(outcome.text)
    if outcome.is_error or not isinstance(answer, dict):
        return Decision("rejected", outcome.text)
    decision = answer["decision"]
    return Decision("approved" if decision == "not_needed" else decision, answer.get("text", ""))
