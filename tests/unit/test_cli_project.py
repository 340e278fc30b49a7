"""The domains and evaluators of a project: those of conftest.py files and plugins, in each command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import pytest

from pytest_tau.commands.project import Project as CliProject

from .commands import Ran

DOMAIN = '''
from pathlib import Path

from pytest_tau.environment import Database, DomainSpec, Record, Table, Toolkit, tool
from pytest_tau.models import CustomCheck


class Book(Record):
    """A book."""

    book_id: str
    lent: bool = False


class Books(Database):
    """The books."""

    books: Table[Book]


class BookTools(Toolkit[Books]):
    """The tools."""

    @tool("write")
    def lend(self, book_id: str) -> Book:
        """Lend a book.

        Args:
            book_id: Its id.
        """
        book = self.db.books[book_id]
        book.lent = True
        return book


FOLDER = Path(__file__).parent
domain = DomainSpec(name="library", folder=FOLDER, tasks=FOLDER / "tasks", agent_db=Books, agent_tools=BookTools)


class Short:
    """A reward component: the conversation is short."""

    name = "SHORT"

    def evaluate(self, task, messages, environment):
        return CustomCheck(name=self.name, reward=float(len(messages) < 9), justification=f"{len(messages)} messages")
'''
HOOKS = """
from library_domain import Short, domain


def pytest_tau_domains():
    return [domain]


def pytest_tau_evaluators():
    return [Short()]
"""
TASK = {
    "id": "lend",
    "user_scenario": {"instructions": "You want to take home the book b1."},
    "evaluation_criteria": {
        "actions": [{"action_id": "a", "name": "lend", "arguments": {"book_id": "b1"}}],
        "reward_basis": ["DB", "SHORT"],
    },
}
LONG = [{"role": "user", "content": "Hm."}] * 10
STOP = {"role": "user", "content": "###STOP###"}


class Tau(Protocol):
    """Runs the command in a folder."""

    def __call__(self, folder: Path, *args: str, **environment: str) -> Ran: ...


@pytest.fixture
def tau(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tau:
    """Runs the command, and forgets the modules that it has imported: each project has a ``conftest``."""
    from pytest_tau.cli import main

    def run(folder: Path, *args: str, **environment: str) -> Ran:
        with monkeypatch.context() as changed:
            changed.chdir(folder)
            changed.setattr(sys, "path", sys.path[:])
            changed.setattr(sys, "meta_path", sys.meta_path[:])
            for name, value in {"COLUMNS": "120", **environment}.items():
                changed.setenv(name, value)
            for path in environment.get("PYTHONPATH", "").split():
                changed.syspath_prepend(path)
            before = set(sys.modules)
            try:
                status = main(args)
            finally:
                for name in set(sys.modules) - before:
                    if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                        del sys.modules[name]
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose conftest.py has a domain and an evaluator."""
    folder = tmp_path / "project"
    folder.joinpath("tasks").mkdir(parents=True)
    folder.joinpath("pytest.toml").write_text("[pytest]\n")
    folder.joinpath("library_domain.py").write_text(DOMAIN)
    folder.joinpath("conftest.py").write_text(HOOKS)
    folder.joinpath("db.json").write_text('{"books": {"b1": {"book_id": "b1"}}}')
    folder.joinpath("policy.md").write_text("Lend books. The first one is b1.")
    folder.joinpath("tasks", "lending.json").write_text(json.dumps([TASK]))
    return folder


def stored(folder: Path, *simulations: tuple[float, list[Any]]) -> str:
    """Write a result file whose simulations lend the book, each with its stored reward and further messages."""
    call = {"id": "c", "name": "lend", "arguments": {"book_id": "b1"}, "requestor": "assistant"}
    runs = [
        {
            "id": f"s{trial}",
            "task_id": "lend",
            "trial": trial,
            "termination_reason": "user_stop",
            "reward_info": {"reward": reward},
            "messages": [{"role": "assistant", "tool_calls": [call]}, *further, STOP],
        }
        for trial, (reward, further) in enumerate(simulations)
    ]
    info = {"environment_info": {"domain_name": "library"}}
    folder.joinpath("results.json").write_text(json.dumps({"info": info, "tasks": [TASK], "simulations": runs}))
    return "results.json"


