"""Rules of attribution about conversations that a limit has cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.turns import mentions_refusal
from ..models import CAPABILITY_LIMIT, STOPS, AssistantMessage, Attribution, UserMessage
from .endings import cut_off
from .facts import Said, first_line, quoted
from .misunderstandings import repeats

if TYPE_CHECKING:
    from ..models import Party
    from .facts import Facts

#: Messages without a call of the agent's, after which it has nothing more to do.
_IDLE = 4


def never_stopped(facts: Facts) -> Attribution | None:
    """Apply if all was done at the limit of steps, and the user did not end the conversation."""
    reason, messages = facts.simulation.termination_reason, facts.simulation.messages
    idle = not any(isinstance(m, AssistantMessage) and m.tool_calls for m in messages[-_IDLE:])
    last = Said.last(messages, UserMessage)
    if reason != "max_steps" or not facts.everything_met or not idle or last is None:
        return None
    agent = Said.last(messages, AssistantMessage)
    if agent is not None and mentions_refusal(agent.text):
        insisted = "the user insisted on what the agent had refused: whether its scenario lets it end decides"
        return Attribution("undecided", insisted, last.message_idx, quoted(last.words), ("user", "task"))
    return Attribution(
        "user", "every check was met, but it did not end the conversation", last.message_idx, quoted(last.words)
    )


def too_many_failures(facts: Facts) -> Attribution | None:
    """Apply at the limit of failed calls: the side that made most of them."""
    simulation = facts.simulation
    if simulation.termination_reason != "too_many_errors":
        return None
    failed = [made for made in simulation.calls if made.result is not None and made.result.error]
    by_user = [made for made in failed if made.call.requestor == "user"]
    party: Party = "user" if len(by_user) * 2 > len(failed) else "agent"
    last = (by_user if party == "user" else failed)[-1:]
    shown = last[0].result.content if last and last[0].result else None
    shown = first_line(shown or facts.error)
    return Attribution(party, cut_off("too_many_errors"), last[0].message_idx if last else None, shown)


def capability_limit(facts: Facts) -> Attribution | None:
    """Apply if a capability's limit was reached: what it counts, and of which side, only the capability knows."""
    reason = facts.simulation.termination_reason
    limited = reason == CAPABILITY_LIMIT
    return Attribution("undecided", cut_off(reason), None, first_line(facts.error)) if limited else None


def unfinished(facts: Facts) -> Attribution | None:
    """Apply if the conversation was cut off, by whichever limit: the rules before have had the other endings."""
    reason = facts.simulation.termination_reason
    # Either side may have used up the steps, unless all was done, or the agent did the same again and again.
    proved = reason not in STOPS and (
        reason != "max_steps" or facts.everything_met or repeats(facts.simulation.messages)
    )
    return Attribution("agent", cut_off(reason), None, first_line(facts.error)) if proved else None
