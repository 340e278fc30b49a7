"""Entries of result files as simulations: τ²-bench's and our own. What cannot be used is skipped.

Models validate what is whole; fields of other versions are checked one by one, since a single odd one must not cost the
entry.
"""

from __future__ import annotations

import copy
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from ...capability.duplex import trajectory_of
from ...models import DUPLEX, DUPLEX_MODE, Notes, RewardInfo, Simulation, Task, TerminationReason
from ...models.reviews import REVIEW_KEYS, add_review, read_tau2_review
from ...models.tasks import ForeignCriteria
from ...text import shorten
from .messages import EntryError, first_problem, read_messages, with_unique_ids

if TYPE_CHECKING:
    from collections.abc import Mapping

M = TypeVar("M", bound=BaseModel)

#: Where an export in τ²-bench's format keeps what that has no field for.
OWN = "pytest_tau"
#: What stands there for any simulation: fields that the export has written with other values.
_REPLACED = {"unknown", "id", "termination_reason", "reward_info"}
#: Of reviews of τ²-bench: whether the agent has identified the user.
_AUTH = "auth_classification"
#: No reward is larger. A larger value, or one that is not a number, is not a reward.
_LARGEST = 1e6
#: Nor is a duration or a cost.
_LARGEST_NUMBER = 1e12


class Unreadable(NamedTuple):
    """A part of a file that could not be read: which, and why."""

    entry: str
    reason: str


class StoredSimulation(NamedTuple):
    """A simulation as it is in a file.

    Attributes:
        entry: Where in the file.
        simulation: The conversation; its ``reward_info`` is the stored one.
        task: The task that the file has for it; None if it has none.
        solo: Whether the entry says that the agent worked alone.
        domain: The domain that the entry names; None if it names none.
        test: The node id of its test, in a run of ours; else empty.
    """

    entry: str
    simulation: Simulation
    task: Task | None
    solo: bool = False
    domain: str | None = None
    test: str = ""


def entry_name(place: int | str | None, entry: Any = None) -> str:
    """Return what reports call an entry: ``entry 45 (task 45, trial 0)``; one without a place is the whole file."""
    name = "the file" if place is None else place if isinstance(place, str) else f"entry {place}"
    if not isinstance(entry, dict) or "task_id" not in entry:
        return name
    return f"{name} (task {shorten(str(entry['task_id']))}, trial {shorten(str(entry.get('trial') or 0))})"


def read_entry(
    entry: dict[str, Any], name: str, tasks: dict[str, Task | str], header: Mapping[str, Any] = MappingProxyType({})
) -> StoredSimulation:
    """Return one simulation of τ²-bench's or our own.

    Args:
        entry: The simulation's JSON.
        name: What it is called.
        tasks: The file's tasks by id, or why one cannot be read.
        header: The header of a τ²-bench file.

    Raises:
        EntryError: It has no conversation.
    """
    entry = _from_export(entry)
    messages = entry.get("messages")
    in_ticks = not messages and bool(entry.get("ticks"))
    if not isinstance(messages, list) and not in_ticks:
        raise EntryError("no conversation")
    if entry.get("task_id") is None:
        raise EntryError("no task_id")
    task_id, info = str(entry["task_id"]), entry.get("info")
    embedded = entry.get("task")
    task = read_task(embedded) if isinstance(embedded, dict) else tasks.get(task_id)
    if isinstance(task, str):
        raise EntryError(f"its task cannot be read: {task}")
    solo, domain, test = isinstance(info, dict) and info.get("solo") is True, entry.get("domain"), entry.get("test")
    return StoredSimulation(
        name,
        _in_ticks(entry, name, header) if in_ticks else _own(entry) or _foreign(entry, name, messages or []),
        task,
        solo=solo,
        domain=domain if isinstance(domain, str) else None,
        test=test if isinstance(test, str) else "",
    )


