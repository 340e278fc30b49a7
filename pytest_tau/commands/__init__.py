"""What subcommands of ``tau`` have in common, those of capabilities included: options, projects, output.

A command of a capability is a ``pytest_tau.Command``.
"""

from __future__ import annotations

from ..clock import run_steadily
from ..garbage import rare_collections
from .judges import judge_llm, judge_of, llm_named
from .options import Option, add_option, add_options
from .output import RUN_HELP, Printer, print_aside, print_json
from .project import Project, add_project_options, add_runs, data_dir, project_of, project_of_runs

__all__ = [
    "RUN_HELP",
    "Option",
    "Printer",
    "Project",
    "add_option",
    "add_options",
    "add_project_options",
    "add_runs",
    "data_dir",
    "judge_llm",
    "judge_of",
    "llm_named",
    "print_aside",
    "print_json",
    "project_of",
    "project_of_runs",
    "rare_collections",
    "run_steadily",
]
