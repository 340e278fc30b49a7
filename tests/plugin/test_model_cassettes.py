"""--tau-record, --tau-replay, --tau-cassettes: where cassettes lie, what is asked again, what is reported when one breaks."""

from __future__ import annotations

import json
import os
import shlex

import pytest

RECORDED = "mock/cassettes/t.tau/buy-milk.trial-0.cassette"

#: What the models say on the shelf.
LENDING = """
def answer(role, request):
    if role == "user":
        return "###STOP###" if "Done" in request.messages[-1]["content"] else "Emma, please."
    return "Done." if request.messages[-1]["role"] == "tool" else called("lend", title="Emma")
"""

#: The provider does not answer after a tool's result, until there is a file of this name.
DOWN_UNTIL_WELL = """
def answer(role, request):
    if request.messages[-1]["role"] == "tool" and not Path("well").exists():
        raise ModelError("the provider is down")
    return reference(role, request)
"""


def again(run, start):
    """The command that an error names, as arguments."""
    words = shlex.split(run.line(start).removeprefix("E ").strip().partition(start)[2])
    assert words[0] == "pytest"
    return words[1:]


class TestPlaces:
    def test_one_per_trial_next_to_the_task_file(self, models, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
        run = models.run("--tau-record", "--tau-trials", "2")
        run.outcomes(passed=4)
        run.line("tau: model calls: recorded if there is no cassette, else replayed")
        assert models.cassettes() == [
            f"mock/cassettes/t.tau/{task}.trial-{trial}.cassette" for task in ("one", "two") for trial in (0, 1)
        ]

    def test_a_domains_lie_where_pytest_was_started(self, models, project, monkeypatch):
        models.script("""
            def answer(role, request):
                return "###STOP###" if role == "user" else "Hm."
        """)
        args = ["--tau-domain", "mock", "--tau-task", "create-task"]
        models.run(*args, "--tau-record")
        assert models.cassettes() == ["cassettes/mock/create-task.trial-0.cassette"]
        models.calls()
        project.write("sub/x.txt", "")
        project.ini("")
        monkeypatch.chdir(project.path / "sub")
        models.run(*args, "--tau-record")
        assert models.cassettes()[1:] == ["sub/cassettes/mock/create-task.trial-0.cassette"]

    def test_odd_ids_are_safe_names(self, models, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("../a b/ü")])
        models.run("--tau-record").outcomes(passed=1)
        (name,) = models.cassettes()
        assert name.startswith("mock/cassettes/t.tau/a-b-")

    def test_in_a_folder_of_the_users(self, models, project, a_task):
        project.tasks("other/t.tau.json", {"domain": "mock", "tasks": [a_task()]})
        models.run("--tau-record", "--tau-cassettes", "tapes").outcomes(passed=2)
        assert models.cassettes() == [
            "tapes/mock/t.tau/buy-milk.trial-0.cassette",
            "tapes/other/t.tau/buy-milk.trial-0.cassette",
        ]
        models.calls()
        models.run("--tau-replay", "--tau-cassettes", "tapes").outcomes(passed=2)
        assert models.calls() == []

    def test_a_folder_from_the_ini_starts_at_the_ini(self, models, project, monkeypatch):
        project.ini("tau_cassettes = tapes", "tau_record = missing")
        monkeypatch.chdir(project.path / "mock")
        models.run().outcomes(passed=1)
        assert models.cassettes() == ["tapes/mock/t.tau/buy-milk.trial-0.cassette"]

    def test_from_below_the_root_directory_the_same_cassette_is_found(self, models, project, monkeypatch):
        project.ini("")
        models.run("--tau-record").outcomes(passed=1)
        models.calls()
        monkeypatch.chdir(project.path / "mock")
        models.run("--tau-replay").outcomes(passed=1)
        models.run("--tau-replay", "t.tau.json").outcomes(passed=1)
        assert models.calls() == []

    def test_marked_tests_have_a_folder_for_each_test(self, models, project):
        models.script("""
            def answer(role, request):
                return "###STOP###" if role == "user" else "Hm."
        """)
        project.write(
            "tests/test_own.py",
            """
            import pytest

            @pytest.mark.parametrize("flavour", ["a/b", "c"])
            @pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
            def test_first(tau_simulation, flavour):
                pass

            class TestGroup:
                @pytest.mark.tau(domain="mock", tasks="create-task")
                def test_second(self, tau_simulation):
                    pass

            @pytest.mark.tau(domain="mock", tasks="create-task")
            class TestOther:
                def test_second(self, tau_simulation):
                    pass
            """,
        )
        models.run("tests", "--tau-record").outcomes(passed=6)
        names = models.cassettes()
        assert len(names) == 6
        folder = "tests/cassettes/test_own"
        assert f"{folder}/TestGroup.test_second/create-task-trial-0.cassette" in names
        assert f"{folder}/TestOther.test_second/create-task-trial-0.cassette" in names
        assert sum(name.startswith(f"{folder}/test_first/") for name in names) == 4
        models.calls()
        models.run("tests", "--tau-replay").outcomes(passed=6)
        assert models.calls() == []


