"""The parts of one run, such as shards: what differs between them, what is missing, and the manifest of the whole."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

from ..text import plural
from .manifest import (
    DESELECTED,
    IN_OTHER_SHARDS,
    Words,
    add_usage,
    diff_settings,
    diff_tasks,
    diff_values,
    join_hashes,
    merge_manifest,
    merge_tasks,
    why_incomplete,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: A shard in the settings of a run: ``2/4``; of several that were joined, ``1/4, 2/4``.
_SHARD = re.compile(r"(\d+)/(\d+)")
#: What the agent is built from, which is in no hash.
_COMMIT = ("commit", "dirty")
#: Facts about a part that are none about the whole.
_OF_A_PART = frozenset({"comparability", "user_prompts", "participants"})


class Part(NamedTuple):
    """A part of a run.

    Attributes:
        name: What a person calls it.
        manifest: Its manifest; empty if it has none.
        stored: The number of its trials that are stored.
    """

    name: str
    manifest: Mapping[str, Any]
    stored: int

    @property
    def shards(self) -> tuple[tuple[int, int], ...]:
        """Return the shards that it has: the number of each, and of how many; none if it is not one."""
        found = _SHARD.findall(str(self.manifest["settings"].get("shard", "")))
        return tuple((int(number), int(of)) for number, of in found)

    @property
    def planned(self) -> int:
        """Return the number of its planned trials."""
        return sum(sum(tasks.values()) for tasks in self.manifest["planned"].values())

    def excluded(self, *reasons: str) -> int:
        """Return the number of trials that were not run for these reasons."""
        return sum(self.manifest["excluded"].get(reason, 0) for reason in reasons)


class JoinedParts:
    """The parts of a run, compared with each other.

    Args:
        parts: The parts.
        overlap: Whether some of their trials are the same.
    """

    def __init__(self, parts: Sequence[Part], *, overlap: bool) -> None:
        self._parts, self._overlap = parts, overlap
        self._known = [part for part in parts if part.manifest]
        self._names: dict[tuple[int, int], list[str]] = defaultdict(list)
        for part in self._known:
            for shard in part.shards:
                self._names[shard].append(part.name)
        #: Of a shard that occurs twice the later part.
        self._distinct = list({part.shards or number: part for number, part in enumerate(self._known)}.values())

    def different(self) -> list[str]:
        """Return what verdicts depend on that differs between the parts, and which shards occur twice."""
        if not self._known:
            return []
        first, found = self._known[0], list[str]()
        for part in self._parts:
            if not part.manifest:
                found.append(f"{part.name} has no run.json, so it is unknown what it was run with")
                continue
            then, now, words = first.manifest, part.manifest, Words(f"in {first.name}", f"in {part.name}")
            found += diff_settings(then, now, words)
            found += diff_tasks(then["hashes"], now["hashes"], words)
            found += diff_values("", _commit(then), _commit(now), words=words)
        return [*found, *self._shard_problems()]

    def _shard_problems(self) -> Iterator[str]:
        sizes = sorted({of for _, of in self._names})
        if len(sizes) > 1:
            yield f"shards of {' and of '.join(map(str, sizes))}"
        for (number, of), names in sorted(self._names.items()):
            if len(names) > 1:
                yield f"shard {number}/{of} occurs {len(names)} times: {', '.join(names)}"

    def missing(self) -> list[str]:
        """Return what the parts lack: shards, and trials of parts that did not end."""
        found = []
        if trials := self._missing_trials:
            shards = [(number, of) for of in {of for _, of in self._names} for number in range(1, of + 1)]
            lacking = [f"{number}/{of}" for number, of in sorted(shards) if (number, of) not in self._names]
            found.append(f"shard{'s' * (len(lacking) > 1)} {', '.join(lacking)} with {plural(trials, 'trial')}")
        for part in self._known:
            alone = {**part.manifest, "excluded": {**part.manifest["excluded"], IN_OTHER_SHARDS: 0}}
            if why := why_incomplete(alone, part.stored):
                found.append(f"{part.name}: {why}")
        return found

    @property
    def _missing_trials(self) -> int:
        """Return the number of trials of shards that are missing; those without trials store nothing."""
        shards = [part for part in self._distinct if part.shards]
        whole = max((part.planned + part.excluded(IN_OTHER_SHARDS) for part in shards), default=0)
        return max(0, whole - sum(part.planned for part in shards))

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest of the whole, without what differs between the parts; None if a part has none."""
        if not self._known or len(self._known) < len(self._parts):
            return None
        all_of = [part.manifest for part in self._known]
        first, *others = all_of
        whole = {name: value for name, value in first.items() if name not in _OF_A_PART}
        for each in others:
            whole = merge_manifest(whole, each)
        prompts, ends = [each.get("user_prompts") for each in all_of], [each["finished"] for each in all_of]
        same = {"user_prompts": prompts[0]} if prompts[0] and prompts.count(prompts[0]) == len(prompts) else {}
        return {
            **whole,
            **same,
            **_participants(all_of),
            "capabilities": _without_notes(first),
            "started": min(each["started"] for each in all_of),
            "finished": max(ends) if all(ends) else None,
            "versions": {name: ", ".join(sorted(values)) for name, values in _versions(all_of).items()},
            **{key: first[key] if all(each[key] == first[key] for each in others) else None for key in _COMMIT},
            "settings": self._settings(),
            "hashes": _hashes(all_of, whole["hashes"]),
            "resumed": [again for each in all_of for again in each.get("resumed", [])],
            "planned": self._planned(),
            "excluded": self._excluded(),
            **({"stopped_usage": stopped} if (stopped := self.stopped_usage()) else {}),
        }

    def stopped_usage(self) -> dict[str, dict[str, Any]]:
        """Return the model calls of trials that a budget has stopped, by role."""
        return add_usage(*(part.manifest.get("stopped_usage", {}) for part in self._distinct))

    def _settings(self) -> dict[str, Any]:
        """Return the settings that all parts have; the shards, if some are missing."""
        first, *others = (part.manifest["settings"] for part in self._known)
        same = {name: value for name, value in first.items() if all(each.get(name) == value for each in others)}
        same.pop("shard", None)
        shards = ", ".join(f"{number}/{of}" for number, of in sorted(self._names))
        return {**same, "shard": shards} if self._missing_trials else same

    def _planned(self) -> dict[str, dict[str, int]]:
        whole: dict[str, dict[str, int]] = {}
        for part in self._distinct:
            combine = max if self._overlap and not part.shards else add
            whole = merge_tasks(whole, part.manifest["planned"], combine)
        return whole

    def _excluded(self) -> dict[str, int]:
        """Return how many trials were not run, by reason; each part has deselected the same ones."""
        found = Counter[str]()
        for part in self._distinct:
            found.update(part.manifest["excluded"])
        found[IN_OTHER_SHARDS] = self._missing_trials
        found[DESELECTED] = max(part.excluded(DESELECTED) for part in self._distinct)
        return {why: number for why, number in found.items() if number}


