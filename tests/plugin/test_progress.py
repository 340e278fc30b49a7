"""How far a run is: a line at a terminal, now and then one in a log, else nothing."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from pytest_tau.plugin.report import progress
from pytest_tau.plugin.report.progress import LogThrottle, ProgressCounts, WaitThrottle

from .conftest import _QUICK
from .test_concurrency import Screen, _read

#: A test that writes to the terminal and runs with tasks.
MINE = "def test_it():\n    pass\n"


class TestText:
    """What the line says."""

    def test_before_anything_has_ended(self):
        assert ProgressCounts(total=40).text(8) == "0 done, 8 running, 32 waiting"

    def test_everything(self):
        counts = ProgressCounts(done=10, total=40, passed=7, judged=9, cost=1.234, seconds=60)
        assert counts.text(8) == "10 done, 8 running, 22 waiting; 78 % passed; $1.23; 3 min left"

    def test_where_it_is_not_known_what_is_running(self):
        assert ProgressCounts(done=10, total=40, seconds=10).text() == "10 of 40 done; 30 s left"

    def test_calls_of_unknown_price(self):
        assert (
            ProgressCounts(done=1, total=2, cost=0.5, unpriced=3).text()
            == "1 of 2 done; $0.50 and 3 calls with unknown price"
        )

    @pytest.mark.parametrize(("passed", "percent"), [(0, 0), (1, 1), (999, 99), (1000, 100)])
    def test_all_and_nothing_only_where_it_is(self, passed, percent):
        assert f"; {percent} % passed" in ProgressCounts(done=1, total=2, passed=passed, judged=1000).text()

    @pytest.mark.parametrize(
        ("seconds", "left"),
        [(2, "18 s"), (30, "4 min"), (3600, "9 h 0 min"), (0.5, None)],
        ids=["s", "min", "h", "early"],
    )
    def test_time_left_at_the_rate_so_far(self, seconds, left):
        text = ProgressCounts(done=10, total=100, seconds=seconds).text()
        assert text == "10 of 100 done" + (f"; {left} left" if left else "")

    def test_no_time_is_left_at_the_end(self):
        assert ProgressCounts(done=4, total=4, seconds=9).text() == "4 of 4 done"


class TestLog:
    """When a line is written to a log."""

    def due(self, *moments, total=100):
        """Return the moments, of these in seconds with tests done, at which a line is written."""
        log = LogThrottle(0.0)
        return [now for now, done in moments if log.is_due(ProgressCounts(done=done, total=total), now)]

    def test_a_short_run_is_not(self):
        assert self.due((1, 10), (10, 50), (29, 90)) == []

    def test_each_tenth_but_not_all_the_time(self):
        assert self.due((31, 5), (32, 10), (40, 30), (61, 35), (62, 36)) == [32, 62]

    def test_slow_run_is_reported(self):
        assert self.due((200, 1), (301, 1), (400, 2), (601, 2)) == [301, 601]

    def test_end_is_reported_by_the_summary(self):
        assert self.due((600, 100)) == []


@pytest.fixture
def tasks(project, a_task, scripted):
    """A project with four tasks; returns the arguments that run it."""
    project.tasks("mock/t.tau.json", [a_task(name) for name in "abcd"])
    return ("mock", "--tau-agent", scripted('"Done."'), "--tau-user", "noop", "--tb=no")


class TestInALog:
    """Without a terminal."""

    @pytest.fixture(autouse=True)
    def _at_once(self, monkeypatch):
        monkeypatch.setattr(progress, "_QUIET", 0.0)

    def test_lines_of_their_own(self, project, tasks):
        run = project.run(*tasks)
        run.outcomes(failed=4)
        lines = [line for line in run.text.splitlines() if line.startswith("tau: ") and " of 4 done" in line]
        assert lines == [f"tau: {n} of 4 done; 0 % passed" for n in (1, 2, 3)]
        dots = [line for line in run.text.splitlines() if line.startswith("mock/t.tau.json F")]
        assert [line.split()[1] for line in dots] == ["F", "F", "F", "F"]

    def test_with_v(self, project, tasks):
        run = project.run(*tasks, "-v")
        lines = run.text.splitlines()
        at = lines.index("tau: 1 of 4 done; 0 % passed")
        assert "a[trial-0] FAILED" in lines[at - 1]
        assert "b[trial-0] FAILED" in lines[at + 2]  # pytest begins a line of its own

    def test_over_workers(self, project, tasks):
        run = project.run(*tasks, "-n2")
        run.outcomes(failed=4)
        run.line("tau: ", " of 4 done; 0 % passed")  # two reports may come before a line is due

    def test_side_by_side(self, project, tasks):
        run = project.run(*tasks, "--tau-concurrency", "2")
        run.outcomes(failed=4)
        run.line("tau: ", " of 4 done; 0 % passed")

    def test_quiet(self, project, tasks):
        project.run(*tasks, "-q").lacks("of 4 done")

    def test_a_project_without_tasks(self, project):
        project.write("test_mine.py", MINE * 1 + MINE.replace("test_it", "test_that"))
        project.run("-v").lacks("done")

    def test_what_models_cost(self, models, a_task, project):
        project.tasks("mock/t.tau.json", [a_task("a"), a_task("b")])
        models.run("--tau-concurrency", "1", "mock").line("tau: 1 of 2 done; 100 % passed; $")


def test_a_short_run_says_nothing_in_a_log(project, tasks):
    project.run(*tasks).lacks("of 4 done")


_SLOW = """
    import _thread
    import threading
    import time

    class Agent:
        def respond(self, message):
            INTERRUPT
            time.sleep(4)
            return "Yes."
