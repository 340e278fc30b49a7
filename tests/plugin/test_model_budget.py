"""--tau-budget: no model is called once it is spent; trials are reported as not run, and the run is no success."""

from __future__ import annotations

import sys

import pytest

from pytest_tau.testing import ModelServer

#: Otherwise, more trials run than the reported one.
ALONE = "--tau-concurrency=1"


@pytest.fixture
def four(models, project, a_task):
    """Four tasks at $1 each."""
    project.tasks("mock/t.tau.json", [a_task(name) for name in ("one", "two", "three", "four")])
    return models


def test_stops_starting_trials_once_it_is_spent(four):
    run = four.run(ALONE, "--tau-budget", "2", "-rs")
    run.outcomes(passed=2, skipped=2)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("tau: budget: $2")
    run.line("SKIPPED", "not run: the budget of $2 is spent ($2.0000)")
    run.line("tau: 2 trials not run: the budget is spent")
    run.line("tau: mock: 2 tasks, 2 trials; 2 passed")
    assert len(four.calls()) == 8


def test_a_trial_under_way_is_stopped_as_not_run(four):
    run = four.run(ALONE, "--tau-budget", "1.3", "-rs")
    run.outcomes(passed=1, skipped=3)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("SKIPPED", "not run: the budget of $1.3 is spent ($1.5000), which has stopped this trial")
    run.line("tau: 3 trials not run: the budget is spent")
    run.line("tau: mock: 1 task, 1 trial; 1 passed")
    # What the stopped trial has cost is in the sum.
    run.line("tau: models together: 6 calls", "$1.5000")
    assert len(four.calls()) == 6


def test_trials_under_way_at_the_same_time_are_stopped(four):
    run = four.run("--tau-budget", "0.1", "--tau-concurrency=2", "--tau-trials", "5")
    run.outcomes(skipped=20)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    # Each of both has made one call before either cost was known.
    assert len(four.calls()) <= 2


@pytest.mark.parametrize("option", ["--tau-budget", "--tau-budget-per-trial"])
def test_answers_without_a_price_stop_a_run_with_a_budget(four, option):
    four.script("cost = None")
    run = four.run(ALONE, option, "50")
    run.outcomes(skipped=4)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line(
        "tau: 4 trials not run: the budget cannot be kept: model 'fake/agent' has no known price: add to a file of "
        'prices (--tau-prices FILE) the line "fake/agent" = { input = 2.0, output = 8.0 }, in USD per million tokens'
    )
    run.lacks("is spent")
    assert len(four.calls()) == 2
    four.run(ALONE).outcomes(passed=4)


def test_a_price_list_prices_answers_without_a_price(four, project):
    four.script("cost = None")
    prices = "".join(f'"fake/{role}" = {{ input = 125.0, output = 0.0 }}\n' for role in ("agent", "user"))
    project.write("prices.toml", prices)
    run = four.run(ALONE, "--tau-budget", "1", "--tau-prices=prices.toml")
    run.outcomes(passed=2, skipped=2)
    run.lacks("not counted in the budget")


def test_a_call_without_a_price_of_a_model_that_has_one_is_not_counted_and_reported(four):
    four.script(
        """
        class Costs(float):
            calls = 0
        def answer(role, request):
            global cost
            Costs.calls += 1
            cost = 0.25 if Costs.calls <= 2 else None
            return reference(role, request)
        """
    )
    run = four.run(ALONE, "--tau-budget", "50")
    run.line("tau: not counted in the budget:", "of unknown cost")


@pytest.fixture
def stubborn(project):
    """An agent that calls its model nine times for each message, and ignores all errors."""
    project.write(
        "own.py",
        """
        class Agent:
            def __init__(self, model):
                self.model = model

            async def respond(self, message):
                for _ in range(9):
                    try:
                        await self.model.complete([{"role": "user", "content": "What now?"}])
                    except Exception:
                        pass
                return "Done."
        """,
    )
    return "--tau-agent=own.py:Agent"


def test_a_stopped_trial_is_no_failure_if_its_agent_ignores_the_refusal(models, stubborn):
    run = models.run(ALONE, stubborn, "--tau-user=scripted", "--tau-budget", "0.5")
    run.outcomes(skipped=1)
    assert len(models.calls()) == 2


