"""Runs that continue stored conversations from a message on: state, participants, rates, storage, bad input."""

from __future__ import annotations

import argparse
import json
import shlex
import sys

import pytest

from pytest_tau.capabilities.fork.command import _settings
from pytest_tau.capabilities.fork.turns import is_preferred
from pytest_tau.cli import main
from pytest_tau.models import Simulation
from pytest_tau.runner.continuing import Beginning, steps_of

pytestmark = pytest.mark.usefixtures("warm_processes")

AIRLINE = ("--tau-domain", "airline", "--tau-task", "cancel-fresh-booking")
TASK = "cancel-fresh-booking"

#: An agent that logs what it is created with and asked; it ends the conversation by a transfer.
_AGENT = """
    from pathlib import Path

    def function(messages, tools):
        with Path("asked.txt").open("a") as file:
            file.write(f"{len(messages)}\\n")
        return "I transfer you to a human agent. Goodbye."

    class WithHistory:
        def __init__(self, history):
            Path("history.txt").write_text(str(len(history)))

        def respond(self, message):
            with Path("asked.txt").open("a") as file:
                file.write("x\\n")
            return "I transfer you to a human agent. Goodbye."

    class WithoutHistory:
        def respond(self, message):
            return "I transfer you to a human agent. Goodbye."

    def factory(tools):
        return WithoutHistory()

    def factory_with_history(tools, history):
        return WithoutHistory()

    instance = WithoutHistory()
"""


@pytest.fixture
def stored(project):
    """A project with a stored run in which a saboteur has failed the task."""
    run = project.run(*AIRLINE, "--tau-agent", "saboteur:forgets-last-write", "--tau-run-name", "lost")
    run.outcomes(failed=1)
    project.write("mine.py", _AGENT)
    return project


def simulations(project, name):
    file = project.path / ".tau/runs" / name / "simulations.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def fork(project, *arguments, name="again", agent="rules"):
    return project.run(*AIRLINE, "--tau-agent", agent, "--tau-fork", "lost", "--tau-run-name", name, *arguments)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_fixed_agent_recovers_and_the_stored_one_does_not(stored, workers):
    run = fork(stored, "--tau-fork-turn", "14,16", "--tau-trials", "2", *workers)
    run.outcomes(passed=4)
    run.line("tau: fork: message 16", "2 of 2 passed, 1.000 (95 % interval 0.342 to 1.000): recoverable")
    run.line("tau: fork: recoverable up to message 16")
    again = fork(stored, "--tau-fork-turn", "14,16", name="third", agent="saboteur:forgets-last-write", *workers)
    again.outcomes(failed=2)
    again.line("tau: fork: message 16", "0 of 1 passed", ": lost")
    again.line("no trial passed from any of these messages")


