"""--tau-judge: a judge of one's own, its faults, its absence."""

from __future__ import annotations

import pytest


class TestJudge:
    """--tau-judge: a judge of one's own, its faults, its absence."""

    @pytest.fixture
    def judged(self, project, a_task):
        criteria = {"nl_assertions": ["It is polite.", "It is short."], "reward_basis": ["DB", "NL_ASSERTION"]}
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
        return lambda *args: project.run(*args)

    def test_missing_judge_is_reported_before_anything_runs(self, project, judged, a_task):
        project.tasks("mock/another.tau.json", [a_task("other")])
        project.write("agent.py", "def agent(messages, tools):\n    print('the agent was asked')\n")
        run = judged("--tau-agent", "agent.py:agent", "-s")
        run.usage_error("1 of 1 tasks need a judge", "'buy-milk'", "--tau-judge (accept and reject")
        run.lacks("the agent was asked")

    def test_statements_that_do_not_gate_need_no_judge(self, project, judged, a_task):
        project.tasks("mock/t.tau.json", [a_task(criteria={"nl_assertions": ["It is polite."]})])
        judged().outcomes(passed=1)

    @pytest.mark.parametrize("verdicts", ["True, True", "True, False"])
    def test_a_judge_of_ones_own(self, project, judged, verdicts):
        project.write(
            "judges.py",
            f"""
            from pytest_tau.testing import ScriptedJudge

            judge = ScriptedJudge(dict(zip(["It is polite.", "It is short."], [{verdicts}])))
            """,
        )
        run = judged("--tau-judge", "judges:judge")
        if verdicts == "True, True":
            run.outcomes(passed=1)
        else:
            run.outcomes(failed=1)
            run.line("reward 0 = DB 1 x NL_ASSERTION 0")
            run.line("judged untrue: It is short.  (scripted)")
            run.lacks("judged untrue: It is polite.")
        run.lacks("same verdict for every statement")

    @pytest.mark.parametrize("define", ["def", "async def"])
    def test_a_judge_class_in_a_file(self, project, judged, define):
        project.write(
            "judges.py",
            f"""
            from pytest_tau.evaluation import Verdict

            class Judge:
                {define} judge(self, statements, messages):
                    return [Verdict("milk" in messages[1].content, "looked for milk") for _ in statements]
            """,
        )
        judged("--tau-judge", "judges.py:Judge").outcomes(passed=1)

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("raise OSError('judge is down')", "OSError: judge is down"),
            ("return []", "judge"),
            ("return None", "judge"),
            ("return ['yes', 'no']", "judge"),
        ],
    )
    def test_a_fault_of_the_judge_is_an_error(self, project, judged, body, message):
        project.write("judges.py", f"class Judge:\n    def judge(self, statements, messages):\n        {body}\n")
        run = judged("--tau-judge", "judges.py:Judge")
        run.outcomes(errors=1)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("JudgeError: judge 'judges.py:Judge' failed", message)
        run.line("tau: mock: 1 task, 1 trial; 1 error; no rate")
