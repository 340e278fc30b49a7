"""The data that cross between xdist's controller and its workers, and from an item to the process that reports it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict

from ..files import atomic_write
from ..plain import json

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from ..models import ModelUsage
    from ..runs.record import TrialRecord

_KEY = "tau"
#: The file of the planned trials, in the folder that a controller and its workers on the same machine share.
_PLANNED = "planned.json"
#: The group of each planned trial, by node id, in order; of plain types, as execnet sends no others.
PlannedGroups: TypeAlias = "dict[str, tuple[str, ...]]"
#: The outcome of a failed trial that does not fail the run, because gates decide.
Gated: TypeAlias = Literal["failing", "broken"]


class WorkerInput(NamedTuple):
    """The input of a worker, from its controller.

    Attributes:
        place: The worker's number, from 0; a worker that replaces a lost one has the same.
        workers: The number of workers.
        dist: The value of ``--dist``.
        remote: Whether the worker runs on another machine.
        controller: The controller's process, by its number on its machine.
        started: The start of the run, ISO 8601.
        shared: The folder that controller and local workers share; empty for a remote worker.
        results: The run's folder; empty if nothing is stored, and for a remote worker.
        part: The name of the controller's part of a run in a store.
        shard: The shard that is run, such as ``2/4``; empty for no shard.
        selection: The ids of the tests to which the run is limited; None for no limit.
        sharers: The number of workers that have an equal share of the budget each; 1 if all share one budget.
        spent: USD that workers with this number have spent before.
        baseline: The name of the run that decides by a comparison, and its groups, each with the numbers of trials that
            have a verdict and that passed; None if none decides, or if it is not read yet.
    """

    place: int
    workers: int
    dist: str
    remote: bool
    controller: int
    started: str
    shared: str
    results: str
    part: str
    shard: str
    selection: list[str] | None
    sharers: int
    spent: float
    baseline: tuple[str, list[tuple[str, str, str, str, int, int]]] | None


class WorkerOutput(TypedDict, total=False):
    """The output of a worker, for its controller at the end.

    Attributes:
        has_context: Whether tasks were to be run.
        planned: The group of each planned trial, by node id.
        deselected: The number of deselected trials.
        store_problems: Why results are not in the store.
        part: The number of trials in this part, of all trials, and of other tests.
        capabilities: What capabilities have found out, by their names.
        unchecked: The ids of tasks that check nothing.
        failed_writes: Failed reference actions by task id.
        contradictions: Calls of message histories that contradict the state, by task id.
        participants: Agent, user and number of trials, for each pair of them.
        late_calls: The number of calls that came after their conversations, by tool.
    """

    has_context: bool
    planned: PlannedGroups
    deselected: int
    store_problems: list[str]
    part: list[int]
    capabilities: dict[str, Any]
    unchecked: list[str]
    failed_writes: dict[str, str]
    contradictions: dict[str, str]
    participants: list[list[Any]]
    late_calls: dict[str, int]


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process is an xdist worker."""
    return hasattr(config, "workerinput")


def worker_input(config: pytest.Config) -> WorkerInput | None:
    """Return the input of this worker; None in any other process."""
    fields: dict[str, Any] | None = getattr(config, "workerinput", {}).get(_KEY)
    return WorkerInput(**fields) if fields is not None else None


def worker_name(config: pytest.Config) -> str:
    """Return the worker's name; empty outside of a worker."""
    return str(getattr(config, "workerinput", {}).get("workerid", ""))


def give_input(node: Any, given: WorkerInput) -> None:
    """Give a worker its input, in the controller, before the worker starts."""
    node.workerinput[_KEY] = given._asdict()


def input_of(node: Any) -> WorkerInput:
    """Return the input of a worker, in the controller."""
    return WorkerInput(**node.workerinput[_KEY])


def give_output(config: pytest.Config, **values: Any) -> None:
    """Set some of a worker's output; elsewhere do nothing."""
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        values_given = output.setdefault(_KEY, {})
        of_capabilities = {**values_given.get("capabilities", {}), **values.pop("capabilities", {})}
        values_given.update(values, capabilities=of_capabilities)


def output_of(node: Any) -> WorkerOutput:
    """Return the output of a finished worker, in the controller; empty if it was killed."""
    output: WorkerOutput = getattr(node, "workeroutput", {}).get(_KEY, {})
    return output


def write_planned(folder: Path, planned: PlannedGroups) -> None:
    """Write the planned trials to the folder that a controller shares with its workers; each plans the same ones."""
    if planned and not (folder / _PLANNED).exists():
        atomic_write(folder / _PLANNED, json.dumps(planned))


