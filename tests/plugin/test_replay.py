"""replay:FILE: recorded conversations, carried out again."""

from __future__ import annotations

import gzip
import json

import pytest

import pytest_tau
from pytest_tau.evaluation import BUILT_IN_JUDGES
from pytest_tau.testing import ScriptedParticipant, call


@pytest.fixture
def record(project):
    """Writes a recording of mock tasks, played by gold or by what is given; returns its simulations."""
    domain = pytest_tau.load_domain("mock")
    judged = pytest_tau.SimulationSettings(evaluation=pytest_tau.Evaluation(judge=BUILT_IN_JUDGES["accept"]))

    def write(*task_ids, file="rec.json", trials=(0,), change=None, agent="gold", wrap=lambda found: found):
        by_id = {task.id: task for task in domain.tasks(None)}
        found = [
            json.loads(
                pytest_tau.simulate(
                    by_id[task_id], domain=domain, agent=agent, user="gold", trial=trial, settings=judged
                ).model_dump_json()
            )
            for task_id in task_ids
            for trial in trials
        ]
        if change:
            change(found)
        text = json.dumps(wrap(found))
        path = project.path / file
        path.write_bytes(gzip.compress(text.encode()) if file.endswith(".gz") else text.encode())
        return found

    return write


@pytest.fixture
def replay(project):
    """Replays each message of tasks in a file; a recording is replayed of the tasks that it has."""
    domain = pytest_tau.load_domain("mock")
    tasks = [task.model_dump(mode="json") for task in domain.tasks()]
    project.tasks("mock/t.tau.json", tasks)
    project.write(
        "conftest.py", "def pytest_tau_message(message):\n    print('said:', message.role, message.content)\n"
    )
    return lambda *args: project.run("mock", "--tau-agent", "replay:rec.json", "-s", *args)


def _replay(project, *args, file="rec.json"):
    return project.run("--tau-domain", "mock", "--tau-agent", f"replay:{file}", *args)


@pytest.mark.exhaustive
def test_only_recorded_tasks_run_and_both_sides_replay(project, record):
    record("create-task", "dismiss-after-done")
    run = _replay(project, "-v")
    run.outcomes(passed=2)
    run.line("mock::create-task[trial-0] PASSED")
    run.line("mock::dismiss-after-done[trial-0] PASSED")
    run.line("agent replay:rec.json, user replay:rec.json")
    run.line("tau: only tasks with a conversation in rec.json (2)")
    run.lacks("differ")


def test_tasks_outside_the_default_split_are_found(project, record):
    record("compliment")
    _replay(project, "--tau-judge", "accept").outcomes(passed=1)


@pytest.mark.parametrize(
    "wrap",
    [lambda found: found[0], lambda found: found, lambda found: {"simulations": found, "info": {}}],
    ids=["one", "array", "results"],
)
def test_shapes_of_a_recording(project, record, wrap):
    record("create-task", wrap=wrap)
    _replay(project).outcomes(passed=1)


def test_a_gzipped_recording(project, record):
    record("create-task", file="rec.json.gz")
    _replay(project, file="rec.json.gz").outcomes(passed=1)


def test_the_recorded_words_are_said(record, replay):
    def change(found):
        for message in found[0]["messages"]:
            if message["role"] == "assistant" and message["content"]:
                message["content"] = message["content"].upper()

    record("create-task", change=change)
    run = replay()
    run.outcomes(passed=1)
    run.line("said: assistant HI! HOW CAN I HELP YOU TODAY?")
    run.line("said: assistant THAT IS EVERYTHING ON MY SIDE.")


def test_a_conversation_that_failed_fails_again(project, record):
    record("create-task", agent=ScriptedParticipant([call("get_users"), "I will not."]))
    run = _replay(project)
    run.outcomes(failed=1)
    run.line("reward 0 = DB 0 x COMMUNICATE 1")
    run.line("agent  I will not.")


