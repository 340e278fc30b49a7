"""Checks of a generated task: it has a request, every action counts, and the agent can know all arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau.environment import Environment

from ..._kit.verify import check_effects, check_knowledge
from ..tools import RetailTools

if TYPE_CHECKING:
    from pytest_tau.models import Task

    from ..models import RetailDB


def verify(task: Task, db: RetailDB) -> None:
    """Check that the task asks for something, that every writing action counts, and that the agent can know it all.

    Args:
        task: What to check.
        db: The database that it starts from.

    Raises:
        TaskFormatError: What is wrong.
    """
    script = task.user_scenario.script
    sources = {"instructions": str(task.user_scenario), **({"script": str(script)} if script else {})}
    check_knowledge(task, environment_of(db), sources)
    check_effects(task, lambda: environment_of(db))


def environment_of(db: RetailDB) -> Environment:
    """Return an environment over a copy of the database."""
    return Environment(domain_name="retail", policy="", agent=RetailTools(db.fork()))
