"""``tau lint``: what a task set's author should look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..commands.options import add_options
from ..commands.output import Printer, print_json
from ..commands.project import Project, add_project_options, project_of
from ..errors import ConfigurationError
from ..text import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..environment import Domain
    from ..lint import Finding, LintReport
    from ..models import Task


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "lint",
        description="Check tasks for mistakes: the reference actions earn reward 1, a greeting alone "
        "does not, every reference action matches its tool, succeeds and is needed, and the agent can know its "
        "arguments. NL assertions are accepted. No model is called.",
        statuses={0: "no errors", 1: "errors were found", 2: "the command cannot be used"},
        examples=[
            ("tau lint", "the domains of this project's conftest.py"),
            ("tau lint telecom --split small", "a split of an installed domain"),
            ("tau lint tests/tasks/*.json", "task files"),
            ("tau lint retail --scripted-user", "what the scripted user makes of the tasks"),
            ("tau lint retail --propose", "further right outcomes of the tasks"),
        ],
    )
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="DOMAIN|FILE",
        help="a domain's name, or a task file (*.json) (default: the domains of the project's conftest.py files and "
        "of -p; without any, those of the setting tau_domain)",
    )
    group = parser.add_argument_group("selection")
    add_options(
        group,
        "domain",
        help="the domain of the files (default: what they name, the setting tau_domain, or the name of their folder)",
    )
    add_options(group, "split", help="the tasks of a domain to check; full for every task (default: base)")
    add_options(group, "scripted-user", "propose")
    add_project_options(parser)
    add_options(parser.add_argument_group("output"), "max", "json")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    import asyncio

    files = [given for given in args.targets if _is_file(given)]
    project = project_of(args, files)
    targets = list(dict.fromkeys(args.targets)) or project.own_names() or project.selected_names()
    if not targets:
        raise ConfigurationError(
            "name a domain or a task file: no conftest.py of this folder and no plugin of -p provides a domain, and "
            "the settings of pytest select none "
            f"(installed: {', '.join(project.names())})"
        )
    if args.propose and args.scripted_user:
        raise ConfigurationError("--propose and --scripted-user: give one of them")
    loaded = [_target(project, given, args.domain) for given in targets]
    if args.propose:
        return _propose(loaded, args)
    reports = asyncio.run(_lint(loaded, project, args))
    if args.json:
        print_json([_document(report) for report in reports])
    return int(any(report.count("error") for report in reports))


class _Target(NamedTuple):
    """What is checked: a domain, or the tasks of a file on it."""

    domain: Domain
    file: Path | None = None
    tasks: Sequence[Task] | None = None


def _is_file(given: str) -> bool:
    return Path(given).suffix == ".json"


def _target(domains: Project, given: str, domain: str | None) -> _Target:
    """Return a domain, or a file with its tasks.

    Raises:
        TauError: It cannot be used, or the file's domain is not known.
    """
    path = Path(given)
    if not _is_file(given):
        return _Target(domains.load(given))
    from ..models import load_task_file

    content = load_task_file(path)
    selected = domains.selected_names()
    names = [domain, content.domain, *(selected if len(selected) == 1 else ())]
    names += [name for name in content.likely_domains(path) if name in domains.names()]
    name = next((name for name in names if name), None)
    if name is None:
        raise ConfigurationError(f"{path}: no domain given: add --domain NAME (known: {', '.join(domains.names())})")
    loaded = domains.load(name)
    return _Target(loaded, path, loaded.with_own_values(content.tasks, path))


def _propose(targets: list[_Target], args: argparse.Namespace) -> int:
    """Print the proposed outcomes: JSON for the field ``outcomes`` of each task."""
    from ..lint import propose_outcomes, tasks_of

    documents, printer = list[dict[str, Any]](), Printer()
    for target in targets:
        tasks = target.tasks if target.tasks is not None else tasks_of(target.domain, _split(target, args.split))
        found = [*propose_outcomes(target.domain, tasks)]
        for task_id, outcomes in found:
            proposed = [each.model_dump(mode="json", exclude_defaults=True) for each in outcomes]
            documents.append({"domain": target.domain.name, "task_id": task_id, "outcomes": proposed})
            if not args.json:
                printer.line(f"{task_id}: {plural(len(proposed), 'outcome')}")
                print_json({"outcomes": proposed})
        if not args.json:
            head = f"{target.file or target.domain.name}: {plural(len(tasks), 'task')}"
            printer.line(f"{head}; outcomes are proposed for {len(found)}")
    if args.json:
        print_json(documents)
    return 0


def _split(target: _Target, split: str) -> str | None:
    """Return the split of a target that is checked; None for every task."""
    everything = target.file is not None or (split in ("all", "full") and split not in target.domain.splits)
    return None if everything else split


async def _lint(targets: list[_Target], project: Project, args: argparse.Namespace) -> list[LintReport]:
    from ..lint import lint_domain, lint_users

    reports, evaluators = [], project.evaluators
    for target in targets:
        domain, file, tasks = target
        split = _split(target, args.split)
        if args.scripted_user:
            reports.append(await lint_users(domain, split, tasks, evaluators))
        else:
            reports.append(await lint_domain(domain, split, tasks, evaluators, project))
        reports[-1].file = str(file) if file else None
        if not args.json:
            _show(reports[-1], args.max)
    return reports


def _show(report: LintReport, most: int) -> None:
    from ..lint import SEVERITIES

    printer = Printer()
    by_rule: dict[tuple[int, str], list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault((SEVERITIES.index(finding.severity), finding.rule), []).append(finding)
    for (severity, rule), findings in sorted(by_rule.items()):
        printer.line(f"{SEVERITIES[severity]:<7}  {rule}: {len(findings)}")
        shown = findings[:most] if most > 0 else findings
        for finding in shown:
            printer.line(f"{finding.task_id}: {finding.text}" if finding.task_id is not None else finding.text, 9)
            if finding.proof:
                printer.line(f"proof: {finding.proof}", 11)
            if finding.change:
                printer.line(f"change: {finding.change}", 11)
        if len(shown) < len(findings):
            printer.line(f"and {len(findings) - len(shown)} more (--max 0 shows all)", 9)
    printer.line(_summary(report))
    for figure in report.figures:
        printer.line(figure)


def _summary(report: LintReport) -> str:
    counts = [plural(report.count(severity), severity) for severity in ("error", "warning", "note")]
    head = f"{report.file or report.domain}: {plural(report.tasks, 'task')}; {', '.join(counts)}"
    if report.played is not None:
        return f"{head}; the scripted user plays {report.played} of {report.tasks} to the end"
    floor = f"an agent that only greets passes {report.floor} of {report.tasks}"
    if report.floor_but_for_judge:
        floor += f" ({report.floor_but_for_judge} more if the judge accepts every statement)"
    return f"{head}; {floor}"


def _document(report: LintReport) -> dict[str, Any]:
    return {
        "domain": report.domain,
        **({"file": report.file} if report.file else {}),
        "split": report.split,
        "tasks": report.tasks,
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "notes": report.count("note"),
        **(
            {
                "null_agent_passes": report.floor,
                "null_agent_passes_but_for_the_judge": report.floor_but_for_judge,
            }
            if report.played is None
            else {"played": report.played}
        ),
        **({"figures": report.figures} if report.figures else {}),
        "findings": [finding._asdict() for finding in report.findings],
    }
