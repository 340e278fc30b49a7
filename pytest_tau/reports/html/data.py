"""Content of the page, gathered one simulation at a time: facts stay in memory, conversations are written at once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ...analysis.columns import COLUMNS
from ...diagnosis.attribution import annotate_failure
from ...environment import canonical
from ...errors import ConfigurationError
from ...files import digest
from ...regrade.recognition import recognise_domain, worked_alone
from ...runs.groups import distinguish, find_variants, match_groups
from ...runs.record import TrialRecord
from ...runs.results.files import ResultFile
from .conversation import conversation, fingerprints, first_difference
from .environment_changes import StateHistories
from .json_text import without_keys
from .overview import about, agent_name, comparisons, counts, rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...analysis.columns import Column
    from ...environment import Domain
    from ...models import Simulation, Task
    from ...regrade.recognition import DomainSource
    from ...runs.groups import Group
    from ...runs.reader import Run, StoredTrial
    from .blocks import ConversationBlocks

#: What a row of the table has, in this order: each column by the name that it has in the page.
FIELDS = tuple(each.page.name for each in COLUMNS if each.page and each.page.kind != "domain")


class _Facts(NamedTuple):
    """A simulation without its conversation, but with the fingerprints of its messages."""

    record: TrialRecord
    fingerprints: bytes


def gather(runs: Sequence[Run], domains: DomainSource, blocks: ConversationBlocks) -> dict[str, Any]:
    """Return everything that the page shows before a conversation is opened, as JSON.

    Args:
        runs: One, or two that are compared.
        domains: The source of domains, for the changes of environments.
        blocks: Takes the conversations.

    Raises:
        ConfigurationError: A run that cannot be read.
        OSError: A file cannot be opened, or the blocks cannot be written.
    """
    tables = _Tables()
    gathered = [_Gatherer(run, domains, compared=len(runs) > 1) for run in runs]
    shown = []
    for number, gatherer in enumerate(gathered):
        facts = gatherer.gather(number, blocks)
        records = [one.record for one in facts]
        run, names = gatherer.run, _Names([record.group for record in records])
        shown.append(
            {
                "name": run.name,
                "agent": agent_name(run, records),
                "about": about(run, records),
                "counts": counts(run, records),
                "rates": rates(records),
                "comparisons": comparisons(records),
                "kept": gatherer.kept,
                "rows": [tables.row(one, names) for one in facts],
                "problems": [without_keys(problem) for problem in run.problems],
            }
        )
        gatherer.facts = facts
    return {
        "runs": shown,
        "fields": FIELDS,
        "columns": page_columns([one.record for gatherer in gathered for one in gatherer.facts]),
        "tasks": tables.tasks,
        "checks": tables.checks,
        "block": blocks.size,
        "pairs": _pairs(*(gatherer.facts for gatherer in gathered)) if len(runs) == 2 else None,
    }


class _Gatherer:
    """Reads one run."""

    def __init__(self, run: Run, domains: DomainSource, *, compared: bool) -> None:
        self.run, self._compared = run, compared
        self.kept, self.facts = True, list[_Facts]()
        self._domains = domains
        self._loaded: dict[str, Domain | str] = {}
        self._recognised: str | None = None
        # Equal tasks become one object, as a domain computes the reference state of each object once.
        self._tasks: dict[str, Task] = {}
        self._last: tuple[Task, Task] | None = None
        self._histories = StateHistories()

    def gather(self, number: int, blocks: ConversationBlocks) -> list[_Facts]:
        """Return the facts of the run's simulations in order; the conversations go to the blocks."""
        facts: list[_Facts] = []
        try:
            for trial in self.run.trials():
                name = self._domain_name(trial)
                task, domain = self._one_object(trial.task), self._domain(name)
                _annotate(trial.simulation, task, domain)
                facts.append(self._facts(trial, name))
                shown = conversation(trial.simulation, task, domain, self._histories)
                blocks.add(number, {**shown, "test": trial.test} if trial.test else shown)
        except ConfigurationError:
            if facts:
                raise
            self.kept = False  # a baseline consists of records
            facts = [_Facts(record, b"") for record in self.run.records()]
        blocks.end(number)
        return facts

    def _facts(self, trial: StoredTrial, domain: str) -> _Facts:
        simulation = trial.simulation
        record = TrialRecord.of(simulation, trial.task, domain, trial.test)
        return _Facts(record, fingerprints(simulation.messages) if self._compared else b"")

    def _one_object(self, task: Task | None) -> Task | None:
        if task is None:
            return None
        # The trials of a task mostly follow each other, and have its very object.
        if self._last is None or self._last[0] is not task:
            self._last = task, self._tasks.setdefault(digest(canonical(task)), task)
        return self._last[1]

    def _domain_name(self, trial: StoredTrial) -> str:
        if trial.domain or not self.run.path.is_file():
            return trial.domain
        if self._recognised is None:
            self._recognised = recognise_domain(ResultFile.scan(self.run.path).called, self._domains) or ""
        return self._recognised

    def _domain(self, name: str) -> Domain | str:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Domain | str:
        if not name:
            return "the domain is not known"
        try:
            return self._domains.load(name)
        except ConfigurationError as error:
            return str(error)


