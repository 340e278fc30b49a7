"""The table of the options of all commands: an option has one name, one metavar and one meaning.

An option that test runs have as ``--tau-NAME`` is ``--NAME`` here: its row is made of that option.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from ..run_settings import run_options

_MOST_PROCESSES = 256


def _positive(value: str) -> int:
    if not (value.isascii() and value.isdigit()) or not 1 <= int(value) <= _MOST_PROCESSES:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {_MOST_PROCESSES}, got {value!r}")
    return int(value)


class Option(NamedTuple):
    """An option of one or more commands.

    Attributes:
        flags: The names that the help shows.
        help: The text for the help; a command may have a more precise one.
        metavar: The placeholder of the value; None for a flag.
        keywords: Further arguments of ``add_argument``.
    """

    flags: tuple[str, ...]
    help: str
    metavar: str | None = None
    keywords: dict[str, Any] = {}  # noqa: RUF012 - never changed


_CHOICES = {
    "fail-on": ("regression",),
    "format": ("tau2", "tau2-dir", "csv", "jsonl", "metrics"),
    "errors": ("infrastructure_error", "as-is"),
    "as": ("agent", "user"),
    "domain-format": ("html", "markdown", "json"),
    "ci": ("github", "gitlab"),
    "compare-format": ("text", "markdown", "latex", "json", "html"),
}

#: The options of test runs by name.
_OF_RUNS = {option.name: option for option in run_options()}


def _shared(name: str, help: str = "", **keywords: Any) -> Option:  # noqa: A002 - the argument of argparse
    """Return the option of commands that test runs have as ``--tau-NAME``, with another help if it is given."""
    row = _OF_RUNS[name]
    choices = {"choices": row.choices, "default": row.default} if row.choices else {}
    return Option((f"--{name}",), help or row.full_help, row.metavar, {**choices, **keywords})


# Formatted by hand: a row is an option, and below it the help.
# fmt: off
OPTIONS: dict[str, Option] = {
    "domain": _shared("domain", "the domain"),
    "split": _shared("split", "the split of a domain's tasks; full for every task (default: base)", default="base"),
    "data": _shared("data"),
    "grading": _shared("grading"),
    "judge": _shared("judge"),
    "judge-llm": _shared("judge-llm", "the judge's model, by its litellm name: openai/gpt-4.1 (needs "
                                      "pytest-tau[llm])"),
    "judge-llm-args": _shared("judge-llm-args"),
    "fail-on": Option(("--fail-on",), "regression: exit with 1 if the loss is significant, or if none could "
                      "have been found", "WHAT", {"choices": _CHOICES["fail-on"]}),
    "all-pairs": Option(("--all-pairs",), "compare each pair of runs, not each run with the first"),
    "compare-format": Option(("--format",), "text (default), markdown, latex for tables with booktabs, json, or html "
                             "for a page", "FORMAT",
                             {"choices": _CHOICES["compare-format"], "default": "text"}),
    "figure": Option(("--figure",), "draw pass^k of each domain with its intervals: .svg, .png or .pdf (needs "
                     "pytest-tau[figures])", "FILE"),
    "plugin": Option(("-p",), "load this pytest plugin, which may provide domains and evaluators; may be repeated",
                     "PLUGIN", {"dest": "plugins", "action": "append", "default": []}),
    "rootdir": Option(("--rootdir",), "the folder of the project, with its conftest.py and pytest settings "
                      "(default: pytest's rootdir)", "DIR"),
    "format": Option(("--format",), "tau2 for τ²-bench's results file, tau2-dir for its folder with a file for each "
                     "simulation, csv for a table with one row per simulation, "
                     "jsonl for every simulation with its task, metrics for numbers under τ²-bench's names", "FORMAT",
                     {"choices": _CHOICES["format"], "required": True}),
    "errors": Option(("--errors",), "how tau2 has trials that ended in an error: infrastructure_error (default), which "
                     "τ²-bench excludes from its rates, or as-is", "HOW",
                     {"choices": _CHOICES["errors"], "default": _CHOICES["errors"][0]}),
    "trim": Option(("--trim",), "omit raw_data of messages, and what is stored under pytest_tau, from files in "
                   "τ²-bench's format"),
    "set": Option(("--set",), "a field of submission.json, such as contact_info.email=evals@example.org; may be "
                  "repeated. Lists and objects are JSON", "KEY=VALUE",
                  {"dest": "fields", "action": "append", "default": []}),
    "from": Option(("--from",), "a TOML file with fields of submission.json", "FILE", {"dest": "source"}),
    "yes": Option(("--yes",), "ask nothing"),
    "force": Option(("--force",), "write the type standard although the runs have recorded that something was changed"),
    "domain-format": Option(("--format",), "html for a page, markdown, or json (default: markdown; of a file, by "
                            "its name)", "FORMAT",
                            {"choices": _CHOICES["domain-format"]}),
    "out": Option(("-o", "--out"), "where to write", "PATH"),
    "json": Option(("--json",), "print one JSON document"),
    "verbose": Option(("-v", "--verbose"), "show every simulation, and every difference"),
    "max": Option(("--max",), "the number of findings shown for each rule; 0 for all (default: %(default)s)", "N",
                  {"type": int, "default": 10}),
    "scripted-user": Option(("--scripted-user",), "check instead what the scripted user makes of the tasks: whether it "
                            "plays them to the end with an agent that asks for everything, and which facts and "
                            "conditions of the prose it does not go by"),
    "propose": Option(("--propose",), "print instead further right outcomes for what the tasks leave open, each "
                      "proved, for the field outcomes"),
    "strict": Option(("--strict",), "report a replayed result that differs from the recorded one as an error"),
    "fresh-tasks": Option(("--fresh-tasks",), "grade with the domain's current tasks instead of the file's"),
    "allow-uncompared": Option(("--allow-uncompared",), "exit with 0 although stored rewards could not be compared"),
    "check-policy": Option(("--check-policy",), "check the rules of the domain's policy in each conversation"),
    "jobs": Option(("-j", "--jobs"), "the number of processes (default: %(default)s)", "N",
                   {"type": _positive, "default": 1}),
    "last": Option(("--last",), "if trials differ, use the last one in the order of the arguments"),
    "allow-mixed": Option(("--allow-mixed",), "join runs that differ in what verdicts depend on"),
    "allow-missing": Option(("--allow-missing",), "exit with 0 although shards or planned trials are missing"),
    "gate": Option(("--gate",), "a gate of the run, such as 'pass^1>=0.8'; may be repeated", "EXPR",
                   {"action": "append", "default": []}),
    "wait": Option(("--wait",), "wait until no trial is missing, at most so many seconds", "SECONDS", {"type": float}),
    "prune": Option(("--prune",), "remove all runs but the latest N: list these, and remove them with --yes", "N",
                    {"type": int}),
    "open": Option(("--open",), "open the page in a browser"),
    "as": Option(("--as",), "the side that you play: agent (default), or user", "SIDE",
                 {"choices": _CHOICES["as"], "default": "agent"}),
    "solo": _shared("solo", "play the agent without a user, from the task's ticket, with the tools of both sides"),
    "play-agent": Option(("--agent",), "the agent, if you play the user, as in a test run (default: llm with "
                         "--agent-llm, else rules)", "SPEC"),
    "play-user": Option(("--user",), "the user, if you play the agent, as in a test run (default: llm with "
                        "--user-llm, else scripted)", "SPEC"),
    "agent-llm": _shared("agent-llm"),
    "user-llm": _shared("user-llm"),
    "blind": Option(("--blind",), "hide the agent's policy from who plays the user"),
    "seed": _shared("seed", "seed of the other side; without a task's id it also draws the task", type=int),
    "policy-variant": _shared("policy-variant"),
    "save": Option(("--save",), "the folder for the conversation, a file of its own (default: .tau/played)", "DIR"),
    "failed": Option(("--failed",), "only trials that have not passed"),
    "all-failed": Option(("--all-failed",), "only tasks that have passed in none of their trials"),
    "full": Option(("--full",), "show long results of tools as a whole, not their first 500 characters"),
    "ci": Option(("--ci",), "the service of the workflow: github (default), or gitlab", "SERVICE",
                 {"choices": _CHOICES["ci"], "default": "github"}),
    "agent": Option(("--agent",), "the template of the agent, or with --tools your own agent", "NAME"),
    "tools": Option(("--tools",), "write a project over these functions, for an agent that calls them itself",
                    "MODULE:NAME,NAME"),
    "state": Option(("--state",), "the SQLite file in which the functions keep their data, or the URL of a database of "
                    "PostgreSQL", "FILE"),
    "call": Option(("--call",), "a call that works, of which the first task is made; it is made on a copy of the data",
                   "CALL"),
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
        add_option(parser, OPTIONS[name], **changes)


def add_option(parser: Any, option: Option, **changes: Any) -> None:
    """Add an option, of the table or of a capability's command, to a parser, or to a group of one."""
    keywords = {"help": option.help, **option.keywords, **changes}
    keywords |= {"metavar": option.metavar} if option.metavar else {"action": "store_true"}
    parser.add_argument(*option.flags, **keywords)
