"""Collection: task files and domains become test items, marked tests are parametrised.

Nothing of pytest-tau beyond this package is imported before a task file, a domain or a marker asks for it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .options import named_domains, options_given

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from .active import Active, Case

MARKER = "tau(domain, tasks, split, num_tasks, trials, agent, user): run the test on each selected task and trial"
_NAMED_TRIAL = re.compile(r"\[trial-(\d+)\]$")
#: Set on a collector that met a mistake of the user's.
_MISTAKEN = pytest.StashKey[bool]()
_MARKER_KEYS = ("domain", "tasks", "split", "num_tasks", "trials", "agent", "user")


def configure(config: pytest.Config) -> None:
    """Register the marker; where a domain is named, check the whole run before anything starts."""
    config.addinivalue_line("markers", MARKER)
    if options_given(config) or named_domains(config) or _domain_arguments(config):
        from .active import active_of

        active_of(config)
        for name, wanted in _selection(config).items():
            _checked(config, name, wanted)


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
        for name, wanted in _selection(collector.config).items():
            report.result.append(DomainCollector.of(collector, name, wanted))
    if collector.stash.get(_MISTAKEN, False):
        report.tau_usage_error = True  # type: ignore[attr-defined]
    return report


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


class TaskCollector(pytest.Collector):
    """Base of what yields task items; tells mistakes in one message, without a traceback."""

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each task and trial."""
        from ..errors import TauError
        from .active import active_of

        try:
            active = active_of(self.config)
            cases, trials = self.cases(active), self.trials(active)
        except (TauError, pytest.UsageError) as error:
            self.stash[_MISTAKEN] = True
            raise self.CollectError(str(error)) from error
        fixtures = None
        for case in cases:
            for trial in range(trials):
                item = TauItem.of(self, case, trial, fixtures)
                fixtures = item._fixtureinfo  # noqa: SLF001 - the same for every item, and slow to find
                yield item

    def cases(self, active: Active) -> list[Case]:
        """The tasks to be run."""
        raise NotImplementedError

    def trials(self, active: Active) -> int:
        """How many trials of each task."""
        raise NotImplementedError


class TaskFile(pytest.File, TaskCollector):
    """A file of tasks."""

    def cases(self, active: Active) -> list[Case]:
        """The file's tasks, on the domain that the file, the command line or the folder names."""
        from ..models import in_split, load_task_file

        content = load_task_file(self.path)
        domain = active.domain(self._domain_name(active, content))
        tasks = in_split(content.tasks, active.config.split, self.path) if active.config.split else content.tasks
        return active.cases(tasks, domain, active.config, self.path)

    def trials(self, active: Active) -> int:
        """The run's trials, and up to one that the command line names."""
        return max([active.config.trials, *(trial + 1 for trial in self._named_trials())])

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

    def _named_trials(self) -> Iterator[int]:
        for argument in self.config.args:
            path = Path(self.config.invocation_params.dir, argument.split("::")[0])
            found = _NAMED_TRIAL.search(argument)
            if found and path == self.path:
                yield int(found[1])


class DomainCollector(TaskCollector):
    """The tasks of a domain that was named, instead of a file's. ``wanted`` narrows them to node ids."""

    wanted: tuple[str, ...] = ()

    @classmethod
    def of(cls, session: pytest.Session, name: str, wanted: tuple[str, ...]) -> DomainCollector:
        """The collector of a domain."""
        path = Path(session.config.invocation_params.dir, name)
        collector: DomainCollector = cls.from_parent(session, name=name, path=path, nodeid=name)
        collector.wanted = wanted
        return collector

    def cases(self, active: Active) -> list[Case]:
        """The domain's tasks that the settings select."""
        return _checked(self.config, self.name, self.wanted)

    def trials(self, active: Active) -> int:
        """The run's trials, and up to one that a node id names."""
        named = [int(found[1]) + 1 for found in map(_NAMED_TRIAL.search, self.wanted) if found]
        return max([active.config.trials, *named])

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

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        """The failure, explained."""
        from .failure import represent

        return represent(self, excinfo) or super().repr_failure(excinfo, *args, **kwargs)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise tests that use the tau fixtures, by their marker and the run's settings."""
    if "_tau_case" not in metafunc.fixturenames:
        return
    from ..errors import TauError
    from ..runner import item_id
    from .active import active_of

    marker = metafunc.definition.get_closest_marker("tau")
    try:
        cases = _marked_cases(active_of(metafunc.config), dict(marker.kwargs) if marker else {})
    except (TauError, pytest.UsageError) as error:
        if metafunc.definition.parent is not None:
            metafunc.definition.parent.stash[_MISTAKEN] = True
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from error
    metafunc.parametrize("_tau_case", cases, ids=[item_id(case.task.id) for case in cases], indirect=True)
    if "tau_trial" in metafunc.fixturenames:
        trials = range(cases[0].config.trials)
        metafunc.parametrize("tau_trial", trials, ids=[f"trial-{trial}" for trial in trials], indirect=True)


def _marked_cases(active: Active, wanted: dict[str, Any]) -> list[Case]:
    unknown = sorted(set(wanted) - set(_MARKER_KEYS))
    if unknown:
        raise pytest.UsageError(f"marker tau has no {unknown[0]!r}; it has {', '.join(_MARKER_KEYS)}")
    config = active.config
    name = wanted.get("domain") or (config.domains[0] if len(config.domains) == 1 else None)
    if name is None:
        raise pytest.UsageError("which domain? Mark the test with @pytest.mark.tau(domain=…), or give --tau-domain")
    given = {key: wanted[key] for key in ("split", "num_tasks", "trials", "agent", "user") if key in wanted}
    config = replace(config, domains=(name,), **given)
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
        cases = active.cases(domain.tasks(None), domain, replace(active.config, domains=(name,)))
    except TauError as error:
        raise pytest.UsageError(str(error)) from error
    for named in wanted:
        if not any(_names(case, named) for case in cases):
            raise pytest.UsageError(f"not found: {name}::{named}")
    return [case for case in cases if any(_names(case, named) for named in wanted)]


def _names(case: Case, named: str) -> bool:
    from ..runner import item_id

    return _NAMED_TRIAL.sub("", named) in (case.task.id, item_id(case.task.id))


def _is_named(item: pytest.Item, wanted: str) -> bool:
    if not isinstance(item, TauItem) or not _names(item.case, wanted):
        return False
    trial = _NAMED_TRIAL.search(wanted)
    return trial is None or int(trial[1]) == item.trial


def _selection(config: pytest.Config) -> dict[str, tuple[str, ...]]:
    """The domains that are collected as wholes, or with the node ids that were named of them."""
    named = _domain_arguments(config)
    if not named:
        return {} if _paths_given(config) else dict.fromkeys(named_domains(config), ())
    selection: dict[str, tuple[str, ...]] = {}
    for argument in named:
        name, _, node = argument.partition("::")
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
    return [argument for argument in found if argument.split("::")[0] in known]


def _paths_given(config: pytest.Config) -> bool:
    return config.args_source is pytest.Config.ArgsSource.ARGS
