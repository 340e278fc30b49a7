"""``tau domain``: the description of a domain, as a page, as Markdown or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...commands.options import add_options
from ...commands.output import open_page, print_json
from ...commands.project import add_project_options, project_of
from ...errors import ConfigurationError
from ...files import atomic_open
from ...terminal import print_paged
from ...text import printable

if TYPE_CHECKING:
    import argparse

#: The format of a file by the end of its name; of another one it is html.
_FORMATS = {".md": "markdown", ".json": "json"}


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "domain",
        description="Print the description of a domain: its policies, the tools of both sides with an example call "
        "and its result, the tables of its databases, its tasks, and the tools that no task uses. With -o FILE, write "
        "it; the page is one HTML file that needs no network. No model is called.",
        statuses={0: "the description was printed or written", 2: "the command cannot be used"},
        examples=[
            ("tau domain retail", "in the terminal"),
            ("tau domain retail -o retail.html --open", "the page, in a browser"),
            ("tau domain retail --format json", "all of it as JSON, printed"),
        ],
    )
    parser.add_argument("name", metavar="NAME", help="the domain")
    group = parser.add_argument_group("output")
    add_options(group, "out", help="the file to write (default: standard output)")
    add_options(group, "domain-format", "open")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    kind = args.format or _FORMATS.get(Path(args.out).suffix, "html") if args.out else args.format or "markdown"
    if args.open and (args.out is None or kind != "html"):
        raise ConfigurationError("--open shows the page: expected -o FILE.html with it")
    domain = project_of(args).load(args.name)
    from ...reports.domain import describe_domain, domain_markdown, domain_page

    found = describe_domain(domain)
    texts = {"html": domain_page, "markdown": domain_markdown, "json": _json}
    if args.out is not None:
        _write(Path(args.out), texts[kind](found))
        print(printable(args.out))  # noqa: T201 - this is a command
        if args.open:
            open_page(Path(args.out))
    elif kind == "json":
        print_json(found)
    else:
        print_paged(texts[kind](found).splitlines())
    return 0


def _json(found: dict[str, Any]) -> str:
    from ...plain import json

    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(file) as opened:
        opened.write(text.encode("utf-8", "backslashreplace"))
