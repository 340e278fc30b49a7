"""``--tau-baseline RUN``: the run beside an earlier one; with ``--tau-fail-on regression`` that decides."""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import ConfigurationError, TauError
from ..context.state import if_active
from ..options import Settings
from ..wire import known_folder, results_home
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from ...analysis.compare import Comparison, Told


def configure(config: pytest.Config) -> None:
    """Read the baseline.

    Raises:
        pytest.UsageError: There is none of that name, or it cannot be read.
    """
    settings = Settings(config)
    if hasattr(config, "workerinput"):
        return
    baseline = Baseline(config, decides=settings.get("fail_on") == "regression")
    if if_active(config) is not None:
        try:
            baseline.read()
        except TauError as error:
            raise pytest.UsageError(str(error)) from error
    # Else an ini names it, in a run that may have nothing to do with tasks.
    config.pluginmanager.register(baseline, "tau-baseline")


class Baseline:
    """Compares, and tells.

    Args:
        config: pytest's configuration.
        decides: Whether a significant loss fails the run.
    """

    def __init__(self, config: pytest.Config, *, decides: bool) -> None:
        self._config, self._decides = config, decides
        self._before: Told | None = None
        self._problems: list[str] = []
        self._session: pytest.Session | None = None

    def read(self) -> Told:
        """Read it, once.

        Raises:
            ConfigurationError: It is not there, or cannot be read.
        """
        if self._before is not None:
            return self._before
        from ...analysis.compare import Told
        from ...runs.reader import open_run

        settings = Settings(self._config)
        label, given = settings.label("baseline"), settings.get("baseline")
        paths = [home / given for home in (settings.folder("baseline"), results_home(self._config)) if home is not None]
        try:
            run = open_run(next((path for path in paths if path.exists()), given), self._config.rootpath)
            self._before = Told.of(run)
        except (TauError, OSError) as error:
            raise ConfigurationError(f"{label}: {error}") from error
        if not self._before.records:
            raise ConfigurationError(f"{label}: {run.path} has no trials")
        if run.problems:
            self._problems.append(f"{len(run.problems)} simulations of {run.name} are not read")
        return self._before

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember the session, which knows the items."""
        self._session = session

    def pytest_report_header(self) -> list[str]:
        """What the run is compared with."""
        return [f"tau: baseline: {self._before.name}"] if self._before is not None else []

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The comparison, and what makes it doubtful."""
        for line, colours in self.lines():
            terminalreporter.write_line(f"tau: {line}", **colours)

    def lines(self) -> list[tuple[str, dict[str, bool]]]:
        """The comparison, what makes it doubtful, and what follows; each line with its colours."""
        comparison = self._comparison
        found: list[tuple[str, dict[str, bool]]] = [(line, {}) for line in (comparison.lines() if comparison else ())]
        doubts = [*(comparison.warnings() if comparison is not None else ()), *self._problems]
        found += [(f"baseline: {warning}", {"yellow": True}) for warning in doubts]
        if self._decides and records_of(self._config):
            failed = self._fails()
            told = "no regression" if not failed else "a regression" if self._regression else "nothing to compare"
            found.append((f"--tau-fail-on regression: {told}", {"red": failed, "green": not failed}))
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """A regression fails the run, if it is to; so does a comparison that cannot be made."""
        yield
        if self._decides and session.exitstatus == pytest.ExitCode.OK and self._fails():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def _regression(self) -> bool:
        return self._comparison is not None and self._comparison.regression

    def _fails(self) -> bool:
        """Whether there is a loss, or trials that cannot be compared."""
        comparison = self._comparison
        lacking = comparison is None or comparison.paired is None
        return self._regression or (lacking and bool(records_of(self._config)))

    @cached_property
    def _comparison(self) -> Comparison | None:
        """With all that was reported, so to be asked for at the end; None where there is nothing to compare."""
        records = records_of(self._config)
        if not records:
            return None
        try:
            before = self.read()
        except TauError as error:
            self._problems.append(str(error))
            return None
        from ...analysis.compare import Comparison, Told

        return Comparison(before, Told("this run", records, self._own_info()))

    def _own_info(self) -> dict[str, Any]:
        """What this run tells of itself: in its folder, or, where none is kept, as it would."""
        from ...runs.manifest import read_info
        from ..store.manifest import describe

        folder, active = known_folder(self._config), if_active(self._config)
        info: dict[str, Any] = {}
        if folder is not None:
            with contextlib.suppress(TauError):  # whoever wants to go on with the run is told
                info = read_info(folder)
        if not info and active is not None and self._session is not None and self._session.items:
            info = describe(self._session, active)
        return info
