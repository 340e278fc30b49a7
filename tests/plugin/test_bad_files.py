"""Mistakes in files: each has a message of its own, which names file, task and field."""

from __future__ import annotations

import json

import pytest


class TestTaskFiles:
    """What is wrong with a task file is a usage error that names file, task and field."""

    def _refused(self, project, content, *parts, args=("mock/t.tau.json",)):
        text = content if isinstance(content, str) else json.dumps(content)
        file = project.write("mock/t.tau.json", text)
        run = project.run(*args)
        run.usage_error(str(file), *parts)
        return run

    def test_malformed_json(self, project):
        self._refused(project, '[{"id": "x"\n', "not valid JSON", "line 2, column 1")

    def test_malformed_json_found_by_pattern(self, project, a_task):
        project.tasks("mock/fine.tau.json", [a_task()])
        self._refused(project, "{", "not valid JSON", args=[])

    def test_not_utf8(self, project):
        (project.path / "mock").mkdir()
        (project.path / "mock/t.tau.json").write_bytes(b'[{"id": "\xff"}]')
        project.run().usage_error("t.tau.json", "not UTF-8")

    @pytest.mark.parametrize("content", ["3", '"text"', "null", '{"tasks": {}}'])
    def test_not_tasks(self, project, content):
        self._refused(project, content, "expected a task, an array of tasks, or an object with 'tasks'")

    def test_an_entry_that_is_no_object(self, project, a_task):
        self._refused(project, [a_task(), 7], "task #1")

    def test_a_domain_that_is_no_name(self, project, a_task):
        self._refused(project, {"domain": 3, "tasks": [a_task()]}, "domain", "expected a domain's name")

    def test_an_unknown_domain_in_the_file(self, project, a_task):
        project.tasks("mock/t.tau.json", {"domain": "mocc", "tasks": [a_task()]})
        project.run().usage_error("unknown domain 'mocc'; did you mean 'mock'?")

    def test_unknown_field(self, project, a_task):
        self._refused(project, [a_task("good"), a_task("bad", remark="?")], "task bad", "remark", "unknown field")

    def test_unknown_field_deep_down(self, project, a_task):
        task = a_task(criteria={"actions": [{"action_id": "a", "name": "get_users", "argument": {}}]})
        self._refused(project, [task], "task buy-milk", "evaluation_criteria.actions.0.argument", "unknown field")

    def test_missing_field(self, project, a_task):
        task = a_task()
        del task["user_scenario"]
        self._refused(project, [task], "task buy-milk", "user_scenario", "missing")

    def test_missing_id_is_reported_by_position(self, project, a_task):
        task = a_task()
        del task["id"]
        self._refused(project, [a_task(), task], "task #1", "id", "missing")

    def test_wrong_type(self, project, a_task):
        self._refused(
            project,
            [a_task(criteria={"actions": "all"})],
            "evaluation_criteria.actions",
            'expected an array, got "all"',
        )

    def test_unknown_reward_basis(self, project, a_task):
        task = a_task(criteria={"reward_basis": ["DB", "COMUNICATE"]})
        where = "task buy-milk", "evaluation_criteria.reward_basis"
        self._refused(project, [task], *where, "unknown reward basis 'COMUNICATE'; did you mean 'COMMUNICATE'?")

    def test_unknown_tool_in_the_reference_actions(self, project, a_task):
        task = a_task(criteria={"actions": [{"action_id": "a", "name": "create_tsk", "arguments": {}}]})
        where = "task buy-milk", "evaluation_criteria.actions.0.name"
        self._refused(project, [task], *where, "unknown tool 'create_tsk'; did you mean 'create_task'?")

    def test_a_tool_of_the_other_side_in_the_reference_actions(self, project, a_task):
        task = a_task(criteria={"actions": [{"action_id": "a", "requestor": "user", "name": "create_task"}]})
        told = '\'create_task\' is a tool of the assistant, not of the user: set "requestor": "assistant"'
        self._refused(project, [task], told)

    def test_unknown_assertion(self, project, a_task):
        assertion = {"env_type": "assistant", "func_name": "assert_task_statu", "arguments": {}}
        task = a_task(criteria={"env_assertions": [assertion]})
        where = "task buy-milk", "evaluation_criteria.env_assertions.0.func_name"
        self._refused(project, [task], *where, "unknown function 'assert_task_statu'", "'assert_task_status'")

    def test_unknown_initialization_function(self, project, a_task):
        call = {"env_type": "user", "func_name": "add_notificatio", "arguments": {}}
        task = a_task(initial_state={"initialization_actions": [call]})
        where = "task buy-milk", "initial_state.initialization_actions.0.func_name"
        self._refused(project, [task], *where, "unknown function 'add_notificatio'; did you mean 'add_notification'")

    def test_two_tasks_with_one_id(self, project, a_task):
        self._refused(project, [a_task("twin"), a_task("x"), a_task("twin")], "task twin", "two tasks have this id")

    def test_nothing_runs_where_one_file_is_bad(self, project, a_task):
        project.write("test_plain.py", "def test_plain(): pass")
        project.tasks("mock/a.tau.json", [a_task()])
        run = self._refused(project, [a_task(remark="?")], "unknown field", args=[])
        run.line("Interrupted: 1 error during collection")


