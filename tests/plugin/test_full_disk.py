"""A disk that gets full: what is kept in the folder for temporary files is used when the run is resumed."""

from __future__ import annotations

import errno
import json
import tempfile

import pytest

from pytest_tau.plugin.store import spare
from pytest_tau.plugin.store.writer import SimulationFile
from pytest_tau.runs import jsonl

RUN = ("--tau-domain", "mock", "--tau-trials", "2", "--tau-split", "small", "--tau-agent", "agents:Agent")
AGENT = """
import os
from pathlib import Path

class Agent:
    def __init__(self):
        with open("built.txt", "a") as file:
            file.write("x")

    def respond(self, message):
        return "Good-bye."
"""
#: The disk with the folder of runs has no room while there is a file "full"; "from" says from when on.
CONFTEST = """
import errno, tempfile
from pathlib import Path

from pytest_tau import files
from pytest_tau.plugin.store import spare, writer
from pytest_tau.runs import jsonl, manifest

ROOT = Path(__file__).parent
RUNS = str(ROOT / ".tau")
append, write = jsonl.append_lines, files.atomic_write

def is_full():
    return (ROOT / "full").exists() and (START or any(ROOT.glob(".tau/runs/*/simulations*.jsonl")))

def refuse(path):
    if str(path).startswith(RUNS) and is_full():
        raise OSError(errno.ENOSPC, "No space left on device")

def append_lines(path, lines):
    refuse(path)
    append(path, lines)

def atomic_write(path, content):
    refuse(path)
    write(path, content)

def pytest_configure():
    tempfile.tempdir = None  # a process may run the workers of several tests
    jsonl.append_lines = spare.append_lines = append_lines
    manifest.atomic_write = spare.atomic_write = atomic_write

def pytest_unconfigure():
    jsonl.append_lines = spare.append_lines = append
    manifest.atomic_write = spare.atomic_write = write
"""


@pytest.fixture
def disk(project, tmp_path_factory, monkeypatch):
    """A project on a disk with little room."""
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)

    def run(*args, start=False, full=True):
        project.write("agents.py", AGENT)
        project.write("conftest.py", f"START = {start}\n{CONFTEST}")
        (project.path / "full").touch() if full else (project.path / "full").unlink()
        (project.path / "built.txt").write_text("")
        return project.run(*RUN, *args)

    run.built = lambda: len((project.path / "built.txt").read_text())
    run.spares = lambda: [*temporary.glob("tau-simulations-*")]
    return run


@pytest.mark.parametrize("workers", [[], ["-n2"], ["--tau-concurrency=4"]], ids=str)
@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("named", [[], ["--tau-run-name", "night"]], ids=str)
def test_what_is_kept_elsewhere_is_not_run_again(disk, project, workers, start, named):
    run = disk(*named, *workers, start=start)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("tau: simulations cannot be stored in ", "No space left on device; they are in")
    assert disk.built() == 6
    assert disk.spares()
    resumes = ["--tau-resume=night"] if named else ["--tau-resume"]
    run = disk(*resumes, *workers, start=True)
    run.usage_error("--tau-resume: the results in ", " cannot be moved to ", "No space left on device")
    run = disk(*resumes, *workers, full=False)
    run.line("tau: resume: 6 of 6 trials reused from the earlier run")
    assert disk.built() == 0
    assert disk.spares() == []
    (folder,) = (project.path / ".tau/runs").iterdir()
    assert sorted(file.name for file in folder.iterdir()) == ["run.json", "simulations.jsonl"]
    tests = [json.loads(line)["test"] for line in (folder / "simulations.jsonl").read_text().splitlines()]
    assert len(tests) == len(set(tests)) == 6


def test_what_is_only_collected_is_left(disk, project):
    disk()
    (project.path / "full").unlink()
    before = [file.read_bytes() for file in disk.spares()[0].iterdir()]
    project.collected(*RUN, "--tau-resume")
    assert [file.read_bytes() for file in disk.spares()[0].iterdir()] == before


@pytest.fixture
def full(monkeypatch):
    """No disk has room until the set is empty."""
    places = {"run", "temporary"}
    append, make = jsonl.append_lines, spare.make_spare

    def append_lines(path, lines):
        if "run" in places:
            raise OSError(errno.ENOSPC, "No space left on device")
        append(path, lines)

    def make_spare(run):
        if "temporary" in places:
            raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")
        return make(run)

    monkeypatch.setattr(jsonl, "append_lines", append_lines)
    monkeypatch.setattr(spare, "make_spare", make_spare)
    return places


@pytest.mark.parametrize("at_the_end", [False, True])
def test_what_there_was_no_room_for_anywhere_is_stored_once_there_is(full, tmp_path, at_the_end):
    file = SimulationFile(tmp_path / "run")
    for line in ("one\n", "two\n"):
        problem = file.append(line)
        assert problem is not None
        assert "nor in a folder for temporary files: No usable temporary directory found; the conv" in problem
    full.clear()
    assert at_the_end or file.append("three\n") is None
    file.close()
    expected = "one\ntwo\n" if at_the_end else "one\ntwo\nthree\n"
    assert (tmp_path / "run/simulations.jsonl").read_text() == expected


def test_folders_of_others_and_of_other_runs_are_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = {name: spare.make_spare(tmp_path / name) for name in ("a/one", "a/one-1", "b/one", "a/open")}
    for folder in made.values():
        (folder / "simulations.jsonl").write_bytes(b'{"test": "x"}\n{"test": "cut')
    made["a/open"].chmod(0o777)
    (tmp_path / "a").mkdir()
    for name in ("one", "open"):
        (tmp_path / "a" / name).mkdir()
        spare.take_back(tmp_path / "a" / name)
    assert (tmp_path / "a/one/simulations.jsonl").read_bytes() == b'{"test": "x"}\n'
    assert [name for name, folder in made.items() if folder.exists()] == ["a/one-1", "b/one", "a/open"]
    assert not (tmp_path / "a/open/simulations.jsonl").exists()
