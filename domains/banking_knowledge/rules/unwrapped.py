"""A conversation in which calls of hidden tools stand for the calls of the wrappers that made them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..tools import BankTools

if TYPE_CHECKING:
    from pytest_tau.policy import MadeCall, Trajectory

CALL: Final = "call_discoverable_agent_tool"
UNLOCK: Final = "unlock_discoverable_agent_tool"
GIVE: Final = "give_discoverable_user_tool"


def unwrapped(trajectory: Trajectory) -> Trajectory:
    """Return the conversation with the hidden tools that were called, instead of the wrapper."""
    turns = (replace(turn, calls=tuple(map(_inner, turn.calls))) for turn in trajectory.turns)
    return replace(trajectory, turns=tuple(turns))


def _inner(call: MadeCall) -> MadeCall:
    name = call.arguments.get("agent_tool_name")
    if call.name != CALL or not isinstance(name, str):
        return call
    info = BankTools.tool_infos.get(name)
    refused = call.failed or (call.result or "").startswith("Error")
    return replace(
        call,
        name=name,
        arguments=_object(call.arguments.get("arguments")),
        failed=refused,
        kind=info.kind if info else None,
        mutates=bool(info and info.mutates),
    )


def _object(text: Any) -> dict[str, Any]:
    try:
        arguments = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
