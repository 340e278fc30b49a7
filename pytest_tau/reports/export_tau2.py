"""A run's simulations of one domain as a results file that τ²-bench's own viewer and metrics read.

Only fields that τ²-bench's files have are written. What is not known is null, or has the value of ``tau2_fields`` if
null is not accepted. What is ours alone stands under ``pytest_tau`` in the objects that may have any content, ``info``
of a simulation and of a verdict, and in the header and tasks, whose unknown keys τ²-bench ignores.

Source: τ²-bench v1.0.1, results files.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from ..errors import ConfigurationError
from ..files import atomic_open, file_name_of
from ..models import REWARD_TYPES, ToolMessage, review_of
from ..models.reviews import REVIEW_KEYS, tau2_review
from ..runs.groups import find_variants
from ..runs.layout import RESULTS_FOLDER, RESULTS_INDEX
from ..runs.results.entries import OWN
from .export import LOST, as_json, is_lost
from .tau2_fields import EPOCH, complete_info, complete_task, index_entry, tau2_reason, times_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ..models import Message, RewardInfo, Simulation, Task
    from ..runs.reader import Run, StoredTrial
    from .export import DomainContent


@dataclass(frozen=True)
class Tau2Options:
    """How simulations are written.

    Attributes:
        errors_as_is: Trials that ended in an error keep their reason and verdict. By default they end by
            ``infrastructure_error`` without a verdict, which τ²-bench excludes from its rates, as ours do.
        trim: Omit what only this package and providers have: ``pytest_tau``, ``actor`` and ``raw_data`` of messages.
    """

    errors_as_is: bool = False
    trim: bool = False


DEFAULT_OPTIONS = Tau2Options()


#: What this package adds to the format of tasks.
_EXTENSIONS: Any = {
    "user_scenario": {"script"},
    "evaluation_criteria": {"actions": {"__all__": {"fails"}}, "outcomes": True},
}


def write_tau2(
    run: Run,
    file: IO[str],
    domain: str,
    content: DomainContent,
    info: dict[str, Any],
    options: Tau2Options = DEFAULT_OPTIONS,
) -> int:
    """Write the simulations of a domain; returns how many.

    Args:
        run: The run.
        file: The target.
        domain: The domain's name.
        content: What the run has of it.
        info: The header of the run, as ``tau2_header`` makes it.
        options: How simulations are written.

    Raises:
        ConfigurationError: The format cannot represent the content.
    """
    check_content(domain, content)
    _write_head(run, file, domain, content, _header(run, info, content, options))
    file.write('],\n"simulations": [')
    written = _write_all(file, _simulations(run, domain, options))
    file.write("]\n}\n")
    return written


def write_tau2_folder(
    run: Run,
    folder: Path,
    domain: str,
    content: DomainContent,
    info: dict[str, Any],
    options: Tau2Options = DEFAULT_OPTIONS,
) -> int:
    """Write the simulations of a domain as a folder with a file for each; returns how many.

    Args:
        run: The run.
        folder: The target, which has no such files yet.
        domain: The domain's name.
        content: What the run has of it.
        info: The header of the run, as ``tau2_header`` makes it.
        options: How simulations are written.

    Raises:
        ConfigurationError: The format cannot represent the content, or the folder has files of a run.
        OSError: A file cannot be written.
    """
    check_content(domain, content)
    inside = folder / RESULTS_FOLDER
    if inside.exists() or (folder / RESULTS_INDEX).exists():
        raise ConfigurationError(f"{folder} already has {RESULTS_INDEX} or {RESULTS_FOLDER}/; give another folder")
    inside.mkdir(parents=True)
    index: dict[str, dict[str, Any]] = {}
    for simulation in _simulations(run, domain, options):
        if simulation["id"] in index:
            raise ConfigurationError(
                f"two simulations have the id {simulation['id']!r}, which names the file of each; --format tau2 writes "
                "one file"
            )
        (inside / f"{simulation['id']}.json").write_text(as_json(simulation) + "\n", encoding="utf-8")
        index[simulation["id"]] = index_entry(simulation)
    with atomic_open(folder / RESULTS_INDEX) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
        _write_head(run, file, domain, content, _header(run, info, content, options))
        file.write('],\n"simulations": [],\n"simulation_index": [')
        _write_all(file, index.values())
        file.write("]\n}\n")
    return len(index)


def _simulations(run: Run, domain: str, options: Tau2Options) -> Iterator[dict[str, Any]]:
    for trial in run.trials():
        if trial.domain == domain:
            lost = is_lost(run, trial) and not options.errors_as_is
            yield tau2_simulation(trial, lost=lost, trim=options.trim)


def _write_head(run: Run, file: IO[str], domain: str, content: DomainContent, info: dict[str, Any]) -> None:
    file.write(f'{{\n"timestamp": {as_json(_timestamp(run, content))},\n"info": {as_json(info)},\n"tasks": [')
    _write_all(file, (tau2_task(task, domain) for task in content.tasks.values()))


def _header(run: Run, info: dict[str, Any], content: DomainContent, options: Tau2Options) -> dict[str, Any]:
    header = complete_info(info, content.trials, run.kind)
    if options.trim:
        header.pop(OWN, None)
    return header


def tau2_task(task: Task, domain: str) -> dict[str, Any]:
    """Return a task in τ²-bench's format, without what this package adds to it."""
    document = task.model_dump(mode="json", exclude=_EXTENSIONS, serialize_as_any=True)
    if document["annotations"] is None:
        del document["annotations"]
    return complete_task(document, domain)


