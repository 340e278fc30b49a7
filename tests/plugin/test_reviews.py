"""--tau-review and tau review: what is reviewed, by whom, at whose cost, and what is left after an interruption."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_tau.cli import main
from pytest_tau.runs.store import FolderStore, StoreError
from pytest_tau.testing import ModelServer

WORKERS = [(), ("-n", "2")]
CLEAN = {"errors": [], "summary": "Fine.", "fault_owner": None, "fault_type": None}
ERROR = {
    "source": "agent",
    "severity": "critical",
    "turn_idx": None,
    "error_tags": ["missed_required_action"],
    "error_type": "nothing done",
    "reasoning": "It made no call.",
    "correct_behavior": None,
}
FAULT = {"errors": [ERROR], "summary": "No.", "fault_owner": "agent", "fault_type": "goal_partially_completed"}

#: Reviewers of one's own.
REVIEWERS = f"""
import json, time

SEEN = []

def review(case):
    SEEN.append(case.task_id)
    return {FAULT!r} if case.outcome == "failed" else {CLEAN!r}

def of_user(case):
    return {{"errors": [], "summary": case.mode}}

def broken(case):
    raise ValueError("no idea")

def nonsense(case):
    return "It went well."

def endless(case):
    time.sleep(20)
"""


@pytest.fixture
def mixed(project, a_task, parts_by_id):
    """Runs two tasks that fail, one that passes, and one that ends in an error."""
    project.tasks("mock/t.tau.json", [a_task(name) for name in ("bad-1", "bad-2", "good", "lost")])
    project.write("reviewers.py", REVIEWERS)
    return lambda *args: project.run(*parts_by_id, *args)


def own(name):
    return ("--tau-reviewer", f"reviewers.py:{name}")


class TestRuns:
    @pytest.mark.parametrize("workers", WORKERS)
    def test_failed_trials_are_reviewed(self, mixed, workers):
        run = mixed("--tau-review", *own("review"), *workers)
        run.outcomes(passed=1, failed=2, errors=1)
        run.line(
            "tau:  review",
            "reviewed 2: first critical error by agent 2, user 0, none 0; tags: missed_required_action 2",
        )
        run.line("review: by reviewers.py:review: fault of the agent (goal_partially_completed): No.")
        run.line("agent, critical: nothing done: It made no call.")

    def test_all_with_a_verdict_are(self, mixed):
        mixed("--tau-review=all", *own("review")).line(
            "tau:  review         reviewed 3: first critical error by agent 2, user 0, none 1"
        )

    def test_without_the_option_nothing_is(self, mixed):
        mixed().lacks("review")

    def test_by_ini(self, mixed, project):
        project.ini("tau_review = all", "tau_reviewer = reviewers.py:of_user", "tau_review_mode = user")
        mixed().line("tau:  review         reviewed 3 (the user alone): first critical error by user 0, none 3")

    @pytest.mark.parametrize(
        ("name", "status", "problem"),
        [
            ("broken", "failed", "ValueError: no idea"),
            ("nonsense", "unusable", "it has no JSON object with errors"),
            ("endless", "failed", "no answer within 0.5 s"),
        ],
    )
    def test_a_reviewer_that_gives_no_review_is_named_and_changes_no_verdict(self, mixed, name, status, problem):
        run = mixed("--tau-review", *own(name), "--tau-timeout", "0.5", "--tau-concurrency", "4")
        run.outcomes(passed=1, failed=2, errors=1)
        run.line(f"tau:  review         reviewed 0: without a review: 2 {status}")
        run.line(f"reviewer 'reviewers.py:{name}': 2 trials {status}: {problem}")

    def test_a_review_without_a_reviewer_is_a_usage_error(self, mixed):
        mixed("--tau-review").usage_error("add --tau-reviewer-llm MODEL or --tau-reviewer SPEC")
        mixed("--tau-review", "--tau-reviewer", "reviewers.py:none").usage_error("unknown attribute")
        mixed(*own("review")).usage_error("--tau-reviewer: is used with --tau-review only")

    def test_it_is_stored_and_exported(self, mixed, capsys):
        mixed("--tau-review", *own("review"))
        capsys.readouterr()
        assert main(["export", "--format", "csv"]) == 0
        rows = {row["task_id"]: row for row in csv.DictReader(capsys.readouterr().out.splitlines())}
        assert [rows["bad-1"][f"review_{name}"] for name in ("status", "first_critical", "fault_owner", "tags")] == [
            *("done", "agent", "agent", "missed_required_action")
        ]
        assert rows["good"]["review_status"] == ""
        assert main(["export", "--format", "tau2"]) == 0
        found = {each["task_id"]: each for each in json.loads(capsys.readouterr().out)["simulations"]}
        assert found["bad-1"]["review"]["errors"][0]["error_tags"] == ["missed_required_action"]
        assert "review" not in found["good"]
        assert main(["export", "--format", "metrics"]) == 0
        metrics = json.loads(capsys.readouterr().out)
        assert metrics["agent_error_tags_by_severity"] == {"missed_required_action": {"critical": 2}}
        assert metrics["sims_by_first_critical_source"] == {"agent": 2}
        assert metrics["infra_error_count"] == 1


REVIEWER = """
    def answer(role, request):
        if role == "reviewer":
            return json.dumps({"errors": [], "summary": "Fine.", "fault_owner": None, "fault_type": None})
        return reference(role, request)
