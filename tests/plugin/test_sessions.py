"""Runs of tasks whose user calls several times."""

from __future__ import annotations

import json

import pytest

from pytest_tau.cli import main

pytestmark = pytest.mark.usefixtures("warm_processes")

MOCK = ("--tau-domain", "mock", "--tau-split", "sessions")
#: Creates the task whose title it was told, when it is asked to; it remembers as long as the object lives.
AGENT = '''
import re


class Agent:
    title = None

    def respond(self, message):
        if message.role == "tool":
            return "It is there. Is there anything else that I can do for you?"
        told = re.search('titled exactly "(.+?)"', message.content)
        self.title = told[1] if told else self.title
        if "told you about yesterday" not in message.content:
            return "All right, I have taken note of it. Is there anything else that I can do for you?"
        if self.title is None:
            return "I am sorry, I cannot do that: I do not know what you have told me."
        arguments = {"user_id": "user_1", "title": self.title}
        return {"tool_calls": [{"id": "1", "name": "create_task", "arguments": arguments}]}


class WithStore(Agent):
    """Is made again for each session, and has kept the title in a store of its own."""

    store = {}

    def __init__(self, task, seed):
        self.key = f"{task.id} {seed}"

    title = property(
        lambda self: self.store.get(self.key), lambda self, title: self.store.update({self.key: title})
    )
'''


@pytest.fixture
def told(project):
    project.write("mine.py", AGENT)
    return lambda agent, *options: project.run(
        *MOCK, "--tau-task", "told-yesterday", "--tau-agent", f"mine.py:{agent}", "--tau-seed", "1", *options
    )


def test_an_agent_keeps_what_it_keeps(told):
    told("Agent").outcomes(passed=1)
    told("WithStore", "--tau-fresh-sessions").outcomes(passed=1)
    run = told("Agent", "--tau-fresh-sessions")
    run.outcomes(failed=1)
    assert "[A new conversation, 1 day and 2 hours later]" in run.text.replace("\n      ", " ")


def test_all_tasks_on_workers(project):
    run = project.run(*MOCK, "--tau-agent", "gold", "-n", "2")
    run.outcomes(passed=6)


def test_a_domain_without_them_is_refused(project):
    run = project.run("--tau-domain", "telecom", "--tau-split", "sessions", "--tau-agent", "noop")
    assert run.ret == 4
    assert "unknown split 'sessions'" in run.text


def test_a_malformed_session_is_named_at_collection(project):
    first = {"id": "a", "user_scenario": {"instructions": "x"}}
    document = {"domain": "mock", "tasks": [{"id": "t", "sessions": [first, {**first, "id": "b", "hours": -1}]}]}
    project.write("bad.tau.json", json.dumps(document))
    run = project.run("bad.tau.json", "--tau-agent", "gold")
    assert run.ret not in (0, 1)
    assert "bad.tau.json: task t: sessions.1.hours: expected greater than or equal to 0, got -1" in run.text


def test_a_stored_conversation_is_continued_in_a_later_session(project, told):
    told("Agent", "--tau-run-name", "stored").outcomes(passed=1)
    stored = ("--tau-fork", "stored", "--tau-fork-turn", "8", "--tau-fork-restore", "agent=replay")
    run = told("Agent", *stored, "-rA")
    run.outcomes(passed=1)
    assert "would have said something else" not in run.text
    refused = told("Agent", *stored, "--tau-fresh-sessions")
    assert "can be continued from a message of its first session" in refused.text


def test_a_run_is_graded_again_and_not_exported_as_one_conversation(project, told, capsys):
    told("Agent", "--tau-run-name", "stored").outcomes(passed=1)
    assert main(["regrade", "stored"]) == 0
    assert "1 agree" in capsys.readouterr().out
    assert main(["export", "stored", "--format", "tau2"]) != 0
    assert "task 'told-yesterday' has 2 sessions" in capsys.readouterr().err
    assert main(["export", "stored", "--format", "jsonl"]) == 0
