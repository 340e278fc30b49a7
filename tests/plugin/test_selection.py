"""What runs: domains, paths, ids, splits, and pytest's own ways of choosing."""

from __future__ import annotations

import pytest

MOCK_IDS = [
    "create-task",
    "create-with-description",
    "say-new-id",
    "complete-task",
    "reopen-impatient",
    "reopen-chatty",
    "transfer-deletion",
    "decline-stranger",
    "two-requests",
    "dismiss-after-done",
    "id-from-the-inbox",
    "history-agent-next",
    "history-user-next",
    "start-from-data",
    "start-from-actions",
    "no-third-status",
]


def _nodes(*task_ids, domain="mock", trials=(0,)):
    return [f"{domain}::{task_id}[trial-{trial}]" for task_id in task_ids for trial in trials]


@pytest.fixture
def with_tests(project):
    """A project that has tests of its own."""
    project.write("test_plain.py", "def test_plain(): pass")
    project.write("tests/test_other.py", "def test_other(): pass")
    return project


def test_domain_alone_collects_only_its_tasks(with_tests):
    with_tests.write("test_broken.py", "raise RuntimeError('must not be imported')")
    run = with_tests.run("--tau-domain", "mock")
    run.outcomes(passed=16)
    assert run.ret == pytest.ExitCode.OK
    run.line("mock ................")
    run.line("tau: mock: 16 tasks, 16 trials; 16 passed; pass^1 1.000")


def test_no_warnings_and_no_unknown_settings(project):
    project.ini("tau_domain = mock", "tau_seed = 1", "filterwarnings = error")
    project.run("--strict-config", "--strict-markers", "--tau-domain", "mock").outcomes(passed=16)


def test_domain_alone_wins_over_testpaths(with_tests):
    with_tests.ini("testpaths = tests")
    assert with_tests.collected("--tau-domain", "mock") == _nodes(*MOCK_IDS)


def test_domain_with_paths_runs_the_paths_only(with_tests, a_task):
    with_tests.tasks("own.tau.json", a_task())
    run = with_tests.run("--tau-domain", "mock", "tests", "own.tau.json", "-v")
    run.outcomes(passed=2)
    run.line("own.tau.json::buy-milk[trial-0] PASSED")
    run.line("tests/test_other.py::test_other PASSED")


def test_domain_in_the_ini_runs_with_the_projects_tests(with_tests):
    with_tests.ini("tau_domain = mock")
    run = with_tests.run()
    run.outcomes(passed=18)
    run.line("test_plain.py .")
    run.line("mock ................")


def test_domain_in_the_ini_keeps_testpaths(with_tests):
    with_tests.ini("tau_domain = mock", "testpaths = tests", "tau_num_tasks = 1")
    assert with_tests.collected() == ["tests/test_other.py::test_other", *_nodes("create-task")]


def test_domain_in_the_ini_with_paths_runs_the_paths_only(with_tests, a_task):
    with_tests.ini("tau_domain = mock")
    with_tests.tasks("own.tau.json", a_task())
    assert with_tests.collected("own.tau.json") == ["own.tau.json::buy-milk[trial-0]"]


@pytest.mark.parametrize("path", [".", "../{name}"])
def test_the_folder_of_the_project_is_no_path_below_it(with_tests, path):
    with_tests.ini("tau_domain = mock", "tau_num_tasks = 1")
    found = with_tests.collected(path.format(name=with_tests.path.name))
    assert sorted(found) == sorted([*_nodes("create-task"), *with_tests.collected("test_plain.py", "tests")])


@pytest.mark.parametrize("where", [".", "tests"])
def test_a_domain_on_the_command_line_says_that_tests_are_left_out(with_tests, monkeypatch, where):
    with_tests.ini("tau_num_tasks = 1")
    monkeypatch.chdir(with_tests.path / where)
    run = with_tests.run("--tau-domain", "mock")
    run.outcomes(passed=1)
    run.line("tau: the project's own tests are not run", "'pytest . --tau-domain mock' runs both")
    both = with_tests.run(".", "--tau-domain", "mock")
    both.outcomes(passed=3 if where == "." else 2)
    both.lacks("own tests are not run")


