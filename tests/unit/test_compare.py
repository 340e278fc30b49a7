"""Comparison of two runs: the test, the interval and the detectable loss; ``tau compare``, ``tau bless``."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from math import comb
from pathlib import Path

import pytest
from trial_records import trial_record, write_records

from pytest_tau.analysis.compare import Comparison
from pytest_tau.analysis.paired import Pair, Paired, PassCount
from pytest_tau.analysis.run_records import RunRecords
from pytest_tau.cli import main
from pytest_tau.models import Notes, RewardInfo

REPOSITORY = Path(__file__).resolve().parents[2]
KEPT, LOST, GAINED, NEVER = (
    Pair(PassCount(1, one), PassCount(1, two)) for one, two in ((1, 1), (1, 0), (0, 1), (0, 0))
)


def trials(*told, domain="mock", errors=0, **fields):
    """Records from pairs of a task and its trials: ``("a", "pf")``; ``e`` is an error."""
    outcomes = {"p": "passed", "f": "failed", "e": "error"}
    return [
        trial_record(task, trial, outcomes[one], domain=domain, **fields)
        for task, letters in told
        for trial, one in enumerate(letters)
    ]


class TestProbability:
    """The sign-flip test."""

    @pytest.mark.parametrize(("lost", "gained"), [(0, 1), (5, 0), (9, 2), (3, 3), (40, 25)])
    def test_against_the_binomial_distribution(self, lost, gained):
        number, most = lost + gained, max(lost, gained)
        tail = sum(comb(number, each) for each in range(most + 1, number + 1))
        expected = min(1.0, (2 * tail + comb(number, most)) / 2**number)
        assert Paired([LOST] * lost + [GAINED] * gained + [KEPT] * 4).p == pytest.approx(expected)

    def test_without_a_difference_it_is_1(self):
        assert Paired([KEPT, NEVER]).p == 1
        assert Paired([LOST, GAINED]).p == 1


class TestInterval:
    """By inversion of the test."""

    def test_five_tasks_have_no_interval(self):
        assert Paired([LOST] * 5).interval is None
        assert Paired([LOST] * 6).interval is not None


class TestSmallestLoss:
    """What so many tasks and trials could have shown."""

    def test_of_single_trials_it_is_what_the_sign_test_needs(self):
        """Of 40 tasks that all pass, with a chance of 0.8 at least 5 must fail for a mid-p below 0.05."""
        found = Paired([KEPT] * 40).smallest_loss
        assert found is not None
        enough = 1 - sum(comb(40, each) * found**each * (1 - found) ** (40 - each) for each in range(5))
        assert enough == pytest.approx(0.8, abs=0.1)

    @pytest.mark.exhaustive
    def test_it_is_found_four_times_out_of_five_and_alarms_are_as_false_as_they_say(self, tmp_path):
        """The benchmark, with little of everything: 200 comparisons of a kind, so that ± 0.03 is chance."""
        file = tmp_path / "figures.json"
        command = [sys.executable, "-m", "benchmarks", "--quick", "--only", "comparison-error", "--json", str(file)]
        subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True)
        figures = json.loads(file.read_text(encoding="utf-8"))["benchmarks"]["comparison-error"]["figures"]
        shares = {figure["name"].rpartition(" ± ")[0]: figure for figure in figures}
        assert len(shares) == 32
        for name, figure in shares.items():
            share = sum(figure["runs"]) / len(figure["runs"])
            if "false alarms" in name:
                assert share <= 0.09, name
            elif "covered" in name:
                assert share >= 0.88, name
            elif "x1,10" not in name:
                assert 0.7 <= share <= 0.92, name


class TestComparison:
    """Which trials are compared, and what is reported."""

    def compare(self, before, after, then=None, now=None):
        return Comparison(RunRecords("then", before, then or {}), RunRecords("now", after, now or {}))

    def test_tasks_are_compared_and_excluded_ones_are_counted(self):
        before = trials(("a", "pp"), ("b", "pf"), ("c", "p"), ("gone", "p"), ("dead", "ee"))
        after = trials(("new", "p"), ("a", "pe"), ("b", "pppp"), ("c", "f"), ("dead", "p"), ("also", "f"))
        found = self.compare(before, after)
        assert [key.task_id for key in found.pairs] == ["a", "b", "c"]
        assert [key.task_id for key, _ in found.worse] == ["c"]
        assert [key.task_id for key, _ in found.better] == ["b"]
        lines = found.lines()
        assert lines[0] == "now compared with then: 3 tasks in both, trials per task: 1 to 2 and 1 to 4"
        assert lines[1] == (
            "excluded: 1 task only in then, 2 tasks only in now, 1 task with only errors in one of the runs, "
            "2 errors before and 1 after"
        )
        assert lines[2].startswith("pass^1 0.833 -> 0.667: -0.167 (no interval with fewer than 6 tasks, p = ")
        assert "worse on 1 task: c (1 of 1 -> 0 of 1)" in lines
        assert "better on 1 task: b (1 of 2 -> 4 of 4)" in lines

    def test_a_task_of_several_variants_is_counted_once(self):
        """Both variants of one task have only errors in the earlier run."""
        tests = {f"t::t[{name}-trial-0]": name for name in ("one", "two")}
        before, after = (
            [each for test in tests for each in trials(("a", "p"), ("b", letter), test=test)] for letter in "ep"
        )
        assert self.compare(before, after).lines()[1].startswith("excluded: 1 task with only errors")

    def test_a_significant_loss_is_a_regression_and_a_gain_is_not(self):
        good, bad = (trials(*((str(number), letter) for number in range(12))) for letter in "pf")
        for before, after, told in ((good, bad, "a significant loss"), (bad, good, "a significant gain")):
            found = self.compare(before, after)
            assert found.significant
            assert found.regression is (before is good)
            assert told in found.lines()[2]
        same = self.compare(good, good)
        assert not same.significant
        assert same.lines()[2].startswith("no significant difference; minimum detectable loss at 80 % power: 0.")
        assert "every task passes as often as before" in same.lines()

    def test_many_tasks_are_named_up_to_ten(self):
        good, bad = (trials(*((str(number), letter) for number in range(12))) for letter in "pf")
        assert "worse on 12 tasks: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more" in self.compare(good, bad).lines()

    def test_ids_do_not_steer_a_terminal_and_have_a_length(self):
        ids = ("red\x1b[31m\nnext", "x" * 300)
        found = self.compare(trials(*((each, "p") for each in ids)), trials(*((each, "f") for each in ids)))
        assert f"worse on 2 tasks: red\\x1b[31m next, {'x' * 199}…" in found.lines()

    def test_what_was_found_is_not_called_too_little_to_be_found(self):
        before = trials(*((str(number), "pp" if number < 6 else "ff") for number in range(12)))
        after = trials(*((str(number), "ff") for number in range(12)))
        assert "a significant loss" in self.compare(before, after).lines()
        few = trials(*((str(number), "pf") for number in range(5)))
        expected = "no significant difference; too few tasks to detect any loss at 80 % power"
        assert self.compare(few, few).lines()[2].startswith(expected)

    @pytest.mark.parametrize(("passing", "decided"), [(0, False), (4, False), (5, True)])
    def test_without_enough_tasks_that_passed_nothing_is_decided(self, passing, decided):
        before = trials(*((str(number), "pp" if number < passing else "ff") for number in range(12)))
        found = self.compare(before, before)
        why = f"{passing} tasks passed before, and a loss on fewer than 5 is never significant"
        assert found.undecided == ([] if decided else [why])
        assert (f"not decided: {why}" in found.lines()) is not decided
        assert "no significant difference" not in "".join(found.lines()) or decided

    def test_equal_ids_of_different_domains_are_different_tasks(self):
        before = trials(("0", "p"), domain="one") + trials(("0", "f"), domain="two")
        after = trials(("0", "f"), domain="one") + trials(("0", "f"), domain="two")
        found = self.compare(before, after)
        assert len(found.pairs) == 2
        assert any(line.startswith("  one 1.000 -> 0.000") for line in found.lines())
        assert any(line.startswith("  two 0.000 -> 0.000") for line in found.lines())
        assert "worse on 1 task: one:0" in found.lines()

    def test_a_run_that_does_not_know_its_domain_has_that_of_the_other(self):
        found = self.compare(trials(("0", "p"), domain=""), trials(("0", "p"), domain="airline"))
        assert [key.domain for key in found.pairs] == ["airline"]

    def test_runs_without_common_tasks_are_reported(self):
        found = self.compare(trials(("a", "p")), trials(("b", "p")))
        assert found.variants == {}
        assert not found.regression
        assert "nothing can be compared" in found.lines()[-1]

    def test_changed_settings_are_reported(self):
        def hashes(grader="g", policy="p", task="t"):
            domains = {"mock": {"policy": policy, "tools": "u", "database": "d"}}
            return {"hashes": {"grader": grader, "domains": domains, "tasks": {"mock": {"a": task, "other": task}}}}

        def warnings(**after):
            return self.compare(trials(("a", "p")), trials(("a", "p")), hashes(), hashes(**after)).warnings()

        assert warnings() == []
        assert warnings(grader="h", policy="q", task="s") == [
            "not the same in both runs: the rules of grading, policy of mock, 1 task"
        ]
        found = self.compare(trials(("a", "p")), trials(("a", "p")), hashes())
        assert found.warnings() == [
            "it is unknown whether tasks, policy, tools, database and grading are the same: not recorded in now"
        ]


@pytest.fixture
def tau(tmp_path, monkeypatch, capsys):
    """Runs the command in an empty folder: exit status, and what was printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*args):
        try:
            status = main(args)
        except SystemExit as end:  # argparse
            status = end.code
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return run


