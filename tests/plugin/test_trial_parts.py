"""The parts of the trial of an item of tasks: each is a fixture, which others may use or override."""

from __future__ import annotations

import pytest

#: Writes down each fixture that is set up, and what hooks and fixtures see of the trial's parts.
CONFTEST = """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    value = yield
    if "tau" in fixturedef.argname:
        print("set up", fixturedef.argname)
    return value
"""

#: Checks in the call of each test that the environment is the one that the trial ran on.
SEEN_IN_THE_CALL = """
@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    env = item.funcargs["tau_env"]
    print("tasks", len(env.dump()["agent"]["tasks"]), item._request.getfixturevalue("tau_env") is env)
    return (yield)
"""
ONE = ("-s", "--tau-domain", "mock", "--tau-num-tasks", "1", "-k", "create")


def set_up(run):
    return [line.partition("set up ")[2] for line in run.text.splitlines() if "set up " in line]


@pytest.mark.parametrize(
    "own",
    [
        "@pytest.fixture\ndef tau_agent(tau_agent):\n    return tau_agent",
        "@pytest.fixture(autouse=True)\ndef watch(tau_env):\n    pass",
        "@pytest.fixture(autouse=True)\ndef watch(request):\n    request.getfixturevalue('tau_env')",
    ],
    ids=["an override", "an autouse fixture", "a dynamic request"],
)
def test_a_part_that_a_conftest_uses_is_a_fixture(project, own):
    project.write("conftest.py", CONFTEST + SEEN_IN_THE_CALL + own)
    run = project.run(*ONE)
    run.outcomes(passed=1)
    assert {"_tau_spec", "tau_task", "tau_env"} <= set(set_up(run))
    run.line("tasks 3 True")


@pytest.mark.parametrize("options", [[], ["--tau-concurrency=2"]], ids=["serial", "prefetched"])
def test_the_call_sees_the_parts_of_the_trial(project, options):
    project.write("conftest.py", CONFTEST + SEEN_IN_THE_CALL)
    run = project.run(*ONE, *options)
    run.outcomes(passed=1)
    run.line("tasks 3 True")


def test_messages_reach_hooks_in_order(project):
    project.write(
        "conftest.py", "def pytest_tau_message(item, message):\n    print('message', message.turn_idx, item.name)\n"
    )
    run = project.run(*ONE)
    run.outcomes(passed=1)
    seen = [line.split()[1] for line in run.text.splitlines() if line.startswith(("message", ".message"))]
    assert len(seen) > 2
    assert seen == sorted(seen, key=int)
