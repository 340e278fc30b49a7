"""Every option and ini key; they become one ``RunConfig``. Command line beats ini, ini beats default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..runner import RunConfig


class _Option(NamedTuple):
    name: str
    help: str
    metavar: str | None = None
    repeat: bool = False
    flag: bool = False
    path: bool = False

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
    _Option("num-tasks", "at most this many tasks of each domain, file or marked test", "N"),
    _Option("trials", "repetitions of each task (default: 1)", "K"),
    _Option("seed", "seed of the run, from which each trial's seed follows (default: 300)", "N"),
    _Option("agent", "gold, noop, replay:FILE, module:attribute or path/to/file.py:attribute", "SPEC"),
    _Option("user", "likewise, for the user's side (default: what goes with the agent)", "SPEC"),
    _Option("solo", "the agent works alone, from the task's ticket, with both sides' tools", flag=True),
    _Option("policy", "flavour of the domain's policy (default: the domain's first)", "NAME"),
    _Option("judge", "judges NL assertions: accept, reject (every statement alike), or module:attribute", "SPEC"),
    _Option("grading", "official (default), or strict", "PROFILE"),
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
        group.addoption(f"--tau-{option.name}", **keywords)
        kind: Any = "args" if option.repeat else "bool" if option.flag else "string"
        parser.addini(option.dest, f"default of --tau-{option.name}", type=kind, default=None)
    parser.addini("tau_files", "patterns of task files (default: *.tau.json)", type="args", default=list(DEFAULT_FILES))
    parser.addini("tau_tasks", "folders in which every JSON file is a task file", type="paths", default=[])


class _Settings:
    """Values with their precedence, and the folder that relative paths in them are meant from."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def get(self, name: str) -> Any:
        given = self._config.getoption(f"tau_{name}", None)
        return given if given is not None else self._config.getini(f"tau_{name}") or None

    def from_ini(self, name: str) -> bool:
        return self._config.getoption(f"tau_{name}", None) is None

    def label(self, name: str) -> str:
        """What a person calls the setting: the option, or the ini key where it is from there."""
        return f"tau_{name}" if self.from_ini(name) else f"--tau-{name.replace('_', '-')}"

    def number(self, name: str, convert: Callable[[str], Any], default: Any, least: float | None = None) -> Any:
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
    names = [name.strip() for given in _Settings(config).get("domain") or () for name in given.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


def run_config(config: pytest.Config) -> RunConfig:
    """The run's settings.

    Raises:
        pytest.UsageError: A value that cannot be used; tells the option and what would be right.
    """
    from ..evaluation import PROFILES, Evaluation
    from ..orchestrator import Limits
    from ..runner import DEFAULT_SEED, DEFAULT_TIMEOUT, RunConfig, SimulationSettings

    settings = _Settings(config)
    if settings.get("domain") is not None and not named_domains(config):
        raise pytest.UsageError(f"{settings.label('domain')}: expected the name of a domain")
    grading = settings.get("grading") or "official"
    if grading not in PROFILES:
        raise pytest.UsageError(f"{settings.label('grading')}: expected {' or '.join(PROFILES)}, got {grading!r}")
    solo = bool(settings.get("solo"))
    timeout = settings.number("timeout", float, DEFAULT_TIMEOUT, 0)
    limits = Limits(
        max_steps=settings.number("max_steps", int, Limits.max_steps, 1),
        max_errors=settings.number("max_errors", int, Limits.max_errors, 1),
        timeout=timeout or None,
    )
    return RunConfig(
        domains=named_domains(config),
        data_dir=_data_dir(settings),
        split=settings.get("split"),
        task_patterns=tuple(settings.get("task") or ()),
        num_tasks=settings.number("num_tasks", int, None, 1),
        trials=settings.number("trials", int, 1, 1),
        seed=settings.number("seed", int, DEFAULT_SEED),
        agent=settings.get("agent"),
        user=settings.get("user"),
        judge=settings.get("judge"),
        folder=settings.folder("agent"),
        simulation=SimulationSettings(
            limits=limits,
            evaluation=Evaluation(PROFILES[grading], solo=solo),
            solo=solo,
            policy=settings.get("policy"),
        ),
    )


def _data_dir(settings: _Settings) -> Path | None:
    given, folder = settings.get("data"), settings.folder("data")
    source = settings.label("data")
    if given is None:
        given, source, folder = os.environ.get("TAU_DATA"), "$TAU_DATA", Path.cwd()
    if not given:
        return None
    path: Path = (folder / given).resolve()
    if not (path / "domains").is_dir():
        raise pytest.UsageError(f"{source}: expected a folder with domains/<name>/ in it, got {path}")
    return path
