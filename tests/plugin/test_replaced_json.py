"""A project that puts the functions of another library into the module ``json``: nothing that is paid for is lost."""

from __future__ import annotations

import json

import pytest

#: pytest's own cache does not work then.
MOCK = ("-p", "no:cacheprovider", "--tau-domain", "mock", "--tau-split", "small", "--tau-run-name", "night")
#: As orjson's: bytes, and other options.
CONFTEST = """
import json

dumps, loads = json.dumps, json.loads

def as_bytes(value, default=None, option=None):
    return dumps(value, separators=(",", ":"), default=default).encode()

def without_options(text):
    return loads(text)

def replace():
    json.dumps, json.loads = as_bytes, without_options

def pytest_unconfigure():
    json.dumps, json.loads = dumps, loads
"""
EARLY = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_sessionstart():
    replace()
"""
AGENT = """
import conftest

class Agent:
    def __init__(self):
        conftest.replace()

    def respond(self, message):
        return "Good-bye."
"""


@pytest.mark.parametrize(("early", "workers"), [(False, []), (True, []), (False, ["-n2"])], ids=str)
def test_every_trial_is_stored_and_reported(project, workers, early):
    project.write("conftest.py", CONFTEST + (EARLY if early else ""))
    project.write("agents.py", AGENT)
    more = ("--tau-logs", "logs", "--tau-html", "page.html", "--tau-markdown", "page.md", "--junitxml", "junit.xml")
    run = project.run(*MOCK, "--tau-agent", "agents.py:Agent", *more, *workers)
    run.outcomes(failed=3)
    run.lacks("INTERNALERROR")
    run.lacks("cannot be stored")
    folder = project.path / ".tau/runs/night"
    assert len([json.loads(line) for line in (folder / "simulations.jsonl").read_text().splitlines()]) == 3
    assert json.loads((folder / "run.json").read_text())["finished"]
    assert (project.path / "page.html").exists()
    run = project.run(*MOCK[:-2], "--tau-agent", "agents.py:Agent", "--tau-resume", *workers)
    run.line("tau: resume: 3 of 3 trials reused from the earlier run")
