"""The conversion of options and ini keys to one ``RunConfig``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..chat import ModelArguments
from ..chat.call_arguments import with_defaults
from ..chat.prices import read_prices
from ..environment import Retrieval
from ..errors import ConfigurationError
from ..evaluation import PROFILES, Evaluation
from ..models.task_files import SESSIONS_SPLIT
from ..participants import Prompting
from ..protocol import TAU, Protocol, data_folder, load_texts, not_data, read_checkout
from ..run_settings import (
    DEFAULT_CONCURRENCY,
    DEFAULT_TIMEOUT,
    CallSettings,
    ConversationSettings,
    Limits,
    ParticipantSettings,
    PromptingSettings,
    SelectionSettings,
)
from ..runner import (
    MODEL_ROLES,
    ModelSettings,
    RunConfig,
    SimulationSettings,
)
from ..settings import options_of
from ..variables import AGENT_KEY
from .capabilities import active_capabilities
from .makers import SIDES
from .options import OptionValues, named_domains, repetitions
from .person import is_played

if TYPE_CHECKING:
    from ..chat.prices import PriceList
    from ..participants import Side
    from ..runner.config import TapeMode


def run_config(config: pytest.Config) -> RunConfig:
    """Return the settings of a run.

    Raises:
        pytest.UsageError: A value cannot be used; the text has the option and what is expected.
    """
    values = OptionValues(config)
    if values.given("domain") is not None and not named_domains(config):
        raise pytest.UsageError(f"{values.label('domain')}: expected the name of a domain")
    _check_generated(values)
    _check_rerun(values)
    data_dir = _data_dir(values)
    run = RunConfig(
        **values.of(SelectionSettings) | {"trials": values.get("trials") * (repetitions(config) or 1)},
        **values.of(ParticipantSettings),
        data_dir=data_dir,
        folder=values.folder("agent"),
        models=_models(config, values),
        simulation=replace(_simulation(values, data_dir), capabilities=active_capabilities(config)),
    )
    with_models, without = DEFAULT_CONCURRENCY
    usual = with_models if run.choices else without
    return replace(run, concurrency=run.concurrency or (1 if is_played(values) else usual))


def _check_generated(values: OptionValues) -> None:
    generates = values.get("generate") is not None
    if generates and values.get("split") not in (None, SESSIONS_SPLIT):
        problem = f"generated tasks are not in a split but {SESSIONS_SPLIT}; remove --tau-split"
        raise pytest.UsageError(f"{values.label('generate')}: {problem}")
    if not generates and values.get("difficulty") is not None:
        raise pytest.UsageError(f"{values.label('difficulty')}: applies to generated tasks only; add --tau-generate N")


def _check_rerun(values: OptionValues) -> None:
    values.get("rerun")
    if values.given("resume") is None and values.given("rerun") and not values.from_ini("rerun"):
        raise pytest.UsageError(f"{values.label('rerun')}: is used with --tau-resume only; add it")


def _simulation(values: OptionValues, data_dir: Path | None) -> SimulationSettings:
    grading = PROFILES[values.get("grading")]
    solo = values.get("solo") or values.get("agent") == "llm-solo"
    return SimulationSettings(
        **values.of(ConversationSettings) | {"solo": solo},
        own_timeout=None if is_played(values) else DEFAULT_TIMEOUT,
        limits=Limits(**values.of(Limits)),
        evaluation=Evaluation(grading, solo=solo),
        protocol=_protocol(values),
        retrieval=_retrieval(values),
        prompting={side: _prompting(values, side, data_dir) for side in SIDES},
    )


def _retrieval(values: OptionValues) -> Retrieval | None:
    name, args = values.get("agent_retrieval"), values.get("agent_retrieval_args")
    return Retrieval(name, args) if name is not None or args else None


def _prompting(values: OptionValues, side: Side, data_dir: Path | None) -> Prompting:
    """Return how a model plays a side: the options that begin with the side, and the texts of its prompt."""
    fields = {row.field: values.get(row.key) for row in options_of(PromptingSettings)}
    own = {name.removeprefix(f"{side}_"): value for name, value in fields.items() if name.startswith(f"{side}_")}
    texts = _prompt(values, side, own.pop("prompt"), data_dir)
    if side == "agent":
        own["examples"] = _examples(values)
    return replace(texts, **own)


def _prompt(values: OptionValues, side: Side, path: Path | None, data_dir: Path | None) -> Prompting:
    from ..participants.prompts import load_prompt, official_guidelines

    with values.naming(f"{side}_prompt"):
        if path is not None:
            return Prompting(path.name, load_prompt(path, side))
        official = official_guidelines(data_dir) if data_dir and side == "user" else None
    return official or Prompting()


def _examples(values: OptionValues) -> Path | None:
    examples: Path | None = values.get("agent_examples")
    if examples is not None:
        from ..participants.agents.examples import read_examples

        with values.naming("agent_examples"):
            read_examples(examples.resolve())
        return examples.resolve()
    if values.get("agent") == "few-shot":
        raise pytest.UsageError(
            f"{values.label('agent')}: few-shot needs examples: add --tau-agent-examples FILE (JSON lines or a run)"
        )
    return None


def _models(config: pytest.Config, values: OptionValues) -> ModelSettings:
    names = {role: name for role in MODEL_ROLES if (name := values.get(f"{role}_llm")) is not None}
    args = {
        role: ModelArguments(with_defaults(names.get(role, ""), values.get(f"{role}_llm_args"))) for role in MODEL_ROLES
    }
    made = ModelSettings(
        **values.of(CallSettings) | {"cassettes": _cassettes(values)},
        names=names,
        args=args,
        endpoint_key=os.environ.get(AGENT_KEY) or ModelSettings.endpoint_key,
        prices=_prices(values),
        tape=_tape(values),
    )
    found = config.hook.pytest_tau_models(config=config, models=made)
    others = {role: choice for more in found for role, choice in more.items()}
    return replace(
        made,
        names={**names, **{role: choice.name for role, choice in others.items()}},
        args={**args, **{role: choice.args for role, choice in others.items()}},
    )


def _cassettes(values: OptionValues) -> Path | None:
    """Return the folder of the cassettes, of a URL a copy of what is there; None for those next to the test files.

    Raises:
        pytest.UsageError: The store cannot be read, or is to be written.
    """
    from ..runs.store import is_url

    given = values.given("cassettes")
    if not given:
        return None
    if not is_url(given):
        folder: Path = values.get("cassettes")
        return folder.resolve()
    from ..runs.fetch import fetch_folder

    if values.given("record") is not None:
        label = values.label("cassettes")
        raise pytest.UsageError(f"{label}: a URL is only read: record into a folder, and copy that to the store")
    with values.naming("cassettes"):
        return fetch_folder(given)


def _prices(values: OptionValues) -> PriceList:
    if not values.given("prices"):
        return {}
    with values.naming("prices"):
        return read_prices(values.get("prices"))


def _tape(values: OptionValues) -> TapeMode | None:
    record: TapeMode | None = values.get("record")
    replay = values.get("replay")
    if record and replay and values.from_ini("record") == values.from_ini("replay"):
        raise pytest.UsageError(f"{values.label('record')} and {values.label('replay')}: expected one of them")
    if record and (not replay or values.from_ini("replay")):
        return record
    return "replay" if replay else None


def _data_dir(values: OptionValues) -> Path | None:
    source, path = _given_data(values)
    if path is None:
        return None
    found = data_folder(path.resolve())
    if found is None:
        raise pytest.UsageError(f"{source}: {not_data(path.resolve())}")
    return found


def _given_data(values: OptionValues) -> tuple[str, Path | None]:
    """Return where the folder of data was named, and the folder."""
    written = values.given("data")
    if written is None and (written := os.environ.get("TAU_DATA")):
        return "$TAU_DATA", Path(written)
    return values.label("data"), values.get("data") if written else None


def _protocol(values: OptionValues) -> Protocol:
    """Return the protocol, with the texts of a file or of the checkout that has the data.

    Raises:
        pytest.UsageError: There are no texts; says where was looked.
    """
    name, texts = values.get("protocol"), None
    if name == "tau":
        if values.given("texts"):
            raise pytest.UsageError(f"{values.label('texts')}: is used by --tau-protocol tau2 only; add it")
        return TAU
    source, data = _given_data(values)
    try:
        if values.given("texts"):
            source = values.label("texts")
            texts = load_texts(values.get("texts"))
        elif data is not None and not (data / "domains").is_dir():
            texts = read_checkout(data.resolve())
    except ConfigurationError as error:
        raise pytest.UsageError(f"{source}: {error}") from error
    if texts is None:
        looked = f"{source} {data} has data only, no sources" if data is not None else "neither is given"
        raise pytest.UsageError(
            f"{values.label('protocol')}: the official texts are read from a checkout of τ²-bench (--tau-data "
            f"CHECKOUT) or from a file of 'tau texts' (--tau-texts FILE): {looked}"
        )
    return Protocol("tau2", texts)
