"""A run that finds its first trial while it collects is like one whose settings ask for trials."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

CONFTEST = """
import pytest

def pytest_report_header():
    return "own header"

def pytest_report_collectionfinish():
    return "own end of collection"

def pytest_collection_modifyitems(items):
    print("modifyitems", [item.name for item in items])

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    print("makereport", report.when, report.outcome, type(report.longrepr).__name__, len(report.user_properties))
    return report
"""

TEST = """
import pytest

def test_plain():
    pass

@pytest.mark.tau(domain="mock", num_tasks=2, agent="{agent}")
def test_it(tau_simulation):
    assert tau_simulation.reward == 1

class TestMore:
    @pytest.mark.tau(domain="mock", num_tasks=2, agent="gold", trials=2)
    def test_it(self, tau_simulation):
        pass
"""

#: A setting that has its default value, and whose place makes the run begin before collection.
EARLY = ("-o", "tau_trials=1")


@pytest.fixture
def both(project, a_task):
    """Run pytest twice, once with a setting of pytest-tau; assert that nothing else differs and return a run."""
    project.write("conftest.py", CONFTEST)
    project.write("below/conftest.py", CONFTEST)
    project.write("test_first.py", TEST.format(agent="gold"))
    project.write("below/test_second.py", TEST.format(agent="noop"))
    project.tasks("below/mock/t.tau.json", [a_task()])

    def run(*args):
        late, early = project.run("-s", *args), project.run("-s", *EARLY, *args)
        assert _plain(late) == _plain(early)
        assert late.ret == early.ret
        return late

    return run


def _plain(run):
    text = re.sub(r"[0-9]{8}-[0-9]{6}-[0-9]+-run(-[0-9]+)?", "RUN", run.text.replace(" -o tau_trials=1", ""))
    return re.sub(r"[0-9.]+ ?s\b", "SECONDS", text)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "arguments", [(), ("-v", "-rA"), ("below",), ("-k", "TestMore"), ("--collect-only",), ("-x",), ("below/mock",)]
)
def test_the_output_is_the_same(both, arguments):
    run = both(*arguments)
    run.line("own header")


def test_trials_are_reported(both):
    run = both("-v")
    run.line("tau: mock: ")
    run.line("own end of collection")
    run.line("makereport call failed")
    run.line("tau simulation")


def test_properties_of_junit_xml_are_written(both, project):
    both("--junitxml=found.xml")
    names = {each.get("name") for each in ET.parse(project.path / "found.xml").iter("property")}
    assert "tau_reward" in names


def test_a_marked_test_without_a_fixture_is_a_usage_error(project):
    project.write("test_idle.py", "import pytest\n\n@pytest.mark.tau\ndef test_it(): pass")
    run = project.run()
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.line("marker tau: test_it would pass without a conversation")


def test_the_marker_of_pytest_repeat_is_a_usage_error(project):
    pytest.importorskip("pytest_repeat")
    project.write(
        "test_again.py",
        "import pytest\n\n@pytest.mark.repeat(2)\n@pytest.mark.tau(domain='mock')\ndef test_it(tau_simulation): pass",
    )
    run = project.run("-p", "pytest_repeat")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.line("the marker repeat(N) does not repeat trials")
