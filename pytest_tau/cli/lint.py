"""``tau lint``: what a task set's author should look at."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConfigurationError
from .settings import InstalledDomains, Printer, add_data_option, count, data_dir

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..environment import Domain
    from ..lint import Finding, LintReport
    from ..models import Task

_SHOWN = 10


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "lint",
        help="check the tasks of domains and task files",
        description="Check the tasks of domains and task files: the gold run passes, a greeting alone does not, every "
        "reference action fits, succeeds and is needed, and the agent can know what it needs. NL assertions are "
        "accepted. Exit status: 1 if there are errors, 0 if there are none, 2 for a command that cannot be used.",
    )
    parser.add_argument("targets", nargs="+", metavar="DOMAIN|FILE", help="a domain's name, or a task file (*.json)")
    parser.add_argument("--domain", metavar="NAME", help="the files' domain (default: as they say, or their folder)")
    add_data_option(parser)
    parser.add_argument("--split", default="base", metavar="NAME", help="which tasks; 'all' for all (default: base)")
    parser.add_argument("--max", type=int, default=_SHOWN, metavar="N", help="findings shown of a rule; 0 for all (10)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        TauError: A domain, a split, data or a task file that cannot be used.
    """
    domains = InstalledDomains(data_dir(args.data))
    loaded = [_target(domains, given, args.domain) for given in dict.fromkeys(args.targets)]
    reports = asyncio.run(_lint(loaded, args))
    if args.json:
        print(json.dumps([_document(report) for report in reports], indent=1, ensure_ascii=False))  # noqa: T201
    return int(any(report.count("error") for report in reports))


class _Target(NamedTuple):
    """What is checked: a domain, or the tasks of a file on it."""

    domain: Domain
    file: Path | None = None
    tasks: Sequence[Task] | None = None


def _target(domains: InstalledDomains, given: str, domain: str | None) -> _Target:
    """Return a domain, or a file with its tasks.

    Raises:
        TauError: It cannot be used, or the file's domain is not known.
    """
    path = Path(given)
    if path.suffix != ".json":
        return _Target(domains.load(given))
    from ..models import load_task_file

    content = load_task_file(path)
    inside = {getattr(task.user_scenario.instructions, "domain", None) for task in content.tasks} - {None}
    candidates = [path.resolve().parent.name, *(inside if len(inside) == 1 else ())]
    names = [domain, content.domain, *(name for name in candidates if name in domains.names())]
    name = next((name for name in names if name), None)
    if name is None:
        raise ConfigurationError(f"{path}: which domain? Name one with --domain (known: {', '.join(domains.names())})")
    return _Target(domains.load(name), path, content.tasks)


async def _lint(targets: list[_Target], args: argparse.Namespace) -> list[LintReport]:
    from ..lint import lint_domain

    reports = []
    for domain, file, tasks in targets:
        everything = file is not None or (args.split in ("all", "full") and args.split not in domain.splits)
        split = None if everything else args.split
        reports.append(await lint_domain(domain, split, tasks))
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
        if len(shown) < len(findings):
            printer.line(f"and {len(findings) - len(shown)} more (--max 0 shows all)", 9)
    printer.line(_summary(report))


def _summary(report: LintReport) -> str:
    counts = [count(report.count(severity), severity) for severity in ("error", "warning", "note")]
    floor = f"an agent that only greets passes {report.floor} of {report.tasks}"
    if report.floor_but_for_judge:
        floor += f" ({report.floor_but_for_judge} more if the judge has nothing to object)"
    return f"{report.file or report.domain}: {count(report.tasks, 'task')}; {', '.join(counts)}; {floor}"


def _document(report: LintReport) -> dict[str, Any]:
    return {
        "domain": report.domain,
        **({"file": report.file} if report.file else {}),
        "split": report.split,
        "tasks": report.tasks,
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "notes": report.count("note"),
        "null_agent_passes": report.floor,
        "null_agent_passes_but_for_the_judge": report.floor_but_for_judge,
        "findings": [finding._asdict() for finding in report.findings],
    }
