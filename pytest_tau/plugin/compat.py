"""Uses of private parts of pytest: each says what it replaces, and when it can go."""

from __future__ import annotations

import copy
import sys
import traceback
from typing import TYPE_CHECKING, Any

from _pytest._code.code import ReprFileLocation, TerminalRepr
from _pytest._io import TerminalWriter

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pytest

#: ``ReprFileLocation`` and ``TerminalRepr`` are what pytest accepts as a report's ``longrepr`` if not text, and
#: ``TerminalWriter`` is what they write to. They can go once pytest exports base classes of its representations.
__all__ = ["ReprFileLocation", "TerminalRepr", "TerminalWriter"]


def junit_xml(config: pytest.Config) -> Any:
    """Return the writer of ``--junitxml``; None without one, and in a worker.

    ``record_testsuite_property``, which is public, is a fixture. It can go once there is a hook for properties.
    """
    from _pytest.junitxml import xml_key

    return config.stash.get(xml_key, None)


def is_of_junit_file(error: BaseException) -> bool:
    """Return whether writing the file of ``--junitxml`` has raised an error.

    It can go once pytest reports such an error itself.
    """
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_globals.get("__name__") == "_pytest.junitxml" for frame, _ in frames)


def note_fixture_error(definition: Any, request: Any, error: Exception) -> None:
    """Let pytest tear a fixture down whose setup has failed, as it does only after an ``Exception``.

    After a ``SystemExit``, the fixture fails by an assertion in all later tests. It can go once pytest tears down a
    fixture that has raised it.
    """
    definition.cached_result = None, definition.cache_key(request), (error, error.__traceback__)


def hide_ini_keys(config: pytest.Config, keys: Iterable[str]) -> None:
    """Remove ini keys, so that ``--help`` does not list them.

    It can go once the help of an ini key may be suppressed, as that of an option.
    """
    for key in keys:
        config._parser._inidict.pop(key, None)  # noqa: SLF001


def read_stdin(config: pytest.Config) -> str:
    """Return the standard input of the command, which pytest keeps from tests.

    It can go once pytest lets a plugin read it.
    """
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is None or not capture.is_globally_capturing():
        return sys.stdin.read()
    capture.suspend_global_capture(in_=True)
    try:
        return sys.stdin.read()
    finally:
        capture.resume_global_capture()


def mark_last_failed(config: pytest.Config, nodeid: str) -> None:
    """Let ``--lf`` run a test again although its report is not a failure.

    It can go once pytest lets a plugin say which tests have failed.
    """
    failed = getattr(config.pluginmanager.get_plugin("lfplugin"), "lastfailed", None)
    if isinstance(failed, dict):
        failed[nodeid] = True


def terminal_writer(reporter: Any) -> TerminalWriter:
    """Return the writer of the terminal reporter, for sections like pytest's own and for the progress line.

    It can go once ``TerminalReporter`` exposes its writer.
    """
    writer: TerminalWriter = reporter._tw  # noqa: SLF001
    return writer


def add_to_last_line(reporter: Any, words: Sequence[str]) -> None:
    """Let the last line of the terminal begin with words, and make it red.

    It can go once a plugin can change the line and its colour without counting a test as failed.
    """
    build = reporter.build_summary_stats_line

    def build_red() -> tuple[list[tuple[str, dict[str, bool]]], str]:
        parts, _ = build()
        rest = [(text, {**markup, "bold": markup.get("red", False)}) for text, markup in parts]
        return [*((word, {"red": True, "bold": True}) for word in words), *rest], "red"

    reporter.build_summary_stats_line = build_red


def write_past(writer: TerminalWriter, text: str) -> None:
    """Write to the terminal without the writer counting the text as part of its line.

    It can go once the writer has a way to write control sequences.
    """
    writer._file.write(text)  # noqa: SLF001
    writer._file.flush()  # noqa: SLF001


def fixture_info(item: Any) -> Any:
    """Return the fixtures of a test: ``argnames``, ``names_closure``, ``name2fixturedefs``; None if it has none.

    It can go once pytest has a public way to ask where a test's fixtures come from.
    """
    return getattr(item, "_fixtureinfo", None)


def is_own_fixture(definition: Any) -> bool:
    """Return whether a fixture is one of this package."""
    return str(definition.func.__module__).startswith(("pytest_tau.plugin", "pytest_tau.capabilities"))


def active_fixtures(item: Any) -> dict[str, Any]:
    """Return the definitions of the fixtures that are set up for a test so far, by name.

    It can go once pytest has a public way to ask which fixtures a test uses, including those of ``getfixturevalue``.
    """
    return dict(item._request._fixture_defs)  # noqa: SLF001


