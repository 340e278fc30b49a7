"""JSON Schemas of the files in a run's folder."""

from __future__ import annotations

from typing import Any

from ..environment.task_schema import model_schema
from ..models import Simulation, Task
from .layout import MANIFEST, SIMULATIONS
from .manifest import Manifest


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
