"""``tau lint``: what a task set's author should look at."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from .settings import InstalledDomains, Printer, add_data_option, count, data_dir

if TYPE_CHECKING:
    import argparse

    from ..lint import Finding, LintReport

_SHOWN = 10


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "lint",
        help="check the tasks of domains",
        description="Check the tasks of domains: the gold run passes, a greeting alone does not, every reference "
        "action fits, succeeds and is needed, and the agent can know what it needs. NL assertions are accepted. "
        "Exit status: 1 if there are errors, 0 if there are none, 2 for a command that cannot be used.",
    )
    parser.add_argument("domains", nargs="+", metavar="DOMAIN", help="a domain's name")
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
    loaded = [domains.load(name) for name in dict.fromkeys(args.domains)]
    reports = asyncio.run(_lint(loaded, args))
    if args.json:
        print(json.dumps([_document(report) for report in reports], indent=1, ensure_ascii=False))  # noqa: T201
    return int(any(report.count("error") for report in reports))


async def _lint(domains: list[Any], args: argparse.Namespace) -> list[LintReport]:
    from ..lint import lint_domain

    reports = []
    for domain in domains:
        everything = args.split in ("all", "full") and args.split not in domain.splits
        split = None if everything else args.split
        reports.append(await lint_domain(domain, split))
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
    return f"{report.domain}: {count(report.tasks, 'task')}; {', '.join(counts)}; {floor}"


def _document(report: LintReport) -> dict[str, Any]:
    return {
        "domain": report.domain,
        "split": report.split,
        "tasks": report.tasks,
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "notes": report.count("note"),
        "null_agent_passes": report.floor,
        "null_agent_passes_but_for_the_judge": report.floor_but_for_judge,
        "findings": [finding._asdict() for finding in report.findings],
    }
