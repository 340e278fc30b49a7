"""``run.json``, the manifest of a run: reading, writing, merging and comparing it."""

from __future__ import annotations

import functools
import json
from operator import add
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..documents import DocumentError, read_json
from ..errors import ConfigurationError
from ..files import atomic_write
from ..text import shorten
from .layout import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

T = TypeVar("T")


FORMAT = 1
#: Why a planned trial was not run, if nothing else is known: ``-x``, Ctrl-C or a crashed worker.
NO_REASON = "session ended early"
#: Settings that no verdict depends on: the choice of tasks, speed, cost, and what fingerprints compare better.
NON_VERDICT_SETTINGS = frozenset(
    {
        *("domains", "data", "split", "tasks", "num_tasks", "generate", "difficulty", "trials", "shard"),
        *("attack", "attack_only"),
        *("agent_prompt", "user_prompt", "texts"),
        *("concurrency", "llm_concurrency", "provider_limit", "llm_timeout", "llm_retries", "llm_retry_delay"),
        *("budget", "trial_budget", "prices", "prompt_cache", "client", "tape", "cassettes"),
        *("review", "review_mode", "reviewer", "reviewer_llm", "reviewer_llm_args"),
    }
)


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class DomainHashes(_Part):
    """Hashes of what verdicts in a domain depend on.

    Attributes:
        policy: The text of the policy.
        tools: The schemas of the tools.
        database: The initial databases.
        documents: The documents of the knowledge base; None if the domain has none.
    """

    policy: str
    tools: str
    database: str
    documents: str | None = None


class DomainParts(_Part):
    """Hashes of the parts of a domain.

    Attributes:
        tools: By name, of schema and source.
        code: The modules of the tools, without the tools; null if it cannot be read.
        policy: By heading, of each section.
        documents: By id.
    """

    tools: dict[str, str]
    code: str | None
    policy: dict[str, str]
    documents: dict[str, str]


class Hashes(_Part):
    """Hashes of everything that verdicts depend on.

    Attributes:
        grader: Grading rules, profile and names of evaluators.
        domains: By domain.
        tasks: By domain and task id.
        prompts: The prompts of the project.
        parts: The parts of each domain, by which a later run finds what has changed.
    """

    grader: str
    domains: dict[str, DomainHashes]
    tasks: dict[str, dict[str, str]]
    prompts: dict[str, str] = Field(default_factory=dict)
    parts: dict[str, DomainParts] = Field(default_factory=dict)


class Resumed(_Part):
    """A time at which the run was resumed, with the commit."""

    started: str
    commit: str | None
    dirty: bool | None


class RecordedCapability(_Part):
    """A capability that was switched on: its settings that are not defaults, and its columns."""

    settings: dict[str, Any]
    columns: list[dict[str, Any]]


class Manifest(_Part):
    """The metadata of a run, in run.json.

    Attributes:
        format: The version of this format.
        started: The start, in UTC.
        finished: The end, in UTC; null if the run was interrupted.
        versions: The versions of pytest-tau, Python and libraries.
        commit: The last commit of the project; null without git.
        dirty: Whether tracked files had changed since; null without git.
        settings: The settings that were given.
        capabilities: By name, the settings and the columns of the capabilities that were switched on.
        participants: Who played agent and user, if fixtures, hooks or markers have chosen others than the settings.
        user_prompts: The templates of the system message of the user's model, without tools and with tools.
        saw_reference: The sides that were given the reference actions.
        planned: The number of planned trials, by domain and task id.
        excluded: The number of trials that were not run, by reason.
        resumed: The times at which the run was resumed.
        blessed: The name of the run, in a baseline.
        comparability: How far the run can be compared with τ²-bench; null if it has no domain of it.
        stopping: The rule by which the run may end early, and its looks so far; null without one.
    """

    format: int = Field(json_schema_extra={"const": FORMAT})
    started: str
    finished: str | None
    versions: dict[str, str]
    commit: str | None
    dirty: bool | None
    settings: dict[str, Any]
    capabilities: dict[str, RecordedCapability] = Field(default_factory=dict)
    participants: dict[Literal["agent", "user"], list[str]] = Field(default_factory=dict)
    user_prompts: dict[Literal["user", "user_tools"], str] = Field(default_factory=dict)
    saw_reference: list[Literal["agent", "user"]] = Field(default_factory=list)
    hashes: Hashes
    planned: dict[str, dict[str, int]]
    excluded: dict[str, int]
    resumed: list[Resumed] = Field(default_factory=list)
    blessed: str | None = None
    comparability: dict[str, Any] | None = None
    stopping: dict[str, Any] | None = None


def read_manifest(folder: Path, *, whole: bool = False) -> dict[str, Any]:
    """Return the manifest of a run's folder; empty if it has none.

    A baseline of somebody's result file has the header of that file, without a format of ours.

    Args:
        folder: The run's.
        whole: Whether a manifest must have all that it takes to continue or join runs.

    Raises:
        ConfigurationError: The file is not ours, of a later version, or has an invalid field; names the field.
    """
    file = folder / MANIFEST
    try:
        manifest = read_json(file)
    except FileNotFoundError:
        return {}
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"{file}: cannot be read: {error}") from None
    found = manifest.get("format") if isinstance(manifest, dict) else None
    of_result_file = isinstance(manifest, dict) and "blessed" in manifest and found is None
    if found != FORMAT and not of_result_file:
        raise ConfigurationError(f"{file}: expected format {FORMAT}, got {shorten(repr(found))}")
    if not of_result_file:
        _check(manifest, file, whole=whole)
    return dict(manifest)


