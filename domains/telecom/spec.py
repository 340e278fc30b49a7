"""The domain as the tasks need it: databases, tools and policies, without the agents and the task sampler."""

from pathlib import Path

import pytest_tau_tasks
from pytest_tau.environment import DomainSpec, PolicyFiles

from .models import TelecomDB
from .phrasings import PHRASINGS
from .sync import sync
from .tools import TelecomTools
from .user_models import TelecomUserDB
from .user_tools import TelecomUserTools

MANUAL = PolicyFiles(
    normal=("main_policy.md", "tech_support_manual.md"),
    solo=("main_policy_solo.md", "tech_support_manual.md"),
)
WORKFLOW = PolicyFiles(
    normal=("main_policy.md", "tech_support_workflow.md"),
    solo=("main_policy_solo.md", "tech_support_workflow_solo.md"),
)


def _policy_text(texts: list[str]) -> str:
    main, tech_support = texts
    return f"<main_policy>\n{main}\n</main_policy>\n<tech_support_policy>\n{tech_support}\n</tech_support_policy>"


#: Tasks are built and verified against this; the package completes it.
ENVIRONMENT = DomainSpec(
    name="telecom",
    folder=Path(__file__).parent,
    tasks=Path(pytest_tau_tasks.__path__[0]) / "telecom",
    agent_db=TelecomDB,
    agent_tools=TelecomTools,
    user_db=TelecomUserDB,
    user_tools=TelecomUserTools,
    sync=sync,
    policies={"manual": MANUAL, "workflow": WORKFLOW},
    policy_text=_policy_text,
    data_name="telecom",
    spoken=PHRASINGS,
)
