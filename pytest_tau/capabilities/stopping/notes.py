"""The lines at the start of a run whose size does not allow an answer to its gates, or a comparison."""

from __future__ import annotations

from collections import Counter
from statistics import harmonic_mean
from typing import TYPE_CHECKING

import pytest

from ...text import plural, printable
from .planned import NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...analysis import Gate
    from ...capability import RunHandle
    from ...runs import Group

#: The entry of pytest's cache with what runs of the project have said.
_SAID = "tau/unanswerable"


class PlanNotes:
    """States, before the first trial, what a run of this size cannot answer; see ``tau plan``.

    Args:
        config: pytest's configuration.
        run: The run.
        gates: The gates of the run.
        compares: Whether a regression fails the run.
        looks: Whether the comparison is made at looks.
    """

    def __init__(
        self, config: pytest.Config, run: RunHandle, gates: Sequence[Gate], *, compares: bool, looks: bool
    ) -> None:
        self._config, self._run, self._gates, self._compares, self._looks = config, run, gates, compares, looks
        self._shown = False

    def pytest_sessionstart(self) -> None:
        """Refuse a single comparison at the end of a run that was compared at looks: they have spent some of the level.

        Raises:
            pytest.UsageError: Names the options of the earlier run.
        """
        rule = self._run.noted(NAME) or {}
        if rule.get("looks") and self._compares and not self._looks:
            raise pytest.UsageError(
                f"{self._run.label('resume')}: the earlier run was compared with its baseline at looks: "
                f"add --tau-stop-early={rule['probability']:g}"
            )

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        """Return the lines, in a run without workers."""
        trials = filter(None, map(self._run.trial_of, items))
        return [*self._lines(trial.group for trial in trials if trial.group is not None)]

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Write the lines once the first worker has collected."""
        if not self._shown:
            # The domain of a task of a file is known at the end only.
            for line in self._lines(self._run.planned.values()):
                self._run.write(line.removeprefix("tau: "))

    def _lines(self, planned: Iterable[Group]) -> Iterator[str]:
        groups = list(planned)
        if self._run.settings is None or not groups or self._shown:
            return
        self._shown = True
        from .planning import unanswerable

        for gate in self._gates:
            counted = {group for group in groups if gate.domain in (None, group.domain)}
            # Each variant must meet the gate; the tasks of one are at most these.
            tasks = len({group.task for group in counted})
            why = unanswerable(gate, tasks)
            if why is not None:
                line = f"tau: gate {gate}: {plural(tasks, 'task')} cannot answer it: {why} (see tau plan)"
                if self._is_new(line):
                    yield printable(line)
        if self._compares:
            yield from self._comparison(groups)

    def _is_new(self, line: str) -> bool:
        """Return whether a line is to be said: once in a project, as far as pytest's cache knows, and with ``-v``."""
        cache = getattr(self._config, "cache", None)
        if cache is None:
            return True
        earlier_lines = cache.get(_SAID, [])
        if line not in earlier_lines:
            cache.set(_SAID, [*earlier_lines, line])
        return line not in earlier_lines or self._config.get_verbosity() > 0

    def _comparison(self, groups: Sequence[Group]) -> Iterator[str]:
        from .planning import Population, smallest_loss

        baseline = self._run.baseline
        before = baseline.records if baseline is not None else []
        population = Population.of(before)
        ids = {record.task_id for record in before}
        tasks = {group.task for group in groups if group.task_id in ids}
        if population is None or not tasks:
            return
        # Of tasks with unequal numbers of trials, those with few say less than those with many say more.
        trials = Counter(record.group for record in before if record.ran)
        earlier = harmonic_mean(trials.values())
        later = len(groups) / len(set(groups))
        loss = smallest_loss(population, len(tasks), earlier, later)
        size = f"{plural(len(tasks), 'task')} x {later:g} {'trial' if later == 1 else 'trials'}"
        if loss is None:
            yield f"tau: comparison: {size} are too few to show any loss at 80 % power (see tau plan)"
        else:
            yield f"tau: comparison: {size} show a loss of {loss:.3f} or more at 80 % power (see tau plan)"