def test_a_stopped_trial_is_run_when_the_run_is_resumed(four):
    four.run(ALONE, "--tau-budget", "1.3").outcomes(passed=1, skipped=3)
    resumed = four.run(ALONE, "--tau-resume")
    resumed.outcomes(passed=4)
    resumed.line("reused", "1 trial of an earlier run")


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_the_calls_of_a_stopped_trial_are_in_the_sum_of_the_resumed_run(four, workers):
    four.run(ALONE, "--tau-budget", "1.3", *workers)
    paid = len(four.calls())
    resumed = four.run(ALONE, "--tau-resume", *workers)
    resumed.outcomes(passed=4)
    total = resumed.line("tau: models together:")
    calls = paid + len(four.calls())
    assert f"models together: {calls} calls" in total
    assert f"; {calls - 16} call" in total and total.endswith("of trials that the budget stopped")
    # Each run that is resumed has the sum of those before it.
    again = four.run(ALONE, "--tau-resume", *workers)
    assert f"models together: {calls} calls" in again.line("tau: models together:")


def test_a_recording_that_goes_on_counts_such_calls_once(four):
    four.run(ALONE, "--tau-budget", "1.3", "--tau-record").outcomes(passed=1, skipped=3)
    resumed = four.run(ALONE, "--tau-record", "--tau-resume")
    resumed.outcomes(passed=4)
    resumed.line("tau: models together: 16 calls")


def test_a_stopped_recording_goes_on_from_the_calls_that_were_paid_for(four):
    four.run(ALONE, "--tau-budget", "1.3", "--tau-record").outcomes(passed=1, skipped=3)
    assert len(four.calls()) == 6
    four.run(ALONE, "--tau-record").outcomes(passed=4)
    assert len(four.calls()) == 12 - 2


def test_the_judge_is_asked_about_a_conversation_that_was_paid_for(four, project, a_task):
    criteria = {"nl_assertions": ["It is short."], "reward_basis": ["NL_ASSERTION"]}
    project.tasks("mock/t.tau.json", [a_task("one", criteria=criteria)])
    run = four.run(ALONE, "--tau-budget", "1", "--tau-judge-llm", "fake/judge")
    run.outcomes(passed=1)


# --tau-budget-per-trial


def test_a_trial_has_a_budget_of_its_own(four):
    run = four.run(ALONE, "--tau-budget-per-trial", "0.6", "--tau-task", "one")
    run.outcomes(errors=1)
    run.line("the budget of the trial, $0.6, is spent ($0.7500)")
    run.line("tau: models together: 3 calls", "$0.7500")
    assert len(four.calls()) == 3
    run.lacks("not run")


def test_a_trial_within_its_budget_has_a_verdict(four):
    four.run(ALONE, "--tau-budget-per-trial", "1").outcomes(passed=4)


def test_the_budget_of_a_trial_counts_although_its_agent_ignores_it(models, stubborn):
    run = models.run(ALONE, stubborn, "--tau-user=scripted", "--tau-budget-per-trial", "0.5")
    run.outcomes(errors=1)
    assert len(models.calls()) == 2
    run.line("the budget of the trial, $0.5, is spent ($0.5000)")


def test_the_budget_of_a_trial_in_two_processes(four):
    run = four.run("--tau-budget-per-trial", "0.6", "-n", "2")
    run.outcomes(errors=4)
    assert len(four.calls()) == 12


def test_replayed_calls_are_not_charged_to_the_budget_of_a_trial(four):
    four.run(ALONE, "--tau-record").outcomes(passed=4)
    four.run(ALONE, "--tau-replay", "--tau-budget-per-trial", "0.01").outcomes(passed=4)


def test_one_that_lasts_is_not_heard_of(four):
    run = four.run(ALONE, "--tau-budget", "4.01")
    run.outcomes(passed=4)
    assert run.ret == pytest.ExitCode.OK
    run.lacks("not run")


def test_errors_and_failures_have_cost_money_too(four):
    four.script("""
        def answer(role, request):
            if role == "agent" and len(request.messages) > 3:
                raise ModelError("down")
            return reference(role, request)
    """)
    run = four.run(ALONE, "--tau-budget", "1")
    run.outcomes(errors=1, skipped=3)
    assert run.ret == pytest.ExitCode.TESTS_FAILED


def test_everything_that_is_called_counts(four, project, a_task):
    criteria = {"nl_assertions": ["It is short."], "reward_basis": ["NL_ASSERTION"]}
    project.tasks("mock/t.tau.json", [a_task("one", criteria=criteria), a_task("two", criteria=criteria)])
    run = four.run(ALONE, "--tau-budget", "1.25", "--tau-judge-llm", "fake/judge")
    run.outcomes(passed=1, skipped=1)
    run.line("tau: judge fake/judge: 1 call, 1,000 tokens sent, 20 received, $0.2500")


