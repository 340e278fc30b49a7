"""``tau texts``: write the texts of a checkout of τ²-bench to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands.options import add_options
from ..commands.output import Printer
from ..errors import ConfigurationError
from ..text import plural

if TYPE_CHECKING:
    import argparse


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "texts",
        description="Read the texts that models get from a checkout of τ²-bench: descriptions and schemas of tools, "
        "system messages, the judge's prompt. Its sources are parsed, never imported or executed. The file is for "
        "runs with the protocol tau2.",
        statuses={0: "every text was found", 1: "the file was written, some texts are missing", 2: "nothing was found"},
    )
    parser.add_argument("checkout", metavar="CHECKOUT", help="the folder of the checkout")
    add_options(parser.add_argument_group("output"), "out", help="the file to write", required=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ..protocol import read_checkout, write_texts

    checkout = Path(args.checkout)
    if not checkout.is_dir():
        raise ConfigurationError(f"{checkout}: expected the folder of a checkout of τ²-bench")
    texts = read_checkout(checkout)
    write_texts(Path(args.out), texts)
    printer = Printer()
    for domain, tools in sorted(texts.tools.items()):
        hidden = len((texts.discoverable(domain) or {"tools": []})["tools"])
        more = f", {hidden} discoverable" if hidden else ""
        printer.line(
            f"{domain}: {plural(len(tools.assistant), 'tool')} of the agent, {len(tools.user)} of the user{more}"
        )
    prompts = [*texts.prompts, *(["done"] if texts.done else []), *(["judge"] if texts.judge else [])]
    printer.line(f"prompts: {', '.join(prompts) or 'none'}")
    for problem in texts.not_found:
        printer.line(f"not found: {problem}")
    printer.line(f"{args.out}: written")
    return 1 if texts.not_found else 0
