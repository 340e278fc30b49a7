"""``tau submit``: prepare and check a submission to τ²-bench's leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..parser import Parser
from . import check, prepare

if TYPE_CHECKING:
    import argparse

_STATUSES = {0: "the submission was written, or is right", 1: "a check has failed", 2: "the command cannot be used"}


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "submit",
        description="Make the folder of a submission to τ²-bench's leaderboard from runs, and check such a folder. "
        "Nothing is sent.",
        statuses=_STATUSES,
        examples=[
            ("tau submit prepare RUN -o submissions", "ask for what no run has recorded, and write the folder"),
            ("tau submit check submissions/FOLDER", "compare what it states with its trajectories"),
        ],
    )
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", help="prepare or check", parser_class=Parser, required=True
    )
    prepare.add_parser(actions)
    check.add_parser(actions)
