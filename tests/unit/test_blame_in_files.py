"""The party at fault in result files of other tools: regraded, stored, and shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .blames import OTHER_VALUES

if TYPE_CHECKING:
    from pathlib import Path

    from .commands import Tau

ACTION = {
    "action_id": "a",
    "name": "create_task",
    "arguments": {"user_id": "user_1", "title": "Buy milk", "description": "Two litres"},
}


def file(tmp_path: Path, arguments: dict[str, Any], info: dict[str, Any] | None = None) -> Path:
    """A file of τ²-bench's with a trial in which the agent creates a task."""
    call = {"id": "c", "name": "create_task", "arguments": arguments, "requestor": "assistant"}
    messages = [
        {"role": "user", "content": "Put 'Buy bread' on the list of user_1: two litres."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "id": "c", "content": '{"task_id": "task_2"}'},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "###STOP###"},
    ]
    task = {
        "id": "t",
        "user_scenario": {"instructions": "You want 'Buy milk' on the list of user_1: two litres."},
        "evaluation_criteria": {"actions": [ACTION], "reward_basis": ["DB"]},
    }
    reward = {
        "reward": 0.0,
        "reward_basis": ["DB"],
        "reward_breakdown": {"DB": 0.0},
        "db_check": {"db_match": False, "db_reward": 0.0},
    }
    trial: dict[str, Any] = {"id": "s", "task_id": "t", "trial": 0, "termination_reason": "user_stop"}
    trial |= {"reward_info": reward, "messages": messages} | ({"info": info} if info else {})
    content = {"info": {"environment_info": {"domain_name": "mock"}}, "tasks": [task], "simulations": [trial]}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


BREAD = ACTION["arguments"] | {"title": "Buy bread"}  # type: ignore[operator]


def test_a_failure_has_its_party_in_the_document(tau: Tau, tmp_path: Path) -> None:
    (result,) = json.loads(tau("regrade", file(tmp_path, BREAD), "--json").out)["files"][0]["results"]
    assert (result["blame"]["party"], result["blame"]["message"]) == ("user", 0)
    assert result["blame"]["reason"] == OTHER_VALUES


def test_what_passed_has_none(tau: Tau, tmp_path: Path) -> None:
    path = file(tmp_path, ACTION["arguments"])  # type: ignore[arg-type]
    (result,) = json.loads(tau("regrade", path, "--json").out)["files"][0]["results"]
    assert result["reward"] == 1
    assert result["blame"] is None


@pytest.mark.parametrize("info", [None, {"note": "mine", "blame": {"party": "agent"}}])
def test_a_file_that_is_written_again_has_it_and_is_shown_with_it(
    tau: Tau, tmp_path: Path, info: dict[str, Any] | None
) -> None:
    """In the place of an older one, and next to what else is stored there."""
    tau("regrade", file(tmp_path, BREAD, info), "-o", "out")
    (trial,) = json.loads((tmp_path / "out" / "r.json").read_text(encoding="utf-8"))["simulations"]
    assert trial["info"]["blame"]["party"] == "user"
    assert trial["info"].get("note") == (info or {}).get("note")
    assert f"looks like the user's fault: {OTHER_VALUES}" in tau("show", "out/r.json").out


def test_a_file_of_another_tool_is_shown_with_it(tau: Tau, tmp_path: Path) -> None:
    shown = tau("show", file(tmp_path, BREAD)).out
    assert f"looks like the user's fault: {OTHER_VALUES} (message 0)" in shown


def test_a_run_on_other_data_is_shown_without_it(tau: Tau, tmp_path: Path) -> None:
    """A call that had succeeded fails on this data, of which nothing can be concluded."""
    shown = tau("show", file(tmp_path, BREAD | {"user_id": "user_of_theirs"})).out
    assert "fault" not in shown
    assert "undecided" not in shown
