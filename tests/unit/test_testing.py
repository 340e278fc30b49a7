from __future__ import annotations

import pytest

from pytest_tau.errors import JudgeError
from pytest_tau.evaluation import Verdict
from pytest_tau.models import ToolCall
from pytest_tau.testing import ScriptedJudge, ScriptedParticipant, call


def test_a_script_is_followed_and_what_it_hears_is_kept() -> None:
    script = ScriptedParticipant(["a", {"content": "b"}, ValueError("c")])
    assert script.respond(1) == "a"
    assert script.respond(2) == {"content": "b"}
    with pytest.raises(ValueError, match="c"):
        script.respond(3)
    with pytest.raises(IndexError, match="the script has ended"):
        script.respond(4)
    assert script.received == [1, 2, 3, 4]
    assert not script.closed
    script.close()
    assert script.closed


def test_a_call_as_a_reply() -> None:
    assert call("look", item_id="lamp") == {"tool_calls": [ToolCall(name="look", arguments={"item_id": "lamp"})]}
    assert call("switch", "user") == {"tool_calls": [ToolCall(name="switch", requestor="user")]}


def test_arguments_of_a_call_may_have_any_name() -> None:
    (made,) = call("rename", name="Light", requestor="nobody", self=1)["tool_calls"]
    assert made == ToolCall(name="rename", arguments={"name": "Light", "requestor": "nobody", "self": 1})


def test_a_judge_by_a_table() -> None:
    judge = ScriptedJudge({"a": True, "b": False})
    assert judge.judge(["b", "a"], []) == [Verdict(False, "scripted"), Verdict(True, "scripted")]
    with pytest.raises(JudgeError, match="no verdict on 'c'"):
        judge.judge(["a", "c"], [])
    assert judge.asked == [["b", "a"], ["a", "c"]]
