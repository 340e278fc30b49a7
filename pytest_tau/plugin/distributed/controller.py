"""The xdist controller: the input of workers, and the merging of their results."""

from __future__ import annotations

import contextlib
import os
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

from ...files import atomic_write
from ..context.run_state import get_context, run_state
from ..options import OptionValues, runs_no_test
from ..seams import SummaryLine
from ..store.manifest import write_remote_manifest
from ..store.writer import SimulationFile, merge_worker_files
from ..wire import WorkerInput, give_input, input_of, output_of
from . import compat
from .compat import SCOPED, DeepScheduling
from .crashes import CrashReporter, is_trial
from .worker import cassette_home

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ..wire import Attachments, TrialReport


def register(config: pytest.Config) -> None:
    """Register what the controller needs.

    Raises:
        pytest.UsageError: There are more workers than concurrent model calls, or workers on other machines cannot
            read the previous run.
    """
    specs, paths = compat.worker_specs(config), run_state(config).paths
    local = all(map(_on_this_machine, specs))
    _check_calls(config, len(specs))
    if paths.resumes and not local:
        raise pytest.UsageError(f"{paths.resume_label}: workers on other machines cannot read {paths.results}")
    config.pluginmanager.register(Controller(config, 1 if local else len(specs)), "tau-controller")
    config.pluginmanager.register(CrashReporter(config), "tau-crashes")


def _check_calls(config: pytest.Config, workers: int) -> None:
    values = OptionValues(config)
    limits = {"llm_concurrency": [values.get("llm_concurrency")] if values.given("llm_concurrency") else []}
    limits["provider_limit"] = list(values.get("provider_limit").values())
    for name, calls in limits.items():
        if calls and min(calls) < workers:
            problem = f"expected at least {workers}, one call for each worker, got {min(calls)}"
            raise pytest.UsageError(f"{values.label(name)}: {problem}")


