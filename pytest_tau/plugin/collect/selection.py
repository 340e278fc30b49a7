"""Selection: the domains and tasks that the command line and the ini name, checked before collection.

Modules outside of the plugin are imported only if something is named.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..context.run_state import SelectedDomain, get_context, run_state
from ..items import spec_of
from ..options import named_domains, options_given, paths_given, task_files_given
from ..wire import is_worker
from .unchecked import check_marked

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from ...models import Task
    from ..items import TaskSpec

_DOMAIN = re.compile(r"[A-Za-z0-9_-]+")
#: What follows the task in the name of an item: parameters and trial. No trial has a number of more digits
#: (``run_settings.MOST_TRIALS``).
_NAMED_TRIAL = re.compile(r"\[(?:.*-)?trial-([0-9]{1,4})\]")


def register(config: pytest.Config) -> None:
    """Select the tasks of the domains that are named, and check the settings."""
    named = _domain_arguments(config)
    if named or named_domains(config) or options_given(config) or task_files_given(config):
        from ..context.build import ensure_context
        from ..context.model_checks import check_access, check_agent_server
        from .tasks import TaskSelector

        state, context = run_state(config), ensure_context(config)
        state.selection = {
            name: SelectedDomain(wanted, _checked_specs(config, name, wanted))
            for name, wanted in _selection(config, named).items()
        }
        state.excluded = () if state.selection else tuple(named_domains(config))
        _check_excluded(config, state.excluded)
        distributed = getattr(config.option, "dist", "no") != "no"
        if state.selection:
            TaskSelector(config, context).check_patterns()
            if distributed:
                # xdist's controller collects nothing. Else a folder's conftest.py may still provide models.
                check_access(config, state, context)
        elif distributed:
            check_agent_server(config, context)


def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Hide ``telecom::id`` from pytest, which would look for a file; without paths, collect only the domains."""
    config = session.config
    given = config.args
    named = _domain_arguments(config)
    if named:
        config.args = [argument for argument in given if argument not in named]
    elif config.getoption("tau_domain") is not None and not paths_given(config):
        config.args = []
    try:
        return (yield)
    finally:
        config.args = given


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Check marked modules, access to models, and in the process that reports patterns."""
    check_marked(config, items, run_state(config).marked)
    context = get_context(config)
    if context is None:
        return
    if not is_worker(config):
        from .tasks import TaskSelector

        TaskSelector(config, context).check_patterns()
    if any(spec_of(item) is not None for item in items):
        from ..context.model_checks import check_access

        try:
            check_access(config, run_state(config), context)
        except pytest.UsageError as error:
            if not is_worker(config):
                raise
            # An exception would be a crash of the worker.
            items.clear()
            text = str(error)
            report = pytest.CollectReport(text.partition(":")[0], "failed", text, [], tau_usage_error=True)
            config.hook.pytest_collectreport(report=report)


def _check_excluded(config: pytest.Config, names: Sequence[str]) -> None:
    """Check the domains that are named, but that paths exclude; settings only if the command line names the domain.

    The settings may be meant for the tests of the paths, if only the ini names the domain.

    Raises:
        pytest.UsageError: There is no such domain, or it has no such split or variant.
    """
    from ...errors import TauError
    from ..context.build import ensure_context

    context = ensure_context(config)
    run = context.config
    try:
        for name in names:
            domain = context.domain(name)
            if config.getoption("tau_domain") is None:
                continue
            settings = run.simulation
            domain.check_mode(solo=settings.solo, policy=settings.policy, retrieval=settings.retrieval)
            if run.split is not None and run.generate is None:
                domain.tasks(run.split)
    except TauError as error:
        raise pytest.UsageError(str(error)) from error


def _checked_specs(config: pytest.Config, name: str, wanted: tuple[str, ...]) -> list[TaskSpec]:
    """Return the tasks of a domain; node ids are looked up among all its tasks, whatever split is the default.

    Raises:
        pytest.UsageError: Nothing is selected, or something cannot be used.
    """
    from ...errors import TauError
    from ..context.build import ensure_context
    from .tasks import TaskSelector

    context = ensure_context(config)
    selector = TaskSelector(config, context)
    try:
        if not wanted:
            return selector.of_domain(name)
        domain = context.domain(name)
        run = replace(context.config, domains=(name,))
        named_nodes = [(name, node) for node in wanted]
        return selector.select(selector.tasks(domain, None), domain, run, only=partial(named_tasks, named_nodes))
    except TauError as error:
        raise pytest.UsageError(str(error)) from error


def named_tasks(named: Sequence[tuple[str, str]], tasks: list[Task]) -> list[Task]:
    """Return the tasks that node ids name.

    Args:
        named: The two parts of each node id: a domain or a file, and what follows it.
        tasks: The tasks of the domain or the file.

    Raises:
        pytest.UsageError: A node id names none; suggests tasks with similar ids.
    """
    for where, node in named:
        _check_named(where, node, tasks)
    return [task for task in tasks if any(is_of_task(task, node) for _, node in named)]


def _check_named(where: str, node: str, tasks: Sequence[Task]) -> None:
    if any(is_of_task(task, node) for task in tasks):
        return
    from ...errors import unknown_name
    from ...runner import item_id

    # Without parameters and trial, also if the trial is mistyped: ids of items have no brackets.
    task = node.partition("[")[0]
    known = [item_id(task.id) for task in tasks]
    there = f"expected {task}, or a trial of it such as {task}[trial-0]"
    problem = there if task in known else unknown_name("task", task, known)
    raise pytest.UsageError(f"not found: {where}::{node}: {problem}")


def named_trials(task: Task, nodes: Iterable[str]) -> int:
    """Return how many trials of a task there must be to have those that node ids name."""
    trials = [_NAMED_TRIAL.fullmatch(rest) for node in nodes if (rest := _after_task(task, node))]
    return max((int(trial[1]) + 1 for trial in trials if trial), default=0)


def _after_task(task: Task, node: str) -> str | None:
    """Return what follows the task's id in a name: parameters and trial, or nothing; None if it names another task."""
    from ...runner import item_id

    for name in (task.id, item_id(task.id)):
        rest = node.removeprefix(name)
        if node.startswith(name) and (not rest or _NAMED_TRIAL.fullmatch(rest)):
            return rest
    return None