@pytest.fixture
def runs(tmp_path):
    """Two τ²-bench result files: of 12 tasks, the good agent passes all and the bad one none; and one in between."""

    def write(name, passing):
        simulations = [
            {
                "id": f"s{number}",
                "task_id": str(number),
                "trial": 0,
                "termination_reason": "user_stop",
                "reward_info": {"reward": float(number < passing)},
                "messages": [{"role": "assistant", "content": "Hello."}],
                "duration": 1.0,
            }
            for number in range(12)
        ]
        info = {"environment_info": {"domain_name": "mock"}, "agent_info": {"llm_args": {"api_key": "sk-secret"}}}
        tasks = [{"id": str(number), "user_scenario": {"instructions": "Do it."}} for number in range(12)]
        text = json.dumps({"info": info, "tasks": tasks, "simulations": simulations})
        with gzip.open(tmp_path / f"{name}.json.gz", "wt", encoding="utf-8") as file:
            file.write(text)
        return f"{name}.json.gz"

    return [write("good", 12), write("bad", 0), write("fair", 11)]


class TestCompareCommand:
    """``tau compare``."""

    def test_it_prints_the_comparison(self, tau, runs):
        status, out = tau("compare", *runs[:2])
        assert status == 0
        assert "bad compared with good: 12 tasks in both, trials per task: 1" in out
        assert "pass^1 1.000 -> 0.000: -1.000 (95 % interval" in out
        assert "a significant loss" in out
        assert (
            "warning: it is unknown whether policy, tools, database and grading are the same: not recorded in good, bad"
        ) in out

    def test_what_files_of_the_reference_have_is_compared(self, tau, runs, tmp_path):
        def changed(
            policy, user, instructions="Do it.", prompt="Be a user.", steps=200, implementation="user_simulator"
        ):
            document = json.loads(gzip.decompress((tmp_path / runs[0]).read_bytes()))
            document["info"]["environment_info"]["policy"] = policy
            sides = {"implementation": implementation, "llm": user, "global_simulation_guidelines": prompt}
            document["info"] |= {"user_info": sides, "max_steps": steps}
            document["tasks"][3]["user_scenario"]["instructions"] = instructions
            return document

        def warnings(document):
            (tmp_path / "b.json").write_text(json.dumps(document))
            return [line for line in tau("compare", "a.json", "b.json")[1].splitlines() if line.startswith("warning")]

        (tmp_path / "a.json").write_text(json.dumps(changed("Be kind.", "m")))
        unknown = "warning: it is unknown whether tools, database and grading are the same: not recorded in a, b"
        assert warnings(changed("Be kind.", "m")) == [unknown]
        assert warnings(changed("Be quick.", "n", "Do that.", "Be another.", 100)) == [
            "warning: not the same in both runs: the user's prompt, policy of mock, 1 task, the limit of steps (200 and 100), "
            "the model of the user (m and n)",
            unknown,
        ]
        # Without a user there is no model of it, whatever the header says.
        assert warnings(changed("Be kind.", "n", implementation="dummy_user")) == [
            "warning: not the same in both runs: the user (llm and dummy)",
            unknown,
        ]
        tau("bless", "a.json")
        (tmp_path / "b.json").write_text(json.dumps(changed("Be quick.", "m")))
        assert "not the same in both runs: policy of mock\n" in tau("compare", "baseline", "b.json")[1]
        tau("export", "--format", "tau2", "-o", "copy.json", "a.json")
        assert '"policy": "Be kind."' in (tmp_path / "copy.json").read_text()
        assert "hashes" not in (tmp_path / "copy.json").read_text()

    def test_fail_on_regression_sets_the_exit_status(self, tau, runs):
        good, bad, fair = runs
        assert tau("compare", good, bad, "--fail-on", "regression")[0] == 1
        assert tau("compare", bad, good, "--fail-on", "regression")[0] == 0
        assert tau("compare", good, fair, "--fail-on", "regression")[0] == 0

    def test_the_later_run_is_the_latest_unless_another_is_named(self, tau, runs, tmp_path):
        assert "no run is stored" in tau("compare", runs[0])[1]
        latest = tmp_path / ".tau" / "runs" / "20260101-000000-1-mock"
        write_records(latest, trials(("other", "p")))
        assert f"{latest.name} compared with good" in tau("compare", runs[0])[1]

    def test_only_different_runs_of_one_name_are_called_by_their_paths(self, tau, runs, tmp_path):
        assert "good compared with good: " in tau("compare", runs[0], runs[0])[1]
        other = tmp_path / "other" / "good"
        write_records(other, trials(("other", "p")))
        out = "".join(tau("compare", runs[0], "other/good")[1].split())
        assert f"{other} compared with ".replace(" ", "") in out
        assert "comparedwithgood:" not in out

    def test_a_baseline_that_is_not_there_says_how_to_make_one(self, tau, runs):
        status, out = tau("compare", "baseline", runs[0])
        assert status == 2
        assert "tau bless RUN" in out

    def test_runs_with_nothing_in_common_are_no_success(self, tau, runs, tmp_path):
        write_records(tmp_path / "other", trials(("other", "p")))
        assert tau("compare", runs[0], "other")[0] == 0
        assert tau("compare", runs[0], "other", "--fail-on", "regression")[0] == 1

    def test_usage_errors_are_reported(self, tau, runs):
        status, out = tau("compare", runs[0], "nowhere")
        assert status == 2
        assert "unknown run 'nowhere'" in out
        assert tau("compare", runs[0], runs[1], "--fail-on", "anything")[0] == 2


