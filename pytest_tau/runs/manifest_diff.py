"""Differences between the manifests of two runs: settings, prompts, domains and tasks, each with both values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..plain import json
from .manifest import NON_VERDICT_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


class Words(NamedTuple):
    """What follows the values of the two runs that are compared."""

    then: str
    now: str


IN_TIME = Words("in the earlier run", "now")


def diff_settings(then: Mapping[str, Any], now: Mapping[str, Any], words: Words = IN_TIME) -> list[str]:
    """Return the settings, prompts and rules of grading that differ between two runs, with both values."""
    differences = diff_values("", then["settings"], now["settings"], NON_VERDICT_SETTINGS, words)
    differences += diff_values(
        " prompt", then["hashes"].get("prompts", {}), now["hashes"].get("prompts", {}), words=words
    )
    rules = [manifest["hashes"]["grader"] for manifest in (then, now)]
    if rules[0] != rules[1]:
        earlier, later = (
            f"{rule} of pytest-tau {manifest['versions']['pytest-tau']}"
            for rule, manifest in zip(rules, (then, now), strict=True)
        )
        differences.append(_format_difference("rules of grading", earlier, later, words))
    return differences


def diff_tasks(then: Mapping[str, Any], now: Mapping[str, Any], words: Words = IN_TIME) -> list[str]:
    """Return the domains and tasks that differ from those of an earlier run, with both hashes; new ones are skipped.

    Args:
        then: The ``hashes`` of the earlier run.
        now: The hashes of what is about to run.
        words: What follows each of two hashes.
    """
    differences: list[str] = []
    for name, parts in now["domains"].items():
        differences += diff_values(f" of {name}", then["domains"].get(name, parts), parts, words=words)
    for name, tasks in now["tasks"].items():
        before = then["tasks"].get(name, {})
        changed = [task for task, hashed in tasks.items() if not set(hashed.split()) <= _hashes(before, task, hashed)]
        differences += [
            _format_difference(f"task {task!r} of {name}", before[task], tasks[task], words) for task in changed
        ]
    return differences


def _hashes(tasks: Mapping[str, str], task: str, default: str) -> set[str]:
    return set(tasks.get(task, default).split())


def diff_values(
    suffix: str,
    then: Mapping[str, Any],
    now: Mapping[str, Any],
    without: Collection[str] = (),
    words: Words = IN_TIME,
) -> list[str]:
    """Return the values that differ from those of an earlier run, each after its name, with both values.

    Args:
        suffix: The text that follows each name.
        then: The values in the earlier run.
        now: The values now.
        without: Names of values that are not compared.
        words: What follows each of the two values.
    """
    names = [name for name in dict.fromkeys([*then, *now]) if name not in without]
    differing = [name for name in names if then.get(name) != now.get(name)]
    return [_format_difference(f"{name}{suffix}", _json(then, name), _json(now, name), words) for name in differing]


def _json(values: Mapping[str, Any], name: str) -> str:
    return json.dumps(values.get(name), ensure_ascii=False)


def _format_difference(name: str, then: str, now: str, words: Words) -> str:
    return f"{name}: {then} {words.then}, {now} {words.now}"
