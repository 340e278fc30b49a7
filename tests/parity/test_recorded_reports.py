"""Reports of recorded runs: the replay behind them comes to what the runs were graded with."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.reports.html import write_report
from pytest_tau.runs.reader import Run

from .test_recorded_runs import TAU1, TAU2, OfficialDomains

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]

#: Conversations with a call that failed then and succeeds with τ²-bench's tools, or the reverse.
TURNED = {"tau1_retail_grok-4-fast_tools": 7}


@pytest.fixture
def talks(shared: Path, official_data: Path, tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Every conversation of a file's report."""

    def make(name: str) -> list[dict[str, Any]]:
        page = tmp_path / f"{name}.html"
        write_report(page, [Run(shared / "runs" / f"{name}.json.gz")], OfficialDomains(official_data))
        blocks = re.findall(r'id="c0-\d+">([^<]*)</script>', page.read_text(encoding="utf-8"))
        return [talk for block in blocks for talk in json.loads(gzip.decompress(base64.b64decode(block)))]

    return make


@pytest.mark.parametrize("name", TAU2)
def test_final_states_are_those_of_the_run(talks: Callable[[str], list[dict[str, Any]]], name: str) -> None:
    found = talks(name)
    assert len(found) == TAU2[name]
    for talk in found:
        assert talk["note"] is None, talk["note"]
        database = [check["met"] for check in talk["checks"] if check["kind"] == "DB"]
        if database:
            assert database == [not talk["differences"]]
        assert sum(row["action"] is not None for row in talk["rows"]) == len(talk["actions"])
        assert sum(len({row["call"]} - {None}) for row in talk["rows"]) >= len(talk["calls"])
        matched = {row["action"] for row in talk["rows"] if row["kind"] == "matched"}
        stored = [check["met"] for check in talk["checks"] if check["kind"] == "ACTION"]
        if stored:
            assert [number in matched for number in range(len(stored))] == stored


@pytest.mark.parametrize("name", TAU1)
def test_runs_of_tau1_are_replayed_on_the_domain_that_is_recognised(
    talks: Callable[[str], list[dict[str, Any]]], name: str
) -> None:
    found = talks(name)
    assert len(found) == TAU1[name][0]
    assert any(call["changes"] for talk in found for call in talk["calls"])
    assert sum("are not shown" in (talk["note"] or "") for talk in found) == TURNED.get(name, 0)
    assert not any("not known" in (talk["note"] or "") for talk in found)
