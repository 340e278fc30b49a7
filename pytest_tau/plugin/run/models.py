"""The models of one trial inside a test item, and the cassette that they are recorded in or replayed from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ...chat import CallLedger, CallPolicy, Identity, Player, Recorder, TrialModels
from ...errors import ReplayError
from ...files import ambiguous_names, digest, file_name_of
from ...models import clone
from ...participants import calls_no_model
from ...plain import json
from ...runner import item_id
from ..context.run_state import require_context
from ..items import home_of, is_of_domain, is_task_item, item_state, set_properties
from ..rerun_command import rerun_command
from ..wire import TestUsage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ...chat import LLM, ChatReply, ChatRequest, Role, Tape
    from ...environment import Environment
    from ...models import ModelUsage, Task, TerminationReason
    from ..items import TaskSpec

_ROLES: tuple[Role, ...] = ("agent", "user", "judge")


def trial_models(
    item: pytest.Item,
    spec: TaskSpec,
    number: int,
    environment: Environment,
    used: Mapping[Role, ModelUsage] | None = None,
) -> TrialModels:
    """Return the models that the participants and the judge of a trial call.

    Args:
        item: The test item.
        spec: Task, domain and settings.
        number: The number of the trial, from 0.
        environment: The environment of the conversation.
        used: What a trial of the item that was lost has used of its models.

    Raises:
        ConfigurationError: A model that cannot be used, or cassettes that cannot be written.
        ReplayError: A cassette that cannot be read.
    """
    context = require_context(item.config)
    found = {role: context.llm(role, item, spec.config) for role in _ROLES}
    llms: dict[Role, LLM] = {role: llm for role, llm in found.items() if llm is not None}
    settings = spec.config.models
    policy = CallPolicy(
        chat=context.default_chat,
        embeddings=context.embeddings,
        budget=settings.budget_per_trial,
        budget_problem=context.budget.problem,
        price_check=context.budget.price_check if settings.has_budget else None,
        prices=settings.prices,
        on_cost=context.budget.spend,
    )
    tape = _tape(item, spec, number, environment)
    models = TrialModels(llms, tape, context.seed(number), policy, CallLedger(used))
    # A test function may call the agent's model itself, also without a simulation.
    asks = {"tau_model", "tau_agent_client"} & set(getattr(item, "fixturenames", ()))
    if asks and not is_task_item(item):
        models.keep_recording()
    return models


def affordable_models(item: pytest.Item, spec: TaskSpec, number: int, environment: Environment) -> TrialModels:
    """Return the models of a trial, as ``trial_models`` does; skip the trial if the budget of the run is spent."""
    models = trial_models(item, spec, number, environment)
    if may_spend(spec, models):
        try:
            require_context(item.config).budget.check(item)
        except pytest.skip.Exception:
            if models.tape is not None:
                models.tape.abandon()
            raise
    return models


def usage_of(spec: TaskSpec, models: TrialModels, restored: Mapping[str, ModelUsage] | None = None) -> TestUsage:
    """Return the model calls of a test so far.

    Args:
        spec: The task.
        models: The models of the trial.
        restored: The usage in the previous run, if the simulation comes from there.
    """
    replayed = isinstance(models.tape, Player) or restored is not None
    usage = models.ledger.usage if restored is None else restored
    roles: dict[str, ModelUsage] = {role: clone(used) for role, used in usage.items()}
    return TestUsage(f"{spec.domain.name}::{spec.task.id}", replayed, roles)


def end_models(item: pytest.Item, spec: TaskSpec, models: TrialModels) -> None:
    """Count and record the calls that a test function has made in addition to its simulation.

    Raises:
        ReplayError: Recorded calls were not made.
    """
    if not models.keeps_recording:
        return
    if models.ledger.usage:
        item_state(item).report.usage = usage = usage_of(spec, models)
        set_properties(item, tau_usage=json.dumps(usage.as_dict()))
    models.close_recording()


def _tape(item: pytest.Item, spec: TaskSpec, number: int, environment: Environment) -> Tape | None:
    mode = spec.config.models.tape
    if mode is None:
        return None
    path = Path(os.path.relpath(cassette_path(item, spec, number)))
    seed = require_context(item.config).seed(number)
    identity = Identity(spec.domain.name, spec.task.id, number, seed, _hashes(spec, environment))
    return open_tape(item, mode, path, identity)


def open_tape(item: pytest.Item, mode: str | None, path: Path, identity: Identity) -> Tape | None:
    """Return what records model calls in a cassette, or replays them from it; None to do neither.

    Args:
        item: The test item.
        mode: What the run does with cassettes: ``all`` or ``missing`` to record, ``replay``, or None.
        path: The cassette.
        identity: The conversation that it is of.

    Raises:
        ReplayError: The cassette cannot be read.
    """
    if mode is None:
        return None
    again = rerun_command(item, record="all")
    if mode == "all" or (mode == "missing" and not path.is_file()):
        return Recorder(path, identity, fresh=mode == "all", rerun_command=again)
    if not path.is_file():
        return MissingTape(path, rerun_command(item, record="missing"))
    return Player(path, identity, rerun_command=again)


def may_spend(spec: TaskSpec, models: TrialModels) -> bool:
    """Return whether a trial may cost anything: calls are not replayed, and something may call a model."""
    run = spec.config
    model_free = calls_no_model(run.agent_spec) and calls_no_model(run.user_spec)
    return not isinstance(models.tape, Player | MissingTape) and not (model_free and models.get("judge") is None)


class MissingTape:
    """Takes the place of a cassette that does not exist; an error only for a trial that calls a model."""

    def __init__(self, path: Path, again: str) -> None:
        self.times: list[str] = []
        self._path, self._again = path, again

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """Refuse to answer.

        Raises:
            ReplayError: Always.
        """
        del request, ask
        raise ReplayError(f"{self._path}: no such cassette, but the {role} calls a model\nrecord it: {self._again}")

    def finish(
        self, reason: TerminationReason, error: str | None, times: list[str], *, timed_out: bool = False
    ) -> None:
        """Do nothing: nothing was recorded."""

    def abandon(self) -> None:
        """Do nothing: nothing was recorded."""


def cassette_path(item: pytest.Item, spec: TaskSpec, number: int) -> Path:
    """Return the path of a trial's cassette: next to its task file, its test module, or where pytest was started."""
    folder = spec.config.models.cassettes
    if not is_task_item(item):
        test = item.nodeid.partition("::")[2].partition("[")[0].replace("::", ".")
        call = getattr(item, "callspec", None)
        name = file_name_of(item_id(call.id), ambiguous=spec.ambiguous) if call else "test"
        parts = [file_name_of(test), f"{name}.cassette"]
    else:
        call = getattr(item, "callspec", None)
        ids = [*spec.parameters, *([call.id] if call is not None and call.id else [])]
        parameters = f".{item_id('-'.join(ids))}" if ids else ""
        name = file_name_of(item_id(spec.task.id), ambiguous=spec.ambiguous)
        parts = [f"{name}{parameters}.trial-{number}.cassette"]
    home = home_of(item)
    if is_of_domain(item):
        domains = ambiguous_names(require_context(item.config).domain_names())
        place = Path(file_name_of(spec.domain.name, ambiguous=spec.domain.name in domains))
        base = home / "cassettes"
    else:
        base, place = home.parent / "cassettes", Path(home.stem)
    if folder is not None:
        root = item.config.rootpath
        inside = home.parent.relative_to(root) if home.is_file() and home.is_relative_to(root) else Path()
        base, place = folder, inside / place
    return base.joinpath(place, *parts)


def _hashes(spec: TaskSpec, environment: Environment) -> dict[str, str]:
    """Return digests of what the conversation depends on, to name what has changed since a recording."""
    prompting = spec.config.simulation.prompting
    prompts = {f"{side} prompt": [one.prompt, one.tools_prompt] for side, one in prompting.items()}
    parts: dict[str, Any] = {
        "task": _scenario(spec.task),
        "policy": environment.policy,
        "agent tools": [tool.openai_schema for tool in environment.tools("assistant")],
        "user tools": [tool.openai_schema for tool in environment.tools("user")],
        **prompts,
    }
    found = {name: digest(json.dumps(part, sort_keys=True)) for name, part in parts.items()}
    texts = spec.config.simulation.protocol.texts
    return found | ({"official texts": texts.fingerprint} if texts is not None else {})


def _scenario(task: Task) -> dict[str, Any]:
    """Return the fields of a task on which a conversation depends; how it is graded may change."""
    return task.model_dump(include={"user_scenario", "ticket", "initial_state", "user_tools", "sessions"}, mode="json")
