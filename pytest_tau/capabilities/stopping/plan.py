"""``tau plan``: what a run can show before it is made, and what it costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ...capability import columns_of, installed
from ...commands import Printer, add_options, print_json, project_of
from ...errors import ConfigurationError
from ...text import plural

if TYPE_CHECKING:
    import argparse

    from ...analysis import Gate
    from ...runs import Run, TrialRecord
    from .planning import Population, Usage

#: The numbers of trials for which ``--detect`` states how many tasks are needed, besides that of the plan.
_TRIALS = (1, 2, 4, 8)


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "plan",
        description="State the smallest loss that a run of so many tasks and trials shows at 80 % power, if it is "
        "compared with a run of the same size, and what the run costs; with --detect, what it takes to see a loss. The "
        "tasks are those of an earlier run, of a domain, or a number.",
        statuses={
            0: "the run can answer what is asked",
            1: "the run shows no loss, or not that of --detect, or cannot answer a gate",
            2: "the command cannot be used",
        },
        examples=[
            ("tau plan baseline --trials 4", "as many tasks as in the baseline"),
            ("tau plan --tasks 50 --trials 4 --pass 0.7", "without an earlier run"),
            ("tau plan baseline --detect 0.05", "what it takes to see 5 points"),
        ],
    )
    parser.add_argument(
        "earlier",
        metavar="RUN",
        nargs="?",
        help="an earlier run, whose tasks, pass rate and usage are taken: its folder, "
        "its name below .tau/runs, a result file, or baseline (default: none)",
    )
    of_run = parser.add_argument_group("the run")
    add, text = of_run.add_argument, "the number of tasks (default: those of the earlier run, or of --domain)"
    add("--tasks", metavar="N", type=int, help=text)
    text = "the expected pass rate (default: that of the earlier run)"
    add("--pass", metavar="RATE", type=float, dest="rate", help=text)
    text = "a gate of the run, such as 'pass^1>=0.8'; may be repeated"
    add("--gate", metavar="EXPR", action="append", default=[], help=text)
    text = "how many tasks and trials show a loss of this size, such as 0.05"
    add("--detect", metavar="LOSS", type=float, help=text)
    text = "repetitions of each task (default: those of the earlier run, else 1)"
    add("--trials", metavar="K", type=int, help=text)
    add, pair = parser.add_argument_group("its cost").add_argument, "SENT,RECEIVED"
    text = "tokens that a trial sends and receives, such as 20000,1500 (default: as in the earlier run)"
    add("--tokens", metavar=pair, help=text)
    text = "USD per million tokens sent and received, such as 2,8 (default: the cost of the earlier run)"
    add("--price", metavar=pair, help=text)
    add("--seconds", metavar="SECONDS", type=float, help="the duration of a trial (default: as in the earlier run)")
    text = "how many run at the same time (default: %(default)s)"
    add("--concurrency", metavar="N", type=int, default=10, help=text)
    add_options(parser.add_argument_group("tasks of a domain"), "domain", "split", "data", "plugin", "rootdir")
    add_options(parser.add_argument_group("output"), "json")
    parser.set_defaults(run=run)


class _Plan(NamedTuple):
    """A run as it is planned."""

    tasks: int
    trials: int
    population: Population
    usage: Usage
    gates: list[Gate]
    source: str


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...runs import open_run

    _check(args)
    earlier = open_run(args.earlier) if args.earlier is not None else None
    plan = _plan(args, earlier, earlier.records() if earlier is not None else [])
    document = _document(plan, args.detect, args.concurrency)
    if args.json:
        print_json(document)
    else:
        _print(plan, document, args.concurrency)
    undecidable = document["smallest_loss"] is None or any(gate["why"] for gate in document["gates"])
    unseen = "detect" in document and not document["detect"]["shown"]
    return int(undecidable or unseen)


def _check(args: argparse.Namespace) -> None:
    """Refuse numbers that cannot be."""
    for name in ("tasks", "trials", "concurrency"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise ConfigurationError(f"--{name}: expected a whole number of at least 1, got {value}")
    for name, value in (("pass", args.rate), ("detect", args.detect)):
        if value is not None and not 0 < value <= 1:
            hint = f": write {value / 100:g} for {value:g} %" if 1 < value <= 100 else ""
            raise ConfigurationError(f"--{name}: expected a number above 0 and at most 1, got {value:g}{hint}")
    if args.seconds is not None and not 0 <= args.seconds < math.inf:
        raise ConfigurationError(f"--seconds: expected a number of at least 0, got {args.seconds:g}")


def _plan(args: argparse.Namespace, earlier: Run | None, records: list[TrialRecord]) -> _Plan:
    from ...analysis import Gate
    from ...runs import count_tasks
    from .planning import Population, Usage

    population = Population.of(records, args.rate)
    if population is None:
        if args.rate is None:
            raise ConfigurationError(
                "the pass rate is not known: name an earlier run with a verdict, or add --pass RATE"
            )
        population = Population.guess(args.rate)
    groups = {record.group for record in records}
    tasks = args.tasks or (_domain_tasks(args) if args.domain else count_tasks(groups))
    if not tasks:
        raise ConfigurationError("the number of tasks is not known: add --tasks N or --domain NAME, or name a run")
    trials = args.trials or max(1, round(len(records) / len(groups)) if groups else 1)
    sent, received = _pair("tokens", args.tokens)
    usage = Usage.of(records)
    usage = usage._replace(sent=sent, received=received, usd=None) if sent is not None else usage
    usage = usage._replace(seconds=args.seconds) if args.seconds is not None else usage
    price = _pair("price", args.price)
    usage = usage.priced(*price) if price[0] is not None and price[1] is not None else usage
    columns = columns_of(installed())
    source = f"from {earlier.name}" if earlier is not None and args.rate is None else "expected"
    return _Plan(
        tasks, trials, population, usage, [Gate.parse(expression, columns) for expression in args.gate], source
    )


def _domain_tasks(args: argparse.Namespace) -> int:
    domain = project_of(args).load(args.domain)
    return len(domain.tasks(None if args.split == "full" else args.split))


def _pair(name: str, value: str | None) -> tuple[float, float] | tuple[None, None]:
    if value is None:
        return None, None
    try:
        sent, received = (float(part) for part in value.split(","))
    except ValueError:
        sent = received = -1.0
    if not (0 <= sent < math.inf and 0 <= received < math.inf):
        raise ConfigurationError(f"--{name}: expected two numbers, such as 2,8, got {value!r}")
    return sent, received


def _document(plan: _Plan, detect: float | None, concurrency: int) -> dict[str, Any]:
    from ...analysis import POWER
    from .planning import smallest_loss, unanswerable

    gates = []
    for gate in plan.gates:
        why = unanswerable(gate, plan.tasks, plan.population.together)
        gates.append({"gate": str(gate), "why": str(why) if why else None, "tasks_needed": why.needed if why else None})
    document = {
        "tasks": plan.tasks,
        "trials": plan.trials,
        "pass_rate": plan.population.rate,
        "variance_within_tasks": plan.population.within,
        "variance_assumed": plan.population.guessed,
        "tasks_per_cluster": plan.population.together,
        "power": POWER,
        "smallest_loss": smallest_loss(plan.population, plan.tasks, plan.trials, plan.trials),
        "cost": plan.usage.of_trials(plan.tasks * plan.trials, concurrency),
        "gates": gates,
    }
    return document if detect is None else document | {"detect": _detect(plan, detect, concurrency)}


def _detect(plan: _Plan, loss: float, concurrency: int) -> dict[str, Any]:
    from .planning import smallest_loss, tasks_needed, trials_needed

    options = []
    for trials in sorted({*_TRIALS, plan.trials}):
        tasks = tasks_needed(plan.population, trials, loss)
        if tasks is not None:
            options.append({"tasks": tasks, **plan.usage.of_trials(tasks * trials, concurrency), "trials_each": trials})
    smallest = smallest_loss(plan.population, plan.tasks, plan.trials, plan.trials)
    return {
        "loss": loss,
        "shown": smallest is not None and smallest <= loss,
        "trials_needed": trials_needed(plan.population, plan.tasks, loss),
        "options": options,
    }


def _print(plan: _Plan, document: dict[str, Any], concurrency: int) -> None:
    printer = Printer()
    size = f"{plural(plan.tasks, 'task')} x {plural(plan.trials, 'trial')}"
    assumed = ", tasks that differ widely (assumed)" if plan.population.guessed else ""
    together = plan.population.together
    clusters = f", in clusters of {together:.2g} tasks that pass or fail together" if together > 1 else ""
    printer.line(f"{size}; pass rate {plan.population.rate:.3f} ({plan.source}){assumed}{clusters}")
    smallest = document["smallest_loss"]
    if smallest is None:
        printer.line("no loss is seen at 80 % power by a comparison with a run of the same size")
    else:
        printer.line(f"smallest loss seen at 80 % power, compared with a run of the same size: {smallest:.3f}")
    printer.line(f"cost: {_format_cost(document['cost'], concurrency)}")
    for gate in document["gates"]:
        printer.line(f"gate {gate['gate']}: {gate['why'] or 'a clear result is possible'}")
    if "detect" in document:
        _print_detect(printer, plan, document["detect"], concurrency)


def _print_detect(printer: Printer, plan: _Plan, detection: dict[str, Any], concurrency: int) -> None:
    printer.line(f"to see a loss of {detection['loss']:g} at 80 % power, in both runs:")
    for option in detection["options"]:
        size = f"{plural(option['tasks'], 'task')} x {plural(option['trials_each'], 'trial')}"
        printer.line(f"{size}: {_format_cost(option, concurrency)}", 2)
    if not detection["options"]:
        printer.line("no number of tasks is enough", 2)
    needed = detection["trials_needed"]
    few = f"{plural(needed, 'trial')} of each" if needed else "no number of trials is enough"
    printer.line(f"with {plural(plan.tasks, 'task')}: {few}", 2)


def _format_cost(cost: dict[str, Any], concurrency: int) -> str:
    parts = [plural(cost["trials"], "trial")]
    if cost["tokens_sent"] is not None:
        from ...analysis import format_tokens

        parts.append(format_tokens(cost["tokens_sent"], cost["tokens_received"]))
    parts.append("cost unknown" if cost["usd"] is None else f"${cost['usd']:,.2f}")
    if cost["hours"] is not None:
        parts.append(f"{_duration(cost['hours'])} at a concurrency of {concurrency}")
    return ", ".join(parts)


def _duration(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.1f} minutes"
