"""``tau init``: what it writes, what it refuses, and that the tests of the project pass at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from pytest_tau.cli import init, main
from pytest_tau.cli.init import AGENTS, TEMPLATES, project_files

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]
FILES = {
    "README.md",
    "agent.py",
    "bookings/__init__.py",
    "bookings/db.json",
    "bookings/policy.md",
    "bookings/tasks/bookings.json",
    "conftest.py",
    "pytest.toml",
    "requirements.txt",
    ".gitignore",
    ".github/workflows/tau.yml",
}


@pytest.fixture
def tau(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command in an empty folder; returns the exit status and the output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(init, "_direct_url", dict)

    def run(*args: str) -> tuple[int, str, str]:
        status = main(args)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def written(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def command(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in the folder."""
    environment = {**os.environ, "MYPYPATH": str(ROOT), "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-m", *args], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a new project of each template."""
    folder = tmp_path_factory.mktemp("projects")
    for agent in AGENTS:
        assert main(["init", str(folder / f"{agent}-evals"), "--agent", agent]) == 0
    return folder


@pytest.fixture
def plain_project(tmp_path: Path) -> Path:
    """A new project whose agent has no model."""
    assert main(["init", str(tmp_path / "evals")]) == 0
    return tmp_path / "evals"


# The project


@pytest.mark.usefixtures("warm_processes")
def test_its_tests_pass_and_can_fail(plain_project: Path) -> None:
    """The projects of the other templates need a model: tests/end_to_end/test_frameworks.py runs them with one."""
    project = plain_project
    done = command(project, "pytest", "-p", "no:asyncio", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert "tau: bookings: 3 tasks, 3 trials; 3 passed; pass^1 1.000" in done.stdout
    assert "agent agent.py:Agent, user scripted" in done.stdout
    done = command(project, "pytest", "-p", "no:asyncio", "-p", "no:cacheprovider", "--tau-agent", "noop")
    assert done.returncode == 1
    assert "tau: bookings: 3 tasks, 3 trials; 3 failed" in done.stdout


@pytest.mark.usefixtures("warm_processes")
def test_lint_has_nothing_to_say(plain_project: Path) -> None:
    """The domain and its tasks are the same with every agent."""
    code = "import sys; from pytest_tau.cli import main; sys.exit(main(['lint', '--json']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=plain_project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout)
    assert (report["domain"], report["tasks"], report["findings"]) == ("bookings", 3, [])


def test_their_files_are_formatted_and_linted(projects: Path) -> None:
    rules = ("--select", "E,W,F,B,C4,D,I,N,PL,PT,RUF,SIM,UP", "--ignore", "D203,D213,D413")
    for args in (("format", "--isolated", "--check", "."), ("check", "--isolated", *rules, ".")):
        done = command(projects, "ruff", *args)
        assert done.returncode == 0, done.stdout + done.stderr


def test_their_files_are_typed(projects: Path) -> None:
    # The frameworks are not installed together, and not all of them are typed. What mypy knows of the standard library
    # and of this project, it would find out anew for each template.
    options = ("--follow-imports", "silent", "--ignore-missing-imports", f"--cache-dir={projects / 'mypy'}")
    done = [command(projects / f"{agent}-evals", "mypy", "--strict", *options, ".") for agent in AGENTS]
    assert [each.stdout + each.stderr for each in done if each.returncode] == []


@pytest.mark.usefixtures("warm_processes")
def test_the_gate_of_the_workflow_is_met(plain_project: Path) -> None:
    project = plain_project
    text = (project / ".github/workflows/tau.yml").read_text(encoding="utf-8")
    lines = text.partition("- run: >\n")[2].splitlines()
    words = " ".join(lines[:2]).split()
    assert words[:2] == ["pytest", "--tau-gate"]
    options = [word.strip("'") for word in words[1:]]
    done = command(project, "pytest", "-p", "no:asyncio", "-p", "no:cacheprovider", *options)
    assert done.returncode == 0, done.stdout
    assert "tau: gate pass^1 >= 0.9: 1.000" in done.stdout
    assert (project / "report.html").is_file()
    assert (project / "junit.xml").is_file()
    assert "            report.html\n            junit.xml\n" in text and "working-directory: .\n" in text


def test_the_page_lists_every_file(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "get_started.md").read_text(encoding="utf-8").partition("\n## Start a project\n")[2]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall("`([^`]+)`", row) if not name.startswith("--")}
    assert listed == FILES
    readme = project_files(tmp_path)[tmp_path / "README.md"]
    assert all(f"`{name}`" in readme for name in FILES - {"README.md"})


@for_each([(name, ci) for name in AGENTS for ci in ("github", "gitlab")])
def test_every_template_is_written_without_placeholders(template: tuple[str, str]) -> None:
    name, ci = template
    folders = (TEMPLATES / "project", TEMPLATES / "ci" / ci, TEMPLATES / "agents" / name)
    templates = [path for folder in folders for path in folder.rglob("*")]
    files = project_files(Path("evals"), name, ci=ci)
    assert len(files) == sum(path.is_file() for path in templates) == len(FILES)
    assert not [text for text in files.values() if "{{" in text.replace("${{ !cancelled() }}", "")]


def test_every_template_of_an_agent_has_a_row() -> None:
    assert {path.name for path in (TEMPLATES / "agents").iterdir()} == set(AGENTS)


@pytest.mark.parametrize("agent", sorted(set(AGENTS) - {"plain"}))
def test_a_project_with_a_framework_names_the_model_and_replays_in_ci(agent: str, tau: Any, tmp_path: Path) -> None:
    status, out, _ = tau("init", "--agent", agent)
    assert status == 0
    assert "  export OPENAI_API_KEY=…\n  pytest --tau-record " in out
    assert 'tau_agent_llm = "openai/gpt-4.1"\n' in (tmp_path / "pytest.toml").read_text(encoding="utf-8")
    text = (tmp_path / ".github/workflows/tau.yml").read_text(encoding="utf-8")
    assert "pytest --tau-replay --tau-gate" in text
    requirements = (tmp_path / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert requirements[-1 - len(AGENTS[agent].requirements)].endswith(".whl[endpoint]")
    assert requirements[-len(AGENTS[agent].requirements) :] == list(AGENTS[agent].requirements)
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "$ pytest --tau-replay " in readme
    assert f'trial.tools_for("{agent}")' in (tmp_path / "agent.py").read_text(encoding="utf-8")


# The command


def test_it_prints_the_files_and_the_next_commands(tau: Any, tmp_path: Path) -> None:
    status, out, err = tau("init", "evals")
    assert (status, err) == (0, "")
    assert written(tmp_path) == {f"evals/{name}" for name in FILES}
    lines = out.splitlines()
    assert lines[0] == "wrote"
    assert {line.strip() for line in lines[1 : 1 + len(FILES)]} == {f"evals/{name}" for name in FILES}
    assert lines[2 + len(FILES)] == "next"
    assert lines[3 + len(FILES)] == "  cd evals"
    assert "  pytest --tau-agent noop   # an agent that does nothing fails them" in lines
    assert lines[-1].startswith("  pip wheel --no-deps --wheel-dir vendor PATH_TO_A_CLONE")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\ntestpaths = tests other/*\n"),
        ("pytest.toml", '[pytest]\ntestpaths = ["tests"]\n'),
        ("pyproject.toml", '[tool.pytest]\ntestpaths = ["tests"]\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = "tests"\n'),
        ("setup.cfg", "[tool:pytest]\ntestpaths = tests\n"),
    ],
)
def test_testpaths_that_do_not_include_the_folder_are_named(tau: Any, tmp_path: Path, file: str, text: str) -> None:
    tmp_path.joinpath(file).write_text(text)
    _, out, err = tau("init", "evals")
    assert out.splitlines()[-3:] == [
        "note",
        f"  pytest in {tmp_path} does not run these tasks: the testpaths in {file} do not include evals.",
        "  Run pytest in the new folder, or 'pytest evals': the settings are in its pytest.toml.",
    ]
    assert not err


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\ntestpaths = tests ./agents/\n"),
        ("pytest.ini", "[pytest]\ntestpaths = agents/ev*\n"),
        ("pytest.ini", "[pytest]\ntestpaths = .\n"),
        ("pytest.ini", "[pytest]\n"),
        ("pytest.ini", "["),
        ("pyproject.toml", "[project]\nname = 'a'\n"),
        ("pyproject.toml", "tool = 1\n"),
        ("pyproject.toml", "["),
    ],
)
def test_other_settings_are_not_named(tau: Any, tmp_path: Path, file: str, text: str) -> None:
    tmp_path.joinpath(file).write_text(text)
    status, out, _ = tau("init", "agents/evals")
    assert status == 0
    assert "note" not in out.splitlines()


def test_the_current_folder_is_the_default(tau: Any, tmp_path: Path) -> None:
    status, out, _ = tau("init")
    assert status == 0
    assert written(tmp_path) == FILES
    assert "  agent.py\n" in out and "cd " not in out


def test_an_existing_file_is_not_overwritten(tau: Any, tmp_path: Path) -> None:
    tmp_path.joinpath("conftest.py").write_text("# mine\n")
    tmp_path.joinpath("bookings").write_text("mine")
    status, out, err = tau("init")
    assert (status, out) == (2, "")
    assert err == (
        "tau init: nothing was written, because these files exist:\n"
        "  conftest.py\n"
        "  bookings\n"
        "give another folder: tau init NAME\n"
    )
    assert written(tmp_path) == {"conftest.py", "bookings"}
    assert tmp_path.joinpath("conftest.py").read_text() == "# mine\n"


def test_an_existing_gitignore_is_left_as_it_is(tau: Any, tmp_path: Path) -> None:
    tmp_path.joinpath(".gitignore").write_text("# mine\n")
    status, out, _ = tau("init")
    assert status == 0
    assert written(tmp_path) == FILES
    assert tmp_path.joinpath(".gitignore").read_text() == "# mine\n"
    assert "  .gitignore\n" not in out
    assert out.endswith("\nyour .gitignore should have\n  .tau/\n  report.html\n  __pycache__/\n")


def test_git_ignores_what_the_commands_of_the_project_write(plain_project: Path) -> None:
    git = ["git", "-C", str(plain_project)]
    subprocess.run([*git, "init", "-q"], check=True)
    options = re.findall(r"--tau-html (\S+)", next(plain_project.rglob("tau.yml")).read_text(encoding="utf-8"))
    assert command(plain_project, "pytest", "-p", "no:asyncio", "--tau-html", *options).returncode == 0
    assert (plain_project / "report.html").is_file()
    subprocess.run([*git, "add", "-A"], check=True)
    added = subprocess.run([*git, "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    assert set(added) == FILES


def test_a_file_in_the_place_of_the_folder_is_refused(tau: Any, tmp_path: Path) -> None:
    tmp_path.joinpath("evals").write_text("mine")
    status, _, err = tau("init", "evals")
    assert (status, err.splitlines()[1:-1]) == (2, ["  evals"])


def test_a_dangling_link_is_not_written_through(tau: Any, tmp_path: Path) -> None:
    tmp_path.joinpath("agent.py").symlink_to(tmp_path / "elsewhere.py")
    assert tau("init")[0] == 2
    assert not tmp_path.joinpath("elsewhere.py").exists()


@pytest.mark.parametrize("link", ["evals", "evals/bookings", "evals/.github"])
def test_a_link_to_a_folder_is_not_written_through(tau: Any, tmp_path: Path, link: str) -> None:
    elsewhere, path = tmp_path / "elsewhere", tmp_path / link
    elsewhere.mkdir()
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(elsewhere)
    status, _, err = tau("init", "evals")
    assert (status, err) == (
        2,
        f"tau init: nothing was written, because {link} is a symbolic link: expected a folder\n",
    )
    assert not any(elsewhere.iterdir())


def test_a_project_in_a_folder_behind_a_link_is_written(
    tau: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("real").mkdir()
    tmp_path.joinpath("link").symlink_to("real")
    monkeypatch.chdir(tmp_path / "link")
    assert tau("init", "evals")[0] == 0
    assert tmp_path.joinpath("real/evals/agent.py").is_file()


def test_in_a_repository_the_workflow_is_in_its_top_folder(tau: Any, tmp_path: Path) -> None:
    tmp_path.joinpath(".git").mkdir()
    status, out, _ = tau("init", "tests/evals")
    assert status == 0
    assert "  .github/workflows/tau-tests-evals.yml\n" in out
    text = tmp_path.joinpath(".github/workflows/tau-tests-evals.yml").read_text()
    assert "working-directory: tests/evals\n" in text
    assert "            tests/evals/report.html\n" in text
    assert "`../../.github/workflows/tau-tests-evals.yml`" in tmp_path.joinpath("tests/evals/README.md").read_text()
    assert not tmp_path.joinpath("tests/evals/.github").exists()


def test_any_name_of_a_folder_is_valid_yaml(tau: Any, tmp_path: Path) -> None:
    tmp_path.joinpath(".git").mkdir()
    assert tau("init", "my evals: #1")[0] == 0
    text = tmp_path.joinpath(".github/workflows/tau-my evals: #1.yml").read_text()
    assert 'working-directory: "my evals: #1"\n' in text
    assert "            my evals: #1/report.html\n" in text


def test_in_a_repository_the_job_of_gitlab_is_in_its_top_folder(tau: Any, tmp_path: Path) -> None:
    tmp_path.joinpath(".git").mkdir()
    assert tau("init", "--ci", "gitlab", "tests/evals")[0] == 0
    text = tmp_path.joinpath(".gitlab-ci.yml").read_text()
    assert "    - cd tests/evals\n" in text and "junit: tests/evals/junit.xml\n" in text
    assert "`../../.gitlab-ci.yml`" in tmp_path.joinpath("tests/evals/README.md").read_text()
    status, _, err = tau("init", "--ci", "gitlab", "other")
    assert status == 2 and ".gitlab-ci.yml" in err


@pytest.mark.parametrize("folder", ["evals", "my evals: #1"])
@pytest.mark.parametrize(("ci", "schema"), [("github", "vendor.github-workflows"), ("gitlab", "vendor.gitlab-ci")])
def test_the_workflow_follows_the_schema_of_its_service(
    tau: Any, tmp_path: Path, folder: str, ci: str, schema: str
) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    tmp_path.joinpath(".git").mkdir()
    assert tau("init", "--ci", ci, folder)[0] == 0
    (workflow,) = (path for path in tmp_path.rglob("*.yml") if path.is_file())
    checked = command(tmp_path, "check_jsonschema", "--builtin-schema", schema, str(workflow))
    assert checked.returncode == 0, checked.stdout + checked.stderr


# The source of pytest-tau


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (None, "./vendor/pytest_tau-{version}-py3-none-any.whl"),
        ("git+https://example.com/tau.git@v1", "pytest-tau @ git+https://example.com/tau.git@v1"),
        ("./wheels/tau.whl", "./wheels/tau.whl"),
    ],
)
def test_the_requirement_names_a_source(tau: Any, tmp_path: Path, given: str | None, line: str) -> None:
    from importlib.metadata import version

    _, out, _ = tau("init", *(["--install-from", given] if given else []))
    lines = tmp_path.joinpath("requirements.txt").read_text().splitlines()
    assert [each for each in lines if not each.startswith("#")] == [line.format(version=version("pytest-tau"))]
    readme = tmp_path.joinpath("README.md").read_text()
    workflow = tmp_path.joinpath(".github/workflows/tau.yml").read_text()
    for text, build in ((out, "pip wheel"), (readme, "Commit the folder `vendor`"), (workflow, "which is committed")):
        assert (build in text) == (given is None)


@pytest.mark.usefixtures("warm_processes")
def test_the_example_of_one_task_runs_one(plain_project: Path) -> None:
    (line,) = [line for line in plain_project.joinpath("README.md").read_text().splitlines() if "# one task" in line]
    _, _, *args = line.partition("#")[0].split()
    assert "1 passed" in command(plain_project, "pytest", "-p", "no:asyncio", *args).stdout


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            {"url": "https://example.com/tau.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pytest-tau @ git+https://example.com/tau.git@abc",
        ),
        ({"url": "file:///home/me/tau", "vcs_info": {"vcs": "git", "commit_id": "abc"}}, "./vendor/"),
        ({"url": "file:///home/me/tau", "dir_info": {}}, "./vendor/"),
        ({}, "./vendor/"),
    ],
)
def test_the_source_of_this_installation_is_the_default(
    tau: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: dict[str, Any], expected: str
) -> None:
    monkeypatch.setattr(init, "_direct_url", lambda: record)
    _, out, _ = tau("init")
    assert f"\n{expected}" in tmp_path.joinpath("requirements.txt").read_text()
    if "file:" in record.get("url", ""):
        assert "--wheel-dir vendor /home/me/tau" in out