def test_without_tests_or_in_the_ini_a_domain_says_nothing_of_them(project):
    project.ini("tau_num_tasks = 1")
    project.run("--tau-domain", "mock").lacks("own tests")
    project.write("test_plain.py", "def test_plain(): pass")
    project.ini("tau_num_tasks = 1", "tau_domain = mock")
    project.run().lacks("own tests")


def test_paths_without_tests_name_the_domain_that_was_not_run(with_tests):
    with_tests.ini("tau_domain = mock")
    (with_tests.path / "empty").mkdir()
    run = with_tests.run("empty")
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    run.line(
        "tau: no simulation was run; with paths, the named domain is not run (mock); run pytest without paths, or "
        "name its tasks: pytest 'mock::TASK'"
    )


@pytest.mark.parametrize("given", [["--tau-domain", "shelf", "--tau-domain", "mock"], ["--tau-domain=shelf,mock"]])
def test_two_domains(shelf, given):
    run = shelf.run(*given, "--tau-num-tasks", "2")
    run.outcomes(passed=4)
    run.line("tau: domain shelf, mock,")
    run.line("tau: shelf: 2 tasks, 2 trials; 2 passed; pass^1 1.000")
    run.line("tau: mock: 2 tasks, 2 trials; 2 passed; pass^1 1.000")


def test_two_domains_in_the_ini(shelf):
    shelf.ini("tau_domain = shelf mock", "tau_num_tasks = 1", "testpaths = none")
    assert [node for node in shelf.collected() if "::" in node] == [
        *_nodes("lend-emma", domain="shelf"),
        *_nodes("create-task"),
    ]


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("mock::create-task[trial-0]", _nodes("create-task")),
        ("mock::create-task[trial-2]", _nodes("create-task", trials=[2])),
        ("mock::create-task", _nodes("create-task")),
    ],
)
def test_node_ids_of_a_domain_as_arguments(with_tests, argument, expected):
    """Also without --tau-domain, and though other tasks of the domain need a judge that is not there."""
    run = with_tests.run(argument, "-v")
    run.outcomes(passed=1)
    run.line(expected[0], "PASSED")


def test_several_node_ids(project):
    chosen = _nodes("say-new-id", "create-task", trials=[1])
    assert sorted(project.collected(*chosen)) == sorted(chosen)


def test_node_id_of_a_domain_with_a_path(with_tests):
    found = with_tests.collected("mock::create-task[trial-1]", "tests")
    assert sorted(found) == ["mock::create-task[trial-1]", "tests/test_other.py::test_other"]


def test_node_id_of_a_task_outside_the_default_split(project):
    run = project.run("mock::compliment[trial-0]", "--tau-judge", "accept")
    run.outcomes(passed=1)


def test_node_id_of_a_file_named_like_a_domain(project, a_task):
    project.tasks("mock", [])
    project.tasks("mock.tau.json", {"domain": "mock", "tasks": [a_task()]})
    assert project.collected("mock.tau.json::buy-milk") == ["mock.tau.json::buy-milk[trial-0]"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--tau-task", "create*"], ["create-task", "create-with-description"]),
        (["--tau-task", "say-new-id"], ["say-new-id"]),
        (["--tau-task", "reopen-?hatty"], ["reopen-chatty"]),
        (["--tau-task", "two-requests", "--tau-task", "create-task"], ["create-task", "two-requests"]),
        (["--tau-task", "re*", "--tau-num-tasks", "1"], ["reopen-impatient"]),
        (["--tau-split", "small"], ["create-task", "transfer-deletion", "dismiss-after-done"]),
        (["--tau-split", "full", "--tau-judge", "accept"], [*MOCK_IDS, "compliment", "explain-refusal"]),
        (["--tau-domain", "mock,mock", "--tau-num-tasks", "1"], ["create-task"]),
        (["--tau-num-tasks", "1", "."], ["create-task"]),
    ],
    ids=["pattern", "id", "one-letter", "two", "number", "split", "full", "domain-twice", "folder-of-the-project"],
)
def test_tasks_of_a_domain(project, args, expected):
    assert project.collected("--tau-domain", "mock", *args) == _nodes(*expected)


