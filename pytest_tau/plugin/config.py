"""The conversion of options and ini keys to one ``RunConfig``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..chat import ModelArguments
from ..environment import Difficulty
from ..errors import ConfigurationError
from ..evaluation import PROFILES, Evaluation
from ..orchestrator import Limits
from ..participants import Prompting
from ..runner import DEFAULT_CONCURRENCY, ModelSettings, RunConfig, SimulationSettings
from .options import OptionValues, named_domains, repetitions

if TYPE_CHECKING:
    from ..chat import Role
    from ..participants import Side
    from ..runner.config import TapeMode

_ROLES: tuple[Role, ...] = ("agent", "user", "judge")


def run_config(config: pytest.Config) -> RunConfig:
    """Return the settings of a run.

    Raises:
        pytest.UsageError: A value cannot be used; the text has the option and what is expected.
    """
    values = OptionValues(config)
    if values.given("domain") is not None and not named_domains(config):
        raise pytest.UsageError(f"{values.label('domain')}: expected the name of a domain")
    data_dir = _data_dir(values)
    run = RunConfig(
        domains=named_domains(config),
        data_dir=data_dir,
        split=values.get("split"),
        task_patterns=values.get("task"),
        generate=_generate(values),
        difficulty=_difficulty(values),
        num_tasks=values.get("num_tasks"),
        trials=values.get("trials") * (repetitions(config) or 1),
        seed=values.get("seed"),
        agent=values.get("agent"),
        user=values.get("user"),
        judge=values.get("judge"),
        folder=values.folder("agent"),
        models=_models(values),
        simulation=_simulation(values, data_dir),
    )
    with_models, without = DEFAULT_CONCURRENCY
    usual = with_models if any(run.choice(role) for role in _ROLES) else without
    return replace(run, concurrency=values.get("concurrency") or usual)


def _generate(values: OptionValues) -> int | None:
    count: int | None = values.get("generate")
    if count is not None and values.get("split") is not None:
        raise pytest.UsageError(f"{values.label('generate')}: generated tasks are not in a split; remove --tau-split")
    return count


def _difficulty(values: OptionValues) -> Difficulty:
    found: Difficulty | None = values.get("difficulty")
    if found is None:
        return Difficulty()
    if values.get("generate") is None:
        raise pytest.UsageError(f"{values.label('difficulty')}: applies to generated tasks only; add --tau-generate N")
    return found


def _simulation(values: OptionValues, data_dir: Path | None) -> SimulationSettings:
    grading = PROFILES[values.get("grading")]
    solo = values.get("solo") or values.get("agent") == "llm-solo"
    return SimulationSettings(
        limits=Limits(
            timeout=values.get("timeout") or None,
            max_steps=values.get("max_steps"),
            max_errors=values.get("max_errors"),
        ),
        evaluation=Evaluation(grading, solo=solo),
        solo=solo,
        policy=values.get("policy"),
        prompting={"agent": _prompting(values, "agent", None), "user": _prompting(values, "user", data_dir)},
    )


def _prompting(values: OptionValues, side: Side, data_dir: Path | None) -> Prompting:
    name = f"{side}_prompt"
    given = values.given(name)
    tokens = values.get("agent_context") if side == "agent" else None
    text_tools = values.get(f"{side}_tool_calls") == "text"
    from ..participants.prompts import load_prompt, official_guidelines

    try:
        official = official_guidelines(data_dir) if data_dir and not given else None
        if given:
            path = values.get(name)
            return Prompting(path.name, load_prompt(path, side), None, tokens, text_tools)
    except ConfigurationError as error:
        raise pytest.UsageError(f"{values.label(name)}: {error}") from error
    if official is not None:
        return Prompting(official.name, official.prompt, official.tools_prompt, tokens, text_tools)
    return Prompting(context_tokens=tokens, text_tools=text_tools)


def _models(values: OptionValues) -> ModelSettings:
    args = {role: ModelArguments(values.get(f"{role}_llm_args")) for role in _ROLES}
    names = {role: name for role in _ROLES if (name := values.get(f"{role}_llm")) is not None}
    return ModelSettings(
        names=names,
        args=args,
        endpoint_key=os.environ.get("TAU_AGENT_API_KEY") or ModelSettings.endpoint_key,
        timeout=values.get("llm_timeout"),
        max_in_flight=values.get("llm_concurrency"),
        tape=_tape(values),
        cassettes=values.get("cassettes").resolve() if values.given("cassettes") else None,
        budget=values.get("budget"),
    )


def _tape(values: OptionValues) -> TapeMode | None:
    record: TapeMode | None = values.get("record")
    replay = values.get("replay")
    if record and replay and values.from_ini("record") == values.from_ini("replay"):
        raise pytest.UsageError(f"{values.label('record')} and {values.label('replay')}: expected one of them")
    if record and (not replay or values.from_ini("replay")):
        return record
    return "replay" if replay else None


def _data_dir(values: OptionValues) -> Path | None:
    source, path = values.label("data"), values.get("data")
    written = values.given("data")
    if written is None and (written := os.environ.get("TAU_DATA")):
        source, path = "$TAU_DATA", Path(written)
    if not written:
        return None
    found: Path = path.resolve()
    if not (found / "domains").is_dir():
        raise pytest.UsageError(f"{source}: expected a folder with domains/<name>/ in it, got {found}")
    return found