class TestInitialStates:
    """An initial state that cannot be applied is reported before anything runs."""

    @staticmethod
    def _action(name="create_task", env_type="assistant", **arguments):
        return {"initialization_actions": [{"env_type": env_type, "func_name": name, "arguments": arguments}]}

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    @pytest.mark.parametrize(
        ("state", "parts"),
        [
            (
                {"user_id": "user_1"},
                ("initial_state.initialization_actions.0.arguments: create_task: title: missing",),
            ),
            (
                {"user_id": "user_1", "title": "Buy milk", "colour": "red"},
                ("initial_state.initialization_actions.0.arguments", "colour: unknown argument (known: user_id, title"),
            ),
            (
                {"user_id": "user_1", "title": 3},
                ("initial_state.initialization_actions.0.arguments: create_task: title: expected string, got 3",),
            ),
            (
                {"user_id": "nobody", "title": "Buy milk"},
                ("initial_state.initialization_actions.0: cannot be applied", "nobody"),
            ),
        ],
    )
    def test_bad_actions_are_usage_errors(self, project, a_task, state, parts, workers):
        project.tasks("mock/t.tau.json", [a_task("fine"), a_task(initial_state=self._action(**state))])
        project.run(*workers).usage_error("t.tau.json", "task buy-milk", *parts)

    def test_bad_data_are_usage_errors(self, project, a_task):
        state = {"initialization_data": {"agent_data": {"tasks": {"task_9": {"title": 3}}}}}
        project.tasks("mock/t.tau.json", [a_task(initial_state=state)])
        where = "task buy-milk", "initial_state.initialization_data.agent_data.tasks.task_9.task_id: missing"
        problems = "title: expected a valid string, got 3", "tasks has no record 'task_9', so it is a new one"
        project.run("--collect-only").usage_error("t.tau.json", *where, *problems)

    def test_only_selected_tasks_are_checked(self, project, a_task):
        state = self._action(user_id="nobody", title="Buy milk")
        project.tasks("mock/t.tau.json", [a_task("fine"), a_task(initial_state=state)])
        project.run("--tau-task", "fine").outcomes(passed=1)

    def test_assertions_with_bad_arguments_are_usage_errors(self, project, a_task):
        wrong = {"env_type": "assistant", "func_name": "assert_task_status", "arguments": {"task_id": "task_1"}}
        project.tasks("mock/t.tau.json", [a_task(criteria={"env_assertions": [wrong]})])
        where = "evaluation_criteria.env_assertions.0.arguments: assert_task_status: "
        project.run().usage_error("t.tau.json", "task buy-milk", where, ": missing")


OWN_TOOLS = """
from pytest_tau.environment import domain_of

class Notes:
    def note(self, text: str) -> str:
        '''Write a note.'''
        print("called note")
        raise ValueError(f"cannot note {text}")

def pytest_tau_domains():
    return [domain_of("notes", make=Notes, tools=[Notes.note], policy="Write notes.")]
"""


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "there is no file"),
        (b"Lend books.\nBe br\xfcsk.", "not UTF-8 text: invalid start byte (line 2, column 6); save it as UTF-8"),
        ("Lend books.".encode("utf-16"), "not UTF-8 text: it begins like UTF-16 (line 1, column 1); save it as UTF-8"),
    ],
)
def test_a_policy_that_cannot_be_read_is_a_usage_error(shelf, content, problem):
    conftest, policy = shelf.path / "conftest.py", shelf.path / "shelf" / "policy.md"
    conftest.write_text(conftest.read_text().replace(", policies=POLICIES", ""))
    if content:
        policy.write_bytes(content)
    shelf.run("--tau-domain", "shelf").usage_error("policy of domain 'shelf': ", str(policy), problem)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_record_that_a_database_gives_twice_is_a_usage_error(shelf, workers):
    emma = '"Emma": {"title": "Emma"}'
    file = shelf.write("shelf/db.json", f'{{"books": {{\n{emma},\n"Ulysses": {{"title": "Ulysses"}},\n{emma}}}}}')
    run = shelf.run("--tau-domain", "shelf", *workers)
    run.usage_error(str(file), 'the key "Emma" is given twice (lines 2 and 4); remove one of them')