def test_a_trial_that_repeats_the_stored_one_does_not_count_next_to_others(project, a_task):
    """The agent fails by the seed of the first trial alone, so that a fork's first trial is the stored one again."""
    project.write(
        "mine.py",
        """
        from pytest_tau.models import AssistantMessage, ToolCall

        class Seeded:
            def __init__(self, seed, history=()):
                self.fails, self.turn = seed == 626729, len(history)

            def respond(self, message):
                self.turn += 1
                if getattr(message, "role", "") != "tool" and not self.fails:
                    arguments = {"user_id": "user_1", "title": "Buy milk"}
                    return AssistantMessage(tool_calls=[ToolCall(id="1", name="create_task", arguments=arguments)])
                return "Done." if not self.fails else "No."
        """,
    )
    write = {"action_id": "w", "name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
    project.tasks("mock/t.tau.json", [a_task("one", criteria={"actions": [write], "reward_basis": ["DB"]})])
    run = ("--tau-agent", "mine.py:Seeded", "--tau-user", "gold", "--tau-seed", "300")
    project.run(*run, "--tau-run-name", "lost").outcomes(failed=1)
    arguments = ("--tau-fork", "lost", "--tau-fork-turn", "2")
    found = project.run(*run, *arguments, "--tau-trials", "2", "--tau-run-name", "two")
    found.line(
        "tau: fork: message 2", "1 of 1 passed", ": recoverable; not counted: 1 trial that repeats the stored one"
    )
    assert [each["facts"]["fork"].get("repeats") for each in simulations(project, "two")] == [True, False]
    found = project.run(*run, *arguments, "--tau-run-name", "one")
    found.line("tau: fork: message 2", "0 of 1 passed", ": lost")


def test_the_result_is_a_run_with_its_origin(stored, capsys, monkeypatch):
    fork(stored, "--tau-fork-turn", "16").outcomes(passed=1)
    (found,) = simulations(stored, "again")
    (before,) = simulations(stored, "lost")
    assert found["facts"]["fork"] == {
        "run": "lost",
        "simulation": before["id"],
        "trial": 0,
        "seed": before["seed"],
        "outcome": "failed",
        "message": 16,
        "restored": {"agent": "replay", "user": "replay"},
        "differences": [],
        "repeats": False,
    }
    assert found["id"] != before["id"]
    assert found["test"] == f"airline::{TASK}[turn-16-trial-0]"
    strip = ("timestamp", "turn_idx")
    heads = [
        [{k: v for k, v in m.items() if k not in strip} for m in each["messages"][:16]] for each in (before, found)
    ]
    assert heads[0] == heads[1]
    assert before["messages"][16] != found["messages"][16]
    monkeypatch.chdir(stored.path)
    assert main(["show", "again"]) == 0
    assert "continues trial 0 of lost from message 16 on" in capsys.readouterr().out
    assert main(["compare", "lost", "again"]) == 0
    assert "better on 1 task" in capsys.readouterr().out


def test_each_message_of_the_agent_is_the_default(stored):
    run = fork(stored)
    (before,) = simulations(stored, "lost")
    turns = [n for n, each in enumerate(before["messages"]) if n and each["role"] == "assistant"]
    assert [line.split(":")[2].split()[1] for line in run.text.splitlines() if "fork: message " in line] == [
        str(turn) for turn in turns
    ]


def test_nothing_is_continued_from_within_the_message_history_of_a_task(project):
    """The initial state of the task is that after its history of five messages."""
    task = ("--tau-domain", "mock", "--tau-task", "history-agent-next", "--tau-agent", "noop")
    project.run(*task, "--tau-run-name", "lost").outcomes(failed=1)
    run = project.run(*task, "--tau-fork", "lost")
    assert next(line for line in run.text.splitlines() if "fork: message" in line).startswith("tau: fork: message 5 (")
    run = project.run(*task, "--tau-fork", "lost", "--tau-fork-turn", "1")
    run.line("message 1 of 'history-agent-next', trial 0 of lost: expected the number of a message", ": 5")


def test_a_range_is_the_agents_messages_in_it(stored):
    run = fork(stored, "--tau-fork-turn", "13-16")
    assert [line.split(":")[2].split()[1] for line in run.text.splitlines() if "fork: message " in line] == ["14", "16"]


def test_a_function_gets_the_messages_before_and_is_not_asked_again(stored):
    run = fork(stored, "--tau-fork-turn", "14", "--tau-user", "scripted", agent="mine.py:function")
    run.line("the agent was created with the messages before; what else it had remembered is lost")
    # The system message and the 14 messages before.
    assert (stored.path / "asked.txt").read_text().split() == ["15"]


def test_an_object_that_asks_for_the_history_gets_it(stored):
    fork(stored, "--tau-fork-turn", "14", "--tau-user", "scripted", agent="mine.py:WithHistory")
    # Without the last message, which it is given to answer.
    assert (stored.path / "history.txt").read_text() == "13"
    assert (stored.path / "asked.txt").read_text().split() == ["x"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("agent", "way"),
    [
        ("mine.py:WithHistory", "history"),
        ("mine.py:function", "history"),
        ("mine.py:factory_with_history", "history"),
        ("mine.py:WithoutHistory", "none"),
        ("mine.py:factory", "none"),
        ("mine.py:instance", "none"),
        pytest.param(f"cmd:{shlex.quote(sys.executable)} -c 'print(1)'", "none", id="program"),
    ],
)
def test_an_agent_that_takes_no_history_is_named(stored, agent, way):
    user = ("--tau-user", "scripted", "--tau-max-steps", "17")
    run = fork(stored, "--tau-fork-turn", "2,14", *user, agent=agent)
    found = {
        each["facts"]["fork"]["message"]: each["facts"]["fork"]["restored"] for each in simulations(stored, "again")
    }
    # Before message 2 there is nothing but the greeting that it could have been given.
    assert found == {2: {"agent": "history", "user": "replay"}, 14: {"agent": way, "user": "replay"}}
    said = (
        "takes no history and does not know the messages before" if way == "none" else "was created with the messages"
    )
    run.line(f"tau: fork: the agent {said}")


def test_a_side_that_nobody_plays_is_not_restored(project):
    solo = ("--tau-domain", "telecom", "--tau-task", "service.airplane", "--tau-solo", "--tau-agent", "gold")
    project.run(*solo, "--tau-run-name", "alone").outcomes(passed=1)
    run = project.run(*solo, "--tau-fork", "alone", "--tau-fork-turn", "2", "--tau-run-name", "again")
    run.lacks("the user was")
    (found,) = simulations(project, "again")
    assert found["facts"]["fork"]["restored"] == {"agent": "replay"}


def a_trial(outcome="passed", number=0, messages=(), **conditions):
    reward = {"reward": float(outcome == "passed")}
    fields = {"termination_reason": "user_stop", "messages": messages, "reward_info": reward, "conditions": conditions}
    return Simulation.model_validate({"id": "s", "task_id": "t", "trial": number, **fields})


@pytest.mark.parametrize(
    ("trials", "number", "chosen"),
    [
        ([a_trial(), a_trial("failed"), a_trial("failed")], None, 1),
        ([a_trial(), a_trial()], None, 0),
        ([a_trial("failed", variant="attack.a"), a_trial(), a_trial("failed", variant="attack.a")], None, 1),
        ([a_trial(variant="attack.a"), a_trial("failed", variant="attack.a")], None, 1),
        ([a_trial("failed"), a_trial(number=1), a_trial("failed", number=1)], 1, 1),
        ([a_trial("failed")], 1, None),
    ],
)
def test_the_first_failed_trial_is_preferred_and_no_variant(trials, number, chosen):
    found = None
    for each in trials:
        if is_preferred(each, found, number):
            found = each
    assert found is (None if chosen is None else trials[chosen])


def test_an_agent_may_be_sent_the_messages_again(stored):
    arguments = ("--tau-fork-turn", "14", "--tau-user", "scripted", "--tau-fork-restore", "agent=replay")
    run = fork(stored, *arguments, agent="mine.py:WithHistory")
    assert len((stored.path / "asked.txt").read_text().split()) == 7
    run.line("the agent was sent the messages before again")
    run.line(
        "tau: fork: warning: in 1 trial the beginning is not as it was", "the agent would have said something else"
    )


def test_an_agent_that_cannot_be_restored_is_an_error(stored):
    stored.write("bad.py", "class Agent:\n    def respond(self, message):\n        raise ValueError('no')\n")
    run = fork(stored, "--tau-fork-turn", "14", "--tau-fork-restore", "agent=replay", agent="bad.py:Agent")
    run.outcomes(errors=1)
    run.line("the agent could not be brought to message 14: at message 2: ValueError: no")


def test_steps_before_count(stored):
    run = fork(stored, "--tau-fork-turn", "16", "--tau-max-steps", "3")
    run.outcomes(failed=1)
    run.line("cut off: too many steps")


def test_faults_before_do_not_count_as_errors():
    messages = [
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Cancel it."},
        {"role": "assistant", "tool_calls": [{"id": "1", "name": "cancel", "arguments": {}}]},
        {"role": "tool", "id": "1", "content": "Error: no", "error": True},
        {"role": "assistant", "tool_calls": [{"id": "2", "name": "cancel", "arguments": {}}]},
        {"role": "tool", "id": "2", "content": "Error: unavailable", "error": True, "fault": "error"},
        {"role": "assistant", "content": "Sorry."},
    ]
    simulation = a_trial(messages=messages)
    assert steps_of(Beginning(simulation.messages[:6])) == (5, 1, 2)


def test_an_interrupted_fork_is_resumed(stored):
    fork(stored, "--tau-fork-turn", "14,16").outcomes(passed=2)
    run = stored.run(
        *AIRLINE, "--tau-agent", "rules", "--tau-fork", "lost", "--tau-fork-turn", "14,16", "--tau-trials", "2",
        "--tau-resume", "again",
    )  # fmt: skip
    run.outcomes(passed=4)
    run.line("tau: resume: 2 of 4 trials reused from the earlier run")


def test_a_fork_of_another_run_is_not_reused(stored):
    fork(stored, "--tau-fork-turn", "14").outcomes(passed=1)
    stored.run(*AIRLINE, "--tau-agent", "saboteur:wrong-item", "--tau-run-name", "other")
    run = stored.run(
        *AIRLINE, "--tau-agent", "rules", "--tau-fork", "other", "--tau-fork-turn", "14", "--tau-resume", "again"
    )
    run.lacks("1 of 1 trial reused")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--tau-fork-turn", "x"), ("--tau-fork-turn", "expected each, or numbers of messages")),
        (("--tau-fork-turn", "9-7"), ("a range whose end is not before its start",)),
        (("--tau-fork-restore", "agent=magic"), ("--tau-fork-restore", "expected agent=HOW or user=HOW")),
        (("--tau-fork-trial", "7"), ("expected a trial 7 to continue, found none",)),
    ],
)
def test_bad_values_are_usage_errors(stored, arguments, parts):
    fork(stored, *arguments).usage_error(*parts)


