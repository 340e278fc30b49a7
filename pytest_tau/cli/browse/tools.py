"""``tau tools``: the tools of a domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..project import add_project_options, project_of
from .lists import Row, add_word, show_matching

if TYPE_CHECKING:
    import argparse


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "tools",
        description="List the tools of both sides of a domain, with their parameters and kinds. A word is searched in "
        "names, parameters and descriptions.",
        statuses={0: "the tools were listed", 2: "the command cannot be used"},
        examples=[("tau tools retail order", "tools with this text"), ("tau tools telecom", "all tools")],
    )
    parser.add_argument("name", metavar="NAME", help="the domain")
    add_word(parser)
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...reports.domain.describe import SIDES, signature

    domain = project_of(args).load(args.name)
    environment = domain.environment()
    rows = []
    for side, requestor in SIDES:
        for tool in environment.shared_tools(requestor):
            first, _, rest = tool.description.partition("\n")
            rows.append(Row(signature(tool), f"{side}, {tool.kind}: {first}", rest))
    environment.close()
    show_matching(rows, args.word, "tool", f"; 'tau domain {args.name}' shows an example call of each")
    return 0
