"""``tau mutants``: how many faults of an agent the tasks of a domain notice, and which they do not."""

from __future__ import annotations

import argparse
import math
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...commands import add_options, add_project_options, llm_named, print_aside, print_json, project_of
from ...environment import DEFAULT_SPLIT
from ...errors import BudgetError, ConfigurationError
from ...runs import StrengthFacts, store_strength
from ...text import plural
from .given import given_mutants
from .mutant import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...chat import LLM, Role
    from ...commands import Project
    from ...environment import Domain
    from ...models import Task
    from .mutant import Mutant
    from .trials import Trials
    from .verdicts import Base, Judge, Verdict

#: The trials of each task, and the tasks of each mutant, of an agent that varies.
_TRIALS, _TASKS = 4, 10
#: That of test runs.
_SEED = 300


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "mutants",
        description="Make an agent faulty in many ways, one at a time, and show which faults no task of a domain "
        "notices. Mutants lack a sentence of the policy or have another number or choice in it, lack a tool or have "
        "two descriptions swapped, see old results or the first record only, or make a call with another argument, "
        "twice or not at all. A mutant plays the tasks in which its fault has a consequence, the shortest first. It is "
        "killed by one failed trial if the agent never varies, else by a significant loss; a task that cannot change "
        "the outcome is not played.",
        statuses={0: "the mutants were played", 1: "the score is below --min-score", 2: "the command cannot be used"},
        examples=[
            ("tau mutants airline --tau-agent rules", "an agent that never varies"),
            ("tau mutants retail --tau-agent llm --tau-agent-llm MODEL --dry-run", "the plan for a model"),
        ],
    )
    text = "the domain whose tasks are played (default: that of the project)"
    parser.add_argument("domain", nargs="?", metavar="DOMAIN", help=text)
    _add_selection(parser)
    _add_trials(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--dry-run", action="store_true", help="show the plan, and call no model")
    text = "exit with 1 if the share of killed mutants is below this number from 0 to 1"
    output.add_argument("--min-score", type=_share, metavar="SCORE", help=text)
    add_options(output, "json")
    output.add_argument("-v", "--verbose", action="store_true", help="show killed and equivalent mutants, too")
    add_project_options(parser)
    parser.set_defaults(run=run)


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("selection")
    group.add_argument("--tau-agent", dest="agent", required=True, metavar="SPEC", help="the agent, as in a test run")
    text = "the user (default: the one of a test run)"
    group.add_argument("--tau-user", dest="user", metavar="SPEC", help=text)
    add_options(group, "split")
    text = "only these tasks, by id or glob; may be repeated"
    group.add_argument("--select", action="append", default=[], metavar="GLOB", help=text)
    text = f"only mutants of this kind; may be repeated: {', '.join(KINDS)}"
    group.add_argument("--mutant", action="append", choices=KINDS, default=[], metavar="KIND", help=text)
    for side in ("agent", "user"):
        text = f"the model of the {side}, as in a test run"
        group.add_argument(f"--tau-{side}-llm", dest=f"{side}_llm", metavar="MODEL", help=text)


def _add_trials(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("trials of an agent that varies")
    text = f"the trials of each task (default: {_TRIALS})"
    group.add_argument("--tau-trials", dest="trials", type=_number, default=_TRIALS, metavar="K", help=text)
    text = f"the most tasks that a mutant plays (default: {_TASKS})"
    group.add_argument("--max-tasks", type=_number, default=_TASKS, metavar="N", help=text)
    text = "USD that all trials may cost; mutants beyond it are undecided"
    group.add_argument("--tau-budget", dest="budget", type=float, metavar="USD", help=text)
    text = "record model calls in this folder, and replay those that it has"
    group.add_argument("--cassettes", type=Path, metavar="DIR", help=text)
    text = "the seed of the trials (default: %(default)s)"
    group.add_argument("--tau-seed", dest="seed", type=int, default=_SEED, metavar="N", help=text)


def _domain(project: Project, name: str | None) -> Domain:
    """Return the domain that is named, else the one of the project.

    Raises:
        ConfigurationError: There is none, or there are several.
    """
    names = [name] if name is not None else [*(project.own_names() or project.selected_names())]
    if len(names) != 1:
        known = f"the project has {', '.join(names)}" if names else f"known: {', '.join(project.names())}"
        raise ConfigurationError(f"add the name of a domain ({known})")
    return project.load(names[0])


def _number(value: str) -> int:
    if not (value.isascii() and value.isdigit()) or int(value) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {value!r}")
    return int(value)


def _share(value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, got {value!r}")
    return share


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...commands import rare_collections
    from .trials import Trials

    if args.budget is not None and not 0 < args.budget < math.inf:
        raise ConfigurationError(f"--tau-budget: expected an amount in USD above 0, got {args.budget:g}")
    domain = _domain(project_of(args), args.domain)
    tasks = _tasks(domain, args)
    trials = Trials(
        domain,
        args.agent,
        args.user,
        seed=args.seed,
        llms={} if args.dry_run else _llms(args),
        budget=args.budget,
        cassettes=args.cassettes,
    )
    trials_text = "1 trial" if trials.never_varies else plural(args.trials, "trial")
    print_aside(f"plan: {plural(len(tasks), 'task')} of {domain.name}, {trials_text} of each without a fault")
    if not trials.never_varies:
        environment = domain.environment()
        given_count = sum(1 for _ in given_mutants(environment.policy, environment.shared_tools("assistant")))
        most = f"{plural(args.max_tasks, 'task')} x {trials_text}"
        print_aside(
            f"plan: then {given_count:,} mutants of the policy and of descriptions, and those of its calls: {most} each"
        )
        if args.dry_run:
            return 0
    with rare_collections():
        return _played(trials, tasks, args)


def _played(trials: Trials, tasks: Sequence[Task], args: argparse.Namespace) -> int:
    from .output import document, in_words, show
    from .verdicts import Judge, Score, mutants_of, play_base

    base = play_base(trials, tasks, args.trials)
    if not base.tasks:
        raise ConfigurationError(
            f"agent {args.agent!r} passes none of {plural(len(tasks), 'task')}, so that no fault can show: choose "
            "tasks that it passes"
        )
    environment = trials.domain.environment()
    mutants = mutants_of(base, environment.policy, environment.shared_tools("assistant"))
    mutants = [mutant for mutant in mutants if not args.mutant or mutant.kind in args.mutant]
    judge = Judge(trials, base, args.trials, args.max_tasks)
    _print_plan(trials, base, judge, mutants, args)
    if args.dry_run:
        return 0
    verdicts = _verdicts(judge, mutants)
    score = Score.of(verdicts)
    if args.json:
        print_json(document(trials, base, verdicts, score))
    else:
        show(trials, base, verdicts, score, verbose=args.verbose)
    if score.rate is not None and not (args.mutant or args.select) and args.split == DEFAULT_SPLIT:
        facts = StrengthFacts(line=f"{in_words(score)}, by {trials.agent}", sentences=_sentences(verdicts))
        store_strength(trials.domain, "mutants", facts)
    return int(args.min_score is not None and (score.rate is None or score.rate < args.min_score))


def _sentences(verdicts: Sequence[Verdict]) -> dict[str, bool]:
    """Return by sentence of the policy whether a fault in it is noticed, as far as one has consequences."""
    noticed: dict[str, bool] = {}
    for verdict in verdicts:
        if verdict.mutant.kind.startswith("sentence") and verdict.outcome in ("killed", "survived"):
            sentence = verdict.mutant.detail
            noticed[sentence] = noticed.get(sentence, False) or verdict.outcome == "killed"
    return noticed


def _print_plan(trials: Trials, base: Base, judge: Judge, mutants: Sequence[Mutant], args: argparse.Namespace) -> None:
    passed = f"{len(base.tasks)} of {plural(len(base.trials), 'task')} passed without a fault"
    trials_each = 1 if base.steady else args.trials
    most = sum(len(judge.candidates(mutant)) for mutant in mutants) * trials_each
    print_aside(f"plan: {passed}; {plural(len(mutants), 'mutant')}, at most {most:,} trials")
    if trials.spent:
        mean = trials.spent / trials.played
        print_aside(
            f"cost so far ${trials.spent:.2f}, ${mean:.4f} a trial; the mutants at most about ${mean * most:.2f}"
        )


def _verdicts(judge: Judge, mutants: Sequence[Mutant]) -> list[Verdict]:
    """Return the verdicts; the mutants for which the budget does not suffice are undecided."""
    from .verdicts import Verdict

    decided: list[Verdict] = []
    try:
        for verdict in judge.verdicts(mutants):
            decided.append(verdict)  # noqa: PERF402 - those before the budget is spent are kept
    except BudgetError as error:
        decided += [Verdict(mutant, "undecided", why=str(error)) for mutant in mutants[len(decided) :]]
    return decided


def _tasks(domain: Domain, args: argparse.Namespace) -> list[Task]:
    """Return the tasks that can be played without a judge.

    Raises:
        ConfigurationError: There is none.
    """
    chosen = domain.tasks(None if args.split == "full" else args.split)
    if args.select:
        chosen = [task for task in chosen if any(fnmatchcase(task.id, glob) for glob in args.select)]
    tasks = [task for task in chosen if not task.needs_judge]
    if len(tasks) < len(chosen):
        print_aside(f"without {plural(len(chosen) - len(tasks), 'task')} that need a judge")
    if not tasks:
        raise ConfigurationError(
            f"{domain.name}: no task of the split {args.split!r} is selected: see --select, --split"
        )
    return tasks


def _llms(args: argparse.Namespace) -> dict[Role, LLM]:
    """Return the models that options name.

    Raises:
        ConfigurationError: One cannot be called.
    """
    names: dict[Role, str | None] = {"agent": args.agent_llm, "user": args.user_llm}
    return {role: llm_named(name, priced=args.budget is not None) for role, name in names.items() if name is not None}
