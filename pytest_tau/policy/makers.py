"""Makers of rules that the policies of many domains share; each takes the sentence of the policy that it stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from ..language.agreement import asks_for_yes, asks_to_proceed, is_about_payment, is_no, is_order, is_yes, wishes
from ..language.mentions import mentions
from ..language.segments import sentences
from ..language.turns import hands_over
from ..models import strings_in
from .rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from .parts import Breach, MadeCall, Turn
    from .trajectory import Trajectory

#: Returns the id of the customer that a call has found; None for any other call.
Identifies: TypeAlias = "Callable[[MadeCall], str | None]"
#: Returns the id of the customer whose record a call reads or changes; None if there is none, or if it is not known.
Owner: TypeAlias = "Callable[[MadeCall, Trajectory], str | None]"
#: Yields what a call needs, each as its name in evidence and the values of which one is enough.
Needs: TypeAlias = "Callable[[MadeCall, Trajectory], Iterable[tuple[str, Collection[Any]]]]"

#: Texts of the agent before a write in which its details are looked for.
_PROPOSALS = 2
#: Values of at most so many characters, such as "gold", do not identify a customer.
_SHORT = 4
#: Values of fewer characters, such as "no", are in any text.
_WORD = 3


def one_call_at_a_time(sentence: str, name: str = "one-call") -> Rule:
    """Return the rule that a message of the agent has one call at most."""

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for turn in _agent_turns(trajectory):
            if len(turn.calls) > 1:
                names = ", ".join(call.name for call in turn.calls)
                yield trajectory.breach(turn, f"{len(turn.calls)} calls in one message: {names}")

    return Rule(name, sentence, check)


def no_text_with_calls(sentence: str, name: str = "no-text-with-call") -> Rule:
    """Return the rule that a message of the agent is either a text or a call."""

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for turn in _agent_turns(trajectory):
            if turn.calls and turn.text:
                yield trajectory.breach(turn.calls[0], f'with the text "{turn.text}"')

    return Rule(name, sentence, check)


def only_actors(
    sentence: str, *, actors: Collection[str], tools: Collection[str] | None = None, name: str = "only-actors"
) -> Rule:
    """Return the rule that only certain actors of an agent that consists of several make certain calls.

    A call whose actor is not known does not break it.

    Args:
        sentence: The sentence of the policy.
        actors: The actors that may make them.
        tools: The tools; None for all that change something.
        name: The rule's name.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.calls:
            meant = call.mutates if tools is None else call.name in tools
            if meant and call.actor is not None and call.actor not in actors:
                yield trajectory.breach(call, f"made by {call.actor}; only {' and '.join(sorted(actors))} may")

    return Rule(name, sentence, check)