class TestBlessCommand:
    """``tau bless``."""

    def test_a_blessed_run_is_the_baseline(self, tau, runs, tmp_path):
        status, out = tau("bless", runs[0])
        assert status == 0
        assert ".tau/baseline: the baseline is good, 12 trials of 12 tasks, pass^1 1.000\n" in out
        assert (tmp_path / ".tau" / ".gitignore").read_text() == "*\n"
        status, out = tau("compare", "baseline", runs[1])
        assert "bad compared with baseline (good): 12 tasks in both" in out
        assert "1.000 -> 0.000" in out

    def test_only_the_command_changes_it(self, tau, runs):
        tau("bless", runs[0])
        tau("compare", runs[1], runs[2])
        assert "compared with baseline (good)" in tau("compare", "baseline", runs[1])[1]
        tau("bless", runs[1], "--force")
        assert "compared with baseline (bad)" in tau("compare", "baseline", runs[0])[1]

    def test_a_lower_rate_is_not_the_baseline_unless_it_is_forced(self, tau, runs, tmp_path):
        tau("bless", runs[0])
        before = (tmp_path / ".tau/baseline/records.jsonl").read_text()
        status, out = tau("bless", runs[1])
        assert status == 2
        assert "bad is worse than baseline (good): pass^1 1.000 -> 0.000 on 12 tasks of both; --force makes" in out
        assert (tmp_path / ".tau/baseline/records.jsonl").read_text() == before
        status, out = tau("bless", runs[1], "--force")
        assert (status, "the baseline is bad, 12 trials of 12 tasks, pass^1 0.000" in out) == (0, True)
        assert tau("bless", runs[0])[0] == 0

    def test_a_baseline_that_cannot_be_read_is_replaced_by_force(self, tau, runs, tmp_path):
        (tmp_path / ".tau/baseline").mkdir(parents=True)
        (tmp_path / ".tau/baseline/records.jsonl").write_text("{}\n")
        status, out = tau("bless", runs[0])
        assert status == 2
        assert "; --force replaces the baseline" in out
        assert tau("bless", runs[0], "--force")[0] == 0

    def test_it_can_be_kept_where_it_is_committed(self, tau, runs, tmp_path):
        status, out = tau("bless", runs[0], "-o", "tests/agent")
        assert status == 0
        assert "pytest --tau-baseline tests/agent" in out
        assert sorted(file.name for file in (tmp_path / "tests" / "agent").iterdir()) == ["records.jsonl", "run.json"]
        assert not (tmp_path / ".tau").exists()
        assert "bad compared with agent (good)" in tau("compare", "tests/agent", runs[1])[1]
        # In the same order whatever the run's was, without keys.
        first = (tmp_path / "tests" / "agent" / "records.jsonl").read_text()
        assert [json.loads(line)["task_id"] for line in first.splitlines()][:3] == ["0", "1", "10"]
        assert "secret" not in (tmp_path / "tests" / "agent" / "run.json").read_text()

    def test_the_conversations_of_a_run_are_not_overwritten(self, tau, runs, tmp_path):
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "simulations.jsonl").write_text("{}\n")
        status, out = tau("bless", runs[0], "-o", "run")
        assert status == 2
        assert "contains the conversations of a run" in out

    def test_unreadable_files_are_reported(self, tau, runs, tmp_path):
        whole = gzip.decompress((tmp_path / runs[0]).read_bytes())
        (tmp_path / "part.json").write_bytes(whole[: whole.rindex(b"{")])
        status, out = tau("bless", "part.json")
        assert status == 0
        assert "excluded: part.json: entry 11" in out
        assert "the baseline is part, 11 trials" in out
        assert "excluded" not in tau("bless", runs[0])[1]

    def test_a_run_whose_sides_were_given_the_reference_actions_says_so(self, tau, tmp_path):
        write_records(tmp_path / "run", trials(("a", "pp"), ("b", "p"), info=Notes(saw_reference=("agent", "user"))))
        manifest = {"format": 1, "settings": {"agent": "gold"}}
        (tmp_path / "run" / "run.json").write_text(json.dumps(manifest))
        out = tau("bless", "run")[1].splitlines()
        assert out[0] == ".tau/baseline: the baseline is run, agent gold, 3 trials of 2 tasks, pass^1 1.000"
        assert out[1] == "given the reference actions: agent, user"

    def test_interrupted_run_is_reported(self, tau, tmp_path):
        write_records(tmp_path / "run", trials(("a", "p"), ("b", "p")))
        for planned, told in (({"a": 1, "b": 2}, True), ({"a": 1, "b": 1}, False)):
            (tmp_path / "run" / "run.json").write_text(json.dumps({"format": 1, "planned": {"mock": planned}}))
            status, out = tau("bless", "run", "-o", "kept")
            assert status == 0
            assert ("1 of 3 planned trials is missing" in out) is told

    def test_without_any_run_there_is_nothing_to_bless(self, tau):
        status, out = tau("bless")
        assert status == 2
        assert "no run is stored" in out


