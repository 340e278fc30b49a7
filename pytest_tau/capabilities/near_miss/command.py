"""``tau near-miss``: the passed trials of stored runs that were right for the wrong reason."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...commands import Printer, add_options, add_project_options, add_runs, print_json, project_of_runs
from ...files import digest
from ...regrade import StoredTrials, worked_alone
from ...text import plural
from . import capability
from .omissions import omissions_of
from .summary import NearMissFacts, in_words

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ...regrade import PlacedTrial

#: Near misses that are shown.
_SHOWN = 20


class _NearMiss(NamedTuple):
    domain: str
    run: str
    task_id: str
    trial: int
    facts: NearMissFacts

    @property
    def place(self) -> str:
        return f"{self.run} {self.task_id} trial {self.trial}"


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "near-miss",
        description="Show the passed trials that were right for the wrong reason: what had to be read, verified, "
        "stated or confirmed before a change was not, or a value of a change is right although nothing had shown it. "
        "Trials count as passed by their stored verdict.",
        statuses={0: "the near misses were shown", 2: "the command cannot be used"},
        examples=[
            ("tau near-miss RUN", "a run"),
            ("tau near-miss results/*.json --data path/to/data/tau2 --max 25", "at most 25 in result files"),
        ],
    )
    add_runs(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--max",
        type=int,
        default=_SHOWN,
        metavar="N",
        help="the number of near misses shown, drawn in the same way each time; 0 for all (default: %(default)s)",
    )
    add_options(output, "json")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...commands import rare_collections
    from ...runs import open_run

    project = project_of_runs(args)
    trials, passed, near = (
        StoredTrials(project, args.domain, project.bundled_names()),
        Counter[str](),
        list[_NearMiss](),
    )
    with rare_collections():
        for opened in (open_run(spec, Path()) for spec in args.runs):
            for placed in trials.of(opened):
                facts = _facts(placed)
                passed[placed.domain.name] += facts is not None
                if facts is not None and facts.omissions:
                    task_id, trial = placed.task.id, placed.simulation.trial
                    near.append(_NearMiss(placed.domain.name, opened.name, task_id, trial, facts))
    if args.json:
        print_json(_document(passed, near, trials))
    else:
        _show(passed, near, args.max, trials)
    return 0


def _facts(placed: PlacedTrial) -> NearMissFacts | None:
    """Return the stored facts of a trial; those that are found now if it has none."""
    simulation, task, domain, _ = placed
    stored: NearMissFacts | None = capability.read(simulation.facts)
    if stored is not None:
        return stored
    omissions = omissions_of(simulation, task, domain, solo=worked_alone(simulation, domain))
    return None if omissions is None else NearMissFacts.of(omissions)


def _document(passed: Counter[str], near: Sequence[_NearMiss], trials: StoredTrials) -> dict[str, Any]:
    names = [domain for domain, number in passed.items() if number]
    return {
        "domains": {
            name: {"passed": passed[name], "near_misses": sum(near_miss.domain == name for near_miss in near)}
            for name in names
        },
        "near_misses": [
            {"domain": near_miss.domain, "run": near_miss.run, "task_id": near_miss.task_id, "trial": near_miss.trial}
            | near_miss.facts.model_dump(mode="json", include={"omissions"})
            for near_miss in near
        ],
        "excluded": dict(trials.problems),
    }


def _show(passed: Counter[str], near: Sequence[_NearMiss], most: int, trials: StoredTrials) -> None:
    printer = Printer()
    drawn = sorted(near, key=lambda near_miss: digest(near_miss.place))[: most or None]
    for near_miss in (near_miss for near_miss in near if near_miss in drawn):
        printer.line(near_miss.place)
        for omission in near_miss.facts.omissions:
            printer.line(omission.line(), 2, 4)
    if len(drawn) < len(near):
        printer.line(f"and {len(near) - len(drawn)} more (--max 0 shows all)")
    for domain, number in sorted(passed.items()):
        if number:
            facts = [near_miss.facts for near_miss in near if near_miss.domain == domain]
            kinds = f": {in_words(facts)}" if facts else ""
            share = f"{len(facts)} of {plural(number, 'passed trial')} ({len(facts) / number:.1%})"
            printer.line(f"{domain}: {share} right for the wrong reason{kinds}")
    printer.excluded(
        [f"{problem} ({number} times)" if number > 1 else problem for problem, number in trials.problems.items()]
    )