def test_node_id_with_domain_and_trials(project):
    found = project.collected("--tau-domain", "mock", "mock::create-task", "--tau-trials", "2")
    assert found == _nodes("create-task", trials=[0, 1])


@pytest.mark.parametrize("given", ["[mobile]data_off|roaming[PERSONA:None]", "[mobile]data*", "*[PERSONA:None]"])
def test_tau_task_with_brackets_in_original_ids(project, a_task, given):
    others = a_task("[mobile]line_off[PERSONA:Easy]"), a_task("m")
    wanted = a_task("[mobile]data_off|roaming[PERSONA:None]")
    project.tasks("own.tau.json", {"domain": "mock", "tasks": [wanted, *others]})
    found = project.collected("own.tau.json", "--tau-task", given)
    assert len(found) == 1
    assert found[0].startswith("own.tau.json::mobile-data_off-roaming-PERSONA-None-")


def test_tau_task_in_the_ini(project):
    project.ini("tau_task = create-task say*")
    assert project.collected("--tau-domain", "mock") == _nodes("create-task", "say-new-id")


def test_tau_split_full_and_base_of_a_domain_without_splits(shelf):
    for split in ("full", "base"):
        found = shelf.collected("--tau-domain", "shelf", "--tau-split", split)
        assert found == _nodes("lend-emma", "lend-ulysses", domain="shelf")


def test_tau_trials(project):
    run = project.run("--tau-domain", "mock", "--tau-num-tasks", "2", "--tau-trials", "4", "-v")
    run.outcomes(passed=8)
    for node in _nodes("create-task", "create-with-description", trials=range(4)):
        run.line(f"{node} PASSED")
    run.line("tau: mock: 2 tasks, 8 trials; 8 passed; pass^1 1.000 pass^2 1.000 pass^3 1.000 pass^4 1.000")


def test_keyword(project):
    run = project.run("--tau-domain", "mock", "-k", "reopen and not chatty", "-v")
    run.outcomes(passed=1, deselected=15)
    run.line("mock::reopen-impatient[trial-0] PASSED")


def test_keyword_of_a_trial(project):
    run = project.run("--tau-domain", "mock", "--tau-num-tasks", "2", "--tau-trials", "3", "-k", "trial-2", "-v")
    run.outcomes(passed=2, deselected=4)
    run.line("mock::create-task[trial-2] PASSED")


def test_deselect(project):
    node = "mock::create-task[trial-0]"
    run = project.run("--tau-domain", "mock", "--tau-num-tasks", "2", "--deselect", node, "-v")
    run.outcomes(passed=1, deselected=1)
    run.line("mock::create-with-description[trial-0] PASSED")


def test_marker_expression_selects_the_simulations(with_tests):
    with_tests.ini("tau_domain = mock", "tau_num_tasks = 3")
    run = with_tests.run("-m", "tau", "--strict-markers")
    run.outcomes(passed=3, deselected=2)
    run = with_tests.run("-m", "not tau")
    run.outcomes(passed=2, deselected=3)
    run.line("test_plain.py .")


def test_collect_only_lists_the_same_ids_each_time(project):
    first = project.run("--collect-only", "-q", "--tau-domain", "mock", "--tau-trials", "2")
    assert first.ret == pytest.ExitCode.OK
    assert first.ids == _nodes(*MOCK_IDS, trials=(0, 1))
    first.line("32 tests collected")
    assert project.collected("--tau-domain", "mock", "--tau-trials", "2") == first.ids


def test_collect_only_as_a_tree(project):
    run = project.run("--collect-only", "--tau-domain", "mock", "--tau-num-tasks", "1")
    assert run.ret == pytest.ExitCode.OK
    run.line("<DomainCollector mock>")
    run.line("<TauItem create-task[trial-0]>")


def test_ids_of_a_domain_are_the_same_from_every_folder(project, monkeypatch):
    """What is printed can be given back as an argument."""
    project.ini()
    (project.path / "sub").mkdir()
    monkeypatch.chdir(project.path / "sub")
    run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "-v", "-rA")
    project.run("--tau-domain", "mock", "--tau-num-tasks", "1").line("mock .", "[100%]")
    run.line("PASSED ../mock::create-task[trial-0]")  # pytest prints ids relative to the current folder
    project.run("../mock::create-task[trial-0]").outcomes(passed=1)
    project.run("mock::create-task[trial-0]").outcomes(passed=1)


