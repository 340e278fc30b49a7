"""Options of bundled capabilities are declared when a run may have one: wherever it comes from, it counts."""

from __future__ import annotations

import pytest

#: A tool fails in each trial; the fault is in the header.
FAULTS = "get_users:1"


def check(run):
    run.line("tau: domain mock", f"tool faults {FAULTS}")


def test_from_the_command_line(project):
    check(project.run("--tau-domain", "mock", "--tau-tool-faults", FAULTS))


def test_from_the_ini_file(project):
    project.ini(f"tau_tool_faults = {FAULTS}")
    check(project.run("--tau-domain", "mock"))


def test_from_the_ini_key_of_the_command_line(project):
    check(project.run("-o", f"tau_tool_faults={FAULTS}", "-o", "tau_domain=mock"))


def test_from_addopts(project):
    project.ini(f"addopts = --tau-domain mock --tau-tool-faults {FAULTS}")
    check(project.run())


def test_from_the_environment(project, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", f"--tau-domain mock --tau-tool-faults {FAULTS}")
    check(project.run())


def test_from_a_file_of_arguments(project):
    project.write("arguments.txt", f"--tau-domain\nmock\n--tau-tool-faults\n{FAULTS}\n")
    check(project.run("@arguments.txt"))


def test_in_a_worker(project):
    project.write("test_it.py", "def test_it(request):\n    print(request.config.getoption('tau_tool_faults'))")
    run = project.run("-n", "1", "-rP", "--tau-tool-faults", FAULTS)
    run.line(repr([FAULTS]))


@pytest.mark.parametrize(
    "hook", ["def pytest_tau_message(message): pass", "def tau_agent(): pass", "import pytest_tau"]
)
def test_a_conftest_that_is_about_trials_can_read_them_in_any_run(project, hook):
    project.write(
        "conftest.py",
        f"{hook}\ndef pytest_configure(config):\n    print('value', config.getoption('tau_tool_faults'))",
    )
    project.write("test_it.py", "def test_it(): pass")
    run = project.run("-s")
    run.outcomes(passed=1)
    run.line("value None")


def test_a_marked_test_has_the_capabilities_that_are_on_by_default(project):
    project.write(
        "test_it.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock-approvals", num_tasks=1)
        def test_it(tau_simulation, request):
            assert request.config.getoption("tau_tool_faults") is None
            assert request.config.getini("tau_tool_faults") is None
            assert tau_simulation.facts["approvals"]
        """,
    )
    project.run().outcomes(passed=1)
