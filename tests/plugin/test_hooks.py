"""The hooks of a run, as a conftest.py implements them: domains, evaluators, tasks."""

from __future__ import annotations

import json
import textwrap

import pytest


class TestDomains:
    """pytest_tau_domains."""

    def test_a_domain_of_ones_own(self, shelf):
        run = shelf.run("--tau-domain", "shelf", "-v")
        run.outcomes(passed=2)
        run.line("shelf::lend-emma[trial-0] PASSED")
        run.line("tau: domain shelf, seed 300, agent gold, user gold")

    def test_it_fails_like_any_other(self, shelf):
        run = shelf.run("--tau-domain", "shelf", "--tau-agent", "noop")
        run.outcomes(failed=2)
        run.line('turning point: never called lend(title="Emma")')

    def test_it_is_known_in_messages(self, shelf):
        shelf.run("--tau-domain", "shelv").usage_error("unknown domain 'shelv'; did you mean 'shelf'?", "mock, ")

    def test_it_may_replace_an_installed_one(self, shelf):
        conftest = shelf.path / "conftest.py"
        conftest.write_text(conftest.read_text().replace('DomainSpec("shelf"', 'DomainSpec("mock"'))
        assert shelf.collected("--tau-domain", "mock") == ["mock::lend-emma[trial-0]", "mock::lend-ulysses[trial-0]"]

    def test_none_is_no_domain(self, project):
        project.write("conftest.py", "def pytest_tau_domains(config):\n    return None\n")
        project.run("--tau-domain", "mock", "--tau-num-tasks", "1").outcomes(passed=1)

    def test_it_is_not_called_before_anything_is_requested(self, project):
        project.write("conftest.py", "def pytest_tau_domains(config):\n    raise RuntimeError('asked')\n")
        project.write("test_plain.py", "def test_plain(): pass")
        project.run().outcomes(passed=1)


EVALUATOR = """
from pytest_tau.models import AssistantMessage, CustomCheck

class Polite:
    name = "POLITE"

    def evaluate(self, task, messages, environment):
        said = [m.content for m in messages if isinstance(m, AssistantMessage) and m.content]
        polite = any("please" in text.lower() for text in said)
        return CustomCheck(name=self.name, reward=float(polite), justification="said please" if polite else "no please")

def pytest_tau_evaluators(config):
    return [Polite()]
"""


class TestEvaluators:
    """pytest_tau_evaluators."""

    @pytest.fixture
    def polite(self, project, a_task):
        project.write("conftest.py", EVALUATOR)
        criteria = {"reward_basis": ["DB", "POLITE"]}
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
        return project

    def test_a_component_gates_where_the_basis_names_it(self, polite, scripted):
        create = 'call("create_task", user_id="user_1", title="Buy milk")'
        user = ("--tau-user", "gold")
        polite.run("--tau-agent", scripted(create, '"Wait, please."'), *user).outcomes(passed=1)
        run = polite.run("--tau-agent", scripted(create, '"Done."'), *user)
        run.outcomes(failed=1)
        run.line("reward 0 = DB 1 x POLITE 0")
        run.line("POLITE 0: no please")

    def test_a_component_that_the_basis_does_not_name_does_not_gate(self, polite, a_task):
        polite.tasks("mock/t.tau.json", [a_task()])
        polite.run().outcomes(passed=1)

    def test_without_the_evaluator_the_basis_is_unknown(self, polite):
        (polite.path / "conftest.py").unlink()
        polite.run().usage_error("unknown reward basis 'POLITE'", "DB")

    def test_with_the_evaluator_it_is_known_in_messages(self, polite, a_task):
        polite.tasks("mock/t.tau.json", [a_task(criteria={"reward_basis": ["POLIT"]})])
        polite.run().usage_error("unknown reward basis 'POLIT'; did you mean 'POLITE'?")

    def test_a_partial_reward_is_no_pass(self, polite):
        conftest = polite.path / "conftest.py"
        conftest.write_text(conftest.read_text().replace("float(polite)", "0.5"))
        run = polite.run()
        run.outcomes(failed=1)
        run.line("reward 0.5 = DB 1 x POLITE 0.5")

    @pytest.mark.parametrize("body", ["raise RuntimeError('evaluator broke')", "return None"])
    def test_a_crash_of_the_evaluator_is_an_error_and_counted(self, polite, body):
        conftest = polite.path / "conftest.py"
        conftest.write_text(conftest.read_text().replace("        said =", f"        {body}\n        said ="))
        run = polite.run()
        run.outcomes(errors=1)
        run.line("POLITE")
        run.line("tau: mock: 1 task, 1 trial; 1 error; no rate")

    def test_one_that_is_a_whole_component_words_its_own_reports(self, polite, scripted):
        conftest = polite.path / "conftest.py"
        own = EVALUATOR.replace("class Polite:", "class Polite(CustomComponent):").replace(
            "def pytest_tau",
            """
    def explain(self, verdict, calls):
        return [Line("bad", f"rude: {check.note}") for check in self.checks(verdict)]

    def failed_checks(self, verdict):
        return ["POLITE please"]

def pytest_tau""",
        )
        conftest.write_text("from pytest_tau.evaluation import CustomComponent, Line\n" + own)
        agent = scripted('call("create_task", user_id="user_1", title="Buy milk")', '"Done."')
        run = polite.run("--tau-agent", agent, "--junitxml", "junit.xml")
        run.outcomes(failed=1)
        run.line("rude: no please")
        assert "POLITE please" in (polite.path / "junit.xml").read_text()