class Controller:
    """Gives each worker its input, and merges the results of all workers.

    Args:
        config: The controller's configuration.
        sharers: The number of workers that have an equal share of the budget each; 1 if they share all of it.
    """

    def __init__(self, config: pytest.Config, sharers: int) -> None:
        self._config, self._sharers = config, sharers
        #: USD that were spent so far, by the number of the worker.
        self._spent: dict[int, float] = {}
        #: The worker whose report of a test counted, by node id.
        self._reported: dict[str, str] = {}
        self._problems: dict[str, None] = {}
        self._files: dict[str, SimulationFile] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker its input before it starts; it may replace a lost one."""
        state = run_state(self._config)
        here, paths = _on_this_machine(node.gateway.spec), state.paths
        # Compared by identity, because specifications may be equal. A worker that replaces another has the same one.
        place = [spec is node.gateway.spec for spec in node.nodemanager.specs].index(True)
        of_worker = WorkerInput(
            place=place,
            workers=len(node.nodemanager.specs),
            dist=self._config.option.dist,
            remote=not here,
            controller=os.getpid(),
            started=paths.started,
            shared=str(paths.make_shared()) if here else "",
            results=str(paths.results or "") if here else "",
            part=paths.part,
            shard=state.counts.shard,
            selection=state.counts.selection,
            sharers=self._sharers,
            spent=self._spent.get(place, 0.0),
            baseline=self._baseline,
        )
        give_input(node, of_worker)
        if not here:
            # What relative paths and modules in the settings name was copied there.
            folder = compat.far_folder(node.nodemanager.roots, self._config.invocation_params.dir)
            node.gateway.remote_exec(f"import os; os.path.isdir({folder!r}) and os.chdir({folder!r})").waitclose()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        """Let workers on other machines be sent paths that they can use."""
        self._config.add_cleanup(compat.use_far_paths(self._config.invocation_params.dir))

    @cached_property
    def _baseline(self) -> Any:
        """Return the data of the run that decides by a comparison; None if none decides."""
        baseline: Any = self._config.pluginmanager.get_plugin("tau-baseline")
        # Without a context, an ini key names it in a run that may have no tasks.
        known = baseline is not None and get_context(self._config) is not None
        return baseline.counts() if known else None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """Lock the run's folder before the first trial runs; the workers write into it."""
        if any(is_trial(self._config, node, test) for test in ids) and not runs_no_test(self._config):
            with contextlib.suppress(OSError):  # the workers report it with their first simulations
                run_state(self._config).paths.use()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Return a scheduler whose queues are long enough to prefetch from; None if xdist's own will do."""
        dist, concurrency = config.getvalue("dist"), _concurrency(config)
        if dist == "load" and concurrency > 1:
            return DeepScheduling(config, log, concurrency)
        if dist in SCOPED and (concurrency > 1 or get_context(config) is not None):
            return SCOPED[dist](config, log)
        return None

    def pytest_report_header(self) -> list[str]:
        """Show how the budget is shared."""
        budget = OptionValues(self._config).get("budget")
        if budget is None or self._sharers == 1:
            return []
        share = f"${budget / self._sharers:g} for each of {self._sharers} workers"
        return [f"tau: budget: {share}, because not all of them are on this machine"]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Build the context for the summary, if only the workers have found tasks.

        Raises:
            pytest.UsageError: The worker has refused its settings, as the one that replaces it would.
        """
        if text := compat.usage_error_of(error):
            raise pytest.UsageError(f"worker {node.gateway.id}: {text}")
        if output_of(node).get("has_context"):
            from ..context.build import ensure_context

            # Settings that only the worker can use depend on something that is missing here.
            with contextlib.suppress(pytest.UsageError):
                ensure_context(self._config)

    def pytest_tau_phase_reported(self, report: pytest.TestReport, trial: TrialReport) -> None:
        """Write attachments; record which worker has run a trial, and its cost."""
        node: Any = getattr(report, "node", None)
        if node is None:
            return
        of_worker = input_of(node)
        if trial.attachments and of_worker.remote:
            self._unpack(trial.attachments, node.gateway.id)
        if report.when == "teardown" and trial.simulated:
            self._reported[report.nodeid] = node.gateway.id
            if trial.usage is not None:
                self._spent[of_worker.place] = self._spent.get(of_worker.place, 0.0) + trial.usage.cost

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        """Merge the files of the workers, once all have finished."""
        yield
        folder = run_state(self._config).paths.used_results
        if folder is not None and folder.is_dir():
            self._add_problem(merge_worker_files(folder, self._reported))

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the problems with storing results."""
        for problem in self._problems:
            yield SummaryLine(f"tau: {problem}", {"red": True})

    def pytest_tau_exit_verdict(self) -> str | None:
        """Let the run fail if its results could not be stored."""
        return "results not stored" if self._problems else None

    def _add_problem(self, problem: str | None) -> None:
        if problem is not None:
            self._problems[problem] = None

    def _unpack(self, attachments: Attachments, worker: str) -> None:
        paths = run_state(self._config).paths
        folder = paths.results
        if "run" in attachments and folder is not None:
            from ...runs.groups import Group

            counts = run_state(self._config).counts
            counts.whole = {test: Group(*group) for test, group in attachments["whole"].items()}
            self._add_problem(write_remote_manifest(self._config, paths, attachments["run"], counts))
        if "line" in attachments and folder is not None:
            file = self._files.setdefault(worker, SimulationFile(folder, worker))
            self._add_problem(file.append(attachments["line"]))
            if paths.publisher is not None:
                paths.publisher.send_line(worker, attachments["line"])
        home = cassette_home(self._config)
        for name, content in attachments.get("files", ()):
            self._add_problem(_refused(home, name, worker) or _written(home / name, content))


def _on_this_machine(spec: Any) -> bool:
    """Return whether a worker of this specification runs here, and in the controller's own folder."""
    return bool(spec.popen and not spec.chdir and not spec.via)


def _refused(home: Path, name: str, worker: str) -> str | None:
    """Return why a cassette must not be written; None if it may."""
    path = PurePosixPath(name)
    inside = not path.is_absolute() and (home / path).resolve().is_relative_to(home.resolve())
    if inside and path.name.endswith((".cassette", ".cassette.part")):
        return None
    problem = "not a cassette" if inside else f"outside {home}"
    return f"a file that worker {worker} sent is not written: {name} is {problem}"


def _written(path: Path, content: bytes) -> str | None:
    """Write a cassette; return why that failed, if it did."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, content)
        if path.suffix == ".cassette":
            Path(f"{path}.part").unlink(missing_ok=True)  # it was the incomplete form of this one
    except OSError as error:
        return f"the cassette {path} cannot be written: {error.strerror}"
    return None


def _concurrency(config: pytest.Config) -> int:
    """Return how many trials run at the same time in one worker, in a controller that may not know of tasks yet."""
    values = OptionValues(config)
    models = any(values.given(f"{role}_llm") is not None for role in ("agent", "user", "judge"))
    if values.given("concurrency") is None and not models:
        return 1
    from ..config import run_config

    return run_config(config).concurrency
