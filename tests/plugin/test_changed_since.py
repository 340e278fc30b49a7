"""``--tau-changed-since``: what is run, what is skipped, and the weighted rate; with workers, resumed, with gates."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
RETAIL = ("--tau-data", "data", "--tau-domain", "retail", "--tau-num-tasks", "40", "--tau-agent", "rules")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder for the run that these tests compare with; the first of them makes it."""
    return tmp_path_factory.mktemp("before") / "runs"


@pytest.fixture
def shop(project, stored):
    """A project with data of its own, and a stored run of 40 tasks."""
    folder = project.path / "data/domains/retail"
    folder.mkdir(parents=True)
    for file in (*(REPOSITORY / "domains/retail").glob("*.json"), *(REPOSITORY / "tasks/retail").glob("*.json")):
        shutil.copy(file, folder)
    shutil.copy(REPOSITORY / "domains/retail/policy.md", folder)
    runs = project.path / ".tau/runs"
    if stored.exists():
        shutil.copytree(stored, runs)
    else:
        project.run(*RETAIL, "--tau-run-name", "before").outcomes(passed=40)
        shutil.copytree(runs, stored)
    return project


def change_policy(project):
    # A process reads the data of a folder once: the changed data is in another one.
    shutil.copytree(project.path / "data", project.path / "changed")
    file = project.path / "changed/domains/retail/policy.md"
    text = file.read_text(encoding="utf-8")
    heading = "## Cancel a pending order"
    assert heading in text
    file.write_text(text.replace(heading, f"{heading}\n\nOnly on weekdays.\n"), encoding="utf-8")


def since(project, *arguments):
    data = ("--tau-data", "changed") if (project.path / "changed").exists() else ()
    return project.run(*RETAIL, *data, "--tau-changed-since", "before", *arguments)


def counts(run):
    words = run.line("have to do with changes since before").split()
    return int(words[3]), int(words[5])


def test_without_a_change_a_part_of_the_others_is_run(shop):
    run = since(shop, "--tau-gate", "pass^1 >= 0.9")
    run.outcomes(passed=4, deselected=36)
    run.line(
        "0 of 40 tasks have to do with changes since before; 4 of 40 others drawn, probability 0.100; 36 tasks skipped"
    )
    run.line("weighted pass^1 1.000", "an estimate for all 40 tasks from 4, by inverse probability")
    run.line("the rates above, and gates, are of the tasks that were run, without weights")
    run.line("gate pass^1 >= 0.9", "met")


def test_trials_excluded_from_rates_are_not_in_the_weighted_rate(shop):
    """A capability excludes all trials but those of one task."""
    shop.write(
        "conftest.py",
        """
        from pytest_tau import Capability, Ruling, TrialStages

        class Stages(TrialStages):
            def __init__(self, view):
                self.id = view.task.id

            def ended(self, simulation):
                return None if self.id == "cancel-unneeded" else Ruling("of no interest")

        def pytest_tau_capabilities():
            return [Capability("picky", trial=Stages)]
        """,
    )
    picked = ("--tau-task", "cancel-*")
    shop.run(*RETAIL, *picked, "--tau-run-name", "picked")
    run = shop.run(*RETAIL, *picked, "--tau-changed-since", "picked", "--tau-changed-rest", "1")
    run.line("13 tasks, 13 trials; 1 passed, 12 excluded; pass^1 1.000")
    run.line("weighted pass^1 1.000", "an estimate for all 13 tasks from 1, by inverse probability")


def test_a_section_of_the_policy_selects_its_tasks(shop):
    change_policy(shop)
    run = since(shop, "-v")
    touched, of = counts(run)
    assert of == 40 and 0 < touched < 40
    run.line("section 'Cancel a pending order' of the policy:")
    run.line("tau: changed:   run: ", "section 'Cancel a pending order' of the policy")
    run.line("tau: changed:   drawn: ")
    run.line("tau: changed:   skipped: ")


def test_workers_make_the_same_choice(shop):
    change_policy(shop)
    alone, spread = since(shop, "-v"), since(shop, "-v", "-n", "2")
    for part in ("have to do with", "weighted", "  drawn: ", "  skipped: "):
        assert alone.line("tau: changed:", part) == spread.line("tau: changed:", part)


@pytest.mark.exhaustive
def test_the_seed_draws_other_tasks(shop):
    one = since(shop, "-v").line("  drawn: ")
    # The seed is a setting that every verdict depends on: the earlier run must have had it, too.
    shop.run(*RETAIL, "--tau-seed", "7", "--tau-run-name", "seven")
    two = shop.run(*RETAIL, "--tau-seed", "7", "--tau-changed-since", "seven", "-v").line("  drawn: ")
    assert one != two


def test_no_rest_is_no_weighted_rate(shop):
    change_policy(shop)
    run = since(shop, "--tau-changed-rest", "0")
    run.line("no rate over all tasks: none of the other tasks was drawn")
    run.lacks("weighted pass^1")


def test_if_nothing_is_left_to_run_it_is_a_success(shop):
    run = since(shop, "--tau-changed-rest", "0")
    assert run.ret == 0
    run.line("0 of 40 tasks have to do with changes since before; 0 of 40 others drawn; 40 tasks skipped")
    run.lacks("no simulation was run")


@pytest.mark.exhaustive
def test_the_whole_rest_is_the_whole_run(shop):
    change_policy(shop)
    since(shop, "--tau-changed-rest", "1").outcomes(passed=40)


@pytest.mark.exhaustive
def test_other_settings_run_everything(shop):
    run = since(shop, "--tau-max-steps", "100")
    run.outcomes(passed=40)
    run.line("every task is run (max_steps: 200 in the earlier run, 100 now)")


@pytest.mark.exhaustive
def test_a_run_without_parts_runs_everything(shop):
    file = shop.path / ".tau/runs/before/run.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    assert manifest["hashes"].pop("parts")
    file.write_text(json.dumps(manifest), encoding="utf-8")
    run = since(shop)
    run.outcomes(passed=40)
    run.line("every task is run (before has no fingerprints by part: it was written by an earlier version)")


def test_tasks_without_a_stored_verdict_are_run(shop):
    file = shop.path / ".tau/runs/before/simulations.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[3:]), encoding="utf-8")
    run = since(shop)
    run.line("3 of 40 tasks have to do with changes since before (no verdict in the earlier run: 3)")


def test_it_is_resumed(shop):
    change_policy(shop)
    first = since(shop, "--tau-run-name", "after")
    again = since(shop, "--tau-resume", "after")
    assert first.line("have to do with") == again.line("have to do with")
    assert first.line("weighted") == again.line("weighted")
    info = json.loads((shop.path / ".tau/runs/after/run.json").read_text(encoding="utf-8"))
    assert info["capabilities"]["changed"]["settings"] == {"changed_since": "before"}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--tau-changed-since", "missing"), ("--tau-changed-since: unknown run 'missing'",)),
        (("--tau-changed-since", "before", "--tau-changed-rest", "2"), ("expected a share from 0 to 1, got 2",)),
        (("--tau-changed-since", "before", "--tau-changed-rest", "x"), ("--tau-changed-rest",)),
        (("--tau-changed-rest", "0.5"), ("--tau-changed-rest: expected --tau-changed-since RUN as well",)),
    ],
)
def test_bad_values_are_usage_errors(shop, arguments, parts):
    shop.run(*RETAIL, *arguments).usage_error(*parts)
