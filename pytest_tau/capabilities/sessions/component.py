"""SESSIONS: what has to hold in each session, and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...environment import reference_environment
from ...evaluation import CustomComponent
from ...models import BEGIN_SESSION, CustomCheck, beginnings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...environment import Environment
    from ...evaluation import GradingInput
    from ...models import Message, RewardInfo, Session, Task

#: Places that a session's state may be named as wrong by.
_MOST = 3


def components() -> list[SessionsComponent]:
    """Return the reward component."""
    return [SessionsComponent()]


class SessionsComponent(CustomComponent):
    """Each session took place, its texts were said and not said, and its state was right if it is graded."""

    name = "SESSIONS"

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Add a check with everything that is wrong, by session."""
        problems = [f"{session.id}: {problem}" for session, problem in _problems(given)]
        check = CustomCheck(name=self.name, reward=float(not problems), justification="; ".join(problems))
        verdict.custom_checks = [*(verdict.custom_checks or []), check]

    def evaluate(self, task: Task, messages: Sequence[Message], environment: Environment) -> float:
        """Grade nothing: ``grade`` does.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError


def _problems(given: GradingInput) -> Iterator[tuple[Session, str]]:
    starts = [0, *beginnings(given.messages), len(given.messages)]
    for position, session in enumerate(given.task.sessions or ()):
        if position + 1 >= len(starts):
            yield session, "did not take place"
            continue
        texts = [
            _plain(m.text) for m in given.messages[starts[position] : starts[position + 1]] if m.role == "assistant"
        ]
        for phrase in session.communicate_info:
            if not any(phrase.lower() in text for text in texts):
                yield session, f"the agent did not say {phrase!r}"
        for phrase in session.withheld_info:
            if any(phrase.lower() in text for text in texts):
                yield session, f"the agent said {phrase!r}, which it must not say here"
        if session.graded and (places := _differences(given, position, starts[position + 1])):
            more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
            yield session, f"at its end, the state is wrong at {', '.join(places[:_MOST])}{more}"


def _plain(text: str) -> str:
    """Return a text as COMMUNICATE reads it."""
    return text.lower().replace(",", "")


def _differences(given: GradingInput, position: int, end: int) -> list[str]:
    """Return the places of the state at the end of a session that are not as the reference actions leave them."""
    final = given.domain.environment(given.task, solo=given.solo, replay_history=False)
    final.replay(given.messages[:end])
    reference = reference_environment(given.domain, _until(given.task, position))
    sides = reference.databases_with(final)
    places = [f"{side} side: {change.path}" for side, right, actual in sides for change in right.changes(actual)]
    final.close()
    return places


def _until(task: Task, position: int) -> Task:
    """Return the task with the reference actions up to the end of a session."""
    actions = task.criteria.actions or []
    marks = [number for number, action in enumerate(actions) if action.name == BEGIN_SESSION]
    end = [*marks, len(actions)][position]
    criteria = task.criteria.model_copy(update={"actions": actions[:end]})
    return task.model_copy(update={"evaluation_criteria": criteria})
