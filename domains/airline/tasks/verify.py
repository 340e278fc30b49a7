"""Whether a generated task is any good: it asks for something, every action counts, and the agent can know it all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_tau.environment import Environment
from pytest_tau.errors import TaskFormatError

from ..._kit.transfer import TRANSFER
from ..formatting import CITIES
from ..tools import AirlineTools

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.models.tasks import Action, Task

    from ..models import AirlineDB


def verify(task: Task, db: AirlineDB, greeting: str = "") -> None:
    """Check that the task asks for something, that every writing action counts, and that the agent can know it all.

    Args:
        task: What to check.
        db: The database that it starts from.
        greeting: What the agent says anyway.

    Raises:
        TaskFormatError: What is wrong.
    """
    actions, phrases = task.criteria.actions or [], task.criteria.communicate_info or []
    texts = [_folded(str(task.user_scenario)), _folded(spoken_by(task)), _folded(greeting)]

    def require(condition: object, problem: str) -> None:
        if not condition:
            raise TaskFormatError(problem, task_id=task.id)

    def outcome(without: Action | None = None) -> Environment:
        environment = environment_of(db)
        for action in actions:
            if action is not without:
                environment.call(action.name, action.arguments)
        return environment

    require(re.fullmatch(r"[a-z0-9-]{3,60}", task.id), "an id that is not safe everywhere")
    for phrase in phrases:
        require(len(phrase) >= 3 and "," not in phrase, f"too short to tell, or with a comma: {phrase!r}")
        require(not any(phrase.casefold() in text.replace(",", "") for text in texts), f"told by the user: {phrase!r}")
    final, mutating = (
        outcome(),
        [action for action in actions if environment_of(db).mutates(action.name, "assistant")],
    )
    require(mutating or phrases or "ACTION" in task.criteria.reward_basis, "doing nothing passes")
    for action in mutating:
        require(not final.agent_db.equals(outcome(action).agent_db), f"{action.action_id} makes no difference")
    _check_facts(task, environment_of(db), require)


def environment_of(db: AirlineDB) -> Environment:
    """Return an environment over a copy of the database."""
    return Environment(domain_name="airline", policy="", agent=AirlineTools(db.fork()))


def spoken_by(task: Task) -> str:
    """All that a user without a model may say."""
    script = task.user_scenario.script
    if script is None:
        return ""
    answers = [*script.answers, *(answer for request in script.requests for answer in request.answers)]
    told = [*script.facts.values(), *(fact for request in script.requests for fact in request.facts.values())]
    asked = [text for request in script.requests for text in (request.say, request.fallback) if text]
    return "\n".join([*asked, *told, *(answer.say for answer in answers)])


def _check_facts(task: Task, environment: Environment, require: Callable[[object, str], None]) -> None:
    known = _folded(str(task.user_scenario))
    for action in task.criteria.actions or []:
        if action.name not in (TRANSFER, "calculate"):
            for fact in _facts(action.arguments):
                require(_is_known(fact, known), f"{action.action_id}: where does {fact!r} come from?")
        known += "\n" + _folded(environment.call(action.name, action.arguments).content or "")


def _facts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [fact for part in value.values() for fact in _facts(part)]
    if isinstance(value, list):
        return [fact for part in value for fact in _facts(part)]
    return [value] if isinstance(value, str) and value not in ("yes", "no") else []


def _is_known(fact: str, known: str) -> bool:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", fact):
        month, day = fact[5:7], int(fact[8:])
        if month == "05" and re.search(rf"may {day}\b", known):
            return True
    spellings = {fact, fact.replace("_", " "), fact.replace("_", "-"), CITIES.get(fact, fact)}
    return any(_folded(spelling) in known for spelling in spellings)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
