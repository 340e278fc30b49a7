"""What a benchmark is asked, and what it tells."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Options:
    """How to measure.

    Attributes:
        data: Official data; None for the bundled data.
        quick: Little of everything, to see that it runs; the figures are not to be quoted.
    """

    data: Path | None = None
    quick: bool = False

    def count(self, full: int, quick: int) -> int:
        """How many of something."""
        return quick if self.quick else full

    @property
    def pytest_arguments(self) -> list[str]:
        """What tells pytest which data to use."""
        return ["--tau-data", str(self.data)] if self.data else []


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
        """The middle one."""
        return statistics.median(self.wall)

    @property
    def best(self) -> float:
        """The one that was disturbed least."""
        return max(self.wall) if self.at_least else min(self.wall)

    @property
    def spread(self) -> tuple[float, float]:
        """Between these lies the middle half."""
        if len(self.wall) == 1:
            return self.wall[0], self.wall[0]
        low, _, high = statistics.quantiles(self.wall, n=4, method="inclusive")
        return low, high

    @property
    def median_cpu(self) -> float | None:
        """The middle one in processor time."""
        return statistics.median(self.cpu) if self.cpu else None

    @property
    def met(self) -> bool | None:
        """Whether the median reaches the target; None where there is none."""
        if self.target is None:
            return None
        return self.median >= self.target if self.at_least else self.median <= self.target

    def as_json(self) -> dict[str, Any]:
        """Everything, the single runs among it."""
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
