"""A judge that does not answer costs an error, and not the run."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import Evaluation, Limits, SimulationSettings
from pytest_tau.errors import ModelError
from pytest_tau.evaluation import BUILT_IN_JUDGES, Verdict, ask_judge
from pytest_tau.models import parse_task

if TYPE_CHECKING:
    from pytest_tau import Simulation

TASK = parse_task(
    {
        "id": "polite",
        "user_scenario": {"instructions": "Say hello."},
        "evaluation_criteria": {"nl_assertions": ["The agent is polite"], "reward_basis": ["NL_ASSERTION"]},
    }
)


class Asleep:
    name = "asleep"

    def judge(self, statements: Any, messages: Any) -> list[Verdict]:
        time.sleep(5)
        return [Verdict(True, "late") for _ in statements]


class AsleepAsync:
    name = "asleep"

    async def judge(self, statements: Any, messages: Any) -> list[Verdict]:
        await asyncio.sleep(5)
        return [Verdict(True, "late") for _ in statements]


class Awake:
    name = "awake"

    def judge(self, statements: Any, messages: Any) -> list[Verdict]:
        return [Verdict(True, "in time") for _ in statements]


def judged(judge: Any, timeout: float | None) -> Simulation:
    settings = SimulationSettings(limits=Limits(timeout=timeout), evaluation=Evaluation(judge=judge))
    return pytest_tau.simulate(TASK, domain=pytest_tau.load_domain("mock"), settings=settings)


@pytest.mark.parametrize("judge", [Asleep(), AsleepAsync()])
def test_a_judge_that_hangs_is_an_error_with_the_conversation_kept(judge: Any) -> None:
    start = time.perf_counter()
    simulation = judged(judge, 0.2)
    assert time.perf_counter() - start < 4
    assert (simulation.outcome, simulation.termination_reason) == ("error", "user_stop")
    assert simulation.error == "JudgeError: judge 'asleep' gave no verdict within 0.2 s"
    assert len(simulation.messages) == 4


@pytest.mark.parametrize("timeout", [None, 5.0])
def test_a_judge_that_answers_is_heard(timeout: float | None) -> None:
    simulation = judged(Awake(), timeout)
    assert simulation.reward == 1
    assert simulation.reward_info is not None
    assert (simulation.reward_info.info or {})["judge"] == "awake"


def test_a_judge_that_cannot_hang_needs_no_deadline() -> None:
    evaluation = Evaluation(judge=BUILT_IN_JUDGES["accept"], judge_seconds=0.0)
    (verdict,) = asyncio.run(ask_judge(TASK, [], "user_stop", evaluation)).verdicts or ()
    assert verdict.met


def test_an_error_of_the_judge_s_model_is_that_error_in_its_time_too() -> None:
    class Refused(Awake):
        def judge(self, statements: Any, messages: Any) -> list[Verdict]:
            raise ModelError("no key", kind="bad_request")

    assert judged(Refused(), 5.0).error == "ModelError: no key"
