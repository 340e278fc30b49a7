"""xdist with models: limits apply over all workers, results are complete and reported once, killed workers are replaced."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pytest_tau.integrations import default_model, litellm
from pytest_tau.plugin.store.writer import merge_worker_files

from .conftest import _QUICK, Run

pytestmark = pytest.mark.exhaustive

pytest.importorskip("xdist")

#: A model with a file for each call that is in flight. None is answered before there were ENOUGH at the same time, in
#: any process; what is too few for that is seen after a minute.
_SLOW = """
    import os
    import uuid

    ENOUGH_SEEN = LOG.with_name("enough")
    LATEST = time.monotonic() + 60

    async def answer(role, request):
        folder = LOG.parent / "flying"
        folder.mkdir(exist_ok=True)
        mine = folder / f"{os.getpid()}-{uuid.uuid4().hex}"
        mine.touch()
        flying = os.listdir(folder)
        own = [name for name in flying if name.startswith(f"{os.getpid()}-")]
        with (LOG.parent / "most.txt").open("a") as most:
            most.write(f"{len(flying)} {len(own)}\\n")
        if ENOUGH:
            ENOUGH_SEEN.touch()
        while not ENOUGH_SEEN.exists() and time.monotonic() < LATEST:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.02)
        mine.unlink()
        return reference(role, request)
"""

#: A model that ends its process for one task, at the first attempt.
_KILLER = """
    import os

    def answer(role, request):
        scenario = str(request.messages)
        if role == "user" and "KILL" in scenario:
            tried = LOG.with_name("tried.txt")
            if not tried.exists():
                tried.touch()
                os._exit(3)
        return reference(role, request)
"""


def kept(project):
    """Every simulation of the last run, by task and trial; there is one file, and no simulation twice."""
    folder = max(project.path.glob(".tau/runs/*"), key=lambda one: one.stat().st_mtime_ns)
    assert sorted(path.name for path in folder.iterdir()) == ["run.json", "simulations.jsonl"]
    file = folder / "simulations.jsonl"
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = {(entry["task_id"], entry["trial"]): entry for entry in entries}
    assert len(found) == len(entries)
    return found


def flying(project):
    """The most calls that were in flight at the same time: of all processes, and of one."""
    lines = (project.path / "most.txt").read_text(encoding="utf-8").splitlines()
    return tuple(max(numbers) for numbers in zip(*(map(int, line.split()) for line in lines), strict=True))


@pytest.fixture
def tasks(models, project, a_task):
    """A project with a number of tasks; one of them may be deadly."""

    def write(number, *, deadly=None):
        made = [a_task(f"t{index}") for index in range(number)]
        if deadly is not None:
            made[deadly]["user_scenario"]["instructions"] = "KILL"
        project.tasks("mock/t.tau.json", made)
        return models

    return write


@pytest.fixture
def python(project):
    """The path of this interpreter, or of a script that runs it if the path has a space, at which execnet splits it."""
    if " " not in sys.executable:
        return sys.executable
    script = project.write("python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    return str(script)


# Results.


@pytest.mark.parametrize(
    "options",
    [
        ["-n2", "--dist=load"],
        ["-n2", "--dist=worksteal"],
        ["-n2", "--dist=loadgroup"],
        ["-n2", "--dist=loadfile"],
        ["-nauto", "--maxprocesses=2", "--tau-concurrency=1"],
        ["--dist=load", "--tx=2*popen"],
        ["--dist=load", "--tx=popen//python=PYTHON"],
    ],
    ids=lambda options: options[0] + options[1].partition("//")[0],
)
def test_results_and_summary_are_those_of_one_process(tasks, project, python, options):
    models = tasks(5)
    options = [option.replace("PYTHON", python) for option in options]
    alone = models.run("--tau-trials=2")
    before = kept(project)
    spread = models.run("--tau-trials=2", *options)
    after = kept(project)
    for run in (alone, spread):
        run.outcomes(passed=10)
        assert run.ret == pytest.ExitCode.OK
        run.line("tau: mock: 5 tasks, 10 trials; 10 passed; pass^1 1.000 pass^2 1.000")
        run.line("tau: models together: 40 calls, 40,000 tokens sent, 800 received, $10.0000")
        run.line("tau: simulations stored in .tau/runs/")
    assert before.keys() == after.keys()
    for key, entry in after.items():
        assert entry.keys() == before[key].keys()
        assert entry["reward_info"] == before[key]["reward_info"]


def test_recorded_here_and_replayed_there(tasks, project):
    models = tasks(3)
    models.run("--tau-record", "-n2").outcomes(passed=3)
    recorded = {name: (project.path / name).read_bytes() for name in models.cassettes()}
    assert len(recorded) == 3
    models.calls()
    run = models.run("--tau-replay", "-n2")
    run.outcomes(passed=3)
    run.line("(all replayed at no cost)")
    assert models.calls() == []
    assert {name: (project.path / name).read_bytes() for name in models.cassettes()} == recorded


def test_marked_tests_alone_end_like_in_one_process(models, project):
    """The controller collects nothing: that there were tasks it hears from the workers."""
    (project.path / "mock/t.tau.json").unlink()
    project.write(
        "test_own.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
        @pytest.mark.skip
        def test_own(tau_simulation):
            pass
        """,
    )
    for options in ([], ["-n2"]):
        run = project.run(*options)
        run.outcomes(skipped=2)
        assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED
        run.line("tau: no simulation was run")


