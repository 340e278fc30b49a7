"""Every setting that verdicts depend on: runs that differ in it are compared with a warning, and not resumed.

The tests walk the tables of options. A setting that is added there is tested without another line, unless only a value
of its own kind can be used: then its row has an ``example``.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from inner_runs import quick_options
from trial_records import trial_record

from pytest_tau.analysis.comparability import conditions_of_run, differing_conditions
from pytest_tau.capability import bundled_options
from pytest_tau.capability.calls import recorded
from pytest_tau.chat import LLM, TrialModels
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import EvaluationCriteria
from pytest_tau.plugin.context.build import ensure_context
from pytest_tau.plugin.options_table import OPTIONS
from pytest_tau.plugin.rerun_command import rerun_command
from pytest_tau.protocol import read_checkout, write_texts
from pytest_tau.run_settings import PromptingSettings
from pytest_tau.runner import Trial
from pytest_tau.runner.conditions import conditions_of
from pytest_tau.runs import rerun_options
from pytest_tau.runs.manifest import recorded_settings
from pytest_tau.runs.manifest_diff import diff_settings
from pytest_tau.settings import flag, options_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.runner import RunConfig
    from pytest_tau.settings import Option

CHECKOUT = Path(__file__).parents[1] / "made_up_checkout"
MODELS = [f"--tau-{role}{option}" for role in ("agent", "user") for option in ("=llm", "-llm=fake/m")] + [
    "--tau-judge-llm=fake/m"
]
#: The criteria of a task that a judge grades.
JUDGED = EvaluationCriteria(nl_assertions=["It was polite."], reward_basis=["NL_ASSERTION"])
#: Values that the types of options take, for those that have neither an example nor choices.
VALUES = ("7", "0.5", "word", '{"top_k": 7}', "examples.jsonl", "noop", "accept", "full_kb", "workflow")
SETTINGS = {
    option.key: option for option in (OPTIONS | bundled_options()).values() if option.affects in ("verdict", "agent")
}


class Ran(NamedTuple):
    """A run as it is stored, if its only trial has called every model."""

    config: pytest.Config
    run: RunConfig
    settings: dict[str, Any]
    conditions: list[Any]


@pytest.fixture(scope="module")
def plain_runs() -> dict[int, Ran]:
    """The runs of the contexts, by their numbers, as far as they were needed."""
    return {}


@pytest.fixture
def configure(pytester, monkeypatch):
    monkeypatch.chdir(pytester.path)
    write_texts(pytester.path / "texts.json", read_checkout(CHECKOUT))
    pytester.path.joinpath("examples.jsonl").write_text(
        json.dumps({"messages_display": "user: Hi.\nagent: Bye.", "task_id": "t"}) + "\n", encoding="utf-8"
    )
    voice, recogniser = map(Path, SETTINGS["voice_sound"].example.split(","))
    for file in (voice, voice.with_name(f"{voice.name}.json"), recogniser / "model.bin"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.setattr("pytest_tau.capabilities.voice.audio.hearing._PACKAGES", ())  # those of an extra

    def made(*args: str) -> Any:
        """The run with these options; None if they cannot be used."""
        with contextlib.suppress(pytest.UsageError):
            config = pytester.parseconfigure(*quick_options(), "--tau-results=none", *args)
            context = ensure_context(config)
            run, domain = context.config, context.domain(context.config.domains[0])
            task = domain.tasks()[0].model_copy(update={"evaluation_criteria": JUDGED})
            models = TrialModels({role: LLM(choice.name, None, choice.args) for role, choice in run.choices.items()})
            models.ledger.asked |= {*run.choices}
            trial = Trial(task, domain, domain.environment(task), run.simulation, models)
            sides = [context.source(side, run) for side in ("agent", "user")]
            record = trial_record(task.id, conditions=conditions_of(trial, *sides))
            settings = recorded_settings(run)
            return Ran(config, run, settings, conditions_of_run([record], {"settings": settings}))
        return None

    return made


#: Options without which others have no meaning: a domain with several policies, one with documents, one with texts, one
#: with values, and one with approvals.
CONTEXTS = (
    ["--tau-domain=telecom", "--tau-split=small", "--tau-mode=voice", *MODELS],
    ["--tau-domain=banking_knowledge", "--tau-split=small", *MODELS],
    ["--tau-domain=mock", "--tau-split=small", *MODELS],
    ["--tau-domain=airline", "--tau-split=small", *MODELS],
    ["--tau-domain=mock-approvals", *MODELS],
)
#: An option that goes with one of another kind.
TEXTS = "--tau-texts=texts.json"


def candidates(option: Option) -> Iterator[list[str]]:
    """Arguments that may change an option."""
    name = f"--tau-{option.name}"
    if option.type is flag:
        yield [name]
    values = [value for value in (option.example, *option.choices, *VALUES) if value not in (None, option.default)]
    yield from ([f"{name}={value}"] for value in values)
    yield from ([f"{name}={value}", TEXTS] for value in option.choices)


def pair(configure: Any, plain_runs: dict[int, Ran], option: Option) -> tuple[Ran, Ran]:
    """Two runs that differ in an option only."""
    for number, context in enumerate(CONTEXTS):
        before = plain_runs[number] = plain_runs.get(number) or configure(*context)
        for arguments in candidates(option):
            after = configure(*context, *arguments)
            if after is not None and value_of(option, before) != value_of(option, after):
                return before, after
    raise AssertionError(f"--tau-{option.name}: no value found: give its row an example")


def value_of(option: Option, ran: Ran) -> list[Any]:
    return [value.recorded for value in ran.run.values() if value.option.key == option.key]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting(configure, plain_runs, name):
    option = SETTINGS[name]
    try:
        before, after = pair(configure, plain_runs, option)
    except ConfigurationError as error:  # an extra is not installed
        pytest.skip(str(error))
    assert differing_conditions(before.conditions, before.conditions) == []
    warnings = differing_conditions(before.conditions, after.conditions)
    # Runs of other agents are what is compared.
    assert bool(warnings) is (option.affects == "verdict"), warnings
    hashes = {"hashes": {"grader": "g"}}
    refusals = diff_settings({"settings": before.settings, **hashes}, {"settings": after.settings, **hashes})
    assert any(refusal.startswith(f"{option.setting}: ") for refusal in refusals), refusals
    item = SimpleNamespace(nodeid="mock::t[trial-0]", config=after.config, parent=SimpleNamespace(selected=[]))
    assert f"--tau-{option.name}" in rerun_command(item)
    if not option.path or option.key not in {prompting.key for prompting in options_of(PromptingSettings)}:
        stored = {"settings": after.settings, "capabilities": recorded(after.run.simulation.capabilities)}
        continued = rerun_options(stored)
        assert any(part.partition("=")[0] == f"--tau-{option.name}" for part in continued), continued
