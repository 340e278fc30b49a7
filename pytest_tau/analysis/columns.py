"""The columns of a trial: each fact with its name, its value, and every place that shows it.

CSV exports, the table of the HTML report, what the summary says of a trial, and the metrics of gates are made of this
table and of the columns of capabilities. A new column of the core is a line here, and the field of ``TrialRecord`` that
its value is recorded in.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..evaluation import COMPONENTS
from ..runs.record import GROUPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..capability.calls import NamedColumn
    from ..models import ModelUsage, Simulation
    from ..runs.record import TrialRecord

    Value: TypeAlias = Callable[[TrialRecord], Any]

#: How the page shows a value: a count, USD, seconds, a reward, or in a way of its own. ``data`` has no column there; it
#: is what charts and filters need.
Kind: TypeAlias = Literal[
    "number",
    "money",
    "seconds",
    "score",
    "kept",
    "outcome",
    "domain",
    "task",
    "trial",
    "ended",
    "text",
    "checks",
    "data",
]
_ROLES = ("agent", "user", "judge")
_REPLIES = ("cached_tokens", "cut_replies", "filtered_replies", "timeouts")


class PageColumn(NamedTuple):
    """A column in the HTML report.

    Attributes:
        name: The name in the page.
        kind: How a value is shown.
        label: The head of the column.
        first: Whether the column comes before all others.
        optional: Whether the column is shown only if a trial has a value.
    """

    name: str
    kind: Kind = "data"
    label: str = ""
    first: bool = False
    optional: bool = False


class MeanMetric(NamedTuple):
    """The metric of gates that is a column's mean over the trials that have a verdict.

    Attributes:
        name: The name in gates.
        most: The largest value that a trial can have.
        value: The value, if it is not that of the column.
        counts: Whether a trial that has a verdict counts; by default all do, and one without a value makes the mean
            unknown.
        lacking: Why there is no value if no trial counts.
        every: Whether trials that are excluded from rates count, too.
        apart: The variants that count instead of all others (``FactColumn.apart``).
        events: The events of a trial, if the metric is over events: their number, or the list of their values.
        percent: The percentile of the values of events that the metric is; 0 for their mean.
    """

    name: str
    most: float = inf
    value: Callable[[TrialRecord], float | None] | None = None
    counts: Callable[[TrialRecord], bool] | None = None
    lacking: str = ""
    every: bool = False
    apart: str = ""
    events: Callable[[TrialRecord], Any] | None = None
    percent: int = 0


@dataclass(frozen=True)
class Column:
    """A fact of a trial.

    Attributes:
        name: The name, in CSV and in Python.
        value: The value; None if it is not known.
        from_simulation: The value in CSV, if it takes the simulation to know it.
        exported: Whether CSV has the column.
        page: How the HTML report has it; None if it does not.
        metric: The metric of gates that is its mean.
        unit: What one of it is called. The summary shows the mean of a column that has one, as in ``4.5 turns``.
        part_of: The column that it is a part of: it is shown in brackets after that one, if it is not 0.
    """

    name: str
    value: Value = lambda _: None
    from_simulation: Callable[[Simulation], Any] | None = None
    exported: bool = True
    page: PageColumn | None = None
    metric: MeanMetric | None = None
    unit: str = ""
    part_of: str = ""

    def cell(self, record: TrialRecord, simulation: Simulation) -> Any:
        """Return the value in CSV."""
        return self.from_simulation(simulation) if self.from_simulation else self.value(record)


def _ended(record: TrialRecord) -> str:
    return f"{record.termination_reason} {record.stop_token}" if record.stop_token else record.termination_reason


def _spent(record: TrialRecord) -> float | None:
    return None if record.unpriced_calls else record.known_cost


def _component(name: str) -> Value:
    return lambda record: record.breakdown.get(name)


def _group(name: str) -> Value:
    return lambda record: record.groups.get(name)


def _blame(name: str) -> Value:
    def text(record: TrialRecord) -> str | None:
        text: str | None = getattr(record.info.blame, name, None)
        return text

    return text


def _of_role(role: str, value: Callable[[ModelUsage], Any]) -> Value:
    return lambda record: value(record.model_usage[role]) if role in record.model_usage else None


def _of_all_roles(name: str) -> Value:
    return lambda record: (
        sum(getattr(used, name) for used in record.model_usage.values()) if record.model_usage else None
    )


#: The columns of the core.
COLUMNS: tuple[Column, ...] = (
    Column("domain", lambda record: record.domain, page=PageColumn("domain", "domain", "Domain")),
    Column("task_id", lambda record: record.task_id, page=PageColumn("task", "task", "Task")),
    Column("trial", lambda record: record.trial, page=PageColumn("trial", "trial", "Trial")),
    Column("seed", lambda record: record.seed),
    Column("outcome", lambda record: record.outcome, page=PageColumn("outcome", "outcome", "Outcome", first=True)),
    Column(
        "reward",
        lambda record: record.reward,
        from_simulation=lambda simulation: simulation.reward if simulation.reward_info else None,
        page=PageColumn("reward", "score", "Reward"),
        metric=MeanMetric("reward", most=1.0),
    ),
    *(Column(f"reward_{name.lower()}", _component(name)) for name in (component.name for component in COMPONENTS)),
    Column("ended", _ended, exported=False, page=PageColumn("ended", "ended", "Ended")),
    Column(
        "failed_checks",
        lambda record: "; ".join(record.failed_checks),
        page=PageColumn("failed", "checks", "What failed"),
    ),
    Column("reached_outcome", lambda record: record.reached_outcome),
    Column("excluded", lambda record: record.excluded is not None),
    Column("attempts", lambda record: record.attempts),
    Column("termination_reason", lambda record: record.termination_reason),
    Column("stop_token", lambda record: record.stop_token),
    Column("error", lambda record: record.error),
    Column("messages", lambda record: record.messages, page=PageColumn("messages")),
    Column(
        "turns",
        lambda record: record.turns,
        page=PageColumn("turns", "number", "Turns"),
        metric=MeanMetric("turns"),
        unit="turn",
    ),
    Column(
        "calls",
        lambda record: record.calls,
        page=PageColumn("calls", "number", "Calls"),
        metric=MeanMetric("calls"),
        unit="call",
    ),
    Column(
        "failed_calls",
        lambda record: record.failed_calls,
        page=PageColumn("failed_calls"),
        metric=MeanMetric("tool-errors"),
        unit="failed",
        part_of="calls",
    ),
    Column(
        "cost",
        lambda record: record.cost,
        exported=False,
        page=PageColumn("cost", "money", "Cost"),
        metric=MeanMetric("cost", value=_spent),
    ),
    Column(
        "seconds",
        lambda record: record.duration,
        from_simulation=lambda simulation: (
            simulation.duration if simulation.start_time or simulation.duration else None
        ),
        page=PageColumn("duration", "seconds", "Time"),
        metric=MeanMetric("duration"),
    ),
    Column("agent_cost", from_simulation=lambda simulation: simulation.agent_cost),
    Column("user_cost", from_simulation=lambda simulation: simulation.user_cost),
    Column("judge_cost", _of_role("judge", lambda used: used.cost)),
    *(Column(f"{role}_model", _of_role(role, lambda used: used.model)) for role in _ROLES),
    Column("model_calls", _of_all_roles("calls")),
    *(
        Column(name, _of_all_roles(name))
        for name in ("unpriced_calls", "prompt_tokens", "completion_tokens", *_REPLIES)
    ),
    *(Column(name if name != "actions" else "reference_actions", _group(name)) for name in GROUPS),
    Column("blame", _blame("party"), page=PageColumn("blame")),
    Column("blame_reason", _blame("reason")),
    Column("saw_reference", lambda record: "; ".join(record.info.saw_reference)),
    Column("simulation_id", from_simulation=lambda simulation: simulation.id),
    Column("test", lambda record: record.test),
)


def with_facts(columns: Iterable[NamedColumn]) -> tuple[Column, ...]:
    """Return the columns of the core, and those of capabilities, each name once."""
    known = {column.name for column in COLUMNS}
    chosen = {
        named_column.column.name: named_column
        for named_column in columns
        if named_column.column.name not in known and not named_column.is_of_keys
    }
    return (*COLUMNS, *map(column_of, chosen.values()))


def column_of(named_column: NamedColumn) -> Column:
    """Return the column of a fact."""
    column = named_column.column

    def value(record: TrialRecord) -> Any:
        return named_column.value(record.facts)

    kind: Any = column.kind
    return Column(
        column.name,
        value,
        page=PageColumn(column.name, kind, column.label, optional=True) if column.label else None,
        metric=MeanMetric(
            column.name,
            column.most,
            counts=lambda record: value(record) is not None,
            lacking=column.lacking or f"no trial has a value of {named_column.capability!r}",
            every=column.every,
            apart=column.apart,
            events=(lambda record: named_column.events(record.facts)) if column.events else None,
            percent=column.percent,
        )
        if column.metric
        else None,
    )