def test_of_a_trial_that_was_run_twice_the_simulation_that_was_reported_is_the_last_one(tmp_path):
    def write(worker, *lines):
        (tmp_path / f"simulations-{worker}.jsonl").write_text("".join(lines), encoding="utf-8")

    def line(test, value):
        return json.dumps({"test": test, "domain": "mock", "id": value}) + "\n"

    write("gw0", line("a[1]", "lost"), line("b", "kept"), line("c", "reported"), line("d", "lost"))
    write("gw1", line("a[1]", "reported"), line("c", "lost"))
    write("gw2", line("d", "last"), line("e", "cut off")[:-9])
    assert merge_worker_files(tmp_path, {"a[1]": "gw1", "c": "gw0"}) is None
    (file,) = tmp_path.iterdir()
    assert file.name == "simulations.jsonl"
    entries = [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
    assert [entry["id"] for entry in entries] == ["lost", "lost", "lost", "kept", "reported", "reported", "last"]
    assert [entry["test"] for entry in entries] == ["a[1]", "d", "c", "b", "c", "a[1]", "d"]


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_each_attempt_of_a_trial_that_was_run_again_is_stored(project, workers):
    pytest.importorskip("pytest_rerunfailures")
    project.write(
        "test_it.py",
        """
        from pathlib import Path

        import pytest

        class Second:
            def respond(self, message):
                first = not Path("been").exists()
                Path("been").touch()
                arguments = {"user_id": "user_1", "title": "Wrong" if first else "Order new chairs"}
                done = getattr(message, "role", "") == "tool"
                return "Done." if done else {"tool_calls": [{"name": "create_task", "arguments": arguments}]}

        @pytest.fixture
        def tau_agent():
            return Second()

        @pytest.mark.tau(domain="mock", tasks="create-task")
        def test_it(tau_simulation):
            assert tau_simulation.reward == 1

        def test_other():
            pass
        """,
    )
    run = project.run("-p", "pytest_rerunfailures", "--reruns", "1", *workers)
    (file,) = project.path.glob(".tau/runs/*/simulations*.jsonl")
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [entry["reward_info"]["reward"] for entry in entries] == [0.0, 1.0], run.text


# Limits.


def test_calls_in_flight_are_counted_over_all_workers(tasks, project, monkeypatch):
    # The conftest.py below is imported by the controller, in this process, too: what it puts in place is taken back.
    monkeypatch.setattr(litellm, "LiteLLM", litellm.LiteLLM)
    monkeypatch.setattr(default_model, "has_litellm", default_model.has_litellm)
    models = tasks(8)
    models.script(
        _SLOW.replace("ENOUGH:", "len(flying) > 1:")
        + """
    import pytest_tau.integrations.litellm as ours
    from pytest_tau.integrations import default_model

    class Default:
        def __init__(self, *, max_in_flight, **_):
            self.free = asyncio.Semaphore(max_in_flight)

        async def complete(self, request):
            async with self.free:
                return await Fake(request.model.partition("/")[2]).complete(request)

    ours.LiteLLM = Default
    default_model.has_litellm = lambda: True  # the library itself is blocked

    def make(role, llm, llm_args):
        return None  # as if there were no such hook
    """
    )
    run = models.run("-n2", "--tau-llm-concurrency=3", "--tau-concurrency=4")
    run.outcomes(passed=8)
    assert 1 < flying(project)[0] <= 3


@pytest.mark.parametrize("where", ["option", "ini"])
def test_fewer_calls_than_workers_are_a_usage_error(models, project, where):
    if where == "ini":
        project.ini("tau_llm_concurrency = 2")
    option = ["--tau-llm-concurrency=2"] if where == "option" else []
    name = "--tau-llm-concurrency" if where == "option" else "tau_llm_concurrency"
    run = models.run("-n3", *option)
    run.usage_error(f"{name}: expected at least 3, one call for each worker, got 2")


def test_the_budget_is_spent_together(tasks):
    models = tasks(20)
    run = models.run("-n2", "--tau-budget=3", "--tau-concurrency=1")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    left = int(run.line("not run: the budget is spent").split()[1])
    # Each trial costs $1. What both have under way when the money is spent is stopped, unless one has ended just then.
    assert 17 <= left <= 18
    run.lacks("share")


def test_deep_queue_for_concurrent_trials(tasks, project):
    """With xdist's own scheduler a worker would have two tests in its queue, and run two trials concurrently."""
    models = tasks(14)
    models.script(_SLOW.replace("ENOUGH:", "len(own) == 6:"))
    models.run("-n2", "--tau-concurrency=6").outcomes(passed=14)
    assert flying(project)[1] == 6


# Killed workers.


@pytest.mark.parametrize("dist", ["load", "worksteal", "loadgroup", "loadfile"])  # some hang with xdist's own scheduler
def test_a_trial_whose_worker_was_killed_is_an_error_and_the_others_are_not(tasks, project, dist):
    models = tasks(6, deadly=3)
    models.script(_KILLER)
    options = ("-n2", f"--dist={dist}", "--tau-concurrency=1")
    run = models.run(*options, "--junitxml=r.xml")
    run.outcomes(passed=5, errors=1)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("tau: mock: 6 tasks, 6 trials; 5 passed, 1 error; pass^1 1.000")
    run.line(
        "ERROR mock/t.tau.json::t3[trial-0] - worker gw", "crashed while it ran this trial; --tau-resume runs it again"
    )
    assert sorted(kept(project)) == [(f"t{number}", 0) for number in (0, 1, 2, 4, 5)]
    suite = ET.parse(project.path / "r.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("errors")) == ("6", "1")
    # What is missing is run, and nothing else.
    again = models.run(*options, "--tau-resume")
    again.outcomes(passed=6)
    again.line("tau: resume: 5 of 6 trials reused from the earlier run")
    assert len(kept(project)) == 6


def test_a_trial_that_had_ended_when_its_worker_was_killed_is_kept(project):
    project.write(
        "test_own.py",
        """
        import os, time, pytest

        @pytest.fixture
        def killer():
            yield
            time.sleep(0.5)  # until the reports have arrived
            os._exit(3)

        @pytest.mark.tau(domain="mock", tasks="create-task")
        def test_it(killer, tau_simulation):
            pass
        """,
    )
    run = project.run("-n1")
    run.outcomes(passed=1, errors=1)
    run.line("ERROR test_own.py::test_it[create-task-trial-0] - worker gw0 crashed while it ran this trial")
    assert sorted(kept(project)) == [("create-task", 0)]


@pytest.mark.parametrize("dist", ["load", "loadfile"])
def test_trials_that_were_begun_early_in_a_killed_worker_are_run_elsewhere(tasks, project, dist):
    models = tasks(6, deadly=3)
    models.script(_KILLER)
    run = models.run("-n2", f"--dist={dist}", "--tau-concurrency=4")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line(" crashed while it ran this trial")
    models.run("-n2", f"--dist={dist}", "--tau-resume").outcomes(passed=6)
    folder = max(project.path.glob(".tau/runs/*"), key=lambda one: one.stat().st_mtime_ns)
    lines = (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["task_id"] for line in lines} == {f"t{number}" for number in range(6)}


def test_other_peoples_tests_that_kill_are_left_to_xdist(project):
    project.write("test_plain.py", "import os\ndef test_exit(): os._exit(3)\ndef test_fine(): pass")
    run = project.run("-n2")
    run.outcomes(passed=1, failed=1)
    run.lacks("--tau-resume")


def test_a_run_that_lost_trials_for_good_is_no_success(tasks):
    models = tasks(4, deadly=2)
    models.script(_KILLER)
    run = models.run("-n1", "--max-worker-restart=0", "--tau-concurrency=1")
    run.outcomes(passed=2, errors=1)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("tau: 4 tasks x 1 trial planned: 2 run, 1 interrupted, 1 not run (session ended early)")


# Other machines.


@pytest.fixture
def socket_worker(tmp_path_factory):
    """The specification of a worker behind a socket server of execnet, in a folder of its own."""
    folder = tmp_path_factory.mktemp("elsewhere")
    code = (
        "import sys, execnet; from execnet.script import socketserver as s;"
        "s.execmodel = execnet.gateway_base.get_execmodel('thread');"
        "sock = s.bind_and_listen('127.0.0.1:0', s.execmodel); print(sock.getsockname()[1], flush=True);"
        "s.startserver(sock)"
    )
    server = subprocess.Popen([sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True)
    yield f"--tx=socket=127.0.0.1:{server.stdout.readline().strip()}", folder
    server.kill()
    server.wait()
    server.stdout.close()


@pytest.fixture
def distant(models, project, pytester, warm_processes):
    """Runs pytest in a process of its own, with workers that have another folder and are sent this one."""
    project.ini("filterwarnings = ignore:The --rsyncdir:DeprecationWarning")

    def run(*args):
        where = ["--dist=load", f"--rsyncdir={project.path}", project.path / "mock"]
        return Run(pytester.run(sys.executable, "-m", "pytest", *_QUICK, *models.options, *where, *args))

    return run


def test_results_and_cassettes_of_another_machine_arrive(tasks, project, socket_worker, distant):
    spec, folder = socket_worker
    models = tasks(3)
    run = distant(spec, "--tau-record")
    run.outcomes(passed=3)
    assert run.ret == pytest.ExitCode.OK
    run.line("tau: mock: 3 tasks, 3 trials; 3 passed; pass^1 1.000")
    run.line("tau: simulations stored in .tau/runs/")
    assert sorted(kept(project)) == [("t0", 0), ("t1", 0), ("t2", 0)]
    there = sorted(path.relative_to(folder) for path in folder.rglob("*.cassette"))
    home = Path("pyexecnetcache") / project.path.name
    assert [path.relative_to(home).as_posix() for path in there] == models.cassettes()
    assert len(there) == 3
    models.run("--tau-replay").outcomes(passed=3)


def test_workers_here_and_elsewhere_have_a_part_of_the_budget_each(tasks, project, distant, tmp_path_factory):
    tasks(12)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    run = distant("--tx=popen", f"--tx=popen//chdir={elsewhere}", "--tau-budget=4", "--tau-concurrency=1", "-rs")
    run.outcomes(passed=4, skipped=8)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.line("tau: budget: $2 for each of 2 workers, because not all of them are on this machine")
    run.line("SKIPPED", "not run: this worker's share of the budget, $2 of $4, is spent ($2.0000)")
    run.line("tau: 8 trials not run: the budget is spent")
    assert len(kept(project)) == 4


def test_cassettes_elsewhere_lie_below_the_folder_that_was_named(tasks, project, distant, tmp_path_factory):
    models = tasks(1)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    distant(f"--tx=popen//chdir={elsewhere}", "--tau-record", "--tau-cassettes=taped").outcomes(passed=1)
    (cassette,) = models.cassettes()
    assert cassette.startswith("taped/")
    models.run("--tau-replay", "--tau-cassettes=taped").outcomes(passed=1)


def test_nothing_but_cassettes_is_written_and_nothing_outside(tasks, project, distant, tmp_path_factory):
    models = tasks(1)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    models.script("""
        import pytest

        from pytest_tau.plugin.wire import add_facts

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_makereport(call):
            report = yield
            if call.when == "teardown":
                names = "../out.cassette", "/tmp/out.cassette", "conftest.py", "in.cassette"
                add_facts(report, attachments={"files": [[name, b"x"] for name in names]})
            return report
    """)
    run = distant(f"--tx=popen//chdir={elsewhere}")
    run.outcomes(passed=1)
    run.line("a file that worker gw0 sent is not written: ../out.cassette is outside ", str(project.path))
    run.line("a file that worker gw0 sent is not written: /tmp/out.cassette is outside ")
    run.line("a file that worker gw0 sent is not written: conftest.py is not a cassette")
    assert models.cassettes() == ["in.cassette"]
    assert not (project.path.parent / "out.cassette").exists()
    assert (project.path / "conftest.py").read_bytes() != b"x"


@pytest.fixture
def far(project, pytester, tmp_path_factory):
    """Runs pytest with one worker in another folder, to which the project is copied."""
    project.ini("filterwarnings = ignore:The --rsyncdir:DeprecationWarning")
    project.write("far_agent.py", "class Agent:\n    def respond(self, message):\n        return 'Hm.'\n")
    project.write(
        "tests/test_own.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create-task")
        def test_own(tau_simulation):
            assert tau_simulation.messages
        """,
    )
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    def run(*args):
        where = ["--dist=load", "--rsyncdir", ".", f"--tx=popen//chdir={elsewhere}", "--tau-user=noop"]
        return Run(pytester.run(sys.executable, "-m", "pytest", *_QUICK, *where, *args))

    return run


@pytest.mark.parametrize(
    "args",
    [
        [".", "--tau-agent=far_agent.py:Agent"],
        pytest.param(["tests", "--tau-agent=far_agent:Agent"], marks=pytest.mark.exhaustive),
        pytest.param(
            ["tests/test_own.py::test_own", "--tau-agent", "far_agent.py:Agent"], marks=pytest.mark.exhaustive
        ),
    ],
)
def test_relative_paths_mean_the_same_elsewhere(far, args):
    far(*args).outcomes(passed=1)


def test_a_usage_error_elsewhere_ends_the_run(far, project, tmp_path):
    project.write("../not_copied.py", (project.path / "far_agent.py").read_text())
    run = far("tests", "--tau-agent=../not_copied.py:Agent")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.line("ERROR: worker gw0: agent '../not_copied.py:Agent': no file ")
    run.lacks("replacing crashed worker")


def test_paths_are_seen_from_the_copy_of_the_folder():
    import pathlib

    from pytest_tau.plugin.distributed.compat import _far_argument, far_folder

    roots, here = [pathlib.Path("/lib/site"), pathlib.Path(__file__).parents[2]], pathlib.Path(__file__).parent
    assert far_folder(roots, here) == f"{roots[1].name}/tests/plugin"
    assert far_folder(roots[:1], here) == "."
    start = far_folder(roots, here)
    for arg, there in {
        "test_xdist_models.py::test_a[x::y]": "test_xdist_models.py::test_a[x::y]",
        str(here.parent / "unit"): "../unit",
        ".": ".",
        "--tau-agent=a.py:B": "--tau-agent=a.py:B",
        "/": "/",
        "x" * 5000: "x" * 5000,
    }.items():
        assert _far_argument(roots, start, here, arg) == there
