"""``tau domains``: the domains that are installed, and those of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import TauError
from ...text import plural
from ..project import Project, add_project_options, project_of
from .lists import Row, add_word, matching, show_rows

if TYPE_CHECKING:
    import argparse


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "domains",
        description="List the installed domains and those of this project, with the number of their tasks and tools.",
        statuses={0: "the domains were listed", 2: "the command cannot be used"},
        examples=[("tau domains", "all domains"), ("tau domains tele", "those with this text in their line")],
    )
    add_word(parser)
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    project = project_of(args)
    rows = matching([Row(name, _facts(project, name)) for name in project.names()], args.word)
    show_rows(rows, f"{plural(len(rows), 'domain')}; 'tau domain NAME' describes one")
    return 0


def _facts(project: Project, name: str) -> str:
    """Return the numbers of a domain; of one that cannot be loaded the reason."""
    try:
        domain = project.load(name)
        tasks, spec = len(domain.tasks(None)), domain.spec
    except TauError as error:
        return f"cannot be loaded: {error}"
    sides = {"agent": spec.agent_tools, "user": spec.user_tools}
    infos = {side: list(toolkit.tool_infos.values()) for side, toolkit in sides.items() if toolkit is not None}
    shown = {side: sum(not info.hidden for info in found) for side, found in infos.items()}
    tools = ", ".join(f"{plural(number, 'tool')} of the {side}" for side, number in shown.items())
    hidden = sum(info.hidden for found in infos.values() for info in found)
    tools += f", {plural(hidden, 'hidden tool')}" if hidden else ""
    own = ", of this project" if name in project.own_names() else ""
    return f"{plural(tasks, 'task')}, {tools}{own}"
