"""Common parts of the subcommands: parsers with help in groups, the folder of data, lines of a terminal."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import ConfigurationError, similar_names, suggestion
from ..text import printable, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..runs.record import TrialRecord

#: The beginning of a command for a CI service in a JSON string.
_COMMAND = re.compile(r"(##\w*)\[")

#: The help of an argument that names a run.
RUN_HELP = "the run: its folder, its name below .tau/runs, a result file, or a URL of one of these"
#: The same for a command that needs no conversations, of which a baseline has none.
RECORDS_HELP = "the run: its folder, its name below .tau/runs, a result file, a URL of one of these, or baseline"


def data_dir(given: str | None) -> Path | None:
    """Return the folder of official data; None for the bundled data.

    Raises:
        ConfigurationError: The folder is missing or has another layout.
    """
    source = "--data" if given is not None else "$TAU_DATA"
    given = given if given is not None else os.environ.get("TAU_DATA")
    if not given:
        return None
    from ..protocol import data_folder

    path = Path(given).resolve()
    found = data_folder(path)
    if found is None:
        raise ConfigurationError(f"{source}: expected a folder with domains/<name>/ in it, got {path}")
    return found


def pass_rates(records: Sequence[TrialRecord]) -> list[str]:
    """Return pass^1 of each variant, as far as it has trials with a verdict."""
    from ..analysis.scores import Scores
    from ..analysis.variants import records_by_variant

    scores = [Scores.of(name, of_variant) for name, of_variant in records_by_variant(records).items()]
    return [
        f"pass^1 {each.rates[0].value:.3f}{f' ({each.name})' if each.name else ''}" for each in scores if each.rates
    ]


def open_page(file: Path) -> None:
    """Open a page in the user's browser."""
    import webbrowser

    webbrowser.open(file.resolve().as_uri())


class Printer:
    """Prints lines that fit the terminal."""

    def __init__(self) -> None:
        self._width = max(shutil.get_terminal_size((100, 24)).columns, 40)

    def line(self, text: str, indent: int = 0, hanging: int | None = None) -> None:
        """Print a line, wrapped if it is too long.

        Args:
            text: What to print.
            indent: Spaces before it.
            hanging: Spaces before what is wrapped; two more than ``indent`` by default.
        """
        after = " " * (indent + 2 if hanging is None else hanging)
        before = " " * indent
        wrapped = textwrap.wrap(
            visible(text.replace("\n", " ")),
            self._width,
            initial_indent=before,
            subsequent_indent=after,
            break_on_hyphens=False,
            drop_whitespace=True,
        )
        print(printable("\n".join(wrapped)))  # noqa: T201 - this is a command

    def together(self, head: str, rest: str) -> None:
        """Print a head with what belongs to it: on one line if it fits, else on the next."""
        if len(head) + 1 + len(rest) <= self._width:
            self.line(f"{head} {rest}")
        else:
            self.line(head)
            self.line(rest, 2)


def print_json(value: Any) -> None:
    """Print a JSON document in which no text steers the terminal or is a command for a CI service."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    # Brackets and characters that are not seen stand in strings only, where escapes mean the same.
    print(_COMMAND.sub(r"\1\\u005b", "".join(map(_escaped, text))))  # noqa: T201 - this is a command


def _escaped(character: str) -> str:
    return character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]


_WIDEST = 100
#: How argparse begins the message about missing arguments.
_REQUIRED = "the following arguments are required: "


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of at most 100 columns, with the options' help in one column."""

    def __init__(self, prog: str) -> None:
        width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST) - 2
        super().__init__(prog, max_help_position=26, width=width)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        # "-o, --out PATH" instead of "-o PATH, --out PATH", as Python 3.13 has it.
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


class Parser(argparse.ArgumentParser):
    """A parser of the command or of a subcommand.

    Args:
        statuses: The meaning of each exit status, for the end of the help.
        examples: Commands with what they do, for the end of the help.
        words: The beginning of arguments that look like options and are not.
        **keywords: Arguments of ``argparse.ArgumentParser``.
    """

    def __init__(
        self,
        *,
        statuses: Mapping[int, str] | None = None,
        examples: Sequence[tuple[str, str]] = (),
        words: str | None = None,
        **keywords: Any,
    ) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **keywords)
        self._positionals.title, self._optionals.title = "arguments", "general"
        self.statuses, self._examples, self._words = statuses or {}, examples, words

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the arguments; exit if one is not known, also with the usage of a subcommand."""
        if self._words is not None:
            args = [each.lstrip("-") if each.startswith(self._words) else each for each in args]
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = {name.lstrip("-"): name for name in self._option_string_actions}
            similar = similar_names(unknown[0].partition("=")[0].lstrip("-"), known)
            hint = suggestion([known[each] for each in similar]) if unknown[0].startswith("-") else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check a value; the error names the choices that may be meant."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            hint = suggestion(similar_names(str(value), map(str, action.choices or ())))
            raise argparse.ArgumentError(action, f"{error.message}{hint}") from None

    def format_help(self) -> str:
        """Return the help: usage, description, arguments, groups of options, examples, exit statuses."""
        self.description = self._wrapped(self.description)
        # The general options (--help) come last.
        groups = self._action_groups
        groups.sort(key=lambda group: (group is self._optionals, group is not self._positionals))
        text = super().format_help()
        if self._examples:
            widest = max(len(command) for command, _ in self._examples)
            text += "\nexamples:\n" + "".join(f"  {command:<{widest}}  {what}\n" for command, what in self._examples)
        if self.statuses:
            text += "\nexit status:\n" + "".join(f"  {status}  {what}\n" for status, what in self.statuses.items())
        return text

    def error(self, message: str) -> NoReturn:
        """Exit with a mistake; if arguments are missing, describe them and the positional ones as the help does."""
        if not message.startswith(_REQUIRED):
            super().error(message)
        missing = message.removeprefix(_REQUIRED).split(", ")
        formatter = self._get_formatter()
        formatter.start_section(None)
        formatter.add_arguments(
            [each for each in self._actions if not each.option_strings or "/".join(each.option_strings) in missing]
        )
        formatter.end_section()
        super().error(f"{message}\n{formatter.format_help()}'{self.prog} -h' describes all arguments")

    def _wrapped(self, text: str | None) -> str | None:
        import textwrap

        width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST) - 2
        return "\n".join(textwrap.wrap(text, width)) if text else text
