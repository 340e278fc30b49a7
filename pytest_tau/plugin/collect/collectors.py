"""The collectors of task files and domains, whose tasks become test items."""

from __future__ import annotations

import gc
import os
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from ...text import printable
from ..compat import default_collect_report, expand_parameters, fixture_info, load_conftests
from ..context.run_state import run_state
from .item import TauItem, trial
from .participants import settle_user
from .selection import is_named, is_of_task, named_tasks, named_trials
from .unchecked import idle_tests, idle_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pluggy import HookRelay

    from ...models import Task, TaskFileContent
    from ..context.run_context import RunContext
    from ..context.run_state import SelectedDomain
    from ..items import TaskSpec

#: Set on a collector whose collection failed with a usage error.
USAGE_ERROR = pytest.StashKey[bool]()
#: With fewer items, a collection of garbage costs little.
_MANY = 500
#: The most items that an error names.
_NAMED = 5


def register(config: pytest.Config) -> None:
    """Register what keeps ``--lf`` from skipping domains."""
    config.pluginmanager.register(LastFailed(), "tau-last-failed")


def complete(report: pytest.CollectReport, collector: pytest.Collector) -> None:
    """Add the run's domains to the session's children; mark the reports of usage errors."""
    idle = idle_tests(report.result, run_state(collector.config).marked) if report.passed else []
    if idle:
        report.outcome, report.result = "failed", []
        report.longrepr = idle_text(idle)
        collector.stash[USAGE_ERROR] = True
    if isinstance(collector, pytest.Session) and report.passed:
        report.result += _domain_nodes(collector)
    if collector.stash.get(USAGE_ERROR, False):
        report.tau_usage_error = True  # type: ignore[attr-defined]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude thousands of tasks and items from garbage collection; they exist until the end of the run.

    What an earlier run in this process has excluded is collected first.
    """
    if sum(isinstance(item, TauItem) for item in session.items) >= _MANY:
        if gc.get_freeze_count():
            gc.unfreeze()
            gc.collect()
        gc.freeze()


def usage_error(collector: pytest.Collector, error: Exception) -> pytest.Collector.CollectError:
    """Return the error of a collector for a mistake; one that several collectors have is shown once in full.

    Args:
        collector: The collector, which is marked.
        error: The mistake.
    """
    collector.stash[USAGE_ERROR] = True
    text = printable(str(error))
    first = run_state(collector.config).usage_errors.setdefault(text, collector.nodeid)
    return collector.CollectError(text if first == collector.nodeid else f"the same error as in {first}")


class LastFailed:
    """Keeps ``--lf`` from skipping domains, because no file has their name."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Collect a domain without asking ``--lf``, which then selects among the items."""
        return default_collect_report(collector) if isinstance(collector, DomainCollector) else None


class TaskCollector(pytest.Module):
    """The base of collectors of task items; reports mistakes as one message, without a traceback.

    For pytest it is a module of its name with one test function, so that fixtures of module scope have a node, and
    parametrised fixtures have items for each parameter.
    """

    def _getobj(self) -> ModuleType:
        # conftest.py files and plugins expect that the module of an item can be imported, and has a file.
        module = ModuleType(trial.__module__)
        module.__file__ = str(self.path)
        module.trial = trial  # type: ignore[attr-defined]
        return module

    def collect(self) -> Iterator[TauItem]:
        """Yield an item for each task and trial."""
        from ...errors import TauError
        from ..context.build import ensure_context

        try:
            context = ensure_context(self.config)
            specs = self.specs(context)
            # The same for every task, and slow to find.
            templates = expand_parameters(self, trial.__name__) if specs else []
            for template in templates[:1]:
                specs = settle_user(specs, self.ihook, fixture_info(template).name2fixturedefs)
            specs = list(specs)
            self.config.hook.pytest_tau_plan(specs=specs, test=None)
        except (TauError, pytest.UsageError) as error:
            raise usage_error(self, error) from error
        fixtures = [fixture_info(template) for template in templates]
        for spec in specs:
            trials = max(context.config.trials, self.named_trials(spec.task))
            for template, fixture in zip(templates, fixtures, strict=True):
                yield from (TauItem.of(spec, number, template, fixture) for number in range(trials))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any) -> Any:
        """Return the representation of a mistake, or of any other error."""
        if not isinstance(excinfo.value, self.CollectError):
            return super().repr_failure(excinfo, *args)
        from ..failure_repr import message_repr

        return message_repr(str(excinfo.value), self.nodeid)

    def specs(self, context: RunContext) -> list[TaskSpec]:
        """Return the tasks to be run."""
        raise NotImplementedError

    def named_trials(self, task: Task) -> int:
        """Return how many trials of a task there must be to have those that the command line names."""
        raise NotImplementedError


