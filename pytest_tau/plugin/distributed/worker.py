"""In an xdist worker: what may be started ahead, notes in case it is killed, luggage for a distant controller."""

from __future__ import annotations

import json
import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ..context.state import if_active
from ..options import Settings
from ..run.fixtures import case_of, trial_of
from ..wire import shared_folder, told_by_controller, worker_name

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

#: After how many workers were killed over the same test it is not tried any more.
MOST_CRASHES = 2
_NOTES = pytest.StashKey["Notes | None"]()


def start(config: pytest.Config) -> None:
    """Prepare a worker for its part."""
    folder = shared_folder(config)
    config.stash[_NOTES] = notes = Notes(folder, worker_name(config)) if folder else None
    config.pluginmanager.register(Worker(config, notes), "tau-worker")
    if told_by_controller(config).get("remote"):
        config.pluginmanager.register(Sender(config), "tau-sender")


def due_in_worker(item: pytest.Item) -> list[pytest.Item]:
    """The items whose trials this worker may have under way while this one is run, in the order that they come in.

    What another worker had under way when it was killed waits for its own turn, so that it is known which trial it was
    if that happens again.
    """
    notes = item.config.stash[_NOTES]
    if notes is None:
        return _queue(item)
    notes.write(item)
    if notes.given_up(item):
        return []
    doubtful = notes.doubtful()
    return [item, *(one for one in _queue(item)[1:] if one.nodeid not in doubtful)]


def _queue(item: pytest.Item) -> list[pytest.Item]:
    """The item and those that come next, as far as this worker knows; not more than can matter.

    xdist has no public way to ask; this looks into its queue, and finds nothing where that is built otherwise.
    """
    config = item.config
    active = if_active(config)
    if active is None or active.config.concurrency == 1:
        return [item]
    for plugin in config.pluginmanager.get_plugins():
        queue, following = getattr(plugin, "torun", None), getattr(plugin, "nextitem_index", None)
        if queue is None or not isinstance(following, int):
            continue
        indices = [following]
        if told_by_controller(config).get("dist") != "worksteal":
            # What is stolen by another worker must not have been started here.
            with queue.lock() as waiting:
                numbers = (index for index in waiting if isinstance(index, int))
                indices += islice(numbers, 2 * active.config.concurrency)
        return [item, *(item.session.items[index] for index in indices)]
    return [item]


class Note(NamedTuple):
    """What a worker was about to do.

    Attributes:
        test: The node id that it ran.
        trial: Domain, task and number of the trial that this is; empty where it is none.
        under_way: Node ids of the trials that it may have had under way, that one among them.
    """

    test: str
    trial: tuple[str, str, int] | tuple[()]
    under_way: list[str]

    @classmethod
    def read(cls, file: Path) -> Note | None:
        """The note in a file; None where there is none, or it was not written to its end."""
        try:
            test, trial, under_way = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return cls(test, tuple(trial), under_way)


class Notes:
    """What each worker on this machine does; those of workers that were killed have another suffix.

    Args:
        folder: Where they lie.
        worker: The worker's name.
    """

    def __init__(self, folder: Path, worker: str) -> None:
        self._folder, self._file = folder, folder / f"{worker}.running"
        self._written: list[pytest.Item] = []
        self._lost: dict[str, Note | None] = {}

    def write(self, item: pytest.Item) -> None:
        """Tell what is about to be done: this item, and meanwhile the trials of those that come next."""
        queue = _queue(item)
        if queue == self._written:
            return
        self._written = queue
        under_way = [one.nodeid for one in queue if case_of(one) is not None]
        case = case_of(item)
        trial = (case.domain.name, case.task.id, trial_of(item)) if case else ()
        draft = self._file.with_suffix(".note")
        draft.write_text(json.dumps(Note(item.nodeid, trial, under_way)), encoding="utf-8")
        draft.replace(self._file)

    def given_up(self, item: pytest.Item) -> bool:
        """Whether a trial has cost so many workers that it has been reported as an error."""
        return case_of(item) is not None and sum(note.test == item.nodeid for note in self._left()) >= MOST_CRASHES

    def doubtful(self) -> set[str]:
        """What may have been under way in a worker that was killed."""
        return {test for note in self._left() for test in note.under_way}

    def _left(self) -> Iterator[Note]:
        for entry in os.scandir(self._folder):
            if entry.name.endswith(".lost") and entry.name not in self._lost:
                self._lost[entry.name] = Note.read(Path(entry.path))
        return (note for note in self._lost.values() if note is not None)


class Worker:
    """Leaves notes, and tells in the end whether there was anything of ours."""

    def __init__(self, config: pytest.Config, notes: Notes | None) -> None:
        self._config, self._notes = config, notes

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Note what is run, unless it has cost too many workers: then the controller has reported it."""
        if self._notes is None or if_active(self._config) is None:
            return None
        self._notes.write(item)
        return True if self._notes.given_up(item) else None

    def pytest_sessionfinish(self) -> None:
        """Tell the controller, which has collected nothing, that tasks were to be run."""
        output: dict[str, Any] = self._config.workeroutput  # type: ignore[attr-defined]
        output["tau_active"] = if_active(self._config) is not None


class Sender:
    """Sends simulations and recorded cassettes with the reports, to a controller on another machine."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach what has come since the last report."""
        report = yield
        luggage = self._luggage(item)
        if luggage:
            report.tau_luggage = luggage  # type: ignore[attr-defined]
        return report

    def _luggage(self, item: pytest.Item) -> dict[str, Any]:
        from ..run.trials import RECORDED
        from ..store.writer import CarriedLog

        active = if_active(item.config)
        if active is None or not isinstance(active.run_log, CarriedLog):
            return {}
        luggage = active.run_log.luggage(item.nodeid)
        if RECORDED in item.stash:
            cassette = item.stash[RECORDED]
            del item.stash[RECORDED]
            home = cassette_home(item.config)
            # A recording that was cut off is worth as much as what it has cost.
            files = [file for file in (cassette, Path(f"{cassette}.part")) if file.is_file()]
            luggage["files"] = [[Path(os.path.relpath(file, home)).as_posix(), file.read_bytes()] for file in files]
        return luggage


def cassette_home(config: pytest.Config) -> Path:
    """The folder below which cassettes have the same place on every machine: the named one, or the root directory."""
    settings = Settings(config)
    given = settings.get("cassettes")
    return (settings.folder("cassettes") / given).resolve() if given else config.rootpath
