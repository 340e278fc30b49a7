"""Checks of a generated task: every action succeeds and counts, and the agent can know all that it needs for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_tau.environment import Environment

from ..._kit.verify import check_effects, require
from ..tools import BankTools
from ..user_tools import BankUserTools
from .calls import CALL, GIVE, UNLOCK, USE
from .documents import contents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.models import Task
    from pytest_tau.models.tasks import Action

    from ..tables import BankDB

#: Arguments that an agent words itself.
_OWN_WORDS = ("summary",)
_REFUSED = "Error"


def verify(task: Task, db: BankDB) -> None:
    """Check that every action succeeds and counts, and that the agent can know all that it needs.

    Hidden tools have to be named by a document that the task requires.

    Args:
        task: What to check.
        db: The database that it starts from.

    Raises:
        TaskFormatError: What is wrong.
    """
    _check_documents(task)
    _check_knowledge(task, environment_of(task, db))
    check_effects(task, lambda: environment_of(task, db))


def environment_of(task: Task, db: BankDB) -> Environment:
    """Return an environment over a copy of the database, with the records of the task."""
    agent = BankTools(db.fork())
    environment = Environment(domain_name="banking_knowledge", policy="", agent=agent, user=BankUserTools(agent.db))
    environment.begin_task(task)
    state = task.initial_state
    if state and state.initialization_data:
        environment.merge(state.initialization_data.agent_data, None)
    return environment


def _check_documents(task: Task) -> None:
    """Check that the required documents exist, and that one of them names each hidden tool."""
    required = task.required_documents or []
    missing = [name for name in required if name not in contents()]
    require(not missing, task, f"required_documents: no such document: {missing}")
    text = "\n".join(contents()[name] for name in required)
    for action in task.criteria.actions or []:
        tool = {UNLOCK: "agent_tool_name", GIVE: "discoverable_tool_name"}.get(action.name)
        if tool:
            name = action.arguments[tool]
            require(f"`{name}`" in text, task, f"{action.action_id}: no required document names the tool {name}")


def _check_knowledge(task: Task, environment: Environment) -> None:
    """Check that texts of the user, required documents or results give every argument, and that no action fails."""
    script = task.user_scenario.script
    texts = [contents()[name] for name in task.required_documents or []]
    known = {"instructions": [str(task.user_scenario), *texts], "script": [str(script), *texts]}
    known = {source: parts for source, parts in known.items() if source != "script" or script}
    for action in task.criteria.actions or []:
        if action.name == "log_verification":
            profile = environment.call("get_user_information_by_name", {"customer_name": action.arguments["name"]})
            clock = environment.call("get_current_time", {})
            for parts in known.values():
                parts += [profile.content or "", clock.content or ""]
        for source, parts in known.items():
            texts_read = "\n".join(parts)
            missing = next((fact for fact in _facts(_decoded(action)) if fact not in texts_read), None)
            problem = f"{action.action_id}: where should the agent know {missing!r} from? It does not come from"
            require(missing is None, task, f"{problem} the {source}, the required documents, nor from what was read")
        reply = environment.call(action.name, action.arguments, action.requestor)
        content = reply.content or ""
        require(not reply.error and not content.startswith(_REFUSED), task, f"{action.action_id}: {content}")
        if action.requestor == "user" or action.name in (UNLOCK, GIVE) or environment.mutates(action.name, "assistant"):
            content += " " + str(_visible(environment, task))
        for parts in known.values():
            parts.append(content)


def _visible(environment: Environment, task: Task) -> list[str]:
    """Return what the visible reading tools show about the task's customer."""
    users = [a.arguments["user_id"] for a in task.criteria.actions or [] if a.name == "log_verification"]
    names = ("get_referrals_by_user", "get_credit_card_transactions_by_user", "get_credit_card_accounts_by_user")
    return [environment.call(name, {"user_id": user}).content or "" for user in users for name in names]


def _decoded(action: Action) -> dict[str, Any]:
    """Return the arguments of an action, those of a wrapper's tool as an object."""
    if action.name in (CALL, USE):
        arguments: dict[str, Any] = json.loads(action.arguments["arguments"])
        return arguments
    return action.arguments


def _facts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in _OWN_WORDS:
                yield from _facts(part)
    elif isinstance(value, str) and not value.endswith(" points"):  # points are computed
        yield value
