"""A failure explains itself: what is in the report, how it looks, and the command that runs the trial again."""

from __future__ import annotations

import shlex

import pytest

CREATE = {
    "action_id": "create",
    "name": "create_task",
    "arguments": {"user_id": "user_1", "title": "Buy milk", "description": "Two litres"},
}
DISMISS = {
    "action_id": "dismiss",
    "requestor": "user",
    "name": "dismiss_notification",
    "arguments": {"notification_id": "notif_1"},
}


def _assertion(name, met=True, side="assistant", message=None, **arguments):
    return {"env_type": side, "func_name": name, "arguments": arguments, "assert_value": met, "message": message}


@pytest.fixture
def failing(project, a_task, scripted):
    """Runs one task with a scripted agent, which is to fail; ``criteria`` are the task's."""

    def run(criteria, *replies, args=()):
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
        finished = project.run("--tau-user", "gold", "--tau-agent", scripted(*replies), *args)
        finished.outcomes(failed=1)
        return finished

    return run


class TestContent:
    """The content of the report."""

    def test_database_differences_of_both_sides(self, failing, scripted):
        criteria = {"actions": [], "reward_basis": ["DB"]}
        dismiss = 'call("dismiss_notification", notification_id="notif_1")'
        user = scripted('"Hi"', dismiss, '"###STOP###"', file="by_user.py")
        create = 'call("create_task", user_id="user_1", title="X")'
        run = failing(criteria, create, '"Done."', args=["--tau-user", user])
        run.line("reward 0 = DB 0")
        run.line("database, agent side: 2 differences")
        run.line("tasks/task_3", "not expected", "got {")
        run.line("users/user_1/tasks/2", "not expected", 'got "task_3"')
        run.line("database, user side: 1 difference")
        run.line("notifications/notif_1/status", 'expected "unread"', 'got "read"')

    def test_missing_writes_stand_for_what_lacks_without_them(self, failing):
        unmet = _assertion("assert_number_of_tasks", user_id="user_1", expected_number=3)
        criteria = {
            "actions": [CREATE, DISMISS],
            "env_assertions": [unmet],
            "reward_basis": ["DB", "ENV_ASSERTION", "ACTION"],
        }
        run = failing(criteria, '"Done."', args=["--tau-user", "noop"])
        run.line("reward 0 = DB 0 x ENV_ASSERTION 0 x ACTION 0")
        run.line("turning point: never called create_task(")
        for part in ("database", "not met, ", "not made"):
            run.lacks(part)
        assert run.text.count("dismiss_notification") == 2  # once here, once in the short test summary

    def test_missing_action_with_the_nearest_call(self, failing):
        far = 'call("create_task", user_id="user_2", title="Buy", description="Two litres")'
        near = 'call("create_task", user_id="user_9", title="Buy milk", description="Two litres")'
        run = failing({"actions": [CREATE], "reward_basis": ["ACTION"]}, far, near, '"Done."')
        run.line("reward 0 = ACTION 0")
        run.line("not made: create_task", '"Buy milk"')
        run.line(
            "nearest call, message 4: user_id  expected", '"user_1"', 'got "user_9"', "-> Error: User user_9 not found"
        )

    def test_how_it_ended_and_the_last_turns(self, failing):
        run = failing({"actions": [CREATE]}, 'call("get_users")', '"I cannot find it."')
        run.line("ended by the user's ###STOP### after 5 turns")
        run.line("last messages")
        run.line("agent  > get_users()")
        run.line('= [{"user_id": "user_1"')
        run.line("agent  I cannot find it.")
        run.line("user   ###STOP###")

    def test_the_one_line_summary(self, failing):
        run = failing({"actions": [CREATE]}, '"Done."')
        run.line("FAILED mock/t.tau.json::buy-milk[trial-0] - never called create_task")


