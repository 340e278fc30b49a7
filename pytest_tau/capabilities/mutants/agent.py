"""An agent with a fault: it is given something else, sees other results, or its calls are changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...models import MultiToolMessage, ToolCall, ToolMessage
from ...participants import BuiltIn, ParticipantSource
from .calls import first_record, key_of, with_other
from .given import changed_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...participants import Incoming, Participant, ParticipantContext, Reply
    from .calls import Pool
    from .mutant import Mutant

#: As often as in a row an agent is answered instead of the conversation; then its call is made.
_MOST = 20


class MutatedSource(ParticipantSource):
    """The source of an agent with the faults of some mutants.

    Attributes:
        mutants: The mutants; several only of the kinds that change what the agent is given.
        pool: Values of arguments, by tool and argument.
    """

    mutants: Sequence[Mutant]
    pool: Pool

    @classmethod
    def of(cls, source: ParticipantSource, mutants: Sequence[Mutant], pool: Pool) -> MutatedSource:
        """Return the source with faults."""
        mutated = cls(*source)
        mutated.mutants, mutated.pool = mutants, pool
        return mutated

    async def make(self, context: ParticipantContext) -> Participant:
        """Make the agent for one simulation, with its faults."""
        agent = await super().make(changed_context(context, self.mutants))
        return MutantAgent(agent, self.mutants[0], self.pool) if len(self.mutants) == 1 else agent


class MutantAgent(BuiltIn):
    """Passes messages between the conversation and an agent, with a fault.

    Args:
        agent: The agent.
        mutant: The fault.
        pool: Values of arguments, by tool and argument.
    """

    def __init__(self, agent: Participant, mutant: Mutant, pool: Pool) -> None:
        self._agent, self._mutant, self._pool = agent, mutant, pool
        self.greeting = getattr(agent, "greeting", None)
        #: The calls of the last reply, each with the calls that were made instead.
        self._asked: list[tuple[ToolCall, list[ToolCall]]] = []
        self._results: dict[str, str] = {}
        self._seen: list[tuple[set[str], str]] = []

    async def respond(self, message: Incoming) -> Reply:
        """Return the agent's reply, with the calls that the fault leaves."""
        for _ in range(_MOST):
            reply = await self._agent.respond(self._as_seen(message))
            self._asked = [(call, self._changed(call)) for call in reply.tool_calls or ()]
            remaining = [call for _, calls in self._asked for call in calls]
            if remaining or not self._asked:
                return reply.model_copy(update={"tool_calls": remaining}) if remaining else reply
            message = MultiToolMessage(tool_messages=[])  # all its calls are answered without the conversation
        return reply

    def is_stop(self, message: Reply) -> bool:
        """Return whether the agent stops."""
        return self._agent.is_stop(message)

    async def close(self) -> None:
        """Close the agent."""
        await self._agent.close()

    def _changed(self, call: ToolCall) -> list[ToolCall]:
        """Return the calls that are made instead of a call of the agent's: itself, another one, two, or none."""
        mutant = self._mutant
        if call.name != mutant.tool:
            return [call]
        if mutant.kind == "argument-changed":
            arguments = with_other(call.arguments, mutant.detail, call.name, self._pool)
            return [call if arguments is None else call.model_copy(update={"arguments": arguments})]
        if mutant.kind == "call-twice":
            return [call, call.model_copy(update={"id": f"{call.id}-again"})]
        if mutant.kind in ("tool-gone", "call-omitted"):
            return []
        return [call]

    def _pretended(self, call: ToolCall) -> ToolMessage:
        """Return the result of a call that is not made: that the tool is gone, or the last one about its record."""
        if self._mutant.kind == "tool-gone":
            return ToolMessage(id=call.id, content=f"Error: Tool '{call.name}' not found.", error=True)
        values = _values(call)
        content = next((content for known, content in reversed(self._seen) if values & known), "null")
        return ToolMessage(id=call.id, content=content)

    def _as_seen(self, message: Incoming) -> Incoming:
        """Return a message as the agent sees it: the results of the calls that it has made, in their order."""
        if not self._asked or not isinstance(message, ToolMessage | MultiToolMessage):
            return message
        arrived = iter(message.tool_messages if isinstance(message, MultiToolMessage) else [message])
        seen = []
        for call, calls in self._asked:
            results = [next(arrived) for _ in calls]
            seen.append(self._result(call, results[0]) if results else self._pretended(call))
        return seen[0] if len(seen) == 1 else MultiToolMessage(tool_messages=seen)

    def _result(self, call: ToolCall, result: ToolMessage) -> ToolMessage:
        if result.error:
            return result
        content = result.content or ""
        self._seen.append((_values(call), content))
        if call.name != self._mutant.tool:
            return result
        if self._mutant.kind == "result-first":
            return result.model_copy(update={"content": first_record(content)})
        if self._mutant.kind == "result-old":
            key = key_of(call.arguments)
            before, self._results[key] = self._results.get(key, content), content
            return result.model_copy(update={"content": before})
        return result


def _values(call: ToolCall) -> set[str]:
    return {str(value) for value in call.arguments.values()}