class TestInitialStatesOfOwnTools:
    """Functions that exist already are not called while tests are collected."""

    @staticmethod
    def _project(project, **arguments):
        project.write("conftest.py", OWN_TOOLS)
        project.write("agent.py", "def agent(messages, tools):\n    print('asked')\n    return 'Hello.'\n")
        call = {"env_type": "assistant", "func_name": "note", "arguments": arguments}
        task = {"id": "noted", "user_scenario": {"instructions": "Ask."}, "evaluation_criteria": {"actions": [],
                "reward_basis": ["ACTION"]}, "initial_state": {"initialization_actions": [call]}}  # fmt: skip
        project.tasks("notes/t.tau.json", [task])
        return lambda *args: project.run("notes/t.tau.json", "--tau-agent", "agent.py:agent", "-s", *args)

    def test_bad_arguments_are_usage_errors(self, project):
        run = self._project(project, texts="x")()
        run.usage_error("t.tau.json", "task noted: initial_state.initialization_actions.0.arguments: note: text")
        run.lacks("called note")

    def test_an_exception_is_an_error_of_the_trial(self, project):
        """It is raised before the agent is asked."""
        run = self._project(project, text="x")
        run("--collect-only").lacks("called note")
        failed = run()
        failed.outcomes(errors=1)
        assert failed.ret == pytest.ExitCode.TESTS_FAILED
        line = failed.line("task noted: initial_state.initialization_actions.0: cannot be applied", "cannot note x")
        assert "t.tau.json" in line
        failed.lacks("asked")
        failed.lacks("During handling of the above exception")


class TestData:
    """--tau-data with a wrong folder."""

    def test_no_such_folder(self, project):
        run = project.run("--tau-domain", "mock", "--tau-data", "nowhere")
        run.usage_error("--tau-data: expected a folder with domains/<name>/ in it", f"{project.path}/nowhere")

    def test_a_folder_without_domains(self, project):
        project.run("--tau-domain", "mock", "--tau-data", ".").usage_error("--tau-data: expected", "domains/<name>/")

    def test_environment_variable(self, project, monkeypatch):
        monkeypatch.setenv("TAU_DATA", "nowhere")
        project.run("--tau-domain", "mock").usage_error("$TAU_DATA: expected a folder")

    def test_data_without_the_domain(self, project):
        (project.path / "data/domains/airline").mkdir(parents=True)
        run = project.run("--tau-domain", "mock", "--tau-data", "data")
        run.usage_error("no data of domain 'mock'", "domains/mock")

    @pytest.mark.parametrize(
        ("file", "content", "parts"),
        [
            ("tasks.json", "[", ["tasks.json", "not valid JSON"]),
            ("split_tasks.json", '{"base": ["nonesuch"]}', ["split_tasks.json", "'nonesuch'"]),
            ("split_tasks.json", "[", ["split_tasks.json", "not valid JSON"]),
            ("split_tasks.json", "[]", ["split_tasks.json"]),
            ("split_tasks.json", '{"base": 3}', ["split_tasks.json"]),
            ("tasks.json", None, ["no task files of domain 'mock'"]),
        ],
    )
    def test_broken_files(self, project, a_task, file, content, parts):
        project.tasks("data/domains/mock/tasks.json", [a_task()])
        if content is None:
            (project.path / "data/domains/mock" / file).unlink()
        else:
            project.write(f"data/domains/mock/{file}", content)
        project.run("--tau-domain", "mock", "--tau-data", "data").usage_error(*parts)

    @pytest.mark.parametrize("content", [None, "{", '{"tasks": {}, "users": 3}'])
    def test_broken_databases(self, project, a_task, content):
        """They are read when the first environment is made, and are the harness's fault."""
        project.tasks("data/domains/mock/tasks.json", [a_task()])
        if content is not None:
            project.write("data/domains/mock/db.json", content)
        run = project.run("--tau-domain", "mock", "--tau-data", "data")
        assert run.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.TESTS_FAILED)
        run.line("data/domains/mock", "db.")
        run.lacks(" failed")
        run.lacks("passed")