def tau2_simulation(trial: StoredTrial, *, lost: bool = False, trim: bool = False) -> dict[str, Any]:
    """Return a simulation in τ²-bench's format.

    Args:
        trial: The simulation.
        lost: Write it as one without a result.
        trim: Omit what only this package and providers have.
    """
    simulation = trial.simulation
    verdict = tau2_reward(simulation.reward_info, simulation.task_id) if simulation.reward_info else None
    times, unknown = times_of(simulation)
    own_fields = _own(trial) | ({"unknown": unknown} if unknown else {})
    reason = tau2_reason(simulation.termination_reason)
    if lost:
        own_fields |= {"reward_info": verdict}
    if lost or reason != simulation.termination_reason:
        own_fields |= {"termination_reason": simulation.termination_reason}
    safe_id = file_name_of(simulation.id)  # which is the name of a file as well
    own_fields |= {"id": simulation.id} if safe_id != simulation.id else {}
    document = {
        "id": safe_id,
        "task_id": simulation.task_id,
        **times,
        "termination_reason": LOST if lost else reason,
        "agent_cost": simulation.agent_cost,
        "user_cost": simulation.user_cost,
        "reward_info": None if lost else verdict,
        "messages": None if simulation.duplex else [_message(*numbered) for numbered in enumerate(simulation.messages)],
        "trial": simulation.trial,
        "seed": simulation.seed,
        "mode": simulation.mode,
        **(simulation.duplex or {}),
        **_reviews(simulation),
        "info": _with_own(simulation.info.as_info(), own_fields),
    }
    return trimmed(document) if trim else document


def _reviews(simulation: Simulation) -> dict[str, Any]:
    """Return the reviews of a simulation in τ²-bench's fields; only those that are done."""
    reviews = {name: review_of(simulation, mode) for mode, name in REVIEW_KEYS.items()}
    converted = {name: tau2_review(review) for name, review in reviews.items() if review is not None}
    return {name: review for name, review in converted.items() if review is not None}


def trimmed(simulation: dict[str, Any]) -> dict[str, Any]:
    """Return a simulation without ``pytest_tau``, and without ``actor`` and ``raw_data`` of its messages."""
    document = {**simulation, "info": _without_own(simulation["info"])}
    if (verdict := simulation["reward_info"]) is not None:
        document["reward_info"] = {**verdict, "info": _without_own(verdict["info"])}
    for name in ("messages", "ticks"):
        if simulation.get(name):
            document[name] = _without_raw(simulation[name])
    return document


