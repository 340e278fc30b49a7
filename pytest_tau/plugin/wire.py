"""Everything that crosses between xdist's controller and its workers, and from an item to whoever reports it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict

if TYPE_CHECKING:
    import pytest

    from ..runs.record import TrialRecord

_KEY = "tau"
#: How a trial ended that does not fail the run, since gates decide.
Gated: TypeAlias = Literal["failing", "broken"]


class WorkerInput(NamedTuple):
    """What the controller gives to a worker.

    Attributes:
        place: The worker's number, from 0; a worker that replaces a lost one has the same.
        workers: How many workers there are.
        dist: How tests are distributed, ``--dist``.
        remote: The worker runs on another machine.
        started: When the run began, ISO 8601.
        shared: The folder that controller and local workers share; empty for a remote worker.
        results: The run's folder; empty if nothing is kept, or for a remote worker.
        sharers: How many workers have an equal share of the budget each; 1 if all share one budget.
        spent: USD that were spent in this place before.
    """

    place: int
    workers: int
    dist: str
    remote: bool
    started: str
    shared: str
    results: str
    sharers: int
    spent: float


class WorkerOutput(TypedDict, total=False):
    """What a worker gives back at its end.

    Attributes:
        has_context: Tasks were to be run.
        planned: Domain and task of each planned trial, by node id.
        deselected: How many trials were deselected.
        shard: How many trials this shard has, how many there are, and how many other tests.
        quarantine: Entries that match no task, by number, with ids that are spelt alike.
    """

    has_context: bool
    planned: dict[str, tuple[str, str]]
    deselected: int
    shard: list[int]
    quarantine: dict[int, list[str]]


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process is an xdist worker."""
    return hasattr(config, "workerinput")


def worker_input(config: pytest.Config) -> WorkerInput | None:
    """Return what the controller has given to this worker; None in any other process."""
    given: dict[str, Any] | None = getattr(config, "workerinput", {}).get(_KEY)
    return WorkerInput(**given) if given is not None else None


def worker_name(config: pytest.Config) -> str:
    """Return the worker's name; empty outside of a worker."""
    return str(getattr(config, "workerinput", {}).get("workerid", ""))


def give_input(node: Any, given: WorkerInput) -> None:
    """Give a worker its input, in the controller, before the worker starts."""
    node.workerinput[_KEY] = given._asdict()


def input_of(node: Any) -> WorkerInput:
    """Return what a worker was given, in the controller."""
    return WorkerInput(**node.workerinput[_KEY])


def give_output(config: pytest.Config, **values: Any) -> None:
    """Set some of a worker's output; elsewhere do nothing."""
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output.setdefault(_KEY, {}).update(values)


def output_of(node: Any) -> WorkerOutput:
    """Return the output of a worker that has ended, in the controller; empty if it was killed."""
    output: WorkerOutput = getattr(node, "workeroutput", {}).get(_KEY, {})
    return output


@dataclass(frozen=True)
class TrialReport:
    """The facts of a trial in a phase of its test; the attribute ``tau`` of pytest's report.

    Attributes:
        record: The trial's record, in the last report of a test that ran a simulation.
        simulated: The test has run a simulation.
        usage: The model calls of the test by role, with the task and whether they were replayed.
        replay_differences: How many tool results differ from a replayed conversation.
        results_problem: Why the simulation could not be written to the run's folder.
        floor: Whether an agent that does nothing passes the task; None if this is not known here.
        gated: How the trial ended, if gates decide in its place.
        not_run: Why the trial is skipped: ``budget`` or ``settled``.
        serial_because: The fixture because of which the trial was not prefetched.
        quarantine_entry: The number of the entry of the quarantine that names the task.
        attachments: Lines and files for a controller on another machine.
    """

    record: TrialRecord | None = None
    simulated: bool = False
    usage: dict[str, Any] | None = None
    replay_differences: int = 0
    results_problem: str | None = None
    floor: bool | None = None
    gated: Gated | None = None
    not_run: str | None = None
    serial_because: str | None = None
    quarantine_entry: int | None = None
    attachments: dict[str, Any] | None = None


def trial_report(report: Any) -> TrialReport | None:
    """Return the facts of the trial that a report is about; None for a test that runs none."""
    found: TrialReport | None = getattr(report, "tau", None)
    return found


def add_facts(report: Any, **facts: Any) -> None:
    """Add facts of the trial to a report."""
    report.tau = replace(trial_report(report) or TrialReport(), **facts)


def to_data(report: TrialReport) -> dict[str, Any]:
    """Return the facts as plain data, for the way from a worker to the controller."""
    values = {each.name: getattr(report, each.name) for each in fields(report)}
    values["record"] = report.record.as_dict() if report.record is not None else None
    return {name: value for name, value in values.items() if value is not None}


def from_data(data: dict[str, Any]) -> TrialReport:
    """Return the facts that arrived as plain data."""
    record = None
    if "record" in data:
        from ..runs.record import TrialRecord

        record = TrialRecord.from_dict(data["record"])
    return TrialReport(**{**data, "record": record})
