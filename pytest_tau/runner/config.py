"""The settings of a run, and of each of its simulations."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evaluation import Evaluation
from ..orchestrator import Limits

#: Seed of a run when none is given. Source: τ²-bench v1.0.1.
DEFAULT_SEED = 300
#: Seconds after which a conversation is cut off, so that an agent that hangs ends a run and not a day.
DEFAULT_TIMEOUT = 1800.0


@dataclass(frozen=True)
class SimulationSettings:
    """What holds for every simulation of a run.

    Attributes:
        limits: When a conversation is cut off.
        evaluation: How it is graded.
        solo: The agent works alone, from the ticket.
        policy: Flavour of the domain's policy; None for its default.
    """

    limits: Limits = field(default_factory=lambda: Limits(timeout=DEFAULT_TIMEOUT))
    evaluation: Evaluation = field(default_factory=Evaluation)
    solo: bool = False
    policy: str | None = None


@dataclass(frozen=True)
class RunConfig:
    """Every setting of a run, checked; nothing below the plugin sees pytest's own configuration.

    Attributes:
        domains: Domains named for the run; none where only files and marked tests are run.
        data_dir: Official data; None for the bundled data.
        split: Which split of a domain runs; None where none was named.
        task_patterns: Ids and globs that narrow the tasks; empty for all.
        num_tasks: At most so many tasks of each domain, file or marked test.
        trials: Repetitions of each task.
        seed: Seed of the run, from which each trial's seed follows.
        agent: Specification of the agent, or, from a marker, a class or function; None where none was named.
        user: Specification of the user; None where none was named.
        judge: Specification of the judge; None where none was named.
        folder: What relative paths and modules are looked up in.
        simulation: What holds for every simulation.
    """

    domains: tuple[str, ...] = ()
    data_dir: Path | None = None
    split: str | None = None
    task_patterns: tuple[str, ...] = ()
    num_tasks: int | None = None
    trials: int = 1
    seed: int = DEFAULT_SEED
    agent: Any = None
    user: Any = None
    judge: str | None = None
    folder: Path = field(default_factory=Path.cwd)
    simulation: SimulationSettings = field(default_factory=SimulationSettings)
