"""The trajectories of one domain: what a submission states of them, computed from the file itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..analysis.comparability import comparability
from ..analysis.metrics import pass_hat_k
from ..errors import ConfigurationError
from ..runs.layout import RESULTS_INDEX
from ..runs.make_record import make_record
from ..runs.reader import Run
from .document import KS

if TYPE_CHECKING:
    from pathlib import Path

    from ..analysis.comparability import Comparability
    from ..models import Task

#: The reason of trials that τ²-bench excludes from its rates.
_LOST = "infrastructure_error"


@dataclass
class Trajectories:
    """The trials of one domain.

    Attributes:
        path: Their file.
        domain: The domain's name.
        info: The header of the file.
        tasks: Tasks by id.
        trials: For each task, the number of each of its trials, in the order of the file.
        problems: What could not be read.
        comparability: How far they can be compared; None if the domain is not one of τ²-bench.
    """

    path: Path
    domain: str
    info: dict[str, Any]
    tasks: dict[str, Task | None] = field(default_factory=dict)
    trials: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)
    comparability: Comparability | None = None
    _ran: Counter[str] = field(default_factory=Counter)
    _passed: Counter[str] = field(default_factory=Counter)
    _lost: Counter[str] = field(default_factory=Counter)
    _costs: list[float] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Trajectories:
        """Return the trajectories of a file.

        Raises:
            ConfigurationError: It has no simulation that can be read, or those of several domains.
            OSError: It cannot be opened.
        """
        run, records = Run(path), []
        trajectories: Trajectories | None = None
        for trial in run.trials():
            if trajectories is None:
                trajectories = cls(path, trial.domain, run.info)
            elif trajectories.domain != trial.domain:
                raise ConfigurationError(f"has trials of {trajectories.domain} and of {trial.domain}")
            records.append(make_record(trial.simulation, trial.task, trial.domain, trial.test))
            trajectories._add(trial.simulation, trial.task)
        if trajectories is None:
            raise ConfigurationError(f"no simulation can be read: {'; '.join(run.problems[:3])}")
        trajectories.problems, trajectories.comparability = run.problems, comparability(records)
        return trajectories

    def _add(self, simulation: Any, task: Task | None) -> None:
        task_id = simulation.task_id
        self.tasks[task_id] = task
        self.trials[task_id].append(simulation.trial)
        if simulation.termination_reason == _LOST:
            self._lost[task_id] += 1
            return
        self._ran[task_id] += 1
        self._passed[task_id] += bool(simulation.reward_info and simulation.reward_info.passed)
        if simulation.agent_cost is not None:
            self._costs.append(simulation.agent_cost)

    @property
    def lost(self) -> int:
        """Return the number of trials that were lost to infrastructure."""
        return self._lost.total()

    @property
    def declared(self) -> int:
        """Return the number of trials of each task that the header states."""
        stated = self.info.get("num_trials")
        return stated if isinstance(stated, int) else 0

    def model(self, side: str) -> tuple[Any, Any]:
        """Return the name and the arguments of a side's model."""
        inside = self.info.get(f"{side}_info") or {}
        return inside.get("llm"), inside.get("llm_args")

    def rates(self, *, lost_fail: bool = False) -> dict[str, float | None]:
        """Return pass^1 to pass^4 in percent; null for those with more trials than the task with the fewest has.

        Args:
            lost_fail: Count trials that were lost to infrastructure as failures. τ²-bench's validator excludes them.
        """
        counts = {task: self._ran[task] + (self._lost[task] if lost_fail else 0) for task in self.trials}
        ran = {task: count for task, count in counts.items() if count}
        most = min([*ran.values(), self.declared or max(ran.values(), default=0)], default=0)
        rates_by_k: dict[str, float | None] = {}
        for k in KS:
            rate = pass_hat_k([(count, self._passed[task]) for task, count in ran.items()], k) if k <= most else None
            rates_by_k[f"pass_{k}"] = rate * 100 if isinstance(rate, float) else None
        return rates_by_k

    @property
    def cost(self) -> float | None:
        """Return the mean cost of the agent's model in USD; None if it is not known."""
        return sum(self._costs) / len(self._costs) if self._costs else None

    @property
    def retrieval(self) -> str | None:
        """Return the name of the retrieval variant, if the header states one."""
        variant = self.info.get("retrieval_config")
        return variant if isinstance(variant, str) else None

    def results(self) -> dict[str, Any]:
        """Return the results of the domain as a submission has them."""
        retrieval = {"retrieval_config": self.retrieval} if self.retrieval else {}
        return {**self.rates(), "cost": self.cost, **retrieval}


def files_in(folder: Path) -> list[Path]:
    """Return the result files of a folder of trajectories, as τ²-bench finds them: its index, or all files.

    A folder inside of it that has an index is one of them.
    """
    if (folder / RESULTS_INDEX).is_file():
        return [folder / RESULTS_INDEX]
    folders = [index.parent for index in folder.glob(f"*/{RESULTS_INDEX}")]
    files = [*folder.rglob("*.json"), *folder.rglob("*.json.gz")]
    return sorted([*folders, *(file for file in files if not any(parent in file.parents for parent in folders))])
