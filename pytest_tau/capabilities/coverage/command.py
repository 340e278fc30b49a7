"""``tau coverage``: what tasks or runs touch of a domain, and what nothing touches."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...commands import RUN_HELP, Project, add_options, add_project_options, print_json, project_of
from ...errors import ConfigurationError, unknown_name
from ...text import plural
from .measure import KINDS, Coverage, Played, cover

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...environment import Domain
    from ...models import Task
    from .table import Proposed

_MOST = 10
_MOST_PROPOSED = 1000


class Floor(NamedTuple):
    """The least share of a kind, in percent."""

    kind: str
    percent: float


def _floor(text: str) -> Floor:
    kind, _, percent = text.partition("=")
    if kind not in KINDS:
        raise argparse.ArgumentTypeError(unknown_name("kind", kind, KINDS))
    try:
        share = float(percent)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise argparse.ArgumentTypeError(f"expected {kind}=PERCENT with a number from 0 to 100, got {text!r}")
    return Floor(kind, share)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= _MOST_PROPOSED:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {_MOST_PROPOSED}, got {text!r}")
    return int(text)


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "coverage",
        description="Show how much of a domain its tasks touch by their reference actions, or agents in stored runs, "
        "and list what nothing touches: tools, parameters, values, branches of the tools' functions, kinds of record, "
        "pairs of writes, documents, and rules and sentences of the policy. No model is called.",
        statuses={0: "no share is too low", 1: "a share is below its --fail-under", 2: "the command cannot be used"},
        examples=[
            ("tau coverage", "the tasks of the domains of this project"),
            ("tau coverage --html coverage.html", "a page with the text of the policy"),
            ("tau coverage .tau/runs/nightly", "what agents did in a stored run"),
            ("tau coverage --fail-under branches=90", "a gate for CI"),
        ],
    )
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help=f"{RUN_HELP} (default: the tasks by their reference actions)"
    )
    group = parser.add_argument_group("selection")
    add_options(
        group,
        "domain",
        help="the domain (default: those of the runs; without runs, those of the project's conftest.py files and of "
        "-p, else those of the setting tau_domain)",
    )
    add_options(group, "split")
    _add_output_options(parser.add_argument_group("output"))
    proposals = parser.add_argument_group("proposals")
    proposals.add_argument(
        "--propose-tasks",
        type=_number,
        metavar="N",
        help="choose at most N tasks of the domain's generator, each time the one that touches most of what nothing "
        "touches; with --json the tasks themselves",
    )
    add_options(proposals, "seed", help="seed of the generated tasks (default: %(default)s)", default=1)
    add_project_options(parser)
    parser.set_defaults(run=run)


def _add_output_options(output: Any) -> None:
    add_options(
        output, "max", default=_MOST, help="the number of lines for each kind; 0 for all (default: %(default)s)"
    )
    add_options(output, "json")
    output.add_argument("--html", type=Path, metavar="FILE", help="write a page with the text of the policy in colours")
    output.add_argument(
        "--fail-under",
        type=_floor,
        action="append",
        default=[],
        metavar="KIND=PERCENT",
        help=f"exit with 1 if less of a kind is touched; may be repeated. Kinds: {', '.join(KINDS)}",
    )


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...commands import rare_collections
    from .table import documents_of, show

    project = project_of(args)
    if args.propose_tasks and args.runs:
        raise ConfigurationError("--propose-tasks is for task sets: give no RUN")
    with rare_collections():
        coverages = _of_runs(args, project) if args.runs else _of_tasks(args, project)
        proposals = {
            coverage.domain: _proposal(args, project.load(coverage.domain))
            for coverage in coverages
            if args.propose_tasks
        }
    if args.html is not None:
        from .page import write_page

        write_page(args.html, coverages)
    failures = _too_low(coverages, args.fail_under)
    if args.json:
        print_json(documents_of(coverages, proposals, failures))
    else:
        show(coverages, proposals, failures, most=args.max, page=args.html)
    return int(bool(failures))


def _of_runs(args: argparse.Namespace, project: Project) -> list[Coverage]:
    from .runs import StoredConversations

    stored = StoredConversations(project, args.domain)
    stored.read(args.runs)
    if not stored.by_domain:
        raise ConfigurationError(
            f"no conversation in {', '.join(args.runs)}: {'; '.join(stored.notes()) or 'it is empty'}"
        )
    coverages = []
    for domain, played in stored.by_domain.items():
        tasks = {conversation.task.id for conversation in played}
        of = f"{plural(len(played), 'conversation')} of {plural(len(tasks), 'task')}"
        coverages.append(cover(domain, played, of, notes=stored.notes()))
    stored.check_data()  # at last: a thread that a tool has started before is not measured
    return coverages


def _of_tasks(args: argparse.Namespace, project: Project) -> list[Coverage]:
    names = [args.domain] if args.domain is not None else project.own_names() or project.selected_names()
    if not names:
        raise ConfigurationError(
            "add --domain NAME or a RUN: no conftest.py of this folder and no plugin of -p provides a domain, and the "
            f"settings of pytest select none (installed: {', '.join(project.names())})"
        )
    return [_of_domain(project.load(name), args.split) for name in names]


def _tasks(domain: Domain, split: str) -> list[Task]:
    from ...lint import tasks_of

    return tasks_of(domain, None if split in ("all", "full") and split not in domain.splits else split)


def _of_domain(domain: Domain, split: str) -> Coverage:
    tasks = _tasks(domain, split)
    return cover(domain, [Played(task) for task in tasks], f"{plural(len(tasks), 'task')}, by their reference actions")


def _proposal(args: argparse.Namespace, domain: Domain) -> Proposed:
    from .propose import propose
    from .table import Proposed

    tasks = _tasks(domain, args.split)
    proposal = propose(domain, tasks, args.propose_tasks, args.seed)
    more = [task for task, _ in proposal.chosen]
    together = cover(domain, [Played(task) for task in [*tasks, *more]], "with the proposed tasks")
    return Proposed(proposal, together, cover(domain, [Played(task) for task in proposal.alone], "chosen tasks alone"))


def _too_low(coverages: Sequence[Coverage], floors: Sequence[Floor]) -> list[str]:
    """Return a line for each share that is too low.

    Raises:
        ConfigurationError: A share is not known.
    """
    lines = []
    for floor in floors:
        for coverage in coverages:
            row = next(row for row in coverage.rows if row.kind == floor.kind)
            if row.percent is None:
                raise ConfigurationError(f"--fail-under {floor.kind}: domain {coverage.domain!r}: {row.unknown}")
            if row.percent < floor.percent:
                share = f"{row.touched} of {row.total} ({row.percent:.1f} %)"
                lines.append(f"{coverage.domain}: {floor.kind}: {share} is below {floor.percent:g} %")
    return lines
