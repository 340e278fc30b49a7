"""What is reported of the searches in a knowledge base: summary, failure report, CSV, gates, the page, stored facts."""

from __future__ import annotations

import csv
import io
import json
import runpy
from pathlib import Path

import pytest

from pytest_tau.reports.export import write_csv
from pytest_tau.runs.reader import Run

KNOWLEDGE = runpy.run_path(str(Path(__file__).with_name("test_knowledge.py")))
run = KNOWLEDGE["run"]


@pytest.fixture
def shop(project):
    """A shop whose agent searches once, and reads one of two required documents."""
    project.write("conftest.py", KNOWLEDGE["CONFTEST"])
    project.write("agent.py", KNOWLEDGE["AGENT"])
    project.write("shop/documents/refunds.md", "# Refunds\nA refund takes 3 days.\n")
    for number in range(1, 13):
        project.write(f"shop/documents/hours/{number}.md", f"# Hours {number}\nBranch {number}: opening hours to 20\n")
    project.tasks("shop/tasks/t.json", [KNOWLEDGE["TASK"]])
    return project


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_failure_report_and_summary_have_the_searches(shop, workers):
    found = run(shop, *workers)
    found.line("retrieval: bm25: 1 search, 1 of 2 required documents read, recall 0.50")
    found.line('retrieval: message 2: KB_search "opening hours": hours/1 (required, place 1), hours/10, hours/11 and 7')
    found.line("retrieval: required and never read: refunds")
    found.line("  retrieval      recall 0.50 (at 1: 0.50, at 5: 0.50, at 10: 0.50), 1.0 searches")
    (folder,) = shop.path.glob(".tau/runs/2*")
    (line,) = (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()
    facts = json.loads(line)["facts"]["retrieval_figures"]
    assert (facts["variant"], facts["number"], facts["required_read"], facts["recall"]) == ("bm25", 1, 1, 0.5)
    run(shop, "-q").lacks("  retrieval  ")


def test_documents_in_the_policy_are_read(shop):
    found = run(shop, "--tau-agent-retrieval", "full_kb")
    found.line("retrieval: full_kb: 0 searches, 2 of 2 required documents read, recall 1.00")
    run(shop, "--tau-agent-retrieval", "no_knowledge").line("required and never read: refunds, hours/1")


def test_exports_and_gates_have_recall(shop):
    run(shop, "--tau-gate", "recall>=0.9").line("gate recall >= 0.9: 0.500", ": missed")
    (folder,) = shop.path.glob(".tau/runs/2*")
    table = io.StringIO()
    write_csv(Run(folder), table)
    (values,) = csv.DictReader(io.StringIO(table.getvalue()))
    assert (values["retrieval"], values["searches"], values["recall"]) == ("bm25", "1", "0.5")


def test_html_report_has_the_searches(shop):
    run(shop, "--tau-html", "report.html")
    page = (shop.path / "report.html").read_text()
    assert '"Recall"' in page
    assert '"Searches"' in page


def test_a_domain_without_documents_has_no_figures(project):
    found = project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "--tau-gate", "recall>=0.9")
    found.lacks("  retrieval  ")
    found.line("gate recall >= 0.9: not decided: no task requires documents")
