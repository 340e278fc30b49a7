"""``tau export --format metrics`` on recorded runs: the numbers of the files, and of what the reference made of them."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING

import pytest

from pytest_tau import load_domain
from pytest_tau.reports.export_metrics import write_metrics
from pytest_tau.runs.reader import Run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]

#: Files whose stored verdicts have the breakdown that the numbers are made of.
NAMES = ("airline_gpt-4.1", "airline_azure_full", "retail_gpt-4.1", "telecom_gpt-4.1_solo_4trials", "telecom_gpt-4o")


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_are_those_of_the_reference(shared: Path, name: str) -> None:
    file = shared / "runs" / f"{name}.json.gz"
    run, out = Run(file), io.StringIO()
    (domain,) = {trial.domain for trial in run.trials()}
    spec = load_domain(domain).spec
    sides = [side for side in (spec.agent_tools, spec.user_tools) if side]
    kinds = {name: tool.kind for side in sides for name, tool in side.tool_infos.items()}
    write_metrics(run, out, domain, kinds.get)
    found = json.loads(out.getvalue())
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        simulations = json.load(opened)["simulations"]
    expected = json.loads((shared / "runs" / "expected" / f"{name}.json").read_text(encoding="utf-8"))
    rewards = [each["reward_info"]["reward"] for each in simulations]
    assert found["total_simulations"] == len(simulations)
    assert found["avg_reward"] == pytest.approx(sum(rewards) / len(rewards))
    assert found["total_tasks"] == len({each["task_id"] for each in simulations})
    ran = [each["db_match"] for each in expected if each["db_match"] is not None]
    assert (found["db_match_count"], found["db_mismatch_count"]) == (sum(ran), len(ran) - sum(ran))
    matched = sum(map(sum, (each["actions"] for each in expected)))
    if name in ("airline_gpt-4.1", "telecom_gpt-4.1_solo_4trials"):  # without matched actions of other kinds of tools
        assert found["correct_read_actions"] + found["correct_write_actions"] == matched
    counted = found["termination_user_stop"] + found["termination_agent_stop"]
    assert counted == sum(each["termination_reason"] in ("user_stop", "agent_stop") for each in simulations)
