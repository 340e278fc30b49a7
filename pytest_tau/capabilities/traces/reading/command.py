"""``tau import``: conversations of traces as a stored run."""

from __future__ import annotations

import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from ....commands import add_options
from ....errors import ConfigurationError
from ....plain import json
from ....runs import RUNS, drafted_run
from ....text import plural, printable

if TYPE_CHECKING:
    import argparse

#: The problems that are printed.
_MOST: Final = 20


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "import",
        description="Read conversations from traces, and store them as a run without verdicts, for tau view, tau show, "
        "tau review and tau export. Formats are recognised: OpenTelemetry (OTLP JSON, with the GenAI conventions, "
        "OpenInference or OpenLLMetry), Jaeger, Phoenix, Langfuse, LangSmith, MLflow, Logfire and OpenAI Agents.",
        statuses={
            0: "all conversations were read",
            1: "a part of a file, or a conversation, could not be read; the others were",
            2: "no conversation was read, or the command cannot be used",
        },
        examples=[
            ("tau import traces.jsonl", "a file of the OpenTelemetry collector"),
            ("tau import spans.json logs.json -o runs/monday", "spans, and texts in log records"),
        ],
    )
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path, help="a file of traces or of log records")
    output = parser.add_argument_group("output")
    add_options(output, "out", help=f"the folder of the run (default: a new one in {RUNS})")
    add_options(output, "domain", help="the domain of the conversations, if they are of one that is installed")
    add_options(output, "json", help="print what is read as JSON, and store nothing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    for file in args.files:
        if not file.is_file():
            raise ConfigurationError(f"{file}: {'a folder' if file.is_dir() else 'there is no such file'}")
    return (
        _print_json(args.files) if args.json else _store(args.files, Path(args.out) if args.out else None, args.domain)
    )


def _print_json(files: list[Path]) -> int:
    """Print conversations one by one: there may be more than fit into memory."""
    from . import Conversation, read_traces

    problems, between = list[str](), ""
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write('{"conversations": [')
        for conversation_or_problem in read_traces(files, Path(folder)):
            if isinstance(conversation_or_problem, Conversation):
                sys.stdout.write(f"{between}\n{json.dumps(conversation_or_problem.as_json())}")
                between = ","
            else:
                problems.append(conversation_or_problem)
        sys.stdout.write(f'],\n"problems": {json.dumps(problems, indent=1)}}}\n')
    return int(bool(problems))


def _store(files: list[Path], out: Path | None, domain: str | None) -> int:
    target = out or RUNS / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-import"
    if target.exists():
        raise ConfigurationError(f"{target} already exists; give another folder with --out")
    with drafted_run(target) as draft:
        with draft.simulations.open("w", encoding="utf-8", newline="\n") as file:
            number, noted, problems = _write(files, draft.folder, file, domain)
        if not number:
            listed = _listed(problems)
            raise ConfigurationError("\n  ".join(["no conversation was read; nothing is stored", *listed]))
        draft.complete()
    _print(f"{target}: {plural(number, 'conversation')}")
    if noted:
        _print(f"{noted} of them have notes on what is missing; tau show {target} lists them")
    for line in _listed(problems):
        _print(line, sys.stderr)
    return int(bool(problems))


def _write(files: list[Path], scratch: Path, file: IO[str], domain: str | None) -> tuple[int, int, list[str]]:
    """Write the conversations of files; return how many there are, how many of them have notes, and the problems."""
    from ..facts import SourceFile
    from . import Conversation, digest_of, read_traces
    from .stored import Simulations

    folder = scratch / "spans"
    folder.mkdir()
    simulations = Simulations([SourceFile(name=str(path), digest=digest_of(path)) for path in files], domain)
    number, noted, problems = 0, 0, []
    for conversation_or_problem in read_traces(files, folder):
        if isinstance(conversation_or_problem, Conversation):
            file.write(simulations.line(conversation_or_problem))
            number, noted = number + 1, noted + bool(conversation_or_problem.notes)
        else:
            problems.append(conversation_or_problem)
    shutil.rmtree(folder)
    return number, noted, problems


def _listed(problems: list[str]) -> list[str]:
    more = [f"and {len(problems) - _MOST} more"] if len(problems) > _MOST else []
    return [f"not read: {problem}" for problem in problems[:_MOST]] + more


def _print(text: str, file: IO[str] | None = None) -> None:
    print(printable(text), file=file)
