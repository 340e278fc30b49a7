"""The tutorial is what happens: its commands are run in order in one folder, and say what it shows.

A block ``console`` has commands after ``$`` and what each of them says; a block after "Save it as `name`:" is a file
of the project. What is shown must be said, line by line and in this order; ``…`` alone on a line stands for any lines,
at the end of one for the rest of it. Not compared are times in seconds, names of runs, the project's folder, how wide
rulers are drawn and how text is indented. A run's name in a command is that of the latest run.
"""

from __future__ import annotations

import codecs
import locale
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_tau.participants import FAULTY_AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.exhaustive, pytest.mark.usefixtures("warm_processes")]

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


TUTORIAL = page("tutorial.md")
#: How wide the terminal of the tutorial is.
COLUMNS = "100"
#: Where the reader of the tutorial is.
HOME = "/home/you/desk"
#: The plugins of pytest that the tutorial has installed.
PLUGINS = {"tau", "xdist", "xdist.looponfail", "syrupy"}
PROGRAMS = {
    "pytest": [sys.executable, "-m", "pytest"],
    "tau": [sys.executable, "-c", "import sys; from pytest_tau.cli import main; sys.exit(main())"],
    "cat": [sys.executable, "-c", "import sys; sys.stdout.write(open(sys.argv[1], encoding='utf-8').read())"],
}
ANY = "…"
_RUN = re.compile(r"\d{8}-\d{6}-\d+-[a-z]+")


@dataclass
class Step:
    """A command with what it is shown to say and its exit status where that is shown, or a file with its text."""

    command: str = ""
    shown: list[str] = field(default_factory=list)
    status: int | None = None
    file: str = ""
    text: str = ""


def steps(tutorial: str) -> Iterator[Step]:
    """What its reader does, in order; the commands of a workflow where it is saved."""
    parts = re.split(r"^```(\w*)\n(.*?)^```\n", tutorial, flags=re.MULTILINE | re.DOTALL)
    for before, kind, text in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        if kind == "console":
            yield from commands(text)
        elif saved := re.search(r"[Ss]ave\s+it\s+as\s+`([\w./-]+)`:\s*\Z", before):
            yield Step(file=saved[1], text=text)
            if kind == "yaml":
                yield from map(Step, re.findall(r"^ +- run: (.*)$", text, re.MULTILINE))


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(text: str) -> Iterator[Step]:
    step = None
    for each in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, *shown = each.splitlines()
        if command == "echo $?":
            assert step is not None
            step.status = int(shown[0])
        else:
            if step:
                yield step
            step = Step(command, shown)
    if step:
        yield step


def plain(text: str) -> list[str]:
    """Its lines without what is another thing each time, and without the empty ones."""
    text = _RUN.sub("RUN", text)
    text = re.sub(r"\b\d+\.\d+s\b", "TIME", text)
    text = re.sub(r"([=_-])\1+", r"\1", text)
    text = re.sub(r" +", " ", text)
    return [line.strip() for line in text.splitlines() if line.strip()]


def missing(shown: list[str], said: str) -> str | None:
    """The first line that is shown and is not said where it belongs."""
    rest = [ANY, *plain(said)]
    lines = plain("\n".join(shown or [ANY]))
    for before, line in pairwise([None, *lines]):
        if line == ANY:
            continue
        begins, cut = (line[: -len(ANY)].rstrip(), True) if line.endswith(ANY) else (line, False)
        fits = [n for n, told in enumerate(rest) if (told.startswith(begins) if cut else told == begins)]
        if not fits or (before != ANY and fits[0] != 1):
            return line
        rest = rest[fits[0] :]
    if lines and lines[-1] != ANY and len(rest) > 1:
        return f"{rest[1]} (said and not shown)"
    return None


