"""The table of a trial's columns, and the places that are made of it."""

from __future__ import annotations

import csv
import io
from collections import Counter

from trial_records import trial_record

from pytest_tau.analysis.columns import COLUMNS
from pytest_tau.analysis.gates.metrics import METRICS
from pytest_tau.analysis.summary import summarise
from pytest_tau.reports.export import write_csv
from pytest_tau.reports.html.data import page_columns
from pytest_tau.reports.text import format_stats
from pytest_tau.runs.reader import Run


def repeated(names):
    return [name for name, number in Counter(names).items() if number > 1]


def test_names_are_given_once():
    assert not repeated(each.name for each in COLUMNS)
    assert not repeated(each.page.name for each in COLUMNS if each.page)
    assert not repeated(each.metric.name for each in COLUMNS if each.metric)


def test_a_part_belongs_to_a_column_that_the_summary_shows():
    units = {each.name: each.unit for each in COLUMNS}
    assert all(units[each.part_of] and each.unit for each in COLUMNS if each.part_of)


def test_each_is_where_it_says(tmp_path):
    (tmp_path / "simulations.jsonl").write_text("", encoding="utf-8")
    table = io.StringIO()
    write_csv(Run(tmp_path), table)
    assert next(csv.reader([table.getvalue()])) == [each.name for each in COLUMNS if each.exported]
    assert set(METRICS) == {"errors", *(each.metric.name for each in COLUMNS if each.metric)}
    shown = [each.page for each in COLUMNS if each.page and each.page.kind != "data"]
    assert {each["label"] for each in page_columns(COLUMNS, [])} == {page.label for page in shown}


def test_the_summary_shows_the_mean_of_each_that_has_a_unit():
    records = [trial_record("a", trial, turns=2 + trial, calls=3) for trial in (0, 1)]
    (summary,) = summarise(records)
    assert summary.stats is not None
    assert {"2.5 turns", "3.0 calls"} <= set(format_stats(summary.stats, None, 2))