def test_lint_checks_the_domains_of_the_conftest(tau: Tau, project: Path) -> None:
    clean = "library: 1 task; 0 errors, 0 warnings, 0 notes; an agent that only greets passes 0 of 1\n"
    for args in (["lint"], ["lint", "library"]):
        ran = tau(project, *args)
        assert (ran.status, ran.err) == (0, "")
        assert ran.out.startswith(clean)


def test_lint_checks_a_file_on_the_domain_of_the_conftest_above_it(tau: Tau, project: Path) -> None:
    inner = project / "evals" / "library"
    inner.mkdir(parents=True)
    broken = {**TASK, "id": "gone", "evaluation_criteria": {"actions": [{"action_id": "a", "name": "lend"}]}}
    inner.joinpath("more.json").write_text(json.dumps([TASK, broken]))
    for folder, name in ((project, "evals/library/more.json"), (inner, "more.json")):
        ran = tau(folder, "lint", name)
        assert ran.status == 1, ran.err
        assert "bad-arguments: 1\n" in ran.out
        assert "book_id: missing" in ran.out
        assert "does-not-fit" not in ran.out


@pytest.mark.parametrize(("named", "status"), [("retail", 1), ("library", 0), ("the lending of books", 0)])
def test_lint_reports_a_task_that_names_another_domain(tau: Tau, project: Path, named: str, status: int) -> None:
    """Also in a file that names its own domain; a text that is not the name of a domain describes the task."""
    scenario = {"instructions": {"domain": named, "reason_for_call": "Lend b1.", "task_instructions": "Be brief."}}
    project.joinpath("tasks", "lending.json").write_text(json.dumps([{**TASK, "user_scenario": scenario}]))
    content = {"domain": "library", "tasks": [{**TASK, "user_scenario": scenario}]}
    project.joinpath("more.json").write_text(json.dumps(content))
    for target in ("library", "more.json"):
        ran = tau(project, "lint", target)
        assert ran.status == status, (ran.out, ran.err)
        assert ("does-not-fit: 1\n" in ran.out) is bool(status)
        expected = (
            "user_scenario.instructions.domain: names the domain 'retail', but the task is one of domain 'library'"
        )
        assert (expected in ran.out) is bool(status), ran.out
        assert ("correct it, or add --domain retail" in ran.out) is (bool(status) and target == "more.json")


def test_lint_says_that_a_file_which_does_not_fit_names_another_domain(tau: Tau, project: Path) -> None:
    scenario = {"instructions": {"domain": "recorded_x", "reason_for_call": "Hi.", "task_instructions": "Be brief."}}
    state = {"initialization_data": {"agent_data": {"writes": []}}}
    task = {**TASK, "user_scenario": scenario, "initial_state": state}
    project.joinpath("more.json").write_text(json.dumps({"domain": "library", "tasks": [task]}))
    ran = tau(project, "lint", "more.json")
    assert ran.status == 1
    expected = (
        "names the domain 'recorded_x', but the task is used on 'library': add --domain recorded_x (on 'library': "
    )
    assert expected in " ".join(ran.out.split())


def test_lint_grades_with_the_evaluators(tau: Tau, project: Path) -> None:
    long = {**TASK, "initial_state": {"message_history": [{"role": "user", "content": "Hm."}] * 10}}
    project.joinpath("tasks", "lending.json").write_text(json.dumps([long]))
    ran = tau(project, "lint")
    assert ran.status == 0  # what a plugin wants of a conversation may be more than the task states
    assert "warning  gold-fails: 1" in ran.out
    assert "lend: SHORT: not met" in ran.out
    project.joinpath("tasks", "lending.json").write_text(
        json.dumps([{**TASK, "evaluation_criteria": {"actions": [], "reward_basis": ["DB", "SHORT"]}}])
    )
    ran = tau(project, "lint")
    assert ran.status == 1
    assert "error    passes-without-agent: 1" in ran.out


def test_the_settings_may_select_the_domain(tau: Tau, project: Path, tmp_path: Path) -> None:
    project.joinpath("pytest.toml").write_text('[pytest]\ntau_domain = ["library"]\n')
    project.joinpath("more.json").write_text(json.dumps([TASK]))
    ran = tau(project, "lint", "more.json")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("more.json: 1 task;")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    elsewhere.joinpath("pytest.toml").write_text('[pytest]\ntau_domain = ["mock"]\n')
    ran = tau(elsewhere, "lint")
    assert ran.out.startswith("mock: "), ran.err