class TestModifyTasks:
    """pytest_tau_modify_tasks."""

    def _hook(self, project, body):
        project.write("conftest.py", f"def pytest_tau_modify_tasks(config, domain, tasks):\n    {body}\n")

    def test_drop(self, project):
        self._hook(project, "tasks[:] = [task for task in tasks if task.id.startswith('reopen')]")
        found = project.collected("--tau-domain", "mock")
        assert found == ["mock::reopen-impatient[trial-0]", "mock::reopen-chatty[trial-0]"]

    def test_reorder_comes_before_num_tasks(self, project):
        self._hook(project, "tasks.reverse()")
        found = project.collected("--tau-domain", "mock", "--tau-num-tasks", "1")
        assert found == ["mock::no-third-status[trial-0]"]

    def test_replace_and_add(self, project, a_task):
        self._hook(project, "tasks.append(tasks[0].model_copy(update={'id': 'copy'}))")
        project.tasks("mock/t.tau.json", [a_task("original")])
        found = project.collected()
        assert found == ["mock/t.tau.json::original[trial-0]", "mock/t.tau.json::copy[trial-0]"]
        project.run().outcomes(passed=2)

    def test_marked_tests(self, project):
        self._hook(project, "tasks.reverse()")
        project.write(
            "test_agent.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create*", num_tasks=1)
            def test_it(tau_task):
                assert tau_task.id == "create-with-description"
            """,
        )
        project.run().outcomes(passed=1)

    def test_the_domains_own_tasks_stay_what_they_are(self, project):
        self._hook(project, "tasks.clear() if tasks else None")
        project.run("--tau-domain", "mock").usage_error("no tasks")
        (project.path / "conftest.py").unlink()
        assert len(project.collected("--tau-domain", "mock")) == 16

    def test_node_ids_see_what_it_did(self, project):
        self._hook(project, "tasks.append(tasks[0].model_copy(update={'id': 'copy'}))")
        assert project.collected("mock::copy[trial-0]", "--tau-judge", "accept") == ["mock::copy[trial-0]"]


def test_modify_tasks_is_called_once_for_a_domain(project):
    project.write(
        "conftest.py",
        """
        from pathlib import Path

        def pytest_tau_modify_tasks(domain, tasks):
            with Path(__file__).with_name("calls.txt").open("a") as calls:
                print(domain.name, len(tasks), file=calls)
        """,
    )
    project.run("--tau-domain", "mock").outcomes(passed=16)
    assert (project.path / "calls.txt").read_text() == "mock 16\n"


def hook(name, body):
    return f"def pytest_tau_{name}:\n    {body}\n"


CLASS = "class P:\n    name = 'P'\n    def evaluate(self, task, messages, environment):\n        return 1\n\n"


class TestMistakes:
    """An implementation that raises, or returns something else, is a usage error that names it."""

    @pytest.mark.parametrize(
        ("source", "shown"),
        [
            (
                hook("domains(config)", "return 'mock'"),
                "pytest_tau_domains (conftest.py:1): got 'mock', expected a list of",
            ),
            (
                hook("domains()", "return [1]"),
                "pytest_tau_domains (conftest.py:1): got a list with 1, expected a list of",
            ),
            (
                hook("domains()", "return {'a': 1}"),
                "pytest_tau_domains (conftest.py:1): got a dict, expected a list of",
            ),
            (
                hook("domains()", "return 1 / 0"),
                "pytest_tau_domains (conftest.py:1) raised ZeroDivisionError: division by",
            ),
            (hook("domains()", "import pytest; pytest.skip('no')"), "conftest.py:1) raised Skipped: no in line 2"),
            (
                hook("evaluators()", "return 3"),
                "pytest_tau_evaluators (conftest.py:1): got 3, expected a list of evaluators",
            ),
            (
                hook("evaluators()", "return [3]"),
                "got 3, which has no evaluate method, expected an object with a string as name",
            ),
            (CLASS + hook("evaluators()", "return [P]"), "(conftest.py:6): got the class P, expected an object: P()"),
            (
                CLASS.replace("'P'", "3") + hook("evaluators()", "return [P()]"),
                "got a P with the name 3, expected an object",
            ),
            (
                CLASS.replace("'P'", "'DB'") + hook("evaluators()", "return [P()]"),
                "got an evaluator called 'DB', expected",
            ),
            (
                CLASS.replace("def evaluate", "async def evaluate") + hook("evaluators()", "return [P()]"),
                "evaluator 'P' with an async method evaluate, expected a plain method",
            ),
            (
                hook("modify_tasks(tasks)", "return tasks[1:]"),
                "pytest_tau_modify_tasks (conftest.py:1): got a list as the result, which is ignored, expected a change",
            ),
            (hook("modify_tasks(tasks)", "tasks.append({})"), "got a dict in the list tasks, expected a Task"),
            (hook("modify_tasks(tasks)", "tasks[0].unknown"), "(conftest.py:1) raised AttributeError:"),
        ],
    )
    def test_before_anything_runs(self, project, a_task, source, shown):
        project.write("conftest.py", source)
        project.tasks("mock/t.tau.json", [a_task()])
        project.run().usage_error(shown)

    def test_in_a_run_that_names_a_domain(self, project):
        project.write("conftest.py", hook("domains()", "return [1]") + hook("evaluators()", "return 3"))
        project.run("--tau-domain", "mock").usage_error("pytest_tau_domains (conftest.py:1): got a list with 1, ")

    def test_the_file_that_is_named_is_the_one_that_returned_it(self, project, a_task, monkeypatch):
        project.write(
            "other.py", "def pytest_tau_domains():\n    return []\n\n\ndef pytest_tau_evaluators():\n    return 1\n"
        )
        project.write("conftest.py", "pytest_plugins = ['other']\n\ndef pytest_tau_evaluators():\n    return []\n")
        project.tasks("mock/t.tau.json", [a_task()])
        monkeypatch.syspath_prepend(project.path)
        project.run().usage_error("pytest_tau_evaluators (other.py:5): got 1")

    @pytest.mark.parametrize(
        ("source", "shown"),
        [
            (
                hook("make_agent()", "return 5"),
                "pytest_tau_make_agent (conftest.py:1): 5 is not a valid agent: expected a class with",
            ),
            (hook("make_user()", "return 'nobody'"), "pytest_tau_make_user (conftest.py:1): unknown user 'nobody'"),
            (
                hook("make_model()", "return 5"),
                "pytest_tau_make_model (conftest.py:1): got 5 for the model 'any/one', expected",
            ),
        ],
    )
    @pytest.mark.parametrize("concurrency", ["1", "4"])
    def test_in_the_setup_of_a_trial(self, project, a_task, source, shown, concurrency):
        project.write("conftest.py", source)
        project.tasks("mock/t.tau.json", [a_task()])
        model = ["--tau-agent-llm", "any/one", "--tau-user", "gold"] if "make_model" in source else []
        run = project.run("--tau-concurrency", concurrency, *model)
        run.outcomes(errors=1)
        run.line(shown)
        run.lacks("Traceback")

    def test_what_an_implementation_raises_on_purpose_is_passed_on(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("conftest.py", "import pytest\n\n" + hook("domains()", "raise pytest.UsageError('buy it')"))
        run = project.run()
        run.usage_error("buy it")
        run.lacks("raised UsageError")
        project.write("conftest.py", hook("make_agent()", "raise LookupError('none left')"))
        run = project.run()
        run.outcomes(errors=1)
        run.line("E ", "LookupError: none left")
        run.lacks("raised LookupError")

    def test_hooks_see_each_call_once_and_in_pytest_s_order(self, project):
        project.write(
            "conftest.py",
            """
            import pytest

            class First:
                @pytest.hookimpl(tryfirst=True)
                def pytest_tau_modify_tasks(self, tasks):
                    print("first", len(tasks))
                    tasks.pop()

            class Around:
                @pytest.hookimpl(wrapper=True)
                def pytest_tau_make_agent(self):
                    print("before")
                    found = yield
                    print("after", found)
                    return found

            def pytest_configure(config):
                config.pluginmanager.register(First())
                config.pluginmanager.register(Around())

            def pytest_tau_modify_tasks(tasks):
                print("second", len(tasks))

            def pytest_tau_make_agent():
                return "noop"
            """,
        )
        run = project.run("--tau-domain", "mock", "--tau-task", "create-task", "-s")
        run.outcomes(failed=1)
        words = [line for line in run.text.splitlines() if line.startswith(("first", "second", "after"))]
        assert words == ["first 16", "second 15", "after noop"]

    WRAPPED = """
        import pytest

        class Around:
            @pytest.hookimpl(wrapper=True)
            def pytest_tau_domains(self):
                print("before")
                found = yield
                print("after", len(found))
                {more}
                return found

        class Second:
            def pytest_tau_domains(self):
                {second}

        def pytest_tau_domains():
            return None

        def pytest_configure(config):
            config.pluginmanager.register(Around())
            config.pluginmanager.register(Second())
        """

    def wrapped(self, project, *, more="pass", second="return []"):
        text = textwrap.dedent(self.WRAPPED).format(more=more, second=second)
        project.write("conftest.py", text)
        lines = text.splitlines()
        places = {name: 1 + lines.index(next(line for line in lines if name in line)) for name in ("Around", "Second")}
        return project.run("--tau-domain", "mock", "--tau-task", "create-task", "--tau-agent", "noop", "-s"), places

    def test_a_wrapper_runs_once_around_all_implementations(self, project):
        run, _ = self.wrapped(project)
        run.outcomes(failed=1)
        assert run.text.count("before\n") == 1
        assert run.text.count("after 1\n") == 1

    def test_the_error_names_the_implementation_that_a_wrapper_is_around(self, project):
        run, places = self.wrapped(project, second="return [1 / 0]")
        assert f"pytest_tau_domains (conftest.py:{places['Second'] + 1}) raised ZeroDivisionError" in run.text
        run, places = self.wrapped(project, second="return ['mock']")
        assert f"pytest_tau_domains (conftest.py:{places['Second'] + 1}): got a list with 'mock'" in run.text

    def test_the_error_names_a_wrapper_whose_fault_it_is(self, project):
        run, places = self.wrapped(project, more="found[0][5]")
        assert f"pytest_tau_domains (conftest.py:{places['Around'] + 1}) raised IndexError" in run.text
        run, places = self.wrapped(project, more="found = [['mock']]")
        assert f"pytest_tau_domains (conftest.py:{places['Around'] + 1}): got a list with 'mock'" in run.text


class TestMisspelt:
    """A hook that does not exist is never ignored."""

    HOOK = "def pytest_tau_make_agnet(item, name):\n    return None\n"
    SHOWN = "unknown hook 'pytest_tau_make_agnet'; did you mean 'pytest_tau_make_agent'"

    def test_in_the_first_conftest(self, project):
        project.write("conftest.py", self.HOOK)
        project.run("--tau-domain", "mock").usage_error(f"conftest.py:1: {self.SHOWN}")

    def test_in_a_conftest_that_is_loaded_late(self, project):
        project.write("sub/conftest.py", self.HOOK)
        project.write("sub/test_plain.py", "def test_plain(): pass")
        run = project.run()
        run.outcomes(errors=1)
        run.line("UsageError: ", f"conftest.py:1: {self.SHOWN}")
        run.lacks("INTERNALERROR")

    def test_one_that_is_optional(self, project):
        project.write("conftest.py", "import pytest\n@pytest.hookimpl(optionalhook=True)\n" + self.HOOK)
        project.run("--tau-domain", "mock", "--tau-num-tasks", "1").outcomes(passed=1)


class TestUnreadableDomain:
    """Data that cannot be read is reported once, before anything runs."""

    @pytest.fixture(params=["{", '{"books": {"Emma": {"title": 3}}}', None])
    def broken(self, shelf, request):
        data = shelf.path / "shelf" / "db.json"
        data.unlink() if request.param is None else data.write_text(request.param)
        return shelf

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_a_named_domain(self, broken, workers):
        run = broken.run("--tau-domain", "shelf", *workers)
        run.usage_error("ERROR:", "db.")
        assert run.text.count("shelf/db.json:") + run.text.count("shelf: expected a database") == 1

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_task_files(self, broken, workers):
        tasks = json.loads((broken.path / "shelf/tasks/tasks.json").read_text())
        for name in "ab":
            broken.tasks(f"shelf/{name}.tau.json", {"domain": "shelf", "tasks": tasks})
        run = broken.run("--tau-concurrency", "2", *workers)
        assert run.ret != pytest.ExitCode.OK
        run.lacks("passed")
        run.line("the same error as in shelf/a.tau.json")


class TestLateDomain:
    @pytest.fixture
    def services(self, project, shelf_source):
        """Two services, each with a domain in its conftest.py and a file of tasks."""
        for name in ("depot", "store"):
            source = shelf_source(name).replace('DomainSpec("shelf"', f'DomainSpec("{name}"')
            project.write(f"svc_{name}/conftest.py", source)
            project.write(f"svc_{name}/{name}/db.json", '{"books": {"Emma": {"title": "Emma"}}}')
            project.write(f"svc_{name}/{name}/short.md", "Lend books.")
            project.write(f"svc_{name}/{name}/long.md", "Lend books.")
            project.tasks(f"svc_{name}/{name}.tau.json", {"domain": name, "tasks": [_LEND]})
        return project

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "-n2"])
    def test_the_error_names_the_file_and_the_folder(self, services, workers):
        run = services.run(*workers)
        run.usage_error("the domain 'store' (svc_store/conftest.py:", ") was loaded after the domains of this run were")
        run.line("name the folder on the command line (pytest svc_store), or load the domain earlier, with -p, with")
        run.lacks("did you mean")

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "-n2"])
    def test_the_domain_of_the_first_folder_with_tasks_is_known(self, services, workers):
        (services.path / "svc_store/store.tau.json").unlink()
        services.run(*workers).outcomes(passed=1)

    def test_the_remedies_work(self, services):
        services.run("svc_depot", "svc_store").outcomes(passed=2)
        services.ini("testpaths = svc_depot svc_store")
        services.run().outcomes(passed=2)

    def test_a_name_that_no_file_has_is_unknown(self, services):
        services.tasks("svc_store/store.tau.json", {"domain": "stor", "tasks": [_LEND]})
        services.run().usage_error("unknown domain 'stor'")


_LEND = {
    "id": "lend",
    "user_scenario": {"instructions": "Borrow Emma."},
    "evaluation_criteria": {"actions": [{"action_id": "l", "name": "lend", "arguments": {"title": "Emma"}}]},
}