def _commit(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: manifest[key] for key in _COMMIT}


def _without_notes(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the capabilities of a part without what they have noted of it."""
    return {
        name: {key: value for key, value in each.items() if key != "notes"}
        for name, each in manifest.get("capabilities", {}).items()
    }


def _participants(manifests: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Return who played agent and user in all parts, if a part has others than those of its settings."""
    if not any("participants" in each for each in manifests):
        return {}
    found: dict[str, set[str]] = {"agent": set(), "user": set()}
    for each in manifests:
        for side, names in found.items():
            names.update(each.get("participants", {}).get(side) or [str(each["settings"].get(side))])
    return {"participants": {side: sorted(names) for side, names in found.items()}}


def _versions(manifests: Sequence[Mapping[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in manifests:
        for name, version in each["versions"].items():
            found.setdefault(name, set()).add(version)
    return found


def _hashes(manifests: Sequence[Mapping[str, Any]], whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hashes of all parts: of what differs, those of each as one text, which equals that of no run."""
    domains: dict[str, dict[str, str]] = {}
    for each in manifests:
        for name, parts in each["hashes"]["domains"].items():
            known = domains.setdefault(name, {})
            known |= {part: join_hashes(known.get(part, ""), found or "") for part, found in parts.items()}
    grader = join_hashes(*(each["hashes"]["grader"] for each in manifests))
    shown = {name: {part: found or None for part, found in parts.items()} for name, parts in domains.items()}
    return {**whole, "grader": grader, "domains": shown}