class TestRecording:
    def test_missing_records_what_is_missing_and_replays_the_rest(self, models, project, a_task):
        models.run("--tau-record").outcomes(passed=1)
        project.tasks("mock/t.tau.json", [a_task(), a_task("other")])
        models.calls()
        run = models.run("--tau-record=missing")
        run.outcomes(passed=2)
        run.line("tau: models together", "(1 of 2 trials replayed")
        assert models.calls() == ["agent", "agent", "user", "user"]

    def test_all_records_anew(self, models, project):
        models.run("--tau-record").outcomes(passed=1)
        models.calls()
        before = (project.path / RECORDED).read_bytes()
        run = models.run("--tau-record=all")
        run.outcomes(passed=1)
        run.line("tau: model calls: recorded")
        assert models.calls() == ["agent", "agent", "user", "user"]
        lines, old = (project.path / RECORDED).read_bytes().splitlines(), before.splitlines()
        assert lines[:-1] == old[:-1]

    def test_a_failed_trial_is_recorded_too(self, models):
        models.script("""
            def answer(role, request):
                return reference(role, request) if role == "user" else "Done."
        """)
        models.run("--tau-record").outcomes(failed=1)
        models.calls()
        run = models.run("--tau-replay")
        run.outcomes(failed=1)
        run.line("reward 0 = DB 0 x COMMUNICATE 1")
        assert models.calls() == []

    def test_the_options_beat_the_ini(self, models, project):
        project.ini("tau_record = missing")
        models.run("--tau-replay").outcomes(errors=1)
        assert models.cassettes() == []
        project.ini("tau_replay = true")
        models.run("--tau-record").outcomes(passed=1)
        assert models.cassettes() == [RECORDED]

    def test_a_trial_that_calls_no_model_leaves_nothing(self, models, project):
        """Else the models' first recording finds it, and is informed that it has no such call."""
        project.run("--tau-record").outcomes(passed=1)
        assert models.cassettes() == []

    def test_a_trial_that_calls_no_model_needs_no_cassette(self, models, project):
        project.run("--tau-replay").outcomes(passed=1)

    def test_folder_that_cannot_be_created_is_reported_before_any_call(self, models, project):
        project.write("mock/cassettes", "a file")
        run = models.run("--tau-record")
        run.outcomes(errors=1)
        run.line("the cassette cannot be written", "cassettes/t.tau/buy-milk.trial-0.cassette")
        run.lacks("Traceback")
        assert models.calls() == []

    def test_cassette_that_is_a_folder_is_reported_before_any_call(self, models, project):
        project.write(f"{RECORDED}/x", "")
        run = models.run("--tau-record")
        run.outcomes(errors=1)
        run.line("the cassette cannot be written: Is a directory")
        assert models.calls() == []

    def test_two_processes_lose_nothing(self, models, project, a_task):
        tasks = [a_task(f"task-{number}") for number in range(6)]
        project.tasks("mock/t.tau.json", tasks)
        models.run("--tau-record", "-n", "2", "--tau-trials", "2").outcomes(passed=12)
        assert models.cassettes() == sorted(
            f"mock/cassettes/t.tau/{task['id']}.trial-{trial}.cassette" for task in tasks for trial in (0, 1)
        )
        recorded = sorted(line for file in models.kept() for line in file.read_bytes().splitlines())
        assert len(recorded) == 12
        models.calls()
        run = models.run("--tau-replay", "-n", "2", "--tau-trials", "2")
        run.outcomes(passed=12)
        run.line("tau: models together: 48 calls", "all replayed at no cost")
        assert models.calls() == []
        folders = sorted({file.parent for file in models.kept()})
        replayed = sorted(line for file in folders[-1].glob("*.jsonl") for line in file.read_bytes().splitlines())
        assert replayed == recorded