def test_different_tool_results_are_reported_in_a_passing_trial(project, record):
    def change(found):
        result = next(message for message in found[0]["messages"] if message["role"] == "tool")
        result["content"] = result["content"].replace("Order new chairs", "Order old chairs")

    record("create-task", "say-new-id", change=change)
    run = _replay(project)
    run.outcomes(passed=2)
    run.line("tau: replay: 1 tool result", "from the recording")
    run = _replay(project, "-rA")
    run.line("recorded '{", "Order old chairs", "got '{", "Order new chairs")


def test_different_tool_results_are_reported_with_a_failure(project, record):
    def change(found):
        found[0]["messages"][3]["content"] = "[]"

    record("create-task", agent=ScriptedParticipant([call("get_users"), "I will not."]), change=change)
    run = _replay(project)
    run.outcomes(failed=1)
    run.line("replay: 1 tool result", "from the recording")
    run.line("recorded '[]', got '[{")


def test_equal_results_in_another_layout_do_not_differ(project, record):
    def change(found):
        result = next(message for message in found[0]["messages"] if message["role"] == "tool")
        result["content"] = json.dumps(json.loads(result["content"]), indent=2)

    record("create-task", change=change)
    run = _replay(project)
    run.outcomes(passed=1)
    run.lacks("recorded '")


def test_each_trial_replays_its_own(record, replay):
    def change(found):
        found[1]["messages"][-2]["content"] = "Second time."

    record("create-task", trials=(0, 1), change=change)
    run = replay("--tau-trials", "2")
    run.outcomes(passed=2)
    run.line("said: assistant That is everything on my side.")
    run.line("said: assistant Second time.")


def test_a_recording_that_was_cut_off_ends_likewise(project, record):
    def change(found):
        found[0]["messages"] = found[0]["messages"][:3]
        found[0]["termination_reason"] = "max_steps"

    record("create-task", change=change)
    run = _replay(project)
    run.outcomes(failed=1)
    run.line("cut off: too many steps")


def test_the_message_history_is_not_said_again(record, replay):
    (found,) = record("history-agent-next")
    run = replay()
    run.outcomes(passed=1)
    run.line("said: tool")
    run.line("said: assistant That is everything on my side.")
    run.lacks("said: user This is Ben Okafor")
    assert run.text.count("said: ") == len(found["messages"]) - 5


def test_one_side_alone_replays(project, record):
    record("create-task")
    run = project.run("--tau-domain", "mock", "--tau-user", "replay:rec.json", "--tau-task", "create-task")
    run.outcomes(passed=1)
    run.line("agent gold (no agent given", "user replay:rec.json")
    run = _replay(project, "--tau-user", "gold")
    run.outcomes(passed=1)
    run.line("agent replay:rec.json, user gold")


def test_a_task_without_a_conversation_is_an_error_of_the_harness(project, record):
    record("create-task")
    run = project.run("--tau-domain", "mock", "--tau-user", "replay:rec.json", "--tau-task", "create*")
    run.outcomes(passed=1, errors=1)
    run.line("rec.json has no conversation of task 'create-with-description'")


def test_task_files_replay_too(project, record, a_task):
    record("create-task")
    project.tasks("mock/t.tau.json", [a_task("create-task"), a_task("other")])
    run = project.run("--tau-agent", "replay:rec.json", "-v")
    run.line("mock/t.tau.json::create-task[trial-0]")
    run.lacks("::other")


def test_solo_recordings(project):
    domain = pytest_tau.load_domain("mock")
    task = next(task for task in domain.tasks() if task.id == "create-task")
    settings = pytest_tau.SimulationSettings(solo=True)
    simulation = pytest_tau.simulate(task, domain=domain, agent="gold", settings=settings)
    project.write("rec.json", simulation.model_dump_json())
    run = _replay(project, "--tau-solo")
    run.outcomes(passed=1)
    run.line("user dummy, solo")


def test_ini(project, record):
    project.ini("tau_agent = replay:rec.json")
    record("create-task")
    run = project.run("--tau-domain", "mock")
    run.outcomes(passed=1)
    run.line("agent replay:rec.json, user replay:rec.json")
