"""The checks of a submission's folder: everything that it states, compared with its trajectories."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..analysis.comparability import TRIALS
from ..capability.duplex import submitted_runs
from ..documents import DocumentError, read_json
from ..environment import DEFAULT_SPLIT
from ..environment.changes import value_changes
from ..errors import ConfigurationError, TauError
from ..regrade.regrade import RegradeSettings, regrade_file
from ..runs.reader import Run
from ..text import listed, plural
from .document import DOCUMENT, DOMAINS, TRAJECTORIES, document_problems
from .trajectories import Trajectories, files_in

if TYPE_CHECKING:
    from pathlib import Path

    from ..capability.views import SubmittedRuns
    from ..models import Task
    from ..regrade.recognition import DomainSource

#: Metrics may differ by so much, which is less than a rounding to any number of digits in use.
_TOLERANCE = 1e-9
#: A finding names at most so many tasks.
_MOST = 5


class Finding(NamedTuple):
    """Something that is wrong with a submission.

    Attributes:
        check: The check: ``folder``, ``document``, ``files``, ``domains``, ``models``, ``tasks``, ``trials``,
            ``metrics``, ``type`` or ``replay``.
        where: The file, or the field.
        text: What is wrong.
    """

    check: str
    where: str
    text: str


@dataclass
class Report:
    """The result of checking a submission.

    Attributes:
        findings: What is wrong.
        notes: Facts that are not findings, such as fewer trials than expected.
        trajectories: The number of trials by file.
    """

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trajectories: dict[str, int] = field(default_factory=dict)

    def add(self, check: str, where: str, text: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(check, where, text))


async def check_submission(folder: Path, domains: DomainSource) -> Report:
    """Check the folder of a submission.

    Args:
        folder: The folder.
        domains: The domains, with the official data.

    Raises:
        ConfigurationError: There is no such folder.
        OSError: A file cannot be opened.
    """
    report = Report()
    document = _document(folder, report)
    by_path: dict[Path, Trajectories] = {}
    if not (folder / TRAJECTORIES).is_dir():
        report.add("folder", TRAJECTORIES, "there is no such folder")
    else:
        for path in files_in(folder / TRAJECTORIES):
            try:
                by_path[path] = Trajectories.read(path)
                report.trajectories[path.name] = sum(map(len, by_path[path].trials.values()))
            except ConfigurationError as error:
                report.add("files", path.name, str(error))
    files = list(by_path.values())
    special = submitted_runs([Run(file.path) for file in files])
    _check_files(document, files, report)
    _check_models(document, files, special, report)
    for name in special.fields if special else ():
        _check_field(name, document.get(name), special.fields[name] if special else None, report)
    for file in files:
        report.findings += [Finding("files", file.path.name, problem) for problem in file.problems]
        _check_trials(file, report)
        if file.domain in DOMAINS:
            _check_tasks(file, domains, report)
            stated = _part(_part(document, "results"), file.domain)
            _check_field(f"results.{file.domain}", stated, file.results(), report)
            await _check_replay(file, domains, report)
    _check_type(document, files, report)
    return report


def _document(folder: Path, report: Report) -> dict[str, Any]:
    if not folder.is_dir():
        raise ConfigurationError(f"{folder}: there is no such folder")
    try:
        document = read_json(folder / DOCUMENT)
    except FileNotFoundError:
        report.add("folder", DOCUMENT, "there is no such file")
        return {}
    except DocumentError as error:
        report.add("document", DOCUMENT, str(error))
        return {}
    for problem in document_problems(document):
        report.add("document", DOCUMENT, problem)
    return document if isinstance(document, dict) else {}


def _part(document: dict[str, Any], name: str) -> dict[str, Any]:
    part = document.get(name)
    return part if isinstance(part, dict) else {}


def _check_files(document: dict[str, Any], files: list[Trajectories], report: Report) -> None:
    """Check that each domain has one file, results, and the name of its file."""
    seen = Counter(file.domain for file in files)
    for domain, many in seen.items():
        if many > 1:
            report.add("domains", domain, f"is in {many} files")
        if domain not in DOMAINS:
            report.add("domains", domain or "(unknown)", f"is not on the leaderboard ({', '.join(DOMAINS)})")
    results, names = _part(document, "results"), _part(document, "trajectory_files")
    for domain in (name for name, value in results.items() if value is not None and name not in seen):
        report.add("domains", f"results.{domain}", "has no trajectories")
    there = {file.path.name: file.domain for file in files}
    for domain, name in names.items():
        if there.get(name) != domain:
            text = f"is {there[name]}'s file" if name in there else f"there is no such file in {TRAJECTORIES}/"
            report.add("files", f"trajectory_files.{domain}", f"{name}: {text}")
    for name in sorted(there.keys() - set(names.values())) if names else ():
        report.add("files", name, "is not in trajectory_files")


def _check_field(name: str, actual: Any, expected: Any, report: Report) -> None:
    """Check a field that follows from the trajectories, and those inside of it."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            _check_field(f"{name}.{key}", actual.get(key) if isinstance(actual, dict) else None, value, report)
    elif not _equal(actual, expected):
        report.add("metrics", name, f"{_shown(actual)}, but the trajectories give {_shown(expected)}")


