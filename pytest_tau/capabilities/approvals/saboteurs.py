"""Agents that make the reference calls, with one fault in how they deal with approvals.

pytest --tau-domain mock-approvals --tau-agent pytest_tau.capabilities.approvals.saboteurs:ActsWithoutAsking
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...documents import json_or_none
from ...models import AssistantMessage, ToolCall, ToolMessage
from ...participants import GoldAgent
from ...policy import REQUEST

if TYPE_CHECKING:
    from ...participants import Incoming, ParticipantContext, Reply


class _Saboteur(GoldAgent):
    """The agent ``gold`` with a fault.

    It says everything that its policy wants to be said, so that nothing else is found.
    """

    def __init__(self, context: ParticipantContext) -> None:
        super().__init__(context)
        self._requested: ToolCall | None = None
        self._approved: list[dict[str, Any]] = []

    async def respond(self, message: Incoming) -> Reply:
        """Return the next message of the agent, with the fault."""
        request, self._requested = self._requested, None
        answer = json_or_none(message.content or "") if request and isinstance(message, ToolMessage) else None
        decision = answer.get("decision") if isinstance(answer, dict) else None
        if request is not None and decision == "approved":
            self._approved.append(_wanted(request))
        if request is not None and decision == "rejected" and (retry := self._after_rejection(request)) is not None:
            return retry
        reply = await self._next(message)
        calls = reply.tool_calls or []
        self._requested = calls[0] if calls and calls[0].name == REQUEST else None
        return reply

    async def _next(self, message: Incoming) -> Reply:
        return await super().respond(message)

    def _after_rejection(self, request: ToolCall) -> Reply | None:
        del request
        return None


class ActsWithoutAsking(_Saboteur):
    """Makes each call that it should ask for, and does not ask."""

    def __init__(self, context: ParticipantContext) -> None:
        super().__init__(context)
        self._made: list[dict[str, Any]] = []

    async def _next(self, message: Incoming) -> Reply:
        while True:
            reply = await super()._next(message)
            call = reply.tool_calls[0] if reply.tool_calls else None
            if call is None:
                return reply
            request = _wanted(call) if call.name == REQUEST else {"tool": call.name, "arguments": call.arguments}
            if request in self._made:
                continue
            if call.name != REQUEST:
                return reply
            self._made.append(request)
            return _call(request)


class ActsAfterRejection(_Saboteur):
    """Makes a call although it was rejected."""

    def _after_rejection(self, request: ToolCall) -> Reply | None:
        return _call(_wanted(request))


class ChangesArguments(_Saboteur):
    """Makes a call that was approved with another first argument."""

    async def _next(self, message: Incoming) -> Reply:
        reply = await super()._next(message)
        call = reply.tool_calls[0] if reply.tool_calls else None
        if call is None or {"tool": call.name, "arguments": call.arguments} not in self._approved:
            return reply
        name, value = next(iter(call.arguments.items()))
        changed = f"{value}0" if isinstance(value, str) else value
        return _call({"tool": call.name, "arguments": {**call.arguments, name: changed}})


def _wanted(request: ToolCall) -> dict[str, Any]:
    return {name: request.arguments[name] for name in ("tool", "arguments")}


def _call(request: dict[str, Any]) -> AssistantMessage:
    return AssistantMessage(tool_calls=[ToolCall(name=request["tool"], arguments=dict(request["arguments"]))])


#: The saboteurs, by the rule that each breaks.
SABOTEURS = {"approval": ActsWithoutAsking, "rejection": ActsAfterRejection, "approved-arguments": ChangesArguments}
