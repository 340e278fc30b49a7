"""Tasks that check nothing, or less than they seem to, and marked tests without a conversation: each agent passes."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ...text import listed, plural, printable
from ..compat import fixture_info, is_own_fixture
from ..context.run_state import MarkedNode
from ..items import TaskSpec, spec_of
from ..seams import SummaryLine
from ..wire import give_output, output_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...models import Task

_NAMED = 5


def register(config: pytest.Config) -> None:
    """Register the note."""
    config.pluginmanager.register(UncheckedTasks(), "tau-unchecked")


class UncheckedTasks:
    """Collects tasks that check nothing, failed reference actions, and histories that contradict the state.

    Those of xdist workers, too.
    """

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._failed: dict[str, str] = {}
        self._contradictions: dict[str, str] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Look through the tasks that are left to be run."""
        tasks = {id(spec.task): spec.task for item in items if (spec := spec_of(item)) is not None}
        self._ids = list(dict.fromkeys(task.id for task in tasks.values() if checks_nothing(task)))
        if self._ids:
            give_output(config, unchecked=self._ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker has found; every worker finds the same."""
        self._ids = list(output_of(node).get("unchecked", [])) or self._ids
        self._failed |= output_of(node).get("failed_writes", {})
        self._contradictions |= output_of(node).get("contradictions", {})

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Look for reference actions that failed when the state was computed to which a conversation's is compared."""
        for spec in filter(None, map(spec_of, getattr(session, "items", []))):
            if (failed := _failed_write(spec)) is not None:
                self._failed[spec.task.id] = failed
            if (problem := _contradiction(spec)) is not None:
                self._contradictions[spec.task.id] = problem
        if self._failed or self._contradictions:
            give_output(session.config, failed_writes=self._failed, contradictions=self._contradictions)

    def pytest_report_collectionfinish(self, config: pytest.Config) -> list[str]:
        """Warn before anything runs."""
        return [printable(line.text) for line in self.pytest_tau_summary_lines()] if config.get_verbosity() >= 0 else []

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Warn of such tasks."""
        if self._ids:
            checks = "checks" if len(self._ids) == 1 else "check"
            which = listed([*map(repr, self._ids)], _NAMED)
            yield SummaryLine(
                f"tau: warning: {plural(len(self._ids), 'task')} {checks} nothing: {which}", {"yellow": True}
            )
        if self._failed:
            action = "a reference action that fails, so that its effect is not expected"
            yield _warning(self._failed, action, bold=True)
            these = "this task" if len(self._failed) == 1 else "these tasks"
            yield SummaryLine(
                f"tau: warning: do not trust the verdicts on {these} if the call was meant to succeed: an agent that "
                "does not make it can pass, and one that makes it can fail",
                {"yellow": True, "bold": True},
            )
        if self._contradictions:
            yield _warning(self._contradictions, "a message history that contradicts the state which it leads to")


def _warning(problems: dict[str, str], what: str, *, bold: bool = False) -> SummaryLine:
    """Return the line about tasks that have something wrong, by id."""
    has = "has" if len(problems) == 1 else "have"
    which = listed([f"{task!r} ({problem})" for task, problem in problems.items()], _NAMED)
    return SummaryLine(
        f"tau: warning: {plural(len(problems), 'task')} {has} {what}: {which}; see tau lint",
        {"yellow": True, "bold": bold},
    )


def _failed_write(spec: TaskSpec) -> str | None:
    """Return the reference action that failed; None if there is none, or the domain has its own data."""
    if spec.domain.has_own_data:  # its tasks were checked
        return None
    from ...environment import failed_action

    failed = failed_action(spec.domain, spec.task)
    return None if failed is None else failed.text


def _contradiction(spec: TaskSpec) -> str | None:
    """Return the call of a task's message history that contradicts the state; None without one."""
    if not spec.task.message_history:
        return None
    from ...lint.history import contradiction

    try:
        return spec.domain.once_per_task(spec.task, "history", lambda task: contradiction(task, spec.domain))
    except Exception:  # noqa: BLE001 - of the domain's own functions: the error of a trial reports it
        return None


def checks_nothing(task: Task) -> bool:
    """Return whether no part of a task's reward basis can fail; one that a plugin adds can."""
    criteria = task.criteria
    parts = {
        # Without either, the final state is compared with nothing; an empty list means that nothing may change.
        "DB": criteria.actions is not None or criteria.env_assertions is not None,
        "ACTION": criteria.actions,
        "ENV_ASSERTION": criteria.env_assertions,
        "COMMUNICATE": criteria.communicate_info,
        "NL_ASSERTION": criteria.nl_assertions,
    }
    return not any(parts.get(name, True) for name in criteria.reward_basis)


def idle_tests(
    nodes: Iterable[pytest.Item | pytest.Collector], marked: dict[pytest.Collector, MarkedNode]
) -> list[pytest.Item]:
    """Return the tests with a marker ``tau`` of their own that use no fixture of the plugin.

    A test without a marker of its own may be a helper of the others of its marked module or class.

    Args:
        nodes: What was collected from a module or a class.
        marked: The marked classes and modules. Their tests are noted here.
    """
    idle = []
    for item in nodes:
        if not isinstance(item, pytest.Item) or item.get_closest_marker("tau") is None:
            continue
        above = [node for node in item.listchain()[:-1] if _is_marked(node) and isinstance(node, pytest.Collector)]
        if _uses_plugin(item):
            for node in above:
                marked.setdefault(node, MarkedNode()).used = True
        elif _is_marked(item) or not above:
            idle.append(item)
        else:
            marked.setdefault(above[-1], MarkedNode()).idle.append(item)
    return idle


def idle_text(tests: Sequence[pytest.Item], where: str = "") -> str:
    """Return the text of the error for marked tests that use no fixture of the plugin; methods of unittest cannot."""
    request = f"request the fixture tau_simulation{where}, or remove the marker"
    if any(issubclass(getattr(test, "cls", None) or object, unittest.TestCase) for test in tests):
        request = "methods of unittest.TestCase cannot have a task: use a plain class, or remove the marker"
    return f"marker tau: {listed([test.name for test in tests], _NAMED)} would pass without a conversation: {request}"


def _uses_plugin(item: pytest.Item) -> bool:
    """Return whether a test uses a fixture of the plugin; one that overrides it counts if it requests it."""
    info, names = fixture_info(item), getattr(item, "fixturenames", ())
    definitions = info.name2fixturedefs if info is not None else {}
    last = [definitions[name][-1] for name in names if name.startswith("tau_") and definitions.get(name)]
    return "_tau_spec" in names or any(map(is_own_fixture, last))


def _is_marked(node: Any) -> bool:
    return any(mark.name == "tau" for mark in node.own_markers)


def check_marked(config: pytest.Config, items: list[pytest.Item], marked: dict[pytest.Collector, MarkedNode]) -> None:
    """Report marked modules and classes of which no test uses a fixture of the plugin; remove their tests.

    A node id on the command line may exclude the classes whose tests do.
    """
    folder = Path(config.invocation_params.dir)
    named_files = {
        folder / file for file, _, inside in (argument.partition("::") for argument in config.args) if inside
    }
    for node, tests in marked.items():
        if tests.used or (isinstance(node, pytest.Module) and node.path in named_files):
            continue
        kind = "class" if isinstance(node, pytest.Class) else "module"
        text = idle_text(tests.idle, f" in a test of this {kind}")
        report = pytest.CollectReport(node.nodeid, "failed", text, [], tau_usage_error=True)
        node.ihook.pytest_collectreport(report=report)
        items[:] = [item for item in items if node not in item.listchain()]