def _check_models(
    document: dict[str, Any], files: list[Trajectories], special: SubmittedRuns | None, report: Report
) -> None:
    """Check that all files have the same models, which are those of the document."""
    if not files:
        return
    first, *others = files
    for side in ("agent", "user"):
        for place, name in enumerate(("llm", "llm_args")):
            stated = first.model(side)[place]
            for other in others:
                if (value := other.model(side)[place]) != stated:
                    problem = f"{side}_info.{name} is {value!r}, {stated!r} in {first.path.name}"
                    report.add("models", other.path.name, problem)
    agent, user = first.model("agent")[0], first.model("user")[0]
    _check_name(report, "model_name", document.get("model_name"), agent, "agent_info.llm")
    if special is None:
        simulator = _part(document, "methodology").get("user_simulator")
        _check_name(report, "methodology.user_simulator", simulator, user, "user_info.llm")


def _check_name(report: Report, field_name: str, actual: Any, recorded: Any, where: str) -> None:
    if recorded is None:
        report.notes.append(f"{where} is null: τ²-bench's validator warns about {field_name}")
    elif actual != recorded:
        report.add("models", field_name, f"{actual!r}, but {where} of the trajectories is {recorded!r}")


def _check_trials(file: Trajectories, report: Report) -> None:
    """Check the number of trials of each task, and that none occurs twice."""
    where = file.path.name
    other = [task for task, trials in file.trials.items() if len(trials) != file.declared]
    if other:
        counts = listed([f"{task} has {len(file.trials[task])}" for task in other], _MOST)
        report.add(
            "trials", where, f"expected {plural(file.declared, 'trial')} of each task (info.num_trials): {counts}"
        )
    twice = [
        f"trial {number} of {task}"
        for task, trials in file.trials.items()
        for number, many in Counter(trials).items()
        if many > 1
    ]
    if twice:
        report.add("trials", where, f"more than once: {listed(twice, _MOST)}")
    if file.declared < TRIALS:
        report.notes.append(
            f"{where}: {plural(file.declared, 'trial')} of each task; submissions are expected to have {TRIALS}"
        )
    if file.lost:
        rates = file.rates(lost_fail=True)
        rates_text = ", ".join(f"{name} {value:.2f}" for name, value in rates.items() if value is not None)
        report.notes.append(
            f"{where}: {plural(file.lost, 'trial')} lost to infrastructure, which the rates exclude; counted as "
            f"failures: {rates_text}"
        )


