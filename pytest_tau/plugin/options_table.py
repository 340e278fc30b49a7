"""The table of options: everything that is known of an option, but for the code that uses its value.

An option with a plain value is a row here and the line that uses it. If ``run.json`` is to record it, it is a field of
``RunConfig`` and a line of ``store.manifest.recorded_settings`` too. ``tests/architecture/test_options_table.py`` keeps
what other packages state of options equal to this table.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from .items import MOST_TRIALS
from .option_types import (
    difficulty,
    flag,
    gates,
    group_names,
    integer,
    markdown_file,
    model_arguments,
    model_name,
    names,
    outcome_names,
    real,
    shard,
    text,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: What the value of an option affects. An earlier run is comparable if it has the same values of "verdict".
Affects: TypeAlias = Literal[
    "verdict",  # the verdict of a trial
    "content",  # data, tasks and prompts: their fingerprints are compared instead of the value
    "selection",  # which of the tasks and trials are run
    "calls",  # if model calls are recorded or replayed
    "speed",  # time and cost
    "session",  # which trials are taken from an earlier run or skipped, and how their outcomes count; never recorded
    "output",  # what is written and where; never recorded
]


class Option(NamedTuple):
    """An option of the command line and its ini key.

    Attributes:
        name: The name without ``--tau-``.
        type: A function from the text to the value (:mod:`.option_types`); a :class:`Path` starts from the folder of
            the ini file, or from the current folder if it is from the command line.
        affects: What the value affects.
        metavar: The placeholder of the value in ``--help``.
        help: The text for ``--help``; ``%(default)s`` stands for the default.
        default: The value if there is neither option nor ini key; None if the code that uses it decides.
        choices: The texts that are allowed; empty for all that the type accepts.
        example: The value that a usage error proposes.
        repeat: The option may be repeated; its ini key has a list.
        bare: The text that stands for the option without a value; None if a value is required.
        path: Values may be paths that exist, which pytest's search for its ini file must ignore.
        selects: A run with it has fewer than all tasks and trials.
        rerun: The group of options in a command that runs a trial again, from 1; 0 if it is not repeated there.
        recorded_as: The key of ``run.json`` if it is not the name.
    """

    name: str
    type: Callable[[Any], Any]
    affects: Affects
    metavar: str | None = None
    help: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    example: str | None = None
    repeat: bool = False
    bare: str | None = None
    path: bool = False
    selects: bool = False
    rerun: int = 0
    recorded_as: str | None = None

    @property
    def key(self) -> str:
        """Return the name as an identifier, by which the code asks for the value."""
        return self.name.replace("-", "_")

    @property
    def dest(self) -> str:
        """Return the ini key, which is also the name of the attribute of ``config.option``."""
        return f"tau_{self.key}"

    @property
    def setting(self) -> str:
        """Return the key of the value in ``run.json``, if it is recorded."""
        return self.recorded_as or self.key

    @property
    def full_help(self) -> str:
        """Return the help with the default in it."""
        shown = self.default
        if isinstance(shown, float):
            shown = f"{shown:g}"
        elif isinstance(shown, dict):
            shown = json.dumps(shown)
        return self.help.replace("%(default)s", str(shown))


#: The most tasks of ``--tau-generate``, which are all in memory.
MOST_GENERATED = 100_000
#: Arguments of each model call, unless options name others. Source: τ²-bench v1.0.1.
_MODEL_ARGUMENTS = {"temperature": 0.0}

# Formatted by hand: a row is what the option is, and below it the help.
# fmt: off
_ROWS = (
    Option("domain", names, "selection", "NAME", default=(), repeat=True, rerun=1, recorded_as="domains",
           help="run this domain's tasks; may be repeated, or a comma-separated list"),
    Option("data", Path, "content", "DIR", path=True, rerun=1,
           help="folder with τ²-bench's data, laid out like its data/tau2 (default: $TAU_DATA, or the bundled data)"),
    Option("split", text, "selection", "NAME", selects=True,
           help="run this split of a domain's tasks (default: base)"),
    Option("task", texts, "selection", "GLOB", default=(), repeat=True, selects=True, recorded_as="tasks",
           help="run only tasks whose id is or matches this glob; may be repeated"),
    Option("generate", integer(1, MOST_GENERATED), "selection", "N", selects=True, rerun=1,
           help="generate N tasks for each domain from --tau-seed and run these instead of the domain's own"),
    Option("difficulty", difficulty, "selection", "NAME=N,…", rerun=1,
           help="difficulty of generated tasks: requests=2,faults=3,distractors=1 (default: requests=1)"),
    Option("num-tasks", integer(1), "selection", "N", selects=True,
           help="run at most this many tasks of each domain, file or marked test"),
    Option("trials", integer(1, MOST_TRIALS), "selection", "K", default=1, selects=True,
           help="repetitions of each task (default: %(default)s)"),
    Option("shard", shard, "selection", "I/N", selects=True,
           help="run one part of the trials, for a CI matrix: 2/4 is the second part of four"),
    Option("seed", integer(), "verdict", "N", default=300, rerun=1,
           help="seed of the run, from which each trial's seed follows (default: %(default)s)"),
    Option("agent", text, "verdict", "SPEC", rerun=1,
           help="llm, llm-solo, gold, noop, rules, saboteur:KIND, replay:FILE, module:attribute, file.py:attribute, "
                "URL, 'cmd:PROGRAM ARGUMENTS' or a2a:URL"),
    Option("user", text, "verdict", "SPEC", rerun=1,
           help="llm, scripted, gold, noop, replay:FILE, module:attribute … (default: depends on the agent)"),
    Option("solo", flag, "verdict", default=False, rerun=1,
           help="run the agent without a user: it works from the task's ticket and has the tools of both sides"),
    Option("policy", text, "verdict", "NAME", rerun=1,
           help="variant of the domain's policy (default: the domain's first)"),
    Option("judge", text, "verdict", "SPEC", rerun=1,
           help="judge for NL assertions: llm, module:attribute, or accept or reject for the same verdict on every "
                "statement"),
    Option("agent-llm", model_name, "verdict", "MODEL", rerun=2,
           help="the agent's model, by its litellm name: openai/gpt-4.1 (needs pytest-tau[llm]; pytest-tau[endpoint] "
                "is enough for servers with OpenAI's API)"),
    Option("agent-llm-args", model_arguments, "verdict", "JSON", default=_MODEL_ARGUMENTS, rerun=2,
           help="arguments of its calls (default: %(default)s)"),
    Option("user-llm", model_name, "verdict", "MODEL", rerun=2,
           help="the simulated user's model"),
    Option("user-llm-args", model_arguments, "verdict", "JSON", default=_MODEL_ARGUMENTS, rerun=2,
           help="arguments of its calls (default: %(default)s)"),
    Option("judge-llm", model_name, "verdict", "MODEL", rerun=2,
           help="the judge's model"),
    Option("judge-llm-args", model_arguments, "verdict", "JSON", default=_MODEL_ARGUMENTS, rerun=2,
           help="arguments of its calls (default: %(default)s)"),
    Option("agent-prompt", Path, "content", "FILE", path=True, rerun=2,
           help="template of the agent's system message, with {{policy}} in it"),
    Option("user-prompt", Path, "content", "FILE", path=True, rerun=2,
           help="template of the user's system message, with {{scenario}} in it"),
    Option("agent-context", integer(1), "verdict", "TOKENS", rerun=2,
           help="maximum tokens in a request; the oldest messages are dropped to fit"),
    Option("agent-tool-calls", text, "verdict", "HOW", default="native", choices=("native", "text"), rerun=2,
           help="how the agent's model calls tools: %(default)s (default), or text for a model without function "
                "calling"),
    Option("user-tool-calls", text, "verdict", "HOW", default="native", choices=("native", "text"), rerun=2,
           help="how the user's model calls tools: %(default)s (default), or text for a model without function "
                "calling"),
    Option("concurrency", integer(1), "speed", "N",
           help="maximum number of concurrent conversations in one process (default: 8 with a model, else 1)"),
    Option("llm-timeout", real(0.001), "speed", "SECONDS", default=120.0,
           help="timeout of one attempt of a model call, in seconds (default: %(default)s)"),
    Option("llm-concurrency", integer(1), "speed", "N", default=20,
           help="maximum number of concurrent calls to one model (default: %(default)s)"),
    Option("record", text, "calls", "WHAT", choices=("missing", "all"), example="all", bare="missing",
           recorded_as="tape",
           help="record model calls: missing (default), only if there is no cassette, or all"),
    Option("replay", flag, "calls", default=False, rerun=5, recorded_as="tape",
           help="answer model calls from cassettes, without network access"),
    Option("cassettes", Path, "calls", "DIR", path=True, rerun=4,
           help="folder of the cassettes (default: cassettes/ in the folder of the test file)"),
    Option("budget", real(0), "speed", "USD",
           help="start no more trials once model calls have cost this much"),
    Option("dry-run", flag, "session", default=False,
           help="only show what would run, with the estimated number and cost of model calls"),
    Option("results", text, "output", "DIR", path=True,
           help="folder in which each run is stored in a subfolder (default: .tau/runs); none to store nothing"),
    Option("resume", text, "session", "DIR", bare="latest", path=True,
           help="resume an earlier run, the latest or DIR: run what is missing and reuse its other trials"),
    Option("rerun", outcome_names, "session", "OUTCOMES", default=frozenset(),
           help="with --tau-resume, run trials with these outcomes again: failed, error or failed,error"),
    Option("snapshot", text, "session", "WHAT", choices=("calls", "messages"), bare="calls",
           help="compare each passed task with its stored trajectory: calls or messages"),
    Option("quarantine", Path, "session", "FILE", path=True,
           help="expect the tasks in this TOML file to fail, each until its expiry date"),
    Option("grading", text, "verdict", "PROFILE", default="official", choices=("official", "strict"), rerun=1,
           help="grading rules: %(default)s (default), or strict"),
    Option("group-by", group_names, "output", "NAME", default=(), repeat=True,
           help="add summaries by intent, persona, actions (number of reference actions) or tags; comma-separated"),
    Option("summary", markdown_file, "output", "markdown[:FILE]",
           help="write a summary for CI: markdown (to $GITHUB_STEP_SUMMARY if set, else printed), or markdown:FILE"),
    Option("html", Path, "output", "FILE", path=True,
           help="write an HTML report of the run: one file that needs no network"),
    Option("gate", gates, "session", "EXPR", default=(), repeat=True,
           help="fail the run if this condition is not met, and not for single trials: [domain:]metric OP value, such "
                "as 'pass^1>=0.8', 'retail:errors<=0.02'; may be repeated"),
    Option("stop-early", flag, "session", default=False,
           help="skip the remaining trials once the result of every gate is settled"),
    Option("baseline", text, "session", "RUN", path=True,
           help="compare with this run task by task: a folder, a name below .tau/runs, or baseline"),
    Option("fail-on", text, "session", "WHAT", choices=("regression",),
           help="regression: fail the run for a significant loss against --tau-baseline, and not for single trials"),
    Option("max-steps", integer(1), "verdict", "N", default=200, rerun=3,
           help="maximum number of steps of a conversation (default: %(default)s)"),
    Option("max-errors", integer(1), "verdict", "N", default=10, rerun=3,
           help="maximum number of failed tool calls in a conversation (default: %(default)s)"),
    Option("timeout", real(0), "verdict", "SECONDS", default=1800.0, rerun=3,
           help="timeout of a conversation, in seconds; 0 for none (default: %(default)s)"),
)
# fmt: on

#: Every option by its key, in the order of ``--help``. Defaults that ``RunConfig`` has as well are literals here,
#: because this module is imported in every run of pytest and the runner takes half a second.
OPTIONS = {row.key: row for row in _ROWS}
