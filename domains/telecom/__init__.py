"""A mobile carrier's customer care: accounts on the agent's side, a phone on the user's."""

import dataclasses
from typing import TYPE_CHECKING

from .spec import ENVIRONMENT, MANUAL, WORKFLOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task


def _generate(n: int, seed: int, difficulty: "Difficulty") -> "Iterator[Task]":
    # Deferred, since a run of the bundled tasks needs no sampler.
    from .tasks.sampler import generate

    return generate(n, seed, difficulty)


domain = dataclasses.replace(
    ENVIRONMENT,
    agents={"rules": "pytest_tau_domains.telecom.agent:RulesAgent"},
    generate=_generate,
    rules="pytest_tau_domains.telecom.rules:RULES",
)
#: The same with the tech support policy as a decision tree.
workflow = dataclasses.replace(domain, name="telecom-workflow", policies={"workflow": WORKFLOW, "manual": MANUAL})
