"""``run.json``, the manifest of a run: reading, writing, merging and comparing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..documents import DocumentError, read_json
from ..errors import ConfigurationError
from ..files import atomic_write
from ..masking import shown_setting
from ..models import ModelUsage  # noqa: TC001 - pydantic reads the annotation
from ..plain import json
from ..run_settings import settings_that_affect
from ..text import plural, shorten
from .layout import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from ..runner import RunConfig
    from .record import TrialRecord

T = TypeVar("T")


FORMAT = 1
#: Why a planned trial was not run, if nothing else is known: ``-x``, Ctrl-C or a crashed worker.
NO_REASON = "session ended early"
#: Other reasons: the trial is in another shard, or was not selected.
IN_OTHER_SHARDS, DESELECTED = "in other shards", "deselected"
#: The trial was not paid for: the run's budget was spent before, or cannot count the calls of a model.
BUDGET_SPENT, PRICE_UNKNOWN = "the budget is spent", "the price of a model is not known"
#: Settings that no verdict depends on: the choice of tasks, speed, cost, and what fingerprints compare better.
NON_VERDICT_SETTINGS = {
    *settings_that_affect("content", "selection", "calls", "speed"),
}
#: Settings of one process, the controller's or a worker's.
_OF_A_PROCESS = ("llm_concurrency", "provider_limit")


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
    """A capability that was switched on: its settings that are not defaults, its columns, and what it has noted."""

    settings: dict[str, Any]
    columns: list[dict[str, Any]]
    notes: dict[str, Any] | None = None


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
        stopped_usage: The model calls of trials that a budget has stopped, which no simulation has, by role.
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
    stopped_usage: dict[str, ModelUsage] = Field(default_factory=dict)


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
    stored_format = manifest.get("format") if isinstance(manifest, dict) else None
    of_result_file = isinstance(manifest, dict) and "blessed" in manifest and stored_format is None
    if stored_format != FORMAT and not of_result_file:
        raise ConfigurationError(f"{file}: expected format {FORMAT}, got {shorten(repr(stored_format))}")
    if not of_result_file:
        check_manifest(manifest, file, whole=whole)
    return dict(manifest)


def check_manifest(manifest: Mapping[str, Any], file: Path, *, whole: bool = True) -> None:
    """Check the fields of a manifest that is in a file, all of them or those that it has.

    Raises:
        ConfigurationError: A field is missing or invalid; names the field.
    """
    # Fields of later versions and of other programs are not an error.
    ignored = {"extra_forbidden"} if whole else {"extra_forbidden", "missing"}
    try:
        Manifest.model_validate({name: value for name, value in manifest.items() if (name, value) != ("hashes", None)})
    except ValidationError as error:
        problem = next((detail for detail in error.errors() if detail["type"] not in ignored), None)
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
        if merged := {**hashes.get(part, {}), **now["hashes"].get(part, {})}:
            hashes[part] = merged
    hashes["tasks"] = merge_tasks(hashes["tasks"], now["hashes"]["tasks"], join_hashes)
    again, before = {name: now[name] for name in ("started", "commit", "dirty")}, then.get("resumed", [])
    seen = {*then.get("saw_reference", ()), *now.get("saw_reference", ())}
    return {
        **then,
        **({"saw_reference": sorted(seen)} if "saw_reference" in now else {}),
        "finished": None,
        "resumed": before if again["started"] in {resumption["started"] for resumption in before} else [*before, again],
        "hashes": hashes,
        "planned": merge_tasks(then["planned"], now["planned"], max),
        "excluded": now["excluded"],
    }


def add_usage(*usages: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the model calls of several sources together: by role the fields of ``ModelUsage`` that are not 0."""
    total: dict[str, dict[str, Any]] = {}
    for role, used in (item for usage in usages for item in usage.items()):
        known = total.setdefault(role, {})
        for name, value in used.items():
            if name == "model":
                names = [*known.get(name, "").split(", "), *value.split(", ")]
                known[name] = ", ".join(dict.fromkeys(filter(None, names)))
            elif name == "actors":
                known[name] = add_usage(known.get(name, {}), value)
            elif value:
                known[name] = known.get(name, 0) + value
    return total