class Reader:
    """Somebody who does what the tutorial says, in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.status = folder, 0
        others = {entry.name for entry in entry_points(group="pytest11")} - PLUGINS
        own = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "TAU_", "PYTEST_"))}
        self._environment = own | {
            "COLUMNS": COLUMNS,
            "GITHUB_STEP_SUMMARY": str(folder.with_suffix(".job.md")),
            "PYTEST_ADDOPTS": " ".join(["--assert=plain", *(f"-pno:{name}" for name in sorted(others))]),
        }
        if codecs.lookup(locale.getpreferredencoding(do_setlocale=False)).name != "utf-8":
            self._environment["PYTHONUTF8"] = "1"

    def follow(self, step: Step) -> str:
        """Do a step; returns what is said."""
        if step.file:
            path = self.folder / step.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
            return ""
        program, *given = shlex.split(self._with_latest(step.command), comments=True)
        done = subprocess.run(
            [*PROGRAMS[program], *given],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
        self.status = done.returncode
        return done.stdout.replace(str(self.folder.resolve()), HOME)

    def _with_latest(self, command: str) -> str:
        runs = sorted((self.folder / ".tau" / "runs").glob("*"), key=lambda run: run.stat().st_mtime_ns)
        return _RUN.sub(runs[-1].name, command) if runs else command


def departures(folder: Path, followed: list[Step]) -> list[str]:
    """Where the tutorial and what happens part; after the first, more may follow from it."""
    folder.mkdir()
    reader, found = Reader(folder), []
    for step in followed:
        said = reader.follow(step)
        line = missing(step.shown, said)
        if step.status not in (None, reader.status):
            line = f"exit status {step.status}, and it is {reader.status}"
        if line is not None:
            found.append(f"$ {step.command}\nis not as shown at: {line}\nit says:\n{said}")
    return found


def is_install(step: Step) -> bool:
    return step.command.startswith("pip install")


def is_of_snapshots(step: Step) -> bool:
    return "--tau-snapshot" in step.command


def test_what_it_installs_there_is() -> None:
    installs = [shlex.split(step.command)[-1] for step in steps(TUTORIAL) if is_install(step)]
    assert installs == [".[snapshot,xdist]", "./pytest-tau"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for line in ('name = "pytest-tau"', "snapshot = [", "xdist = ["):
        assert f"\n{line}" in project


def test_its_commands_say_what_it_shows(tmp_path: Path) -> None:
    pytest.importorskip("xdist", reason="the tutorial runs over two processes with pytest-xdist (dev extra)")
    followed = [step for step in steps(TUTORIAL) if not is_install(step) and not is_of_snapshots(step)]
    assert sum(bool(step.command) for step in followed) >= 15
    found = departures(tmp_path / "desk", followed)
    assert not found, "\n\n".join(found)
    job = (tmp_path / "desk.job.md").read_text(encoding="utf-8")
    assert "48 tasks, 96 trials" in job


def test_the_commands_of_the_tutorial_about_traces_say_what_it_shows(tmp_path: Path) -> None:
    copied = [
        Step(file=file.name, text=file.read_text(encoding="utf-8"))
        for folder in ("existing_tools", "production")
        for file in sorted((ROOT / "examples" / folder).iterdir())
        if file.is_file()
    ]
    followed = [*steps(page("traces_to_tasks.md"))]
    assert sum(bool(step.command) for step in followed) >= 8
    found = departures(tmp_path / "desk", [*copied, *followed])
    assert not found, "\n\n".join(found)


def test_its_snapshots_are_stored_and_compared(tmp_path: Path) -> None:
    pytest.importorskip("syrupy", reason="snapshots are syrupy's (pytest-tau[snapshot], dev extra)")
    followed = [step for step in steps(TUTORIAL) if is_of_snapshots(step) or step.file.endswith(".py")]
    assert sum(bool(step.command) for step in followed) == 2
    found = departures(tmp_path / "desk", followed)
    assert not found, "\n\n".join(found)


def test_the_domain_that_generates_does(tmp_path: Path) -> None:
    followed = [step for step in steps(page("lint.md")) if "shopping" in (step.command or step.text)]
    assert [bool(step.command) for step in followed] == [False, True]
    found = departures(tmp_path / "desk", followed)
    assert not found, "\n\n".join(found)


def test_the_test_with_saboteurs_passes(tmp_path: Path) -> None:
    file = Step(file="test_evaluator.py", text=blocks(page("rules_agents.md"), "python")[0])
    assert not departures(tmp_path / "desk", [file, Step("pytest -q", ["…", "2 passed in 0.20s"])])


def test_the_saboteurs_of_the_docs_are_those_there_are() -> None:
    told = re.findall(
        r"^\| `([\w-]+)` \|", page("rules_agents.md").partition("### Which checks detect")[0], re.MULTILINE
    )
    assert told == list(FAULTY_AGENTS)


@pytest.mark.parametrize(
    ("shown", "said", "where"),
    [
        (["…", "b"], "a\nb", None),
        (["a  1.23s", "…"], "a 9.99s\nb", None),
        (["a", "b"], "a\nx\nb", "b"),
        (["…", "b", "a"], "a\nb", "a"),
        (["a 1"], "a 2", "a 1"),
        (["a"], "a\nb", "b (said and not shown)"),
        (["one, …", "two"], "one, three\ntwo", None),
        (["== 1 passed =="], "===== 1 passed ======", None),
    ],
)
def test_what_is_shown_is_compared_line_by_line(shown: list[str], said: str, where: str | None) -> None:
    assert missing(shown, said) == where
