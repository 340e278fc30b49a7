"""Programs with a process group of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.participants.programs import process
from pytest_tau.participants.programs.process import Finished, ProcessGroup
from pytest_tau.participants.programs.program import parse_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Ignores the request to end.
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
#: Writes its number to a file, and sleeps.
SLEEP = "import os, pathlib, sys, time; pathlib.Path({path!r}).write_text(str(os.getpid())); time.sleep(60)"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., ProcessGroup]]:
    """Starts Python code as a program."""
    groups: list[ProcessGroup] = []

    def start(code: str, *arguments: str, text: str = "") -> ProcessGroup:
        groups.append(ProcessGroup([sys.executable, "-c", code, *arguments], os.environ, tmp_path, text))
        return groups[-1]

    yield start
    for group in groups:
        group.join()


def number_in(path: Path) -> int:
    """The process number that a program writes to a file."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError("the program has not started")


def is_running(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return state != "Z"  # its new parent may not have noticed yet


def test_what_a_program_prints_is_kept(start: Callable[..., ProcessGroup]) -> None:
    code = "import sys; print(sys.stdin.read(), sys.argv[1]); print('log', file=sys.stderr); sys.exit(3)"
    assert start(code, "é", text="Hi ü").wait() == Finished(3, "Hi ü é\n", "log\n", overflow=False)


def test_a_program_need_not_read(start: Callable[..., ProcessGroup]) -> None:
    assert start("print('done')", text="x" * 1_000_000).wait().output == "done\n"


def test_a_program_may_print_more_than_a_pipe_takes(start: Callable[..., ProcessGroup]) -> None:
    finished = start("import sys; print('o' * 500_000); print('e' * 500_000 + 'end', file=sys.stderr)").wait()
    assert len(finished.output) == 500_001
    assert finished.errors.endswith("eend\n")
    assert len(finished.errors) == 20_000


def test_a_program_that_prints_forever_is_ended(
    start: Callable[..., ProcessGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MOST_OUTPUT", 1_000_000)
    finished = start("import sys\nwhile True: sys.stdout.write('x' * 10_000)").wait()
    assert finished.overflow
    assert len(finished.output) <= 1_000_000


def test_a_signal_is_a_negative_status(start: Callable[..., ProcessGroup]) -> None:
    assert start("import os; os.kill(os.getpid(), 9)").wait().status == -9


@pytest.mark.exhaustive
def test_a_child_that_keeps_the_output_open_does_not_delay_the_answer(
    start: Callable[..., ProcessGroup], tmp_path: Path
) -> None:
    child = SLEEP.format(path=str(tmp_path / "child"))
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}]); print('answer')"
    group = start(code)
    assert group.wait().output == "answer\n"
    number = number_in(tmp_path / "child")
    assert is_running(number)
    group.join()
    assert not is_running(number)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", ["pass", DEAF])
def test_the_whole_group_is_ended(start: Callable[..., ProcessGroup], tmp_path: Path, first: str) -> None:
    """Also children, and those that ignore the request."""
    child = f"{first}; {SLEEP.format(path=str(tmp_path / 'child'))}"
    code = f"{first}; import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}]); "
    code += SLEEP.format(path=str(tmp_path / "parent"))
    group = start(code)
    numbers = [number_in(tmp_path / name) for name in ("parent", "child")]
    assert all(map(is_running, numbers))
    group.end()
    assert first != DEAF or all(map(is_running, numbers)), "it returns at once"
    group.join()
    assert not any(map(is_running, numbers))
    assert group.wait().status in (-15, -9)


def test_it_can_be_ended_twice(start: Callable[..., ProcessGroup]) -> None:
    group = start("pass")
    group.wait()
    group.end()
    group.end()
    group.join()


def test_a_command_is_split_without_a_shell(tmp_path: Path) -> None:
    command = parse_command("cmd:python -c 'print(1)' --prompt={text} {text} $HOME;", tmp_path)
    assert Path(command.arguments[0]).name == "python"
    assert command.for_text("a 'b' {text}\0")[1:] == (
        "-c",
        "print(1)",
        "--prompt=a 'b' {text}\ufffd",
        "a 'b' {text}\ufffd",
        "$HOME;",
    )
    assert not command.reads_input
    assert parse_command("cmd:python agent.py", tmp_path).reads_input


def test_a_relative_program_belongs_to_the_folder(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "agent"
    program.parent.mkdir()
    program.touch(mode=0o755)
    assert parse_command("cmd:bin/agent", tmp_path).arguments == (str(program),)
    assert parse_command(f"cmd:{program}", Path.cwd()).arguments == (str(program),)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("cmd:", "no program; expected cmd:PROGRAM ARGUMENTS, such as 'cmd:my-agent --prompt={text}'"),
        ("cmd:''", "no program"),
        ("cmd:my-agent 'x", "no closing quotation"),
        ("cmd:{text}", "{text} is allowed in arguments, not in the program"),
        ("cmd:no-such-agent {text}", "no program 'no-such-agent' in the folders of PATH"),
        ("cmd:here.py", "; run cmd:./here.py for the file in"),
        ("cmd:./missing", "no file"),
        ("cmd:./here.py", "here.py is not executable; run it with its interpreter, such as 'cmd:python ./here.py'"),
        ("cmd:bin\0 x", "NUL"),
    ],
)
def test_a_command_that_cannot_be_used(tmp_path: Path, spec: str, text: str) -> None:
    (tmp_path / "here.py").write_text("print('Hi')", encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        parse_command(spec, tmp_path)
    assert text in str(caught.value)
    assert repr(spec) in str(caught.value)


#: Starts a program in a group of its own, and kills itself once that runs.
KILLED = """
import os, pathlib, sys, time
from pytest_tau.participants.programs.process import ProcessGroup
folder, code = pathlib.Path(sys.argv[1]), sys.argv[2]
if __name__ == "__main__":
    group = ProcessGroup([sys.executable, "-c", code], os.environ, folder)
    while not (folder / "number").exists() or not (folder / "number").read_text():
        time.sleep(0.01)
    {first}
    os.kill(os.getpid(), 9)
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize(
    ("first", "left"),
    [
        ("pass", False),
        # A forked child that keeps the input of the watcher open.
        ("os.fork() or time.sleep(30)", False),
        ("group._watcher.remove(group._process.pid)", True),
    ],
    ids=["killed", "forked", "ended before"],
)
def test_a_program_ends_with_a_process_that_is_killed(tmp_path: Path, first: str, left: bool) -> None:
    code = f"{DEAF}; " + SLEEP.format(path=str(tmp_path / "number"))
    command = [sys.executable, "-c", KILLED.format(first=first), str(tmp_path), code]
    assert subprocess.run(command, check=False, timeout=30, stderr=subprocess.DEVNULL).returncode == -9
    number = number_in(tmp_path / "number")
    deadline = time.monotonic() + (process.GRACE + 1 if left else 15)
    while is_running(number) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert is_running(number) == left
    if left:
        os.kill(number, 9)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_a_program_ends_if_its_starter_is_gone_before_it_is_watched() -> None:
    script = Path(process.__file__).with_name("watcher.py")
    nobody = subprocess.Popen([sys.executable, "-c", "pass"])
    nobody.wait()
    program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    # The input stays open, as by a forked child of the starter.
    command = [sys.executable, str(script), "0.5", str(nobody.pid)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as watcher:
        assert watcher.stdin is not None
        watcher.stdin.write(f"+{program.pid}\n".encode())
        assert watcher.wait(20) == 0
        assert program.wait(20) == -signal.SIGTERM
