"""``tau users``: the behaviour of the simulated users of runs, one column for each run."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ...commands import RUN_HELP, Printer, add_options, add_project_options, print_json, project_of
from ...errors import TauError
from ...text import one_line, plural, printable

if TYPE_CHECKING:
    import argparse

    from ...environment import Domain
    from ...runs import Run
    from .profile import UserProfile

#: The rows: what is shown of a profile, its attribute, and the format.
_ROWS = (
    ("trials", "trials", "{:,}"),
    ("turns of the user in a trial", "turns", "{:.1f}"),
    ("words of a text, mean", "words", "{:.1f}"),
    ("words of a text, median", "median_words", "{:.1f}"),
    ("words of the first text", "opening_words", "{:.1f}"),
    ("facts of a text", "facts", "{:.2f}"),
    ("facts in the first text, share", "opening_facts", "{:.3f}"),
    ("calls of the user in a trial", "calls", "{:.1f}"),
    ("early stops, share", "early_stops", "{:.3f}"),
    ("trials with a fault, share", "faulty", "{:.3f}"),
)
_LABEL, _COLUMN = 34, 24


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "users",
        description="Show how the simulated users of one or more runs behave: the length of their texts, what they say "
        "when, how they leave, and their faults. Two models that play the user can be compared in this way.",
        statuses={0: "the profiles were shown", 2: "the command cannot be used"},
        examples=[("tau users", "the latest run"), ("tau users A B results.json", "three runs side by side")],
    )
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"{RUN_HELP} (default: the latest run)")
    add_options(parser.add_argument_group("output"), "json")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...runs import open_run
    from .profile import UserProfile

    project = project_of(args)
    unknown: dict[str, str] = {}

    @cache
    def domain_of(run: Run, name: str) -> Domain | None:
        if not name:
            unknown[name] = "the file names no domain"
            return None
        try:
            return project.load(name, run.info)
        except TauError as error:
            unknown[name] = str(error).splitlines()[0]
            return None

    opened = [open_run(spec) for spec in args.runs or [None]]
    profiles = [UserProfile.of(stored_run.trials(), partial(domain_of, stored_run)) for stored_run in opened]
    names = [stored_run.name for stored_run in opened]
    if args.json:
        print_json([{"run": name, **asdict(profile)} for name, profile in zip(names, profiles, strict=True)])
        return 0
    for line in _lines(names, profiles):
        print(printable(line))  # noqa: T201 - this is a command
    printer = Printer()
    for stored_run in opened:
        if stored_run.problems:
            printer.line(f"warning: {stored_run.name}: {plural(len(stored_run.problems), 'simulation')} cannot be read")
    for name, problem in unknown.items():
        where = f" in {name}" if name else ""
        printer.line(f"warning: calls of the user's tools are not checked{where}: {problem}")
    return 0


def _lines(names: list[str], profiles: list[UserProfile]) -> list[str]:
    rows = [("run", [one_line(name, _COLUMN - 2) for name in names])]
    rows += [(label, [_cell(profile, key, shape) for profile in profiles]) for label, key, shape in _ROWS]
    endings = sorted({name for profile in profiles for name in profile.endings})
    rows += [
        (f"ended by {name}, share", [f"{profile.endings.get(name, 0):.3f}" for profile in profiles]) for name in endings
    ]
    checks = sorted({name for profile in profiles for name in profile.checks})
    rows += [(f"{name}, trials", [f"{profile.checks.get(name, 0):,}" for profile in profiles]) for name in checks]
    if any(profile.skipped for profile in profiles):
        rows.append(("trials without a user", [f"{profile.skipped:,}" for profile in profiles]))
    return [f"{label:<{_LABEL}}" + "".join(f"{cell:>{_COLUMN}}" for cell in cells) for label, cells in rows]


def _cell(profile: UserProfile, key: str, shape: str) -> str:
    value = getattr(profile, key)
    return "-" if value is None else shape.format(value)