def _annotate(simulation: Simulation, task: Task | None, domain: Domain | str) -> None:
    """Have a failure's turning point and fault, also where whoever ran it did not look for them."""
    known = "blame" in (simulation.info or {})
    if not known and task is not None and not isinstance(domain, str):
        annotate_failure(simulation, task, domain, solo=worked_alone(simulation, domain))


def page_columns(records: Sequence[TrialRecord]) -> list[dict[str, Any]]:
    """Return the columns of the page's table, in order, with the parts that are shown in brackets after a value."""
    shown = [
        each
        for each in COLUMNS
        if each.page
        and each.page.kind != "data"
        and not (each.page.optional and all(each.value(record) in (None, "") for record in records))
    ]
    found = []
    for column in sorted(shown, key=lambda each: not (each.page and each.page.first)):
        parts = [[each.page.name, each.unit] for each in COLUMNS if each.page and each.part_of == column.name]
        assert column.page is not None
        name, kind, label = column.page[:3]
        found.append({"name": name, "kind": kind, "label": label, "unit": column.unit, "parts": parts})
    return found


class _Names:
    """The names of the groups of a run: what distinguishes tasks of one id, and the variants of its tests."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.differences, self.variants = distinguish(groups), find_variants(groups)


class _Tables:
    """Texts that many rows have in common, each once."""

    def __init__(self) -> None:
        self.tasks: list[list[Any]] = []
        self.checks: list[str] = []
        self._task_places: dict[tuple[str, str], int] = {}
        self._check_places: dict[str, int] = {}

    def row(self, facts: _Facts, names: _Names) -> list[Any]:
        """Return a row's values, in the order of ``FIELDS``.

        Args:
            facts: The simulation.
            names: The names of the groups of its run.
        """
        return [self._cell(each, facts, names) for each in COLUMNS if each.page and each.page.name in FIELDS]

    def _cell(self, column: Column, facts: _Facts, names: _Names) -> Any:
        record, kind = facts.record, column.page and column.page.kind
        if kind == "task":
            return self._task(record, names)
        if kind == "checks":
            return [self._check(text) for text in record.failed_checks]
        value = column.value(record)
        if kind == "seconds":
            return round(value, 2) or None
        if kind == "text":
            return value or None
        return round(value, 6) if kind in ("score", "money") and value is not None else value

    def _task(self, record: TrialRecord, names: _Names) -> int:
        difference, variant = names.differences[record.group], names.variants.get(record.group.variant)
        key = (record.domain, record.task_id + (f" [{difference}]" if difference else ""))
        if key not in self._task_places:
            self._task_places[key] = len(self.tasks)
            self.tasks.append([*key, {**({"variant": variant} if variant else {}), **record.groups}])
        return self._task_places[key]

    def _check(self, text: str) -> int:
        if text not in self._check_places:
            self._check_places[text] = len(self.checks)
            self.checks.append(text)
        return self._check_places[text]


def _pairs(first: Sequence[_Facts], second: Sequence[_Facts]) -> list[list[int | None]]:
    """Return the pairs of trials: their places in both runs, and the message at which they first differ."""
    groups = [[one.record.group for one in facts] for facts in (first, second)]
    matched = {before: after for after, before in match_groups(*groups).items()}
    places: tuple[dict[Any, int], dict[Any, int]] = (
        dict(_keyed((one.record for one in first), matched)),
        dict(_keyed((one.record for one in second), {})),
    )
    pairs: list[list[int | None]] = []
    for key in dict.fromkeys([*places[0], *places[1]]):
        here, there = places[0].get(key), places[1].get(key)
        parts = None
        if here is not None and there is not None and first[here].fingerprints and second[there].fingerprints:
            parts = first_difference(first[here].fingerprints, second[there].fingerprints)
        pairs.append([here, there, parts])
    return pairs


def _keyed(records: Iterator[TrialRecord], groups: Mapping[Group, Group]) -> Iterator[tuple[Any, int]]:
    """Yield group, trial and place of each record; a trial that a run has several times is numbered."""
    seen: Counter[Any] = Counter()
    for place, record in enumerate(records):
        key = (groups.get(record.group, record.group), record.trial)
        yield (*key, seen[key]), place
        seen[key] += 1