def test_without_the_conftest_they_are_unknown(tau: Tau, project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = tau(elsewhere, "lint", "library")
    assert ran.status == 2
    assert ran.err.startswith("tau lint: unknown domain 'library' (known: airline, banking_knowledge, mock,")
    ran = tau(elsewhere, "lint")
    assert ran.status == 2
    assert "no conftest.py of this folder and no plugin of -p provides a domain, and the settings of pytest" in ran.err


def test_rootdir_names_the_project(tau: Tau, project: Path, tmp_path: Path) -> None:
    assert tau(tmp_path, "lint", "--rootdir", "project").status == 0
    ran = tau(tmp_path, "lint", "--rootdir", "nowhere")
    assert (ran.status, ran.err) == (2, "tau lint: --rootdir: expected a folder, got nowhere\n")


def test_a_plugin_may_provide_them(tau: Tau, project: Path) -> None:
    project.joinpath("conftest.py").rename(project / "library_plugin.py")
    assert tau(project, "lint").status == 2
    assert tau(project, "lint", "-p", "library_plugin", PYTHONPATH=str(project)).status == 0
    project.joinpath("pytest.toml").write_text('[pytest]\naddopts = ["-p", "library_plugin"]\npythonpath = ["."]\n')
    assert tau(project, "lint", PYTHONPATH=str(project)).status == 0
    ran = tau(project, "lint", "-p", "no_such_plugin")
    assert ran.status == 2
    assert ran.err.startswith("tau lint: pytest cannot load the plugins of this project")
    assert "no_such_plugin" in ran.err
    assert "Traceback" not in ran.err


def test_plugins_that_are_not_loaded_by_themselves_do_not_matter(tau: Tau, project: Path) -> None:
    assert tau(project, "lint", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1").status == 0
    project.joinpath("pytest.toml").write_text('[pytest]\naddopts = ["-p", "no:tau", "-p", "no:asyncio"]\n')
    assert tau(project, "lint").status == 0


def test_a_domain_of_the_project_takes_precedence(tau: Tau, project: Path) -> None:
    module = project / "library_domain.py"
    module.write_text(module.read_text().replace('name="library"', 'name="mock"'))
    assert tau(project, "lint", "mock").out.startswith("mock: 1 task;")


def test_output_of_a_conftest_is_not_part_of_the_document(tau: Tau, project: Path) -> None:
    conftest = project / "conftest.py"
    conftest.write_text(
        "print('loaded')\n" + conftest.read_text().replace("return [d", "print('asked')\n    return [d")
    )
    ran = tau(project, "lint", "--json")
    assert [report["domain"] for report in json.loads(ran.out)] == ["library"]


def test_regrade_knows_domain_and_evaluators(tau: Tau, project: Path) -> None:
    ran = tau(project, "regrade", stored(project, (1.0, []), (0.0, LONG)))
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == "results.json (τ²-bench, library): 2 simulations, 2 agree; pass^1 0.500 pass^2 0.000\n"
    ran = tau(project, "regrade", stored(project, (1.0, LONG)))
    assert ran.status == 1
    assert "SHORT: not met" in ran.out
    assert "--data" not in ran.out


def test_regrade_without_the_project_names_what_is_missing(tau: Tau, project: Path, tmp_path: Path) -> None:
    stored(project, (1.0, []))
    ran = tau(tmp_path, "regrade", "project/results.json")
    assert ran.status == 1
    assert "unknown domain 'library'" in ran.out
    assert tau(tmp_path, "regrade", "project/results.json", "--rootdir", "project").status == 0


def test_names_of_installed_domains_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each task: the metadata of every installed distribution is read for them."""
    read = []
    monkeypatch.setattr("pytest_tau.commands.project.domain_names", lambda: read.append("names") or ["airline", "mock"])
    project = CliProject(None)
    assert [project.names(), project.names()] == [["airline", "mock"]] * 2
    assert project.load("mock").name == "mock"
    assert read == ["names"]


@pytest.mark.usefixtures("warm_processes")
def test_export_has_the_policy_of_the_project_s_domain(tau: Tau, project: Path) -> None:
    task = {**TASK, "evaluation_criteria": {**TASK["evaluation_criteria"], "reward_basis": ["DB"]}}  # type: ignore[dict-item]
    project.joinpath("tasks", "lending.json").write_text(json.dumps([task]))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "--tau-domain", "library"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    ran = tau(project, "export", "--format", "tau2")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["info"]["environment_info"]["policy"] == "Lend books. The first one is b1."
    assert tau(project, "view").status == 0
    # Commands that do not need the domain run without it.
    project.joinpath("conftest.py").write_text("raise RuntimeError('no')\n")
    ran = tau(project, "export", "--format", "tau2")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["info"]["environment_info"]["policy"] == ""
    assert tau(project, "view").status == 0


# What cannot be used


@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        (
            "pytest_tau_domains(): return [7]",
            "pytest_tau_domains (conftest.py:1): got a list with 7, expected a list of DomainSpec",
        ),
        ("pytest_tau_domains(): return 7", "pytest_tau_domains (conftest.py:1): got 7, expected a list of DomainSpec"),
        ("pytest_tau_domains(): return {}['x']", "pytest_tau_domains (conftest.py:1) raised KeyError: 'x'"),
        (
            "pytest_tau_evaluators(): return [print]",
            "pytest_tau_evaluators (conftest.py:1): got a builtin_function_or_method, which has no evaluate method",
        ),
        ("pytest_tau_evaluators(config, x): return []", "pytest_tau_evaluators"),
    ],
)
def test_a_hook_that_cannot_be_used_is_an_error(tau: Tau, project: Path, hook: str, expected: str) -> None:
    project.joinpath("conftest.py").write_text(f"def {hook}\n")
    ran = tau(project, "regrade", stored(project, (1.0, [])))
    assert (ran.status, ran.out) == (2, "")
    assert expected in ran.err
    assert "conftest.py" in ran.err
    assert "Traceback" not in ran.err


def test_a_conftest_that_cannot_be_imported_is_shown_as_pytest_shows_it(tau: Tau, project: Path) -> None:
    project.joinpath("conftest.py").write_text("import no_such_module\n")
    ran = tau(project, "lint", "library")
    assert ran.status == 2
    assert ran.err.startswith("tau lint: pytest cannot load the plugins of this project:\n")
    assert "No module named 'no_such_module'" in ran.err
    assert "conftest.py:1" in ran.err


def test_settings_that_pytest_refuses_are_an_error(tau: Tau, project: Path) -> None:
    project.joinpath("pytest.toml").write_text('[pytest]\naddopts = ["--no-such-option"]\n')
    ran = tau(project, "lint", "library")
    assert ran.status == 2
    assert "unrecognized arguments: --no-such-option" in ran.err


def test_warnings_may_be_errors_where_the_package_is_installed(tau: Tau, project: Path, tmp_path: Path) -> None:
    project.joinpath("pytest.toml").write_text('[pytest]\nfilterwarnings = ["error"]\n')
    # As a wheel leaves it: pytest rewrites the assertions of packages with plugins, and warns of imported ones.
    installed = tmp_path / "installed" / "other-1.0.dist-info"
    installed.mkdir(parents=True)
    installed.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    installed.joinpath("entry_points.txt").write_text("[pytest11]\nother = json\n")
    installed.joinpath("RECORD").write_text("pytest_tau/__init__.py,,\n")
    ran = tau(project, "lint", "library", PYTHONPATH=str(installed.parent))
    assert (ran.status, ran.err) == (0, "")


@pytest.mark.parametrize("text", ["import sys; sys.exit(3)\n", "import pytest; pytest.exit('enough')\n"])
def test_a_conftest_that_ends_the_process_is_an_error(tau: Tau, project: Path, text: str) -> None:
    project.joinpath("conftest.py").write_text(text)
    ran = tau(project, "lint", "library")
    assert ran.status == 2
    assert ran.err.startswith("tau lint: pytest cannot load the plugins of this project")


def test_plugins_are_loaded_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_tau.commands import project as module
    from pytest_tau.errors import ConfigurationError

    calls: list[list[str]] = []

    def load(arguments: list[str]) -> Any:
        calls.append(arguments)
        raise ConfigurationError("broken")

    monkeypatch.setattr(module, "_load", load)
    domains = module.Project(None, ["a", "b"], str(project), ["x.json"])
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="broken"):
            domains.load("mock")
    assert calls == [["-p", "a", "-p", "b", "--rootdir", str(project), str(project), "x.json"]]
