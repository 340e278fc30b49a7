"""What capabilities use of a run: the implementation of ``pytest_tau.capability.runs.RunHandle``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...capability.runs import HANDLE
from ..items import spec_of
from ..options import OptionValues
from ..seams import SummaryLine
from ..store.manifest import record_note
from ..wire import give_output, is_worker, output_of
from .run_state import get_context, run_state

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    import pytest

    from ...runs.record import TrialRecord
    from ..items import TaskSpec


def register(config: pytest.Config) -> None:
    """Register the handle."""
    config.pluginmanager.register(Run(config), HANDLE)


class Run:
    """The run, as capabilities see it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._lines: list[SummaryLine] = []

    @property
    def records(self) -> Sequence[TrialRecord]:
        """The trials that were reported so far."""
        return list(run_state(self._config).counts.records.values())

    @property
    def known_ids(self) -> Collection[str]:
        """The ids of all tasks from which was selected so far."""
        context = get_context(self._config)
        return frozenset(context.known_ids) if context else frozenset()

    @property
    def folder(self) -> Path | None:
        """The folder of the run."""
        return run_state(self._config).paths.used_results

    @property
    def is_worker(self) -> bool:
        """Whether this process is a worker."""
        return is_worker(self._config)

    def task_of(self, item: pytest.Item) -> TaskSpec | None:
        """Return the task that an item runs."""
        return spec_of(item)

    def option(self, key: str) -> Any:
        """Return the value of an option."""
        return OptionValues(self._config).get(key)

    def label(self, key: str) -> str:
        """Return the name of an option."""
        return OptionValues(self._config).label(key)

    def line(self, text: str, **markup: bool) -> None:
        """Add a line to the summary."""
        self._lines.append(SummaryLine(f"tau: {text}", markup))

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the lines."""
        yield from self._lines

    def note(self, name: str, notes: Mapping[str, Any]) -> None:
        """Record notes of a capability."""
        record_note(self.folder, name, notes)

    def command(self, item: pytest.Item) -> str:
        """Return the command that runs a trial again."""
        from ..rerun_command import rerun_command

        return rerun_command(item)

    def give(self, name: str, value: Any) -> None:
        """Give the controller a value."""
        give_output(self._config, capabilities={name: value})

    def given_by(self, node: Any, name: str) -> Any:
        """Return what a worker has given."""
        return output_of(node).get("capabilities", {}).get(name)