"""


class TestWaiting:
    """The trials that are waited for are named."""

    @pytest.fixture
    def slow(self, project, a_task, monkeypatch):
        project.tasks("mock/t.tau.json", [a_task("slow")])
        project.write("slow.py", _SLOW.replace("INTERRUPT", ""))
        return ["mock", "--tau-agent", "slow.py:Agent", "--tau-user", "gold"]

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("options", [[], ["--tau-concurrency=2"]], ids=["alone", "concurrent"])
    def test_if_no_test_ends_for_long(self, project, slow, monkeypatch, options):
        monkeypatch.setattr(progress, "_QUIET", 2.0)
        run = project.run(*slow, *options)
        run.line("tau: waiting for mock/t.tau.json::slow[trial-0] (2 s)")

    @pytest.mark.exhaustive
    def test_not_in_a_run_that_is_not_slow_and_not_with_q(self, project, slow, monkeypatch):
        project.run(*slow).lacks("waiting for")
        monkeypatch.setattr(progress, "_QUIET", 2.0)
        project.run("-q", *slow).lacks("waiting for")

    @pytest.mark.exhaustive
    def test_at_an_interruption(self, project, slow, pytester):
        interrupt = "threading.Timer(2.5, _thread.interrupt_main).start()"
        project.write("slow.py", _SLOW.replace("INTERRUPT", interrupt))
        result = pytester.runpytest_inprocess(*_QUICK, *slow, no_reraise_ctrlc=True)
        result.stdout.fnmatch_lines(["tau: waiting for mock/t.tau.json::slow*trial-0* (2 s)"])

    def test_each_time_the_wait_has_doubled(self):
        throttle = WaitThrottle(0.0)
        assert [now for now in range(300) if throttle.is_due(now)] == [30, 60, 120, 240]
        throttle.reset(300.0)
        assert [now for now in range(300, 400) if throttle.is_due(now)] == [330, 360]


@pytest.fixture
def screen(project, warm_processes):
    """Runs pytest at a terminal; returns everything that was written, and what stands there at the end."""

    def run(*args):
        ours, theirs = pty.openpty()
        env = {**os.environ, "COLUMNS": "100", "TERM": "xterm", "NO_COLOR": ""}
        command = [sys.executable, "-m", "pytest", *_QUICK, "--color=yes", *args]
        process = subprocess.Popen(command, cwd=project.path, stdout=theirs, stderr=theirs, env=env)
        os.close(theirs)
        text = b""
        while piece := _read(ours):
            text += piece
        os.close(ours)
        process.wait(120)
        return text.decode(), Screen(text.decode(), 100).lines

    return run


class TestAtATerminal:
    """A line that is taken away again."""

    def test_one_after_the_other(self, tasks, screen):
        text, lines = screen(*tasks)
        assert "0 done, 1 running, 3 waiting\x1b[A" in text
        assert "3 done, 1 running, 0 waiting; 0 % passed\x1b[A" in text
        assert "mock/t.tau.json FFFF   " in "\n".join(lines)
        assert not [line for line in lines if "running" in line]

    def test_over_workers(self, tasks, screen):
        text, lines = screen(*tasks, "-n2")
        assert " of 4 done; 0 % passed\x1b[A" in text
        assert "FFFF   " in "\n".join(lines)
        assert not [line for line in lines if "of 4 done" in line]

    @pytest.mark.parametrize("option", ["-q", "-s", "--log-cli-level=INFO"])
    def test_not_where_tests_write_or_it_is_not_wanted(self, tasks, screen, option):
        text, _ = screen(*tasks, option)
        assert "waiting" not in text

    def test_not_without_tasks(self, project, screen):
        project.write("test_mine.py", MINE)
        text, _ = screen()
        assert "running" not in text