class TestLosses:
    """A run that has lost more of its trials than the other is not compared."""

    def compare(self, before, after):
        return Comparison(RunRecords("then", before, {}), RunRecords("now", after, {}))

    def test_losses_that_chance_does_not_explain_leave_it_undecided(self):
        before = trials(*((str(number), "pf") for number in range(20)))
        after = trials(*((str(number), "pe" if number < 12 else "pp") for number in range(20)))
        found = self.compare(before, after)
        why = (
            "0 of 40 trials before and 12 of 40 trials after were lost to errors or excluded, which chance does not "
            "explain (p < 0.001); trials that fail may be lost more often than others"
        )
        assert found.variants[""].p < 0.05
        assert found.undecided == [why]
        assert not found.regression
        assert f"not decided: {why}" in found.lines()
        assert found.conclusions() == [f"not decided against then: {why} (pass^1 0.500 -> 1.000)"]

    def test_a_loss_of_passes_is_no_regression_then_and_fails_as_undecided(self):
        before = trials(*((str(number), "pp") for number in range(20)))
        after = trials(*((str(number), "fe") for number in range(20)))
        found = self.compare(before, after)
        assert not found.regression
        assert len(found.undecided) == 1

    def test_few_losses_and_as_many_in_both_are_chance(self):
        good, bad = (trials(*((str(number), letters) for number in range(20))) for letters in ("ppe", "ffe"))
        assert self.compare(good, bad).regression
        some = trials(*((str(number), "pe" if number < 3 else "pp") for number in range(20)))
        assert self.compare(trials(*((str(number), "pp") for number in range(20))), some).undecided == []

    def test_tasks_without_any_verdict_and_excluded_trials_are_losses(self):
        before = trials(*((str(number), "pp") for number in range(20)))
        whole = trials(*((str(number), "ee" if number < 8 else "pp") for number in range(20)))
        assert "16 of 40 trials after" in self.compare(before, whole).undecided[0]
        excluded = trials(*((str(number), "pp") for number in range(8)), excluded="x")
        excluded += trials(*((str(number), "pp") for number in range(4, 20)))
        assert "16 of 48 trials after" in self.compare(before, excluded).undecided[0]

    def test_losses_of_a_cluster_are_one(self):
        before = trials(*((str(number), "pp") for number in range(20)))
        after = trials(*((str(number), "pe" if number < 10 else "pp") for number in range(20)))
        labelled = [each.model_copy(update={"cluster": "a" if int(each.task_id) < 10 else ""}) for each in after]
        assert self.compare(before, after).undecided
        assert self.compare(before, labelled).undecided == []