class TestDomainOfTasks:
    """A task in the folder of a domain that names another domain is an error; other texts are descriptions."""

    def _write(self, shelf, content):
        return str(shelf.tasks("shelf/tasks/tasks.json", content))

    def _task(self, domain):
        instructions = {"domain": domain, "reason_for_call": "Borrow Emma.", "task_instructions": "Be brief."}
        return {
            "id": "borrow",
            "user_scenario": {"instructions": instructions},
            "evaluation_criteria": {"actions": []},
        }

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_domain_of_the_file(self, shelf, workers):
        file = self._write(shelf, {"domain": "retail", "tasks": [self._task("shelf")]})
        run = shelf.run("--tau-domain", "shelf", *workers)
        run.usage_error(file, "domain: names the domain 'retail', but the file is one of domain 'shelf'")

    def test_domain_of_a_task(self, shelf):
        file = self._write(shelf, [self._task("retail")])
        expected = "user_scenario.instructions.domain: names the domain 'retail', but the task is one of domain 'shelf'"
        shelf.run("--tau-domain", "shelf").usage_error(file, "task borrow", expected)

    @pytest.mark.parametrize(
        ("named", "starts"), [("recorded", "names the domain 'recorded'"), ("lending of books", "unknown tool 'fly'")]
    )
    def test_a_task_that_does_not_fit_and_names_another_domain(self, shelf, named, starts):
        task = self._task(named) | {"evaluation_criteria": {"actions": [{"action_id": "0", "name": "fly"}]}}
        shelf.write("more.tau.json", json.dumps([task]))
        run = shelf.run("more.tau.json", "--tau-domain", "shelf")
        run.line(f": {starts}", "unknown tool 'fly'")
        added = "the task is used on 'shelf': add --tau-domain recorded (on 'shelf': evaluation_criteria.actions.0.name"
        assert (added in " ".join(run.text.split())) is (named == "recorded")

    @pytest.mark.parametrize("domain", ["shelf", "lending of books"])
    def test_other_texts_are_allowed(self, shelf, domain):
        self._write(shelf, {"domain": "shelf", "tasks": [self._task(domain)]})
        shelf.run("--tau-domain", "shelf").outcomes(passed=1)

    def test_a_variant_with_the_tasks_of_another_domain_is_allowed(self, shelf):
        self._write(shelf, [self._task("shelf")])
        conftest = (shelf.path / "conftest.py").read_text()
        more = "import dataclasses\nSHELF = dataclasses.replace(SHELF, name='other')\n\n\ndef pytest_tau_domains"
        extra = conftest.replace("def pytest_tau_domains", "FIRST = SHELF\n" + more).replace(
            "[SHELF]", "[FIRST, SHELF]"
        )
        assert "[FIRST, SHELF]" in extra
        shelf.write("conftest.py", extra)
        shelf.run("--tau-domain", "other").outcomes(passed=1)


class TestSplits:
    """A split of a domain or a folder without splits: the message says where to define it."""

    def test_domain_without_splits(self, shelf):
        file = shelf.path / "shelf/tasks/split_tasks.json"
        expected = f"unknown split 'smoke': domain 'shelf' has no splits: define it in {file}, as in {{\"smoke\": ["
        shelf.run("--tau-domain", "shelf", "--tau-split", "smoke").usage_error(expected)
        file.write_text('{"smoke": ["lend-emma"]}')
        shelf.run("--tau-domain", "shelf", "--tau-split", "smoke").outcomes(passed=1)
        shelf.run("--tau-domain", "shelf", "--tau-split", "smok").usage_error("did you mean 'smoke'? (known: smoke)")

    def test_file_without_splits(self, project, a_task):
        file = project.tasks("mock/t.tau.json", [a_task()])
        expected = f"{file} has no splits: define it in {file.parent / 'split_tasks.json'}"
        project.run(str(file), "--tau-split", "smoke").usage_error("unknown split 'smoke'", expected)


class TestDeclarations:
    """A wrong declaration of a domain: the traceback has the frames of the user alone."""

    SOURCE = """
        from pytest_tau.environment import Toolkit, tool

        class Tools(Toolkit):
            @tool("raed")
            def look(self, place: str) -> str:
                \"\"\"Look at a place.\"\"\"
                return place
        """

    @pytest.mark.parametrize("name", ["test_it.py", "conftest.py", "sub/conftest.py"])
    def test_a_wrong_tool(self, project, name):
        project.write(name, self.SOURCE)
        project.write("sub/test_other.py", "def test_other(): pass")
        run = project.run()
        run.line("E  ", "tool Tools.look: unknown kind 'raed'; did you mean 'read'?")
        run.line(f"{name}:5: in Tools")
        run.lacks("toolkit.py")

    def test_an_error_of_other_code_keeps_its_frames(self, project):
        source = "from pytest_tau.environment.toolkit import tool\n\ntool('read')(3)\n"
        project.write("test_it.py", source)
        project.run().line("toolkit.py:", "in mark")