def _check(manifest: Mapping[str, Any], file: Path, *, whole: bool) -> None:
    # Fields of later versions and of other programs are not an error.
    ignored = {"extra_forbidden"} if whole else {"extra_forbidden", "missing"}
    try:
        Manifest.model_validate({name: value for name, value in manifest.items() if (name, value) != ("hashes", None)})
    except ValidationError as error:
        problem = next((each for each in error.errors() if each["type"] not in ignored), None)
        if problem is None:
            return
        text = f"{problem['msg'][:1].lower()}{problem['msg'][1:]}, got {shorten(repr(problem['input']))}"
        text = "missing" if problem["type"] == "missing" else text
        raise ConfigurationError(f"{file}: {'.'.join(map(str, problem['loc']))}: {text}") from None


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    atomic_write(folder / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")


def merge_manifest(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of a run that is resumed: what was planned either time, and when it was resumed.

    Args:
        then: The manifest of the earlier run.
        now: The manifest that the present run would have by itself.
    """
    hashes = dict(then["hashes"])
    for part in ("domains", "parts", "prompts"):
        if found := {**hashes.get(part, {}), **now["hashes"].get(part, {})}:
            hashes[part] = found
    hashes["tasks"] = _merge_tasks(hashes["tasks"], now["hashes"]["tasks"], join_hashes)
    again, before = {name: now[name] for name in ("started", "commit", "dirty")}, then.get("resumed", [])
    seen = {*then.get("saw_reference", ()), *now.get("saw_reference", ())}
    return {
        **then,
        **({"saw_reference": sorted(seen)} if "saw_reference" in now else {}),
        "finished": None,
        "resumed": before if again["started"] in {each["started"] for each in before} else [*before, again],
        "hashes": hashes,
        "planned": _merge_tasks(then["planned"], now["planned"], max),
        "excluded": now["excluded"],
    }


def join_manifests(manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the manifest of runs that are parts of one, such as shards; None if they are not of the same kind.

    Args:
        manifests: Those of the parts.
    """
    first, *others = manifests
    if not all(manifests):
        return None
    if any(diff_settings(first, each) or diff_tasks(first["hashes"], each["hashes"]) for each in others):
        return None
    ends = [each["finished"] for each in manifests]
    whole = {
        name: value for name, value in first.items() if name not in ("comparability", "stopping")
    }  # those of a part
    for each in others:
        whole = merge_manifest(whole, each)
    return {
        **whole,
        "started": min(each["started"] for each in manifests),
        "finished": max(ends) if all(ends) else None,
        "resumed": first.get("resumed", []),
        "planned": functools.reduce(lambda one, two: _merge_tasks(one, two, add), [m["planned"] for m in manifests]),
        "excluded": {},
    }


def _merge_tasks(
    then: Mapping[str, Mapping[str, T]], now: Mapping[str, Mapping[str, T]], combine: Callable[[T, T], T]
) -> dict[str, dict[str, T]]:
    """Return two tables of domains and tasks as one; values of the same task are combined."""
    merged = {name: dict(tasks) for name, tasks in then.items()}
    for name, tasks in now.items():
        known = merged.setdefault(name, {})
        known |= {task: combine(known[task], value) if task in known else value for task, value in tasks.items()}
    return merged


def diff_settings(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the settings, prompts and rules of grading that differ from those of an earlier run, with both values."""
    found = diff_values("", then["settings"], now["settings"], without=NON_VERDICT_SETTINGS)
    found += diff_values(" prompt", then["hashes"].get("prompts", {}), now["hashes"].get("prompts", {}))
    rules = [each["hashes"]["grader"] for each in (then, now)]
    versions = [each["versions"]["pytest-tau"] for each in (then, now)]
    if rules[0] != rules[1]:
        values = [f"{one} of pytest-tau {two}" for one, two in zip(rules, versions, strict=True)]
        found.append(_format_difference("rules of grading", *values))
    return found


def diff_tasks(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the domains and tasks that differ from those of an earlier run, with both hashes; new ones are skipped.

    Args:
        then: The ``hashes`` of the earlier run.
        now: The hashes of what is about to run.
    """
    found: list[str] = []
    for name, parts in now["domains"].items():
        found += diff_values(f" of {name}", then["domains"].get(name, parts), parts)
    for name, tasks in now["tasks"].items():
        before = then["tasks"].get(name, {})
        changed = [task for task, hashed in tasks.items() if not set(hashed.split()) <= _hashes(before, task, hashed)]
        found += [_format_difference(f"task {task!r} of {name}", before[task], tasks[task]) for task in changed]
    return found


def join_hashes(*hashes: str) -> str:
    """Return the fingerprints of the tasks of one id as one text: task files may have different tasks of one id."""
    return " ".join(sorted({each for text in hashes for each in text.split()}))


def _hashes(tasks: Mapping[str, str], task: str, default: str) -> set[str]:
    return set(tasks.get(task, default).split())


def diff_values(
    suffix: str, then: Mapping[str, Any], now: Mapping[str, Any], without: Collection[str] = ()
) -> list[str]:
    """Return the values that differ from those of an earlier run, each after its name, with both values.

    Args:
        suffix: The text that follows each name.
        then: The values in the earlier run.
        now: The values now.
        without: Names of values that are not compared.
    """
    names = [name for name in dict.fromkeys([*then, *now]) if name not in without]
    return [
        _format_difference(f"{name}{suffix}", *(json.dumps(each.get(name), ensure_ascii=False) for each in (then, now)))
        for name in names
        if then.get(name) != now.get(name)
    ]


def _format_difference(name: str, then: str, now: str) -> str:
    return f"{name}: {then} in the earlier run, {now} now"
