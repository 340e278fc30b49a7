"""``--tau-run-name``: of two runs that start with one name, the second ends before its first trial."""

from __future__ import annotations

import errno
import json

import pytest

from pytest_tau.runs import lock as lock_module

NAMED = ("--tau-domain", "mock", "--tau-split", "small", "--tau-agent", "agents:Agent", "--tau-run-name", "same")
AGENT = """
from pathlib import Path

class Agent:
    def __init__(self):
        Path("built.txt").touch()

    def respond(self, message):
        return "Good-bye."
"""
#: Another run of the name begins once this one has found the name free.
LATER = """
import pathlib
from pytest_tau.runs.lock import RunLock

OTHERS = []

def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput"):
        folder = pathlib.Path(".tau/runs/same")
        folder.mkdir(parents=True)
        OTHERS.append(RunLock(folder, "today"))
        if LOCKS:
            OTHERS[-1].acquire()
        if STORES:
            (folder / "run.json").write_text('{"finished": null}')
            (folder / "simulations-gw0.jsonl").write_text("{}\\n")

def pytest_unconfigure():
    while OTHERS:
        OTHERS.pop().release()
"""


@pytest.fixture
def named(project):
    project.write("agents.py", AGENT)

    def run(*args, locks=False, stores=False):
        project.write("conftest.py", f"LOCKS, STORES = {locks}, {stores}\n{LATER}")
        return project.run(*NAMED, *args)

    run.folder = project.path / ".tau/runs/same"
    run.built = project.path / "built.txt"
    return run


@pytest.mark.parametrize("workers", [[], ["-n2"], ["--tau-concurrency=3"]], ids=str)
@pytest.mark.parametrize("stores", [False, True])
def test_a_run_that_has_begun_meanwhile_keeps_the_name(named, workers, stores):
    run = named(*workers, "--tau-html", "page.html", locks=True, stores=stores)
    assert run.ret == pytest.ExitCode.USAGE_ERROR, run.text
    run.line("--tau-run-name: .tau/runs/same is in use: process", "has used it since today", "choose another name")
    assert not named.built.exists()
    assert not named.folder.parent.parent.with_name("page.html").exists()
    if stores:
        assert json.loads((named.folder / "run.json").read_text()) == {"finished": None}
        assert (named.folder / "simulations-gw0.jsonl").read_text() == "{}\n"


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=str)
def test_a_run_that_has_ended_meanwhile_keeps_the_name(named, workers):
    run = named(*workers, stores=True)
    assert run.ret == pytest.ExitCode.USAGE_ERROR, run.text
    run.line("--tau-run-name: .tau/runs/same exists: resume that run with --tau-resume same, or choose another name")
    assert not named.built.exists()
    assert sorted(file.name for file in named.folder.iterdir()) == ["run.json", "simulations-gw0.jsonl"]


def test_without_locks_the_first_to_make_the_folder_has_it(named, project, monkeypatch):
    def no_locks(file):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock_module, "_lock", no_locks)
    run = named()
    assert run.ret == pytest.ExitCode.USAGE_ERROR, run.text
    run.line("--tau-run-name: .tau/runs/same exists: ")
    assert not named.built.exists()
    (project.path / "conftest.py").write_text("")
    project.run(*NAMED, "--tau-run-name", "other").outcomes(failed=3)


def test_a_run_that_was_killed_before_it_stored_anything_leaves_the_name_free(project):
    folder = project.path / ".tau/runs/same"
    folder.mkdir(parents=True)
    (folder / "run.lock").write_text("{}")
    (folder / "run-gw0.lock").touch()
    project.write("agents.py", AGENT)
    project.run(*NAMED).outcomes(failed=3)
    assert len((folder / "simulations.jsonl").read_text().splitlines()) == 3


def test_a_file_of_the_name_is_refused(project):
    project.write(".tau/runs/same", "a file")
    project.write("agents.py", AGENT)
    project.run(*NAMED).usage_error("--tau-run-name: .tau/runs/same exists")
