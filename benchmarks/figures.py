"""The settings of a benchmark, and its result."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Options:
    """The settings of a measurement.

    Attributes:
        data: Official data; None for the bundled data.
        quick: Little of everything, to see that it runs; the figures are not to be quoted.
    """

    data: Path | None = None
    quick: bool = False

    def count(self, full: int, quick: int) -> int:
        """Return how many of something to measure."""
        return quick if self.quick else full

    @property
    def pytest_arguments(self) -> list[str]:
        """Return the arguments that name the data for pytest."""
        return [f"--tau-data={self.data}"] if self.data else []


@dataclass(frozen=True)
class Figure:
    """Something measured, several times.

    Attributes:
        name: What.
        unit: In which unit.
        wall: By the wall clock, or of what is not a time the value itself; one for each run.
        cpu: The same in processor time of all processes and threads; empty for what is not a time.
        target: What the median is to reach; None where nothing is promised.
        at_least: The target is a lower bound.
    """

    name: str
    unit: str
    wall: list[float]
    cpu: list[float] = field(default_factory=list)
    target: float | None = None
    at_least: bool = False

    @property
    def median(self) -> float:
        """Return the median."""
        return statistics.median(self.wall)

    @property
    def best(self) -> float:
        """Return the best value, which was disturbed least."""
        return max(self.wall) if self.at_least else min(self.wall)

    @property
    def spread(self) -> tuple[float, float]:
        """Return the bounds of the middle half."""
        if len(self.wall) == 1:
            return self.wall[0], self.wall[0]
        low, _, high = statistics.quantiles(self.wall, n=4, method="inclusive")
        return low, high

    @property
    def median_cpu(self) -> float | None:
        """Return the median of the processor time."""
        return statistics.median(self.cpu) if self.cpu else None

    @property
    def met(self) -> bool | None:
        """Return whether the median reaches the target; None if there is none."""
        if self.target is None:
            return None
        return self.median >= self.target if self.at_least else self.median <= self.target

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON, with the single runs."""
        return {
            "name": self.name,
            "unit": self.unit,
            "median": self.median,
            "best": self.best,
            "middle_half": list(self.spread),
            "median_cpu": self.median_cpu,
            "target": self.target,
            "met": self.met,
            "runs": self.wall,
            "runs_cpu": self.cpu,
        }
