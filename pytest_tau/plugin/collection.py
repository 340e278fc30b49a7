"""Collection: task files and domains become test items, marked tests are parametrised.

Nothing of pytest-tau beyond this package is imported before a task file, a domain or a marker asks for it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .options import named_domains, options_given

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from ..models import Task
    from .active import Active, Case

MARKER = "tau(domain, tasks, split, num_tasks, trials, agent, user): run the test on each selected task and trial"
_NAMED_TRIAL = re.compile(r"\[trial-(\d+)\]$")
#: The domains that are collected as wholes, or with the node ids that were named of them.
_SELECTION = pytest.StashKey[dict[str, tuple[str, ...]]]()
#: Set on a collector that met a mistake of the user's.
_MISTAKEN = pytest.StashKey[bool]()


def configure(config: pytest.Config) -> None:
    """Register the marker; where a domain is named, check the whole run before anything starts."""
    config.addinivalue_line("markers", MARKER)
    named = _domain_arguments(config)
    if named or named_domains(config) or options_given(config) or _task_files_given(config):
        from .active import active_of

        active_of(config)
        config.stash[_SELECTION] = _selection(config, named)
        for name, wanted in config.stash[_SELECTION].items():
            _checked(config, name, wanted)
        if config.stash[_SELECTION]:
            active_of(config).check_patterns()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Keep ``telecom::id`` away from pytest, which would look for a file; without paths, run domains alone."""
    config = session.config
    given = config.args
    named = _domain_arguments(config)
    if named:
        config.args = [argument for argument in given if argument not in named]
    elif config.getoption("tau_domain") is not None and not _paths_given(config):
        config.args = []
    try:
        return (yield)
    finally:
        config.args = given


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add the run's domains to the session's children; mark reports that mean a usage error."""
    report = yield
    if isinstance(collector, pytest.Session) and report.passed:
        report.result += _domain_nodes(collector)
    if collector.stash.get(_MISTAKEN, False):
        report.tau_usage_error = True  # type: ignore[attr-defined]
    return report


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """Tell a pattern that no task of any file matched; an xdist worker has nobody to tell it to."""
    module = sys.modules.get("pytest_tau.plugin.active")
    active = module.if_active(config) if module else None
    if active is not None and not hasattr(config, "workerinput"):
        active.check_patterns()


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
    collector: pytest.Collector = TaskFile.from_parent(parent, path=file_path)
    return collector


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_names(value: Any) -> bool:
    return _is_name(value) or (isinstance(value, list | tuple) and all(map(_is_name, value)))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_participant(value: Any) -> bool:
    return _is_name(value) or callable(value)


#: What the marker takes: in words, and how to tell.
_MARKER_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "domain": ("a domain's name", _is_name),
    "tasks": ("an id or a glob, or a list of them", _is_names),
    "split": ("a split's name", _is_name),
    "num_tasks": ("a whole number of at least 1", _is_count),
    "trials": ("a whole number of at least 1", _is_count),
    "agent": ("what --tau-agent takes, or a class or function", _is_participant),
    "user": ("what --tau-user takes, or a class or function", _is_participant),
}


class TaskCollector(pytest.Collector):
    """Base of what yields task items; tells mistakes in one message, without a traceback."""

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each task and trial."""
        from ..errors import TauError
        from .active import active_of

        try:
            active = active_of(self.config)
            cases = self.cases(active)
        except (TauError, pytest.UsageError) as error:
            self.stash[_MISTAKEN] = True
            raise self.CollectError(str(error)) from error
        fixtures = None
        for case in cases:
            for trial in range(max(active.config.trials, self.named_trials(case.task))):
                item = TauItem.of(self, case, trial, fixtures)
                fixtures = item._fixtureinfo  # noqa: SLF001 - the same for every item, and slow to find
                yield item

    def cases(self, active: Active) -> list[Case]:
        """The tasks to be run."""
        raise NotImplementedError

    def named_trials(self, task: Task) -> int:
        """How many trials of a task there must be for those that the command line names."""
        raise NotImplementedError


class TaskFile(pytest.File, TaskCollector):
    """A file of tasks."""

    def cases(self, active: Active) -> list[Case]:
        """The file's tasks, on the domain that the file, the command line or the folder names."""
        from ..models import in_split, load_task_file

        content = load_task_file(self.path)
        domain = active.domain(self._domain_name(active, content))
        tasks = in_split(content.tasks, active.config.split, self.path) if active.config.split else content.tasks
        return active.cases(tasks, domain, active.config, file=self.path)

    def named_trials(self, task: Task) -> int:
        """Up to the last one that a node id names."""
        folder = Path(self.config.invocation_params.dir)
        arguments = [argument.partition("::") for argument in self.config.args]
        return _named_trials(task, [node for path, _, node in arguments if folder / path == self.path])

    def _domain_name(self, active: Active, content: Any) -> str:
        if len(active.config.domains) == 1:
            return active.config.domains[0]
        if content.domain is not None:
            return str(content.domain)
        known = active.domain_names()
        told = {getattr(task.user_scenario.instructions, "domain", None) for task in content.tasks} - {None}
        for name in (self.path.parent.name, *(told if len(told) == 1 else ())):
            if name in known:
                return str(name)
        raise pytest.UsageError(
            f"{self.path}: which domain? Name one with --tau-domain, or in the file: "
            f'{{"domain": "…", "tasks": […]}} (known: {", ".join(known)})'
        )


