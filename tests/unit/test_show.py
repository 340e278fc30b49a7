"""``tau show``: conversations in the terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .commands import Tau

TASK: dict[str, Any] = {"id": "t", "user_scenario": {"instructions": "Add a task."}}
LONG = "x" * 700


def simulation(task: str = "t", trial: int = 0, reward: float = 1.0, **fields: Any) -> dict[str, Any]:
    call = {"id": "c", "name": "create_task", "arguments": {"title": "Buy milk"}, "requestor": "assistant"}
    messages = [
        {"role": "assistant", "content": "Hello.\nHow can I help you?"},
        {"role": "user", "content": "Add a task."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "id": "c", "content": LONG},
        {"role": "user", "content": "###STOP###"},
    ]
    graded = {"reward": reward, "reward_breakdown": {"DB": reward}}
    ended = {"id": f"{task}{trial}", "task_id": task, "trial": trial, "termination_reason": "user_stop"}
    return ended | {"reward_info": graded, "messages": messages} | fields


@pytest.fixture
def results(tmp_path: Path) -> Callable[..., str]:
    def write(*simulations: Any) -> str:
        info = {"environment_info": {"domain_name": "mock"}}
        tasks = [TASK | {"id": name} for name in dict.fromkeys(each["task_id"] for each in simulations)]
        content = {"info": info, "tasks": tasks, "simulations": simulations}
        (tmp_path / "r.json").write_text(json.dumps(content), encoding="utf-8")
        return "r.json"

    return write


def test_a_conversation_is_shown_with_its_verdict(tau: Tau, results: Callable[..., str]) -> None:
    ran = tau("show", results(simulation()))
    assert ran.status == 0
    assert ran.lines[:6] == [
        "mock::t, trial 0",
        "    0  agent  Hello.",
        "              How can I help you?",
        "    1  user   Add a task.",
        '    2  agent  > create_task(title="Buy milk")',
        f"    3         = {'x' * 104}",
    ]
    assert "…" in ran.out
    assert "(700 characters)" in ran.out
    assert ran.lines[-1] == "reward 1 = DB 1   ended by the user's stop after 4 turns"
    assert "\x1b" not in ran.out


def test_the_variant_of_a_trial_is_named(tau: Tau, tmp_path: Path) -> None:
    lines = [{"test": f"mock::t[{name}-trial-0]", "domain": "mock", **simulation()} for name in ("old", "new")]
    (tmp_path / "simulations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = tau("show", "simulations.jsonl").lines
    assert [line for line in shown if line.startswith("mock::")] == ["mock::t, trial 0 [old]", "mock::t, trial 0 [new]"]


def test_results_are_shown_as_a_whole(tau: Tau, results: Callable[..., str]) -> None:
    ran = tau("show", results(simulation()), "--full")
    assert ran.out.count("x") == 700
    assert "characters" not in ran.out


def test_failed_trials_are_selected(tau: Tau, results: Callable[..., str]) -> None:
    file = results(
        simulation("a", 0, 0.0), simulation("a", 1), simulation("b", 0, 0.0), simulation("b", 1, 0.0), simulation("c")
    )

    def shown(*args: str) -> list[str]:
        return [line.removeprefix("mock::") for line in tau("show", file, *args).lines if "::" in line]

    assert shown() == ["a, trial 0", "a, trial 1", "b, trial 0", "b, trial 1", "c, trial 0"]
    assert shown("--failed") == ["a, trial 0", "b, trial 0", "b, trial 1"]
    assert shown("--all-failed") == ["b, trial 0", "b, trial 1"]
    assert shown("a") == ["a, trial 0", "a, trial 1"]
    assert shown("[ab]", "--failed") == ["a, trial 0", "b, trial 0", "b, trial 1"]
    assert tau("show", file, "c", "--failed").lines == ["r: no trial has failed"]
    assert tau("show", file, "c", "--all-failed").lines == ["r: no task has failed in all its trials"]


def test_an_unknown_task_is_an_error(tau: Tau, results: Callable[..., str]) -> None:
    ran = tau("show", results(simulation("refund")), "refunds")
    assert (ran.status, ran.out) == (2, "")
    assert "r: unknown task 'refunds'" in ran.err
    assert "refund" in ran.err


def test_the_texts_of_others_cannot_steer_the_terminal(tau: Tau, results: Callable[..., str]) -> None:
    messages = [{"role": "user", "content": "\x1b[2Jgone\n::error::x"}, {"role": "user", "content": "###STOP###"}]
    ran = tau("show", results(simulation(messages=messages, task="\x1b[2J")))
    assert ran.status == 0
    assert "\x1b" not in ran.out
    assert "\\x1b[2Jgone" in ran.out
    assert not [line for line in ran.lines if line.lstrip().startswith("::")]


def test_colours_are_shown_if_they_are_asked_for(
    tau: Tau, results: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = results(simulation())
    assert "\x1b[36m    0  agent  Hello.\x1b[0m" in tau("show", file).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in tau("show", file).out


@pytest.mark.parametrize("pager", ["no-such-pager", "cat", " "])
def test_without_a_pager_it_is_printed(
    tau: Tau, results: Callable[..., str], monkeypatch: pytest.MonkeyPatch, pager: str
) -> None:
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "    0  agent  Hello." in tau("show", results(simulation())).out


@pytest.mark.usefixtures("warm_processes")
def test_at_a_terminal_it_is_paged_and_coloured(tmp_path: Path, results: Callable[..., str]) -> None:
    environment = {**os.environ, "PAGER": "sed s/^/|/", "TERM": "xterm", "COLUMNS": "80", "NO_COLOR": ""}
    controller, terminal = pty.openpty()
    code = "import sys; from pytest_tau.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "show", results(simulation())]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=terminal, stdin=terminal) as process:
        os.close(terminal)
        written = b""
        try:
            while piece := os.read(controller, 4096):
                written += piece
        except OSError:  # the end of a pty
            pass
        assert process.wait() == 0
    os.close(controller)
    assert b"|\x1b[36m    0  agent  Hello." in written
