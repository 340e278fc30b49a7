"""``tau plan``: what a run can show before it is made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_tau.cli import main
from pytest_tau.domains import load_domain

if TYPE_CHECKING:
    from pathlib import Path

GUESS = ["plan", "--tasks", "50", "--trials", "4", "--pass", "0.7"]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def earlier(tmp_path: Path) -> str:
    """An earlier run of twenty tasks with two trials each, of which some fail."""
    folder = tmp_path / "earlier"
    folder.mkdir()
    used = {"agent": {"model": "m", "calls": 3, "prompt_tokens": 900, "completion_tokens": 100, "known_cost": 0.01}}
    lines = [
        {
            "domain": "mock",
            "task_id": f"t{task}",
            "trial": trial,
            "reward_info": {"reward": float((task + trial) % 4 > 0)},
            "termination_reason": "user_stop",
            "duration": 18.0,
            "model_usage": used,
        }
        for task in range(20)
        for trial in range(2)
    ]
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(folder)


def test_a_guess(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(GUESS) == 0
    assert capsys.readouterr().out.splitlines() == [
        "50 tasks x 4 trials; pass rate 0.700 (expected), tasks that differ widely (assumed)",
        "smallest loss seen at 80 % power, compared with a run of the same size: 0.123",
        "cost: 200 trials, cost unknown",
    ]


def test_prices_and_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    cost = ["--tokens", "20000,1500", "--price", "2,8", "--seconds", "60", "--concurrency", "20"]
    assert main([*GUESS, *cost]) == 0
    assert "cost: 200 trials, 4,000,000 tokens sent, 300,000 received, $10.40, 10.0 minutes at a concurrency of 20" in (
        capsys.readouterr().out
    )


def test_the_inverse(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GUESS, "--detect", "0.05"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[3] == "to see a loss of 0.05 at 80 % power, in both runs:"
    assert lines[6] == "  248 tasks x 4 trials: 992 trials, cost unknown"
    assert lines[8] == "  with 50 tasks: 23 trials of each"
    assert main([*GUESS, "--detect", "0.2"]) == 0


def test_an_earlier_run(earlier: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", earlier, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["tasks"], found["trials"], found["pass_rate"], found["variance_assumed"]) == (20, 2, 0.75, False)
    assert found["cost"]["usd"] == pytest.approx(0.4)
    assert found["cost"]["tokens_sent"] == 36_000
    assert found["cost"]["hours"] == pytest.approx(0.02)
    assert 0 < found["smallest_loss"] < 0.75


def test_tasks_of_a_domain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--domain", "mock", "--pass", "0.7", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"] == len(load_domain("mock").tasks("base"))


def test_a_gate_that_it_cannot_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--tasks", "20", "--pass", "0.9", "--gate", "pass^1>=0.9", "--gate", "pass^1>=0.8"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == (
        "gate pass^1 >= 0.9: even if every trial passes, its 95 % interval begins at 0.839; 35 tasks are needed for a "
        "clear result"
    )
    assert lines[-1] == "gate pass^1 >= 0.8: a clear result is possible"


def test_too_few_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--tasks", "5", "--pass", "0.7"]) == 1
    assert "no loss is seen at 80 % power" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the pass rate is not known: name an earlier run with a verdict, or add --pass RATE"),
        (["--pass", "0.7"], "the number of tasks is not known: add --tasks N or --domain NAME, or name a run"),
        (["--pass", "70"], "--pass: expected a number above 0 and at most 1, got 70: write 0.7 for 70 %"),
        (["--pass", "0.7", "--detect", "0"], "--detect: expected a number above 0 and at most 1, got 0"),
        (["--pass", "0.7", "--tasks", "0"], "--tasks: expected a whole number of at least 1, got 0"),
        ([*GUESS[1:], "--tokens", "many"], "--tokens: expected two numbers, such as 2,8, got 'many'"),
        ([*GUESS[1:], "--price", "1,-1"], "--price: expected two numbers, such as 2,8, got '1,-1'"),
        ([*GUESS[1:], "--seconds", "-1"], "--seconds: expected a number of at least 0, got -1"),
        ([*GUESS[1:], "--gate", "pass>1"], "unknown metric 'pass'"),
        (["nowhere"], "unknown run 'nowhere'"),
    ],
)
def test_what_cannot_be_used(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *arguments]) == 2
    assert message in capsys.readouterr().err
