"""``--tau-html``: a report of the run, written in the end by the process that reports."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import FakeModels, Project


def shown(file: Path) -> dict[str, Any]:
    """The data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])


def outcomes(file: Path) -> dict[tuple[str, int], str]:
    """The outcome of each trial of a page."""
    data = shown(file)
    rows = [dict(zip(data["fields"], row, strict=True)) for row in data["runs"][0]["rows"]]
    return {(data["tasks"][row["task"]][1], row["trial"]): row["outcome"] for row in rows}


def conversations(file: Path) -> list[dict[str, Any]]:
    blocks = re.findall(r'id="c0-\d+">([^<]*)</script>', file.read_text(encoding="utf-8"))
    return [talk for block in blocks for talk in json.loads(gzip.decompress(base64.b64decode(block)))]


def test_a_run_writes_its_report(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    other = a_task("greet-only", criteria={"actions": [], "communicate_info": ["hello there"]})
    project.tasks("mock/t.tau.json", [a_task(), other])
    run = project.run("--tau-trials", "2", "--tau-html", "out/report.html")
    run.outcomes(passed=4)
    assert run.line("tau: report in") == "tau: report in out/report.html"
    found = outcomes(project.path / "out/report.html")
    assert set(found) == {(task, trial) for task in ("buy-milk", "greet-only") for trial in (0, 1)}
    counts = shown(project.path / "out/report.html")["runs"][0]["counts"]
    assert (counts["planned"], counts["run"], counts["not_run"]) == (4, 4, {})


def test_failures_and_what_calls_changed_are_in_it(
    project: Project, a_task: Callable[..., dict[str, Any]], scripted: Callable[..., str]
) -> None:
    project.tasks("mock/t.tau.json", [a_task()])
    agent = scripted('call("create_task", user_id="user_1", title="Buy tea")', '"Done."')
    run = project.run("--tau-agent", agent, "--tau-html", "r.html")
    run.outcomes(failed=1)
    assert outcomes(project.path / "r.html") == {("buy-milk", 0): "failed"}
    (talk,) = conversations(project.path / "r.html")
    (call,) = [call for call in talk["calls"] if call["name"] == "create_task"]
    assert any("Buy tea" in str(change) for change in call["changes"])
    assert [row["kind"] for row in talk["rows"]] == ["differs"]
    assert talk["test"].endswith("t.tau.json::buy-milk[trial-0]")


def test_a_domain_of_ones_own_is_replayed(shelf: Project) -> None:
    run = shelf.run("--tau-domain", "shelf", "--tau-html", "r.html")
    run.outcomes(passed=2)
    changes = [call["changes"] for talk in conversations(shelf.path / "r.html") for call in talk["calls"]]
    assert changes == [
        [["agent", "books/Emma/lent", "false", "true"]],
        [["agent", "books/Ulysses/lent", "false", "true"]],
    ]


def test_workers_give_one_report(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.tasks("mock/t.tau.json", [a_task(f"milk-{n}") for n in range(4)])
    run = project.run("-n2", "--tau-html", "r.html")
    run.outcomes(passed=4)
    run.line("tau: report in r.html")
    assert set(outcomes(project.path / "r.html").values()) == {"passed"}
    assert len(outcomes(project.path / "r.html")) == 4
    assert all(talk["note"] is None for talk in conversations(project.path / "r.html"))


def test_model_calls_are_shown_with_their_cost(models: FakeModels, project: Project) -> None:
    models.run("--tau-html", "r.html").outcomes(passed=1)
    data = shown(project.path / "r.html")
    row = dict(zip(data["fields"], data["runs"][0]["rows"][0], strict=True))
    assert row["cost"] == pytest.approx(0.25 * len(models.calls()))
    assert ["Agent model", "fake/agent"] in data["runs"][0]["about"]


def test_omitted_trials_are_reported(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
    project.run("-k", "one", "--tau-html", "r.html").outcomes(passed=1, deselected=1)
    assert shown(project.path / "r.html")["runs"][0]["counts"]["excluded"] == {"deselected": 1}


def test_trials_are_counted_as_in_the_terminal(project: Project) -> None:
    project.write(
        "test_it.py",
        """
        import pytest

        marked = pytest.mark.tau(domain="mock", tasks="create-task")

        @marked
        def test_run(tau_simulation):
            pass

        @marked
        def test_skipped(tau_simulation):
            pass
        """,
    )
    project.write(
        "conftest.py",
        """
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if "skipped" in item.name:
                    item.add_marker(pytest.mark.skip("not today"))
        """,
    )
    run = project.run("--tau-html", "r.html", "test_it.py")
    run.line("planned: 1 run, 1 not run (not today)")
    counts = shown(project.path / "r.html")["runs"][0]["counts"]
    assert (counts["planned"], counts["run"], counts["excluded"]) == (2, 1, {})
    assert counts["not_run"] == {"not today": 1}
    assert counts["called_models"] is False


def test_the_ini_names_it_too(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.ini("tau_html = out/r.html")
    project.tasks("mock/t.tau.json", [a_task()])
    project.run().line("tau: report in out/r.html")
    assert (project.path / "out/r.html").is_file()


def test_no_report_without_the_option(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.tasks("mock/t.tau.json", [a_task()])
    project.run().lacks("report in")
    assert not list(project.path.rglob("*.html"))


def test_run_without_trials_reports_why_there_is_no_report(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass")
    run = project.run("--tau-html", "r.html")
    run.line("tau: no report in r.html: no simulation was run")
    assert not (project.path / "r.html").exists()


def test_unwritable_file_is_reported(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("taken", "a file")
    run = project.run("--tau-html", "taken/r.html")
    run.outcomes(passed=1)
    run.line("tau: no report in taken/r.html: ", "taken")


def test_a_folder_is_refused(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.tasks("mock/t.tau.json", [a_task()])
    project.run("--tau-html", ".").usage_error("--tau-html: expected a file, got the folder")


def test_it_needs_what_the_run_keeps(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.tasks("mock/t.tau.json", [a_task()])
    run = project.run("--tau-html", "r.html", "--tau-results", "none")
    run.usage_error("--tau-html: needs a stored run, but --tau-results none stores nothing")


def test_nothing_is_written_where_nothing_is_run(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.tasks("mock/t.tau.json", [a_task()])
    project.run("--collect-only", "--tau-html", "r.html").lacks("report")
    assert not (project.path / "r.html").exists()


def test_it_is_written_without_a_terminal(project: Project, a_task: Callable[..., dict[str, Any]]) -> None:
    project.tasks("mock/t.tau.json", [a_task()])
    project.run("-p", "no:terminal", "--tau-html", "r.html")
    assert outcomes(project.path / "r.html") == {("buy-milk", 0): "passed"}


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_decisions_of_gates_and_baseline_are_in_it(
    project: Project, a_task: Callable[..., dict[str, Any]], scripted: Callable[..., str], workers: tuple[str, ...]
) -> None:
    project.tasks("mock/t.tau.json", [a_task(f"task-{number}") for number in range(8)])
    project.run("--tau-results=before")
    gates = ["--tau-gate=pass^1>=0.9", "--tau-gate=errors<=0.5", "--tau-baseline=before", "--tau-fail-on=regression"]
    run = project.run("--tau-agent", scripted('"Hello."'), "--tau-html=r.html", *gates, *workers)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    found = dict(shown(project.path / "r.html")["decisions"])
    assert len(found) == 4
    assert found[run.line("tau: gate pass^1", "missed").removeprefix("tau: ")] is False
    assert found[run.line("tau: gate errors", "met").removeprefix("tau: ")] is True
    assert found["--tau-fail-on regression: a regression"] is False
    assert [line for line, met in found.items() if met is None and line.startswith("a significant loss against")]


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_gates_of_tests_are_in_it(project: Project, workers: tuple[str, ...]) -> None:
    project.write(
        "test_it.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create-task", trials=2, at_least=0.5)
        def test_run(tau_simulation):
            pass
        """,
    )
    run = project.run("--tau-html=r.html", "test_it.py", *workers)
    assert shown(project.path / "r.html")["decisions"] == [[run.line("tau: gate of").removeprefix("tau: "), True]]
