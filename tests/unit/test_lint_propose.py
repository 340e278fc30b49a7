"""``tau lint --propose``: outcomes for what the tasks leave open."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest_tau

if TYPE_CHECKING:
    from pathlib import Path

    from .commands import Tau

#: A task of retail, and all that its scenario says about the payment.
OPEN, SAID = "return-two-of-three", " The money should go where it came from."


def raw(**criteria: Any) -> dict[str, Any]:
    """The task as in a file, without a word about the payment."""
    (task,) = (each for each in pytest_tau.load_domain("retail").tasks("base") if each.id == OPEN)
    content: dict[str, Any] = task.model_dump(mode="json", exclude_none=True)
    del content["user_scenario"]["script"]
    texts = content["user_scenario"]["instructions"]
    assert SAID in texts["task_instructions"]
    texts["task_instructions"] = texts["task_instructions"].replace(SAID, "")
    content["evaluation_criteria"] |= criteria
    return content


def test_what_is_proposed_can_be_put_into_the_task(tau: Tau, tmp_path: Path) -> None:
    file = tmp_path / "open.json"
    file.write_text(json.dumps(raw()), encoding="utf-8")
    command = ("lint", str(file), "--domain", "retail")
    (found,) = json.loads(tau(*command, "--propose", "--json").out)
    assert (found["domain"], found["task_id"], len(found["outcomes"])) == ("retail", OPEN, 1)
    said = tau(*command, "--propose").out
    assert said.startswith(f"{OPEN}: 1 outcome\n")
    assert said.rstrip().endswith("open.json: 1 task; outcomes are proposed for 1")
    file.write_text(json.dumps(raw(outcomes=found["outcomes"])), encoding="utf-8")
    assert "bad-outcome" not in tau(*command).out
    assert json.loads(tau(*command, "--propose", "--json").out) == []


def test_a_task_with_a_failing_reference_is_not_proposed_for(tau: Tau, tmp_path: Path) -> None:
    content = raw()
    content["evaluation_criteria"]["actions"][-1]["arguments"]["order_id"] = "#W0000000"
    (tmp_path / "open.json").write_text(json.dumps(content), encoding="utf-8")
    assert tau("lint", str(tmp_path / "open.json"), "--domain", "retail", "--propose").out.endswith("proposed for 0\n")


def test_it_is_another_mode_than_that_of_the_scripted_user(tau: Tau) -> None:
    found = tau("lint", "mock", "--propose", "--scripted-user")
    assert (found.status, found.err) == (2, "tau lint: --propose and --scripted-user: give one of them\n")
