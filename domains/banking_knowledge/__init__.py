"""A bank's customer care, whose agents find rules and hidden tools in documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest_tau_tasks
from pytest_tau.environment import DomainSpec
from pytest_tau.knowledge import Knowledge

from .tables import BankDB
from .tools import BankTools
from .user_tools import BankUserTools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task


def _generate(count: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    from .tasks.sampler import BankSampler

    database = cast("BankDB", domain.load().environment().agent_db)
    yield from BankSampler(database, difficulty).tasks(count, seed)


domain = DomainSpec(
    name="banking_knowledge",
    folder=Path(__file__).parent,
    tasks=Path(pytest_tau_tasks.__path__[0]) / "banking_knowledge",
    agent_db=BankDB,
    agent_tools=BankTools,
    user_tools=BankUserTools,
    agents={"rules": "pytest_tau_domains.banking_knowledge.agent.rules_agent:RulesAgent"},
    generate=_generate,
    rules="pytest_tau_domains.banking_knowledge.rules:RULES",
    # Of the times at the end of an answer, 0 is shown, so that a recorded conversation can be replayed.
    # Source: τ²-bench v1.0.1.
    knowledge=Knowledge(prompts="prompts", answer_end="\n\n[Timing: retrieval=0ms, reranking=0ms, total=0ms]"),
)
