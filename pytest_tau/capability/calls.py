"""What the core asks of all capabilities: their columns, and their parts of reports."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConfigurationError
from ..models.json_values import not_json
from ..settings import changed_values
from . import PROBLEM, FactColumn
from .containing import is_contained, problem_of
from .views import Detail, Finding, LateDetail, Measured, PageBlock, TaskBlock, TaskPages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ..environment import DomainSpec
    from ..models import Simulation
    from . import ActiveCapability, Capability


def summary_lines(
    capabilities: Iterable[Capability],
    records: Sequence[Any],
    *,
    asked: Collection[str] = (),
    everything: bool = False,
    terminal: bool = False,
    brief: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield the lines of the summary, each after the label of its capability.

    Args:
        capabilities: The capabilities.
        records: Records of trials.
        asked: The names of the capabilities whose details are shown.
        everything: Whether the details of all are.
        terminal: Whether the terminal shows them.
        brief: Whether only findings are shown of the capabilities whose details are not.
    """
    for each in capabilities:
        having = [record for record in records if each.name in record.facts]
        measured = measured_by(each, having)
        if each.summary is not None and measured:
            texts = _summary(each, measured, detailed=everything or each.name in asked, brief=brief)
            yield from ((each.label, text) for text in texts if text and (terminal or not text.startswith(" ")))
        if not brief or each.name in asked:
            yield from problem_lines([each], having, len(records))


def problem_lines(capabilities: Iterable[Capability], records: Sequence[Any], trials: int) -> Iterator[tuple[str, str]]:
    """Yield a line for each capability that has no facts of trials, after its label.

    Args:
        capabilities: The capabilities.
        records: Records of trials.
        trials: The number of trials that are named as all.
    """
    for each in capabilities:
        stored = [record.facts.get(each.name) for record in records]
        problems = [facts[PROBLEM] for facts in stored if isinstance(facts, dict) and PROBLEM in facts]
        if problems:
            yield each.label, f"no facts of {len(problems)} of {trials} trials: {problems[0]}"


def _summary(capability: Capability, measured: Sequence[Measured], *, detailed: bool, brief: bool) -> list[str]:
    """Return the lines of the summary of a capability; an exception is one of them."""
    assert capability.summary is not None, "it has a summary"

    def summarised() -> Iterator[str]:
        for line in capability.summary(measured) if capability.summary else ():
            if detailed or _is_shown(line, brief=brief):
                yield line.make() if isinstance(line, LateDetail) else line

    return lines_of("summary", summarised)


def lines_of(stage: str, make: Callable[[], Iterable[str]]) -> list[str]:
    """Return the lines that code of a capability makes; an exception is the last of them.

    Args:
        stage: What makes them, for that line.
        make: Makes them.
    """
    lines: list[str] = []
    try:
        made = make()
        for line in [made] if isinstance(made, str) else made:
            if not isinstance(line, str):
                raise TypeError(f"expected lines of text, got {type(line).__name__}")  # noqa: TRY301
            lines.append(line)
    except BaseException as error:
        if not is_contained(error):
            raise
        lines.append(problem_of(error, stage))
    return lines


def _is_shown(line: str | LateDetail, *, brief: bool) -> bool:
    return isinstance(line, Finding) if brief else not isinstance(line, Detail | LateDetail)


def measured_by(capability: Capability, records: Iterable[Any]) -> list[Measured]:
    """Return the trials that have facts of a capability."""
    return [Measured(each, facts) for each in records if (facts := capability.read(each.facts)) is not None]


def failure_lines(
    capabilities: Iterable[Capability], simulation: Simulation, asked: Collection[str] = ()
) -> Iterator[str]:
    """Yield the lines of the report of a trial, each with the label of its capability before it.

    Args:
        capabilities: The capabilities.
        simulation: The simulation.
        asked: The names of the capabilities whose details are shown.
    """
    for each in capabilities:
        facts = each.read(simulation.facts) if each.failure is not None else None
        if each.failure is not None and facts is not None:
            for line in lines_of("failure", partial(each.failure, facts, simulation)):
                if each.name in asked or not isinstance(line, Detail):
                    yield f"{each.label}: {line}"
        elif isinstance(found := simulation.facts.get(each.name), dict) and PROBLEM in found:
            yield f"{each.label}: {found[PROBLEM]}"


def page_blocks(capabilities: Iterable[Capability], simulation: Simulation) -> Iterator[tuple[str, PageBlock]]:
    """Yield the blocks of the HTML report for a trial, each with the name of its capability."""
    for each in capabilities:
        if each.page is None or each.name not in simulation.facts:
            continue
        try:
            facts = each.read(simulation.facts)
            found = [] if facts is None else [*each.page(facts, simulation)]
            for block in found:
                _check_block(block)
        except BaseException as error:
            if not is_contained(error):
                raise
            found = [PageBlock(each.label, text=f"cannot be shown: {problem_of(error)}")]
        yield from ((each.name, block) for block in found)