class TestReplaying:
    def test_gives_the_same_to_the_byte_and_asks_nothing(self, models, project):
        models.run("--tau-record", "--tau-trials", "2").outcomes(passed=2)
        models.calls()
        run = models.run("--tau-replay", "--tau-trials", "2")
        run.outcomes(passed=2)
        run.line("tau: model calls: replayed")
        run.line("tau: models together: 8 calls, 8,000 tokens sent, 160 received, $2.0000 (all replayed at no cost)")
        assert models.calls() == []
        first, second = models.kept()
        # A line for each trial, in the order in which they have ended.
        assert sorted(first.read_bytes().splitlines()) == sorted(second.read_bytes().splitlines())

    def test_of_an_agent_of_ones_own(self, models, project):
        project.write(
            "own.py",
            """
            class Own:
                def __init__(self, model, tools):
                    self.model, self.tools = model, [tool.openai_schema for tool in tools]

                def respond(self, message):
                    role = "tool" if message.role == "tool" else "user"
                    said = [{"role": role, "content": message.content}]
                    return self.model.complete_sync(said, self.tools).message
            """,
        )
        models.run("--tau-agent", "own.py:Own", "--tau-record").outcomes(passed=1)
        models.calls()
        models.run("--tau-agent", "own.py:Own", "--tau-replay").outcomes(passed=1)
        assert models.calls() == []
        first, second = models.kept()
        assert first.read_bytes() == second.read_bytes()

    def test_a_foreign_agent_has_its_user_replayed(self, models, project, scripted):
        agent = scripted('call("create_task", user_id="user_1", title="Buy milk")', '"Done."')
        args = ["--tau-agent", agent, "--tau-user-llm", "fake/user"]
        project.run(*args, "--tau-record").outcomes(passed=1)
        assert models.calls() == ["user", "user"]
        project.run(*args, "--tau-replay").outcomes(passed=1)
        scripted('"Who are you?"', '"Done."', file="other.py")
        run = project.run("--tau-agent", "other.py:Scripted", "--tau-user-llm", "fake/user", "--tau-replay")
        run.outcomes(errors=1)
        run.line("call 2, of the user, differs from the recorded one")
        run.line("messages[3]", "Done.", "Who are you?")
        assert models.calls() == []

    def test_without_a_cassette_names_the_command_that_works(self, models, project):
        run = models.run("--tau-replay")
        run.outcomes(errors=1)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("no such cassette, but the user calls a model", "buy-milk.trial-0.cassette")
        run.line("neither side failed: the cassette is missing")
        run.line("ERROR mock/t.tau.json::buy-milk[trial-0] - unexpected_error: ReplayError: ")
        run.lacks("infrastructure_error")
        assert models.calls() == []
        project.run(*again(run, "record it: ")).outcomes(passed=1)
        assert models.cassettes() == [RECORDED]
        models.calls()
        models.run("--tau-replay").outcomes(passed=1)
        assert models.calls() == []

    def test_the_command_of_a_marked_test_works_too(self, models, project):
        models.script("""
            def answer(role, request):
                return "###STOP###" if role == "user" else "Hm."
        """)
        project.write(
            "tests/test_own.py",
            """
            import pytest

            class TestGroup:
                @pytest.mark.parametrize("flavour", ["a b", "sour"])
                @pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
                def test_own(self, tau_simulation, flavour):
                    pass
            """,
        )
        run = models.run("tests", "--tau-replay", "-k", "sour and trial-1")
        project.run(*again(run, "record it: ")).outcomes(passed=1)
        models.calls()
        models.run("tests", "--tau-replay", "-k", "sour and trial-1").outcomes(passed=1, deselected=3)
        assert models.calls() == []

    def test_the_command_of_a_domains_task_works_too(self, models, project):
        models.script("""
            def answer(role, request):
                return "###STOP###" if role == "user" else "Hm."
        """)
        (project.path / "mock/t.tau.json").unlink()
        (project.path / "mock").rmdir()
        args = ["--tau-domain", "mock", "--tau-task", "create-task", "--tau-trials", "2", "--tau-cassettes", "my tapes"]
        run = models.run(*args, "--tau-replay", "-k", "trial-1")
        project.run(*again(run, "record it: "))
        assert models.cassettes() == ["my tapes/mock/create-task.trial-1.cassette"]
        models.calls()
        models.run(*args, "--tau-replay", "-k", "trial-1")
        assert models.calls() == []

    def test_grading_may_change(self, models, project, a_task):
        models.run("--tau-record").outcomes(passed=1)
        models.calls()
        project.tasks("mock/t.tau.json", [a_task(criteria={"communicate_info": ["nothing of the kind"]})])
        run = models.run("--tau-replay")
        run.outcomes(failed=1)
        run.line("reward 0 = DB 1 x COMMUNICATE 0")
        models.run("--tau-replay", "--tau-grading", "strict")
        assert models.calls() == []


