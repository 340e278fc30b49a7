"""Task files: which JSON files are claimed, in which shapes, on which domain."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def test_one_task(project, a_task):
    project.tasks("mock/one.tau.json", a_task())
    run = project.run("-v")
    run.outcomes(passed=1)
    run.line("mock/one.tau.json::buy-milk[trial-0] PASSED")
    run.line("tau: mock: 1 task, 1 trial; 1 passed")


def test_an_array(project, a_task):
    project.tasks("mock/many.tau.json", [a_task("b"), a_task("a")])
    assert project.collected() == ["mock/many.tau.json::b[trial-0]", "mock/many.tau.json::a[trial-0]"]


def test_an_object_with_tasks_and_domain(project, a_task):
    project.tasks("tasks.tau.json", {"domain": "mock", "tasks": [a_task("a"), a_task("b")]})
    run = project.run("--tau-trials", "2")
    run.outcomes(passed=4)
    run.line("tasks.tau.json ....")


def test_an_object_with_tasks_alone_takes_the_domain_of_its_folder(project, a_task):
    project.tasks("mock/tasks.tau.json", {"tasks": [a_task()]})
    project.run().outcomes(passed=1)


def test_the_domain_of_the_command_line(project, a_task):
    project.tasks("tasks.tau.json", [a_task()])
    run = project.run("--tau-domain", "mock", "tasks.tau.json")
    run.outcomes(passed=1)
    run.line("tau: mock: 1 task, 1 trial; 1 passed")


def test_the_domain_of_the_ini(project, a_task):
    project.ini("tau_domain = mock")
    project.tasks("tasks.tau.json", [a_task()])
    project.run("tasks.tau.json").outcomes(passed=1)


def test_the_domain_that_the_instructions_name(project, a_task):
    instructions = {"domain": "mock", "reason_for_call": "Milk.", "task_instructions": "Leave."}
    project.tasks("tasks.tau.json", [a_task(user_scenario={"instructions": instructions})])
    project.run().outcomes(passed=1)


def test_a_file_without_a_domain_asks_for_one(project, a_task):
    file = project.tasks("tasks.tau.json", [a_task()])
    project.run().usage_error(str(file), "no domain given", "--tau-domain", "mock", "telecom")


def test_a_domain_of_ones_own(shelf):
    content = (shelf.path / "shelf/tasks/tasks.json").read_text()
    shelf.tasks("own.tau.json", {"domain": "shelf", "tasks": json.loads(content)})
    run = shelf.run("own.tau.json")
    run.outcomes(passed=2)
    run.line("tau: shelf: 2 tasks")


def test_the_initial_state_applies(project, a_task):
    call = {"env_type": "assistant", "func_name": "create_task", "arguments": {"user_id": "user_2", "title": "First"}}
    check = {"env_type": "assistant", "func_name": "assert_number_of_tasks"}
    check["arguments"] = {"user_id": "user_2", "expected_number": 1}
    criteria = {"actions": None, "env_assertions": [check], "reward_basis": ["ENV_ASSERTION"]}
    started = a_task("started", initial_state={"initialization_actions": [call]}, criteria=criteria)
    bare = a_task("bare", criteria=criteria)
    project.tasks("mock/tasks.tau.json", [started, bare])
    run = project.run("-v")
    run.outcomes(passed=1, failed=1)
    run.line("::started[trial-0] PASSED")
    run.line('not met, assistant side: assert_number_of_tasks(user_id="user_2", expected_number=1)')


class TestClaiming:
    """Which files are task files."""

    def test_json_files_elsewhere_are_left_alone(self, project, a_task):
        project.tasks("package.json", {"name": "something else"})
        project.tasks("mock/tasks.json", [a_task()])
        project.write("data/broken.json", "{")
        project.write("test_plain.py", "def test_plain(): pass")
        run = project.run()
        run.outcomes(passed=1)
        run.lacks(".json")
        run.lacks("tau: ")

    def test_explicit_path(self, project, a_task):
        project.tasks("mock/tasks.json", [a_task()])
        assert project.collected("mock/tasks.json") == ["mock/tasks.json::buy-milk[trial-0]"]

    def test_explicit_absolute_path(self, project, a_task):
        file = project.tasks("mock/tasks.json", [a_task()])
        assert project.collected(file) == ["mock/tasks.json::buy-milk[trial-0]"]

    def test_explicit_path_that_is_no_json_is_not_claimed(self, project):
        project.write("mock/notes.txt", "[]")
        run = project.run("mock/notes.txt")
        assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
        run.line("collected 0 items")

    def test_folder_given_as_path_claims_by_pattern_only(self, project, a_task):
        project.tasks("mock/tasks.json", [a_task("plain")])
        project.tasks("mock/tasks.tau.json", [a_task("marked")])
        assert project.collected("mock") == ["mock/tasks.tau.json::marked[trial-0]"]

    def test_tau_files(self, project, a_task):
        project.ini("tau_files = eval_*.json *.case.json")
        for name in ("eval_1.json", "some.case.json", "some.tau.json"):
            project.tasks(f"mock/{name}", [a_task()])
        found = project.collected()
        assert sorted(found) == ["mock/eval_1.json::buy-milk[trial-0]", "mock/some.case.json::buy-milk[trial-0]"]

    def test_tau_tasks(self, project, a_task):
        project.ini("tau_tasks = evals more/mock")
        for name in ("evals/mock/deep.json", "more/mock/flat.json", "other/mock/tasks.json"):
            project.tasks(name, [a_task()])
        found = project.collected()
        assert found == ["evals/mock/deep.json::buy-milk[trial-0]", "more/mock/flat.json::buy-milk[trial-0]"]

    def test_tau_tasks_excludes_the_splits(self, project, a_task):
        project.ini("tau_tasks = mock")
        project.tasks("mock/tasks.json", [a_task()])
        project.tasks("mock/split_tasks.json", {"base": ["buy-milk"]})
        assert project.collected() == ["mock/tasks.json::buy-milk[trial-0]"]

    def test_tau_tasks_is_meant_from_the_ini_file(self, project, a_task, monkeypatch):
        project.ini("tau_tasks = mock")
        project.tasks("mock/tasks.json", [a_task()])
        monkeypatch.chdir(project.path / "mock")
        assert project.collected() == ["mock/tasks.json::buy-milk[trial-0]"]

    def test_without_the_plugin_nothing_is_claimed(self, project, a_task):
        project.tasks("mock/tasks.tau.json", [a_task()])
        project.write("test_plain.py", "def test_plain(): pass")
        run = project.run("-p", "no:tau")
        run.outcomes(passed=1)
        run.lacks("tau.json")

    def test_without_the_plugin_optional_hooks_are_ignored(self, shelf):
        """The example of docs/troubleshooting.md."""
        shelf.write("test_plain.py", "def test_plain(): pass")
        conftest = shelf.path / "conftest.py"
        assert "unknown hook 'pytest_tau_domains'" in shelf.run("-p", "no:tau").text
        hook = "@pytest.hookimpl(optionalhook=True)\ndef pytest_tau_domains"
        conftest.write_text("import pytest\n" + conftest.read_text().replace("def pytest_tau_domains", hook))
        shelf.run("-p", "no:tau").outcomes(passed=1)
        shelf.run("--tau-domain", "shelf").outcomes(passed=2)

    @pytest.mark.parametrize(
        ("conftest", "module", "remedied"),
        [
            ("import my_desk\nimport pytest_tau\n", "src/my_desk.py", True),
            ("import my_desk\nimport pytest_tau\n", "my_desk/__init__.py", True),
            ("import my_desk\nimport pytest_tau\n", "src/other.py", False),
            ("import my_desk\n", "src/my_desk.py", False),  # no project of ours
        ],
    )
    def test_a_conftest_that_cannot_import_the_agent_is_told_where_it_is(self, project, conftest, module, remedied):
        project.write(module, "def agent(messages, tools): return 'Hello.'")
        project.write("tests/conftest.py", conftest)
        run = project.run("tests")
        run.line("ModuleNotFoundError: No module named 'my_desk'")
        folder = "." if module.startswith("my_desk") else "src"
        assert (f'add pythonpath = ["{folder}"] to pytest.toml' in run.text) == remedied

    def test_without_the_plugin_there_are_no_options(self, project):
        run = project.run("-p", "no:tau", "--tau-domain", "mock")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("unrecognized arguments: --tau-domain")


class TestNodeIds:
    """Node ids of task files as arguments."""

    @pytest.fixture
    def file(self, project, a_task):
        project.tasks("mock/tasks.json", [a_task("a"), a_task("b")])
        return "mock/tasks.json"

    def test_a_trial_runs_without_tau_trials(self, project, file):
        run = project.run(f"{file}::a[trial-2]", "-v")
        run.outcomes(passed=1)
        run.line(f"{file}::a[trial-2] PASSED")

    def test_a_trial_has_the_seed_that_it_has_in_a_whole_run(self, project, file):
        project.write(
            "seeds.py",
            """
            class Agent:
                def __init__(self, seed):
                    print("seed:", seed)

                def respond(self, message):
                    return "hello"
            """,
        )
        alone = project.run(f"{file}::a[trial-2]", "--tau-agent", "seeds.py:Agent", "-s")
        alone.line("seed: 361454")
        whole = project.run(file, "--tau-trials", "3", "--tau-task", "a", "--tau-agent", "seeds.py:Agent", "-s")
        for seed in (626729, 373753, 361454):
            whole.line(f"seed: {seed}")

    def test_a_task_runs_with_all_trials(self, project, file):
        assert project.collected(f"{file}::b", "--tau-trials", "2") == [f"{file}::b[trial-0]", f"{file}::b[trial-1]"]

    def test_several(self, project, file):
        chosen = [f"{file}::a[trial-1]", f"{file}::b[trial-0]"]
        assert project.collected(*chosen) == chosen

    def test_a_trial_of_one_task_adds_none_to_others(self, project, file):
        found = project.collected(file, f"{file}::a[trial-1]")
        assert sorted(found) == [f"{file}::a[trial-0]", f"{file}::a[trial-1]", f"{file}::b[trial-0]"]

    def test_an_unknown_one(self, project, file):
        project.run(f"{file}::c[trial-0]").usage_error("not found", f"{file}::c")

    def test_from_another_folder(self, project, file, monkeypatch):
        project.ini()
        monkeypatch.chdir(project.path / "mock")
        assert project.collected("tasks.json::a[trial-1]") == [f"{file}::a[trial-1]"]


def test_the_module_of_an_item_exists(project, a_task):
    """As conftest.py files expect that are written for tests in modules."""
    project.tasks("mock/t.tau.json", [a_task()])
    project.write(
        "conftest.py",
        """
        import importlib
        import inspect
        from pathlib import Path

        def pytest_collection_modifyitems(items):
            for item in items:
                assert importlib.import_module(item.module.__name__)
                assert Path(item.module.__file__) == Path(inspect.getfile(item.module)) == item.path
                assert item.path.exists() or item.parent.path == item.path == item.session.path / "mock"
        """,
    )
    project.run("mock/t.tau.json", "mock::create-task").outcomes(passed=2)


EDITOR = """
import pytest

