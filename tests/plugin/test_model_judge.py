"""--tau-judge-llm: a model judges, once a simulation; a broken judge leaves a conversation that can be graded later."""

from __future__ import annotations

import json

import pytest

from pytest_tau.cli import main
from pytest_tau.testing import ModelServer, RateLimited

STATEMENTS = {"nl_assertions": ["It is polite.", "It is short."], "reward_basis": ["DB", "NL_ASSERTION"]}
JUDGE = ("--tau-judge-llm", "fake/judge")


def verdicts(*met):
    return json.dumps({"verdicts": [{"statement": n, "reason": f"reason {n}", "met": m} for n, m in enumerate(met, 1)]})


@pytest.fixture
def judged(models, project, a_task):
    """A project whose only task has two statements to be judged."""
    project.tasks("mock/t.tau.json", [a_task(criteria=STATEMENTS)])
    return models


class TestVerdicts:
    def test_one_call_judges_all_statements(self, judged):
        run = judged.run(*JUDGE)
        run.outcomes(passed=1)
        run.line("agent llm (fake/agent), user llm (fake/user), judge fake/judge")
        run.line("tau: judge fake/judge: 1 call, 1,000 tokens sent, 20 received, $0.2500")
        assert judged.calls() == ["agent", "agent", "judge", "user", "user"]

    def test_what_it_finds_untrue_fails_the_trial_with_its_reason(self, judged):
        judged.script(f"""
            def answer(role, request):
                return {verdicts(True, False)!r} if role == "judge" else reference(role, request)
        """)
        run = judged.run(*JUDGE)
        run.outcomes(failed=1)
        run.line("reward 0 = DB 1 x NL_ASSERTION 0")
        run.line("judged untrue: It is short.  (reason 2)")
        run.lacks("judged untrue: It is polite.")

    def test_it_judges_agents_without_a_model_too(self, judged, project):
        project.run("--tau-agent", "gold", *JUDGE).outcomes(passed=1)
        assert judged.calls() == ["judge"]

    def test_its_arguments_have_no_seed(self, judged):
        judged.run(*JUDGE, "--tau-judge-llm-args", '{"top_p": 0.1}').outcomes(passed=1)
        (call,) = [call for call in judged.asked if call["role"] == "judge"]
        assert (call["model"], call["args"]) == ("fake/judge", {"temperature": 0.0, "top_p": 0.1})

    def test_a_judge_that_is_named_wins_over_the_model(self, judged):
        run = judged.run("--tau-judge", "accept", *JUDGE)
        run.outcomes(passed=1)
        run.line("NL assertions judged by 'accept': same verdict for every statement")
        assert "judge" not in judged.calls()

    def test_nothing_to_judge_is_no_call(self, models):
        models.run(*JUDGE).outcomes(passed=1)
        assert "judge" not in models.calls()

    def test_missing_model_and_judge_are_reported_before_any_call(self, judged):
        judged.run().usage_error("1 of 1 tasks need a judge")
        assert judged.calls() == []

    def test_missing_judge_error_names_the_model_option(self, judged):
        judged.run().usage_error("1 of 1 tasks need a judge", "--tau-judge-llm")


