"""``tau matrix``: its file, the checks before anything runs, what is continued, and the report."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_tau.cli import main
from pytest_tau.cli.many.matrix_file import Cell, read_matrix
from pytest_tau.cli.project import options_schema
from pytest_tau.errors import ConfigurationError

pytestmark = pytest.mark.usefixtures("warm_processes")

SCHEMA = options_schema()["definitions"]["options"]["properties"]


def read(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "m.toml"
    file.write_text(text, encoding="utf-8")
    return read_matrix(file, SCHEMA)


class TestFile:
    def test_cells_are_every_combination(self, tmp_path: Path) -> None:
        text = (
            'agents = ["mod:A", "mod:B"]\nmodels = ["x/1", "x/2"]\nusers = ["scripted"]\ndomains = ["mock", "retail"]'
        )
        found = read(tmp_path, text)
        assert len(found.cells) == 8
        assert found.cells[0] == Cell("mod:A", "x/1", "scripted", None, "mock")
        assert found.name == "m"

    def test_an_agent_without_a_model_is_run_once(self, tmp_path: Path) -> None:
        found = read(tmp_path, 'agents = ["rules", "llm"]\nmodels = ["x/1", "x/2"]\ndomains = ["mock"]')
        assert [(cell.agent, cell.model) for cell in found.cells] == [("rules", None), ("llm", "x/1"), ("llm", "x/2")]

    def test_excluded_cells_are_no_cells(self, tmp_path: Path) -> None:
        text = (
            'agents = ["rules", "gold"]\ndomains = ["mock", "retail"]\n[[exclude]]\nagent = "gold"\ndomain = "retail"'
        )
        assert Cell("gold", None, None, None, "retail") not in read(tmp_path, text).cells
        assert len(read(tmp_path, text).cells) == 3

    def test_options_are_arguments_of_pytest(self, tmp_path: Path) -> None:
        text = (
            'domains = ["mock"]\ntrials = 3\nseed = 0\nconcurrency = 2\nworkers = 4\nbudget = 1.5\n[options]\n'
            'num_tasks = 2\nsolo = true\ntask = ["a", "b"]\nagent-llm-args = {temperature = 0.5}\nprompt_cache = false\n'
        )
        found = read(tmp_path, text)
        assert found.options == [
            "--tau-num-tasks=2",
            "--tau-solo",
            "--tau-task=a",
            "--tau-task=b",
            '--tau-agent-llm-args={"temperature": 0.5}',
            "--tau-trials=3",
            "--tau-seed=0",
        ]
        assert found.speed == ["--tau-concurrency=2", "-n", "4"]
        assert (found.budget, found.gated) == (1.5, False)

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("agents = ['rules']", "domains: missing: expected a list of domains"),
            ("domain = ['mock']", "unknown key 'domain'; did you mean 'domains'?"),
            ("domains = 'mock'", "domains: expected a list of strings, got 'mock'"),
            ("domains = []", "domains: expected at least one value"),
            ("domains = ['mock', 'mock']", "domains: 'mock' is listed twice"),
            ("domains = ['mock']\ntrials = 0", "trials: expected a whole number from 1, got 0"),
            ("domains = ['mock']\ntrials = true", "trials: expected a whole number from 1, got True"),
            ("domains = ['mock']\nbudget = -1", "budget: expected a number of USD above 0, got -1"),
            ("domains = ['mock']\nname = '../x'", "name: expected letters, digits"),
            ("domains = ['mock']\n[options]\nsede = 3", "options: unknown key 'sede'"),
            ("domains = ['mock']\n[options]\nagent = 'x'", "options: agent: is set by the keys agents, models"),
            (
                "domains = ['mock']\n[options]\ngrading = 'lax'",
                "options: grading: expected 'official', 'strict', got 'lax'",
            ),
            ("domains = ['mock']\n[options]\nsolo = 'yes'", "options: solo: expected true or false, got 'yes'"),
            ("domains = ['mock']\n[[exclude]]\nagnet = 'x'", "exclude 1: unknown key 'agnet'; did you mean 'agent'?"),
            ("domains = ['mock']\n[[exclude]]\ndomain = 'moc'", "exclude 1: domain: unknown value 'moc'"),
            ("domains = ['mock']\n[[exclude]]\ndomain = 'mock'", "exclude: excludes every cell"),
            ("domains = [", "not valid TOML"),
        ],
    )
    def test_errors_name_file_key_and_what_is_allowed(self, tmp_path: Path, text: str, problem: str) -> None:
        with pytest.raises(ConfigurationError) as caught:
            read(tmp_path, text)
        assert str(caught.value).startswith(f"{tmp_path / 'm.toml'}: ")
        assert problem in str(caught.value)

    def test_a_missing_file_is_reported(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match="cannot be read"):
            read_matrix(tmp_path / "none.toml", SCHEMA)

    def test_names_of_folders_are_safe_and_different(self) -> None:
        one, two = Cell("a/b:C", None, "x", None, "mock"), Cell("a/b/C", None, "x", None, "mock")
        assert one.folder != two.folder
        assert "/" not in one.folder and one.folder == one.folder.strip(".")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "m.toml").write_text(
        'agents = ["rules", "noop"]\ndomains = ["airline"]\nusers = ["scripted"]\ntrials = 2\n[options]\nnum_tasks = 7\n',
        encoding="utf-8",
    )
    return tmp_path


def state(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project / ".tau/matrix/m/matrix.json").read_text(encoding="utf-8"))
    return {name: each["status"] for name, each in found["cells"].items()}


def test_a_matrix_runs_reports_and_is_not_run_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "m.toml"]) == 0
    first = capsys.readouterr().out
    assert "m: 2 runs" in first and "[2/2] noop · scripted, airline: " in first
    assert "2 runs on 7 tasks with a verdict in all, paired by task and seed" in first
    assert set(state(project).values()) == {"done"}
    folder = project / ".tau/matrix/m"
    assert "noop · scripted" in (folder / "report.md").read_text(encoding="utf-8")
    assert "<!doctype html>" in (folder / "report.html").read_text(encoding="utf-8")
    before = {file: file.stat().st_mtime_ns for file in folder.glob("runs/*/simulations.jsonl")}
    assert main(["matrix", "m.toml", "--fail-on", "regression"]) == 1
    assert "m: 2 runs, 2 complete" in capsys.readouterr().out
    assert {file: file.stat().st_mtime_ns for file in folder.glob("runs/*/simulations.jsonl")} == before
    # More trials: those that there are, are kept.
    text = (project / "m.toml").read_text(encoding="utf-8").replace("trials = 2", "trials = 3")
    (project / "m.toml").write_text(text.replace('"noop"', '"gold"'), encoding="utf-8")
    assert main(["matrix", "m.toml"]) == 0
    assert "rules · scripted, airline: 21 of 21 trials passed" in capsys.readouterr().out
    (log,) = folder.glob("logs/rules*.txt")
    assert "14 of 21 trials reused from the earlier run" in log.read_text(encoding="utf-8")


def test_every_cell_is_checked_before_anything_runs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (project / "m.toml").read_text(encoding="utf-8")
    (project / "m.toml").write_text(text.replace('"noop"', '"missing:Agent"'), encoding="utf-8")
    assert main(["matrix", "m.toml"]) == 2
    assert "missing:Agent · scripted, airline cannot be run; nothing was run" in capsys.readouterr().err
    assert not (project / ".tau/matrix").exists()


def test_check_runs_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "m.toml", "--check"]) == 0
    assert "2 runs can be run; nothing was run" in capsys.readouterr().out
    assert not (project / ".tau/matrix").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupted_matrix_continues(project: Path) -> None:
    (project / "slow.py").write_text(
        "import time\n\ndef agent(messages, tools):\n    time.sleep(0.5)\n    return 'Goodbye.'\n", encoding="utf-8"
    )
    text = (project / "m.toml").read_text(encoding="utf-8")
    text = text.replace('"noop"', '"slow.py:agent"').replace("num_tasks = 7", "num_tasks = 2\nmax_steps = 4")
    (project / "m.toml").write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-c",
        "import sys; from pytest_tau.cli import main; sys.exit(main())",
        "matrix",
        "m.toml",
    ]
    process = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True)
    folder = project / ".tau/matrix/m"
    until = time.monotonic() + 120
    while not [*folder.glob("runs/slow*/simulations.jsonl")] and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130, out
    assert "interrupted; continue with: tau matrix m.toml" in out
    assert sorted(state(project).values()) == ["done", "incomplete"]
    (stored,) = folder.glob("runs/slow*/simulations.jsonl")
    kept = stored.read_text(encoding="utf-8").splitlines()
    again = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stdout + again.stderr
    assert set(state(project).values()) == {"done"}
    assert stored.read_text(encoding="utf-8").splitlines()[: len(kept)] == kept
