"""--tau-shard: every trial is in exactly one shard, with any other option that selects, shuffles or distributes trials."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_tau.cli import main
from pytest_tau.plugin.collect.part import Shard
from pytest_tau.run_settings import types

MISSING = "missing: 2 of 6 trials: mock/t.tau.json::two[trial-1], mock/t.tau.json::three[trial-0]"
OWN_TESTS = """
import pytest

@pytest.mark.tau(domain="mock", tasks="create*", trials=2)
def test_own(tau_simulation):
    pass

def test_plain():
    pass

class TestMore:
    @pytest.mark.parametrize("number", [1, 2])
    def test_number(self, number):
        pass
"""
PLAIN = ["test_own.py::test_plain", "test_own.py::TestMore::test_number[1]", "test_own.py::TestMore::test_number[2]"]


@pytest.fixture
def parts(project):
    """The ids of each of so many parts, and of the whole."""

    def collect(of, *args):
        whole = project.collected(*args)
        return [project.collected(*args, "--tau-shard", f"{number}/{of}") for number in range(1, of + 1)], whole

    return collect


def assert_parts(found, whole):
    """Each is in exactly one part, in the order of the whole; parts are equal but for one."""
    assert sorted(node for part in found for node in part) == sorted(whole)
    for part in found:
        assert part == [node for node in whole if node in part]
    sizes = [len(part) for part in found]
    assert max(sizes) - min(sizes) <= 1


class TestSplit:
    """What is in which part."""

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("of", [1, 2, 3, 7, 48])
    def test_each_trial_is_in_exactly_one_part(self, parts, of):
        found, whole = parts(of, "--tau-domain", "mock", "--tau-trials", "3")
        assert len(whole) == 48
        assert_parts(found, whole)

    def test_trials_of_a_task_are_spread(self, parts):
        found, _ = parts(4, "--tau-domain", "mock", "--tau-task", "create-task", "--tau-trials", "4")
        assert sorted(map(len, found)) == [1, 1, 1, 1]

    @pytest.mark.parametrize("args", [["-k", "create or reopen"], ["-k", "trial-1"], ["--tau-num-tasks", "5"]])
    def test_what_is_chosen_before_is_split(self, parts, args):
        found, whole = parts(2, "--tau-domain", "mock", "--tau-trials", "2", *args)
        assert 0 < len(whole) < 32
        assert_parts(found, whole)

    def test_the_order_of_items_does_not_matter(self, project, parts):
        args = ("--tau-domain", "mock")
        before, _ = parts(3, *args)
        project.write("conftest.py", "def pytest_collection_modifyitems(items):\n    items.reverse()\n")
        after, whole = parts(3, *args)
        assert [list(reversed(part)) for part in after] == before
        assert_parts(after, whole)

    def test_task_files_and_marked_tests_are_split_together(self, project, parts, a_task):
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two"), a_task("three")])
        project.write("test_own.py", OWN_TESTS)
        found, whole = parts(2)
        trials = [[node for node in part if node not in PLAIN] for part in found]
        assert_parts(trials, [node for node in whole if node not in PLAIN])
        assert sum(map(len, trials)) == 7

    @pytest.mark.exhaustive
    def test_tests_that_are_no_trials_are_in_the_first(self, project, parts):
        project.write("test_own.py", OWN_TESTS)
        first, second, third = parts(3)[0]
        assert [node for node in first if node in PLAIN] == PLAIN
        assert not set(PLAIN) & {*second, *third}

    def test_the_same_id_twice_is_two_trials(self):
        ids = ["b", "a", "a"]
        found = [Shard(number, 2).positions(ids) for number in (1, 2)]
        assert found == [{1, 0}, {2}]

    def test_the_ini_has_a_twin_that_the_command_line_beats(self, project):
        project.ini("tau_domain = mock", "tau_shard = 1/16")
        assert project.collected() == ["mock::complete-task[trial-0]"]
        assert len(project.collected("--tau-shard", "1/2")) == 8


class TestReports:
    """The lines of the summary, and the exit status."""

    def test_what_is_in_other_parts_is_deselected(self, project):
        run = project.run("--tau-domain", "mock", "--tau-shard", "2/3")
        run.outcomes(passed=5, deselected=11)
        assert run.ret == pytest.ExitCode.OK
        assert run.text.count("tau: shard") == 2
        run.line("tau: shard 2/3: 5 of 16 trials")
        run.line("tau: mock: 5 tasks, 5 trials; 5 passed; pass^1 1.000")

    def test_where_the_other_tests_are(self, project):
        project.write("test_own.py", OWN_TESTS)
        run = project.run("--tau-shard", "1/2")
        run.outcomes(passed=5, deselected=2)
        run.line("tau: shard 1/2: 2 of 4 trials; 3 other tests in shard 1/2")
        run = project.run("--tau-shard", "2/2")
        run.outcomes(passed=2, deselected=5)
        run.line("tau: shard 2/2: 2 of 4 trials; 3 other tests in shard 1/2")

    @pytest.mark.parametrize("workers", [[], ["-n", "2"]])
    def test_a_part_without_a_trial_is_no_failure(self, project, workers):
        args = ["--tau-domain", "mock", "--tau-num-tasks", "2", *workers]
        assert project.run(*args, "--tau-shard", "2/3").ret == pytest.ExitCode.OK
        run = project.run(*args, "--tau-shard", "3/3")
        assert run.ret == pytest.ExitCode.OK
        run.line("tau: shard 3/3: none of 2 trials")
        run.lacks("no simulation was run")

    def test_where_nothing_is_chosen_no_part_is_a_success(self, project):
        project.write("test_plain.py", "def test_plain(): pass")
        for shard in ("1/2", "2/2"):
            run = project.run("test_plain.py", "--tau-shard", shard)
            assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
            run.line(f"tau: shard {shard}: 0 of 0 trials; 1 other test in shard 1/2")
            run.line("tau: no simulation was run")

    def test_a_failing_trial_fails_only_its_part(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a-good", criteria={"actions": []}), a_task("b-bad")])
        assert project.run("--tau-agent", "noop", "--tau-shard", "1/2").ret == pytest.ExitCode.OK
        run = project.run("--tau-agent", "noop", "--tau-shard", "2/2")
        run.outcomes(failed=1, deselected=1)
        run.line("again: pytest 'mock/t.tau.json::b-bad[trial-0]'")
        run.lacks("again:", "--tau-shard")

    def test_dry_run_estimates_the_shard(self, project):
        run = project.run("--tau-domain", "mock", "--tau-shard", "1/3", "--tau-dry-run")
        run.line("tau: dry run: 6 tasks, 6 trials; nothing was run")
        run.line("tau: shard 1/3: 6 of 16 trials")

    def test_nothing_is_reported_without_it(self, project):
        project.run("--tau-domain", "mock").lacks("shard")


class TestBadValues:
    """Reported before anything runs."""

    @pytest.mark.parametrize("value", ["2", "0/4", "5/4", "1/0", "a/b", "1/4/4", "-1/4", "1 / 4", "٢/٤", "1.0/2", ""])
    def test_they_are_refused(self, value):
        expected = f"expected auto, or I/N with I from 1 to N, such as 2/4, got {value!r}"
        with pytest.raises(ValueError, match=re.escape(expected)):
            types.shard(value)

    def test_they_are_usage_errors(self, project):
        project.run("--tau-domain", "mock", "--tau-shard=").usage_error("--tau-shard: expected auto, or I/N", "got ''")
        project.write("test_plain.py", "def test_plain(): pass")
        project.ini("tau_shard = 3/2")
        project.run().usage_error("tau_shard: expected auto, or I/N", "got '3/2'")

    @pytest.mark.parametrize("option", ["--lf", "--sw", "--sw-skip", "--sw-reset"])
    def test_parts_of_what_failed_here_are_not_parts_of_one_whole(self, project, option):
        run = project.run("--tau-domain", "mock", "--tau-shard", "1/2", option)
        run.usage_error(f"--tau-shard and {option}: expected one of them")

    def test_failed_first_only_orders(self, project):
        args = ("--tau-domain", "mock", "--tau-shard", "1/2")
        project.run(*args, "--tau-agent", "noop", "-x").outcomes(failed=1, deselected=8)
        project.run(*args, "--ff").outcomes(passed=8, deselected=8)


def test_workers_split_alike(project):
    args = ["--tau-domain", "mock", "--tau-trials", "2", "-v"]
    ran = []
    for number in (1, 2):
        run = project.run(*args, "--tau-shard", f"{number}/2", "-n", "2")
        run.outcomes(passed=16)
        run.line(f"tau: shard {number}/2: 16 of 32 trials")
        ran += [line.split()[-1] for line in run.text.splitlines() if " PASSED mock::" in line]
    assert sorted(ran) == sorted(project.collected(*args[:-1]))


def test_runs_of_all_parts_merge_to_the_run_of_the_whole(models, project, a_task, capsys, monkeypatch):
    losing = a_task("three", user_scenario={"instructions": "Lose the list."})
    project.tasks("mock/t.tau.json", [a_task("one"), a_task("two"), losing])
    models.script("""
        def answer(role, request):
            losing = "Lose" in json.dumps(request.messages) and "Done" not in request.messages[-1]["content"]
            return ("Lose it." if role == "user" else "Done.") if losing else reference(role, request)
    """)
    args = ["--tau-trials", "2"]
    whole = models.run(*args)
    for number in (1, 2, 3):
        models.run(*args, "--tau-shard", f"{number}/3", "--tau-results", "runs").line("tau: simulations stored in runs")
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    assert main(["merge", "runs", "-o", "merged"]) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[0] == "mock: 3 tasks, 6 trials; 4 passed, 2 failed; pass^1 0.667 pass^2 0.667"
    assert output.splitlines()[-1] == "merged/simulations.jsonl: 6 simulations of 3 files"
    for line in output.splitlines()[:-1]:
        whole.line(f"tau: {line}")
    assert output in (Path(__file__).parents[2] / "docs/machines.md").read_text(encoding="utf-8")
    info = json.loads((project.path / "merged" / "run.json").read_text(encoding="utf-8"))
    assert info["planned"] == {"mock": {"one": 2, "two": 2, "three": 2}}
    assert sorted(info["hashes"]["tasks"]["mock"]) == ["one", "three", "two"]
    assert "shard" not in info["settings"]
    assert (info["excluded"], info["finished"] is not None) == ({}, True)
    # Without a part, it is said what is missing, and no comparison is decided.
    (lost,) = [each for each in project.path.glob("runs/*") if "3/3" in (each / "run.json").read_text(encoding="utf-8")]
    lost.rename(project.path / "lost")
    assert main(["merge", "runs", "-o", "part"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == MISSING
    info = json.loads((project.path / "part" / "run.json").read_text(encoding="utf-8"))
    assert info["excluded"] == {"in other shards": 2}
    gate = ["--gate", "pass^1>=0.1", "--gate", "errors<=0.5"]
    assert main(["merge", "runs", "--allow-missing", *gate]) == 1
    assert capsys.readouterr().out.count("not decided, trials are missing") == 2
    assert main(["merge", "runs", "-o", "allowed", "--allow-missing"]) == 0
    assert main(["compare", "merged", "part", "--fail-on", "regression"]) == 1
    assert "not decided: part is not complete: 2 trials of other shards missing" in capsys.readouterr().out
    # The parts that were joined are a part themselves.
    assert main(["merge", "part", "lost", "-o", "again"]) == 0
    info = json.loads((project.path / "again" / "run.json").read_text(encoding="utf-8"))
    assert info["planned"] == {"mock": {"one": 2, "two": 2, "three": 2}}
    assert ("shard" in info["settings"], info["excluded"]) == (False, {})