"""
MODEL = ("--tau-review=all", "--tau-reviewer-llm", "fake/reviewer")


class TestModels:
    @pytest.fixture
    def one(self, models, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        models.script(REVIEWER)
        return models

    def test_its_calls_are_those_of_the_reviewer(self, one):
        run = one.run(*MODEL)
        run.outcomes(passed=1)
        run.line("tau: reviewer fake/reviewer: 1 call, 1,000 tokens sent, 20 received, $0.2500")
        assert one.calls() == ["agent", "agent", "reviewer", "user", "user"]

    def test_the_model_of_the_judge_is_the_default(self, one):
        one.run("--tau-review=all", "--tau-judge-llm", "fake/judge").line("tau: reviewer fake/judge: 1 call")

    def test_it_is_recorded_apart_from_the_conversation_and_replayed(self, one, project):
        one.run(*MODEL, "--tau-record").outcomes(passed=1)
        names = sorted(path.name for path in project.path.rglob("*.cassette"))
        assert names == ["buy-milk.trial-0.cassette", "buy-milk.trial-0.review.cassette"]
        one.calls()
        run = one.run(*MODEL, "--tau-replay")
        run.outcomes(passed=1)
        run.line("tau:  review         reviewed 1: first critical error by agent 0, user 0, none 1")
        # A conversation that was recorded with a review is replayed without one, and the reverse.
        one.run("--tau-replay").outcomes(passed=1)
        assert one.calls() == []

    def test_a_review_that_was_not_recorded_has_failed_and_the_verdict_stands(self, one):
        one.run("--tau-record").outcomes(passed=1)
        run = one.run(*MODEL, "--tau-replay")
        run.outcomes(passed=1)
        run.line("reviewer 'fake/reviewer': 1 trial failed: ReplayError:", "no such cassette")
        one.calls()
        one.run(*MODEL, "--tau-record").outcomes(passed=1)
        assert one.calls() == ["reviewer"]

    def test_a_spent_budget_costs_the_review_and_not_the_trial(self, one):
        run = one.run(*MODEL, "--tau-budget", "1")
        run.outcomes(passed=1)
        run.line("reviewer 'fake/reviewer': 1 trial failed: BudgetError: the budget of $1 is spent ($1.0000)")
        assert "reviewer" not in one.calls()

    def test_a_review_counts_in_the_budget(self, one, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
        run = one.run(*MODEL, "--tau-budget", "1.25", "--tau-concurrency", "1")
        run.outcomes(passed=1, skipped=1)
        run.line("tau: budget: $1.25")

    def test_a_budget_of_the_trial_includes_the_review(self, one):
        run = one.run(*MODEL, "--tau-budget-per-trial", "1")
        run.outcomes(passed=1)
        run.line("1 trial failed: BudgetError: the budget of the trial, $1, is spent")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_run_that_is_resumed_keeps_its_reviews(self, one, workers):
        one.run(*MODEL, *workers)
        one.calls()
        one.run(*MODEL, "--tau-resume", *workers).line("tau:  review         reviewed 1: ")
        assert one.calls() == []


class TestCommand:
    @pytest.fixture
    def stored(self, mixed, capsys, project):
        mixed().outcomes(passed=1, failed=2, errors=1)
        capsys.readouterr()

        def review(*args):
            status = main(["review", *args])
            found = capsys.readouterr()
            return status, found.out + found.err

        review.file = lambda: next(project.path.glob(".tau/runs/*/facts.jsonl"))
        return review

    def test_failed_trials_by_default(self, stored):
        status, text = stored("--judge", "reviewers.py:review")
        assert status == 0, text
        assert "mock: bad-1 trial 0: fault of the agent; agent critical: nothing done" in text
        assert "reviewed 2: first critical error by agent 2, user 0, none 0" in text
        assert "2 new reviews" in text
        assert len(stored.file().read_text().splitlines()) == 2

    def test_it_continues_where_it_stopped(self, stored):
        assert stored("--judge", "reviewers.py:review", "--limit", "1")[0] == 0
        status, text = stored("--judge", "reviewers.py:review", "--only", "all")
        assert status == 0
        for part in ("2 new reviews", "1 without a verdict", "1 reviewed before"):
            assert part in text
        assert len(stored.file().read_text().splitlines()) == 3

    def test_a_review_that_failed_is_made_again(self, stored):
        status, text = stored("--judge", "reviewers.py:broken")
        assert status == 1
        assert "reviewer 'reviewers.py:broken': 2 trials failed: ValueError: no idea" in text
        status, text = stored("--judge", "reviewers.py:review")
        assert (status, "2 new reviews" in text, "without a review" in text) == (0, True, False)

    def test_one_that_never_ends_is_left_behind(self, stored):
        status, text = stored("--judge", "reviewers.py:endless", "--deadline", "0.1")
        assert status == 1
        assert "failed: no answer within 0.1 s" in text

    def test_nothing_that_was_paid_for_is_lost_if_a_later_review_is_interrupted(self, stored, project, monkeypatch):
        project.write(
            "interrupting.py",
            f"""
            made = []

            async def review(case):
                made.append(case)
                if len(made) == 2:
                    raise KeyboardInterrupt
                return {FAULT!r}
            """,
        )
        monkeypatch.chdir(project.path)
        with pytest.raises(KeyboardInterrupt):
            main(["review", "--judge", "interrupting.py:review", "--concurrency", "1"])
        assert len(stored.file().read_text().splitlines()) == 1
        assert "1 new review" in stored("--judge", "interrupting.py:review")[1]

    def test_json(self, stored):
        status, text = stored("--judge", "reviewers.py:of_user", "--mode", "user", "--only", "all", "--json")
        found = json.loads(text)
        assert (status, found["mode"], found["done"], found["skipped"]) == (0, "user", 3, {"without a verdict": 1})
        assert {each["status"] for each in found["reviews"]} == {"done"}

    def test_lines_name_the_variant(self, stored, project):
        (file,) = project.path.glob(".tau/runs/*/simulations.jsonl")
        file.write_text(file.read_text().replace("[trial-0]", "[new-trial-0]"))
        assert "mock: bad-1 trial 0 [new]: fault of the agent" in stored("--judge", "reviewers.py:review")[1]

    def test_comparisons_show_both_runs(self, stored, mixed, capsys, project):
        stored("--judge", "reviewers.py:review")
        mixed("--tau-review=all", *own("review"), "--tau-run-name", "later")
        first, later = sorted(path.name for path in project.path.glob(".tau/runs/*"))
        capsys.readouterr()
        main(["compare", first, later])
        text = capsys.readouterr().out
        assert "before: reviewed 2: first critical error by agent 2" in text
        assert "after: reviewed 3: first critical error by agent 2, user 0, none 1" in text

    @pytest.mark.parametrize(
        ("args", "problem"),
        [
            ((), "a review needs a reviewer: add --judge-llm MODEL or --judge SPEC"),
            (("--judge", "accept"), "unknown reviewer 'accept'"),
            (("--judge", "reviewers.py:review", "--limit", "0"), "--limit: expected a number from 1, got 0"),
            (
                ("--judge", "reviewers.py:review", "--judge-llm", "openai/x"),
                "remove it, or --judge reviewers.py:review",
            ),
            (("nowhere", "--judge", "reviewers.py:review"), "nowhere"),
        ],
    )
    def test_what_cannot_be_used(self, stored, args, problem):
        status, text = stored(*args)
        assert status == 2
        assert problem in text

    @pytest.mark.usefixtures("litellm_at_hand")
    def test_a_model_is_asked_and_a_budget_stops_it(self, stored, monkeypatch):
        asked = []

        def answer(body):
            asked.append(body)
            return json.dumps(FAULT)

        with ModelServer(answer) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("OPENAI_API_KEY", "k")
            status, text = stored("--judge-llm", "openai/gpt-4.1", "--limit", "1")
            assert status == 0, text
            assert asked[0]["response_format"]["json_schema"]["name"] == "review"
            status, text = stored("--judge-llm", "openai/gpt-4.1", "--budget", "0")
        assert status == 1
        assert "stopped: the budget of $0 is spent ($0.0000)" in text
        assert len(asked) == 1

    def test_merged_runs_keep_their_reviews(self, stored, capsys, project):
        stored("--judge", "reviewers.py:review")
        run = str(next(project.path.glob(".tau/runs/*")))
        assert main(["merge", run, "-o", "merged"]) == 0
        capsys.readouterr()
        assert main(["export", "merged", "--format", "csv"]) == 0
        rows = csv.DictReader(capsys.readouterr().out.splitlines())
        assert [row["review_status"] for row in rows].count("done") == 2

    @pytest.mark.parametrize("shards", [1, 2])
    def test_those_of_a_run_in_a_store_are_there(self, mixed, capsys, project, shards):
        pytest.importorskip("fsspec")
        url = f"memory://reviewed-{shards}/runs"
        for shard in range(1, shards + 1):
            name = ("--tau-run-name", "night", "--tau-shard", f"{shard}/{shards}")
            mixed("--tau-results", url, *(name if shards > 1 else ()))
        capsys.readouterr()
        run = f"{url}/night" if shards > 1 else url
        assert main(["review", run, "--judge", "reviewers.py:review", "--limit", "1"]) == 0
        out = capsys.readouterr().out
        assert "1 new review" in out
        assert f"stored in {url}/" in out.replace("\n  ", " ")
        assert main(["review", run, "--judge", "reviewers.py:review"]) == 0
        out = capsys.readouterr().out
        assert "1 new review," in out
        assert "1 reviewed before" in out
        assert main(["merge", run, "-o", "merged"]) == 0
        for each in (run, "merged"):
            capsys.readouterr()
            assert main(["export", each, "--format", "csv"]) == 0
            rows = csv.DictReader(capsys.readouterr().out.splitlines())
            assert [row["review_status"] for row in rows].count("done") == 2

    def test_what_a_store_has_not_taken_is_kept(self, mixed, capsys, project, monkeypatch):
        folder, sent = project.path / "shared", []
        mixed("--tau-results", folder.as_uri(), "--tau-run-name", "night")
        capsys.readouterr()

        def write(store, name, content):
            sent.append(content)
            if len(content) >= least:
                raise StoreError("the store is full")

        least = 0
        monkeypatch.setattr(FolderStore, "write", write)
        assert main(["review", folder.as_uri(), "--judge", "reviewers.py:review"]) == 2
        assert "reviews cannot be stored next to file://" in capsys.readouterr().err
        assert sent == [b""]  # before anything was paid for
        least = 1
        assert main(["review", folder.as_uri(), "--judge", "reviewers.py:review"]) == 2
        problem = " ".join(capsys.readouterr().err.split())
        kept = Path(problem.partition("the store is full; what was found is in ")[2])
        assert kept.read_bytes() == sent[-1]
        assert sent[-1].count(b"\n") == 2