class TestBadAnswers:
    def test_are_asked_again_and_the_conversation_is_not(self, judged):
        judged.script(f"""
            def answer(role, request):
                if role != "judge":
                    return reference(role, request)
                return "I think so." if len(request.messages) == 2 else {verdicts(True, True)!r}
        """)
        run = judged.run(*JUDGE)
        run.outcomes(passed=1)
        run.line("tau: judge fake/judge: 2 calls")
        assert judged.calls() == ["agent", "agent", "judge", "judge", "user", "user"]

    def test_after_three_it_is_an_error_that_keeps_the_conversation(self, judged):
        judged.script("""
            def answer(role, request):
                return "I think so." if role == "judge" else reference(role, request)
        """)
        run = judged.run(*JUDGE)
        run.outcomes(errors=1)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("JudgeError: judge 'fake/judge' gave 3 answers, none of them valid")
        run.line("tau: mock: 1 task, 1 trial; 1 error")
        assert judged.calls() == ["agent", "agent", "judge", "judge", "judge", "user", "user"]
        (entry,) = [json.loads(line) for line in judged.kept()[0].read_text(encoding="utf-8").splitlines()]
        assert entry["termination_reason"] == "user_stop"
        assert entry["reward_info"] is None
        assert entry["messages"][-1]["content"] == "###STOP###"

    def test_a_provider_that_fails_is_an_error_that_keeps_the_conversation(self, judged):
        judged.script("""
            def answer(role, request):
                if role == "judge":
                    raise ModelError("the judge is down")
                return reference(role, request)
        """)
        run = judged.run(*JUDGE)
        run.outcomes(errors=1)
        run.line("ModelError: the judge is down")
        run.lacks("reward 0 ")
        assert len(judged.kept()) == 1

    @pytest.mark.parametrize("bad", ['"I think so."', "down()"])
    @pytest.mark.parametrize(("basis", "agent"), [(["DB"], "gold"), (["DB", "NL_ASSERTION"], "noop")])
    def test_an_answer_that_the_reward_does_not_need_makes_no_error(self, judged, project, a_task, bad, basis, agent):
        project.tasks("mock/t.tau.json", [a_task(criteria={**STATEMENTS, "reward_basis": basis})])
        judged.script(f"""
            def down():
                raise ModelError("the judge is down")

            def answer(role, request):
                return {bad} if role == "judge" else reference(role, request)
        """)
        counts = {"passed": 1} if agent == "gold" else {"failed": 1}
        project.run("--tau-agent", agent, *JUDGE, "--tau-record").outcomes(**counts)
        project.run("--tau-agent", agent, *JUDGE, "--tau-replay").outcomes(**counts)
        (entry, _) = [json.loads(path.read_text(encoding="utf-8")) for path in judged.kept()]
        assert "Error: " in entry["reward_info"]["info"]["judge_problem"]
        assert entry["reward_info"]["nl_assertions"] is None

    def test_the_conversation_of_an_agent_of_ones_own_is_kept_too(self, judged, project, scripted):
        """Only the judge calls a model of the harness, and it has not answered."""
        judged.script("""
            def answer(role, request):
                raise ModelError("the judge is down")
        """)
        agent = scripted('call("create_task", user_id="user_1", title="Buy milk")', '"Done."')
        project.run("--tau-agent", agent, *JUDGE).outcomes(errors=1)
        assert len(judged.kept()) == 1

    def test_a_judge_that_is_not_ours_keeps_it_too(self, judged, project):
        project.write(
            "judges.py", "class Judge:\n    def judge(self, statements, messages):\n        raise OSError('down')\n"
        )
        judged.run("--tau-judge", "judges.py:Judge").outcomes(errors=1)
        assert len(judged.kept()) == 1


class TestRecorded:
    def test_it_is_replayed_like_the_others(self, judged):
        judged.run(*JUDGE, "--tau-record").outcomes(passed=1)
        judged.calls()
        judged.run(*JUDGE, "--tau-replay").outcomes(passed=1)
        assert judged.calls() == []
        first, second = judged.kept()
        assert first.read_bytes() == second.read_bytes()

    def test_bad_answers_are_replayed_as_well(self, judged):
        judged.script(f"""
            def answer(role, request):
                if role != "judge":
                    return reference(role, request)
                return "I think so." if len(request.messages) == 2 else {verdicts(True, False)!r}
        """)
        judged.run(*JUDGE, "--tau-record").outcomes(failed=1)
        judged.calls()
        judged.run(*JUDGE, "--tau-replay").outcomes(failed=1)
        assert judged.calls() == []

    def test_another_statement_is_another_request(self, judged, project, a_task):
        judged.run(*JUDGE, "--tau-record").outcomes(passed=1)
        judged.calls()
        criteria = STATEMENTS | {"nl_assertions": ["It is polite.", "It is long."]}
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
        run = judged.run(*JUDGE, "--tau-replay")
        run.outcomes(errors=1)
        run.line("call 5, of the judge, differs from the recorded one")
        run.line("2: It is long.")
        run.lacks("of a conversation that went otherwise")
        assert judged.calls() == []

    def test_without_a_judge_its_calls_are_missed(self, judged, project, a_task):
        judged.run(*JUDGE, "--tau-record").outcomes(passed=1)
        project.tasks("mock/t.tau.json", [a_task()])
        run = judged.run("--tau-replay")
        run.outcomes(errors=1)
        run.line("the recording has more calls: 1 call of the judge was not made")


