"""A project that has nothing to do with pytest-tau does not notice it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PLAIN = """
import sys

def test_plain():
    assert 1 + 1 == 2

def test_nothing_was_imported():
    heavy = ["pydantic", "litellm", "asyncio", "docstring_parser", "pytest_tau_domains", "pytest_tau_tasks"]
    ours = ["models", "environment", "participants", "orchestrator", "evaluation", "runner", "domains", "plugin.context.run_context"]
    loaded = [name for name in [*heavy, *(f"pytest_tau.{part}" for part in ours)] if name in sys.modules]
    assert not loaded
    assert "pytest_tau.plugin" in sys.modules
"""


def _pytest(project, *args):
    # Other plugins of this environment may import what we are looking for.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "tau", *args]
    done = subprocess.run(command, cwd=project.path, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_nothing_is_imported_and_nothing_is_said(project):
    project.write("test_plain.py", PLAIN)
    project.write("package.json", '{"name": "unrelated"}')
    project.write("data/tasks.json", "not even JSON")
    project.write("conftest.py", "import pytest\n\n@pytest.fixture(autouse=True)\ndef own():\n    yield\n")
    status, text = _pytest(project, "-v", "-rA")
    assert status == 0, text
    assert "2 passed" in text
    said = [line for line in text.splitlines() if "tau" in line and not line.startswith(("plugins:", "rootdir:"))]
    assert said == []


def test_nothing_is_imported_by_listings(project):
    """--markers, --fixtures and --help name what there is without importing it."""
    for listing in ("--markers", "--fixtures", "--help"):
        project.write(
            "conftest.py",
            """
            import sys

            def pytest_unconfigure():
                assert "pydantic" not in sys.modules
            """,
        )
        status, text = _pytest(project, listing)
        assert status == 0, text
        assert "AssertionError" not in text


def test_a_project_without_tests_ends_as_always(project):
    run = project.run()
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    run.lacks("tau: ")


def test_settings_in_the_ini_do_no_harm_where_plain_tests_run(project):
    project.ini("tau_agent = nomodule:Agent", "tau_trials = 3", "tau_split = test", "tau_tasks = evals")
    project.write("test_plain.py", "def test_plain(): pass")
    run = project.run()
    run.outcomes(passed=1)
    assert run.ret == pytest.ExitCode.OK
    run.lacks("tau: ")


def test_options_alone_say_that_nothing_was_run(project):
    """Naming an agent on the command line requests simulations."""
    project.write("test_plain.py", "def test_plain(): pass")
    run = project.run("--tau-agent", "gold")
    run.outcomes(passed=1)
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    run.line("tau: no simulation was run", "--tau-domain")


def test_the_variable_tau_data_does_no_harm(project, monkeypatch):
    monkeypatch.setenv("TAU_DATA", "/nowhere")
    project.write("test_plain.py", "def test_plain(): pass")
    project.run().outcomes(passed=1)


def test_a_parametrised_test_of_somebody_elses_is_untouched(project):
    project.write(
        "test_plain.py",
        """
        import pytest

        @pytest.mark.parametrize("trial", [0, 1])
        def test_plain(trial):
            pass
        """,
    )
    assert project.collected() == ["test_plain.py::test_plain[0]", "test_plain.py::test_plain[1]"]


def test_failures_of_plain_tests_look_as_always(project):
    project.write("test_plain.py", "def test_plain():\n    assert 1 == 2\n")
    with_us, without = project.run("--tb=short"), project.run("--tb=short", "-p", "no:tau")
    with_us.outcomes(failed=1)

    def body(run):
        lines = run.text.splitlines()
        return lines[lines.index(next(line for line in lines if "FAILURES" in line)) : -1]

    assert body(with_us) == body(without)