def identification(sentence: str, *, by: Identifies, guarded: Collection[str], name: str = "identification") -> Rule:
    """Return the rule that the customer is identified before certain tools are called.

    Args:
        sentence: The sentence of the policy.
        by: Returns the customer that a call has found.
        guarded: The tools that wait for it.
        name: The rule's name.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.calls:
            if call.name in guarded and not any(by(earlier) for earlier in _successful(trajectory.before(call))):
                yield trajectory.breach(call, "before the customer was identified")

    return Rule(name, sentence, check, before_write="verified")


def customers_before(trajectory: Trajectory, call: MadeCall, by: Identifies) -> list[str]:
    """Return the customers that were identified before a call: the first one, and others by what the user has said."""
    customers: list[str] = []
    for earlier in _successful(trajectory.before(call)):
        customer = by(earlier)
        if customer is not None and customer not in customers and (not customers or _was_said(earlier, trajectory)):
            customers.append(customer)
    return customers


def _was_said(call: MadeCall, trajectory: Trajectory) -> bool:
    """Return whether the user has named the arguments of a call before it."""
    user_text = " ".join(turn.text for turn in trajectory.user_texts(before=call))
    return bool(call.arguments) and all(mentions(user_text, value) for value in call.arguments.values())


def own_records(
    sentence: str, *, by: Identifies, owner: Owner, private: Collection[str] = (), name: str = "own-records"
) -> Rule:
    """Return the rule that only records of the identified customer are shown or changed.

    A call of another customer's record is a breach if it changes the record, or if the tool shows a profile. Any other
    read is one if the agent then passes on what only that record has: an id may be mistyped, and who reads an order to
    see whose it is has shown nothing.

    Args:
        sentence: The sentence of the policy.
        by: Returns the customer that a call has found.
        owner: Returns the customer whose record a call reads or changes.
        private: The tools that show a profile.
        name: The rule's name.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.calls:
            customers = [] if call.failed else customers_before(trajectory, call, by)
            # Most results name the customer: they need not be read.
            if not customers or any(f'"{customer}"' in (call.result or "") for customer in customers):
                continue
            whose = owner(call, trajectory)
            if whose is None or whose in customers or (by(call) == whose and _was_said(call, trajectory)):
                continue
            if call.mutates:
                yield trajectory.breach(call, f"changes a record of {whose}; the customer is {customers[0]}")
            elif call.name in private:
                yield trajectory.breach(call, f"reads the profile of {whose}; the customer is {customers[0]}")
            else:
                yield from _passed_on(trajectory, call, str(whose))

    return Rule(name, sentence, check, before_write="verified")


def _passed_on(trajectory: Trajectory, call: MadeCall, whose: str) -> Iterator[Breach]:
    """Yield the first text that has values which nothing but a certain record has shown."""
    known = " ".join(turn.text for turn in trajectory.turns[: call.turn_number])
    known += " ".join(other.result or "" for other in trajectory.calls if other is not call)
    secret = [value for value in strings_in(call.value) if len(value) > _SHORT and not mentions(known, value)]
    for turn in trajectory.agent_texts(after=call):
        revealed = [value for value in secret if mentions(turn.text, value)]
        if revealed:
            yield trajectory.breach(turn, f"passes on {', '.join(revealed[:3])} of {whose}, read by {call.text}")
            return


def read_before_write(
    sentence: str, *, needs: Needs, reads: Collection[str], exact: bool = False, name: str = "read-before-write"
) -> Rule:
    """Return the rule that a record is read before it is changed.

    Args:
        sentence: The sentence of the policy.
        needs: Yields the ids that a writing call needs to have been read.
        reads: The tools that show records. A value was read if it is an argument of one of their calls, or in its
            result.
        exact: Whether it must be an argument, or a field of the result itself and not of its parts.
        name: The rule's name.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.writes:
            seen = [earlier for earlier in _successful(trajectory.before(call)) if earlier.name in reads]
            for detail, values in needs(call, trajectory):
                if not any(_shows(earlier, value, exact=exact) for earlier in seen for value in values):
                    yield trajectory.breach(call, f"{detail} was not read before")

    return Rule(name, sentence, check, before_write="read")


def _shows(call: MadeCall, value: Any, *, exact: bool) -> bool:
    if value in call.arguments.values():
        return True
    if exact:
        return isinstance(call.value, dict) and value in call.value.values()
    return f'"{value}"' in (call.result or "")


def confirmation(
    sentence: str, *, exempt: Collection[str] = (), needs: Needs | None = None, name: str = "confirmation"
) -> Rule:
    """Return the rule that the user agrees before each call that changes something.

    The user's last text before the call must agree to the agent's text before it. One agreement may be followed by
    several calls. An earlier one counts if the agent asked for it, and if that text names what ``needs`` yields.

    Args:
        sentence: The sentence of the policy.
        exempt: Tools that change something and need no agreement.
        needs: Yields what an earlier request for agreement must have named.
        name: The rule's name.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.writes:
            if call.name not in exempt and call.kind is not None:
                problem = _not_agreed(trajectory, call, needs)
                if problem:
                    yield trajectory.breach(call, problem)

    return Rule(name, sentence, check, needs_dialog=True, before_write="confirmed")


