"""The pytest plugin: its entry point, and a table of contents of its hooks and fixtures.

Modules that take long to import are imported when a run first needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .collect import participants, repeat, selection, unchecked
from .collect.collectors import LastFailed, pytest_collect_file, pytest_collection_finish, pytest_make_collect_report
from .collect.parametrize import pytest_generate_tests
from .collect.rootdir import pytest_load_initial_conftests
from .collect.selection import pytest_collection, pytest_collection_modifyitems
from .context import run_state
from .distributed import setup
from .for_commands import pytest_tau_options_schema, pytest_tau_provided
from .items import pytest_itemcollected
from .options import OptionValues, pytest_addoption
from .person import check_terminal
from .report import exit_status, records, run_counts, summary, terminal
from .report.header import pytest_report_collectionfinish, pytest_report_header
from .report.progress import plugin as progress
from .report.sections import reviews
from .report.terminal import pytest_cmdline_main
from .report.trial_reports import (
    pytest_report_from_serializable,
    pytest_report_to_serializable,
    pytest_runtest_makereport,
)
from .report.verdicts import test_gates
from .run import serial_trials
from .run.fixtures import (
    _tau_models,
    _tau_spec,
    pytest_runtest_call,
    tau_agent,
    tau_agent_client,
    tau_env,
    tau_model,
    tau_run,
    tau_simulation,
    tau_task,
    tau_trial,
    tau_user,
)
from .run.loop import pytest_runtest_protocol, pytest_runtestloop
from .run.setup import pytest_tau_make_agent, pytest_tau_make_model, pytest_tau_make_user
from .snapshots import unused
from .snapshots.plugin import tau_snapshot
from .snapshots.unused import pytest_deselected
from .store.manifest import ManifestEnd
from .wire import is_worker

if TYPE_CHECKING:
    import pytest

__all__ = [
    "_tau_models",
    "_tau_spec",
    "pytest_addhooks",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_collect_file",
    "pytest_collection",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_deselected",
    "pytest_generate_tests",
    "pytest_itemcollected",
    "pytest_load_initial_conftests",
    "pytest_make_collect_report",
    "pytest_report_collectionfinish",
    "pytest_report_from_serializable",
    "pytest_report_header",
    "pytest_report_to_serializable",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "pytest_runtestloop",
    "pytest_tau_make_agent",
    "pytest_tau_make_model",
    "pytest_tau_make_user",
    "pytest_tau_options_schema",
    "pytest_tau_provided",
    "tau_agent",
    "tau_agent_client",
    "tau_env",
    "tau_model",
    "tau_run",
    "tau_simulation",
    "tau_snapshot",
    "tau_task",
    "tau_trial",
    "tau_user",
]


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the ``pytest_tau_…`` hooks."""
    from . import hookspecs, seams

    pluginmanager.add_hookspecs(hookspecs)
    pluginmanager.add_hookspecs(seams)


def pytest_configure(config: pytest.Config) -> None:
    """Register the parts of the plugin; check the settings of a run that names a domain."""
    check_terminal(config)
    run_state.register(config)
    _register_if_given(config, "report.dry_run", "dry_run")
    _register_if_given(config, "collect.shard", "shard")
    setup.register(config)
    unused.register(config)
    _register_if_given(config, "snapshots.plugin", "snapshot")
    config.pluginmanager.register(LastFailed(), "tau-last-failed")
    for part in (
        records,
        exit_status,
        terminal,
        participants,
        serial_trials,
        summary,
        reviews,
        run_counts,
        progress,
        test_gates,
    ):
        part.register(config)
    if not is_worker(config):  # a worker's controller completes the manifest
        state = run_state.run_state(config)
        config.pluginmanager.register(ManifestEnd(config, state.paths, state.counts), "tau-manifest")
    unchecked.register(config)
    repeat.register(config)
    _register_if_given(config, "collect.fork", "fork", "fork_turn", "fork_trial", "fork_restore")
    selection.register(config)
    # Registered after the selection, which some of them read in a run that names a domain.
    _register_if_given(config, "attacks.variants", "attack")
    _register_if_given(config, "attacks.summary", "attack")
    _register_if_given(config, "collect.quarantine", "quarantine")
    _register_if_given(config, "report.verdicts.gates", "gate", "fail_on", "stop_early")
    _register_if_given(config, "report.baseline", "baseline")
    _register_if_given(config, "collect.resume", "resume", "rerun")
    _register_if_given(config, "collect.changed", "changed_since", "changed_rest")
    _register_if_given(config, "report.html", "html")


def _register_if_given(config: pytest.Config, module: str, *options: str) -> None:
    """Import and register a part if one of its options is given."""
    if any(OptionValues(config).given(option) is not None for option in options):
        import_module(f".{module}", __name__).register(config)
