"""--tau-dry-run: what would run, how many calls it takes, what it costs; nothing is called."""

from __future__ import annotations

import pytest


@pytest.fixture
def dry(models):
    """A dry run, which has to end well and to call nothing."""

    def run(*args):
        found = models.run("--tau-dry-run", *args)
        assert found.ret == pytest.ExitCode.OK, found.text
        assert models.calls() == []
        assert models.kept() == []
        assert models.cassettes() == []
        for word in ("passed", "failed", "Error"):
            found.lacks(word)
        return found

    return run


def test_counts_tasks_trials_and_the_references_calls(dry, project, a_task):
    project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
    run = dry("--tau-trials", "3")
    run.line("tau: dry run: 2 tasks, 6 trials; nothing was run")
    run.line("tau: dry run: agent fake/agent, user fake/user: at least 24 model calls", "cost unknown: no earlier run")


def test_counts_domains_and_marked_tests(dry, project):
    project.write(
        "test_own.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
        def test_own(tau_simulation):
            pass

        def test_plain():
            pass
        """,
    )
    dry("--tau-domain", "mock", "--tau-split", "small").line("tau: dry run: 3 tasks, 3 trials; nothing was run")
    dry("test_own.py").line("tau: dry run: 1 task, 2 trials; nothing was run")


def test_counts_what_is_selected(dry, project, a_task):
    project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
    dry("-k", "two", "--tau-trials", "2").line("tau: dry run: 1 task, 2 trials; nothing was run")


def test_the_judge_is_one_call_where_there_is_something_to_judge(dry, project, a_task):
    criteria = {"nl_assertions": ["It is short."], "reward_basis": ["NL_ASSERTION"]}
    project.tasks("mock/t.tau.json", [a_task("one"), a_task("two", criteria=criteria)])
    run = dry("--tau-judge-llm", "fake/judge")
    run.line("tau: dry run: agent fake/agent, user fake/user, judge fake/judge: at least 9 model calls")


def test_the_calls_of_a_reviewer(dry, models):
    review = ("--tau-review", "all", "--tau-reviewer-llm", "fake/reviewer")
    run = dry(*review)
    run.line("reviewer fake/reviewer: at least 4 model calls", "without those of the reviewer; cost unknown")
    models.run(*review).outcomes(passed=1)
    models.run("--tau-dry-run", *review).line("reviewer fake/reviewer: about 7 model calls")


def test_after_a_run_it_is_estimated_by_that(models, project, a_task):
    models.script("cost = 1.0")
    project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
    models.run("--tau-task", "one").outcomes(passed=1)
    run = models.run("--tau-dry-run", "--tau-trials", "5")
    run.line("about 40 model calls, about $40.00, by 1 earlier trial of 1 of 2 tasks")
    models.run("--tau-trials", "2").outcomes(passed=4)
    run = models.run("--tau-dry-run")
    run.line("about 8 model calls, about $8.00, by 5 earlier trials of 2 of 2 tasks")


def test_little_is_not_nothing(models):
    models.script("cost = 0.0004")
    models.run().outcomes(passed=1)
    models.run("--tau-dry-run").lacks("about $0.00,")


def test_other_models_are_another_estimate(models):
    models.run().outcomes(passed=1)
    run = models.run("--tau-dry-run", "--tau-agent-llm", "fake/other")
    run.line("tau: dry run: agent fake/other, user fake/user: at least 4 model calls", "no earlier run")


def test_replays_are_no_experience(models):
    models.run("--tau-record", "-p", "no:cacheprovider").outcomes(passed=1)
    models.run("--tau-replay").outcomes(passed=1)
    models.run("--tau-dry-run").line("cost unknown: no earlier run")


def test_unknown_prices_stay_unknown(models):
    models.script("cost = None")
    models.run().outcomes(passed=1)
    models.run("--tau-dry-run").line(
        "about 4 model calls, cost unknown: the prices of some calls are unknown", "by 1 earlier trial"
    )


def test_with_replay_nothing_would_be_called(dry):
    dry("--tau-replay").line("tau: dry run: no model calls", "they are replayed")


def test_what_has_a_cassette_would_not_be_called(models, project, a_task):
    models.run("--tau-record", "-p", "no:cacheprovider").outcomes(passed=1)
    project.tasks("mock/t.tau.json", [a_task(), a_task("other")])
    models.run("--tau-dry-run", "--tau-record").line("at least 4 model calls")


def test_without_models_there_are_no_calls(models, project):
    run = project.run("--tau-dry-run")
    assert run.ret == pytest.ExitCode.OK
    run.line("tau: dry run: 1 task, 1 trial; nothing was run")
    run.line("tau: dry run: no model calls: no model is given")
    project.ini("tau_agent_llm = fake/a", "tau_user_llm = fake/u")
    project.run("--tau-dry-run", "--tau-agent", "gold").line("tau: dry run: no model calls")


def test_with_two_processes(dry):
    run = dry("-n", "2")
    run.line("tau: dry run: 1 task, 1 trial; nothing was run")
    run.line("at least 4 model calls")


def test_keys_and_names_are_not_looked_at(models, project, monkeypatch):
    """Nothing is called, so nothing is needed; also not litellm."""
    (project.path / "conftest.py").unlink()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run = project.run("--tau-dry-run", "--tau-agent-llm", "openai/gpt-4.1", "--tau-user-llm", "openai/gpt-4.1")
    assert run.ret == pytest.ExitCode.OK
    run.line("agent openai/gpt-4.1, user openai/gpt-4.1: at least 4 model calls")


def test_a_mistake_is_still_a_mistake(models, project):
    models.run("--tau-dry-run", "--tau-domain", "mok").usage_error("unknown domain 'mok'")
    project.tasks("mock/t.tau.json", [{"id": "x"}])
    run = models.run("--tau-dry-run")
    assert run.ret not in (pytest.ExitCode.OK, pytest.ExitCode.INTERNAL_ERROR), run.text


def test_an_empty_selection_is_no_success(models):
    assert models.run("--tau-dry-run", "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_in_the_ini(models, project):
    project.ini("tau_dry_run = true")
    models.run().line("tau: dry run: 1 task, 1 trial; nothing was run")
    assert models.calls() == []


def test_what_an_earlier_run_has_would_not_be_called(models):
    models.run("--tau-trials", "2").outcomes(passed=2)
    run = models.run("--tau-dry-run", "--tau-resume", "--tau-trials", "3")
    run.line("tau: dry run: 1 task, 3 trials; nothing was run")
    run.line("tau: dry run: 2 trials would be reused from the earlier run")
    run.line("about 4 model calls")
    run = models.run("--tau-dry-run", "--tau-resume", "--tau-trials", "2")
    run.line("tau: dry run: 2 trials would be reused from the earlier run")
    run.lacks("model calls")