def log_handlers(config: pytest.Config) -> list[logging.Handler]:
    """Return the handlers behind ``caplog`` and the log sections of reports; none with ``-p no:logging``.

    It can go once a plugin can add records to the log of a test.
    """
    plugin: Any = config.pluginmanager.get_plugin("logging-plugin")
    return [plugin.caplog_handler, plugin.report_handler] if plugin is not None else []


def ini_keys(config: pytest.Config) -> Any:
    """Return what the ini file and ``-o`` have, by key, known or not.

    It can go once there is a public way to ask whether a key is set. pytest 9.0.0 has the other name.
    """
    return config._inicfg if hasattr(config, "_inicfg") else config.inicfg  # noqa: SLF001


def known_ini_keys(config: pytest.Config) -> Any:
    """Return the ini keys that pytest and plugins have declared.

    It can go once there is a public way to ask for them.
    """
    return config._parser._inidict  # noqa: SLF001


def native_ini(config: pytest.Config, name: str) -> Any:
    """Return the value of a key in ``pytest.toml`` or ``[tool.pytest]``; None for a key that is not there.

    ``getini`` accepts one type for each key. It can go once the oldest supported pytest has union types for keys (9.2).
    """
    value = ini_keys(config).get(name)
    return value.value if value is not None and value.mode == "toml" else None


def set_node_id(item: Any) -> None:
    """Build the structured id of an item from its name.

    pytest 9.2 distinguishes parametrised ids by structure, and ``--lf`` reads them back from text. The bracket of a
    task's item has the trial, which is not in its callspec. It can go once items with brackets in their names are
    supported.
    """
    node_id: Any = getattr(item, "_id", None)
    if node_id is not None:
        item._id = type(node_id).parse(f"{item.parent.nodeid}::{item.name}")  # noqa: SLF001


def expand_parameters(module: Any, name: str) -> list[pytest.Function]:
    """Return the items that pytest makes of a function of a module: one for each set of parameters.

    Parameters come from fixtures and from ``pytest_generate_tests``. It can go once there is a public way to
    parametrise items that are not found in Python files.
    """
    return list(module._genfunctions(name, getattr(module.obj, name)))  # noqa: SLF001


def load_conftests(config: Any, folder: Path) -> None:
    """Load the conftest.py files of a folder.

    pytest does so for folders that it collects. The folder of a domain may be none of them: if it is called like the
    domain, the node id has sent pytest there instead. It can go once there is a public way to load them.
    """
    config.pluginmanager._loadconftestmodules(  # noqa: SLF001
        folder,
        importmode=config.getoption("importmode"),
        rootpath=config.rootpath,
        consider_namespace_packages=config.getini("consider_namespace_packages"),
    )


def default_collect_report(collector: pytest.Collector) -> pytest.CollectReport:
    """Return pytest's own report on a collector, without other plugins.

    It can go once ``--lf`` does not skip collectors that are not files.
    """
    from _pytest.runner import pytest_make_collect_report

    return pytest_make_collect_report(collector)


def root_without(config: Any, without: list[str]) -> tuple[Path, Path | None]:
    """Return the root directory and the ini file that pytest finds without some of the paths.

    It can go once pytest no longer takes the value of a plugin's option for a path
    (https://github.com/pytest-dev/pytest/issues/1435).
    """
    from _pytest.config.findpaths import determine_setup

    known = config.known_args_namespace
    found = determine_setup(
        inifile=known.inifilename,
        override_ini=known.override_ini,
        args=[arg for arg in known.file_or_dir if arg not in without],
        rootdir_cmd_arg=known.rootdir or None,
        invocation_dir=config.invocation_params.dir,
    )
    return found[0], found[1]


def set_root(config: Any, folder: Path) -> None:
    """Set the root directory, before anything is loaded from it. It can go together with ``root_without``."""
    config._rootpath = folder  # noqa: SLF001


def call_watched(hook: Any, arguments: dict[str, Any], watch: Callable[[Any, Any], Any]) -> Any:
    """Call a hook as ``hook(**arguments)`` does, with each implementation but wrappers called by a function.

    It can go once pluggy says which implementation has returned or raised what.

    Args:
        hook: The hook, of the configuration or of an item.
        arguments: Its arguments.
        watch: Makes the function, given the implementation and its own function.
    """
    watched = []
    for implementation in hook.get_hookimpls():
        watched.append(called := copy.copy(implementation))
        if not (implementation.wrapper or implementation.hookwrapper):
            called.function = watch(implementation, implementation.function)
    return hook._hookexec(hook.name, watched, arguments, hook.spec.opts["firstresult"])  # noqa: SLF001
