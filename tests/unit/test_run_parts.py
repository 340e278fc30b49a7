"""The parts of one run: what differs between them, what is missing, and the manifest of the whole."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.runs.manifest import MANIFEST, Manifest, read_manifest, why_incomplete
from pytest_tau.runs.parts import JoinedParts, Part, Plan, read_plan

from .test_cli_merge import kept, write

INFO: dict[str, Any] = {
    "format": 1,
    "started": "2026-01-01T00:00:00+00:00",
    "finished": "2026-01-01T00:01:00+00:00",
    "versions": {"pytest-tau": "1.0"},
    "commit": "a1",
    "dirty": False,
    "settings": {"agent": "gold", "seed": 300},
    "hashes": {
        "grader": "g1",
        "domains": {"mock": {"policy": "p1", "tools": "t1", "database": "d1"}},
        "tasks": {"mock": {"one": "h1"}},
    },
    "planned": {"mock": {"one": 2}},
    "excluded": {},
}


def manifest(shard: str | None = None, **changes: Any) -> dict[str, Any]:
    """The manifest of a run; names with dots are paths. A shard has two of the trials."""
    found = copy.deepcopy(INFO)
    if shard is not None:
        found["settings"]["shard"] = shard
        found["excluded"]["in other shards"] = 2 * (int(shard.partition("/")[2]) - 1)
    for path, value in changes.items():
        *parents, name = path.split("__")
        inside = found
        for parent in parents:
            inside = inside[parent]
        inside[name] = value
    return found


def plan(trials: int) -> Plan:
    """The plan of a run with so many trials of one task."""
    return Plan(manifest(), {f"mock::one[trial-{number}]": ("mock", "one") for number in range(trials)})


def joined(
    *manifests: dict[str, Any], stored: int = 2, overlap: bool = False, plans: Any = None, tests: Any = ()
) -> JoinedParts:
    plans = plans or [None] * len(manifests)
    parts = [Part("abcd"[n], each, stored, plans[n]) for n, each in enumerate(manifests)]
    return JoinedParts(parts, overlap=overlap, stored=tests)


def ids_of(*trials: int) -> set[str]:
    return {f"mock::one[trial-{number}]" for number in trials}


def test_equal_parts_differ_in_nothing() -> None:
    parts = joined(manifest("1/2"), manifest("2/2"), plans=[plan(4)] * 2, tests=ids_of(0, 1, 2, 3))
    assert (parts.different(), parts.missing()) == ([], [])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"settings__agent": "noop"}, 'agent: "gold" in a, "noop" in b'),
        ({"settings__agent_llm": "m"}, 'agent_llm: null in a, "m" in b'),
        ({"settings__seed": 1}, "seed: 300 in a, 1 in b"),
        ({"settings__max_steps": 3}, "max_steps: null in a, 3 in b"),
        ({"commit": "b2"}, 'commit: "a1" in a, "b2" in b'),
        ({"dirty": True}, "dirty: false in a, true in b"),
        ({"hashes__grader": "g2"}, "rules of grading: g1 of pytest-tau 1.0 in a, g2 of pytest-tau 1.0 in b"),
        ({"hashes__domains__mock__policy": "p2"}, 'policy of mock: "p1" in a, "p2" in b'),
        ({"hashes__domains__mock__tools": "t2"}, 'tools of mock: "t1" in a, "t2" in b'),
        ({"hashes__tasks__mock__one": "h2"}, "task 'one' of mock: h1 in a, h2 in b"),
    ],
)
def test_what_verdicts_depend_on_is_compared(changes: dict[str, Any], text: str) -> None:
    assert joined(manifest("1/2"), manifest("2/2", **changes)).different() == [text]


def test_a_part_without_a_manifest_is_unknown() -> None:
    parts = joined(manifest(), {})
    assert parts.different() == ["b has no run.json, so it is unknown what it was run with"]
    assert parts.manifest() is None
    assert joined({}, {}).different() == []


def test_missing_trials_of_the_plan_are_named() -> None:
    parts = joined(manifest("1/4"), manifest("3/4", finished=None), plans=[plan(8)] * 2, tests=ids_of(0, 2))
    named = ", ".join(f"mock::one[trial-{number}]" for number in (1, 3, 4, 5, 6))
    assert parts.missing() == [f"6 of 8 trials: {named} and 1 more", "b: it has not ended"]
    whole = parts.manifest() or {}
    assert (whole["planned"], whole["excluded"]) == ({"mock": {"one": 8}}, {"in other shards": 6})
    assert "shard" not in whole["settings"]
    assert why_incomplete(whole, 2) == "6 trials of other shards missing"
    # One that was skipped for a reason is not missing.
    skipped = joined(manifest(excluded={"not on Windows": 2}), plans=[plan(4)], tests=ids_of(0, 1))
    assert skipped.missing() == []
    spent = joined(manifest(excluded={"the budget is spent": 2}), plans=[plan(4)], tests=ids_of(0, 1))
    assert spent.missing() == ["2 of 4 trials: mock::one[trial-2], mock::one[trial-3]"]


def test_plans_that_differ_and_trials_of_no_plan_are_told() -> None:
    parts = joined(manifest(), manifest(), plans=[plan(4), plan(2)], tests=ids_of(0, 1, 2, 3, 4))
    assert parts.different() == [
        "trials of the whole run: 4 trials in a, 2 trials in b",
        "not in the plan: mock::one[trial-4]",
    ]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 2}', '{"format": 1, "trials": {}}', '{"format": 1, "trials": []}']
)
def test_another_file_is_no_plan(tmp_path: Path, text: str) -> None:
    assert read_plan(tmp_path) is None
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"plan\.json: "):
        read_plan(tmp_path)
    (tmp_path / "plan.json").write_text(str(plan(3)))
    assert read_plan(tmp_path) == plan(3)


@pytest.mark.parametrize(
    ("changes", "stored", "text"),
    [
        ({"finished": None}, 1, "b: it was interrupted, with 1 of 2 planned trials stored"),
        ({"finished": None}, 2, ""),
        ({}, 1, "b: 1 of 2 planned trials were not run"),
        ({"excluded": {"the budget is spent": 1}}, 1, "b: 1 of 2 planned trials were not run"),
        ({"excluded": {"not on Windows": 1}}, 1, ""),
    ],
)
def test_trials_that_a_part_has_not_run_are_missing(changes: dict[str, Any], stored: int, text: str) -> None:
    parts = JoinedParts([Part("a", manifest(), 2), Part("b", manifest(**changes), stored)], overlap=False)
    assert parts.missing() == ([text] if text else [])


def test_the_manifest_of_the_whole_says_what_all_parts_say() -> None:
    later = {"started": "2026-01-02T00:00:00+00:00", "finished": "2026-01-02T00:01:00+00:00", "commit": "b2"}
    other = manifest("2/2", settings__agent="noop", hashes__grader="g2", hashes__domains__mock__tools="t2", **later)
    others = other | {"versions": {"pytest-tau": "1.1"}}
    whole = joined(manifest("1/2"), others, plans=[plan(4)] * 2, tests=ids_of(0, 1, 2, 3)).manifest() or {}
    assert (whole["started"], whole["finished"]) == (INFO["started"], later["finished"])
    assert (whole["commit"], whole["dirty"]) == (None, False)
    assert whole["settings"] == {"seed": 300}
    assert (whole["planned"], whole["excluded"]) == ({"mock": {"one": 4}}, {})
    assert whole["hashes"]["grader"] == "g1 g2"
    assert whole["hashes"]["domains"] == {"mock": {"policy": "p1", "tools": "t1 t2", "database": "d1"}}
    assert whole["versions"] == {"pytest-tau": "1.0, 1.1"}
    Manifest.model_validate(whole)


@pytest.mark.parametrize(("overlap", "planned"), [(False, 4), (True, 2)])
def test_trials_that_are_in_two_runs_are_planned_once(overlap: bool, planned: int) -> None:
    whole = joined(manifest(), manifest(), overlap=overlap).manifest() or {}
    assert whole["planned"] == {"mock": {"one": planned}}


def test_participants_of_all_parts_are_named() -> None:
    other = manifest("2/2", participants={"agent": ["A"], "user": ["scripted"]})
    whole = joined(manifest("1/2", settings__user="scripted"), other).manifest() or {}
    assert whole["participants"] == {"agent": ["A", "gold"], "user": ["scripted"]}


# The command


def run_folder(name: str, found: dict[str, Any], *entries: Any) -> str:
    write(f"{name}/simulations.jsonl", *entries)
    Path(name, MANIFEST).write_text(json.dumps(found), encoding="utf-8")
    return name


def test_runs_that_differ_are_not_joined_unless_it_is_allowed(tau: Any) -> None:
    run_folder("runs/a", manifest("1/2"), kept("one", 0), kept("one", 1))
    run_folder("runs/b", manifest("2/2", settings__seed=1, commit="b2"), kept("one", 2), kept("one", 3))
    ran = tau("merge", "runs", "-o", "out")
    assert (ran.status, ran.lines) == (
        1,
        [
            "different: seed: 300 in runs/a, 1 in runs/b",
            'different: commit: "a1" in runs/a, "b2" in runs/b',
            "nothing is joined: the runs are not parts of one run; --allow-mixed joins them nevertheless",
        ],
    )
    assert not Path("out").exists()
    ran = tau("merge", "runs", "-o", "out", "--allow-mixed")
    assert ran.status == 1
    assert "missing: runs/a: 2 trials of other shards missing" in ran.lines
    assert "different: seed: 300 in runs/a, 1 in runs/b" in ran.lines
    found = read_manifest(Path("out"), whole=True)
    assert (found["commit"], "seed" in found["settings"]) == (None, False)


def test_a_run_without_a_manifest_is_joined_only_if_it_is_allowed(tau: Any) -> None:
    run_folder("runs/a", manifest(), kept("one", 0), kept("one", 1))
    other = write("more.jsonl", kept("one", 2))
    assert tau("merge", "runs", other, "-o", "out").status == 1
    ran = tau("merge", "runs", other, "-o", "out", "--allow-mixed")
    assert (ran.status, ran.lines[-1]) == (0, "no run.json is written, because not every run has one")