def _not_agreed(trajectory: Trajectory, call: MadeCall, needs: Needs | None) -> str | None:
    """Return why a call was made without the user's agreement; None if it was made with it."""
    answers = trajectory.user_texts(before=call)
    if not answers:
        return "the user had not said anything"
    last = answers[-1]
    question = asked_before(trajectory, last)
    proposed = question is not None and (asks_for_yes(question.text) or _names(trajectory, call, question, needs))
    if question is not None and (is_order(last.text) or (proposed and (is_yes(last.text) or wishes(last.text)))):
        return None
    for answer in reversed(answers[:-1] if not is_no(last.text) else []):
        if is_no(answer.text):
            break
        question = asked_before(trajectory, answer)
        if question is None or not (asks_for_yes(question.text) and is_yes(answer.text)):
            continue
        since = trajectory.agent_texts(before=call, after=answer)
        # Who is asked for a method of payment after a yes has not taken it back.
        paying = asks_to_proceed(question.text) and all(is_about_payment(turn.text) for turn in since)
        if paying or _names(trajectory, call, question, needs):
            return None
    return f'no yes before it: the user\'s last words were "{last.text}"'


def _names(trajectory: Trajectory, call: MadeCall, question: Turn, needs: Needs | None) -> bool:
    """Return whether a text of the agent names all that a call needs to be named."""
    needed = list(needs(call, trajectory)) if needs else []
    return bool(needed) and all(any(mentions(question.text, value) for value in values) for _, values in needed)


def asked_before(trajectory: Trajectory, answer: Turn) -> Turn | None:
    """Return the text of the agent that a text of the user answers; None if it is the first text of the agent."""
    texts = trajectory.agent_texts(before=answer)
    return texts[-1] if len(trajectory.user_texts(before=answer)) and texts else None


def stated_details(sentence: str, *, needs: Needs, name: str = "stated-details") -> Rule:
    """Return the rule that the agent states what a call will change before it makes the call.

    What the call needs to have been named must be in the last two texts of the agent before it, in one that the user
    has agreed to, or, if it is an id, in a text of the user.

    Args:
        sentence: The sentence of the policy.
        needs: Yields what must have been named.
        name: The rule's name.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.writes:
            agent_text = " ".join(turn.text for turn in _proposals(trajectory, call))
            of_user = " ".join(turn.text for turn in trajectory.user_texts(before=call))
            for detail, values in needs(call, trajectory):
                if not any(
                    mentions(agent_text, value) or (_is_id(value) and mentions(of_user, value)) for value in values
                ):
                    yield trajectory.breach(call, f"{detail} was not named to the user before")

    return Rule(name, sentence, check, needs_dialog=True, before_write="stated")


def _is_id(value: Any) -> bool:
    return any(map(str.isdigit, str(value)))


def _proposals(trajectory: Trajectory, call: MadeCall) -> list[Turn]:
    """Return the last texts of the agent before a call, and those that the user has agreed to.

    A text next to a call does not reach the user.
    """
    texts = [turn for turn in trajectory.agent_texts(before=call) if not turn.calls]
    answers = trajectory.user_texts(before=call)
    questions = [asked_before(trajectory, turn) for turn in answers if is_yes(turn.text)]
    agreed = [turn for turn in questions if turn is not None and asks_to_proceed(turn.text)]
    return [*texts[-_PROPOSALS:], *agreed]


def transfer_notice(
    sentence: str, *, tool: str = "transfer_to_human_agents", notice: str | None = None, name: str = "transfer-notice"
) -> Rule:
    """Return the rule that a transfer is followed by a certain text, and by nothing else.

    More words are allowed around it if the policy that the agent was given does not have this sentence.

    Args:
        sentence: The sentence of the policy.
        tool: The tool that transfers.
        notice: The text; None for any text that the policy has word for word, as other editions of a policy have other
            notices.
        name: The rule's name.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.of_tool(tool):
            following = next((turn for turn in _agent_turns(trajectory) if turn.number > call.turn_number), None)
            if following is None:
                continue
            if following.calls:
                yield trajectory.breach(following.calls[0], "a call after the transfer")
            elif not _has_notice(following.text, notice, trajectory.policy, sentence):
                yield trajectory.breach(following, f'says "{following.text}" after the transfer')

    return Rule(name, sentence, check, needs_dialog=True)