def why_incomplete(manifest: Mapping[str, Any], stored: int) -> str:
    """Return why a stored run is not complete; empty if it is, or if its manifest does not say."""
    if "format" not in manifest:
        return ""  # the header of a result file
    excluded: Mapping[str, int] = manifest.get("excluded") or {}
    if number := excluded.get(IN_OTHER_SHARDS, 0):
        return f"{plural(number, 'trial')} of other shards missing"
    planned = sum(sum(tasks.values()) for tasks in manifest.get("planned", {}).values())
    if stored < planned and manifest.get("finished", True) is None:
        return f"it was interrupted, with {stored:,} of {plural(planned, 'planned trial')} stored"
    # Trials that were skipped for a reason are not missing.
    skipped = sum(many for why, many in excluded.items() if why not in (DESELECTED, BUDGET_SPENT, PRICE_UNKNOWN))
    if (number := planned - stored - skipped) > 0:
        return f"{number:,} of {plural(planned, 'planned trial')} were not run"
    return ""


def agent_name(manifest: Mapping[str, Any], records: Iterable[TrialRecord]) -> str:
    """Return the agent of a run, with its model; empty if it is not known.

    Args:
        manifest: The manifest of the run, or the header of a result file.
        records: Its trials.
    """
    settings, side = manifest.get("settings"), manifest.get("agent_info")
    name, model = None, None
    if isinstance(settings, dict):
        name, model = settings.get("agent"), settings.get("agent_llm")
        if named_participants(manifest).get("agent", name) != name:
            return ""  # a fixture or a hook makes it
    elif isinstance(side, dict):
        name, model = side.get("implementation"), side.get("llm")
    if name == "gold" and not any("agent" in record.info.saw_reference for record in records):
        name = None  # the default, where a fixture or a hook made another agent
    return shown_setting(", ".join(part for part in (name, model) if isinstance(part, str) and part))


def named_participants(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return who plays each side, if fixtures, hooks or markers have chosen others than the settings."""
    participants = manifest.get("participants")
    sides = participants.items() if isinstance(participants, dict) else ()
    return {side: ", ".join(map(str, names)) for side, names in sides if isinstance(names, list)}


def merge_tasks(
    then: Mapping[str, Mapping[str, T]], now: Mapping[str, Mapping[str, T]], combine: Callable[[T, T], T]
) -> dict[str, dict[str, T]]:
    """Return two tables of domains and tasks as one; values of the same task are combined."""
    merged = {name: dict(tasks) for name, tasks in then.items()}
    for name, tasks in now.items():
        known = merged.setdefault(name, {})
        known |= {task: combine(known[task], value) if task in known else value for task, value in tasks.items()}
    return merged


def join_hashes(*hashes: str) -> str:
    """Return the fingerprints of the tasks of one id as one text: task files may have different tasks of one id."""
    return " ".join(sorted({fingerprint for text in hashes for fingerprint in text.split()}))


def recorded_settings(run: RunConfig) -> dict[str, Any]:
    """Return the settings that are not their defaults, and those that are always stated, without secrets."""
    from ..chat.requests import without_secrets
    from ..masking import masked

    settings = {
        value.option.setting: value.recorded
        for value in sorted(run.values(), key=lambda value: value.option.affects == "speed")
        if (value.option.stated or not value.is_default) and value.option.setting not in _OF_A_PROCESS
    }
    # Not by equality alone: a seed of 0 equals False.
    stated = {name: value for name, value in settings.items() if value not in (None, [], {}) and value is not False}
    public: dict[str, Any] = masked(without_secrets(stated))
    return public
