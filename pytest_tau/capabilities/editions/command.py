"""``tau vary``: which values of a policy the tasks notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...commands import Printer, add_project_options, data_dir, print_json, project_of
from ...environment import DEFAULT_SPLIT
from ...errors import ConfigurationError, unknown_name
from ...runs import StrengthFacts, store_strength
from ...text import listed, plural
from .edition import official_names
from .varying import Varied, stated_names, vary

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from ...commands import Project
    from ...environment import Domain
    from .compared import Rates

#: Tasks that are named for each value.
_TASKS = 4


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "vary",
        description="Change each value that the policy of a domain states, alone, and let the agent of the old policy "
        "play the tasks with the new value. A value that no task notices is not tested. An agent that reads its policy "
        "is given the old text; it has to fail at least one task.",
        statuses={0: "every value is noticed", 1: "a value is not noticed", 2: "the command cannot be used"},
        examples=[
            ("tau vary airline", "each value of airline, with its rules agent"),
            ("tau vary airline --value extra_bag_fee", "one value"),
            ("tau vary airline --compare RUN EDITION", "two runs of an agent, the second with --tau-edition"),
        ],
    )
    parser.add_argument("domain", metavar="DOMAIN", help="the domain")
    parser.add_argument(
        "--tau-agent",
        dest="agent",
        default="rules",
        metavar="SPEC",
        help="an agent that reads its policy and needs no model (default: %(default)s)",
    )
    parser.add_argument(
        "--value", action="append", default=[], metavar="NAME", help="a value; may be repeated (default: all)"
    )
    parser.add_argument("--split", default="base", metavar="NAME", help="the tasks (default: %(default)s)")
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("RUN", "EDITION"),
        help="show for each value pass^1 of two runs of an agent over the tasks that notice it: of the domain, and "
        "with --tau-edition",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    if data_dir(args.data):
        problem = "data of others state their values themselves; run editions of them with --tau-edition"
        raise ConfigurationError(f"--data: {problem} ({', '.join(official_names())})")
    project = project_of(args)
    domain = project.load(args.domain)
    names = stated_names(domain)
    for name in args.value:
        if name not in names:
            raise ConfigurationError(f"--value: {unknown_name('value', name, names)}")
    return _compare(args, project, args.value or names) if args.compare else _vary(args, domain, args.value or names)


def _compare(args: argparse.Namespace, project: Project, names: Sequence[str]) -> int:
    """Show two runs by value."""
    from ...runs import open_run
    from .compared import rates_by_value

    domain, (before, after) = project.load(args.domain), map(open_run, args.compare)
    edition = project.load(args.domain, after.info)
    printer, rows = Printer(), []
    for rates in rates_by_value(domain, edition, (before, after), args.agent, names, args.split):
        rows.append(rates._asdict())
        if not args.json:
            printer.line(_rates_line(rates))
    if args.json:
        print_json({"domain": domain.name, "rates": rows})
    return 0


def _rates_line(rates: Rates) -> str:
    value = f"{rates.name} {rates.old} -> {rates.new}" if rates.name else "all values"
    if rates.before is None or rates.after is None or rates.interval is None:
        return f"{value}: no task of both runs notices it"
    change = f"{rates.after - rates.before:+.3f}, {rates.interval.signed}"
    number = plural(len(rates.tasks), "task")
    tasks = f"{number}: {listed(list(rates.tasks), _TASKS)}" if rates.name else number
    return f"{value}: pass^1 {rates.before:.3f} -> {rates.after:.3f} ({change}) over {tasks}"


def _vary(args: argparse.Namespace, domain: Domain, names: Sequence[str]) -> int:
    """Change each value alone; return the exit status."""
    printer, results = Printer(), list[Varied]()
    for varied in vary(domain, args.agent, names, args.split):
        results.append(varied)
        if not args.json:
            printer.line(_line(varied))
    noticed = {varied.name: bool(varied.failed) for varied in results}
    if not args.value and args.split == DEFAULT_SPLIT:
        store_strength(domain, "vary", StrengthFacts(line=_counted(noticed), values=noticed))
    if args.json:
        print_json({"domain": domain.name, "values": [varied._asdict() for varied in results]})
    else:
        for line in _summary(results, noticed):
            printer.line(line)
    return 0 if all(noticed.values()) else 1


def _line(varied: Varied) -> str:
    old_and_new = f"{varied.name} {varied.old} -> {varied.new}"
    if not varied.failed:
        noticed = f"no task of {varied.tasks} notices it"
    else:
        noticed = f"{plural(len(varied.failed), 'task')} of {varied.tasks}: {listed(varied.failed, _TASKS)}"
    lost = f"; not carried over: {listed(list(varied.not_carried_over), _TASKS)}" if varied.not_carried_over else ""
    return f"{old_and_new}: {noticed}{lost}"


def _counted(noticed: Mapping[str, bool]) -> str:
    return f"{sum(noticed.values())} of {plural(len(noticed), 'value')} noticed"


def _summary(results: Sequence[Varied], noticed: Mapping[str, bool]) -> list[str]:
    unnoticed = [name for name, is_noticed in noticed.items() if not is_noticed]
    lines = [_counted(noticed)]
    if unnoticed:
        lines.append(f"not noticed by any task: {', '.join(unnoticed)}")
    skipped = {task: why for varied in results for task, why in varied.skipped.items()}
    lines += [f"not played: {task}: {why}" for task, why in skipped.items()]
    return lines