def is_of_task(task: Task, node: str) -> bool:
    """Return whether a node id names items of this task."""
    return _after_task(task, node) is not None


def is_named(task: Task, name: str, node: str) -> bool:
    """Return whether a node id names the task's item of this name, or all items of the task."""
    rest = _after_task(task, node)
    return rest is not None and (not rest or rest == _after_task(task, name))


def _selection(config: pytest.Config, named: list[str]) -> dict[str, tuple[str, ...]]:
    if not named:
        below = paths_given(config) and not _whole_project_given(config)
        return {} if below else dict.fromkeys(named_domains(config), ())
    selection: dict[str, tuple[str, ...]] = {}
    for argument in named:
        name, node = _domain_of(argument), argument.partition("::")[2]
        selection[name] = (*selection.get(name, ()), node)
    return selection


def _domain_arguments(config: pytest.Config) -> list[str]:
    """Return the arguments such as ``telecom::some-task[trial-1]``: node ids below a domain that is not a file."""
    folder = config.invocation_params.dir
    found = [
        argument
        for argument in config.args
        if "::" in argument
        and _DOMAIN.fullmatch(_domain_of(argument))
        and not Path(folder, argument.partition("::")[0]).is_file()
    ]
    if not found:
        return []
    from ..context.build import ensure_context

    known = ensure_context(config).domain_names()
    for argument in found:
        _check_domain_name(argument, known, config)
    return [argument for argument in found if _domain_of(argument) in known]


def _check_domain_name(argument: str, known: Sequence[str], config: pytest.Config) -> None:
    """Refuse a mistyped name of a domain; other arguments are pytest's, but xdist's workers do not report them.

    Raises:
        pytest.UsageError: Suggests domains with similar names.
    """
    from ...errors import suggestion, unknown_name

    name, path = _domain_of(argument), config.invocation_params.dir / argument.partition("::")[0]
    unreported = getattr(config.option, "dist", "no") != "no" and not config.option.pyargs
    if name not in known and (unreported or suggestion(name, known)) and not path.exists():
        raise pytest.UsageError(f"not found: {argument}: {unknown_name('domain', name, known)}")


def _domain_of(argument: str) -> str:
    # Started below the root directory, pytest prints ../telecom::some-task, or .::some-task in a folder of that name.
    return Path(os.path.abspath(argument.partition("::")[0])).name  # noqa: PTH100 - symbolic links as in pytest's paths


def _whole_project_given(config: pytest.Config) -> bool:
    """Return whether a path is the folder of the project, as in ``pytest .``: then its domains are run, too."""
    folder = config.invocation_params.dir
    project = (Path(os.path.abspath(folder)), config.rootpath)  # noqa: PTH100 - symbolic links as in pytest's paths
    given = [Path(os.path.abspath(folder / argument)) for argument in config.args]  # noqa: PTH100
    return any(path.is_dir() and any(part.is_relative_to(path) for part in project) for path in given)
