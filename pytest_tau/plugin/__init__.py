"""The pytest plugin: its entry point, and a table of contents of its hooks and fixtures.

Every project in whose environment pytest-tau is installed pays for what is imported here: the options, the hook
specifications and the fixtures. Everything else is imported and registered by ``_begin``, once a run has a trial or may
have one. The hooks are in this module nevertheless, so that their place among the hooks of other plugins does not
depend on when that is.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from . import capabilities
from .options import (
    MARKER,
    OptionValues,
    add_options,
    asks_for_trials,
    check_ini_keys,
    check_names,
    hide_from_help,
    repetitions,
)
from .run.fixtures import (
    _tau_models,
    _tau_spec,
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

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from types import ModuleType


__all__ = [
    "_tau_models",
    "_tau_spec",
    "tau_agent",
    "tau_agent_client",
    "tau_env",
    "tau_model",
    "tau_run",
    "tau_simulation",
    "tau_task",
    "tau_trial",
    "tau_user",
]

#: A part of every run that has begun.
_PART = "tau-reports"


# The start of pytest


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options of the core and of the capabilities."""
    add_options(parser)
    capabilities.register(parser, pluginmanager)


def load_for_commands() -> ModuleType:
    """Return the module of what commands of ``tau`` ask of the plugin, which they find by its name."""
    return import_module(".for_commands", __name__)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the ``pytest_tau_…`` hooks."""
    from . import hookspecs, seams

    pluginmanager.add_hookspecs(hookspecs)
    pluginmanager.add_hookspecs(seams)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, None, None]:
    """Check the root directory and the ini file, which an option's value or a domain may have misled, and the names."""
    # No domain is called like a file of tests.
    if any(arg.startswith("--tau-") or ("::" in arg and ".py::" not in arg) for arg in args):
        from .collect.rootdir import check_rootdir

        check_rootdir(early_config, args)
    try:
        yield
    except Exception as error:
        from .collect.conftest_imports import add_remedy

        add_remedy(error, early_config.rootpath)
        raise
    check_names(parser, early_config, args)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; begin a run whose settings ask for trials."""
    config.addinivalue_line("markers", MARKER)
    if config.option.help:
        hide_from_help(config)
        return
    if repetitions(config) is not None:
        from .collect import repeat

        repeat.register(config, _begin)
    if asks_for_trials(config):
        _begin(config)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main() -> Generator[None, Any, Any]:
    """Make the text of a usage error printable: it may quote files."""
    try:
        return (yield)
    except pytest.UsageError as error:
        from ..text import printable

        raise pytest.UsageError(*(printable(str(argument)) for argument in error.args)) from error


def _has_begun(config: pytest.Config) -> bool:
    return config.pluginmanager.has_plugin(_PART)


def _begin(config: pytest.Config) -> None:
    """Register the parts of the plugin, unless they are registered; check the settings of a run that names a domain."""
    if _has_begun(config):
        return
    from .context import run_state
    from .handle import run as run_handle
    from .person import check_terminal
    from .store.manifest import ManifestEnd
    from .wire import is_worker

    check_ini_keys(config)
    check_terminal(config)
    _exempt_loopback(config)
    run_state.register(config)
    run_handle.register(config)
    _register_if_given(config, "report.dry_run", "dry_run")
    _register(config, "collect.part", "distributed", "run.setup", "run.interruptions", "collect.collectors")
    _register(config, "report.trial_reports", "report.exit_status", "report.terminal", "report.equal_errors")
    _register(config, "report.junit", "collect.participants", "report.summary")
    _register_if_given(config, "report.markdown_page", "markdown")
    _register(config, "report.run_counts", "report.progress", "report.test_gates")
    state = run_state.run_state(config)
    if (publisher := state.paths.publisher) is not None:
        config.pluginmanager.register(publisher, "tau-store")
    if not is_worker(config):  # a worker's controller completes the manifest
        config.pluginmanager.register(ManifestEnd(config, state.paths, state.counts), "tau-manifest")
    _register(config, "collect.unchecked")
    capabilities.register_hooks(config)
    _register(config, "report.notes", "collect.selection")
    # Registered after the selection, which some of them read in a run that names a domain.
    _register_if_given(config, "report.gates", "gate", "fail_on")
    _register_if_given(config, "report.baseline", "baseline")
    _register_if_given(config, "collect.resume", "resume")
    _register_if_given(config, "report.html", "html")
    _register(config, "report.subtests")


def _exempt_loopback(config: pytest.Config) -> None:
    """Exempt this machine from the proxies of the environment until the run ends: agents and servers may be on it."""
    from ..proxies import loopback_exemption

    variables = pytest.MonkeyPatch()
    config.add_cleanup(variables.undo)
    for name, hosts in loopback_exemption(os.environ).items():
        variables.setenv(name, hosts)


def _register(config: pytest.Config, *modules: str) -> None:
    """Import and register parts."""
    for module in modules:
        import_module(f".{module}", __name__).register(config)


def _register_if_given(config: pytest.Config, module: str, *options: str) -> None:
    """Import and register a part if one of its options is given."""
    if any(OptionValues(config).given(option) is not None for option in options):
        _register(config, module)


# Collection


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Hide ``telecom::id`` from pytest, which would look for a file; without paths, collect only the domains."""
    if not _has_begun(session.config):
        return (yield)
    from .collect import selection

    return (yield from selection.pytest_collection(session))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Claim a JSON file named on the command line, matched by ``tau_files``, or under a folder of ``tau_tasks``."""
    if file_path.suffix != ".json":
        return None
    config = parent.config
    claimed = (
        parent.session.isinitpath(file_path)
        or any(file_path.match(pattern) for pattern in config.getini("tau_files"))
        or any(file_path.is_relative_to(folder) for folder in config.getini("tau_tasks"))
    )
    if not claimed or file_path.name == "split_tasks.json":
        return None
    _begin(config)
    from .collect.collectors import TaskFile

    collector: pytest.Collector = TaskFile.from_parent(parent, path=file_path)
    return collector


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise tests that use the tau fixtures, by their marker and the run's settings."""
    if "_tau_spec" in metafunc.fixturenames:
        _begin(metafunc.config)
        from .collect import parametrize

        parametrize.pytest_generate_tests(metafunc)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add the run's domains to the session's children; refuse marked tests that have no conversation."""
    report = yield
    if any(isinstance(node, pytest.Item) and node.get_closest_marker("tau") for node in report.result):
        _begin(collector.config)
    if _has_begun(collector.config):
        from .collect import collectors

        collectors.complete(report, collector)
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    """Make the state of an item that runs a trial."""
    if any(name.startswith("tau_") for name in getattr(item, "fixturenames", ())):
        _begin(item.config)
    if _has_begun(item.config):
        from . import items

        items.pytest_itemcollected(item)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Check marked modules, patterns and access to models."""
    if _has_begun(config):
        from .collect import selection

        selection.pytest_collection_modifyitems(config, items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude thousands of tasks and items from garbage collection."""
    if _has_begun(session.config):
        from .collect import collectors

        collectors.pytest_collection_finish(session)


# Reports


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Show what runs, with which settings."""
    if not _has_begun(config):
        return []
    from .report import header

    return header.pytest_report_header(config)


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """Show what only the collection has found out."""
    if not _has_begun(config):
        return []
    from .report import header

    return header.pytest_report_collectionfinish(config, items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Explain the failure of a trial."""
    if not _has_begun(item.config):
        return (yield)
    from .report import trial_reports

    return (yield from trial_reports.pytest_runtest_makereport(item, call))


# Items


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the items of each file or domain in the order in which their trials finish."""
    if not _has_begun(session.config):
        return None
    from .run import loop

    return loop.pytest_runtestloop(session)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Start the trials of upcoming items while this item is waited for, in an xdist worker."""
    if not _has_begun(item.config):
        return (yield)
    from .run import loop

    return (yield from loop.pytest_runtest_protocol(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that would pass without the trial that it has requested."""
    result = yield
    trial = getattr(item, "funcargs", {}).get("tau_run")
    if trial is not None and not getattr(trial, "ended", True):
        pytest.fail("no trial was run: the test requests tau_run but does not await tau_run()", pytrace=False)
    return result
