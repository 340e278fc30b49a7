"""From options and ini to one ``RunConfig``."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..chat import ModelArguments
from ..environment import Difficulty
from ..errors import ConfigurationError
from ..evaluation import PROFILES, Evaluation
from ..orchestrator import Limits
from ..participants import Prompting
from ..runner import (
    DEFAULT_CONCURRENCY,
    DEFAULT_SEED,
    DEFAULT_TIMEOUT,
    ModelSettings,
    RunConfig,
    SimulationSettings,
)
from .options import OptionValues, named_domains

if TYPE_CHECKING:
    from ..chat import Role
    from ..participants import Side
    from ..runner.config import TapeMode

#: Arguments of each model call, unless options name others. Source: τ²-bench v1.0.1.
DEFAULT_ARGS: dict[str, Any] = {"temperature": 0.0}
_ROLES: tuple[Role, ...] = ("agent", "user", "judge")


def run_config(config: pytest.Config) -> RunConfig:
    """The run's settings.

    Raises:
        pytest.UsageError: A value that cannot be used; tells the option and what would be right.
    """
    settings = OptionValues(config)
    if settings.get("domain") is not None and not named_domains(config):
        raise pytest.UsageError(f"{settings.label('domain')}: expected the name of a domain")
    data_dir = _data_dir(settings)
    run = RunConfig(
        domains=named_domains(config),
        data_dir=data_dir,
        split=settings.get("split"),
        task_patterns=tuple(settings.get("task") or ()),
        generate=_generate(settings),
        difficulty=_difficulty(settings),
        num_tasks=settings.number("num_tasks", int, None, 1),
        trials=settings.number("trials", int, 1, 1),
        seed=settings.number("seed", int, DEFAULT_SEED),
        agent=settings.get("agent"),
        user=settings.get("user"),
        judge=settings.get("judge"),
        folder=settings.folder("agent"),
        models=_models(settings),
        simulation=_simulation(settings, data_dir),
    )
    with_models, without = DEFAULT_CONCURRENCY
    usual = with_models if any(run.choice(role) for role in _ROLES) else without
    return replace(run, concurrency=settings.number("concurrency", int, usual, 1))


def _generate(settings: OptionValues) -> int | None:
    count: int | None = settings.number("generate", int, None, 1)
    if count is not None and settings.get("split") is not None:
        raise pytest.UsageError(
            f"{settings.label('generate')}: tasks that are made are in no split; leave --tau-split away"
        )
    return count


def _difficulty(settings: OptionValues) -> Difficulty:
    given = settings.get("difficulty")
    if given is None:
        return Difficulty()
    names = [each.name for each in fields(Difficulty)]
    values: dict[str, int] = {}
    for part in given.split(","):
        name, _, number = (text.strip() for text in part.partition("="))
        if name not in names or not number.isdecimal():
            known = ", ".join(f"{each}=N" for each in names)
            raise pytest.UsageError(f"{settings.label('difficulty')}: expected some of {known}, got {part.strip()!r}")
        values[name] = int(number)
    if settings.get("generate") is None:
        raise pytest.UsageError(f"{settings.label('difficulty')}: is that of tasks made with --tau-generate N")
    return Difficulty(**values)


def _simulation(settings: OptionValues, data_dir: Path | None) -> SimulationSettings:
    grading = _one_of(settings, "grading", tuple(PROFILES))
    solo = bool(settings.get("solo")) or settings.get("agent") == "llm-solo"
    timeout = settings.number("timeout", float, DEFAULT_TIMEOUT, 0)
    return SimulationSettings(
        limits=Limits(
            max_steps=settings.number("max_steps", int, Limits.max_steps, 1),
            max_errors=settings.number("max_errors", int, Limits.max_errors, 1),
            timeout=timeout or None,
        ),
        evaluation=Evaluation(PROFILES[grading], solo=solo),
        solo=solo,
        policy=settings.get("policy"),
        prompting={"agent": _prompting(settings, "agent", None), "user": _prompting(settings, "user", data_dir)},
    )


def _one_of(settings: OptionValues, name: str, known: tuple[str, ...]) -> str:
    """The setting, which is one of these words; the first by default."""
    value: str = settings.get(name) or known[0]
    if value not in known:
        raise pytest.UsageError(f"{settings.label(name)}: expected {' or '.join(known)}, got {value!r}")
    return value


def _prompting(settings: OptionValues, side: Side, data_dir: Path | None) -> Prompting:
    given = settings.get(f"{side}_prompt")
    tokens = settings.number("agent_context", int, None, 1) if side == "agent" else None
    text_tools = _one_of(settings, f"{side}_tool_calls", ("native", "text")) == "text"
    from ..participants.prompts import load_prompt, official_guidelines

    try:
        official = official_guidelines(data_dir) if data_dir and not given else None
        if given:
            path = settings.folder(f"{side}_prompt") / given
            return Prompting(path.name, load_prompt(path, side), None, tokens, text_tools)
    except ConfigurationError as error:
        raise pytest.UsageError(f"{settings.label(f'{side}_prompt')}: {error}") from error
    if official is not None:
        return Prompting(official.name, official.prompt, official.tools_prompt, tokens, text_tools)
    return Prompting(context_tokens=tokens, text_tools=text_tools)


def _models(settings: OptionValues) -> ModelSettings:
    names: dict[Role, str] = {}
    args: dict[Role, dict[str, Any]] = {}
    for role in _ROLES:
        name, given = settings.get(f"{role}_llm"), _arguments(settings, role)
        args[role] = ModelArguments(DEFAULT_ARGS if given is None else given)
        if name is not None and not name.strip():
            raise pytest.UsageError(f"{settings.label(f'{role}_llm')}: expected the name of a model")
        if name is not None:
            names[role] = name
    folder = settings.get("cassettes")
    return ModelSettings(
        names=names,
        args=args,
        endpoint_key=os.environ.get("TAU_AGENT_API_KEY") or ModelSettings.endpoint_key,
        timeout=settings.number("llm_timeout", float, ModelSettings.timeout, 0.001),
        max_in_flight=settings.number("llm_concurrency", int, ModelSettings.max_in_flight, 1),
        tape=_tape(settings),
        cassettes=(settings.folder("cassettes") / folder).resolve() if folder else None,
        budget=settings.number("budget", float, None, 0),
    )


def _arguments(settings: OptionValues, role: Role) -> dict[str, Any] | None:
    name = f"{role}_llm_args"
    given = settings.get(name)
    if given is None:
        return None
    try:
        args = json.loads(given)
    except ValueError as error:
        # The value is not quoted: it may hold a key.
        raise pytest.UsageError(
            f"{settings.label(name)}: expected a JSON object, and this is no JSON: {error}"
        ) from None
    if not isinstance(args, dict):
        kind = type(args).__name__
        raise pytest.UsageError(
            f'{settings.label(name)}: expected a JSON object such as {{"temperature": 0}}, got a {kind}'
        )
    reserved = sorted({"model", "messages", "tools", "tool_choice", "response_format", "stream", "n"} & set(args))
    if reserved:
        raise pytest.UsageError(f"{settings.label(name)}: {reserved[0]!r} is not to be set here")
    return args


def _tape(settings: OptionValues) -> TapeMode | None:
    record, replay = settings.get("record"), bool(settings.get("replay"))
    if record is not None and record not in ("missing", "all"):
        told = f"expected missing or all, got {record!r} (write {settings.label('record')}=all)"
        raise pytest.UsageError(f"{settings.label('record')}: {told}")
    if record and replay and settings.from_ini("record") == settings.from_ini("replay"):
        raise pytest.UsageError(f"{settings.label('record')} and {settings.label('replay')}: expected one of them")
    if record and (not replay or settings.from_ini("replay")):
        return "all" if record == "all" else "missing"
    return "replay" if replay else None


def _data_dir(settings: OptionValues) -> Path | None:
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
