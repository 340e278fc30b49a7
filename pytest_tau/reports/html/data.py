"""Content of the page that is not packed: the facts of its runs and of their simulations."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from ...analysis.columns import with_facts
from ...capability.calls import TasksShown
from ...errors import ConfigurationError
from ...masking import mask_secrets
from ...runs.groups import distinguish, find_variants, match_groups
from ...runs.manifest import agent_name
from .blocks import BLOCK, ConversationBlocks
from .capability_blocks import ShownBlocks
from .conversation import first_difference
from .gathering import Facts, Gatherer
from .overview import about, comparisons, counts, rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ...analysis.columns import Column
    from ...capability import Capability
    from ...regrade.recognition import DomainSource
    from ...runs.groups import Group
    from ...runs.reader import Run
    from ...runs.record import TrialRecord


def gather(
    runs: Sequence[Run], domains: DomainSource, file: IO[bytes], capabilities: Sequence[Capability], folder: Path
) -> tuple[dict[str, Any], list[Path]]:
    """Return everything that the page shows before a conversation is opened, as JSON, and the scripts of its blocks.

    Args:
        runs: One, or two that are compared.
        domains: The source of domains, for the changes of environments.
        file: The file that the conversations are written to.
        capabilities: The capabilities of the runs.
        folder: The folder of the page, for addresses of files.

    Raises:
        ConfigurationError: A run that cannot be read.
        OSError: A file cannot be opened, or the conversations cannot be written.
    """
    columns = with_facts(column for run in runs for column in run.fact_columns)
    tables, tasks = _Tables(columns), TasksShown(capabilities, domains)
    run_documents, gathered, blocks = [], list[list[Facts]](), ShownBlocks(capabilities, folder)
    for number, run in enumerate(runs):
        gatherer = Gatherer(run, domains, blocks, compared=len(runs) > 1, tasks=tasks)
        has_conversations, facts = _gather_run(gatherer, ConversationBlocks(file, number))
        records = [trial_facts.record for trial_facts in facts]
        names = _Names([record.group for record in records])
        run_documents.append(
            {
                "name": run.name,
                "agent": agent_name(run.info, records),
                "about": about(run, records, capabilities),
                "counts": counts(run, records),
                "rates": rates(records),
                "comparisons": comparisons(records),
                "kept": has_conversations,
                "rows": [tables.row(trial_facts, names) for trial_facts in facts],
                "problems": [mask_secrets(problem) for problem in run.problems],
            }
        )
        gathered.append(facts)
    document = {
        "runs": run_documents,
        "fields": tables.fields,
        "columns": page_columns(columns, [trial_facts.record for facts in gathered for trial_facts in facts]),
        "tasks": tables.tasks,
        "texts": tables.texts,
        "taskBlocks": _task_blocks(tasks, gathered, blocks),
        "block": BLOCK,
        "pairs": _pairs(*gathered) if len(runs) == 2 else None,
    }
    return document, list(blocks.scripts)


def _gather_run(gatherer: Gatherer, blocks: ConversationBlocks) -> tuple[bool, list[Facts]]:
    """Return whether a run has conversations, and the facts of its simulations in order.

    Raises:
        ConfigurationError: The run cannot be read.
        OSError: A file cannot be opened, or the conversations cannot be written.
    """
    facts: list[Facts] = []
    try:
        facts.extend(gatherer.gather(blocks))
    except ConfigurationError:
        if facts:
            raise
        # A baseline consists of records.
        return False, [Facts(record, b"") for record in gatherer.run.records()]
    return True, facts


def page_columns(columns: Sequence[Column], records: Sequence[TrialRecord]) -> list[dict[str, Any]]:
    """Return the columns of the page's table, in order, with the parts that are shown in brackets after a value."""
    shown_columns = [
        column
        for column in columns
        if column.page
        and column.page.kind != "data"
        and not (column.page.optional and all(column.value(record) in (None, "") for record in records))
    ]
    described = []
    for column in sorted(shown_columns, key=lambda column: not (column.page and column.page.first)):
        parts = [[part.page.name, part.unit] for part in columns if part.page and part.part_of == column.name]
        assert column.page is not None
        name, kind, label = column.page[:3]
        described.append({"name": name, "kind": kind, "label": label, "unit": column.unit, "parts": parts})
    return described


def _task_blocks(tasks: TasksShown, gathered: Sequence[Sequence[Facts]], blocks: ShownBlocks) -> list[dict[str, Any]]:
    """Return the blocks of tasks, each with the places of its simulations: those of the run, and of the row in it."""
    places: dict[str, tuple[int, int]] = {}
    for run, rows in enumerate(gathered):
        for row, facts in enumerate(rows):
            places.setdefault(facts.simulation, (run, row))
    return [
        {**document, "simulations": [places[simulation] for simulation in block.simulations if simulation in places]}
        for name, block in tasks.blocks()
        for document in blocks.as_json([(name, block.block._replace(place="box"))])
    ]


class _Names:
    """The names of the groups of a run: what distinguishes tasks of one id, and the variants of its tests."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.differences, self.variants = distinguish(groups), find_variants(groups)


class _Tables:
    """Texts that many rows have in common, each once."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = [column for column in columns if column.page and column.page.kind != "domain"]
        #: What a row has, in this order: each column by the name that it has in the page.
        self.fields = [*(column.page.name for column in self._columns if column.page), "brief"]
        self.tasks: list[list[Any]] = []
        self.texts: list[str] = []
        self._task_places: dict[tuple[str, str], int] = {}
        self._text_places: dict[str, int] = {}

    def row(self, facts: Facts, names: _Names) -> list[Any]:
        """Return a row's values, in the order of ``fields``.

        Args:
            facts: The simulation.
            names: The names of the groups of its run.
        """
        brief = None if facts.brief is None else self._text(mask_secrets(facts.brief))
        return [*(self._cell(column, facts, names) for column in self._columns), brief]

    def _cell(self, column: Column, facts: Facts, names: _Names) -> Any:
        record, kind = facts.record, column.page and column.page.kind
        if kind == "task":
            return self._task(record, names)
        if kind == "checks":
            return [self._text(text) for text in record.failed_checks]
        value = column.value(record)
        if kind == "seconds":
            return round(value, 2) if value and value >= 1 else float(f"{value or 0:.2g}") or None
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

    def _text(self, text: str) -> int:
        if text not in self._text_places:
            self._text_places[text] = len(self.texts)
            self.texts.append(text)
        return self._text_places[text]


def _pairs(first: Sequence[Facts], second: Sequence[Facts]) -> list[list[int | None]]:
    """Return the pairs of trials: their places in both runs, and the message at which they first differ."""
    groups = [[trial_facts.record.group for trial_facts in facts] for facts in (first, second)]
    matched = {before: after for after, before in match_groups(*groups).items()}
    places: tuple[dict[Any, int], dict[Any, int]] = (
        dict(_keyed((trial_facts.record for trial_facts in first), matched)),
        dict(_keyed((trial_facts.record for trial_facts in second), {})),
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
