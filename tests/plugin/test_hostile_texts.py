"""Texts of agents, users, tools, tasks and files in everything that a run prints and writes for others to read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("warm_processes")

EVIL = (
    "::error::E1\n::error::E2\r::error::E3 \x1b[31mred\x9b0m \u202eover\u200b ##[error]E4 ##vso[task.setvariable]E5 "
    "##teamcity[buildProblem]\u2028::add-mask::x\x00 <img src=x onerror=alert(1)> | [a](http://evil.example) `@all`"
)
TAU = "from pytest_tau.cli import main; raise SystemExit(main())"
#: An agent that says hostile things, calls tools with them, or fails with them, by turns.
AGENT = """
from itertools import count

from pytest_tau.models import AssistantMessage, ToolCall

EVIL = {evil!r}
turn = count()


class Agent:
    def respond(self, message):
        number = next(turn)
        if number % 3 == 0:
            raise RuntimeError(EVIL)
        if number % 3 == 1:
            calls = [ToolCall(id=EVIL, name=EVIL, arguments={{EVIL: EVIL}}), ToolCall(id="1", name="lend", arguments={{"title": EVIL}})]
            return AssistantMessage(role="assistant", tool_calls=calls)
        return EVIL
"""


def steering(output: str) -> list[str]:
    """The lines of an output that a CI service would take for a command, or that a terminal would not just show."""
    lines = re.split(r"\r\n|\n|\r", output)
    return [x for x in lines if x.strip().startswith("::") or re.search(r"##\w*\[", x) or not x.isprintable()]


def unseen(output: str) -> list[str]:
    """The lines of an output with characters that are not seen."""
    return [line for line in output.split("\n") if not line.isprintable()]


@pytest.fixture
def hostile(shelf):
    """A project whose agent, tasks and data have hostile texts in every field."""
    shelf.write("agents.py", AGENT.format(evil=EVIL))

    def task(name: str, title: str) -> dict[str, object]:
        action = {"action_id": EVIL, "name": "lend", "arguments": {"title": title}, "info": EVIL}
        action["fails"] = title == EVIL
        return {
            "id": name,
            "description": {"purpose": EVIL},
            "annotations": {"tags": [EVIL]},
            "user_scenario": {"instructions": EVIL},
            "evaluation_criteria": {"actions": [action], "communicate_info": [EVIL]},
        }

    ids = [EVIL, "::error::lend", "##[error]lend", "lend \x1b[31m"]
    shelf.tasks(
        "shelf/tasks/tasks.json", [task(each, EVIL if number == 1 else "Emma") for number, each in enumerate(ids)]
    )
    return shelf


def args(*more: str) -> list[str]:
    return ["--tau-domain", "shelf", "--tau-agent", "agents.py:Agent", "--tau-user", "gold", *more]


MORE = [
    [],
    ["-v", "-rA"],
    ["-vv", "--tb=short"],
    ["--tb=line"],
    ["-q"],
    ["--tau-concurrency=1", "--tau-trials=2"],
    ["-n", "2"],
    ["--tau-gate", "pass^1>=0.9", "--tau-group-by", "tags"],
    ["--setup-show"],
    ["--tau-markdown", "-"],
]


@pytest.mark.parametrize("more", MORE, ids=" ".join)
def test_nothing_in_the_output_of_a_run_steers_anything(hostile, monkeypatch, more):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    run = hostile.run(*args("-pno:cacheprovider", *more))
    assert run.ret == pytest.ExitCode.TESTS_FAILED, run.text
    assert not steering(run.text)
    if "-q" not in more:
        run.line("E1")


def test_the_same_of_a_test_of_ones_own(hostile):
    hostile.write(
        "test_own.py",
        """
        import pytest

        @pytest.mark.tau(domain="shelf")
        def test_own(tau_simulation):
            assert tau_simulation.passed
        """,
    )
    run = hostile.run("test_own.py", "--tau-agent", "agents.py:Agent", "--tau-user", "gold", "-rA", "--tb=short")
    assert run.ret == pytest.ExitCode.TESTS_FAILED, run.text
    run.line("tau simulation")
    # pytest shows the values of an assertion with their repr.
    assert not steering(run.text)


def test_junit_has_no_character_that_is_not_seen(hostile):
    hostile.run(*args("--junitxml", "r.xml"))
    text = (hostile.path / "r.xml").read_text(encoding="utf-8")
    assert not unseen(text)
    root = ET.fromstring(text)
    tasks = [each.get("value") for each in root.iter("property") if each.get("name") == "tau_task"]
    assert "::error::lend" in tasks
    assert any("\\x1b[31mred" in (each or "") for each in tasks)


def test_the_page_for_a_ci_service(hostile, monkeypatch):
    hostile.run(*args("--tau-markdown", "page.md", "--tau-group-by", "tags"))
    page = (hostile.path / "page.md").read_text(encoding="utf-8")
    assert "error::E1" in page
    assert not steering(page)
    assert set(re.findall(r"<[^>]*>", page)) == {"<details>", "</details>", "<summary>", "</summary>"}
    assert not re.search(r"(?<!\\)[\[`@]", page)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    run = hostile.run(*args("--tau-markdown", "other.md"))
    ours = [line for line in run.text.splitlines() if line.startswith("::error title=")]
    assert len(ours) == 3
    assert not steering("\n".join(line for line in run.text.splitlines() if line not in ours))


@pytest.mark.exhaustive
def test_the_commands_of_the_project(hostile):
    hostile.run(*args())
    (folder,) = hostile.path.glob(".tau/runs/*")
    other = hostile.path / "other"
    calls = [
        ["view", str(folder)],
        ["compare", str(folder), str(folder)],
        ["regrade", "-v", str(folder)],
        ["regrade", "--json", str(folder)],
        ["lint", "shelf"],
        ["lint", "--json", "shelf"],
        ["merge", str(folder), "-o", str(other)],
        ["bless", str(folder)],
        ["export", str(folder), "--format", "csv", "-o", "x.csv"],
    ]
    for call in calls:
        done = subprocess.run([sys.executable, "-c", TAU, *call], cwd=hostile.path, capture_output=True, check=False)
        shown = (done.stdout + done.stderr).decode()
        assert done.returncode in (0, 1), shown
        assert shown
        assert not steering(shown), call


@pytest.mark.parametrize("place", ["id", "field", "quarantine", "domain"])
def test_usage_errors(hostile, place):
    more = []
    if place == "id":
        hostile.tasks("shelf/tasks/tasks.json", [{"id": EVIL, "user_scenario": 5}])
    elif place == "field":
        hostile.tasks("shelf/tasks/tasks.json", [{"id": "a", "user_scenario": {"instructions": "x"}, EVIL: EVIL}])
    elif place == "quarantine":
        hostile.write("q.toml", f"[[quarantine]]\ntask = 'a'\n{json.dumps(EVIL)} = 1\n")
        more = ["--tau-quarantine", "q.toml"]
    else:
        conftest = (hostile.path / "conftest.py").read_text(encoding="utf-8")
        hostile.write("conftest.py", conftest.replace('DomainSpec("shelf"', f"DomainSpec({EVIL!r}"))
    run = hostile.run(*args(*more))
    run.usage_error("E1" if place != "domain" else "a domain called")
    assert not steering(run.text)


def test_the_reason_of_a_quarantine(hostile):
    reason = json.dumps(EVIL)
    hostile.write(
        "q.toml", f"[[quarantine]]\ntask = '*'\nreason = {reason}\n\n[[quarantine]]\ntask={reason}\nreason='x'"
    )
    run = hostile.run(*args("--tau-quarantine", "q.toml", "-rA", "-v"))
    run.line("quarantine: ", "E1")
    assert not steering(run.text)


class TestNames:
    """Names of tasks and domains that are names of files."""

    IDS = ("Case", "case", "CON", "aux.txt", "plain", "ends.", "a b", "x" * 300)

    @pytest.fixture
    def tricky(self, shelf):
        """A domain that is called like a folder above, with tasks that have the same names on some systems."""
        conftest = (shelf.path / "conftest.py").read_text(encoding="utf-8")
        shelf.write("conftest.py", conftest.replace('DomainSpec("shelf"', 'DomainSpec("../shelf"'))
        action = {"action_id": "l", "name": "lend", "arguments": {"title": "Emma"}}
        shelf.tasks(
            "shelf/tasks/tasks.json",
            [
                {
                    "id": each,
                    "user_scenario": {"instructions": "Borrow Emma."},
                    "evaluation_criteria": {"actions": [action]},
                }
                for each in self.IDS
            ],
        )
        return shelf

    def stored(self, project, suffix):
        found = sorted(project.path.rglob(f"*.{suffix}"))
        return [file.relative_to(project.path).as_posix() for file in found]

    def fit(self, files):
        """Each exists on Windows and macOS, inside of the project, and none is another one's."""
        for file in files:
            for part in Path(file).parts:
                assert re.fullmatch(r"[\w.+\-\[\]]+(?<![. ])", part, re.ASCII), file
                assert part.partition(".")[0].lower() not in ("con", "aux"), file
        assert len({file.lower() for file in files}) == len(files)

    @pytest.mark.parametrize("more", [[], ["-n", "2"]], ids=["alone", "workers"])
    def test_snapshots(self, tricky, monkeypatch, more):
        pytest.importorskip("syrupy")
        for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
            monkeypatch.delenv(name, raising=False)
        options = ["-psyrupy", "--tau-domain", "../shelf", "--tau-agent", "gold", "--tau-snapshot"]
        tricky.run(*options, "--snapshot-update", *more).outcomes(passed=len(self.IDS))
        files = self.stored(tricky, "tausnap")
        assert len(files) == len(self.IDS)
        self.fit(files)
        assert re.fullmatch(r"__snapshots__/domains/_shelf-[0-9a-f]{8}", str(Path(files[0]).parent))
        names = {Path(file).name for file in files}
        assert {"case[trial-0].tausnap", "plain[trial-0].tausnap"} <= names
        tricky.run(*options, *more).outcomes(passed=len(self.IDS))
        # A part of the tasks finds the same files, and an update deletes none of the others.
        tricky.run(*options, "--tau-task", "Case", "--snapshot-update").outcomes(passed=1)
        tricky.run(*options, "--snapshot-update").outcomes(passed=len(self.IDS))
        assert self.stored(tricky, "tausnap") == files
        assert not list(tricky.path.parent.glob("__snapshots__"))

    @pytest.mark.parametrize("more", [[], ["-n", "2"]], ids=["alone", "workers"])
    def test_cassettes(self, models, tricky, more):
        tricky.write("models.py", (tricky.path / "conftest.py").read_text(encoding="utf-8"))
        models.script("""
            from models import pytest_tau_domains

            def answer(role, request):
                if role == "user":
                    return "###STOP###" if "Done" in request.messages[-1]["content"] else "Emma, please."
                return "Done." if request.messages[-1]["role"] == "tool" else called("lend", title="Emma")
        """)
        options = ["--tau-domain", "../shelf"]
        models.run(*options, "--tau-record", "--tau-cassettes", "tapes/in", *more).outcomes(passed=len(self.IDS))
        files = self.stored(tricky, "cassette")
        assert len(files) == len(self.IDS)
        self.fit(files)
        assert {re.sub(r"[0-9a-f]{8}$", "#", str(Path(file).parent)) for file in files} == {"tapes/in/_shelf-#"}
        names = {Path(file).name for file in files}
        assert {"case.trial-0.cassette", "plain.trial-0.cassette"} <= names
        models.calls()
        replay = ["--tau-replay", "--tau-cassettes", "tapes/in"]
        models.run(*options, *replay, *more).outcomes(passed=len(self.IDS))
        models.run(*options, *replay, "--tau-task", "Case").outcomes(passed=1)
        assert models.calls() == []

    def test_the_folder_of_a_run(self, tricky):
        tricky.run("--tau-domain", "../shelf", "--tau-agent", "gold")
        (folder,) = tricky.path.glob(".tau/runs/*")
        assert re.fullmatch(r"\d{8}-\d{6}-\d+-_shelf-[0-9a-f]{8}", folder.name)

    def test_files_of_an_export(self, tricky):
        lines = []
        for number, domain in enumerate(["../x", "Retail", "retail", "unknown", "CON"]):
            simulation = {
                "id": str(number),
                "task_id": "a",
                "start_time": "2026-01-01T00:00:00",
                "end_time": "2026-01-01T00:00:01",
                "duration": 1.0,
                "termination_reason": "user_stop",
                "messages": [],
            }
            lines.append(json.dumps({"test": f"t{number}", "domain": domain, **simulation}))
        tricky.write("run/simulations.jsonl", "\n".join(lines) + "\n")
        done = subprocess.run(
            [sys.executable, "-c", TAU, "export", "run", "--format", "tau2", "-o", "out/r.json"],
            cwd=tricky.path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        files = self.stored(tricky, "json")
        files = [file for file in files if file.startswith("out/")]
        assert len(files) == 5
        self.fit(files)
        assert {"out/r-retail.json", "out/r-unknown.json"} <= set(files)
