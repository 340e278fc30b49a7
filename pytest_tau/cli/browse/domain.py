"""``tau domain``: the description of a domain, as a page, as Markdown or as JSON."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ...files import atomic_open, file_name_of
from ...text import printable
from ..options import add_options
from ..project import Project, add_project_options
from ..settings import data_dir, print_json

if TYPE_CHECKING:
    import argparse


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "domain",
        help="describe a domain: policy, tools, data and tasks",
        description="Write the description of a domain: its policies, the tools of both sides with an example call "
        "and its result, the tables of its databases, its tasks, and the tools that no task uses. The page is one HTML "
        "file that needs no network. No model is called.",
        statuses={0: "the description was written", 2: "the command cannot be used"},
        examples=[
            ("tau domain retail --open", "the page, in a browser"),
            ("tau domain retail --format json", "all of it as JSON, printed"),
        ],
    )
    parser.add_argument("name", metavar="NAME", help="the domain")
    group = parser.add_argument_group("output")
    add_options(
        group, "out", help="the file to write (default: NAME.html in the current folder; other formats are printed)"
    )
    add_options(group, "domain-format", "open")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        TauError: There is no such domain, or its data, policies or tasks cannot be read.
        OSError: The file cannot be written.
    """
    if args.open and args.format != "html":
        raise ConfigurationError(f"--open shows the page: expected --format html with it, got {args.format}")
    domain = Project(data_dir(args.data), args.plugins, args.rootdir).load(args.name)
    from ...reports.domain import describe_domain, domain_markdown, domain_page

    found = describe_domain(domain)
    if args.out is None and args.format == "json":
        print_json(found)
        return 0
    if args.out is None and args.format == "markdown":
        sys.stdout.write(domain_markdown(found))
        return 0
    file = Path(args.out or f"{file_name_of(args.name)}.html")
    texts = {"html": domain_page, "markdown": domain_markdown, "json": _json}
    _write(file, texts[args.format](found))
    print(printable(str(file)))  # noqa: T201 - this is a command
    if args.open:
        webbrowser.open(file.resolve().as_uri())
    return 0


def _json(found: dict[str, Any]) -> str:
    import json

    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(file) as opened:
        opened.write(text.encode("utf-8", "backslashreplace"))