class TestDifferences:
    @pytest.fixture
    def differs(self, models, project):
        """Runs a replay that must be an error, and then the command in its message, which must fix it."""

        def run(*args, parts=(), fixed=None):
            run = models.run(*args, "--tau-replay")
            run.outcomes(errors=1)
            assert run.ret == pytest.ExitCode.TESTS_FAILED
            for part in parts:
                run.line(part)
            run.lacks("Traceback")
            assert models.calls() == []
            project.run(*again(run, "record again: ")).outcomes(**(fixed or {"passed": 1}))
            assert models.calls()
            models.run(*args, "--tau-replay").outcomes(**(fixed or {"passed": 1}))
            assert models.calls() == []
            return run

        models.run("--tau-record").outcomes(passed=1)
        models.calls()
        return run

    def test_arguments(self, differs):
        args = ["--tau-agent-llm-args", '{"temperature": 0.5}']
        differs(
            *args,
            parts=["call 2, of the agent, differs from the recorded one", "args.temperature: recorded 0.0, now 0.5"],
        )

    def test_the_address_and_the_key_are_no_difference(self, models):
        models.run("--tau-record").outcomes(passed=1)
        models.calls()
        args = '{"api_base": "http://127.0.0.1:9/v1", "api_key": "sk-any-key-of-mine"}'
        models.run("--tau-agent-llm-args", args, "--tau-replay").outcomes(passed=1)
        assert models.calls() == []

    def test_the_model(self, differs):
        differs("--tau-user-llm", "fake/other", parts=['model: recorded "fake/user", now "fake/other"'])

    def test_the_seed(self, differs):
        differs("--tau-seed", "7", parts=["the seed was 626729 and is", "args.seed: recorded 626729, now"])

    def test_a_prompt(self, differs, project):
        project.write("agent.md", "Be brief.\n{{policy}}")
        differs("--tau-agent-prompt", "agent.md", parts=["the agent prompt has changed since the recording"])

    def test_the_scenario(self, differs, project, a_task):
        project.tasks("mock/t.tau.json", [a_task(user_scenario={"instructions": "Have 'Buy milk' put on your list!"})])
        differs(parts=["the task has changed since the recording", "+ \\tHave 'Buy milk' put on your list!"])

    def test_a_command_with_a_prompt_and_options_works_from_a_subfolder(self, differs, project, monkeypatch):
        project.ini("")
        project.write("mock/a prompt.md", "Be brief.\n{{policy}}")
        monkeypatch.chdir(project.path / "mock")
        differs("--tau-agent-prompt", "a prompt.md", "--tau-max-steps", "50")

    def test_the_recording_goes_on(self, differs, project, a_task):
        run = differs("--tau-max-steps", "2", fixed={"failed": 1})
        run.line("the recording has more calls")

    def test_more_calls_than_recorded(self, models, project, a_task):
        models.run("--tau-record", "--tau-max-steps", "2").outcomes(failed=1)
        models.calls()
        run = models.run("--tau-replay")
        run.outcomes(errors=1)
        run.line("the agent makes one call more than the 1 call of the recording")
        assert models.calls() == []

    @pytest.fixture
    def shelf(self, project, models, shelf_source):
        """Makes a domain of the project's own, with its data in a folder of this name."""

        def make(folder):
            models.script(LENDING)
            conftest = (project.path / "conftest.py").read_text(encoding="utf-8")
            project.write("conftest.py", conftest + shelf_source(folder))
            project.write(f"{folder}/db.json", json.dumps({"books": {"Emma": {"title": "Emma"}}}))
            project.write(f"{folder}/short.md", "Lend books.")
            action = {"action_id": "lend", "name": "lend", "arguments": {"title": "Emma"}}
            task = {"id": "emma", "user_scenario": {"instructions": "Borrow Emma."}}
            project.tasks(f"{folder}/tasks/tasks.json", [task | {"evaluation_criteria": {"actions": [action]}}])
            models.run("--tau-domain", "shelf", "--tau-record").outcomes(passed=1)
            models.run("--tau-domain", "shelf", "--tau-replay").outcomes(passed=1)
            models.calls()
            return project

        return make

    @pytest.mark.parametrize(
        ("file", "old", "new", "reason"),
        [
            ("data/short.md", "Lend books.", "Lend books, kindly.", "the policy has changed"),
            ("conftest.py", "Lend a book.", "Give a book away.", "the agent tools have changed"),
        ],
    )
    def test_policy_and_tools(self, shelf, models, file, old, new, reason):
        project = shelf("data")
        text = (project.path / file).read_text(encoding="utf-8")
        project.write(file, text.replace(old, new))
        run = models.run("--tau-domain", "shelf", "--tau-replay")
        run.outcomes(errors=1)
        run.line(f"{reason} since the recording")
        run.line("call 2, of the agent, differs from the recorded one")
        assert models.calls() == []
        project.run(*again(run, "record again: ")).outcomes(passed=1)
        assert models.calls()
        models.run("--tau-domain", "shelf", "--tau-replay").outcomes(passed=1)
        assert models.calls() == []

    def test_the_command_works_where_a_folder_bears_the_domains_name(self, shelf, models):
        project = shelf("shelf")
        project.write("shelf/short.md", "Lend books, kindly.")
        run = models.run("--tau-domain", "shelf", "--tau-replay")
        project.run(*again(run, "record again: ")).outcomes(passed=1)

    def test_an_agent_that_swallows_the_error_does_not_hide_it(self, models, project):
        project.write(
            "own.py",
            """
            import os

            class Own:
                def __init__(self, model):
                    self.model = model

                def respond(self, message):
                    try:
                        return self.model.complete_sync([{"role": "user", "content": os.environ["SAY"]}]).text or "Hm."
                    except Exception:
                        return "Done."
            """,
        )
        models.script("""
            def answer(role, request):
                return "Done." if role == "agent" else reference(role, request)
        """)
        args = ["--tau-agent", "own.py:Own"]
        os.environ["SAY"] = "one"
        try:
            models.run(*args, "--tau-record").outcomes(failed=1)
            os.environ["SAY"] = "two"
            run = models.run(*args, "--tau-replay")
        finally:
            del os.environ["SAY"]
        run.outcomes(errors=1)
        run.line('messages[0].content: recorded "one", now "two"')