def test_an_option_of_a_fork_alone_is_a_usage_error(stored):
    run = stored.run(*AIRLINE, "--tau-agent", "rules", "--tau-fork-turn", "4")
    run.usage_error("--tau-fork-turn: expected --tau-fork RUN as well, which is continued")


def test_the_command_of_a_failed_trial_runs_it_again(stored):
    run = fork(stored, "--tau-fork-turn", "14,16", agent="saboteur:forgets-last-write")
    command = run.line("again: pytest", "turn-14-trial-0")
    assert "--tau-fork=lost --tau-fork-turn 14,16" in command
    again = stored.run(
        f"airline::{TASK}[turn-14-trial-0]", "--tau-agent", "saboteur:forgets-last-write", "--tau-fork", "lost",
        "--tau-fork-turn", "14,16",
    )  # fmt: skip
    again.outcomes(failed=1)


def test_an_unknown_run_is_a_usage_error(stored):
    stored.run(*AIRLINE, "--tau-fork", "missing").usage_error("--tau-fork", "unknown run 'missing'")


def test_a_result_of_a_tool_is_no_turn(stored):
    run = fork(stored, "--tau-fork-turn", "5")
    run.line(
        "message 5 of 'cancel-fresh-booking', trial 0 of lost: expected the number of a message of the agent or the"
    )


