"""Rules about documents and the tools that they name: read first, unlocked if needed, and never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau.policy import Rule, mentions

from .unwrapped import CALL, GIVE, UNLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.policy import Breach, MadeCall, Trajectory

_SEARCHES = ("grep", "shell")
_HIDDEN = {UNLOCK: "agent_tool_name", CALL: "agent_tool_name", GIVE: "discoverable_tool_name"}


def documents_before(trajectory: Trajectory, call: MadeCall) -> str:
    """Return the texts that searches have shown before a call, and the documents in the policy."""
    results = (earlier.result or "" for earlier in trajectory.before(call) if is_search(earlier))
    return "\n".join([trajectory.policy, *results])


def is_search(call: MadeCall) -> bool:
    """Return whether a call searches the documents."""
    return call.name.startswith("KB_search") or call.name in _SEARCHES


def _named_tool(call: MadeCall) -> str | None:
    """Return the hidden tool that a call of a wrapper is about; None for other calls."""
    name = call.arguments.get(_HIDDEN[call.name]) if call.name in _HIDDEN else None
    return name if isinstance(name, str) else None


def _documented_tools(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.calls:
        name = _named_tool(call) if call.name in (UNLOCK, GIVE) else None
        if name and name not in documents_before(trajectory, call):
            yield trajectory.breach(call, f"no document that was read names {name}")


def _documents_first(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool("change_user_email"):
        if call.name not in documents_before(trajectory, call):
            yield trajectory.breach(call, "no document about it was read before")


def _unlocked_first(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.calls:
        name = _named_tool(call) if call.name == CALL else None
        unlocked = [_named_tool(earlier) for earlier in trajectory.before(call) if earlier.name == UNLOCK]
        if name and name not in unlocked:
            yield trajectory.breach(call, f"{name} was not unlocked before")


def _needed_tools(trajectory: Trajectory) -> Iterator[Breach]:
    called = [_named_tool(other) for other in trajectory.calls if other.name == CALL]
    for call in trajectory.calls:
        name = _named_tool(call)
        if call.name == UNLOCK and name not in called and not (call.result or "").startswith("Error"):
            yield trajectory.breach(call, f"{name} was not called")


def _explained_tools(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool(GIVE):
        name = _named_tool(call)
        later = [turn.text for turn in trajectory.agent_texts(after=call)]
        used = any(user_call.arguments.get(_HIDDEN[GIVE]) == name for user_call in trajectory.user_calls)
        refused = (call.result or "").startswith("Error")
        if name and not refused and not used and not any(mentions(text, name) for text in later):
            yield trajectory.breach(call, f"{name} was given, and the customer neither was asked to use it nor did")


DOCUMENT_RULES = [
    Rule("documented-tools", "Never try names that no document has.", _documented_tools, needs_dialog=True),
    Rule(
        "documents-first",
        "The documents of the knowledge base decide what you may do, and under which conditions.",
        _documents_first,
        needs_dialog=True,
        before_write="read",
    ),
    Rule(
        "unlocked-tools",
        "Call unlock_discoverable_agent_tool with exactly this name; the answer describes the parameters. Then call "
        "call_discoverable_agent_tool",
        _unlocked_first,
    ),
    Rule(
        "needed-tools",
        "Unlock only what you are going to call.",
        _needed_tools,
        of_reference=True,
        editions=(("7b37e6c2ea3f",),),
    ),
    Rule(
        "given-tools",
        "Give only what the customer wants to use now: it is recorded.",
        _explained_tools,
        needs_dialog=True,
        of_reference=True,
        editions=(("60b7f37df55c",),),
    ),
]