class TasksShown:
    """What capabilities show of the tasks of an HTML report; one whose code raises has a problem instead.

    Args:
        capabilities: The capabilities.
        domains: The source of domains, a ``pytest_tau.regrade.DomainSource``.
    """

    def __init__(self, capabilities: Iterable[Capability], domains: Any) -> None:
        self._domains = domains
        self._pages: dict[Capability, TaskPages | None] = {
            each: None for each in capabilities if each.tasks is not None
        }
        self._problems: list[tuple[str, TaskBlock]] = []

    def add(self, run: Any, trial: Any, domain: str) -> None:
        """Add a simulation of a run, with the name of its domain."""
        for each in [*self._pages]:
            with self._contained(each):
                self._page_of(each).add(run, trial, domain)

    def blocks(self) -> list[tuple[str, TaskBlock]]:
        """Return the blocks, each with the name of its capability; a problem is a block without simulations."""
        shown: list[tuple[str, TaskBlock]] = []
        for each in [*self._pages]:
            with self._contained(each):
                blocks = [*self._page_of(each).blocks()]
                for block in blocks:
                    _check_block(block.block)
                shown += [(each.name, block) for block in blocks]
        return [*shown, *self._problems]

    def _page_of(self, capability: Capability) -> TaskPages:
        page = self._pages[capability]
        if page is None:
            assert capability.tasks is not None
            page = self._pages[capability] = capability.tasks(self._domains)
        return page

    @contextlib.contextmanager
    def _contained(self, capability: Capability) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if not is_contained(error):
                raise
            block = PageBlock(capability.label, text=f"cannot be shown: {problem_of(error)}")
            self._problems.append((capability.name, TaskBlock(block, ())))
            del self._pages[capability]


def _check_block(block: Any) -> None:
    """Check what the page shows of a block.

    Raises:
        TypeError: It is not a block, or has a value of another type.
    """
    if not isinstance(block, PageBlock):
        raise TypeError(f"expected a PageBlock, got {type(block).__name__}")
    texts: list[Any] = [block.title, block.note, block.text, *(value for _, value in block.rows)]
    texts += [text for item in block.items for text in (item.text, item.head, item.note)]
    if wrong := next((text for text in texts if not isinstance(text, str)), None):
        raise TypeError(f"expected texts, got {type(wrong).__name__}")
    if problem := not_json(block.data, "data"):
        raise TypeError(problem)


def recorded(active: Iterable[ActiveCapability]) -> dict[str, dict[str, Any]]:
    """Return what ``run.json`` records of the capabilities of a run, by name: settings and columns, if it has any."""
    return {
        each.capability.name: {
            "settings": {row.setting: value for row, value in changed_values(each.settings)},
            "columns": [_given(column) for column in each.capability.columns],
        }
        for each in active
        if each.capability.columns or each.is_asked_for
    }


def _given(column: FactColumn) -> dict[str, Any]:
    """Return the fields of a column that are not their defaults, so that most is never infinity, which JSON lacks."""
    return {name: value for name, value in vars(column).items() if value != getattr(FactColumn, name, None)}


class NamedColumn(NamedTuple):
    """A column, and the capability whose facts it shows.

    Attributes:
        capability: The name of the capability.
        column: The column.
        key: The key of the field, for a metric that is a part of the column.
    """

    capability: str
    column: FactColumn
    key: str | None = None

    @property
    def is_of_keys(self) -> bool:
        """Return whether it is shown nowhere, and each key of its field is a metric."""
        return self.column.name.endswith(".*")

    def of_key(self, metric: str) -> NamedColumn | None:
        """Return the column of the key that a metric names; None if it names none."""
        start = self.column.name.removesuffix("*")
        return self._replace(key=metric.removeprefix(start)) if self.is_of_keys and metric.startswith(start) else None

    def value(self, facts: Mapping[str, Any]) -> Any:
        """Return the value of a trial, given the facts of all capabilities; None if it is not known."""
        found = facts.get(self.capability)
        found = found.get(self.column.field or self.column.name) if isinstance(found, dict) else None
        return found if self.key is None else (found or {}).get(self.key)

    def events(self, facts: Mapping[str, Any]) -> Any:
        """Return the events of a trial: their number, or the list of their values; None if there are none."""
        found = facts.get(self.capability)
        for key in self.column.events.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        return found


def columns_of(capabilities: Iterable[Capability]) -> list[NamedColumn]:
    """Return the columns of capabilities."""
    return [NamedColumn(each.name, column) for each in capabilities for column in each.columns]


def columns_in(info: Mapping[str, Any]) -> list[NamedColumn]:
    """Return the columns that a stored run has recorded, whether or not their capabilities are there."""
    columns = ((name, stored.get("columns")) for name, stored in recorded_in(info).items())
    return [
        NamedColumn(name, column)
        for name, found in columns
        for each in (found if isinstance(found, list) else ())
        if (column := _column(each)) is not None
    ]


_COLUMN = FactColumn.__annotations__.keys()


def recorded_in(info: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a stored run has recorded of capabilities, by name; others may have written the file."""
    found = info.get("capabilities")
    stored = found.items() if isinstance(found, dict) else ()
    return {name: each for name, each in stored if isinstance(each, dict)}


def changing_domains(run: Mapping[str, Any], capabilities: Iterable[Capability]) -> tuple[ActiveCapability, ...]:
    """Return the capabilities of a stored run that change its domains, with the settings that it has recorded.

    Args:
        run: The manifest of the run.
        capabilities: The capabilities that are known.

    Raises:
        ConfigurationError: The settings of one are of another version.
    """
    stored = {name: entry.get("settings") for name, entry in recorded_in(run).items()}
    active = []
    for each in capabilities:
        if each.domain is not None and (settings := stored.get(each.name)):
            try:
                active.append(each.with_settings(**settings))
            except TypeError as error:
                raise ConfigurationError(f"the run has other settings of {each.label}: {error}") from None
    return tuple(active)


def spec_in_run(spec: DomainSpec, data_dir: Path | None, active: Iterable[ActiveCapability]) -> DomainSpec:
    """Return the declaration of a domain as a run with these capabilities has it."""
    for each in active:
        if each.capability.domain is not None:
            spec = each.capability.domain(each.settings, spec, data_dir)
    return spec


def _column(stored: Any) -> FactColumn | None:
    """Return a stored column; None if it is of another version."""
    if not isinstance(stored, dict) or not isinstance(stored.get("name"), str) or not stored.keys() <= _COLUMN:
        return None
    return FactColumn(**stored)
