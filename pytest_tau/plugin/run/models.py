"""The models of one trial inside a test item, and the cassette that they are recorded in or replayed from."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...chat import Identity, Player, Recorder, TrialModels
from ...errors import ReplayError
from ...participants import calls_no_model
from ...runner import item_id
from ..context.run_state import require_context
from ..items import is_task_item, item_state
from ..rerun_command import rerun_command

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    import pytest

    from ...chat import LLM, ChatReply, ChatRequest, Role, Tape
    from ...environment import Environment
    from ...models import ModelUsage, Task, TerminationReason
    from ..items import TaskSpec

_ROLES: tuple[Role, ...] = ("agent", "user", "judge")


def trial_models(item: pytest.Item, case: TaskSpec, number: int, environment: Environment) -> TrialModels:
    """The models that the participants and the judge of a trial call.

    Args:
        item: The test item.
        case: Task, domain and settings.
        number: Which repetition of the task.
        environment: Where the conversation takes place.

    Raises:
        ConfigurationError: A model that cannot be used, or cassettes that cannot be written.
        ReplayError: A cassette that cannot be read.
    """
    active = require_context(item.config)
    found = {role: active.llm(role, item, case.config) for role in _ROLES}
    llms: dict[Role, LLM] = {role: llm for role, llm in found.items() if llm is not None}
    models = TrialModels(llms, _tape(item, case, number, environment), active.seed(number))
    models.chat = active.default_chat
    # A test of one's own may call the agent's model itself, also without a simulation.
    models.keep_open = not is_task_item(item) and "tau_model" in getattr(item, "fixturenames", ())
    return models


def spend(item: pytest.Item, models: TrialModels) -> None:
    """Count what the calls so far have cost, but for what was counted before."""
    tape = models.tape
    if isinstance(tape, Player | MissingTape):
        return
    # Calls that an interrupted recording had left were paid for then.
    saved = tape.saved if isinstance(tape, Recorder) else 0.0
    cost = sum(used.known_cost for used in models.usage.values()) - saved
    require_context(item.config).budget.spend(cost - models.spent)
    models.spent = cost


def usage_facts(
    case: TaskSpec, models: TrialModels, restored: Mapping[str, ModelUsage] | None = None
) -> dict[str, Any]:
    """Return the usage of the model calls by role, the task, and whether the calls were replayed.

    Args:
        case: The task.
        models: Those of the trial.
        restored: The usage of an earlier run, if the simulation comes from there.
    """
    replayed = isinstance(models.tape, Player) or restored is not None
    usage = models.usage if restored is None else restored
    roles = {role: used.model_dump(mode="json") for role, used in usage.items()}
    task = f"{case.domain.name}::{case.task.id}"
    return {"task": task, "replayed": replayed, "roles": roles}


def end_models(item: pytest.Item, case: TaskSpec, models: TrialModels) -> None:
    """Count and record the calls that a test of one's own has made beside its simulation.

    Raises:
        ReplayError: Recorded calls were not made.
    """
    if not models.keep_open:
        return
    if models.usage:
        spend(item, models)
        item_state(item).usage = usage = usage_facts(case, models)
        item.user_properties[:] = [each for each in item.user_properties if each[0] != "tau_usage"]
        item.user_properties.append(("tau_usage", json.dumps(usage)))
    if models.tape is not None:
        reason, error, times, timed_out = models.finish_args or ("agent_stop", None, [], False)
        models.tape.finish(reason, error, times, timed_out=timed_out)


def _tape(item: pytest.Item, case: TaskSpec, number: int, environment: Environment) -> Tape | None:
    mode = case.config.models.tape
    if mode is None:
        return None
    path = Path(os.path.relpath(cassette_path(item, case, number)))
    seed = require_context(item.config).seed(number)
    identity = Identity(case.domain.name, case.task.id, number, seed, _hashes(case, environment))
    again = rerun_command(item, record="all")
    if mode == "all" or (mode == "missing" and not path.is_file()):
        return Recorder(path, identity, fresh=mode == "all", rerun_command=again)
    if not path.is_file():
        return MissingTape(path, rerun_command(item, record="missing"))
    return Player(path, identity, rerun_command=again)


def may_spend(case: TaskSpec, models: TrialModels) -> bool:
    """Whether a trial may cost anything: not where its calls are replayed, and not where nothing calls a model."""
    run = case.config
    model_free = calls_no_model(run.agent_spec) and calls_no_model(run.user_spec)
    return not isinstance(models.tape, Player | MissingTape) and not (model_free and models.get("judge") is None)


class MissingTape:
    """Stands in for a cassette that there is not; a trial that calls no model needs none."""

    def __init__(self, path: Path, again: str) -> None:
        self.times: list[str] = []
        self._path, self._again = path, again

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """Never.

        Raises:
            ReplayError: Always.
        """
        del request, ask
        raise ReplayError(f"{self._path}: no such cassette, and the {role} calls a model\nrecord it: {self._again}")

    def finish(
        self, reason: TerminationReason, error: str | None, times: list[str], *, timed_out: bool = False
    ) -> None:
        """Nothing was recorded."""

    def abandon(self) -> None:
        """Nothing was recorded."""


def cassette_path(item: pytest.Item, case: TaskSpec, number: int) -> Path:
    """Where the cassette of a trial lies: beside its task file, its test module, or where pytest was started."""
    folder = case.config.models.cassettes
    if not is_task_item(item):  # a test of one's own
        test = item.nodeid.partition("::")[2].partition("[")[0].replace("::", ".")
        spec = getattr(item, "callspec", None)
        home, parts = item.path, [test, f"{item_id(spec.id) if spec else 'test'}.cassette"]
    else:
        home, parts = item.path, [f"{item_id(case.task.id)}.trial-{number}.cassette"]
    if item.path.is_dir():  # a domain's
        place = Path(case.domain.name)
        base = home / "cassettes"
    else:
        base, place = home.parent / "cassettes", Path(home.stem)
    if folder is not None:
        root = item.config.rootpath
        inside = home.parent.relative_to(root) if home.is_file() and home.is_relative_to(root) else Path()
        base, place = folder, inside / place
    return base.joinpath(place, *parts)


def _hashes(case: TaskSpec, environment: Environment) -> dict[str, str]:
    """Digests of what the conversation depends on, to tell what has changed since a recording."""
    prompting = case.config.simulation.prompting
    prompts = {f"{side} prompt": [one.prompt, one.tools_prompt] for side, one in prompting.items()}
    parts: dict[str, Any] = {
        "task": _scenario(case.task),
        "policy": environment.policy,
        "agent tools": [tool.openai_schema for tool in environment.tools("assistant")],
        "user tools": [tool.openai_schema for tool in environment.tools("user")],
        **prompts,
    }
    return {name: _digest(part) for name, part in parts.items()}


def _scenario(task: Task) -> dict[str, Any]:
    """What of a task a conversation depends on; how it is graded may change."""
    return task.model_dump(include={"user_scenario", "ticket", "initial_state", "user_tools"}, mode="json")


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