def test_marked_tests_keep_to_it(models, project):
    models.script("""
        def answer(role, request):
            return "###STOP###" if role == "user" else "Hm."
    """)
    project.write(
        "test_own.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create-task", trials=3)
        def test_own(tau_simulation):
            pass
        """,
    )
    run = models.run("test_own.py", ALONE, "--tau-budget", "0.5")
    run.outcomes(passed=2, skipped=1)
    assert run.ret == pytest.ExitCode.TESTS_FAILED


def test_a_price_that_is_known_now_and_then_is_never_all_there_is(four):
    four.script("""
        class Prices:
            known = True

        def answer(role, request):
            global cost
            cost = 0.25 if role == "agent" else None
            return reference(role, request)
    """)
    run = four.run("--tau-task", "one")
    run.line("tau: agent fake/agent: 2 calls, 2,000 tokens sent, 40 received, $0.5000")
    run.line("tau: user fake/user: 2 calls, 2,000 tokens sent, 40 received")
    hint = "for a cost, list the model in a file of prices (--tau-prices FILE)"
    run.line("tau: models together: 4 calls", f"$0.5000 and 2 calls with unknown price; {hint}")
    assert run.text.count("unknown") == run.text.count("--tau-prices") == 1, "in one line"


def test_the_hint_at_prices_names_litellm_where_it_is_missing(four, monkeypatch):
    four.script("cost = None")
    monkeypatch.setitem(sys.modules, "litellm", None)
    found = four.run("--tau-task", "one")
    found.line("(--tau-prices FILE), or install litellm, which has a list of prices: pip install")
    four.script("cost = 0.25")
    four.run("--tau-task", "one").lacks("--tau-prices")


def test_two_processes_share_it(four):
    run = four.run(ALONE, "--tau-budget", "2", "--tau-trials", "5", "-n", "2", "--dist", "load", "--maxschedchunk=1")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    line = run.line("not run: the budget is spent")
    # Both may have begun their last one before either was done.
    assert int(line.split()[1]) >= 17, run.text
    assert len(four.calls()) <= 12


def test_replaying_spends_nothing(four):
    four.run("--tau-record").outcomes(passed=4)
    four.calls()
    run = four.run("--tau-replay", ALONE, "--tau-budget", "0")
    run.outcomes(passed=4)
    assert run.ret == pytest.ExitCode.OK
    assert four.calls() == []


def test_what_needs_no_money_runs_without_any(four, project):
    project.run(ALONE, "--tau-budget", "0").outcomes(passed=4)


def test_nothing_at_all_can_be_spent(four):
    run = four.run(ALONE, "--tau-budget", "0")
    run.outcomes(skipped=4)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert four.calls() == []
    run.line("tau: 4 trials not run: the budget is spent")
    run.lacks("name a domain")


def test_trials_with_a_cassette_run_on_when_the_rest_has_spent_it(four):
    four.run("--tau-record", "--tau-task", "three", "--tau-task", "four").outcomes(passed=2)
    four.calls()
    run = four.run("--tau-record", ALONE, "--tau-budget", "1")
    run.outcomes(passed=3, skipped=1)
    assert len(four.calls()) == 4


def test_nothing_is_left_behind_by_a_trial_that_was_not_run(four):
    four.run(ALONE, "--tau-budget", "2", "--tau-record").outcomes(passed=2, skipped=2)
    assert four.cassettes() == [f"mock/cassettes/t.tau/{name}.trial-0.cassette" for name in ("one", "two")]


def test_a_model_that_an_agent_names_itself_is_not_called_without_a_price(project, a_task, monkeypatch):
    pytest.importorskip("aiohttp")
    project.tasks("mock/t.tau.json", [a_task()])
    project.write(
        "loop.py",
        """
        import json, urllib.error, urllib.request
        import pytest_tau

        @pytest_tau.own_loop
        def agent(trial):
            def run(text):
                body = {"model": "openai/unknown-3", "messages": [{"role": "user", "content": text}]}
                head = {"Authorization": f"Bearer {trial.api_key}", "Content-Type": "application/json"}
                request = urllib.request.Request(f"{trial.base_url}/chat/completions", json.dumps(body).encode(), head)
                try:
                    with urllib.request.urlopen(request) as answer:
                        return json.load(answer)["choices"][0]["message"]["content"]
                except urllib.error.HTTPError as error:
                    error.close()
                    return "I cannot."
            return run
        """,
    )
    with ModelServer(lambda _asked: "Done.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        run = project.run("--tau-agent=loop:agent", "--tau-budget=0.01", "-rs")
        assert not server.requests
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("model 'openai/unknown-3' has no known price", '"openai/unknown-3" = { input = 2.0, output = 8.0 }')
