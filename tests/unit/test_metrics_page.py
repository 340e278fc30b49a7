"""docs/metrics.md defines the metrics and columns of the core, and exported metrics; those of capabilities are on a page."""

from __future__ import annotations

import importlib
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tau.analysis.columns import COLUMNS
from pytest_tau.capabilities import BUNDLED
from pytest_tau.evaluation.partial import COUNTS, SHARES
from pytest_tau.models.reviews import FAULT_OWNERS, FAULT_TYPES, SEVERITIES
from pytest_tau.reports.export_metrics import write_metrics

from .report_pages import bad, line, run_folder
from .test_report import WANTED

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "metrics.md").read_text(encoding="utf-8")
#: Names that the page has as code, outside of its examples.
DEFINED = set(re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)))


def test_every_column_is_defined() -> None:
    assert {each.name for each in COLUMNS if each.exported} - DEFINED == set()


def test_every_column_of_a_capability_is_on_a_page() -> None:
    pages = "".join(each.read_text(encoding="utf-8") for each in DOCS.glob("*.md"))
    for name in BUNDLED:
        capability = importlib.import_module(f"pytest_tau.capabilities.{name}").capability
        for column in capability.columns:
            assert f"`{column.name.removesuffix('*')}" in pages, (name, column.name)


def test_every_metric_of_gates_is_defined() -> None:
    assert {*(each.metric.name for each in COLUMNS if each.metric), "pass^1", "errors"} - DEFINED == set()


def test_every_number_of_partial_credit_is_defined() -> None:
    assert {*SHARES, *COUNTS} - DEFINED == set()


def test_every_field_of_exported_metrics_is_defined(tmp_path: Path, domain: Domain) -> None:
    run, out = run_folder(tmp_path / "run", line(bad(domain, WANTED), WANTED)), io.StringIO()
    assert write_metrics(run, out, "tiny", {}.get) == 1
    by_side = {"user_errors_by_severity", "user_error_tags_by_severity", "sims_by_max_user_severity"}
    assert json.loads(out.getvalue()).keys() - DEFINED == by_side, "which the page calls the same for the user"


def test_every_value_of_a_review_is_described() -> None:
    names = {*FAULT_OWNERS, *FAULT_TYPES, *(each for side in SEVERITIES.values() for each in side)}
    page = (DOCS / "report.md").read_text(encoding="utf-8")
    assert {name for name in names if f"`{name}`" not in page} == set()
