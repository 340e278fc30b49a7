"""The report of a large run, gathered by several processes: the same page, whatever happens to them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.reports.html import processes, write_report
from pytest_tau.reports.html.gathering import Gatherer
from pytest_tau.runs.jsonl import read_lines
from pytest_tau.runs.parts import PartReader, divide, run_file
from pytest_tau.runs.reader import Run

from . import tiny
from .report_pages import CRITERIA, OneDomain, bad, good, line, run_folder

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

ROOT = Path(__file__).parents[2]
#: Parts have 160 simulations.
NUMBER = 2 * 160 + 21

CONFTEST = """
    import multiprocessing
    from pathlib import Path
    from tests.unit import tiny

    files = Path(__file__).with_name("files")
    elsewhere = multiprocessing.parent_process() is not None

    def pytest_tau_domains():
        if elsewhere:
            Path(__file__).with_name("loaded-elsewhere").touch()
        return [tiny.spec(files)]
"""
#: A command for which any run is large; its other process has the first two parts.
COMMAND = """
    import os, sys, time
    from pytest_tau.cli import main
    from pytest_tau.reports.html import processes

    processes.PER_PROCESS = 1
    os.cpu_count = lambda: 2
"""


@pytest.fixture
def project(tmp_path: Path, domain: Domain) -> Path:
    """A project with a domain of its own and with a run of three parts."""
    tiny.make(tmp_path / "files")
    (tmp_path / "conftest.py").write_text(textwrap.dedent(CONFTEST), encoding="utf-8")
    task = tiny.task(CRITERIA)
    made = [good(domain, task), bad(domain, task)]
    simulations = [made[n % 3 == 0].model_copy(update={"trial": n, "id": f"s{n}"}) for n in range(NUMBER)]
    run_folder(tmp_path / "run", *(line(simulation, task) for simulation in simulations), started="2026-01-31")
    return tmp_path


def alone(project: Path, domain: Domain) -> bytes:
    """The page as one process writes it."""
    write_report(project / "one.html", [Run(project / "run")], OneDomain(domain))
    return (project / "one.html").read_bytes()


def in_processes(project: Path, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own: modules of this one may have been imported more than once."""
    text = textwrap.dedent(COMMAND) + textwrap.dedent(code) + "\nsys.exit(main(['view', 'run', '--out', 'two.html']))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", text]
    # A session of its own, so that signals of a test are not for pytest.
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=project,
        env=environment,
        start_new_session=True,
        timeout=100,
    )


def test_several_processes_write_the_page_of_one_process(project: Path, domain: Domain) -> None:
    done = in_processes(project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == f"{NUMBER} simulations of run:"
    assert (project / "loaded-elsewhere").exists()
    assert (project / "two.html").read_bytes() == alone(project, domain)


def test_the_first_process_begins_with_the_last_part(
    project: Path, domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(project / "run")
    file = run_file(run.path)
    assert file is not None
    own = processes._Process(Gatherer(run, OneDomain(domain), compared=False), PartReader(file))
    parts = divide(file, 160)
    taken = []

    def submit(_: Any, part: Any) -> Future[Any]:
        taken.append(parts.index(part))
        return Future()  # of a process that has just been started

    pool = SimpleNamespace(submit=submit)
    monkeypatch.setattr(processes._Process, "_result", lambda *_: "of another process")
    found = own.gather_with(pool, 1, parts)  # type: ignore[arg-type]
    assert found[:2] == ["of another process"] * 2
    assert (taken, found[2].facts[0].record.trial, len(found[2].facts)) == ([0, 1], 320, 21)
    taken.clear()
    monkeypatch.setattr(processes, "_AHEAD", 0)
    assert [len(part.facts) for part in own.gather_with(pool, 1, parts)] == [160, 160, 21]  # type: ignore[arg-type]
    assert taken == []


def test_a_process_that_is_killed_leaves_its_parts_to_the_first_one(project: Path, domain: Domain) -> None:
    conftest = project / "conftest.py"
    code = conftest.read_text(encoding="utf-8") + "if elsewhere:\n    import os\n    os._exit(3)\n"
    conftest.write_text(code, encoding="utf-8")
    done = in_processes(project)
    assert (done.returncode, done.stderr) == (0, "")
    assert (project / "two.html").read_bytes() == alone(project, domain)


def test_a_damaged_line_is_reported_as_by_one_process(project: Path, domain: Domain) -> None:
    file = project / "run/simulations.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[200] = lines[200].replace(b'"messages": [', b'"messages": [7, ', 1)
    file.write_bytes(b"".join(lines))
    done = in_processes(project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("excluded: simulations.jsonl: entry 200 (task t, trial 200)")
    assert (project / "two.html").read_bytes() == alone(project, domain)


def test_ctrl_c_ends_every_process(project: Path) -> None:
    code = """
        import multiprocessing, signal
        from pathlib import Path
        def gather(self, part):
            while not Path("loaded-elsewhere").exists():
                time.sleep(0.01)
            os.killpg(0, signal.SIGINT)
            time.sleep(60)
        processes._Process.gather = gather
        try:
            main(['view', 'run', '--out', 'two.html'])
        except KeyboardInterrupt:
            print(multiprocessing.active_children())
        sys.exit(7)
    """
    done = in_processes(project, code)
    assert (done.returncode, done.stdout, done.stderr) == (7, "[]\n", "")
    assert not (project / "two.html").exists()


def test_small_runs_and_one_processor_need_no_process(
    project: Path, domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere() -> Any:
        raise AssertionError

    expected = alone(project, domain)
    monkeypatch.setattr(processes, "ProcessPoolExecutor", None)
    write_report(project / "two.html", [Run(project / "run")], OneDomain(domain), elsewhere)
    assert (project / "two.html").read_bytes() == expected
    monkeypatch.setattr(processes, "PER_PROCESS", 1)
    monkeypatch.setattr(processes.os, "cpu_count", lambda: None)
    write_report(project / "three.html", [Run(project / "run")], OneDomain(domain), elsewhere)
    assert (project / "three.html").read_bytes() == expected


# Parts of a run


def test_parts_are_the_lines_of_the_file_in_order(project: Path) -> None:
    file = run_file(project / "run")
    assert file is not None
    text = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join([*text[:3], "\n", *text[3:]]), encoding="utf-8")
    parts = divide(file, 160)
    found = [list(read_lines(file, part)) for part in parts]
    assert [len(lines) for lines in found] == [160, 160, 21]
    assert [line for lines in found for line in lines] == list(read_lines(file))


def test_a_run_with_repeated_tests_or_other_lines_is_not_divided(project: Path, tmp_path: Path) -> None:
    file = run_file(project / "run")
    assert file is not None
    text = file.read_bytes()
    file.write_bytes(text + text.splitlines(keepends=True)[0])
    assert divide(file, 160) == []
    file.write_bytes(text + b'{"id": "of others"}\n')
    assert divide(file, 160) == []
    (project / "run/simulations-gw0.jsonl").write_bytes(text)
    assert run_file(project / "run") is None
    assert run_file(file) is None
    assert run_file(project / "files") is None
