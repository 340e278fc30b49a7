"""The party at fault in trials of stored runs whose run did not look for it, such as those of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnosis.attribution import annotate_failure
from ..errors import ConfigurationError, TauError
from ..evaluation import evaluate
from ..regrade.recognition import recognise_domain, worked_alone
from ..regrade.replay_diff import call_on_other_data
from ..runs.results.files import ResultFile

if TYPE_CHECKING:
    from ..environment import Domain
    from ..models import Simulation, Task
    from ..regrade.recognition import DomainSource
    from ..runs.reader import Run, StoredTrial


class Blamer:
    """Names the party at fault in the failed trials of a run.

    Args:
        run: The run.
        domains: The source of domains.
    """

    def __init__(self, run: Run, domains: DomainSource) -> None:
        self._run, self._domains = run, domains
        self._loaded: dict[str, Domain | str] = {}
        self._recognised: str | None = None

    def domain_name(self, trial: StoredTrial) -> str:
        """Return the name of a trial's domain, by its tools if it is not stored; empty if it is not known."""
        if trial.domain or not self._run.path.is_file():
            return trial.domain
        if self._recognised is None:
            self._recognised = recognise_domain(ResultFile.scan(self._run.path).called, self._domains) or ""
        return self._recognised

    def domain(self, name: str) -> Domain | str:
        """Return a domain, or why it cannot be loaded."""
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def annotate(self, trial: StoredTrial) -> None:
        """Record the party at fault and the turning point of a failed trial that has none.

        Nothing is recorded if its domain is not known, or if a call that had succeeded fails on the domain's data.
        """
        simulation, task = trial.simulation, trial.task
        if simulation.outcome == "passed" or simulation.info.blame is not None or task is None:
            return
        domain = self.domain(self.domain_name(trial))
        if isinstance(domain, str):
            return
        solo = worked_alone(simulation, domain)
        try:
            if call_on_other_data(simulation, domain.environment(task, solo=solo, replay_history=False)):
                return
            _annotate(simulation, task, domain, solo=solo)
        except (TauError, RecursionError):
            return  # what is not as it should be in a file of others is reported by tau regrade

    def _load(self, name: str) -> Domain | str:
        if not name:
            return "the domain is not known"
        try:
            return self._domains.load(name, self._run.info)
        except ConfigurationError as error:
            return str(error)


def _annotate(simulation: Simulation, task: Task, domain: Domain, *, solo: bool) -> None:
    stored = simulation.reward_info
    if stored is not None and not stored.reward_basis and not task.needs_judge:  # a reward without its checks
        reason = simulation.termination_reason
        fresh = evaluate(task, simulation.messages, termination_reason=reason, domain=domain, solo=solo)
        if fresh.passed:
            return
        graded = simulation.model_copy(update={"reward_info": fresh})
        annotate_failure(graded, task, domain, solo=solo)
        simulation.info = graded.info
        return
    annotate_failure(simulation, task, domain, solo=solo)