class TaskFile(TaskCollector):
    """A file of tasks."""

    def specs(self, context: RunContext) -> list[TaskSpec]:
        """Return the file's tasks, on the domain that the file, the command line or the folder names."""
        from ...models import load_task_file
        from ...models.task_files import in_split
        from .tasks import TaskSelector

        content = load_task_file(self.path)
        domain = context.domain(self._domain_name(context, content))
        content = content._replace(tasks=domain.with_own_values(content.tasks, self.path))
        tasks = in_split(content.tasks, context.config.split, self.path) if context.config.split else content.tasks
        named_nodes = self._named()
        only = partial(named_tasks, named_nodes) if all(node for _, node in named_nodes) and named_nodes else None
        return TaskSelector(self.config, context).select(
            tasks, domain, context.config, file=self.path, in_file=content.tasks, only=only
        )

    def named_trials(self, task: Task) -> int:
        """Return how many trials there must be to have the last one that a node id names."""
        return named_trials(task, [node for _, node in self._named() if node])

    def _named(self) -> list[tuple[str, str]]:
        """Return path and rest of the arguments that name this file, a folder above it, or its items."""
        folder = Path(self.config.invocation_params.dir)
        arguments = [argument.partition("::") for argument in self.config.args]
        return [(path, node) for path, _, node in arguments if self.path.is_relative_to(_absolute(folder / path))]

    def _domain_name(self, context: RunContext, content: TaskFileContent) -> str:
        if content.domain is not None:
            return content.domain
        if len(context.config.domains) == 1:
            return context.config.domains[0]
        known = context.domain_names()
        for name in content.likely_domains(self.path):
            if name in known:
                return name
        raise pytest.UsageError(
            f"{self.path}: no domain given: add --tau-domain NAME, or name it in the file: "
            f'{{"domain": "…", "tasks": […]}} (known: {", ".join(known)})'
        )


def _absolute(path: Path) -> str:
    # As pytest's paths are: without "..", and symbolic links are not resolved.
    return os.path.abspath(path)  # noqa: PTH100


class DomainFolder(pytest.Directory):
    """A folder between the root directory and the one where pytest was started; its conftest.py applies to domains."""

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield the next folder on the way, or at the end the domains."""
        yield from _domain_nodes(self)


def _domain_nodes(parent: pytest.Collector) -> Iterator[pytest.Collector]:
    selection = run_state(parent.config).selection
    start = Path(parent.config.invocation_params.dir)
    if selection and start != parent.path and start.is_relative_to(parent.path):
        yield DomainFolder.from_parent(parent, path=parent.path / start.relative_to(parent.path).parts[0])
    else:
        for name, selected in selection.items():
            yield DomainCollector.of(parent, name, selected)


class DomainCollector(TaskCollector):
    """The tasks of a domain that the command line or the ini names."""

    selected: SelectedDomain

    @classmethod
    def of(cls, parent: pytest.Collector, name: str, selected: SelectedDomain) -> DomainCollector:
        """Return the collector of a domain.

        Its path is one below the folder where pytest was started, or else below the root directory: editors take it for
        that of a file, whose folders they follow up to the root directory.
        """
        folder, root = Path(parent.config.invocation_params.dir), parent.config.rootpath
        load_conftests(parent.config, folder)
        path = (folder if folder.is_relative_to(root) else root) / name
        collector: DomainCollector = cls.from_parent(parent, name=name, path=path, nodeid=name)
        collector.selected = selected
        return collector

    @property
    def ihook(self) -> HookRelay:
        """Return the hooks of the conftest.py files where pytest was started; there need be no folder at the path."""
        return self.session.gethookproxy(Path(self.config.invocation_params.dir))

    def specs(self, context: RunContext) -> list[TaskSpec]:
        """Return the domain's tasks that the settings select."""
        return self.selected.specs

    def named_trials(self, task: Task) -> int:
        """Return how many trials there must be to have the last one that a node id names."""
        return named_trials(task, self.selected.wanted)

    def collect(self) -> Iterator[TauItem]:
        """Yield the items of the domain, or those that node ids name."""
        items, wanted = list(super().collect()), self.selected.wanted
        for node in wanted:
            if not any(is_named(item.task, item.name, node) for item in items):
                self.stash[USAGE_ERROR] = True
                there = [item.name for item in items if is_of_task(item.task, node)]
                raise self.CollectError(f"not found: {self.name}::{node} (there are {', '.join(there[:_NAMED])})")
        for item in items:
            if not wanted or any(is_named(item.task, item.name, node) for node in wanted):
                yield item
