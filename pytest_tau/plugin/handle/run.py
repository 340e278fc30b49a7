"""The run, as capabilities see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pytest

from ...capability.runs import HANDLE
from ..context.run_state import get_context, open_named_run, run_state
from ..items import spec_of
from ..options import OptionValues, run_options
from ..seams import SummaryLine
from ..store.manifest import record_note
from ..wire import give_output, is_worker, output_of
from .trial import ItemTrial

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ...analysis.gates import Gate, Verdict
    from ...analysis.run_records import RunRecords
    from ...environment import Domain
    from ...models import Task
    from ...runner import RunConfig
    from ...runs.groups import Group
    from ...runs.reader import Run as StoredRun
    from ...runs.record import TrialRecord
    from ..items import TaskSpec
    from ..store.publish import Publisher


T = TypeVar("T")


def register(config: pytest.Config) -> None:
    """Register the handle."""
    config.pluginmanager.register(Run(config), HANDLE)


class Run:
    """The run, as capabilities see it.

    Attributes:
        decide_gates: Returns the verdicts of gates; None if no capability decides them.
        decide_regression: Returns whether there is a regression; None if no capability decides it.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config, self._values = config, OptionValues(config)
        self._lines: list[SummaryLine] = []
        self._failure: str | None = None
        self._given: dict[str, list[Any]] = {}
        self.decide_gates: Callable[[Sequence[Gate]], list[Verdict] | None] | None = None
        self.decide_regression: Callable[[], bool | None] | None = None

    @property
    def settings(self) -> RunConfig | None:
        """The settings."""
        context = get_context(self._config)
        return context.config if context else None

    def recorded(self, tasks: Iterable[tuple[Domain, Task]]) -> dict[str, Any]:
        """Return the part of ``run.json`` that is compared with that of an earlier run."""
        from ...runs.fingerprints import comparable_part

        assert self.settings is not None, "something has needed tasks"
        return comparable_part(self.settings, tasks)

    @property
    def name(self) -> str:
        """The name of the run."""
        folder = run_state(self._config).paths.results
        return str(self._values.get("run_name") or (folder.name if folder else ""))

    @property
    def folder(self) -> Path | None:
        """The folder of the run."""
        return run_state(self._config).paths.used_results

    @property
    def is_worker(self) -> bool:
        """Whether this process is a worker."""
        return is_worker(self._config)

    @property
    def shared(self) -> Path | None:
        """The folder of a controller and its workers."""
        paths = run_state(self._config).paths
        return paths.make_shared() if self._config.pluginmanager.has_plugin("tau-controller") else paths.shared

    @property
    def store(self) -> Publisher | None:
        """The store of the run."""
        return run_state(self._config).paths.publisher

    @property
    def domain_names(self) -> Collection[str]:
        """The names of all domains."""
        context = get_context(self._config)
        return context.domain_names() if context else ()

    @property
    def known_ids(self) -> Collection[str]:
        """The ids of all tasks from which was selected so far."""
        context = get_context(self._config)
        return frozenset(context.known_ids) if context else frozenset()

    @property
    def planned(self) -> Mapping[str, Group]:
        """The planned trials."""
        return run_state(self._config).counts.planned

    @property
    def records(self) -> Sequence[TrialRecord]:
        """The trials that were reported so far."""
        return list(run_state(self._config).counts.records.values())

    @property
    def gates(self) -> Sequence[Gate]:
        """The gates."""
        from ..capabilities import gates_of

        return gates_of(self._config)

    @property
    def baseline(self) -> RunRecords | None:
        """The baseline."""
        from ...errors import TauError

        baseline: Any = self._config.pluginmanager.get_plugin("tau-baseline")
        try:
            found: RunRecords | None = baseline.read() if baseline is not None else None
        except TauError:
            return None  # the comparison at the end reports it
        return found

    def task_of(self, item: pytest.Item) -> TaskSpec | None:
        """Return the task that an item runs."""
        return spec_of(item)

    def trial_of(self, item: pytest.Item) -> ItemTrial | None:
        """Return the trial of an item."""
        spec = spec_of(item)
        return None if spec is None else ItemTrial(item, spec)

    def option(self, key: str) -> Any:
        """Return the value of an option."""
        return self._values.get(key)

    def label(self, key: str) -> str:
        """Return the name of an option."""
        return self._values.label(key)

    def source(self, key: str) -> Literal["command line", "ini"] | None:
        """Return where the user wrote an option."""
        if self._values.given(key) is None:
            return None
        return "ini" if self._values.from_ini(key) else "command line"

    def folder_of(self, key: str) -> Path:
        """Return the folder of the relative paths of an option."""
        return self._values.folder(key)

    def stored(self, key: str) -> StoredRun:
        """Open the stored run that an option names."""
        return open_named_run(self._config, key)

    def provided(self, hook: str, kind: type[T], expected: str, check: Callable[[T], None]) -> list[T]:
        """Return what conftest.py files and plugins provide by a hook of a capability."""
        from ..hook_calls import call_listed

        provided: list[T] = []
        for call, element in call_listed(self._config, getattr(self._config.hook, hook), kind, expected):
            try:
                check(element)
            except ValueError as error:
                raise pytest.UsageError(f"{call.hook} ({call.place}): {error}") from error
            provided.append(element)
        return provided

    @property
    def selects(self) -> bool:
        """Whether options or arguments select some of the tests and tasks."""
        names = ["lf", *(option.dest for option in run_options(self._config).values() if option.selects)]
        chosen = any(self._config.getoption(name, None) for name in names)
        replayed = str(self._config.getoption("tau_agent", None)).startswith("replay:")  # only the tasks of a recording
        return chosen or replayed or any("::" in argument for argument in self._config.args)

    def declare_part(self, *, empty: bool = False, elsewhere: Collection[str] = ()) -> None:
        """Declare that the run has a part of its trials only."""
        from ...runs.manifest import IN_OTHER_SHARDS

        state = run_state(self._config)
        state.is_part = True
        state.counts.empty_part |= empty
        state.counts.reasons |= dict.fromkeys(elsewhere, IN_OTHER_SHARDS)

    def schedule(self, upcoming: Callable[[pytest.Item], list[pytest.Item]]) -> None:
        """Start trials early in another order."""
        run_state(self._config).upcoming = upcoming

    def line(self, text: str, **markup: bool) -> None:
        """Add a line to the summary."""
        self._lines.append(SummaryLine(f"tau: {text}", markup))

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the lines."""
        yield from self._lines

    def write(self, text: str, **markup: bool) -> None:
        """Write a line to the terminal, below what is half written."""
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            from ..compat import terminal_writer
            from ..report.terminal import write_wrapped

            if (writer := terminal_writer(reporter)).width_of_current_line:
                writer.line()
            write_wrapped(reporter, self._config, f"tau: {text}", **markup)

    def fail(self, reason: str) -> None:
        """Fail the run."""
        self._failure = reason

    def pytest_tau_exit_verdict(self) -> str | None:
        """Return why a capability fails the run."""
        return self._failure

    def note(self, name: str, notes: Mapping[str, Any]) -> None:
        """Record notes of a capability."""
        record_note(self.folder, name, notes)

    def noted(self, name: str) -> Mapping[str, Any] | None:
        """Return the notes of a capability in the run that this one continues."""
        previous = run_state(self._config).previous
        if previous is None:
            return None
        return dict(previous.info.get("capabilities", {}).get(name, {}).get("notes") or {})

    def give(self, name: str, value: Any) -> None:
        """Give the process that reports a value."""
        if self.is_worker:
            give_output(self._config, capabilities={name: value})
        else:
            self._given[name] = [value]

    def given(self, name: str) -> list[Any]:
        """Return what each process has given."""
        return [*self._given.get(name, ())]

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker has given."""
        for name, value in output_of(node).get("capabilities", {}).items():
            self._given.setdefault(name, []).append(value)
