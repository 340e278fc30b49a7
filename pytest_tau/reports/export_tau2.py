"""A run's simulations of one domain as a results file that τ²-bench's own viewer and metrics read.

Only fields that τ²-bench's files have are written, and what is not known is null. What is ours alone stands under
``pytest_tau`` in the objects that may have any content: ``info`` of a simulation and of a verdict.

Source: τ²-bench v1.0.1, results files.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from ..errors import ConfigurationError
from ..models import REWARD_TYPES, ToolMessage
from ..runs.groups import find_variants
from ..runs.result_entries import OWN
from .export import as_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models import Message, RewardInfo, Task
    from ..runs.reader import Run, StoredTrial
    from .export import DomainContent

#: Fields of τ²-bench's header that are never known here.
_UNKNOWN = (
    *("text_streaming_config", "speech_complexity", "audio_native_config"),
    *("retrieval_config", "retrieval_config_kwargs"),
)


def write_tau2(run: Run, file: IO[str], domain: str, content: DomainContent, info: dict[str, Any]) -> int:
    """Write the simulations of a domain; returns how many.

    Args:
        run: The run.
        file: The target.
        domain: The domain's name.
        content: What the run has of it.
        info: The header of the run, as ``tau2_info`` makes it.

    Raises:
        ConfigurationError: The format cannot represent the content.
    """
    _check(domain, content)
    file.write(f'{{\n"timestamp": {as_json(_timestamp(run, content))},\n"info": {as_json(info)},\n"tasks": [')
    _write_all(file, (tau2_task(task) for task in content.tasks.values()))
    file.write('],\n"simulations": [')
    written = _write_all(file, (tau2_simulation(trial) for trial in run.trials() if trial.domain == domain))
    file.write("]\n}\n")
    return written


def tau2_info(info: dict[str, Any], domain: str, content: DomainContent, policy: str | None = None) -> dict[str, Any]:
    """Return the header of a run: that of a τ²-bench file as it is, else what our manifest has of it.

    Args:
        info: The manifest of the run, or the header of its file.
        domain: The domain's name.
        content: What the run has of it.
        policy: The domain's policy, if it is known to be that of the run.
    """
    if "environment_info" in info:
        return info
    settings = info.get("settings") or {}
    return {
        "git_commit": info.get("commit"),
        "num_trials": content.trials,
        "max_steps": settings.get("max_steps"),
        "max_errors": settings.get("max_errors"),
        "user_info": {**_side(settings, "user"), "global_simulation_guidelines": None, "persona_config": None},
        "agent_info": _side(settings, "agent"),
        "environment_info": {"domain_name": domain or None, "policy": policy, "tool_defs": None},
        "seed": settings.get("seed"),
        **dict.fromkeys(_UNKNOWN),
    }


def tau2_task(task: Task) -> dict[str, Any]:
    """Return a task in τ²-bench's format, without the script of a user without a model."""
    found = task.model_dump(mode="json", exclude={"user_scenario": {"script"}}, serialize_as_any=True)
    if found["annotations"] is None:
        del found["annotations"]
    return found


def tau2_simulation(trial: StoredTrial) -> dict[str, Any]:
    """Return a simulation in τ²-bench's format."""
    simulation = trial.simulation
    known = bool(simulation.start_time or simulation.duration)
    return {
        "id": simulation.id,
        "task_id": simulation.task_id,
        "timestamp": simulation.end_time or simulation.start_time or None,
        "start_time": simulation.start_time or None,
        "end_time": simulation.end_time or None,
        "duration": simulation.duration if known else None,
        "termination_reason": simulation.termination_reason,
        "agent_cost": simulation.agent_cost,
        "user_cost": simulation.user_cost,
        "reward_info": tau2_reward(simulation.reward_info, simulation.task_id) if simulation.reward_info else None,
        "messages": [_message(message, number) for number, message in enumerate(simulation.messages)],
        "trial": simulation.trial,
        "seed": simulation.seed,
        "mode": simulation.mode,
        "info": _with_own(simulation.info, _own(trial)),
    }


def _check(domain: str, content: DomainContent) -> None:
    if content.changed:
        raise ConfigurationError(
            f"task {min(content.changed)!r} of domain {domain!r} has two versions, which τ²-bench's format cannot "
            "distinguish; --format jsonl keeps each simulation with its own"
        )
    if variants := find_variants(content.groups):
        raise ConfigurationError(
            f"the trials of domain {domain!r} are of {len(variants)} variants ({', '.join(variants.values())}), which "
            "τ²-bench's format would pool; --format jsonl and csv keep them apart"
        )
    for task in content.tasks.values():
        _check_components(task.criteria.reward_basis, task.id)


def _check_components(names: Iterable[str], task_id: str) -> None:
    for name in names:
        if name not in REWARD_TYPES:
            raise ConfigurationError(
                f"the reward of task {task_id!r} depends on {name!r}, which τ²-bench does not have "
                f"(it has {', '.join(REWARD_TYPES)}); --format jsonl and csv keep it"
            )


def _write_all(file: IO[str], values: Iterable[dict[str, Any]]) -> int:
    written = 0
    for value in values:
        file.write(("," if written else "") + "\n" + as_json(value))
        written += 1
    return written


def _timestamp(run: Run, content: DomainContent) -> str | None:
    return run.info.get("started") or content.started or None


def _side(settings: dict[str, Any], side: str) -> dict[str, Any]:
    return {
        "implementation": settings.get(side),
        "llm": settings.get(f"{side}_llm"),
        "llm_args": settings.get(f"{side}_llm_args"),
        "voice_settings": None,
    }


def _own(trial: StoredTrial) -> dict[str, Any]:
    """Return the fields of a simulation that τ²-bench's format lacks, if they are not empty."""
    simulation = trial.simulation
    found = {
        "test": trial.test,
        "stop_token": simulation.stop_token,
        "error": simulation.error,
        "model_usage": {role: used.model_dump() for role, used in simulation.model_usage.items()},
        "replay_differences": simulation.replay_differences,
    }
    return {name: value for name, value in found.items() if value}


def _with_own(info: dict[str, Any] | None, own: dict[str, Any]) -> dict[str, Any] | None:
    return {**(info or {}), OWN: own} if own else info


def tau2_reward(info: RewardInfo, task_id: str) -> dict[str, Any]:
    """Return a verdict in τ²-bench's format.

    Raises:
        ConfigurationError: It has a component that the format lacks.
    """
    _check_components(info.reward_basis or (), task_id)
    found = info.model_dump(mode="json")
    checks = found.pop("custom_checks"), found.pop("db_diff")
    own = {name: value for name, value in zip(("custom_checks", "db_diff"), checks, strict=True) if value is not None}
    errors = {number: check.pop("error") for number, check in enumerate(found["env_assertions"] or [])}
    raised = {str(number): error for number, error in errors.items() if error}
    own |= {"env_assertion_errors": raised} if raised else {}
    found["info"] = _with_own(found["info"], own)
    return found


def _message(message: Message, number: int) -> dict[str, Any]:
    found = message.model_dump(mode="json")
    if found["turn_idx"] is None:
        found["turn_idx"] = number
    for call in found.get("tool_calls") or ():
        # Without it the call would be another one. It is rare.
        if call["malformed"] is None:
            del call["malformed"]
    if isinstance(message, ToolMessage):
        return found
    return {"role": found.pop("role"), "content": found.pop("content"), **found}