def _check_tasks(file: Trajectories, domains: DomainSource, report: Report) -> None:
    """Check that the tasks are those of the split base, each as it is in the data."""
    where = file.path.name
    try:
        base = {task.id: task for task in domains.load(file.domain).tasks(DEFAULT_SPLIT)}
    except TauError as error:
        report.add("tasks", where, f"cannot be compared with the data: {error}")
        return
    if missing := [task for task in base if task not in file.tasks]:
        report.add(
            "tasks", where, f"{plural(len(missing), 'task')} of the split base missing: {listed(missing, _MOST)}"
        )
    if extra := [task for task in file.tasks if task not in base]:
        report.add("tasks", where, f"{plural(len(extra), 'task')} not in the split base: {listed(extra, _MOST)}")
    for task_id, task in file.tasks.items():
        if task is not None and task_id in base and (fields := _changed_fields(task, base[task_id])):
            report.add("tasks", where, f"task {task_id} differs from the data: {listed(fields, _MOST)}")


def _changed_fields(one: Task, other: Task) -> list[str]:
    """Return the paths of the fields in which two tasks differ, without the scripts of users without a model."""
    exclude: Any = {"user_scenario": {"script"}}
    values = [task.model_dump(mode="json", exclude=exclude, serialize_as_any=True) for task in (one, other)]
    return [change.path.removeprefix("/").replace("/", ".") for change in value_changes("", *values)]


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) < _TOLERANCE
    return bool(one == other)


def _shown(value: Any) -> str:
    return "null" if value is None else repr(value)


async def _check_replay(file: Trajectories, domains: DomainSource, report: Report) -> None:
    """Replay calls that change a database, and check that they give the stored results and the stored rewards."""
    where = file.path.name
    graded = await regrade_file(file.path, RegradeSettings(domain=file.domain), domains)
    for problem in [*graded.unreadable, *graded.errors]:
        report.add("replay", where, f"{problem.entry}: {problem.reason}")
    for result in graded.differing:
        stored = result.expected if result.expected is not None else 0.0
        reasons = "; ".join(result.reasons[:2])
        report.add(
            "replay", where, f"{result.entry}: reward {stored:g} stored, {result.fresh.reward:g} graded: {reasons}"
        )
    if about_others := graded.about_others:
        first = f"{about_others[0].entry}: {about_others[0].not_compared}"
        others = f" (and {plural(len(about_others) - 1, 'trial')} more)" if len(about_others) > 1 else ""
        report.add("replay", where, f"{first}{others}")
    differing = [result for result in graded.results if result.replay_differences and result.agrees is not False]
    for result in differing:
        report.add("replay", where, f"{result.entry}: {result.replay_differences[0]}")
    unjudged = sum(result.without_judge for result in graded.results)
    if unjudged:
        report.notes.append(f"{where}: {plural(unjudged, 'trial')} with NL assertions, which are not judged again")


def _check_type(document: dict[str, Any], files: list[Trajectories], report: Report) -> None:
    """Check the type against what the runs have recorded, and what each type needs."""
    kind, methodology = document.get("submission_type", "standard"), _part(document, "methodology")
    verification = _part(methodology, "verification")
    if kind == "standard":
        for file in files:
            if file.comparability is not None and file.comparability.kind == "custom":
                reasons = "; ".join(file.comparability.deviations)
                report.add("type", "submission_type", f"standard, but {file.path.name} is custom: {reasons}")
    elif document:
        if not methodology.get("notes"):
            report.add("type", "methodology.notes", "a custom submission describes what was changed")
        if not document.get("references"):
            report.notes.append("references: a custom submission is expected to link to its implementation")
    verified = document.get("trajectories_available") is True and verification.get("omitted_questions") is False
    if document and not (verified and (kind == "custom" or verification.get("modified_prompts") is False)):
        report.notes.append(
            "the site does not show it as verified: this needs trajectories_available true, omitted_questions false, "
            "and modified_prompts false or the type custom"
        )
