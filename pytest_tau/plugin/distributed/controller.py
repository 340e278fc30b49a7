"""In the xdist controller: what workers are told, and what is done with what they send and leave behind."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

from ..options import Settings
from ..store.manifest import begin_elsewhere
from ..store.writer import RunLog, join
from ..wire import on_this_machine, results_folder, share_folder, started
from .crash_recovery import Crashes
from .scheduling import make_scheduler
from .worker import cassette_home

if TYPE_CHECKING:
    from collections.abc import Generator


def start(config: pytest.Config, specs: list[Any]) -> None:
    """Prepare for workers.

    Args:
        config: The controller's.
        specs: Of the workers, as execnet has them.
    """
    spent: dict[int, float] = {}
    sharers = 1 if all(map(on_this_machine, specs)) else len(specs)
    config.pluginmanager.register(Controller(config, sharers, spent), "tau-controller")
    config.pluginmanager.register(Results(config, spent), "tau-results")
    config.pluginmanager.register(Crashes(config), "tau-crashes")


class Controller:
    """Tells each worker what it may do, and where.

    Args:
        config: The controller's.
        sharers: How many workers have each a part of the budget; 1 where they share all of it.
        spent: USD that were paid in each worker's place.
    """

    def __init__(self, config: pytest.Config, sharers: int, spent: dict[int, float]) -> None:
        self._config, self._sharers, self._spent = config, sharers, spent

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker is about to start, maybe in the place of one that was lost."""
        here = on_this_machine(node.gateway.spec)
        # Specifications may be equal; the one that takes another's place has the same.
        place = [spec is node.gateway.spec for spec in node.nodemanager.specs].index(True)
        node.workerinput["tau"] = {
            "place": place,
            "workers": len(node.nodemanager.specs),
            "dist": self._config.option.dist,
            "remote": not here,
            "started": started(self._config),
            "shared": str(share_folder(self._config)) if here else "",
            "results": str(results_folder(self._config) or "") if here else "",
            "sharers": self._sharers,
            "spent": self._spent.get(place, 0.0),
        }

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """One that leaves enough in the queues."""
        return make_scheduler(config, log)

    def pytest_report_header(self) -> list[str]:
        """How the budget is shared."""
        settings = Settings(self._config)
        budget = settings.number("budget", float, None, 0)
        if budget is None or self._sharers == 1:
            return []
        share = f"${budget / self._sharers:g} for each of {self._sharers} workers"
        return [f"tau: budget: {share}, as not all of them are on this machine"]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Have the run's settings for the summary, also where only the workers have found out that there are tasks."""
        if getattr(node, "workeroutput", {}).get("tau_active"):
            from ..context.run_context import active_of

            # Settings that the worker can use and this process cannot need something that is missing here.
            with contextlib.suppress(pytest.UsageError):
                active_of(self._config)


class Results:
    """Makes one file of all simulations; writes what arrives from other machines.

    Args:
        config: The controller's.
        spent: USD that were paid in each worker's place; added to here.
    """

    def __init__(self, config: pytest.Config, spent: dict[int, float]) -> None:
        self._config, self._spent = config, spent
        self._reported: dict[str, str] = {}
        self._problems: dict[str, None] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A worker has reported."""
        node: Any = getattr(report, "node", None)
        luggage = report.__dict__.pop("tau_luggage", None)
        if node is None:
            return
        if luggage and node.workerinput["tau"]["remote"]:
            self._unpack(luggage, node.gateway.id)
        told = dict(report.user_properties)
        if report.when == "teardown" and "tau_outcome" in told:
            self._reported[report.nodeid] = node.gateway.id
            usage = json.loads(str(told.get("tau_usage", '{"replayed": true}')))
            if not usage["replayed"]:
                place = node.workerinput["tau"]["place"]
                cost = sum(role["known_cost"] for role in usage["roles"].values())
                self._spent[place] = self._spent.get(place, 0.0) + cost

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        """The workers have ended."""
        yield
        folder = results_folder(self._config)
        if folder is not None and folder.is_dir():
            self._note(join(folder, self._reported))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What could not be kept."""
        for problem in self._problems:
            terminalreporter.write_line(f"tau: {problem}", red=True)

    def _note(self, problem: str | None) -> None:
        if problem is not None:
            self._problems[problem] = None

    def _unpack(self, luggage: dict[str, Any], worker: str) -> None:
        folder = results_folder(self._config)
        if "run" in luggage and folder is not None:
            self._note(begin_elsewhere(self._config, folder, luggage["run"]))
        if "line" in luggage:
            self._note(RunLog(folder, worker).add(luggage["line"]))
        home = cassette_home(self._config)
        for name, content in luggage.get("files", ()):
            self._note(_refused(home, name, worker) or _written(home / name, content))


def _refused(home: Path, name: str, worker: str) -> str | None:
    """Why a cassette is not written; None where it is."""
    path = PurePosixPath(name)
    inside = not path.is_absolute() and (home / path).resolve().is_relative_to(home.resolve())
    if inside and path.name.endswith((".cassette", ".cassette.part")):
        return None
    what = "no cassette" if inside else f"outside of {home}"
    return f"a file that worker {worker} sent is not written: {name} is {what}"


def _written(path: Path, content: bytes) -> str | None:
    """Write a cassette; returns why that failed, if it did."""
    draft = path.with_name(f"{path.name}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        draft.replace(path)
        if path.suffix == ".cassette":
            Path(f"{path}.part").unlink(missing_ok=True)  # it was what had been left of this one
    except OSError as error:
        return f"the cassette {path} cannot be written: {error.strerror}"
    return None
