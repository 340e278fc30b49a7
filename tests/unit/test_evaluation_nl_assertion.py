from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.errors import ConfigurationError, JudgeError, ModelError, ReplayError
from pytest_tau.evaluation import BUILT_IN_JUDGES, Evaluation, Verdict, ask_judge, grade
from pytest_tau.evaluation.judge import judge_statements
from pytest_tau.models import UserMessage
from pytest_tau.testing import ScriptedJudge

from .tiny import STOP, agent, graded, run, task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Domain

STATEMENTS = ["The agent greets.", "The agent is brief."]
JUDGED = task({"nl_assertions": STATEMENTS, "reward_basis": ["NL_ASSERTION"]})


class Judge:
    """Returns the given answers; counts its calls."""

    name = "mine"

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, 0

    def judge(self, statements: Sequence[str], messages: Sequence[Any]) -> Any:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class AsyncJudge(Judge):
    async def judge(self, statements: Sequence[str], messages: Sequence[Any]) -> Any:
        return super().judge(statements, messages)


BOTH = [Verdict(True, "it does"), Verdict(False, "it rambles")]


@pytest.mark.parametrize("kind", [Judge, AsyncJudge])
def test_a_judge_is_asked_once_about_all_statements(domain: Domain, kind: type[Judge]) -> None:
    judge = kind(BOTH)
    info = graded(domain, JUDGED, agent("Hi"), judge=judge)
    assert judge.asked == 1
    assert [(c.nl_assertion, c.met, c.justification) for c in info.nl_assertions or []] == [
        (STATEMENTS[0], True, "it does"),
        (STATEMENTS[1], False, "it rambles"),
    ]
    assert info.reward == 0.0
    assert info.info is not None
    assert info.info["judge"] == "mine"


def test_all_statements_must_be_met(domain: Domain) -> None:
    assert graded(domain, JUDGED, judge=Judge([Verdict(True, "")] * 2)).reward == 1.0
    assert graded(domain, JUDGED, judge=Judge([Verdict(False, "")] * 2)).reward == 0.0


def test_a_judge_reads_the_whole_trajectory_as_models(domain: Domain) -> None:
    seen: list[Any] = []

    class Reader(Judge):
        def judge(self, statements: Sequence[str], messages: Sequence[Any]) -> Any:
            seen.extend(messages)
            return super().judge(statements, messages)

    pytest_tau.evaluate(JUDGED, [{"role": "user", "content": "Hello"}, STOP], domain=domain, judge=Reader(BOTH))
    assert seen == [UserMessage(content="Hello"), STOP]


@pytest.mark.parametrize("statements", [[], None])
def test_without_statements_it_is_one_and_no_judge_is_asked(domain: Domain, statements: Any) -> None:
    judge = Judge(BOTH)
    unjudged = task({"nl_assertions": statements, "reward_basis": ["NL_ASSERTION"]})
    assert graded(domain, unjudged, judge=judge).reward == 1.0
    assert graded(domain, unjudged).reward == 1.0
    assert judge.asked == 0


def test_statements_that_do_not_gate_are_judged_where_there_is_a_judge(domain: Domain) -> None:
    diagnostic = task({"nl_assertions": STATEMENTS, "reward_basis": ["DB"]})
    info = graded(domain, diagnostic, judge=Judge(BOTH))
    assert [check.met for check in info.nl_assertions or []] == [True, False]
    assert info.reward == 1.0
    unjudged = graded(domain, diagnostic)
    assert unjudged.nl_assertions is None
    assert unjudged.reward == 1.0
    assert "judge" not in (unjudged.info or {})


@pytest.mark.parametrize("kind", [Judge, AsyncJudge])
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (RuntimeError("out of order"), "judge 'mine' failed: RuntimeError: out of order"),
        (BOTH[:1], "judge 'mine' failed"),
        ([*BOTH, BOTH[0]], "judge 'mine' failed"),
        ([], "judge 'mine' failed"),
        (None, "judge 'mine' failed"),
        ([True, False], "judge 'mine' failed"),
        ([Verdict("maybe", ""), BOTH[0]], "judge 'mine' failed"),  # type: ignore[arg-type]
        (JudgeError("told by itself"), "^told by itself$"),
    ],
)
def test_a_judge_that_fails_is_a_judge_error(domain: Domain, kind: type[Judge], answer: Any, told: str) -> None:
    judge = kind(answer)
    with pytest.raises(JudgeError, match=told):
        graded(domain, JUDGED, judge=judge)


