"""Every option and ini key. Command line beats ini, ini beats default."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


class _Option(NamedTuple):
    name: str
    help: str
    metavar: str | None = None
    repeat: bool = False
    flag: bool = False
    path: bool = False
    bare: str | None = None  # what it means without a value

    @property
    def dest(self) -> str:
        return "tau_" + self.name.replace("-", "_")


_OPTIONS = (
    _Option("domain", "run this domain's tasks; may be repeated, or a comma-separated list", "NAME", repeat=True),
    _Option(
        "data",
        "official data: a folder laid out as τ²-bench's data/tau2 (default: $TAU_DATA, or bundled)",
        "DIR",
        path=True,
    ),
    _Option("split", "which split of a domain's tasks (default: base)", "NAME"),
    _Option("task", "only tasks with this id, or that match this glob; may be repeated", "GLOB", repeat=True),
    _Option("generate", "make this many fresh tasks of each domain, by --tau-seed, in place of its own", "N"),
    _Option("difficulty", "of those: requests=2,faults=3,distractors=1 (default: requests=1)", "NAME=N,…"),
    _Option("num-tasks", "at most this many tasks of each domain, file or marked test", "N"),
    _Option("trials", "repetitions of each task (default: 1)", "K"),
    _Option("shard", "run one part of the trials, for a CI matrix: 2/4 is the second of four", "I/N"),
    _Option("seed", "seed of the run, from which each trial's seed follows (default: 300)", "N"),
    _Option(
        "agent",
        "llm, llm-solo, gold, noop, rules, saboteur:KIND, replay:FILE, module:attribute, file.py:attribute or URL",
        "SPEC",
    ),
    _Option(
        "user", "llm, scripted, gold, noop, replay:FILE, module:attribute … (default: what goes with the agent)", "SPEC"
    ),
    _Option("solo", "the agent works alone, from the task's ticket, with both sides' tools", flag=True),
    _Option("policy", "flavour of the domain's policy (default: the domain's first)", "NAME"),
    _Option("judge", "judges NL assertions: llm, accept, reject (every statement alike), module:attribute", "SPEC"),
    _Option("agent-llm", "the agent's model, as litellm names it: openai/gpt-4.1 (needs pytest-tau[llm])", "MODEL"),
    _Option("agent-llm-args", 'arguments of its calls (default: {"temperature": 0.0})', "JSON"),
    _Option("user-llm", "the simulated user's model", "MODEL"),
    _Option("user-llm-args", 'arguments of its calls (default: {"temperature": 0.0})', "JSON"),
    _Option("judge-llm", "the judge's model", "MODEL"),
    _Option("judge-llm-args", 'arguments of its calls (default: {"temperature": 0.0})', "JSON"),
    _Option("agent-prompt", "template of the agent's system message, with {{policy}} in it", "FILE"),
    _Option("user-prompt", "template of the user's system message, with {{scenario}} in it", "FILE"),
    _Option("agent-context", "tokens of a request, beyond which the oldest messages are left out", "TOKENS"),
    _Option("agent-tool-calls", "native (default), or text for a model without function calling", "HOW"),
    _Option("user-tool-calls", "likewise, for the user's model", "HOW"),
    _Option("concurrency", "conversations at the same time in one process (default: 8 with a model, else 1)", "N"),
    _Option("llm-timeout", "seconds that one attempt of a model call may take (default: 120)", "SECONDS"),
    _Option("llm-concurrency", "calls that one model answers at the same time (default: 20)", "N"),
    _Option(
        "record", "record model calls: missing (default: where there is no cassette) or all", "WHAT", bare="missing"
    ),
    _Option("replay", "answer model calls from cassettes, without a network", flag=True),
    _Option("cassettes", "where cassettes lie (default: cassettes/ beside the tests)", "DIR", path=True),
    _Option("budget", "start no trial once this much is spent on model calls", "USD"),
    _Option("dry-run", "tell what would run, how many calls and what cost; call no model", flag=True),
    _Option(
        "results",
        "where runs are kept (default: .tau/runs), a folder each; none for nowhere",
        "DIR",
        path=True,
    ),
    _Option(
        "resume",
        "go on with an earlier run, the latest or DIR: run what is missing, take the rest from there",
        "DIR",
        path=True,
        bare="latest",
    ),
    _Option("rerun", "of what is taken from the earlier run, run these again: failed, error, or both", "OUTCOMES"),
    _Option("snapshot", "compare each passed task with its stored trajectory: calls or messages", "WHAT", bare="calls"),
    _Option("quarantine", "expect the tasks in this TOML file to fail, each until a day comes", "FILE", path=True),
    _Option("grading", "official (default), or strict", "PROFILE"),
    _Option("group-by", "summarise by intent, persona, actions (how many), tags; comma-separated", "NAME", repeat=True),
    _Option(
        "summary", "for a CI job: markdown (to $GITHUB_STEP_SUMMARY, or printed), or markdown:FILE", "markdown[:FILE]"
    ),
    _Option("html", "write a report of the run to look at: one HTML file that needs no network", "FILE", path=True),
    _Option(
        "gate",
        "what the run must reach, in place of every trial: [domain:]metric OP value, such as 'pass^1>=0.8', "
        "'retail:errors<=0.02'; may be repeated",
        "EXPR",
        repeat=True,
    ),
    _Option("stop-early", "once the gates are settled, skip the trials that have not begun", flag=True),
    _Option(
        "baseline", "compare with this run, task by task: a folder, a name below .tau/runs, baseline", "RUN", path=True
    ),
    _Option("fail-on", "regression: in place of every trial, only a significant loss fails the run", "WHAT"),
    _Option("max-steps", "hops after which a conversation is cut off (default: 200)", "N"),
    _Option("max-errors", "failed tool calls after which it is cut off (default: 10)", "N"),
    _Option("timeout", "seconds after which it is cut off; 0 for never (default: 1800)", "SECONDS"),
)

#: Patterns of files that are collected as tasks wherever they are found.
DEFAULT_FILES = ("*.tau.json",)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ``--tau-…`` options and their ``tau_…`` ini twins."""
    group = parser.getgroup("tau", "agent evaluation (pytest-tau)")
    for option in _OPTIONS:
        keywords: dict[str, Any] = {"dest": option.dest, "default": None, "help": option.help}
        if option.flag:
            keywords |= {"action": "store_true"}
        else:
            keywords |= {"metavar": option.metavar, "action": "append" if option.repeat else "store"}
        if option.bare:
            keywords |= {"nargs": "?", "const": option.bare}
        group.addoption(f"--tau-{option.name}", **keywords)
        kind: Any = "args" if option.repeat else "bool" if option.flag else "string"
        parser.addini(option.dest, f"default of --tau-{option.name}", type=kind, default=None)
    parser.addini("tau_files", "patterns of task files (default: *.tau.json)", type="args", default=list(DEFAULT_FILES))
    parser.addini("tau_tasks", "folders in which every JSON file is a task file", type="paths", default=[])


