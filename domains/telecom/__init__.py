"""A mobile carrier's customer care: accounts on the agent's side, a phone on the user's."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_tau_tasks
from pytest_tau.environment import Difficulty, DomainSpec, PolicyFiles

from .models import TelecomDB
from .sync import sync
from .tools import TelecomTools
from .user_models import TelecomUserDB
from .user_tools import TelecomUserTools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.models import Task

_MANUAL = PolicyFiles(
    normal=("main_policy.md", "tech_support_manual.md"),
    solo=("main_policy_solo.md", "tech_support_manual.md"),
)
_WORKFLOW = PolicyFiles(
    normal=("main_policy.md", "tech_support_workflow.md"),
    solo=("main_policy_solo.md", "tech_support_workflow_solo.md"),
)


def _policy_text(texts: list[str]) -> str:
    main, tech_support = texts
    return f"<main_policy>\n{main}\n</main_policy>\n<tech_support_policy>\n{tech_support}\n</tech_support_policy>"


def _generate(n: int, seed: int, difficulty: Difficulty) -> "Iterator[Task]":
    # Imported now, so that to know the domain costs nothing.
    from .tasks.sampler import generate

    return generate(n, seed, difficulty)


domain = DomainSpec(
    name="telecom",
    folder=Path(__file__).parent,
    tasks=Path(pytest_tau_tasks.__path__[0]) / "telecom",
    agent_db=TelecomDB,
    agent_tools=TelecomTools,
    user_db=TelecomUserDB,
    user_tools=TelecomUserTools,
    sync=sync,
    policies={"manual": _MANUAL, "workflow": _WORKFLOW},
    policy_text=_policy_text,
    data_name="telecom",
    agents={"rules": "pytest_tau_domains.telecom.agent:RulesAgent"},
    generate=_generate,
)
#: The same with the tech support policy as a decision tree.
workflow = dataclasses.replace(domain, name="telecom-workflow", policies={"workflow": _WORKFLOW, "manual": _MANUAL})
