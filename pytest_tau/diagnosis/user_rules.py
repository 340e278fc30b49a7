"""Rules of attribution about how the user left, while the final state could still have become right."""

from __future__ import annotations

from ..language.agreement import agrees_at_once, asks_for_yes
from ..language.mentions import mentions
from ..language.turns import announced_in, closes, hands_over, looks_up, speaks_as_agent, waits_for_yes, wants_answer
from ..language.wishes import withdraws
from ..models import Attribution, UserMessage
from .facts import Facts, clipped, quoted

_TRANSFER = "###TRANSFER###"
_OUT_OF_SCOPE = "###OUT-OF-SCOPE###"


def spoke_as_agent(facts: Facts) -> Attribution | None:
    """Apply if the user offered help instead of asking for what is missing; who repeats the agent only agrees to it."""
    if facts.stopped is None or facts.divergence is None:
        return None
    for number, message in enumerate(facts.simulation.messages):
        if isinstance(message, UserMessage) and speaks_as_agent(message.text) and not _is_repeated(facts, number):
            return Attribution("user", "it spoke as if it were the agent", number, quoted(message.text))
    return None


def _is_repeated(facts: Facts, number: int) -> bool:
    """Return whether a message of the user's has hardly a number or id that the agent had not said before."""
    before = " ".join(text for _, text in facts.evidence.texts("assistant", number))
    named = [part for part in facts.evidence.text(number).split() if any(map(str.isdigit, part))]
    return bool(named) and sum(mentions(before, part) for part in named) * 2 > len(named)


def out_of_scope(facts: Facts) -> Attribution | None:
    """Apply if the user found that something is not in its scenario."""
    last = facts.stopped
    if last is None or facts.token != _OUT_OF_SCOPE:
        return None
    failed = facts.calls[-1:] and facts.calls[-1].result is not None and facts.calls[-1].result.error
    if failed:  # it asked for something because it could not go on itself
        return None
    return Attribution("user", "it ended the conversation as out of scope", last.message_idx, quoted(facts.said.end))


def agreed_and_left(facts: Facts) -> Attribution | None:
    """Apply if the user agreed to a question and left."""
    last, said = facts.stopped, facts.said
    if last is None or facts.transfer or not wants_answer(said.end) or not agrees_at_once(last.words):
        return None
    if closes(said.end) or hands_over(said.end):
        return None
    text = f"asked {quoted(said.words)!r}, it said {quoted(last.text)!r}"
    return Attribution("user", "it agreed and ended the conversation in the same message", last.message_idx, text)


def left_while_working(facts: Facts) -> Attribution | None:
    """Apply if the user left after the agent had announced an action."""
    last, said = facts.stopped, facts.said
    if last is None or facts.transfer or hands_over(said.words):
        return None
    announced = announced_in(said.words)
    if not announced or (facts.divergence is None and not looks_up(announced)):
        return None  # the state is right: no change was left to make
    reason = "it ended the conversation when the agent was about to act"
    return Attribution("user", reason, last.message_idx, clipped(announced))


def asked_and_left(facts: Facts) -> Attribution | None:
    """Apply if the user asked something and left."""
    last = facts.stopped
    if last is None or facts.transfer or not last.words.endswith("?"):
        return None
    return Attribution(
        "user", "it asked something and ended the conversation in the same message", last.message_idx, quoted(last.text)
    )


def left_unanswered(facts: Facts) -> Attribution | None:
    """Apply if the user ended the conversation instead of answering a request for a yes to the missing call."""
    last = facts.stopped
    if last is None or facts.transfer is not None or last.words:
        return None
    asked = facts.said
    if not asked.text or not waits_for_yes(asked.text):
        return None
    return Attribution("user", "it ended the conversation instead of answering", last.message_idx, quoted(asked.words))


def hung_up(facts: Facts) -> Attribution | None:
    """Apply if the user gave up instead of answering the agent's question, which had not looked at anything yet."""
    last, said = facts.stopped, facts.said
    if (
        last is None
        or facts.calls
        or not withdraws(last.words)
        or not wants_answer(said.words)
        or asks_for_yes(said.words)
    ):
        return None
    return Attribution(
        "user", "it gave up before the agent could look at anything", last.message_idx, quoted(last.text)
    )


def transferred_itself(facts: Facts) -> Attribution | None:
    """Apply if the user took itself for transferred."""
    last, said = facts.stopped, facts.said
    if last is None or facts.token != _TRANSFER or facts.transfer:
        return None
    if hands_over(said.words):  # promised in words, if not done
        return None
    return Attribution(
        "user",
        "it ended the conversation as transferred, but the agent had not transferred it",
        last.message_idx,
        quoted(said.end),
    )


def broke_the_state(facts: Facts) -> Attribution | None:
    """Apply if a call of the user's is the turning point."""
    divergence = facts.divergence
    if divergence is None or divergence.kind != "diverged" or divergence.call["requestor"] != "user":
        return None
    return Attribution("user", "its call made the final state wrong", divergence.message_idx, divergence.text)
