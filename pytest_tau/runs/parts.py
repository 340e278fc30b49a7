"""The parts of one run, such as shards: what differs between them, what is missing, and the manifest of the whole."""

from __future__ import annotations

from collections import Counter
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import DocumentError, read_json
from ..errors import ConfigurationError
from ..plain import json
from ..text import plural
from .layout import PLAN
from .manifest import (
    BUDGET_SPENT,
    DESELECTED,
    FORMAT,
    IN_OTHER_SHARDS,
    NO_REASON,
    PRICE_UNKNOWN,
    add_usage,
    check_manifest,
    join_hashes,
    merge_manifest,
    merge_tasks,
    why_incomplete,
)
from .manifest_diff import Words, diff_settings, diff_tasks, diff_values

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from .groups import Group

#: Trials that are missing are named up to so many.
_MOST_NAMED = 5
#: What the agent is built from, which is in no hash.
_COMMIT = ("commit", "dirty")
#: Facts about a part that are none about the whole.
_OF_A_PART = frozenset({"comparability", "user_prompts", "participants"})


class Plan(NamedTuple):
    """The trials that a run has, which several machines run parts of; stored before the first trial.

    Attributes:
        manifest: What the machine that stored it ran with.
        trials: Domain and task id of each trial, by the node id of its test.
    """

    manifest: Mapping[str, Any]
    trials: Mapping[str, tuple[str, str]]

    @property
    def planned(self) -> dict[str, dict[str, int]]:
        """Return the number of trials, by domain and task id."""
        numbers: dict[str, dict[str, int]] = {}
        for domain, task in self.trials.values():
            tasks = numbers.setdefault(domain, {})
            tasks[task] = tasks.get(task, 0) + 1
        return numbers

    def __str__(self) -> str:
        """Return the content of ``plan.json``."""
        return json.dumps({"format": FORMAT, **self._asdict()}, ensure_ascii=False) + "\n"


def make_plan(manifest: Mapping[str, Any], groups: Mapping[str, Group]) -> str:
    """Return the content of ``plan.json``.

    Args:
        manifest: The manifest of this part of the run.
        groups: The group of each trial of the whole, by the node id of its test.
    """
    return str(Plan(manifest, {test: (group.domain, group.task_id) for test, group in groups.items()}))