class TestDamage:
    @pytest.fixture
    def cassette(self, models, project):
        models.run("--tau-record").outcomes(passed=1)
        models.calls()
        return project.path / RECORDED

    def broken(self, models, project, *parts):
        for args in (["--tau-replay"], ["--tau-record"]):
            run = models.run(*args)
            run.outcomes(errors=1)
            run.line("buy-milk.trial-0.cassette", *parts)
            run.lacks("Traceback")
            assert models.calls() == []
        project.run(*again(run, "record again: ")).outcomes(passed=1)
        models.calls()
        models.run("--tau-replay").outcomes(passed=1)
        assert models.calls() == []

    def test_edited(self, models, project, cassette):
        text = cassette.read_text(encoding="utf-8").replace("Buy milk, please.", "Buy bread, please.")
        cassette.write_text(text, encoding="utf-8")
        self.broken(models, project, "was changed after it was recorded")

    def test_of_another_task(self, models, project, cassette, a_task):
        other = cassette.with_name("other.trial-0.cassette")
        cassette.rename(other)
        project.tasks("mock/t.tau.json", [a_task("other")])
        run = models.run("--tau-replay")
        run.outcomes(errors=1)
        run.line("is a recording of trial 0 of task 'buy-milk' of mock; this is trial 0 of task 'other' of mock")
        project.run(*again(run, "record again: ")).outcomes(passed=1)

    def test_of_another_version(self, models, project, cassette):
        text = cassette.read_text(encoding="utf-8").replace('{"cassette": 1,', '{"cassette": 2,')
        cassette.write_text(text, encoding="utf-8")
        self.broken(models, project, "has format version 2; expected 1")

    def test_other_line_ends_do_no_harm(self, models, cassette):
        cassette.write_bytes(cassette.read_bytes().replace(b"\n", b"\r\n"))
        models.run("--tau-replay").outcomes(passed=1)


