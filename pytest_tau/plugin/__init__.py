"""The pytest plugin: a table of contents. Everything heavy is imported when a run first asks for it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from . import wire
from .collect import selection
from .collect.collectors import LastFailed, pytest_collect_file, pytest_collection_finish, pytest_make_collect_report
from .collect.parametrize import pytest_generate_tests
from .collect.rootdir import pytest_load_initial_conftests
from .collect.selection import pytest_collection, pytest_collection_modifyitems
from .options import Settings, pytest_addoption
from .report import header, progress, records, run_counts, summary
from .report.header import (
    pytest_report_collectionfinish,
    pytest_report_from_serializable,
    pytest_report_header,
    pytest_report_to_serializable,
    pytest_runtest_makereport,
)
from .run.fixtures import (
    _tau_case,
    _tau_models,
    pytest_tau_make_agent,
    pytest_tau_make_model,
    pytest_tau_make_user,
    tau_agent,
    tau_env,
    tau_model,
    tau_simulation,
    tau_snapshot,
    tau_task,
    tau_trial,
    tau_user,
)
from .run.loop import pytest_runtest_protocol, pytest_runtestloop
from .snapshots import unused as unused_snapshots
from .snapshots.unused import pytest_deselected
from .store import manifest

if TYPE_CHECKING:
    import pytest

__all__ = [
    "_tau_case",
    "_tau_models",
    "pytest_addhooks",
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_collection",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_deselected",
    "pytest_generate_tests",
    "pytest_load_initial_conftests",
    "pytest_make_collect_report",
    "pytest_report_collectionfinish",
    "pytest_report_from_serializable",
    "pytest_report_header",
    "pytest_report_to_serializable",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "pytest_runtestloop",
    "pytest_tau_make_agent",
    "pytest_tau_make_model",
    "pytest_tau_make_user",
    "tau_agent",
    "tau_env",
    "tau_model",
    "tau_simulation",
    "tau_snapshot",
    "tau_task",
    "tau_trial",
    "tau_user",
]


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the ``pytest_tau_…`` hooks."""
    from . import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Start counting; check a run that names a domain before anything starts."""
    _where_asked_for(config, "report.dry_run", "dry_run")
    _where_asked_for(config, "collect.shard", "shard")
    wire.configure(config)
    unused_snapshots.configure(config)
    _where_asked_for(config, "snapshots.plugin", "snapshot")
    config.pluginmanager.register(LastFailed(), "tau-last-failed")
    records.configure(config)
    header.start(config)
    summary.configure(config)
    run_counts.configure(config)
    manifest.configure(config)
    progress.configure(config)
    selection.configure(config)
    # What follows knows, in a run that names a domain, what is selected.
    _where_asked_for(config, "collect.quarantine", "quarantine")
    _where_asked_for(config, "report.gates", "gate", "fail_on", "stop_early")
    _where_asked_for(config, "report.baseline", "baseline")
    _where_asked_for(config, "collect.resume", "resume", "rerun")
    _where_asked_for(config, "report.html", "html")


def _where_asked_for(config: pytest.Config, module: str, *options: str) -> None:
    """Import and configure a module where one of its options is given: every other run does without it."""
    if any(Settings(config).get(option) is not None for option in options):
        import_module(f".{module}", __name__).configure(config)