def _has_notice(text: str, notice: str | None, policy: str, sentence: str) -> bool:
    flat_text, flat_notice, flat_policy = _flat(text), _flat(notice or ""), _flat(policy)
    if policy and _flat(sentence) not in flat_policy:  # of another edition, which may allow more words
        parts = map(_flat, sentences(text))
        if flat_notice:
            return flat_notice in flat_text
        return _is_in_policy(flat_text, flat_policy) or any(
            _is_in_policy(part, flat_policy) and hands_over(part) for part in parts
        )
    return flat_text == flat_notice if flat_notice else _is_in_policy(flat_text, flat_policy)


def _flat(text: str) -> str:
    return " ".join(text.strip("`'\"* ").lower().split())


def _is_in_policy(text: str, policy: str) -> bool:
    return len(text) > len("transferred") and text in policy


def nothing_unasked(
    sentence: str, *, offer: str, asked: str, tools: Collection[str] = (), name: str = "nothing-unasked"
) -> Rule:
    """Return the rule that the agent does not bring something up before the user does.

    Args:
        sentence: The sentence of the policy.
        offer: A regular expression for texts of the agent that bring it up; case does not count.
        asked: A regular expression for texts of the user that ask for it.
        tools: Tools that grant it.
        name: The rule's name.
    """
    brings_up, asks = re.compile(offer, re.IGNORECASE), re.compile(asked, re.IGNORECASE)

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        asked_at = next((turn.number for turn in trajectory.user_texts() if asks.search(turn.text)), None)
        for turn in _agent_turns(trajectory):
            if asked_at is not None and asked_at < turn.number:
                return
            match = brings_up.search(turn.text)
            granted = next((call for call in turn.calls if call.name in tools), None)
            if granted or match:
                mention = granted.name if granted else match[0] if match else ""
                yield trajectory.breach(granted or turn, f'brings up "{mention}", which the user had not asked for')
                return

    return Rule(name, sentence, check, needs_dialog=True)


def asked_writes(sentence: str, name: str = "asked-writes") -> Rule:
    """Return the rule that nothing is changed that the conversation was not about.

    A breach is a call with an id that neither side has named before it, if no record that was read with this id has
    another value that the user has named.

    Args:
        sentence: The sentence of the policy.
        name: The rule's name.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.writes:
            user_text = " ".join(turn.text for turn in trajectory.user_texts(before=call))
            proposed = " ".join(turn.text for turn in trajectory.agent_texts(before=call))
            for value in filter(_is_single_id, strings_in(call.arguments)):
                if not mentions(f"{user_text} {proposed}", value) and not _is_described(
                    trajectory, call, value, user_text
                ):
                    yield trajectory.breach(call, f'the conversation was not about "{value}"')
                    break

    return Rule(name, sentence, check, needs_dialog=True)


def _is_described(trajectory: Trajectory, call: MadeCall, value: str, text: str) -> bool:
    """Return whether the user has named another value of a record with an id."""
    records = [earlier.value for earlier in _successful(trajectory.before(call)) if _shows(earlier, value, exact=False)]
    return any(mentions(text, part) for part in strings_in(records) if len(part) >= _WORD and part != value)


def _is_single_id(value: str) -> bool:
    return _is_id(value) and not any(map(str.isspace, value))


def _agent_turns(trajectory: Trajectory) -> Iterable[Turn]:
    return [turn for turn in trajectory.turns if turn.side == "assistant"]


def _successful(calls: Iterable[MadeCall]) -> Iterator[MadeCall]:
    return (call for call in calls if not call.failed)