@pytest.mark.usefixtures("litellm_at_hand")
class TestRegrade:
    """A judge that broke in the run is asked again by ``tau regrade``, over real HTTP."""

    @pytest.fixture
    def kept(self, judged, project, monkeypatch, capsys):
        """The file of a run in which the judge was down, of a task of the domain's own."""
        for name in ("OPENAI_API_KEY", "OPENAI_API_BASE"):
            monkeypatch.delenv(name, raising=False)
        judged.script("""
            def answer(role, request):
                raise ModelError("the judge is down")
        """)

        def run(*args):
            project.run("--tau-agent", "gold", *JUDGE, *args).outcomes(errors=1)
            judged.calls()
            capsys.readouterr()
            return str(judged.kept()[0])

        return run

    #: A trial that ended in an error has no stored reward that the fresh one could be compared with.
    REGRADE = ("regrade", "--judge-llm", "openai/judge", "--allow-uncompared")
    DOMAIN = ("--tau-domain", "mock", "--tau-split", "judged", "--tau-num-tasks", "1")

    def test_finishes_what_the_run_began(self, kept, judged, monkeypatch, capsys):
        file = kept(*self.DOMAIN)
        with ModelServer(judge) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            status = main([*self.REGRADE, file, "-v"])
        output = capsys.readouterr().out
        assert status == 0, output
        assert "1 simulation" in output
        assert "errors" not in output
        assert len(server.requests) == 1
        assert judged.calls() == []

    def test_finishes_what_was_a_task_of_the_users_own(self, kept, monkeypatch, capsys):
        file = kept()
        with ModelServer(judge) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            status = main([*self.REGRADE, file, "-v"])
        output = capsys.readouterr().out
        assert status == 0, output
        assert len(server.requests) == 1

    def test_a_judge_that_fails_for_a_while_is_asked_again(self, kept, monkeypatch, capsys):
        file = kept(*self.DOMAIN)
        with ModelServer(judge, faults={1: RateLimited(retry_after=0.01)}) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            assert main([*self.REGRADE, file]) == 0
        assert len(server.requests) == 2

    def test_judge_that_keeps_failing_is_reported(self, kept, monkeypatch, capsys):
        file = kept(*self.DOMAIN)
        with ModelServer(lambda _request: "I think so.") as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            assert main([*self.REGRADE, file]) == 1
        assert "none of them valid" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["--judge-llm", "openai/gpt-4.1"], "set OPENAI_API_KEY"),
            (["--judge-llm", "openai/gpt-4.1", "--judge-llm-args", "x"], "--judge-llm-args: expected a JSON object"),
            (["--judge-llm", "opnai/gpt-4.1"], "unknown provider 'opnai'; did you mean 'openai'"),
            (["--judge", "llm"], "add --judge-llm MODEL"),
            (["--judge", "accept", "--judge-llm", "openai/x"], "remove it, or --judge accept"),
        ],
    )
    def test_mistakes_are_reported(self, kept, capsys, monkeypatch, args, message):
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        assert main(["regrade", kept(*self.DOMAIN), *args]) == 2
        assert message in capsys.readouterr().err


def judge(request):
    """Finds everything true."""
    statements = request["messages"][-1]["content"].partition("<statements>")[2].partition("</statements>")[0]
    return verdicts(*(True for line in statements.splitlines() if line.partition(":")[0].isdecimal()))