class DomainFolder(pytest.Directory):
    """A folder on the way from the root directory to where pytest was started; its conftest.py holds for domains."""

    def collect(self) -> Iterator[pytest.Collector]:
        """The next folder on the way, or at its end the domains."""
        yield from _domain_nodes(self)


def _domain_nodes(parent: pytest.Collector) -> Iterator[pytest.Collector]:
    selection = parent.config.stash.get(_SELECTION, {})
    start = Path(parent.config.invocation_params.dir)
    if selection and start != parent.path and start.is_relative_to(parent.path):
        yield DomainFolder.from_parent(parent, path=parent.path / start.relative_to(parent.path).parts[0])
    else:
        for name, wanted in selection.items():
            yield DomainCollector.of(parent, name, wanted)


class DomainCollector(TaskCollector):
    """The tasks of a domain that was named, instead of a file's. ``wanted`` narrows them to node ids."""

    wanted: tuple[str, ...] = ()

    @classmethod
    def of(cls, parent: pytest.Collector, name: str, wanted: tuple[str, ...]) -> DomainCollector:
        """The collector of a domain; it lies where pytest was started, for the conftest.py files there."""
        folder = Path(parent.config.invocation_params.dir)
        collector: DomainCollector = cls.from_parent(parent, name=name, path=folder, nodeid=name)
        collector.wanted = wanted
        return collector

    def cases(self, active: Active) -> list[Case]:
        """The domain's tasks that the settings select."""
        return _checked(self.config, self.name, self.wanted)

    def named_trials(self, task: Task) -> int:
        """Up to the last one that a node id names."""
        return _named_trials(task, self.wanted)

    def collect(self) -> Iterator[pytest.Item]:
        """Items, in a domain that was named as a whole or item by item."""
        for item in super().collect():
            if not self.wanted or any(_is_named(item, wanted) for wanted in self.wanted):
                yield item


def _trial(tau_simulation: Any) -> None:
    """The test of every task item: the reward is 1."""
    from .failure import RewardBelowOne

    if tau_simulation.outcome != "passed":
        raise RewardBelowOne(tau_simulation)


class TauItem(pytest.Function):
    """One trial of one task.

    Attributes:
        case: The task, its domain, the settings.
        trial: Which repetition of the task.
    """

    case: Case
    trial: int

    @classmethod
    def of(cls, parent: TaskCollector, case: Case, trial: int, fixtures: Any) -> TauItem:
        """The item of a trial; ``fixtures`` as found for another one, to save the time."""
        from ..runner import item_id

        name = f"{item_id(case.task.id)}[trial-{trial}]"
        item: TauItem = cls.from_parent(parent, name=name, callobj=_trial, fixtureinfo=fixtures)
        # pytest 9.2 tells parametrised ids apart by structure, and --lf reads them back from text. The bracket
        # did not come from a callspec, so the structure is made from the text here, too.
        node_id: Any = getattr(item, "_id", None)
        if node_id is not None:
            item._id = type(node_id).parse(item.nodeid)
        item.case, item.trial = case, trial
        item.add_marker("tau")
        if case.config.simulation.solo and case.task.ticket is None:
            item.add_marker(pytest.mark.skip(reason="solo: the task has no ticket"))
        return item

    @property
    def task(self) -> Any:
        """What is to be done."""
        return self.case.task

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the item is from, for reports; a task has no line of its own."""
        return self.path, 0, self.name


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise tests that use the tau fixtures, by their marker and the run's settings."""
    if "_tau_case" not in metafunc.fixturenames:
        return
    from ..errors import TauError
    from ..runner import item_id
    from .active import active_of

    marker = metafunc.definition.get_closest_marker("tau")
    try:
        cases = _marked_cases(active_of(metafunc.config), _marker_arguments(marker))
    except (TauError, pytest.UsageError) as error:
        if metafunc.definition.parent is not None:
            metafunc.definition.parent.stash[_MISTAKEN] = True
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from error
    metafunc.parametrize("_tau_case", cases, ids=[item_id(case.task.id) for case in cases], indirect=True)
    if "tau_trial" in metafunc.fixturenames:
        trials = range(cases[0].config.trials)
        metafunc.parametrize("tau_trial", trials, ids=[f"trial-{trial}" for trial in trials], indirect=True)