class TestInterruptedRecordings:
    def test_an_error_keeps_what_was_answered_and_the_next_recording_goes_on(self, models, project):
        models.script(DOWN_UNTIL_WELL)
        models.run("--tau-record").outcomes(errors=1)
        assert models.calls() == ["agent", "agent", "user"]
        assert models.cassettes() == [f"{RECORDED}.part"]
        project.write("well", "")
        models.run("--tau-record").outcomes(passed=1)
        assert models.calls() == ["agent", "user"]
        assert models.cassettes() == [RECORDED]
        models.run("--tau-replay").outcomes(passed=1)
        assert models.calls() == []

    def test_all_starts_from_nothing(self, models, project):
        models.script(DOWN_UNTIL_WELL)
        models.run("--tau-record=all").outcomes(errors=1)
        models.calls()
        project.write("well", "")
        models.run("--tau-record=all").outcomes(passed=1)
        assert models.calls() == ["agent", "agent", "user", "user"]

    def test_an_error_leaves_the_old_cassette(self, models, project):
        models.run("--tau-record").outcomes(passed=1)
        before = (project.path / RECORDED).read_bytes()
        models.script("""
            def answer(role, request):
                raise ModelError("the provider is down")
        """)
        models.run("--tau-record=all").outcomes(errors=1)
        assert (project.path / RECORDED).read_bytes() == before
        models.run("--tau-replay").outcomes(passed=1)

    def test_a_changed_prompt_starts_from_nothing(self, models, project):
        models.script(DOWN_UNTIL_WELL)
        models.run("--tau-record").outcomes(errors=1)
        models.calls()
        project.write("well", "")
        project.write("user.md", "You are this: {{scenario}}")
        models.run("--tau-record", "--tau-user-prompt", "user.md").outcomes(passed=1)
        assert models.calls() == ["agent", "agent", "user", "user"]

    def test_what_was_paid_before_is_not_spent_again(self, models, project, a_task):
        """Two calls for $0.5 were answered in the first attempt; the others and the next trial cost $1.75 together."""
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
        models.script(DOWN_UNTIL_WELL)
        models.run("--tau-record", "--tau-task", "one").outcomes(errors=1)
        project.write("well", "")
        models.run("--tau-record", "--tau-budget", "1.8").outcomes(passed=2)

    def test_a_judge_that_is_down_costs_no_second_conversation(self, models, project, a_task):
        project.tasks(
            "mock/t.tau.json", [a_task(criteria={"nl_assertions": ["It is short."], "reward_basis": ["NL_ASSERTION"]})]
        )
        models.script("""
            def answer(role, request):
                if role == "judge" and not Path("well").exists():
                    raise ModelError("the judge is down")
                return reference(role, request)
        """)
        args = ["--tau-judge-llm", "fake/judge", "--tau-record"]
        models.run(*args).outcomes(errors=1)
        models.calls()
        project.write("well", "")
        models.run(*args).outcomes(passed=1)
        assert models.calls() == ["judge"]
        models.run("--tau-judge-llm", "fake/judge", "--tau-replay").outcomes(passed=1)
        assert models.calls() == []


