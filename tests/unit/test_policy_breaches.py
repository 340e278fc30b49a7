"""The count of breaches in result files: from the command line, over a run of the bundled tasks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.policy_breaches import main
from pytest_tau import load_domain, simulate

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_table_has_every_rule_and_the_breaches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    telecom = load_domain("telecom")
    tasks = [task for task in telecom.tasks("base") if "quota" in task.id and "quota-end" not in task.id][:3]
    runs = [
        simulate(task, domain=telecom, agent=agent, user="scripted", seed=1)
        for agent in ("rules", "saboteur:skips-confirmation")
        for task in tasks
    ]
    document = {
        "info": {"environment_info": {"domain_name": "telecom"}},
        "tasks": [task.model_dump(mode="json") for task in tasks],
        "simulations": [run.model_dump(mode="json") | {"trial": number // 3} for number, run in enumerate(runs)],
    }
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "results.json").write_text(json.dumps(document), encoding="utf-8")
    file = tmp_path / "counts.json"
    main([str(tmp_path / "runs"), "--sample", "2", "--rule", "confirmation", "--json", str(file)])
    text = capsys.readouterr().out
    assert "telecom: 6 conversations, 6 with reward 1" in text
    (row,) = [line.split() for line in text.splitlines() if line.startswith("  confirmation")]
    assert row == ["confirmation", "6", "3", "3", "3"]
    (row,) = [line.split() for line in text.splitlines() if line.startswith("  refuel-limit")]
    assert row == ["refuel-limit", "6", "0", "0", "0"]
    assert text.count("results.json ") == 2 + 3
    counts = json.loads(file.read_text(encoding="utf-8"))["telecom"]
    assert counts["rules"]["confirmation"] == {"checked": 6, "breached": 3, "breached_passed": 3}
    assert [each["number"] for each in counts["breaches"]] == [3, 4, 5]
