"""``tau doubts``: the tasks that the runs of several agents speak against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...commands import Printer, add_options, add_project_options, add_runs, print_json, project_of_runs
from ...text import listed, plural
from .evidence import in_words

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from .evidence import Doubt
    from .runs import StoredEvidence

#: Tasks that are shown, differences and findings of each, and reasons why simulations are not counted.
_TASKS, _DIFFERENCES, _FINDINGS, _PROBLEMS = 20, 4, 3, 5


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doubts",
        description="Show the tasks that may be wrong: those in which more agents end in one same state against the "
        "reference than pass. Not counted are conversations that the user spoilt, ends that break a rule of the "
        "policy, and ends in which nothing was changed. Tasks in doubt are checked as by tau lint.",
        statuses={0: "the tasks in doubt were shown", 2: "the command cannot be used"},
        examples=[
            ("tau doubts A B C", "three runs, such as of three agents"),
            ("tau doubts results/*.json --data path/to/data/tau2", "result files over official data"),
        ],
    )
    add_runs(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--max",
        type=int,
        default=_TASKS,
        metavar="N",
        help="the number of tasks shown; 0 for all (default: %(default)s)",
    )
    add_options(output, "json")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...commands import rare_collections
    from ...runs import open_run
    from .runs import StoredEvidence

    project = project_of_runs(args)
    stored = StoredEvidence(project, args.domain, project.bundled_names())
    with rare_collections():
        for spec in args.runs:
            stored.read(open_run(spec, Path()))
    doubts = stored.evidence.doubts()
    visible = doubts[: args.max] if args.max > 0 and not args.json else doubts
    findings = [stored.findings(doubt) for doubt in visible]
    if args.json:
        documents = [_document(doubt, doubt_findings) for doubt, doubt_findings in zip(doubts, findings, strict=True)]
        print_json({"tasks": documents, "excluded": dict(stored.problems)})
        return 0
    _show(stored, doubts, list(zip(visible, findings, strict=True)))
    return 0


def _document(doubt: Doubt, findings: list[str]) -> dict[str, Any]:
    return {
        "domain": doubt.task.domain,
        "task_id": doubt.task.task_id,
        "score": round(doubt.score, 4),
        "trials": doubt.trials,
        "passed": doubt.passed,
        "agents": doubt.agents,
        "same": doubt.same,
        "differs": list(doubt.differs),
        "findings": findings,
        "examples": list(doubt.examples),
    }


def _show(
    stored: StoredEvidence, doubts: Sequence[Doubt], findings_by_doubt: Sequence[tuple[Doubt, list[str]]]
) -> None:
    printer, evidence = Printer(), stored.evidence
    for doubt, findings in findings_by_doubt:
        printer.line(f"{doubt.task.task_id}: {in_words(doubt)}")
        for difference in doubt.differs[:_DIFFERENCES]:
            printer.line(difference, 4)
        if len(doubt.differs) > _DIFFERENCES:
            printer.line("and more", 4)
        for finding in findings[:_FINDINGS]:
            printer.line(f"lint: {finding}", 2)
        printer.line(f"such as {', '.join(doubt.examples)}", 2)
    if len(findings_by_doubt) < len(doubts):
        printer.line(f"and {len(doubts) - len(findings_by_doubt)} more (--max 0 shows all)")
    agents = plural(evidence.agents, "agent")
    printer.line(f"{len(doubts)} of {plural(evidence.tasks, 'task')} in doubt, by the trials of {agents}")
    if stored.left_out:
        reasons = [f"{why}: {number}" for why, number in stored.left_out.most_common()]
        printer.line(f"no evidence: {listed(reasons, _PROBLEMS)}")
    if editions := stored.editions(list(stored.tasks)):
        printer.line(
            f"warning: the runs have different tasks under one id, which are counted apart: {listed(editions, 5)}"
        )
    printer.excluded(
        [f"{problem} ({number} times)" if number > 1 else problem for problem, number in stored.problems.items()]
    )
