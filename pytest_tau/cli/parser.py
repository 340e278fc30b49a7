"""Parsers of the command and its subcommands: help in groups, and errors that name what may be meant."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
            args = [argument.lstrip("-") if argument.startswith(self._words) else argument for argument in args]
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = {name.lstrip("-"): name for name in self._option_string_actions}
            name, hint = unknown[0].partition("=")[0], ""
            if name.startswith("-"):
                hint = suggestion(name.lstrip("-"), known, shown=known.__getitem__)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed, unknown

    def format_help(self) -> str:
        """Return the help: usage, description, arguments, groups of options, examples, exit statuses."""
        self.description = self._wrapped(self.description)
        # The general options (--help) come last.
        groups = self._action_groups
        groups.sort(key=lambda group: (group is self._optionals, group is not self._positionals))
        text = super().format_help()
        if self._examples:
            widest = max(len(command) for command, _ in self._examples)
            text += "\nexamples:\n" + "".join(
                f"  {command:<{widest}}  {explanation}\n" for command, explanation in self._examples
            )
        if self.statuses:
            text += "\nexit status:\n" + "".join(
                f"  {status}  {meaning}\n" for status, meaning in self.statuses.items()
            )
        return text

    def error(self, message: str) -> NoReturn:
        """Exit with a mistake; if arguments are missing, describe them and the positional ones as the help does."""
        if not message.startswith(_REQUIRED):
            super().error(message)
        missing = message.removeprefix(_REQUIRED).split(", ")
        formatter = self._get_formatter()
        formatter.start_section(None)
        formatter.add_arguments(
            [
                action
                for action in self._actions
                if not action.option_strings or "/".join(action.option_strings) in missing
            ]
        )
        formatter.end_section()
        super().error(f"{message}\n{formatter.format_help()}'{self.prog} -h' describes all arguments")

    def _wrapped(self, text: str | None) -> str | None:
        width = min(shutil.get_terminal_size((80, 24)).columns, _WIDEST) - 2
        return "\n".join(textwrap.wrap(text, width)) if text else text
