"""Runs in the formats of other programs: one simulation at a time, whatever their number."""

from __future__ import annotations

import csv
import tempfile
import unicodedata
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any

from ..analysis.columns import COLUMNS, with_facts
from ..capability.calls import columns_in
from ..documents import parse_json
from ..models import writable
from ..plain import json
from ..runs.groups import Group
from ..runs.make_record import make_record
from ..runs.results.files import works_alone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models import Task
    from ..runs.reader import Run, StoredTrial

#: The reason of a trial that τ²-bench excludes from its rates.
LOST = "infrastructure_error"
#: What a program for tables takes for the beginning of a formula, also in full width as in East Asia, and after spaces,
#: control characters and characters that are not seen.
_FORMULA = ("=", "+", "-", "@")


@dataclass
class DomainContent:
    """Content of a run in one domain, without its conversations.

    Attributes:
        simulations: How many.
        trials: How many each task has at the most.
        started: When the first one began; empty if none has recorded it.
        tasks: The tasks by id, in the order in which they occur.
        changed: Ids of tasks of which the run has two versions.
        groups: The groups of the trials.
        retrieval: The name of the retrieval variant; None without a knowledge base.
        otherwise_right: Tasks of which a trial was graded by another right outcome than that of the reference actions.
        errors: How many trials of a run of ours ended in an error that τ²-bench would count as a failure of the agent.
    """

    simulations: int = 0
    trials: int = 0
    started: str = ""
    tasks: dict[str, Task] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    groups: set[Group] = field(default_factory=set)
    retrieval: str | None = None
    otherwise_right: set[str] = field(default_factory=set)
    errors: int = 0

    def add(self, trial: StoredTrial) -> None:
        """Count one."""
        simulation, task = trial.simulation, trial.task
        self.simulations += 1
        self.retrieval = self.retrieval or (simulation.conditions or {}).get("retrieval")
        self.groups.add(Group.of(trial.test, trial.domain, simulation.task_id))
        self.trials = max(self.trials, simulation.trial + 1)
        self.started = min(filter(None, (self.started, simulation.start_time)), default="")
        if (verdict := simulation.reward_info) is not None and verdict.reward and verdict.reached_outcome is not None:
            gates = not {"DB", "ACTION"}.isdisjoint(verdict.reward_basis or ())
            self.otherwise_right |= {simulation.task_id} if gates else set()
        if task is not None and self.tasks.setdefault(task.id, task) != task:
            self.changed.add(task.id)


def survey(run: Run) -> dict[str, DomainContent]:
    """Return the content of a run by domain; that of a file which names none is under the empty name.

    Raises:
        ConfigurationError: The run has no stored conversations.
        OSError: A file cannot be opened.
    """
    contents: dict[str, DomainContent] = {}
    for trial in run.trials():
        content = contents.setdefault(trial.domain, DomainContent())
        content.add(trial)
        content.errors += is_lost(run, trial)
    return contents


def is_lost(run: Run, trial: StoredTrial) -> bool:
    """Return whether a trial of ours ended in an error that τ²-bench would count as a failure of the agent."""
    simulation = trial.simulation
    is_own = bool(trial.test) or "environment_info" not in run.info
    counted = simulation.termination_reason != LOST or simulation.reward_info is not None
    return is_own and counted and simulation.outcome == "error"


def write_jsonl(run: Run, file: IO[str], domain: str | None = None) -> int:
    """Write each simulation as a JSON line, with its test, its domain and its task; returns how many.

    It is the format of a run's folder: every command that reads those reads this.
    """
    written = 0
    for trial in _of(run, domain):
        info = trial.simulation.info
        if works_alone(run.info):
            info = replace(info, solo=True)  # the line stands alone
        entry: dict[str, Any] = {"test": trial.test}
        entry |= {"domain": trial.domain} if trial.domain else {}
        entry |= trial.simulation.model_copy(update={"info": info}).model_dump(mode="json")
        if trial.task is not None:
            # As any: what is not known of the criteria is kept.
            entry["task"] = trial.task.model_dump(mode="json", exclude_none=True, serialize_as_any=True)
        file.write(as_json(entry) + "\n")
        written += 1
    return written


def as_json(value: Any) -> str:
    """Return JSON in one line that any file can store."""
    return writable(json.dumps(value, ensure_ascii=False))


def write_csv(run: Run, file: IO[str], domain: str | None = None) -> int:
    """Write a table with a row a simulation; returns how many.

    The columns of a capability of the run are there if a simulation has its facts; another column is if it has a value.

    Text that a program for tables would take for a formula begins with an apostrophe.

    Args:
        run: The run.
        file: The target, opened with ``newline=""``.
        domain: Only this one's.
    """
    table = csv.writer(file, lineterminator="\n")
    columns = [column for column in with_facts(run.fact_columns) if column.exported]
    shown_places = {place for place, column in enumerate(columns) if column in COLUMNS}
    capabilities = {named_column.column.name: named_column.capability for named_column in columns_in(run.info)}
    with_facts_of: set[str] = set()
    written = 0
    # Which columns are there is known at the end, and the rows of a large run are not kept in memory.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as rows:
        for trial in _of(run, domain):
            record = make_record(trial.simulation, trial.task, trial.domain, trial.test)
            row = [_text(column.cell(record, trial.simulation)) for column in columns]
            shown_places.update(place for place, cell in enumerate(row) if cell)
            with_facts_of.update(trial.simulation.facts)
            rows.write(json.dumps(row) + "\n")
            written += 1
        rows.seek(0)
        shown_places.update(
            place for place, column in enumerate(columns) if capabilities.get(column.name) in with_facts_of
        )
        places = sorted(shown_places)
        table.writerow(columns[place].name for place in places)
        table.writerows([row[place] for place in places] for row in map(parse_json, rows))
    return written


def _of(run: Run, domain: str | None) -> Iterator[StoredTrial]:
    return (trial for trial in run.trials() if domain is None or trial.domain == domain)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    # A lone carriage return would end the row: csv quotes only line ends as it writes them itself.
    text = writable(str(value)).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\\0")
    return f"'{text}" if _first_seen(text) in _FORMULA or text.startswith(("\t", "\n")) else text


def _first_seen(text: str) -> str:
    """Return the first character that is seen, in its usual width; none if no character is."""
    first = next((character for character in text if character.isprintable() and character != " "), "")
    return unicodedata.normalize("NFKC", first)[:1]