def test_progress_names_the_domain_in_a_folder_of_its_name(project, monkeypatch):
    project.ini()
    (project.path / "mock").mkdir()
    monkeypatch.chdir(project.path / "mock")
    run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "-rA")
    assert run.line(" [100%]").startswith("mock .")
    run.line("PASSED .::create-task[trial-0]")
    project.run(".::create-task[trial-0]").outcomes(passed=1)


class TestMistypedNodeIds:
    """A node id that names nothing is an error that suggests similar ids."""

    def test_task_of_a_domain(self, project):
        run = project.run("mock::create-tsk[trial-0]")
        run.usage_error("not found: mock::create-tsk[trial-0]: unknown task 'create-tsk'; did you mean 'create-task'")

    @pytest.mark.parametrize("node", ["buy-mlk", "buy-mlk[trial-0]"])
    def test_task_of_a_file(self, project, a_task, node):
        project.tasks("mock/t.tau.json", [a_task(), a_task("sell")])
        run = project.run(f"mock/t.tau.json::{node}")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line(f"not found: mock/t.tau.json::{node}: unknown task 'buy-mlk'; did you mean 'buy-milk'?")

    def test_one_of_two(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task(), a_task("sell")])
        run = project.run("mock/t.tau.json::sell", "mock/t.tau.json::buy-mlk")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("did you mean 'buy-milk'?")
        run.lacks("1 passed")

    def test_trial(self, project, a_task):
        expected = "expected create-task, or a trial of it such as create-task[trial-0]"
        project.run("mock::create-task[tral-0]").usage_error(expected)
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("mock/t.tau.json::buy-milk[tral-0]")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("expected buy-milk, or a trial of it such as buy-milk[trial-0]")

    def test_domain(self, project):
        project.run("mok::create-task").usage_error("not found: mok::create-task: unknown domain 'mok'", "'mock'?")
        project.run("../mok::create-task").usage_error("not found: ../mok::create-task: unknown domain 'mok'")

    def test_other_arguments_are_those_of_pytest(self, project):
        project.write("mocks/test_it.py", "def test_it(): pass")
        project.run("mocks::test_it.py::test_it").lacks("unknown domain")
        project.run("nothing_like_it::test_it").lacks("unknown domain")


def test_a_node_id_of_a_file_needs_what_its_task_needs(project, a_task):
    judged = a_task("judged", criteria={"nl_assertions": ["It is polite."], "reward_basis": ["NL_ASSERTION"]})
    file = project.tasks("mock/t.tau.json", [a_task(), judged])
    project.run(f"{file}::buy-milk").outcomes(passed=1)
    project.run(f"{file}::buy-milk", f"{file}::buy-milk[trial-1]").outcomes(passed=2)
    for arguments in ([f"{file}::judged"], [file, f"{file}::buy-milk"], [file.parent, f"{file}::buy-milk"]):
        run = project.run(*arguments)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("need a judge for their NL assertions, such as 'judged'")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--tau-domain", "nope"], "unknown domain 'nope'"),
        (["--tau-domain", "mock", "--tau-policy-variant", "nope"], "unknown policy 'nope'"),
        (["--tau-domain", "mock", "--tau-split", "nope"], "unknown split 'nope'"),
        (["--tau-domain", "banking_knowledge", "--tau-agent-retrieval", "nope"], "unknown retrieval variant 'nope'"),
    ],
)
def test_domain_that_paths_exclude_is_checked(with_tests, args, expected):
    with_tests.run(*args, "tests").usage_error(expected)


def test_unknown_domain_in_the_ini_with_paths_is_a_usage_error(with_tests):
    with_tests.ini("tau_domain = nope")
    with_tests.run("tests").usage_error("unknown domain 'nope'")
    with_tests.run("tests", "-n2").usage_error("unknown domain 'nope'")


def test_settings_for_the_tests_of_a_path_are_not_checked_against_the_domain_of_the_ini(with_tests):
    with_tests.ini("tau_domain = mock")
    with_tests.run("tests", "--tau-policy-variant", "workflow").outcomes(passed=1)
