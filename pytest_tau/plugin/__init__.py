"""The pytest plugin: a table of contents. Everything heavy is imported when a run first asks for it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from . import (
    denominators,
    progress,
    reporting,
    run_folder,
    selection,
    snapshot_unused,
    summary,
    trial_records,
    workers,
)
from .collection import LastFailed, pytest_collect_file, pytest_collection_finish, pytest_make_collect_report
from .fixtures import (
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
from .markers import pytest_generate_tests
from .options import Settings, pytest_addoption
from .reporting import (
    pytest_report_collectionfinish,
    pytest_report_from_serializable,
    pytest_report_header,
    pytest_report_to_serializable,
    pytest_runtest_makereport,
)
from .rootdir import pytest_load_initial_conftests
from .run_loop import pytest_runtest_protocol, pytest_runtestloop
from .selection import pytest_collection, pytest_collection_modifyitems
from .snapshot_unused import pytest_deselected

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
    _where_asked_for(config, "dry_run", "dry_run")
    _where_asked_for(config, "shard", "shard")
    workers.configure(config)
    snapshot_unused.configure(config)
    _where_asked_for(config, "snapshot", "snapshot")
    config.pluginmanager.register(LastFailed(), "tau-last-failed")
    trial_records.configure(config)
    reporting.start(config)
    summary.configure(config)
    denominators.configure(config)
    run_folder.configure(config)
    progress.configure(config)
    selection.configure(config)
    # What follows knows, in a run that names a domain, what is selected.
    _where_asked_for(config, "quarantine", "quarantine")
    _where_asked_for(config, "gates", "gate", "fail_on", "stop_early")
    _where_asked_for(config, "baseline", "baseline")
    _where_asked_for(config, "resume", "resume", "rerun")
    _where_asked_for(config, "html_report", "html")


def _where_asked_for(config: pytest.Config, module: str, *options: str) -> None:
    """Import and configure a module where one of its options is given: every other run does without it."""
    if any(Settings(config).get(option) is not None for option in options):
        import_module(f".{module}", __name__).configure(config)
