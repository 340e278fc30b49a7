"""``tau fork``: a stored conversation, continued several times from one of its messages on, by a run of pytest."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from ...commands import RUN_HELP, add_options
from ...errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from ...runs import Run, StoredTrial

#: The trials from each turn.
_TRIALS = 4
#: Settings that an option of this command replaces.
_OWN = ("agent", "user", "agent_llm", "user_llm", "seed")


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "fork",
        description="Continue a stored conversation from one of its messages on, with the settings of its run: the "
        "state is restored by replaying the calls before it, and model calls before it are not repeated. Shows how "
        "often each continuation passes. The result is a run like any other. Further arguments of pytest follow after "
        "--, such as -n 2.",
        statuses={
            0: "the trials were run",
            1: "a trial has no verdict, or a gate is missed or not decided",
            2: "the command or the run cannot be used",
        },
        examples=[
            ("tau fork nightly refund-1 --turn 9 --trials 8", "the rate from message 9 on"),
            ("tau fork nightly refund-1 --agent fixed.py:Agent", "another agent, from each message of the agent"),
        ],
    )
    parser.add_argument("run_name", metavar="RUN", help=RUN_HELP)
    parser.add_argument("task", metavar="TASK", help="the task's id")
    selection = parser.add_argument_group("selection")
    text = (
        "the message from which the conversation is continued, by its number in tau show: 7, 7,11 or 7-15 (those of "
        "the agent in this range), or each message of the agent (default: each)"
    )
    selection.add_argument("--turn", metavar="TURNS", default="each", dest="messages", help=text)
    text = "the stored trial (default: the first failed one, else the first)"
    selection.add_argument("--trial", metavar="N", type=int, help=text)
    text = (
        "how a side gets the messages before: agent=history, it is created with them, or agent=replay, it is sent "
        "them again; may be repeated (default: replay for sides without a model)"
    )
    selection.add_argument("--restore", metavar="HOW", action="append", help=text)
    text = f"the trials from each turn (default: {_TRIALS})"
    selection.add_argument("--trials", metavar="K", type=int, help=text)
    participants = parser.add_argument_group("what differs from the stored run")
    add_options(participants, "play-agent", help="the agent, as in a test run (default: that of the run)")
    add_options(participants, "play-user", help="the user, as in a test run (default: that of the run)")
    add_options(participants, "agent-llm", help="the agent's model (default: that of the run)")
    add_options(participants, "user-llm", help="the user's model (default: that of the run)")
    add_options(participants, "seed", help="the seed of the trials (default: that of the run)")
    parser.set_defaults(run=run, pytest=[])


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...runs import open_run
    from .turns import chosen_turns, read_turns

    stored = open_run(args.run_name)
    trial = _trial(stored, args.task, args.trial)
    try:
        chosen_turns(trial.simulation, read_turns(args.messages), stored.name, trial.task)
    except ValueError as error:
        raise ConfigurationError(f"--turn: {error}") from None
    try:
        settings = _settings(stored.info, args)
    except ConfigurationError as error:
        raise ConfigurationError(f"{stored.name}: {error}, after --") from None
    options = [
        *_selected(trial),
        *settings,
        f"--tau-fork={stored.path.resolve()}",
        f"--tau-fork-turn={args.messages}",
        *([f"--tau-fork-trial={args.trial}"] if args.trial is not None else []),
        f"--tau-trials={_TRIALS if args.trials is None else args.trials}",
        *([f"--tau-fork-restore={','.join(args.restore)}"] if args.restore else []),
    ]
    # A failed trial is a result here: its report is in tau show.
    command = [sys.executable, "-m", "pytest", *options, "-q", "--tb=no", "-rN", *args.pytest]
    status = subprocess.run(command, check=False).returncode  # noqa: S603 - a list of arguments, without a shell
    return 0 if status == 1 and not _decides(args.pytest) else min(status, 2)


def _trial(run: Run, task: str, number: int | None) -> StoredTrial:
    """Return the stored trial: the one that was named, else the first failed one, else the first."""
    from ...files import item_id
    from .turns import is_preferred

    chosen: StoredTrial | None = None
    tasks, trials = set(), []
    for trial in run.trials():
        tasks.add(trial.simulation.task_id)
        if task not in (trial.simulation.task_id, item_id(trial.simulation.task_id)):
            continue
        trials.append(trial.simulation.trial)
        if is_preferred(trial.simulation, chosen and chosen.simulation, number):
            chosen = trial
    if not trials:
        raise ConfigurationError(f"{run.name}: {unknown_name('task', task, tasks)}")
    if chosen is None:
        known = ", ".join(map(str, sorted(set(trials))))
        raise ConfigurationError(f"{run.name}: task {task!r} has no trial {number}: expected one of {known}")
    return chosen


def _selected(trial: StoredTrial) -> list[str]:
    from ...files import item_id

    path, task = trial.test.partition("::")[0], item_id(trial.simulation.task_id)
    if path.endswith(".json") and not path.startswith("-"):
        return [f"{path}::{task}", *([f"--tau-domain={trial.domain}"] if trial.domain else [])]
    if not trial.domain or trial.test.startswith("-") or trial.domain.startswith("-"):
        raise ConfigurationError(f"task {task!r}: expected a run that names its domain, got {trial.domain!r}")
    return [f"{trial.domain}::{task}"]


def _settings(stored: Mapping[str, Any], args: argparse.Namespace) -> list[str]:
    """Return the options for the settings of the stored run, or for what replaces them.

    Raises:
        ConfigurationError: A file is to be given again.
    """
    from ...runs import rerun_options

    replaced = {name: value for name in _OWN if (value := getattr(args, name, None)) is not None}
    options = {f"--tau-{name.replace('_', '-')}": value for name, value in replaced.items()}
    given = {argument.partition("=")[0] for argument in args.pytest}
    replacing = [f"{option}={value}" for option, value in options.items() if option not in given]
    return [*rerun_options(stored, {*options, *given}), *replacing]


def _decides(arguments: list[str]) -> bool:
    return any(argument.startswith(("--tau-gate", "--tau-fail-on", "--tau-baseline")) for argument in arguments)
