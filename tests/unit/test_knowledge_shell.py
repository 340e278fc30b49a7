"""Shell commands over the documents: refused ones, the sandbox, the form of answers."""

from __future__ import annotations

import shutil
import subprocess
import time

import pytest

from pytest_tau.errors import ConfigurationError, ToolServerError
from pytest_tau.knowledge import Document, Documents, shell as sandbox_module
from pytest_tau.knowledge.shell import Finished, Shell, answer, check_sandbox, refused, run_in_sandbox, write_files

DOCUMENTS = Documents(
    [Document("b/fees (1)", "Late fees", "A late fee of 5 USD is due."), Document("a", "Returns", "A return is free.")]
)


def _sandbox_works():
    program = shutil.which("bwrap")
    return program is not None and not subprocess.run([program, "--ro-bind", "/", "/", "true"], check=False).returncode


in_sandbox = pytest.mark.skipif(not _sandbox_works(), reason="bubblewrap is not installed, or may not make a sandbox")


def test_files_and_index(tmp_path):
    write_files(DOCUMENTS, tmp_path)
    assert (tmp_path / "b_fees__1_.md").read_text() == "# Late fees\n\nA late fee of 5 USD is due."
    assert (tmp_path / "INDEX.md").read_text() == (
        "# Knowledge Base Index\n\n**Total documents:** 2\n\n## Documents\n\n"
        "- **a.md** - Returns\n- **b_fees__1_.md** - Late fees\n"
    )


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("cat ../x", ".."),
        ("cat '../x'", None),
        ("cat /etc/passwd", "absolute path: /etc/passwd"),
        ("/bin/ls", "absolute path at start"),
        ("ls ~", "~"),
        ("echo $HOME", "$HOME"),
        ('grep "a/b" a.md', None),
        ("cat a.md | head -3", None),
    ],
)
def test_commands_that_point_outside_are_refused(command, what):
    assert refused(command) == what


def test_refusal_has_the_recorded_text():
    shell = Shell(DOCUMENTS)
    assert shell.run("cat ../x") == (
        "Error (exit code 1): Error: Command blocked - contains '..' which could escape the sandbox"
    )
    shell.close()


@pytest.mark.parametrize(
    ("command", "done", "text"),
    [
        ("ls", Finished(0, "", ""), "(no output)"),
        ("grep x a.md", Finished(1, "", ""), "No matches found."),
        ("false", Finished(1, "", ""), "Command failed with exit code 1"),
        ("cat x", Finished(1, "", "cat: x: No such file\n"), "Error (exit code 1): cat: x: No such file"),
        (
            "sleep 60",
            Finished(124, "", "Command timed out after 30 seconds"),
            "Error (exit code 124): Command timed out after 30 seconds",
        ),
        (
            "ls -l",
            Finished(0, "-rw-r--r-- 1 root staff 12 Nov 22 19:21 a.md\n", ""),
            "-rw-r--r-- 1 kb_user kb_group 12 Jan  1 00:00 a.md\n",
        ),
    ],
)
def test_form_of_answers(command, done, text):
    assert answer(command, done) == text


def test_missing_sandbox_is_reported(monkeypatch):
    monkeypatch.setattr(sandbox_module.shutil, "which", lambda _: None)
    with pytest.raises(ConfigurationError, match="'terminal_use' runs shell commands in a sandbox: install bubblewrap"):
        check_sandbox("terminal_use")
    with pytest.raises(ToolServerError, match="not installed any more"):
        Shell(DOCUMENTS).run("ls")


def test_sandbox_that_may_not_be_made_is_reported(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'no permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sandbox_module.shutil, "which", lambda _: str(fake))
    with pytest.raises(ConfigurationError, match="bubblewrap cannot make a sandbox here: no permissions"):
        check_sandbox("terminal_use")


@pytest.mark.exhaustive
def test_sandbox_that_hangs_is_killed_with_its_group(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\nsh -c 'sleep 3; touch {tmp_path}/alive' &\nsleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sandbox_module.shutil, "which", lambda _: str(fake))
    began = time.monotonic()
    done = run_in_sandbox("ls", tmp_path, writable=False, limit=0.5)
    assert time.monotonic() - began < 2.5
    assert (done.code, done.stderr) == (124, "Command timed out after 0.5 seconds")
    time.sleep(3.5)
    assert not (tmp_path / "alive").exists()


@in_sandbox
def test_commands_read_the_documents():
    check_sandbox("terminal_use")
    shell = Shell(DOCUMENTS)
    assert shell.run("cat a.md") == "# Returns\n\nA return is free."
    assert shell.run("grep -l late *.md | wc -l").strip() == "1"
    assert shell.run("grep -l nothing *.md") == "No matches found."
    shell.close()


@in_sandbox
def test_commands_have_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    (tmp_path / "mine.txt").write_text("private")
    shell = Shell(DOCUMENTS)
    assert "s3cret" not in shell.run("env")
    # Quoted, so that the check of commands lets it pass: the sandbox is what isolates.
    assert "private" not in shell.run(f"cat '{tmp_path}/mine.txt'")
    assert "Error" in shell.run("cat '/etc/passwd'")
    assert shell.run("ls '/sys/class/net' 2>&1; cat '/proc/net/dev' | tail -n +3 | cut -d: -f1").split()[-1] == "lo"
    shell.close()


@in_sandbox
@pytest.mark.parametrize("writable", [False, True])
def test_files_can_be_written_in_one_variant(writable):
    shell = Shell(DOCUMENTS, writable=writable)
    shell.run("echo note > note.md")
    assert ("note" in shell.run("cat note.md 2>&1 || true").splitlines()) == writable
    other = Shell(DOCUMENTS, writable=writable)
    assert "No such file" in other.run("cat note.md")
    shell.close()
    other.close()
