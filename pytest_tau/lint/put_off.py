"""A generated task as one of two sessions, the second of which needs what was said in the first."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from ..models import Task, parse_task
from ..references import breaches_in, carried_out

if TYPE_CHECKING:
    from ..environment import Domain

_LATER = "Please change nothing yet: I will call again."
_NOW = "I have called before and said what I want. Please do it now."
#: The hours between the sessions; fewer where the reference would come too late.
_HOURS = (50, 26, 3, 0)
_OF_SESSIONS = ("actions", "communicate_info")


def put_off(task: Task, domain: Domain, seed: int) -> Task:
    """Return the task of a user who says what it wants, and in another session that it is to be done now.

    Args:
        task: A task whose user has a script, and whose reference breaks no rule of the policy.
        domain: Its domain.
        seed: Draws the time between the sessions.
    """
    first = random.Random(f"{seed} {task.id}").randrange(len(_HOURS) - 1)  # noqa: S311 - reproducible, not secret
    later = (_with_sessions(task, hours) for hours in _HOURS[first:])
    return next((made for made in later if not breaches_in(carried_out(made, domain), made, domain)), task)


def _with_sessions(task: Task, hours: float) -> Task:
    document = task.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    scenario, criteria = document.pop("user_scenario"), document.pop("evaluation_criteria")
    script, instructions = _joined(scenario["script"]), scenario["instructions"]
    requests = scenario["script"]["requests"]
    wish = " ".join(request["say"] for request in requests)
    insists: dict[str, Any] = next((request for request in requests if "fallback" in request), {})
    insisting = {name: insists[name] for name in ("insist", "fallback") if name in insists}

    def session(say: str, text: str) -> dict[str, Any]:
        prose = {**instructions, "task_instructions": text}
        return {**scenario, "instructions": prose, "script": {**script, "requests": [{**insisting, "say": say}]}}

    first = session(f"{wish} {_LATER}", "You only say what you want: nothing is to be changed yet. Then say goodbye.")
    earlier = "You have said what you want in an earlier conversation, and do not repeat it: now it is to be done."
    wants = session(_NOW, f"{earlier} {instructions['task_instructions']}")
    document.pop("ticket", None)  # an agent that works alone has no sessions
    of_session = {name: criteria.pop(name) for name in _OF_SESSIONS if name in criteria}
    basis = [name for name in criteria.get("reward_basis", ["DB"]) if name != "COMMUNICATE"]
    sessions = [
        {"id": "says-it", "graded": True, "user_scenario": first},
        {"id": "calls-again", "hours": hours, "user_scenario": wants, **of_session},
    ]
    criteria = {**criteria, "reward_basis": [*basis, "SESSIONS"]}
    return parse_task({**document, "id": f"{task.id}-put-off", "sessions": sessions, "evaluation_criteria": criteria})


def _joined(script: dict[str, Any]) -> dict[str, Any]:
    """Return a script that knows the facts and answers of all of its requests."""
    requests = script["requests"]
    facts = {name: fact for part in (script, *requests) for name, fact in part.get("facts", {}).items()}
    answers = [answer for part in (script, *requests) for answer in part.get("answers", [])]
    return {**script, "facts": facts, "answers": answers}