class TestLooks:
    """How it is shown."""

    def test_it_fits_a_screen(self, project, a_task, monkeypatch):
        """80 x 24 of a terminal are not enough for ten of everything, but 50 lines are."""
        monkeypatch.setenv("COLUMNS", "80")
        actions = [
            CREATE | {"action_id": str(n), "arguments": {"user_id": "user_1", "title": f"T{n}"}} for n in range(10)
        ]
        assertions = [
            _assertion("assert_task_status", task_id=f"task_{n}", expected_status="completed", message="m" * 200)
            for n in range(3, 13)
        ]
        criteria = {
            "actions": actions,
            "env_assertions": assertions,
            "communicate_info": [f"phrase {n}" for n in range(10)],
            "reward_basis": ["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE"],
        }
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
        run = project.run("--tau-agent", "noop")
        run.outcomes(failed=1)
        lines = run.text.splitlines()
        start = next(n for n, line in enumerate(lines) if "buy-milk[trial-0] ___" in line)
        end = next(n for n, line in enumerate(lines) if line.startswith("again: "))
        assert end - start <= 60
        assert all(len(line) <= 80 for line in lines[start:end])

    def test_colour(self, failing):
        run = failing({"actions": [CREATE]}, '"Done."', args=["--color=yes"])
        run.line("\x1b[31m", "\x1b[1m", "reward 0 = DB 0 x COMMUNICATE 1")
        run.line("\x1b[32m", "again: ")

    def test_no_colour(self, failing):
        assert "\x1b" not in failing({"actions": [CREATE]}, '"Done."', args=["--color=no"]).text

    def test_a_long_text_is_cut(self, failing):
        run = failing({"actions": [CREATE]}, '"word " * 500')
        assert len(run.line("agent  word")) < 250


class TestAgain:
    """The command that runs the trial again is carried out."""

    def _again(self, project, run):
        words = shlex.split(run.line("again: pytest ").split("again: ", 1)[1])
        assert words[0] == "pytest"
        return project.run(*words[1:], "-v")

    def test_of_a_file(self, project, failing):
        run = failing({"actions": [CREATE]}, '"Done."', args=["--tau-seed", "5", "--tau-max-steps", "20"])
        again = self._again(project, run)
        again.outcomes(failed=1)
        again.line("mock/t.tau.json::buy-milk[trial-0] FAILED")
        for option in ("--tau-agent scripted.py:Scripted", "--tau-seed 5", "--tau-max-steps 20"):
            again.line("again: ", option)

    def test_with_settings_on_the_command_line(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("more/own.ini", "[pytest]\ntau_max_steps = 20\ntau_files = *.tau.json\n")
        options = ["-c", "more/own.ini", "-p", "pytester", "-o", "tau_agent=noop"]
        run = project.run(*options, "-o", "tau_domain=mock", "mock/t.tau.json")
        line = run.line("again: pytest ")
        for option in ("-c", "-p pytester", "-o tau_agent=noop", "-o tau_domain=mock"):
            assert option in line
        self._again(project, run).outcomes(failed=1)

    def test_of_a_later_trial(self, project, failing, a_task, scripted):
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("--tau-agent", "noop", "--tau-trials", "3", "-k", "trial-2")
        again = self._again(project, run)
        again.outcomes(failed=1)
        again.line("mock/t.tau.json::buy-milk[trial-2] FAILED")

    def test_of_a_domain_outside_the_default_split_with_a_judge(self, project):
        args = ["--tau-domain", "mock", "--tau-split", "judged", "--tau-judge", "reject", "--tau-num-tasks", "1"]
        again = self._again(project, project.run(*args))
        again.outcomes(failed=1)
        again.line("mock::compliment[trial-0] FAILED")

    def test_of_an_id_that_was_renamed(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("[mobile] off|on"), a_task("other")])
        run = project.run("--tau-agent", "noop", "--tau-task", "[mobile]*")
        again = self._again(project, run)
        again.outcomes(failed=1)
        again.line("[mobile] off|on")

    def test_of_a_file_in_another_folder_with_settings_from_there(self, project, a_task, monkeypatch):
        """Ids are relative to the rootdir; the command must work where it is read."""
        project.ini()
        project.tasks("mock/t.tau.json", [a_task()])
        monkeypatch.chdir(project.path / "mock")
        again = self._again(project, project.run("--tau-agent", "noop"))
        again.outcomes(failed=1)

    def test_of_data_and_solo(self, project, a_task):
        project.tasks("mock/t.tau.json", {"domain": "mock", "tasks": [a_task(ticket="Buy milk.")]})
        run = project.run("--tau-agent", "noop", "--tau-solo", "--tau-grading", "strict")
        again = self._again(project, run)
        again.outcomes(failed=1)
        again.line("solo", "grading strict")

    def test_of_a_domain_and_a_file(self, project, a_task):
        """A file that says no domain needs the option again."""
        project.tasks("t.json", [a_task()])
        run = project.run("--tau-domain", "mock", "t.json", "--tau-agent", "noop")
        self._again(project, run).outcomes(failed=1)
