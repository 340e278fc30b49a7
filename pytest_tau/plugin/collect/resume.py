"""``--tau-resume``, ``--tau-rerun``: what had finished in an earlier run is told again, and only the rest is held."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import TauError, unknown_name
from ..options import Settings
from ..run.fixtures import case_of
from ..store.previous_run import EARLIER, EarlierRun
from ..wire import on_this_machine, results_folder, results_home, worker_specs
from .selection import SELECTION

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from ..context.run_context import Active, Case

#: What the option means without a value.
_LATEST = "latest"
_OUTCOMES = ("failed", "error")
#: How many differences are told.
_MOST_TOLD = 8


def configure(config: pytest.Config) -> None:
    """Find the earlier run and check that this one can go on with it.

    Raises:
        pytest.UsageError: There is none, or its results would not be of one run with those of this one.
    """
    from ...runs.manifest import differing, read_info
    from ..context.run_context import active_of

    again, active, folder = _run_again(config), active_of(config), results_folder(config)
    if folder is None:
        return  # a worker on another machine; its controller has told that this cannot be
    try:
        then = read_info(folder)
    except TauError as error:
        raise pytest.UsageError(str(error)) from error
    earlier = EarlierRun(folder, then, active, again)
    if not hasattr(config, "workerinput"):
        if any(not on_this_machine(spec) for spec in worker_specs(config)):
            raise pytest.UsageError(f"{_label(config)}: workers on other machines cannot read {folder}")
        selected = config.stash.get(SELECTION, {})
        for differences in (
            differing(then, _now(active)),
            earlier.changed(case for each in selected.values() for case in each.cases),
        ):
            if differences:
                raise pytest.UsageError(_refusal(config, folder, differences))
        _mend(config, folder)
    earlier.read()
    config.stash[EARLIER] = earlier
    config.pluginmanager.register(_Plugin(config, earlier), "tau-resume")


def earlier_folder(config: pytest.Config) -> Path:
    """The folder of the run that this one goes on with.

    Raises:
        pytest.UsageError: There is none.
    """
    settings = Settings(config)
    home, given = results_home(config), settings.get("resume") or _LATEST
    kept = _kept(home) if home else []
    if given == _LATEST:
        if home is None or not kept:
            where = "nothing is kept (--tau-results none)" if home is None else f"none is kept in {home}"
            raise pytest.UsageError(f"{_label(config)}: expected an earlier run, and {where}")
        return home / kept[-1]
    from ...runs.manifest import INFO

    for folder in (settings.folder("resume") / given, *([home / given] if home else [])):
        if (folder / INFO).is_file():
            return folder.resolve()
    raise pytest.UsageError(f"{_label(config)}: {unknown_name('run', given, [*reversed(kept)])}")


def _kept(home: Path) -> list[str]:
    """The names of the runs in a folder that can go on, also before their first simulation; the latest last."""
    from ...runs.manifest import INFO
    from ...runs.reader import latest_last

    return latest_last(file.parent for file in home.glob(f"*/{INFO}"))


def _run_again(config: pytest.Config) -> frozenset[str]:
    settings = Settings(config)
    given = [each.strip() for each in (settings.get("rerun") or "").split(",") if each.strip()]
    for name in given:
        if name not in _OUTCOMES:
            raise pytest.UsageError(
                f"{settings.label('rerun')}: expected 'failed', 'error' or 'failed,error', got {name!r}"
            )
    return frozenset(given)


def _label(config: pytest.Config) -> str:
    settings = Settings(config)
    return settings.label("resume" if settings.get("resume") is not None else "rerun")


def _now(active: Active) -> dict[str, Any]:
    """What this run would tell of itself, but for its tasks."""
    from ...runs.manifest import hashes, own_version
    from ..store.manifest import recorded_settings

    run = active.config
    found = {"settings": recorded_settings(run), "versions": {"pytest-tau": own_version()}}
    return {**found, "hashes": hashes([], run.simulation)}


def _mend(config: pytest.Config, folder: Path) -> None:
    from ..store.writer import mend

    problem = None if config.option.collectonly else mend(folder)
    if problem is not None:
        raise pytest.UsageError(f"{_label(config)}: {problem}")


def _refusal(config: pytest.Config, folder: Path, differences: list[str]) -> str:
    """Why this run cannot go on with the earlier one, in words."""
    left = len(differences) - _MOST_TOLD
    told = [*differences[:_MOST_TOLD], *([f"and {left} more"] if left > 0 else [])]
    first = f"{_shown(folder, config)} was run otherwise; run as it was, or anew without {_label(config)}"
    return "\n  ".join([f"{_label(config)}: {first}", *told])


def _shown(folder: Path, config: pytest.Config) -> str:
    start = config.invocation_params.dir
    return os.path.relpath(folder, start) if folder.is_relative_to(start) else str(folder)


class _Plugin:
    """Refuses tasks that have changed, restores simulations, tells how many."""

    def __init__(self, config: pytest.Config, earlier: EarlierRun) -> None:
        self._config, self._earlier = config, earlier
        self._restored: set[str] = set()
        self._trials: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Tell tasks of files and marked tests that have changed; those of domains were told before anything began."""
        report = yield
        cases = [case for node in report.result or () if (case := _case(node)) is not None]
        differences = self._earlier.changed(cases) if cases else []
        if differences:
            from ..report.failures import told

            report.outcome, report.result = "failed", []
            report.longrepr = told(_refusal(self._config, self._earlier.folder, differences), collector.nodeid)
            report.tau_usage_error = True  # type: ignore[attr-defined]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Before its fixtures are set up."""
        if case_of(item) is not None:
            from ..run.trials import restore

            restore(item)

    def pytest_report_header(self) -> list[str]:
        """What this run goes on with."""
        from ...text import plural

        earlier = self._earlier
        told = f"{plural(earlier.found, 'finished simulation')} in {_shown(earlier.folder, self._config)}"
        if earlier.again:
            told += f"; run again: {earlier.again} ({', '.join(sorted(_run_again(self._config)))})"
        return [f"tau: resume: {told}", *self._commits()]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what was restored."""
        properties = dict(report.user_properties)
        if report.when == "teardown" and "tau_outcome" in properties:
            self._trials.add(report.nodeid)
            (self._restored.add if "tau_restored" in properties else self._restored.discard)(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """How many results are from the earlier run."""
        if self._trials:
            from ...text import plural

            told = f"{len(self._restored):,} of {plural(len(self._trials), 'trial')} taken from the earlier run"
            terminalreporter.write_line(f"tau: resume: {told}")

    def _commits(self) -> Iterator[str]:
        """A line where the project has changed; what the agent is made of is not among the hashes."""
        from ...runs.manifest import Commit

        then = Commit(self._earlier.info["commit"], self._earlier.info["dirty"])
        now = Commit.of(self._config.rootpath)
        if then.commit and now.commit and then != now:
            told = [f"{each.commit[:10]}{' with changes' if each.dirty else ''}" for each in (then, now) if each.commit]
            yield f"tau: resume: the project was at {told[0]} then, and is at {told[1]} now"


def _case(node: Any) -> Case | None:
    return case_of(node) if isinstance(node, pytest.Item) else None