class TestClusters:
    """Tasks that say so are compared together."""

    def compare(self, before, after):
        return Comparison(RunRecords("then", before, {}), RunRecords("now", after, {}))

    def test_the_labels_of_either_run_count(self):
        told = [(str(number), "p") for number in range(12)], [(str(number), "f") for number in range(12)]
        good, bad = (trials(*each) for each in told)
        labelled = [
            [each.model_copy(update={"cluster": f"c{int(each.task_id) % 6}"}) for each in side] for side in (good, bad)
        ]
        for before, after in ((labelled[0], bad), (good, labelled[1]), labelled):
            found = self.compare(before, after)
            assert found.variants[""].independent == 6
            lines = found.lines()
            assert lines[0] == "now compared with then: 12 tasks in 6 clusters in both, trials per task: 1"
            assert "sign-flip test over clusters of tasks (Fisher 1935)" in lines[-1]

    def test_one_label_in_two_domains_is_two_clusters(self):
        sides = [
            [
                each.model_copy(update={"cluster": "a"})
                for name in ("one", "two")
                for each in trials(("0", t), ("1", t), domain=name)
            ]
            for t in "pf"
        ]
        assert self.compare(*sides).variants[""].independent == 2

    def test_too_few_clusters_that_passed_decide_nothing(self):
        good = [
            each.model_copy(update={"cluster": "a"}) for each in trials(*((str(number), "p") for number in range(30)))
        ]
        bad = [each.model_copy(update={"reward_info": RewardInfo(reward=0.0)}) for each in good]
        found = self.compare(good, bad)
        assert found.undecided == ["1 cluster passed before, and a loss on fewer than 5 is never significant"]
        assert "(no interval with fewer than 6 clusters, p = 0.500)" in found.lines()[1]
