"""The line of a run's summary about its tasks in doubt."""

from __future__ import annotations

import pytest

#: The agent's model creates a task of this title, and then says that it is done.
ANSWER = """
TITLE = {title!r}

def answer(role, request):
    if role == "user":
        return {{"content": "Please." if len(request.messages) < 4 else "###STOP###"}}
    if request.messages[-1]["role"] == "tool":
        return {{"content": "Done."}}
    arguments = json.dumps({{"user_id": "user_1", "title": TITLE}})
    return {{"tool_calls": [{{"id": "c", "type": "function", "function": {{"name": "create_task", "arguments": arguments}}}}]}}
"""
WRONG = "tau: tasks in doubt: 1, in which more trials end in one same other way than pass"


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.exhaustive)], ids=["one", "two"])
@pytest.mark.parametrize("title", ["Buy bread", "Buy milk"])
def test_tasks_in_which_trials_end_in_one_same_other_way_are_named(models, title, workers):
    models.script(ANSWER.format(title=title))
    run = models.run("mock", "--tau-trials", "3", *workers)
    passes = title == "Buy milk"
    run.outcomes(**{"passed" if passes else "failed": 3})
    assert (WRONG in " ".join(run.text.split())) is not passes


def test_an_agent_without_a_model_is_the_same_each_time(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    source = """
    from pytest_tau.testing import ScriptedParticipant, call

    class Agent(ScriptedParticipant):
        def __init__(self):
            super().__init__([call("create_task", user_id="user_1", title="Buy bread"), "Done."])
    """
    project.write("parts.py", "\n".join(line[4:] for line in source.splitlines()))
    run = project.run("mock", "--tau-agent", "parts.py:Agent", "--tau-user", "gold", "--tau-trials", "3")
    run.outcomes(failed=3)
    run.lacks("in doubt")