def read_planned(folder: Path) -> PlannedGroups:
    """Return the planned trials, in the controller; none if no worker on this machine has any."""
    try:
        groups: PlannedGroups = json.loads((folder / _PLANNED).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return groups


class TestGate(NamedTuple):
    """The gate of a test: its trials pass or fail together.

    Attributes:
        name: The test with its task and parameters, without the trial.
        at_least: The share of the trials that must pass.
        trials: The number of its trials in this session.
        stop_early: Whether trials are skipped once the gate is decided.
    """

    name: str
    at_least: float
    trials: int
    stop_early: bool

    @property
    def needed(self) -> int:
        """Return how many trials must pass."""
        # 0.7 of 10 trials are 7, although the product is a little more.
        return ceil(self.at_least * self.trials - 1e-9)

    @property
    def allowed(self) -> int:
        """Return how many trials may fail."""
        return self.trials - self.needed


@dataclass(frozen=True)
class TestUsage:
    """The model calls of a test.

    Attributes:
        task: The name of the task: ``domain::task``.
        replayed: Whether they were replayed, or were made by the previous run: they have cost nothing.
        roles: Calls, tokens and costs by role.
    """

    task: str
    replayed: bool
    roles: dict[str, ModelUsage]

    @property
    def cost(self) -> float:
        """Return the USD that this run has paid for them, as far as prices are known."""
        return 0.0 if self.replayed else sum(used.known_cost for used in self.roles.values())

    @property
    def unpriced_calls(self) -> int:
        """Return the number of calls that this run has paid for at an unknown price."""
        return 0 if self.replayed else sum(used.unpriced_calls for used in self.roles.values())

    def as_dict(self) -> dict[str, Any]:
        """Return them as JSON."""
        return {**vars(self), "roles": {role: used.model_dump(mode="json") for role, used in self.roles.items()}}


class Attachments(TypedDict, total=False):
    """What a worker on another machine sends with a report, for its controller to store.

    Attributes:
        line: The line of the test's simulation.
        run: The manifest of the run; it is sent once.
        whole: The group of each trial of the whole run, by node id; with the manifest.
        files: The cassettes of the test, and their bytes.
    """

    line: str
    run: dict[str, Any]
    whole: PlannedGroups
    files: list[tuple[str, bytes]]


@dataclass
class TrialReport:
    """The facts of a trial; the attribute ``tau`` of pytest's report has those that a phase of the test knows.

    Attributes:
        record: The trial's record, in the last report of a test that ran a simulation.
        simulated: Whether the test has run a simulation.
        interrupted: Whether something outside of the trial has ended it.
        usage: The model calls of the test; None if there were none.
        replay_differences: The number of tool results that differ from a replayed conversation.
        results_problem: The error of writing the simulation to the run's folder.
        floor: Whether an agent that does nothing passes the task; None if this is not known here.
        gated: The outcome of a failed trial, if gates decide instead of it.
        test_gate: The gate of the test, if its trials pass or fail together.
        not_run: The reason why the trial is skipped: ``budget``, ``price``, ``settled`` or ``decided``.
        serial_because: The fixture because of which the trial was not prefetched.
        attachments: Lines and files for a controller on another machine.
    """

    record: TrialRecord | None = None
    simulated: bool = False
    interrupted: bool = False
    usage: TestUsage | None = None
    replay_differences: int = 0
    results_problem: str | None = None
    floor: bool | None = None
    gated: Gated | None = None
    test_gate: TestGate | None = None
    not_run: str | None = None
    serial_because: str | None = None
    attachments: Attachments | None = None


def trial_report(report: Any) -> TrialReport | None:
    """Return the facts of the trial that a report is about; None for a test that runs none."""
    trial: TrialReport | None = getattr(report, "tau", None)
    return trial


def add_facts(report: Any, **facts: Any) -> None:
    """Add facts of the trial to a report."""
    known = trial_report(report)
    report.tau = replace(known or TrialReport(), **facts)


def to_data(report: TrialReport) -> dict[str, Any]:
    """Return the facts as plain data, for the way from a worker to the controller."""
    values = {report_field.name: getattr(report, report_field.name) for report_field in fields(report)}
    values["record"] = report.record.as_dict() if report.record is not None else None
    values["usage"] = report.usage.as_dict() if report.usage is not None else None
    values["test_gate"] = tuple(report.test_gate) if report.test_gate is not None else None
    return {name: value for name, value in values.items() if value is not None}


def from_data(data: dict[str, Any]) -> TrialReport:
    """Return the facts that arrived as plain data."""
    values = dict(data)
    if "record" in data:
        from ..runs.record import TrialRecord

        values["record"] = TrialRecord.model_validate(data["record"])
    if "usage" in data:
        from ..models import ModelUsage

        roles = {role: ModelUsage.model_validate(used) for role, used in data["usage"]["roles"].items()}
        values["usage"] = TestUsage(**{**data["usage"], "roles": roles})
    if "test_gate" in data:
        values["test_gate"] = TestGate(*data["test_gate"])
    return TrialReport(**values)