def _without_raw(value: Any) -> Any:
    """Return messages, ticks or their chunks without ``actor`` and ``raw_data``."""
    if isinstance(value, list):
        return [_without_raw(element) for element in value]
    if not isinstance(value, dict):
        return value
    chunks = {name: _without_raw(value[name]) for name in ("agent_chunk", "user_chunk") if name in value}
    return {name: inner for name, inner in value.items() if name not in ("actor", "raw_data")} | chunks


def _without_own(info: dict[str, Any] | None) -> dict[str, Any] | None:
    return {name: value for name, value in (info or {}).items() if name != OWN} or None


def check_content(domain: str, content: DomainContent) -> None:
    """Check that τ²-bench's format can represent the simulations of a domain.

    Raises:
        ConfigurationError: It cannot.
    """
    if not domain:
        raise ConfigurationError(
            "the file names no domain and its calls do not identify one, which τ²-bench requires; give it with "
            "--domain NAME"
        )
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
        if task.sessions:
            raise ConfigurationError(
                f"task {task.id!r} has {len(task.sessions)} sessions, and τ²-bench's format cannot say what happens "
                "between two; --format jsonl has them"
            )
        _check_components(task.criteria.reward_basis, task.id)


def other_verdicts(domain: str, content: DomainContent) -> str:
    """Return which tasks have trials that τ²-bench grades in another way; empty if there are none."""
    if not content.otherwise_right:
        return ""
    names = ", ".join(sorted(content.otherwise_right))
    return (
        f"{domain}: trials of {names} earned their reward by another right outcome, which τ²-bench does not have: "
        "graded there, by the reference actions alone, their verdict differs"
    )


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


def _timestamp(run: Run, content: DomainContent) -> str:
    return run.info.get("started") or content.started or EPOCH


def _own(trial: StoredTrial) -> dict[str, Any]:
    """Return the fields of a simulation that τ²-bench's format lacks, if they are not empty."""
    simulation = trial.simulation
    fields = {
        "test": trial.test,
        "stop_token": simulation.stop_token,
        "error": simulation.error,
        "model_usage": {role: used.model_dump() for role, used in simulation.model_usage.items()},
        "replay_differences": simulation.replay_differences,
        "conditions": simulation.conditions,
    }
    return {name: value for name, value in fields.items() if value}


def _with_own(info: dict[str, Any] | None, own_fields: dict[str, Any]) -> dict[str, Any] | None:
    return {**(info or {}), OWN: own_fields} if own_fields else info


def tau2_reward(info: RewardInfo, task_id: str) -> dict[str, Any]:
    """Return a verdict in τ²-bench's format.

    Raises:
        ConfigurationError: It has a component that the format lacks.
    """
    _check_components(info.reward_basis or (), task_id)
    document = info.model_dump(mode="json")
    aside = {name: document.pop(name, None) for name in ("custom_checks", "db_diff", "partial", "outcome")}
    own_fields = {name: value for name, value in aside.items() if value is not None}
    errors = {number: check.pop("error") for number, check in enumerate(document["env_assertions"] or [])}
    raised = {str(number): error for number, error in errors.items() if error}
    own_fields |= {"env_assertion_errors": raised} if raised else {}
    document["info"] = _with_own(document["info"], own_fields)
    return document


def _message(number: int, message: Message) -> dict[str, Any]:
    document = message.model_dump(mode="json")
    if document["turn_idx"] is None:
        document["turn_idx"] = number
    for call in document.get("tool_calls") or ():
        # Without it the call would be another one. It is rare.
        if call["malformed"] is None:
            del call["malformed"]
    if isinstance(message, ToolMessage):
        return document
    return {"role": document.pop("role"), "content": document.pop("content"), **document}
