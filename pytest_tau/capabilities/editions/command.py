"""``tau vary``: which values of a policy the tasks notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...commands import Printer, add_project_options, data_dir, print_json, project_of
from ...errors import ConfigurationError, unknown_name
from ...text import listed, plural
from .edition import official_names
from .varying import Varied, stated_names, vary

if TYPE_CHECKING:
    import argparse

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
        ],
    )
    parser.add_argument("domain", metavar="DOMAIN", help="the domain")
    parser.add_argument(
        "--agent",
        default="rules",
        metavar="SPEC",
        help="an agent that reads its policy and needs no model (default: %(default)s)",
    )
    parser.add_argument(
        "--value", action="append", default=[], metavar="NAME", help="a value; may be repeated (default: all)"
    )
    parser.add_argument("--split", default="base", metavar="NAME", help="the tasks (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    if data_dir(args.data):
        problem = "data of others state their values themselves; run editions of them with --tau-edition"
        raise ConfigurationError(f"--data: {problem} ({', '.join(official_names())})")
    domain = project_of(args).load(args.domain)
    names = stated_names(domain)
    for name in args.value:
        if name not in names:
            raise ConfigurationError(f"--value: {unknown_name('value', name, names)}")
    printer = Printer()
    found = []
    for varied in vary(domain, args.agent, args.value or names, args.split):
        found.append(varied)
        if not args.json:
            printer.line(_line(varied))
    if args.json:
        print_json({"domain": domain.name, "values": [varied._asdict() for varied in found]})
    else:
        for line in _summary(found):
            printer.line(line)
    return 0 if all(varied.failed for varied in found) else 1


def _line(varied: Varied) -> str:
    old_and_new = f"{varied.name} {varied.old} -> {varied.new}"
    if not varied.failed:
        noticed = f"no task of {varied.tasks} notices it"
    else:
        noticed = f"{plural(len(varied.failed), 'task')} of {varied.tasks}: {listed(varied.failed, _TASKS)}"
    lost = f"; not carried over: {listed(list(varied.not_carried_over), _TASKS)}" if varied.not_carried_over else ""
    return f"{old_and_new}: {noticed}{lost}"


def _summary(found: list[Varied]) -> list[str]:
    unnoticed = [varied.name for varied in found if not varied.failed]
    lines = [f"{len(found) - len(unnoticed)} of {plural(len(found), 'value')} noticed"]
    if unnoticed:
        lines.append(f"not noticed by any task: {', '.join(unnoticed)}")
    skipped = {task: why for varied in found for task, why in varied.skipped.items()}
    lines += [f"not played: {task}: {why}" for task, why in skipped.items()]
    return lines
