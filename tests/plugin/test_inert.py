"""A project that has nothing to do with pytest-tau does not notice it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from pytest_tau.capabilities import AT_START, BUNDLED
from pytest_tau.capability import bundled_options

#: The modules that a run imports which never asks for pytest-tau. A module more is paid for by every project.
IMPORTED = [
    "pytest_tau",
    "pytest_tau.capabilities",
    "pytest_tau.capabilities.snapshots",
    "pytest_tau.capabilities.snapshots.fixtures",
    "pytest_tau.capability",
    "pytest_tau.plain",
    "pytest_tau.plain.json",
    "pytest_tau.plugin",
    "pytest_tau.plugin.capabilities",
    "pytest_tau.plugin.compat",
    "pytest_tau.plugin.hookspecs",
    "pytest_tau.plugin.options",
    "pytest_tau.plugin.options_table",
    "pytest_tau.plugin.run",
    "pytest_tau.plugin.run.fixtures",
    "pytest_tau.plugin.seams",
    "pytest_tau.rows",
    "pytest_tau.run_settings",
    "pytest_tau.run_settings.types",
    "pytest_tau.settings",
]

#: What it imports in addition if it may need the options of capabilities.
OF_CAPABILITIES = {
    *(f"pytest_tau.capabilities.{name}" for name in BUNDLED if name not in AT_START),
    "pytest_tau.capabilities.approvals.task_hook",
    "pytest_tau.capabilities.voice.task_hook",
}

#: Writes the modules of ours, and what is heavy, at the end of a process.
CONFTEST = """
import pathlib, sys

HEAVY = ("asyncio", "docstring_parser", "litellm", "pydantic", "pytest_tau", "pytest_tau_domains", "pytest_tau_tasks")

def pytest_unconfigure(config):
    imported = sorted(name for name in sys.modules if name.partition(".")[0] in HEAVY)
    process = getattr(config, "workerinput", {}).get("workerid", "main")
    pathlib.Path(config.rootpath, f"{process}.modules").write_text("\\n".join(imported))
"""

PLAIN = "def test_plain():\n    assert 1 + 1 == 2\n"


@pytest.fixture
def unrelated(project):
    """Run pytest in a process of its own in a project that has nothing to do with pytest-tau."""
    project.write("conftest.py", CONFTEST)
    project.write("test_plain.py", PLAIN)
    project.write("package.json", '{"name": "unrelated"}')
    project.write("data/tasks.json", "not even JSON")

    def run(*args, process="main"):
        status, text = _pytest(project, *args)
        assert status == 0, text
        return (project.path / f"{process}.modules").read_text().split(), text

    return run


def _pytest(project, *args):
    # Other plugins of this environment may import what we are looking for.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "tau", *args]
    done = subprocess.run(command, cwd=project.path, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        pytest.param(("test_plain.py",), marks=pytest.mark.exhaustive),
        pytest.param(("test_plain.py::test_plain",), marks=pytest.mark.exhaustive),
        pytest.param((".", "-k", "plain"), marks=pytest.mark.exhaustive),
    ],
)
def test_an_unrelated_run_imports_these_modules_only(unrelated, arguments):
    modules, text = unrelated(*arguments)
    assert modules == IMPORTED
    assert "1 passed" in text


@pytest.mark.parametrize(
    "listing",
    [
        "--fixtures",
        *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("--markers", "--help", "--collect-only")),
    ],
)
def test_listings_import_the_same_modules(unrelated, listing):
    modules, text = unrelated(listing)
    assert modules == IMPORTED
    assert listing == "--collect-only" or "tau" in text


def test_help_lists_no_option_of_a_bundled_capability():
    # They are not declared in a run that gives none of ours.
    assert [option.name for option in bundled_options().values() if option.common] == []


def test_a_run_without_the_tests_on_tasks_imports_the_same_modules(unrelated, project):
    project.write(
        "agents/test_agent.py", "import pytest\n\n@pytest.mark.tau(domain='mock')\ndef test_it(tau_simulation): pass"
    )
    project.write("agents/mock/t.tau.json", "[]")
    assert unrelated("test_plain.py")[0] == IMPORTED


def test_unused_hooks_and_fixtures_of_a_conftest_import_the_capabilities_only(unrelated, project):
    more = """
    import pytest

    def pytest_tau_domains(config):
        raise AssertionError

    @pytest.fixture
    def tau_agent():
        raise AssertionError
    """
    project.write("conftest.py", textwrap.dedent(more) + CONFTEST)
    assert unrelated()[0] == sorted({*IMPORTED, *OF_CAPABILITIES})


def test_a_worker_imports_the_same_modules(unrelated):
    modules, text = unrelated("-p", "xdist", "-n", "1", process="gw0")
    # execnet may have imported asyncio.
    assert [name for name in modules if name.startswith("pytest_tau")] == IMPORTED
    assert "1 passed" in text


def test_the_controller_of_workers_imports_nothing_heavy(unrelated):
    modules, _ = unrelated("-p", "xdist", "-n", "1")
    assert set(modules) >= set(IMPORTED)
    layers = ("models", "environment", "evaluation", "diagnosis", "runner")
    assert not [name for name in modules if name.startswith(tuple(f"pytest_tau.{layer}" for layer in layers))]
    assert "pydantic" not in modules


def test_pytest_repeat_adds_one_module(unrelated):
    modules, text = unrelated("-p", "pytest_repeat", "--count", "2")
    assert set(modules) - set(IMPORTED) == {"pytest_tau.plugin.collect", "pytest_tau.plugin.collect.repeat"}
    assert "2 passed" in text


def test_nothing_is_said(project):
    project.write("test_plain.py", PLAIN)
    project.write("package.json", '{"name": "unrelated"}')
    project.write("data/tasks.json", "not even JSON")
    project.write("conftest.py", "import pytest\n\n@pytest.fixture(autouse=True)\ndef own():\n    yield\n")
    status, text = _pytest(project, "-v", "-rA")
    assert status == 0, text
    assert "1 passed" in text
    # The interpreter is in a folder of the clone, whose name may have the word in it, and -v shows its path.
    lines = text.replace(sys.executable, "python").splitlines()
    assert [line for line in lines if "tau" in line and not line.startswith(("plugins:", "rootdir:"))] == []


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
    """They are settings of the trials that there are, on the command line as in the ini."""
    project.write("test_plain.py", "def test_plain(): pass")
    run = project.run("--tau-agent", "gold")
    run.outcomes(passed=1)
    assert run.ret == pytest.ExitCode.OK
    run.line("tau: no simulation was run", "--tau-domain")
    project.ini("tau_agent = gold")
    assert project.run().ret == pytest.ExitCode.OK


@pytest.mark.parametrize("args", [("--tau-domain", "mock"), ("--tau-task", "create-task")])
def test_tasks_that_are_asked_for_and_not_run_are_no_success(project, args):
    project.write("test_plain.py", "def test_plain(): pass")
    run = project.run("test_plain.py", *args)
    run.outcomes(passed=1)
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    run.line("tau: no simulation was run")


def test_the_reason_of_skipped_trials_is_that_of_the_run(project):
    project.write(
        "test_it.py",
        """
        import pytest

        @pytest.mark.skip(reason="not today")
        @pytest.mark.tau(domain="mock", tasks="create-task")
        def test_it(tau_simulation):
            pass
        """,
    )
    run = project.run("test_it.py", "--tau-domain", "mock")
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    run.line("tau: no simulation was run (reason: not today)")
    run.lacks("the named domain is not run")


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