class TestEndings:
    def test_the_clock(self, models):
        models.script("""
            async def answer(role, request):
                if role == "agent" and request.messages[-1]["role"] == "tool":
                    await asyncio.sleep(60)
                return reference(role, request)
        """)
        args = ["--tau-timeout", "0.2"]
        models.run(*args, "--tau-record").outcomes(failed=1)
        models.calls()
        started = models.kept()
        run = models.run(*args, "--tau-replay")
        run.outcomes(failed=1)
        run.line("cut off: out of time")
        assert models.calls() == []
        first, second = started[0], models.kept()[1]
        assert first.read_bytes() == second.read_bytes()

    def test_the_context_window(self, models):
        models.script("""
            def answer(role, request):
                if role == "agent" and request.messages[-1]["role"] == "tool":
                    raise ContextWindowError("100 tokens are too many")
                return reference(role, request)
        """)
        for mode in ("--tau-record", "--tau-replay"):
            run = models.run(mode)
            run.outcomes(failed=1)
            run.line("ended by context_window_exceeded")
            run.line("100 tokens are too many")
        assert models.calls() == ["agent", "agent", "user"]
        first, second = models.kept()
        assert first.read_bytes() == second.read_bytes()

    def test_what_an_agent_gives_up_is_not_answered(self, models, project):
        project.write(
            "own.py",
            """
            import asyncio

            class Own:
                def __init__(self, model):
                    self.model = model

                async def respond(self, message):
                    try:
                        said = [{"role": "user", "content": "Slowly."}]
                        return (await asyncio.wait_for(self.model.complete(said), 0.1)).text
                    except asyncio.TimeoutError:
                        return "Done."
            """,
        )
        models.script("""
            async def answer(role, request):
                if role == "agent":
                    await asyncio.sleep(60)
                return reference(role, request)
        """)
        args = ["--tau-agent", "own.py:Own"]
        models.run(*args, "--tau-record").outcomes(failed=1)
        models.calls()
        models.run(*args, "--tau-replay").outcomes(failed=1)
        assert models.calls() == []
        first, second = models.kept()
        assert first.read_bytes() == second.read_bytes()
