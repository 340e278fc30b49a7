"""Agents and users that are one object for several trials."""

from __future__ import annotations

import pytest

WARNING = (
    "tau: warning: agent mine.py:bot is one object for all trials, and trials change it (self.history): what it remembers "
    "of one trial is there in the next; name its class to build it anew for each trial"
)
#: Makes the call in its first conversation alone, as it remembers that it has made it.
MINE = """
class Bot:
    def __init__(self):
        self.history = []

    def respond(self, message):
        self.history.append(message.content)
        if len(self.history) == 1:
            return {"tool_calls": [{"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}]}
        return "It has been put there."

bot = Bot()
"""


@pytest.fixture
def shared(project, a_task):
    """Runs a task with an agent of a file several times."""

    def run(source, *args, agent="mine.py:bot", trials=4):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("mine.py", source)
        named = ["--tau-agent", agent] if agent else []
        return project.run(*named, "--tau-user", "scripted", "--tau-trials", str(trials), *args)

    return run


def test_an_instance_that_trials_change_is_named(shared):
    run = shared(MINE)
    run.outcomes(passed=1, failed=3)
    run.line(WARNING)
    run.line("agent mine.py:bot is one object for all trials, and trials change it (self.history): what it")


def test_a_worker_notes_what_its_trials_change(shared):
    run = shared(MINE, "-n", "2", trials=8)
    run.outcomes(passed=2, failed=6)
    run.line(WARNING)


def test_trials_that_pass_have_the_warning_too(shared):
    run = shared(MINE.replace("len(self.history) == 1", "message.role == 'user'"))
    run.outcomes(passed=4)
    run.line(WARNING)


@pytest.mark.parametrize(
    "agent",
    ["mine.py:Bot", "mine.py:made"],
)
def test_what_is_built_for_each_trial_has_no_warning(shared, agent):
    run = shared(MINE + "\ndef made(tools):\n    return Bot()\n", agent=agent)
    run.outcomes(passed=4)
    run.lacks("is one object for all trials")


def test_an_instance_with_a_client_made_at_its_first_use_has_no_warning(shared):
    run = shared(
        """
class Bot:
    client, settings = None, {"a": 1}

    def respond(self, message):
        if self.client is None:
            self.client = object()
        if message.role == "user":
            return {"tool_calls": [{"name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}]}
        return "It has been put there."

bot = Bot()
"""
    )
    run.outcomes(passed=4)
    run.lacks("is one object for all trials")


def test_an_object_of_a_fixture_is_named_by_its_class(shared, project):
    project.write(
        "conftest.py",
        """
import pytest
from mine import Bot

@pytest.fixture(scope="session")
def tau_agent():
    return Bot()
""",
    )
    run = shared(MINE, agent=None)
    run.outcomes(passed=1, failed=3)
    run.line("agent Bot is one object for all trials", "(self.history)", "make a new one for each trial")


def test_a_user_is_named_as_well(shared):
    user = """
class User:
    turns = 0
    def respond(self, message):
        self.turns += 1
        return "Have it put there." if self.turns == 1 else "###STOP###"

user = User()
"""
    run = shared(MINE + user, "--tau-user", "mine.py:user", agent="mine.py:Bot")
    run.line("tau: warning: user mine.py:user is one object for all trials, and trials change it (self.turns)")