def _marker_arguments(marker: pytest.Mark | None) -> dict[str, Any]:
    if marker is None:
        return {}
    if marker.args:
        raise pytest.UsageError(f"marker tau takes keywords, such as domain={marker.args[0]!r}")
    for key, value in marker.kwargs.items():
        if key not in _MARKER_KEYS:
            raise pytest.UsageError(f"marker tau has no {key!r}; it has {', '.join(_MARKER_KEYS)}")
        expected, fits = _MARKER_KEYS[key]
        if not fits(value):
            raise pytest.UsageError(f"marker tau: {key}: expected {expected}, got {value!r}")
    return dict(marker.kwargs)


def _marked_cases(active: Active, wanted: dict[str, Any]) -> list[Case]:
    config = active.config
    name = wanted.get("domain") or (config.domains[0] if len(config.domains) == 1 else None)
    if name is None:
        raise pytest.UsageError("which domain? Mark the test with @pytest.mark.tau(domain=…), or give --tau-domain")
    given = {key: wanted[key] for key in ("split", "num_tasks", "trials", "agent", "user") if key in wanted}
    config = replace(config, domains=(name,), **given)
    active.source("agent", config)
    active.source("user", config)
    domain, patterns = active.domain(name), wanted.get("tasks", ())
    from ..environment import DEFAULT_SPLIT
    from ..runner import select

    narrowed = select(
        domain.tasks(config.split or DEFAULT_SPLIT), [patterns] if isinstance(patterns, str) else patterns
    )
    if not narrowed:
        raise pytest.UsageError(f"no task of {name!r} matches {patterns!r}")
    return active.cases(narrowed, domain, config)


def _checked(config: pytest.Config, name: str, wanted: tuple[str, ...]) -> list[Case]:
    """The cases of a domain; node ids are looked up among all its tasks, whatever split is the default.

    Raises:
        pytest.UsageError: Nothing is selected, or something cannot be used.
    """
    from ..errors import TauError
    from .active import active_of

    active = active_of(config)
    try:
        if not wanted:
            return active.domain_cases(name)
        domain = active.domain(name)
        run = replace(active.config, domains=(name,))
        return active.cases(domain.tasks(None), domain, run, only=partial(_named_tasks, name, wanted))
    except TauError as error:
        raise pytest.UsageError(str(error)) from error


def _named_tasks(name: str, wanted: tuple[str, ...], tasks: list[Task]) -> list[Task]:
    for named in wanted:
        if not any(_names(task, named) for task in tasks):
            raise pytest.UsageError(f"not found: {name}::{named}")
    return [task for task in tasks if any(_names(task, named) for named in wanted)]


def _named_trials(task: Task, nodes: Iterable[str]) -> int:
    found = [_NAMED_TRIAL.search(node) for node in nodes if _names(task, node)]
    return max((int(trial[1]) + 1 for trial in found if trial), default=0)


def _names(task: Task, named: str) -> bool:
    from ..runner import item_id

    return _NAMED_TRIAL.sub("", named) in (task.id, item_id(task.id))


def _is_named(item: pytest.Item, wanted: str) -> bool:
    if not isinstance(item, TauItem) or not _names(item.case.task, wanted):
        return False
    trial = _NAMED_TRIAL.search(wanted)
    return trial is None or int(trial[1]) == item.trial


def _selection(config: pytest.Config, named: list[str]) -> dict[str, tuple[str, ...]]:
    if not named:
        return {} if _paths_given(config) else dict.fromkeys(named_domains(config), ())
    selection: dict[str, tuple[str, ...]] = {}
    for argument in named:
        name, node = _domain_of(argument), argument.partition("::")[2]
        selection[name] = (*selection.get(name, ()), node)
    return selection


def _domain_arguments(config: pytest.Config) -> list[str]:
    """Arguments such as ``telecom::some-task[trial-1]``: node ids under a domain's name, where no such file is."""
    folder = config.invocation_params.dir
    found = [arg for arg in config.args if "::" in arg and not Path(folder, arg.split("::")[0]).is_file()]
    if not found:
        return []
    from .active import active_of

    known = active_of(config).domain_names()
    return [argument for argument in found if _domain_of(argument) in known]


def _domain_of(argument: str) -> str:
    # Run from below its root directory, pytest prints ../telecom::some-task.
    return Path(argument.split("::", maxsplit=1)[0]).name


def _task_files_given(config: pytest.Config) -> bool:
    """Whether the command line names a JSON file."""
    return any(arg.partition("::")[0].endswith(".json") for arg in config.args)


def _paths_given(config: pytest.Config) -> bool:
    return config.args_source is pytest.Config.ArgsSource.ARGS