class OptionValues:
    """Values with their precedence, and the folder that relative paths in them are meant from."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def get(self, name: str) -> Any:
        """The value of the command line, else of the ini, else None."""
        given = self._config.getoption(f"tau_{name}", None)
        return given if given is not None else self._config.getini(f"tau_{name}") or None

    def from_ini(self, name: str) -> bool:
        """Whether the command line does not have it."""
        return self._config.getoption(f"tau_{name}", None) is None

    def label(self, name: str) -> str:
        """What a person calls the setting: the option, or the ini key where it is from there."""
        return f"tau_{name}" if self.from_ini(name) else f"--tau-{name.replace('_', '-')}"

    def number(self, name: str, convert: Callable[[str], Any], default: Any, least: float | None = None) -> Any:
        """The value as a number.

        Raises:
            pytest.UsageError: It is none, or too small.
        """
        value = self.get(name)
        if value is None:
            return default
        try:
            number = convert(value)
        except ValueError:
            number = None
        if number is None or not (least is None or number >= least):
            kind = "a whole number" if convert is int else "a number"
            kind += "" if least is None else f" of at least {least:g}"
            raise pytest.UsageError(f"{self.label(name)}: expected {kind}, got {value!r}")
        return number

    def folder(self, name: str) -> Path:
        """What a relative path in the value starts from."""
        if self.from_ini(name):
            return self._config.inipath.parent if self._config.inipath else self._config.rootpath
        return Path(self._config.invocation_params.dir)


def path_options() -> frozenset[str]:
    """The options whose value is a path."""
    return frozenset(f"--tau-{option.name}" for option in _OPTIONS if option.path)


def options_given(config: pytest.Config) -> bool:
    """Whether the command line has any option of ours: somebody means to run tasks."""
    return any(config.getoption(option.dest, None) is not None for option in _OPTIONS)


def named_domains(config: pytest.Config) -> tuple[str, ...]:
    """The domains that options or ini name, in order, each once."""
    names = [name.strip() for given in OptionValues(config).get("domain") or () for name in given.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))
