"""The table of the options of all commands: an option has one name, one metavar and one meaning.

An option that the plugin has as ``--tau-NAME`` is ``--NAME`` here, with the same metavar, and is accepted under both
names. ``tests/unit/test_cli_options.py`` compares the two tables.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple


class Option(NamedTuple):
    """An option of one or more commands.

    Attributes:
        flags: The names that the help shows.
        help: The text for the help; a command may have a more precise one.
        metavar: The placeholder of the value; None for a flag.
        keywords: Further arguments of ``add_argument``.
        hidden: Further names that are accepted.
    """

    flags: tuple[str, ...]
    help: str
    metavar: str | None = None
    keywords: dict[str, Any] = {}  # noqa: RUF012 - never changed
    hidden: tuple[str, ...] = ()


_CHOICES = {"grading": ("official", "strict"), "fail-on": ("regression",), "format": ("tau2", "csv", "jsonl")}

# Formatted by hand: a row is an option, and below it the help.
# fmt: off
OPTIONS: dict[str, Option] = {
    "domain": Option(("--domain",), "the domain", "NAME", hidden=("--tau-domain",)),
    "split": Option(("--split",), "the split of a domain's tasks; full for every task (default: base)", "NAME",
                    {"default": "base"}, hidden=("--tau-split",)),
    "data": Option(("--data",), "folder with τ²-bench's data, laid out like its data/tau2 (default: $TAU_DATA, or the "
                   "bundled data)", "DIR", hidden=("--tau-data",)),
    "grading": Option(("--grading",), "grading rules: official (default), or strict", "PROFILE",
                      {"choices": _CHOICES["grading"], "default": "official"}, hidden=("--tau-grading",)),
    "judge": Option(("--judge",), "judge for NL assertions: llm, accept, reject, module:attribute or file.py:attribute",
                    "SPEC", hidden=("--tau-judge",)),
    "judge-llm": Option(("--judge-llm",), "the judge's model, by its litellm name: openai/gpt-4.1 (needs "
                        "pytest-tau[llm])", "MODEL", hidden=("--tau-judge-llm",)),
    "judge-llm-args": Option(("--judge-llm-args",), 'arguments of its calls (default: {"temperature": 0.0})', "JSON",
                             hidden=("--tau-judge-llm-args",)),
    "fail-on": Option(("--fail-on",), "regression: exit with 1 if the loss is significant, or if nothing can be "
                      "compared", "WHAT", {"choices": _CHOICES["fail-on"]}, hidden=("--tau-fail-on",)),
    "plugin": Option(("-p",), "load this pytest plugin, which may provide domains and evaluators; may be repeated",
                     "PLUGIN", {"dest": "plugins", "action": "append", "default": []}),
    "rootdir": Option(("--rootdir",), "the folder of the project, with its conftest.py and pytest settings "
                      "(default: pytest's rootdir)", "DIR"),
    "format": Option(("--format",), "tau2 for τ²-bench's results file, csv for a table with one row per simulation, "
                     "jsonl for every simulation with its task", "FORMAT",
                     {"choices": _CHOICES["format"], "required": True}),
    "out": Option(("-o", "--out"), "where to write", "PATH"),
    "json": Option(("--json",), "print one JSON document"),
    "verbose": Option(("-v", "--verbose"), "show every simulation, and every difference"),
    "max": Option(("--max",), "the number of findings shown for each rule; 0 for all (default: %(default)s)", "N",
                  {"type": int, "default": 10}),
    "strict": Option(("--strict",), "report a replayed result that differs from the recorded one as an error"),
    "fresh-tasks": Option(("--fresh-tasks",), "grade with the domain's current tasks instead of the file's"),
    "last": Option(("--last",), "if trials differ, use the last one in the order of the arguments"),
    "open": Option(("--open",), "open the report in a browser"),
    "agent": Option(("--agent",), "the template of the agent: %(choices)s (default: %(default)s)", "NAME"),
    "install-from": Option(("--install-from",), "what pip installs pytest-tau from in CI: a requirement such as a git "
                           "URL, or a wheel in the folder", "SOURCE"),
}
# fmt: on


def add_options(parser: Any, *names: str, **changes: Any) -> None:
    """Add options of the table to a parser, or to a group of one.

    Args:
        parser: The parser or group.
        names: Their keys in the table.
        changes: Arguments of ``add_argument`` that differ for this command, such as ``help``.
    """
    for name in names:
        option = OPTIONS[name]
        keywords = {"help": option.help, **option.keywords, **changes}
        keywords |= {"metavar": option.metavar} if option.metavar else {"action": "store_true"}
        action = parser.add_argument(*option.flags, **keywords)
        for flag in option.hidden:
            # An own action, as the help shows every name of an action.
            again = {key: value for key, value in keywords.items() if key not in ("help", "dest", "required")}
            parser.add_argument(flag, dest=action.dest, **{**again, "help": argparse.SUPPRESS})
