"""``tau tasks``: the tasks of a domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..options import add_options
from ..project import add_project_options, project_of
from .lists import Row, add_word, show_matching

if TYPE_CHECKING:
    import argparse

    from ...models import Task


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "tasks",
        description="List the tasks of a domain with their purpose. A word is searched in ids, purposes, scenarios, "
        "tickets and the names of reference actions.",
        statuses={0: "the tasks were listed", 2: "the command cannot be used"},
        examples=[("tau tasks retail refund", "tasks with this text"), ("tau tasks telecom --split small", "a split")],
    )
    parser.add_argument("name", metavar="NAME", help="the domain")
    add_word(parser)
    add_options(parser.add_argument_group("selection"), "split")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    domain = project_of(args).load(args.name)
    rows = [task_row(task) for task in domain.tasks(args.split)]
    splits = f" (split {args.split}; the domain has {', '.join(domain.splits)})" if domain.splits else ""
    show_matching(rows, args.word, "task", splits)
    return 0


def task_row(task: Task) -> Row:
    """Return the row of a task: its id and its purpose, else the beginning of its scenario."""
    scenario, actions = str(task.user_scenario), task.criteria.actions or []
    purpose = task.description.purpose if task.description else None
    instructions = task.user_scenario.instructions
    reason = instructions if isinstance(instructions, str) else instructions.reason_for_call
    names = "\n".join(action.name for action in actions)
    return Row(task.id, purpose or reason, f"{scenario}\n{task.ticket or ''}\n{names}")