def test_other_tasks_are_not_run(stored):
    run = stored.run("--tau-domain", "airline", "--tau-agent", "rules", "--tau-fork", "lost", "--tau-fork-turn", "16")
    run.outcomes(passed=1)


def test_marked_tests_are_refused(stored):
    stored.write(
        "test_mine.py",
        "import pytest\n\n@pytest.mark.tau(domain='airline', tasks='cancel-fresh-booking')\n"
        "def test_it(tau_simulation):\n    pass\n",
    )
    stored.run("test_mine.py", "--tau-fork", "lost").usage_error("begins a conversation of its own")


class TestCommand:
    def test_settings_that_verdicts_depend_on_are_used_again(self):
        settings = {"agent": "few-shot", "solo": True, "agent_num_examples": 3, "user_attempts": 2, "concurrency": 4}
        settings |= {"user_persona": {"verbosity": {"minimal": 1.0}}, "program_env": ["A", "B"], "unsure": "ask"}
        stored = {"settings": settings, "capabilities": {"validity": {"settings": {"unsure": "ask"}}}}
        args = argparse.Namespace(user="rules", pytest=["--tau-agent=mine.py:Agent"])
        assert _settings(stored, args) == [
            "--tau-solo", "--tau-agent-num-examples=3", "--tau-user-attempts=2",
            '--tau-user-persona={"verbosity": {"minimal": 1.0}}', "--tau-program-env=A", "--tau-program-env=B",
            "--tau-unsure=ask", "--tau-user=rules",
        ]  # fmt: skip

    def test_a_file_of_which_the_name_is_recorded_is_given_again(self, stored, monkeypatch, capsys):
        file = stored.path / ".tau/runs/lost/run.json"
        found = json.loads(file.read_text(encoding="utf-8"))
        found["settings"]["agent_examples"] = "examples.jsonl 0123456789abcdef"
        file.write_text(json.dumps(found), encoding="utf-8")
        monkeypatch.chdir(stored.path)
        assert main(["fork", "lost", TASK, "--turn", "16"]) == 2
        expected = (
            "lost: --tau-agent-examples was examples.jsonl 0123456789abcdef, of which only the name is recorded: give "
        )
        expected += "the file again, after --"
        assert expected in capsys.readouterr().err

    @pytest.mark.exhaustive
    def test_it_uses_the_settings_of_the_run(self, stored, monkeypatch, capfd):
        monkeypatch.chdir(stored.path)
        command = ["fork", "lost", TASK, "--turn", "16", "--trials", "2"]
        assert main([*command, "--", "-p", "no:cacheprovider"]) == 0
        assert "tau: fork: message 16 (stored: agent" in (out := capfd.readouterr().out)
        assert "0 of 1 passed" in out
        assert "not counted: 1 trial that repeats the stored one" in out
        assert main([*command, "--agent", "rules"]) == 0
        assert "2 of 2 passed" in capfd.readouterr().out

    @pytest.mark.exhaustive
    def test_both_sides_may_be_restored_in_a_named_way(self, stored, monkeypatch, capfd):
        monkeypatch.chdir(stored.path)
        ways = ("--restore", "agent=history", "--restore", "user=history")
        assert main(["fork", "lost", TASK, "--turn", "16", "--trials", "1", *ways]) == 0
        assert "the agent was created with the messages before" in (out := capfd.readouterr().out)
        assert "the user was created with the messages before" in out

    @pytest.mark.exhaustive
    def test_it_continues_the_variant_that_failed_and_names_it(self, stored, monkeypatch, capfd):
        conftest = (
            "import pytest\n\n@pytest.fixture(params=['rules', 'saboteur:forgets-last-write'], ids=['good', 'bad'])\n"
            "def tau_agent(request):\n    return request.param\n"
        )
        stored.write("conftest.py", conftest)
        stored.run(*AIRLINE, "--tau-user", "scripted", "--tau-run-name", "both").outcomes(passed=1, failed=1)
        (stored.path / "conftest.py").unlink()
        monkeypatch.chdir(stored.path)
        assert main(["fork", "both", TASK, "--turn", "14", "--agent", "rules"]) == 0
        origin = "trial 0 [bad] of both, failed, agent rules instead of saboteur:forgets-last-write"
        assert f"tau: fork: airline::{TASK}, {origin}\n" in capfd.readouterr().out

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (["lost", "cancel"], "unknown task 'cancel'"),
            (["lost", TASK, "--trial", "3"], "has no trial 3: expected one of 0"),
            (["lost", TASK, "--turn", "5"], "expected the number of a message of the agent or the user"),
            (["lost", TASK, "--turn", "x"], "--turn: expected each, or numbers of messages"),
            (["nothing", TASK], "unknown run 'nothing'"),
        ],
    )
    def test_bad_input_is_reported_before_anything_runs(self, stored, monkeypatch, capsys, arguments, problem):
        monkeypatch.chdir(stored.path)
        assert main(["fork", *arguments]) == 2
        assert problem in capsys.readouterr().err
        assert len([*(stored.path / ".tau/runs").iterdir()]) == 1