def read_plan(folder: Path) -> Plan | None:
    """Return the plan in a folder; None if there is none.

    Raises:
        ConfigurationError: It is not ours, or of a later version.
    """
    file = folder / PLAN
    try:
        document = read_json(file)
        if document["format"] != FORMAT:
            raise ConfigurationError(f"{file}: expected format {FORMAT}, got {document['format']!r}")
        trials = {str(test): (str(domain), str(task)) for test, (domain, task) in document["trials"].items()}
        check_manifest(document["manifest"], file)
        return Plan(document["manifest"], trials)
    except FileNotFoundError:
        return None
    except (OSError, DocumentError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{file}: not the plan of a run: {type(error).__name__}: {error}") from None


class Part(NamedTuple):
    """A part of a run.

    Attributes:
        name: What a person calls it.
        manifest: Its manifest; empty if it has none.
        stored: The number of its trials that are stored.
        plan: The plan of the whole run; None if it is not part of one.
    """

    name: str
    manifest: Mapping[str, Any]
    stored: int
    plan: Plan | None = None

    def excluded(self, *reasons: str) -> int:
        """Return the number of trials that were not run for these reasons."""
        return sum(self.manifest["excluded"].get(reason, 0) for reason in reasons)


class JoinedParts:
    """The parts of a run, compared with each other and with the plan of the whole.

    Args:
        parts: The parts.
        overlap: Whether some of their trials are the same.
        stored: The node ids of the tests that have a stored trial.
    """

    def __init__(self, parts: Sequence[Part], *, overlap: bool, stored: Collection[str] = ()) -> None:
        self._parts, self._overlap, self._stored = parts, overlap, stored
        self._known = [part for part in parts if part.manifest]
        #: The plan, if all parts are parts of one run.
        self.plan = next((part.plan for part in parts), None) if all(part.plan for part in parts) else None

    def different(self) -> list[str]:
        """Return what verdicts depend on that differs between the parts, and whether their plans do."""
        if not self._known:
            return []
        first, differences = self._known[0], list[str]()
        for part in self._parts:
            if not part.manifest:
                differences.append(f"{part.name} has no run.json, so it is unknown what it was run with")
                continue
            then, now, words = first.manifest, part.manifest, Words(f"in {first.name}", f"in {part.name}")
            differences += diff_settings(then, now, words)
            differences += diff_tasks(then["hashes"], now["hashes"], words)
            differences += diff_values("", _commit(then), _commit(now), words=words)
            if self.plan is not None and part.plan is not None and part.plan.trials.keys() != self.plan.trials.keys():
                counts = [plural(len(plan.trials), "trial") for plan in (self.plan, part.plan)]
                differences.append(f"trials of the whole run: {counts[0]} {words.then}, {counts[1]} {words.now}")
        if self.plan is not None and (others := sorted({*self._stored} - self.plan.trials.keys())):
            differences.append(f"not in the plan: {named(others)}")
        return differences

    def missing(self) -> list[str]:
        """Return what the parts lack: trials of the plan, or, without a plan, of parts that did not end."""
        if self.plan is None:
            reasons = ((part.name, why_incomplete(part.manifest, part.stored)) for part in self._known)
            return [f"{name}: {why}" for name, why in reasons if why]
        if not (number := self._missing_trials):
            return []
        absent = [test for test in self.plan.trials if test not in self._stored]
        ended = [f"{part.name}: it has not ended" for part in self._known if part.manifest["finished"] is None]
        return [f"{number:,} of {plural(len(self.plan.trials), 'trial')}: {named(absent)}", *ended]

    @property
    def _missing_trials(self) -> int:
        """Return the number of trials of the plan that are missing; those that were skipped for a reason are not."""
        if self.plan is None:
            return 0
        skipped: int = sum(
            number
            for part in self._known
            for why, number in part.manifest["excluded"].items()
            if why not in (DESELECTED, BUDGET_SPENT, PRICE_UNKNOWN, IN_OTHER_SHARDS, NO_REASON)
        )
        return max(0, sum(test not in self._stored for test in self.plan.trials) - skipped)

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest of the whole, without what differs between the parts; None if a part has none."""
        if not self._known or len(self._known) < len(self._parts):
            return None
        all_of = [part.manifest for part in self._known]
        first, *others = all_of
        merged = {name: value for name, value in first.items() if name not in _OF_A_PART}
        for other in others:
            merged = merge_manifest(merged, other)
        prompts, ends = (
            [manifest.get("user_prompts") for manifest in all_of],
            [manifest["finished"] for manifest in all_of],
        )
        same = {"user_prompts": prompts[0]} if prompts[0] and prompts.count(prompts[0]) == len(prompts) else {}
        return {
            **merged,
            **same,
            **_participants(all_of),
            "capabilities": _without_notes(first),
            "started": min(manifest["started"] for manifest in all_of),
            "finished": max(ends) if all(ends) else None,
            "versions": {name: ", ".join(sorted(values)) for name, values in _versions(all_of).items()},
            **{key: first[key] if all(other[key] == first[key] for other in others) else None for key in _COMMIT},
            "settings": self._settings(),
            "hashes": _hashes(all_of, merged["hashes"]),
            "resumed": [again for manifest in all_of for again in manifest.get("resumed", [])],
            "planned": self._planned(),
            "excluded": self._excluded(),
            **({"stopped_usage": stopped} if (stopped := self.stopped_usage()) else {}),
        }

    def stopped_usage(self) -> dict[str, dict[str, Any]]:
        """Return the model calls of trials that a budget has stopped, by role."""
        return add_usage(*(part.manifest.get("stopped_usage", {}) for part in self._known))

    def _settings(self) -> dict[str, Any]:
        """Return the settings that all parts have."""
        first, *others = (part.manifest["settings"] for part in self._known)
        same = {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}
        return {name: value for name, value in same.items() if self.plan is None or name != "shard"}

    def _planned(self) -> dict[str, dict[str, int]]:
        if self.plan is not None:
            return self.plan.planned
        planned: dict[str, dict[str, int]] = {}
        for part in self._known:
            planned = merge_tasks(planned, part.manifest["planned"], max if self._overlap else add)
        return planned

    def _excluded(self) -> dict[str, int]:
        """Return how many trials were not run, by reason; each part has deselected the same ones."""
        counts = Counter[str]()
        for part in self._known:
            counts.update(part.manifest["excluded"])
        if self.plan is not None:
            counts[IN_OTHER_SHARDS] = self._missing_trials
        counts[DESELECTED] = max(part.excluded(DESELECTED) for part in self._known)
        return {why: number for why, number in counts.items() if number}


def named(tests: Sequence[str]) -> str:
    """Return the first few names of tests, and how many more there are."""
    more = f" and {len(tests) - _MOST_NAMED} more" if len(tests) > _MOST_NAMED else ""
    return f"{', '.join(tests[:_MOST_NAMED])}{more}"


def _commit(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: manifest[key] for key in _COMMIT}


def _without_notes(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the capabilities of a part without what they have noted of it."""
    return {
        name: {key: value for key, value in capability.items() if key != "notes"}
        for name, capability in manifest.get("capabilities", {}).items()
    }


def _participants(manifests: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Return who played agent and user in all parts, if a part has others than those of its settings."""
    if not any("participants" in manifest for manifest in manifests):
        return {}
    names_by_side: dict[str, set[str]] = {"agent": set(), "user": set()}
    for manifest in manifests:
        for side, names in names_by_side.items():
            names.update(manifest.get("participants", {}).get(side) or [str(manifest["settings"].get(side))])
    return {"participants": {side: sorted(names) for side, names in names_by_side.items()}}


def _versions(manifests: Sequence[Mapping[str, Any]]) -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for manifest in manifests:
        for name, version in manifest["versions"].items():
            versions.setdefault(name, set()).add(version)
    return versions


def _hashes(manifests: Sequence[Mapping[str, Any]], merged: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hashes of all parts: of what differs, those of each as one text, which equals that of no run."""
    domains: dict[str, dict[str, str]] = {}
    for manifest in manifests:
        for name, parts in manifest["hashes"]["domains"].items():
            known = domains.setdefault(name, {})
            known |= {part: join_hashes(known.get(part, ""), fingerprint or "") for part, fingerprint in parts.items()}
    grader = join_hashes(*(manifest["hashes"]["grader"] for manifest in manifests))
    combined = {
        name: {part: fingerprint or None for part, fingerprint in parts.items()} for name, parts in domains.items()
    }
    return {**merged, "grader": grader, "domains": combined}
