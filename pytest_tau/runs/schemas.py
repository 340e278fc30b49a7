"""JSON Schemas of the files in a run's folder."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..environment.task_schema import model_schema
from ..models import Simulation, Task
from .layout import MANIFEST, SIMULATIONS
from .manifest import FORMAT


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DomainHashes(_Part):
    """Hashes of what verdicts in a domain depend on.

    Attributes:
        policy: The text of the policy.
        tools: The schemas of the tools.
        database: The initial databases.
    """

    policy: str
    tools: str
    database: str


class Hashes(_Part):
    """Hashes of everything that verdicts depend on.

    Attributes:
        grader: Grading rules, profile and names of evaluators.
        domains: By domain.
        tasks: By domain and task id.
        prompts: The prompts of the project.
    """

    grader: str
    domains: dict[str, DomainHashes]
    tasks: dict[str, dict[str, str]]
    prompts: dict[str, str] = Field(default_factory=dict)


class Resumed(_Part):
    """A time at which the run was resumed, with the commit."""

    started: str
    commit: str | None
    dirty: bool | None


class Manifest(_Part):
    """The metadata of a run, in run.json.

    Attributes:
        format: The version of this format.
        started: The start, in UTC.
        finished: The end, in UTC; null if the run was interrupted.
        versions: The versions of pytest-tau, Python and libraries.
        commit: The last commit of the project; null without git.
        dirty: Whether tracked files had changed since; null without git.
        settings: The settings that were given.
        saw_reference: The sides that were given the reference actions.
        planned: The number of planned trials, by domain and task id.
        excluded: The number of trials that were not run, by reason.
        resumed: The times at which the run was resumed.
        blessed: The name of the run, in a baseline.
    """

    format: int = Field(json_schema_extra={"const": FORMAT})
    started: str
    finished: str | None
    versions: dict[str, str | None]
    commit: str | None
    dirty: bool | None
    settings: dict[str, Any]
    saw_reference: list[Literal["agent", "user"]] = Field(default_factory=list)
    hashes: Hashes
    planned: dict[str, dict[str, int]]
    excluded: dict[str, int]
    resumed: list[Resumed] = Field(default_factory=list)
    blessed: str | None = None


class SimulationLine(Simulation):
    """A line of simulations.jsonl: a simulation with everything that is needed to grade it again.

    Attributes:
        test: The node id of the test.
        domain: The name of the domain.
        task: The task.
    """

    test: str
    domain: str
    task: Task


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``run.json``."""
    return {**model_schema(Manifest), "title": MANIFEST}


def simulation_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of ``simulations.jsonl``."""
    return {**model_schema(SimulationLine), "title": f"A line of {SIMULATIONS}"}