def test_calls_of_models_before_the_turn_are_not_repeated(models, monkeypatch, capfd, project):
    """The stored trial: user, agent, agent, user. From message 4 on, only the last two are called."""
    models.run("mock/t.tau.json", "--tau-run-name", "whole").outcomes(passed=1)
    assert models.calls() == ["agent", "agent", "user", "user"]
    run = models.run("mock/t.tau.json", "--tau-fork", "whole", "--tau-fork-turn", "4", "--tau-run-name", "part")
    run.outcomes(passed=1)
    asked = models.asked
    assert [call["role"] for call in asked] == ["agent", "user"]
    # The model is sent the conversation before, with its own call and the result.
    assert [message["role"] for message in asked[0]["said"]] == ["system", "assistant", "user", "assistant", "tool"]
    run.line("the agent was created with the messages before; what else it had remembered is lost")
    (found,) = simulations(project, "part")
    assert found["model_usage"]["agent"]["calls"] == 1
    assert found["facts"]["fork"]["restored"] == {"agent": "history", "user": "history"}
    assert found["reward_info"]["reward"] == 1


@pytest.mark.exhaustive
def test_the_command_takes_a_task_of_a_file(models, monkeypatch, capfd, project):
    models.run("mock/t.tau.json", "--tau-run-name", "whole")
    monkeypatch.chdir(project.path)
    assert main(["fork", "whole", "buy-milk", "--turn", "4", "--trials", "2"]) == 0
    assert "tau: fork: message 4 (stored: agent 'Done.'): 1 of 1 passed" in capfd.readouterr().out
