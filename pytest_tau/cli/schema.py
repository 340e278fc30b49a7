"""``tau schema``: JSON Schemas of files that people write and read, for editors and other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands.options import add_options
from ..commands.project import add_project_options, options_schema, project_of
from ..errors import ConfigurationError
from ..files import atomic_write
from ..plain import json
from ..runs.layout import MANIFEST, SIMULATIONS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_KINDS = ("task", "run", "simulation", "options", "program")


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "schema",
        description="Print the JSON Schema of task files, of run.json, of the lines of simulations.jsonl, of the "
        "options in pytest.toml and pyproject.toml, or of the lines that an agent 'stdio:PROGRAM' reads and writes. "
        "With --domain, the tools of that domain are part of the schema of tasks, so that an editor completes "
        "reference actions.",
        statuses={0: "the schema was written", 2: "the command cannot be used"},
        examples=[
            ("tau schema task --domain retail -o retail.schema.json", "for the tasks of a domain"),
            ("tau schema -o schemas", "a file for each of the schemas"),
        ],
    )
    parser.add_argument(
        "kind",
        nargs="?",
        choices=_KINDS,
        metavar="KIND",
        help="task, run, simulation, options or program (default: all, in one JSON object)",
    )
    add_options(
        parser.add_argument_group("selection"),
        "domain",
        help="restrict tasks to the tools, functions and reward components of this domain",
    )
    add_project_options(parser)
    add_options(
        parser.add_argument_group("output"),
        "out",
        help="the file to write (default: standard output); without KIND, a folder for one KIND.schema.json each",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    if args.domain is not None and args.kind not in (None, "task"):
        raise ConfigurationError(f"--domain applies to the schema of tasks, not to that of {args.kind}")
    kinds: Sequence[str] = _KINDS if args.kind is None else (args.kind,)
    schemas = {kind: _schema(kind, args) for kind in kinds}
    if args.out is None:
        sys.stdout.write(_text(schemas if args.kind is None else schemas[args.kind]))
        return 0
    out = Path(args.out)
    for kind, schema in schemas.items():
        file = out / f"{kind}.schema.json" if args.kind is None else out
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(file, _text(schema))
        print(file)  # noqa: T201 - this is a command
    return 0


def _schema(kind: str, args: argparse.Namespace) -> dict[str, Any]:
    if kind == "options":
        return options_schema()
    if kind == "task":
        return _task_schema(args)
    schemas = {"run": manifest_schema, "simulation": simulation_schema, "program": program_schema}
    return schemas[kind]()


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``run.json``."""
    from ..environment.task_schema import model_schema
    from ..runs.manifest import Manifest

    return {**model_schema(Manifest), "title": MANIFEST}


def program_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of a program that stays."""
    from ..environment.task_schema import model_schema
    from ..participants.programs.lines import Line

    return model_schema(Line)


def simulation_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of ``simulations.jsonl``."""
    from ..environment.task_schema import model_schema
    from ..models import Simulation, Task

    class SimulationLine(Simulation):
        """A line of simulations.jsonl: a simulation with everything that is needed to grade it again.

        Attributes:
            test: The node id of the test.
            domain: The name of the domain.
            task: The task.
        """

        test: str
        domain: str
        task: Task

    return {**model_schema(SimulationLine), "title": f"A line of {SIMULATIONS}"}


def _task_schema(args: argparse.Namespace) -> dict[str, Any]:
    from ..environment.task_schema import task_file_schema
    from ..evaluation import known_components

    if args.domain is None:
        return task_file_schema()
    project = project_of(args)
    return task_file_schema(project.load(args.domain).spec, known_components(project.evaluators))


def _text(schema: Any) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
