"""Checks of a generated task: it has a request, every action counts, and the agent can know all arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_tau.environment import Environment

from ..._kit.verify import check_effects, check_knowledge, require
from ..formatting import CITIES
from ..tools import AirlineTools
from ..values import VALUES

if TYPE_CHECKING:
    from pytest_tau.environment import Values
    from pytest_tau.models.tasks import Task

    from ..models import AirlineDB


def verify(task: Task, db: AirlineDB, greeting: str = "", values: Values = VALUES) -> None:
    """Check that the task asks for something, that every writing action counts, and that the agent can know it all.

    Args:
        task: What to check.
        db: The database that it starts from.
        greeting: What the agent says anyway.
        values: The values of the policy.

    Raises:
        TaskFormatError: What is wrong.
    """
    require(re.fullmatch(r"[a-z0-9-]{3,60}", task.id), task, "an id that is not safe everywhere")
    texts = [_fold(text).replace(",", "") for text in (str(task.user_scenario), spoken_by(task), greeting)]
    for phrase in task.criteria.communicate_info or []:
        require(len(phrase) >= 3 and "," not in phrase, task, f"too short to tell, or with a comma: {phrase!r}")
        require(not any(phrase.casefold() in text for text in texts), task, f"the user says {phrase!r}")
    check_effects(task, lambda: environment_of(db, values))
    check_knowledge(task, environment_of(db, values), {"instructions": str(task.user_scenario)}, _is_known, _fold)


def environment_of(db: AirlineDB, values: Values = VALUES) -> Environment:
    """Return an environment over a copy of the database."""
    return Environment(domain_name="airline", policy="", agent=AirlineTools.with_values(values)(db.fork()))


def spoken_by(task: Task) -> str:
    """Return all that a user without a model may say."""
    script = task.user_scenario.script
    if script is None:
        return ""
    answers = [*script.answers, *(answer for request in script.requests for answer in request.answers)]
    facts = [*script.facts.values(), *(fact for request in script.requests for fact in request.facts.values())]
    requests = [text for request in script.requests for text in (request.say, request.fallback) if text]
    return "\n".join([*requests, *facts, *(answer.say for answer in answers)])


def _is_known(text: str, fact: str) -> bool:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", fact):
        month, day = fact[5:7], int(fact[8:])
        if month == "05" and re.search(rf"may {day}\b", text):
            return True
    spellings = {fact, fact.replace("_", " "), fact.replace("_", "-"), CITIES.get(fact, fact)}
    return any(_fold(spelling) in text for spelling in spellings)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