@pytest.mark.parametrize("kind", [Judge, AsyncJudge])
@pytest.mark.parametrize("error", [ModelError("busy", kind="rate_limit"), ReplayError("not recorded")])
def test_judges_model_and_recording_errors_are_raised_unchanged(
    domain: Domain, kind: type[Judge], error: Exception
) -> None:
    with pytest.raises(type(error)) as caught:
        graded(domain, JUDGED, judge=kind(error))
    assert caught.value is error


def test_uniform_judges_say_so(domain: Domain) -> None:
    accept = graded(domain, JUDGED, judge=BUILT_IN_JUDGES["accept"])
    reject = graded(domain, JUDGED, judge=BUILT_IN_JUDGES["reject"])
    assert (accept.reward, reject.reward) == (1.0, 0.0)
    assert accept.nl_assertions is not None
    assert "--tau-judge accept" in accept.nl_assertions[0].justification
    assert (accept.info or {})["judge"] == "accept"


def test_scripted_judge(domain: Domain) -> None:
    judge = ScriptedJudge({STATEMENTS[0]: True, STATEMENTS[1]: True})
    assert graded(domain, JUDGED, judge=judge).reward == 1.0
    assert judge.asked == [STATEMENTS]
    with pytest.raises(JudgeError, match=r"no verdict on 'The agent is brief\.'"):
        graded(domain, JUDGED, judge=ScriptedJudge({STATEMENTS[0]: True}))


def test_inside_a_running_loop(domain: Domain) -> None:
    evaluation = Evaluation(judge=AsyncJudge(BOTH))
    judged = run(ask_judge(JUDGED, [STOP], "user_stop", evaluation))
    info = grade(JUDGED, [STOP], "user_stop", domain, evaluation, judged)
    assert [check.met for check in info.nl_assertions or []] == [True, False]
    assert run(judge_statements(Judge(BOTH), STATEMENTS, [STOP]))[0].met


# Without a judge


def test_without_a_judge_everything_else_is_still_found(domain: Domain) -> None:
    """The conformance vectors of retail are graded without a judge: components that need none must be computed."""
    mixed = task(
        {"nl_assertions": STATEMENTS, "communicate_info": ["hi"], "actions": [], "reward_basis": ["DB", "NL_ASSERTION"]}
    )
    info = graded(domain, mixed, agent("Hi"))
    assert info.nl_assertions is None
    assert info.db_check is not None
    assert info.db_check.db_match
    assert [check.met for check in info.communicate_checks or []] == [True]
    # The reward is that of the rest, and says so.
    assert info.reward_breakdown == {"DB": 1.0}
    assert (info.info or {})["not_judged"] == 2


def test_early_end_scores_zero_without_a_judge(domain: Domain) -> None:
    info = pytest_tau.evaluate(JUDGED, [agent("Hi")], termination_reason="max_steps", domain=domain)
    assert info.reward == 0.0


def test_a_run_that_needs_a_judge_says_so_before_anybody_speaks(domain: Domain) -> None:
    asked: list[Any] = []

    def eager(messages: Any, tools: Any) -> str:
        asked.append(messages)
        return "Hello"

    with pytest.raises(ConfigurationError, match="judge"):
        pytest_tau.simulate(JUDGED, domain=domain, agent=eager, user="noop")
    assert not asked


def test_a_foreign_judge_changes_copies_of_the_messages() -> None:
    class Rewrites:
        name = "rewrites"

        def judge(self, statements: Sequence[str], messages: Sequence[Any]) -> Any:
            messages[0].content = "The agent is kind."
            return [Verdict(True, "it says so")] * len(statements)

    said = [agent("Go away.")]
    run(judge_statements(Rewrites(), STATEMENTS, said))
    assert said[0].content == "Go away."
