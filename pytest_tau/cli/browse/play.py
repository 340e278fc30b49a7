"""``tau play``: a conversation that a person plays at the terminal."""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...commands.options import add_options
from ...commands.project import Project, add_project_options, project_of
from ...errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ...environment import Domain
    from ...episodes import Episode
    from ...models import Task
    from ...runner import SimulationSettings

#: The folder of played conversations, below the project's folder.
PLAYED = Path(".tau", "played")


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "play",
        description="Play one side of a conversation. The other side is any agent or user of a test run. At the end "
        "the verdict is shown, and the conversation is stored for tau view, tau show and tau export, and "
        "can be replayed as the agent replay:FILE of a test run.",
        statuses={
            0: "the conversation has ended, or you have left it",
            1: "the other side or its model failed",
            2: "the command cannot be used",
        },
        examples=[
            ("tau play retail cancel-unneeded", "play the agent of a task"),
            ("tau play retail --seed 7", "play a task that is drawn"),
            ("tau play telecom --as user --agent rules", "play the user of an agent without a model"),
        ],
    )
    parser.add_argument("domain_name", metavar="DOMAIN", help="the domain; 'tau domains' lists them")
    parser.add_argument("task", nargs="?", metavar="TASK", help="the task's id (default: drawn by --seed)")
    group = parser.add_argument_group("sides")
    add_options(group, "as", "solo", "play-agent", "play-user", "agent-llm", "user-llm", "blind")
    group = parser.add_argument_group("task and verdict")
    add_options(group, "split", "seed", "policy-variant", "judge", "judge-llm", "judge-llm-args")
    add_options(parser.add_argument_group("output"), "save")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    side = getattr(args, "as")
    _check(args, side)
    project = project_of(args)
    settings = _settings(project, args)
    domain = project.load(args.domain_name)
    domain.check_mode(solo=args.solo, policy=args.policy_variant)
    task = _task(domain, args)
    from ...play import Session

    make = _maker(domain, task, side, args, settings)
    return Session(make, _file(args, domain, task), blind=args.blind).run()


def _check(args: argparse.Namespace, side: str) -> None:
    """Check the sides, before anything is loaded.

    Raises:
        ConfigurationError: The options contradict each other, or a participant cannot be used.
    """
    from ...participants import load_source

    if args.blind and side != "user":
        raise ConfigurationError("--blind hides the policy from who plays the user: expected --as user with it")
    if args.solo and side == "user":
        raise ConfigurationError("--solo has no user: expected --as agent with it")
    if args.solo and args.user is not None:
        raise ConfigurationError(f"--solo has no user: remove --user {args.user}")
    played, other = ("user", "agent") if side == "user" else ("agent", "user")
    if getattr(args, played) is not None:
        raise ConfigurationError(
            f"--{played} {getattr(args, played)}: you play the {played}; --{other} names the other side"
        )
    if getattr(args, other) == "human":
        raise ConfigurationError(f"--{other} human: one person plays, the {played}; name another {other}")
    if getattr(args, other) is not None:
        load_source(getattr(args, other), "agent" if other == "agent" else "user")


def _task(domain: Domain, args: argparse.Namespace) -> Task:
    """Return the task that is named, or drawn by the seed.

    Raises:
        ConfigurationError: There is no such task, or none is named or drawn.
    """
    tasks = {task.id: task for task in domain.tasks(args.split)}
    every = domain.tasks_by_id()
    if args.task is not None:
        if args.task not in every:
            raise ConfigurationError(f"domain {domain.name!r}: {unknown_name('task', args.task, every)}")
        return every[args.task]
    if args.solo:
        tasks = {name: task for name, task in tasks.items() if task.ticket}
    if not tasks:
        raise ConfigurationError(f"domain {domain.name!r} has no task to play in the split {args.split!r}")
    if args.seed is None:
        raise ConfigurationError(
            f"name a task of {domain.name!r} ('tau tasks {domain.name}' lists them), or draw one with --seed"
        )
    return random.Random(args.seed).choice(list(tasks.values()))  # noqa: S311 - a task, not a secret


def _settings(project: Project, args: argparse.Namespace) -> SimulationSettings:
    """Return the settings of the conversation; a person has no limit of time.

    Raises:
        ConfigurationError: A judge or a model cannot be used.
    """
    from ...chat import LLM
    from ...chat.call_arguments import with_defaults
    from ...commands.judges import judge_of
    from ...evaluation import Evaluation
    from ...integrations.default_model import check_model, default_model
    from ...orchestrator import Limits
    from ...play import RememberedModel
    from ...runner import SimulationSettings

    judge = judge_of(args)
    names = {"agent": args.agent_llm, "user": args.user_llm}
    llms: dict[Any, LLM] = {}
    for role, name in names.items():
        if name is not None:
            check_model(name, {})
            llms[role] = LLM(name, RememberedModel(default_model()), with_defaults(name, {}))
    evaluation = Evaluation(judge=judge, evaluators=project.evaluators, solo=args.solo)
    return SimulationSettings(
        limits=Limits(), own_timeout=None, evaluation=evaluation, solo=args.solo, policy=args.policy_variant, llms=llms
    )


def _maker(
    domain: Domain, task: Task, side: Any, args: argparse.Namespace, settings: SimulationSettings
) -> Callable[[], Episode]:
    """Return the function that makes the episode, and an equal one after each turn that is undone."""
    from ...episodes import Episode
    from ...runner import DEFAULT_SEED

    seed = DEFAULT_SEED if args.seed is None else args.seed

    def make() -> Episode:
        for llm in settings.llms.values():
            llm.chat.rewind()  # type: ignore[attr-defined]
        return Episode(task, domain=domain, side=side, agent=args.agent, user=args.user, seed=seed, settings=settings)

    return make


def _file(args: argparse.Namespace, domain: Domain, task: Task) -> Path:
    """Return the file of this conversation: one of its own, so that it can be replayed."""
    from ...files import file_name_of
    from ...runs.layout import ignore_in_git

    folder = Path(args.save) if args.save else PLAYED
    if args.save is None:
        folder.mkdir(parents=True, exist_ok=True)
        ignore_in_git(folder.parent)
    time = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    name, number = f"{time}-{file_name_of(domain.name)}-{file_name_of(task.id)}", 1
    file = folder / f"{name}.jsonl"
    while file.exists():
        number += 1
        file = folder / f"{name}-{number}.jsonl"
    return file
