"""An xdist worker: its upcoming items, and attachments for a controller on another machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..context.run_state import get_context, run_state
from ..items import item_state, spec_of
from ..options import OptionValues
from ..wire import add_facts, give_output, worker_input
from .compat import queued_items

if TYPE_CHECKING:
    from collections.abc import Generator

    from ..wire import Attachments


def register(config: pytest.Config) -> None:
    """Register what a worker needs."""
    worker = Worker(config)
    run_state(config).upcoming = worker.upcoming
    config.pluginmanager.register(worker, "tau-worker")


class Worker:
    """Finds the items that may be prefetched; sends simulations and cassettes to a controller on another machine."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def upcoming(self, item: pytest.Item) -> list[pytest.Item]:
        """Return the items whose trials this worker may run while this item runs, in their order."""
        context = get_context(self._config)
        if context is None or context.config.concurrency == 1:
            return [item]
        of_controller = worker_input(self._config)
        # An item that another worker may steal must not be started here.
        limit = 0 if of_controller and of_controller.dist == "worksteal" else 2 * context.config.concurrency
        return [item, *(item.session.items[index] for index in queued_items(self._config, limit))]

    def pytest_sessionfinish(self) -> None:
        """Inform the controller, which collects nothing, whether tasks were to be run."""
        give_output(self._config, has_context=get_context(self._config) is not None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach what was stored since the last report."""
        report = yield
        # The controller reads attachments only from reports on trials.
        attachments = self._attachments(item, report.when) if spec_of(item) is not None else {}
        if attachments:
            add_facts(report, attachments=attachments)
        return report

    def _attachments(self, item: pytest.Item, when: str) -> Attachments:
        from ...chat import Recorder
        from ..run.models import cassette_path
        from ..store.writer import BufferedResultWriter

        context = get_context(item.config)
        if context is None or not isinstance(context.writer, BufferedResultWriter):
            return {}
        attachments, state, spec = context.writer.attachments(item.nodeid), item_state(item), spec_of(item)
        trial = state.trial if when == "teardown" and state.record is not None else None
        if trial is not None and spec is not None and isinstance(trial.trial.models.tape, Recorder):
            cassette = cassette_path(item, spec, trial.trial.number)
            home = cassette_home(item.config)
            # The calls of an incomplete recording are paid for, and can be replayed.
            files = [file for file in (cassette, Path(f"{cassette}.part")) if file.is_file()]
            attachments["files"] = [(Path(os.path.relpath(file, home)).as_posix(), file.read_bytes()) for file in files]
        return attachments


def cassette_home(config: pytest.Config) -> Path:
    """Return the folder below which cassettes have the same place on every machine."""
    values = OptionValues(config)
    folder: Path = values.get("cassettes").resolve() if values.given("cassettes") else config.rootpath
    return folder