def _from_export(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with everything back in its place that an export in τ²-bench's format had to put aside."""
    info = entry.get("info")
    if not isinstance(info, dict) or not isinstance(info.get(OWN), dict):
        return entry
    own_fields, unknown = info[OWN], info[OWN].get("unknown")
    known_fields = {
        name: value for name, value in entry.items() if name not in (unknown if isinstance(unknown, list) else ())
    }
    # Without a field of ours it is somebody's simulation.
    ours = {"test": ""} if own_fields.keys() - _REPLACED else {}
    entry = {**ours, **known_fields, **own_fields, "info": {key: info[key] for key in info if key != OWN} or None}
    verdict = entry.get("reward_info")
    if not isinstance(verdict, dict):
        return entry
    aside = (verdict.get("info") or {}).get(OWN)
    if isinstance(aside, dict):
        verdict = {**verdict, **aside, "info": {key: verdict["info"][key] for key in verdict["info"] if key != OWN}}
        for number, error in (aside.get("env_assertion_errors") or {}).items():
            verdict["env_assertions"][int(number)]["error"] = error
        entry["reward_info"] = {**verdict, "info": verdict["info"] or None}
    return entry


def _own(entry: dict[str, Any]) -> Simulation | None:
    """Return a simulation that a run of ours has stored, with all of its fields; None if it is not ours."""
    if "test" not in entry:
        return None
    try:
        simulation = Simulation.model_validate(entry)
    except ValidationError:
        return None
    with_unique_ids(simulation.messages)
    return simulation


def _foreign(entry: dict[str, Any], name: str, messages: list[Any]) -> Simulation:
    reason, error = _reason(entry.get("termination_reason"))
    trial, seed, info = entry.get("trial"), entry.get("seed"), entry.get("info")
    numbers = {key: entry[key] for key in ("duration", "agent_cost", "user_cost") if _is_number(entry.get(key))}
    texts = {key: entry[key] for key in ("start_time", "end_time", "stop_token") if isinstance(entry.get(key), str)}
    simulation = Simulation(
        id=str(entry.get("id") or name),
        task_id=str(entry["task_id"]),
        trial=trial if isinstance(trial, int) else 0,
        seed=seed if isinstance(seed, int) else None,
        termination_reason=reason,
        error=error,
        messages=read_messages(messages),
        reward_info=_reward(entry.get("reward_info")),
        info=Notes.read(_with_auth(info if isinstance(info, dict) else {}, entry)),
        **numbers,
        **texts,
    )
    for mode, field in REVIEW_KEYS.items():
        if (review := read_tau2_review(entry.get(field), mode)) is not None:
            add_review(simulation, review)
    return simulation


def _in_ticks(entry: dict[str, Any], name: str, header: Mapping[str, Any]) -> Simulation:
    """Return a simulation that has ticks of simulated time instead of messages, in each of which both sides can speak.

    Raises:
        EntryError: No capability reads it, or it does not follow the format.
    """
    duplex = {key: entry[key] for key in DUPLEX if entry.get(key) is not None}
    try:
        trajectory = trajectory_of(duplex, header)
    except ValidationError as error:
        raise EntryError(f"ticks.{first_problem(error)}") from None
    if trajectory is None:
        raise EntryError("a conversation in ticks, which no capability of this installation reads")
    duplex_entry = {**entry, "messages": [], "mode": DUPLEX_MODE}
    simulation = _own(duplex_entry) or _foreign(duplex_entry, name, [])
    simulation.messages = with_unique_ids(trajectory.messages)
    simulation.duplex, simulation.mode = duplex, DUPLEX_MODE
    simulation.facts = {**simulation.facts, **trajectory.facts}
    return simulation


def _with_auth(info: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """Return the ``info`` of a τ²-bench simulation with what has a field of its own there."""
    return {_AUTH: entry[_AUTH], **info} if isinstance(entry.get(_AUTH), dict) else info


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST_NUMBER


def read_task(raw: Any) -> Task:
    """Return a task, without the fields that today's format lacks.

    Fields of its evaluation criteria are kept, since it cannot be graded without them: see ``Task.unknown_criteria``.

    Raises:
        EntryError: It does not follow the format even so.
    """
    if isinstance(raw, dict) and isinstance(raw.get("id"), int):
        raw = raw | {"id": str(raw["id"])}
    raw = _without_added_domain(raw)
    try:
        task = _forgiving(Task, raw)
        if task.evaluation_criteria is None:
            return task
        criteria = _forgiving(ForeignCriteria, raw["evaluation_criteria"])
    except ValidationError as error:
        raise EntryError(first_problem(error)) from None
    return task.model_copy(update={"evaluation_criteria": criteria}) if criteria.unknown else task


def _without_added_domain(task: Any) -> Any:
    """Return a task without the domain that an export has added to its instructions."""
    own_fields = task.get(OWN) if isinstance(task, dict) else None
    if not isinstance(own_fields, dict) or own_fields.get("unknown") != ["user_scenario.instructions.domain"]:
        return task
    task = copy.deepcopy(task)
    _drop(task, ("user_scenario", "instructions", "domain"))
    return task


def stored_reward(raw: Any) -> float | None:
    """Return a reward as a number, also if it is stored as a text; None if there is none."""
    if isinstance(raw, str):
        with suppress(ValueError):
            raw = float(raw)
    if not isinstance(raw, int | float) or not -_LARGEST <= raw <= _LARGEST:
        return None
    return float(raw)


def _reason(raw: Any) -> tuple[TerminationReason, str | None]:
    if raw is None:
        return "user_stop", None
    known: dict[Any, TerminationReason] = {reason: reason for reason in get_args(TerminationReason)}
    # As Python writes a member of an enumeration: TerminationReason.USER_STOP.
    name = raw.rpartition(".")[2].lower() if isinstance(raw, str) else None
    if name in known:
        return known[name], None
    return "unexpected_error", f"ended by {raw!r}, which is not a known reason"


def _reward(raw: Any) -> RewardInfo | None:
    if not isinstance(raw, dict) or (reward := stored_reward(raw.get("reward"))) is None:
        return None
    try:
        return _forgiving(RewardInfo, raw)
    except ValidationError as error:
        broken = {problem["loc"][0] for problem in error.errors()}
        readable = {key: value for key, value in raw.items() if key not in broken}
        return RewardInfo.model_validate(readable) if "reward" in readable else RewardInfo(reward=reward)


def _forgiving(model: type[M], raw: Any) -> M:
    """Parse a model, without fields that are unknown, or null where that is no longer a value."""
    for _ in range(3):  # what is nested in a dropped alternative shows only at the next attempt
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            superfluous = [p["loc"] for p in error.errors() if p["type"] == "extra_forbidden" or p["input"] is None]
            if not superfluous or not isinstance(raw, dict):
                raise
            raw = copy.deepcopy(raw)
            for location in superfluous:
                _drop(raw, location)
    return model.model_validate(raw)


def _drop(container: Any, location: tuple[int | str, ...]) -> None:
    for part in location[:-1]:
        if isinstance(container, dict) and part not in container:
            continue  # a union adds the name of the tried branch to the path
        container = container[part]
    if isinstance(container, dict):
        container.pop(location[-1], None)