def pytest_collection_finish(session):
    for item in session.items:
        chain = [node for node in item.listchain() if isinstance(node, pytest.Collector)]
        for parent, node in zip(chain, chain[1:], strict=False):
            of_pytest = isinstance(node, pytest.Dir)  # it has one for the root directory
            assert of_pytest or parent.path != node.path or node.path.is_file(), node
        # As an editor does that builds the folders above each file, from the file up to the root directory.
        assert session.path in item.parent.path.parents, item
"""


@pytest.mark.parametrize("where", [".", "tests", "tests/mock"])
def test_an_editor_finds_the_folder_of_each_item(project, a_task, monkeypatch, where):
    project.ini("tau_domain = mock", "tau_num_tasks = 1")
    project.write("conftest.py", EDITOR)
    project.write("tests/test_own.py", "class TestIt:\n    def test_it(self): pass")
    project.tasks("tests/mock/t.tau.json", a_task())
    monkeypatch.chdir(project.path / where)
    found = project.collected()
    assert [each for each in found if each.startswith("mock::")], found
    run = project.run(f"{project.path / where / 'mock'}::create-task")  # as an editor names it
    run.outcomes(passed=1)


def test_a_domain_of_a_run_from_outside_of_its_root_directory(project, tmp_path_factory, monkeypatch):
    project.ini("tau_domain = mock", "tau_num_tasks = 1")
    project.write("conftest.py", EDITOR)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.syspath_prepend(project.path)
    run = project.run("-c", project.path / "pytest.ini", "--rootdir", project.path, "-p", "conftest")
    run.outcomes(passed=1)


def test_a_domain_does_not_have_the_conftest_of_a_folder_with_its_name(project):
    project.write("mock/conftest.py", "def pytest_runtest_setup(): raise OSError('of the folder')")
    project.write("conftest.py", "def pytest_runtest_setup(item): print('set up', item.name)")
    run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "-s")
    run.outcomes(passed=1)
    run.line("set up create-task[trial-0]")


def test_thousands_of_tasks_read_each_file_once(project, a_task, monkeypatch):
    import pathlib

    reads = []
    original = pathlib.Path.open
    file = project.tasks("mock/many.tau.json", [a_task(f"task-{number}") for number in range(500)])
    monkeypatch.setattr(
        pathlib.Path, "open", lambda self, *args, **kwargs: reads.append(self) or original(self, *args, **kwargs)
    )
    assert len(project.collected("--tau-trials", "4")) == 2000
    assert reads.count(file) == 1


def test_the_bundled_task_files_by_path(project):
    from pytest_tau_domains import mock

    file = mock.domain.tasks / "tasks.json"
    run = project.run(file, "--tau-judge", "accept", f"--rootdir={project.path}")
    run.outcomes(passed=18)


@pytest.mark.exhaustive
def test_from_the_shell(project, a_task):
    """Once as a person does it: another process, a path, a gold agent."""
    project.tasks("mock/tasks.json", [a_task()])
    command = [sys.executable, "-m", "pytest", "mock/tasks.json", "-q"]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tau: mock: 1 task, 1 trial; 1 passed; pass^1 1.000" in done.stdout


def test_a_folder_with_the_name_of_a_domain_is_not_that_of_its_cassettes_and_snapshots(project):
    pytest.importorskip("syrupy")
    (project.path / "mock").mkdir()
    sides = ("--tau-agent=gold", "--tau-user=gold", "--tau-task=create-task", "--tau-domain=mock")
    project.run(*sides, "-p", "syrupy", "--tau-snapshot", "--snapshot-update").outcomes(passed=1)
    assert (project.path / "__snapshots__" / "domains" / "mock" / "create-task[trial-0].tausnap").is_file()
    project.write(
        "conftest.py",
        """
        from pytest_tau.plugin.run.models import cassette_path

        def pytest_runtest_teardown(item):
            print("cassette:", cassette_path(item, item.task_spec, 0).relative_to(item.session.path))
        """,
    )
    project.run(*sides, "-s").line("cassette: cassettes/mock/create-task.trial-0.cassette")
