"""The reference of a task: what a recorded conversation has changed, and values that its agent said."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....environment import is_error
from ....language import digits_in, values_in
from ....models import Action, EvaluationCriteria
from .answers import asked_values
from .naming import hands_over, is_free_text
from .state import is_key, play, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....environment import Domain, Environment
    from ....models import Call, EnvAssertion, Message, Task
    from .objections import Objection

#: Phrases that are looked for in what the agent said, at the most.
_MOST_PHRASES = 3


class Reference(NamedTuple):
    """What a conversation has achieved.

    Attributes:
        actions: The calls of the agent that looked something up, each once, and the calls of both sides that changed
            the state, without those that the final state does not need; in order.
        writes: Those of them that changed the state.
        dropped: The writes that the final state does not need.
        handed_over: The call by which the agent handed the conversation over; None if it did not.
        last_read: What either side has looked up last before that; None if nothing was.
        assertions: What is true at the end, of what the tasks of a domain assert that are not graded by the database.
        said: Values of results that the agent said and the user had not, the likeliest answers first.
        asked: Those that the user has asked for, in their shortest forms.
        objected: What the person objects to, if it has changed the state; None if nothing is.
    """

    actions: list[Action]
    writes: list[Action]
    dropped: list[Action]
    handed_over: Action | None
    last_read: Action | None
    assertions: list[EnvAssertion]
    said: list[str]
    asked: list[str]
    objected: Objection | None

    def criteria(self, *, communicate: bool) -> EvaluationCriteria:
        """Return the criteria; what the user has asked for is checked if nothing was changed, or always."""
        silent = not self.writes and self.handed_over is None
        phrases = self.asked[:_MOST_PHRASES] if communicate or silent else []
        actions = list(self.actions)
        if self.handed_over:
            # Each action is compared then: of what was looked up only the tool, without free text. What either side has
            # looked up last is among them, as an agent that hands over at once knows nothing.
            before = actions if self.writes else []
            loose = [
                _without_free_text(a) if a in self.writes else a.model_copy(update={"compare_args": []}) for a in before
            ]
            last = [self.last_read] if self.last_read and self.last_read not in before else []
            actions = [*loose, *last, self.handed_over]
        basis = ["ENV_ASSERTION"] if self.assertions else ["DB", "COMMUNICATE"]
        basis += ["COMMUNICATE"] if phrases and self.assertions else []
        basis += ["ACTION"] if self.handed_over else []
        return EvaluationCriteria(
            actions=actions,
            env_assertions=self.assertions or None,
            communicate_info=phrases or None,
            reward_basis=basis,
        )


def reference_of(
    domain: Domain, task: Task, messages: Sequence[Message], calls: Sequence[Call], objected: Sequence[Objection] = ()
) -> Reference:
    """Return the reference of a conversation on a domain.

    Args:
        domain: The domain.
        task: The task with its initial state and without criteria.
        messages: The conversation, oldest first.
        calls: Its calls with their results.
        objected: What the person objects to.
    """
    environment = domain.environment(task)
    successful = [call for call in calls if call.result is not None and not is_error(call.result)]
    actions, writes, handed, last_read = list[Action](), list[Action](), None, None
    places = list[int]()
    for call in successful:
        action = _action(call, len(actions))
        if environment.mutates(action.name, action.requestor):
            writes.append(action)
            places.append(call.message_idx)
            actions.append(action)
        elif hands_over(action.name) and action.requestor == "assistant":
            handed = action.model_copy(update={"action_id": "handed_over", "compare_args": []})
        elif environment.has_tool(action.name, action.requestor):
            last_read = action if handed is None else last_read
            if action.requestor == "user":
                continue
            known = any((a.name, a.arguments) == (action.name, action.arguments) for a in actions)
            actions += [] if known else [action]
    assertions = _assertions(domain, task, calls)
    needed = _needed(domain, task, writes, assertions)
    dropped = [write for write in writes if write not in needed]
    remaining = [action for action in actions if action not in dropped]
    last = max((place for place, action in enumerate(remaining, 1) if action in needed), default=len(remaining))
    kept_places = [place for write, place in zip(writes, places, strict=True) if write in needed]
    about = (
        objection for objection in objected if any(objection.since < place < objection.number for place in kept_places)
    )
    disputed = [message for n, message in enumerate(messages) if not any(o.since < n < o.number for o in objected)]
    requested = list(asked_values(disputed, calls))
    said_values = list(_said(messages, calls))
    return Reference(
        remaining[:last], needed, dropped, handed, last_read, assertions, said_values, requested, next(about, None)
    )


def _without_free_text(action: Action) -> Action:
    compared = [name for name in action.arguments if not is_free_text(name, writes=True)]
    return action if len(compared) == len(action.arguments) else action.model_copy(update={"compare_args": compared})


def _action(each: Call, number: int) -> Action:
    call = each.call
    return Action(action_id=f"{call.name}_{number}", requestor=call.requestor, name=call.name, arguments=call.arguments)


def _needed(domain: Domain, task: Task, writes: Sequence[Action], assertions: Sequence[EnvAssertion]) -> list[Action]:
    """Return the writes without those that change nothing about what is graded at the end, looked for from the end."""
    needed = list(writes)
    final = _after(domain, task, needed)
    for write in reversed(writes):
        fewer = [other for other in needed if other is not write]
        environment = _after(domain, task, fewer)
        if all(_holds(assertion, environment) for assertion in assertions) if assertions else environment.equals(final):
            needed = fewer
    return needed


def _after(domain: Domain, task: Task, writes: Sequence[Action]) -> Environment:
    environment = domain.environment(task)
    for write in writes:
        environment.call(write.name, write.arguments, write.requestor)
    return environment


def _assertions(domain: Domain, task: Task, calls: Sequence[Call]) -> list[EnvAssertion]:
    """Return what tasks of the domain assert and is true after the calls; nothing if any is graded by the database."""
    tasks = domain.tasks(None)
    if any("DB" in other.criteria.reward_basis or not other.criteria.env_assertions for other in tasks):
        return []
    text = " ".join(text_of(call) for call in calls)
    known = {
        assertion.model_dump_json(): assertion for other in tasks for assertion in other.criteria.env_assertions or ()
    }
    environment = domain.environment(task)
    play(calls, environment)
    return [
        assertion
        for assertion in known.values()
        if all(value in text for value in assertion.arguments.values() if is_key(value))
        and _holds(assertion, environment)
    ]


def _holds(assertion: EnvAssertion, environment: Environment) -> bool:
    try:
        value = environment.run_function(assertion.env_type, assertion.func_name, assertion.arguments)
    except Exception:  # noqa: BLE001 - a function of the domain, tried with what may not exist
        return False
    return bool(value == assertion.assert_value)


def _said(messages: Sequence[Message], calls: Sequence[Call]) -> Iterator[str]:
    """Yield values that the agent said, that a result has, and that the user has not said; the likeliest first."""
    user_text = " ".join(m.content or "" for m in messages if m.role == "user")
    results = " ".join((call.result.content or "") for call in calls if call.result)
    known, argument_text = (
        digits_in(results),
        " ".join(str(value) for call in calls for value in call.call.arguments.values()),
    )
    ranks: dict[str, int] = {}
    for message in reversed(messages):
        if message.role != "assistant" or message.tool_calls or not message.content:
            continue
        for written in values_in(message.content):
            value = written.lstrip("$").replace(",", "")
            if value in user_text or (value not in results and _number(value) not in known):
                continue
            # What a call was made with is part of the state, if it matters.
            ranks.setdefault(value, (2 if "." in written or "$" in written else 1) - 2 * (value in argument_text))
    yield from sorted(ranks, key=lambda value: -ranks[value])


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
