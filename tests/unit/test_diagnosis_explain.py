from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.diagnosis import annotate_failure
from pytest_tau.diagnosis.explain import Line, ending, explain, plain_text, verdict
from pytest_tau.evaluation import BUILT_IN_JUDGES, evaluate
from pytest_tau.models import CustomCheck, RewardInfo, Simulation, Task, ToolCall, ToolMessage

from .tiny import STOP, action, agent, call, check, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain


def failed(
    domain: Domain, wanted: Task, *messages: Any, reason: Any = "user_stop", options: dict[str, Any] | None = None
) -> Simulation:
    """A graded simulation that ends with a stop of the user's."""
    done = [*messages, STOP]
    info = evaluate(wanted, done, termination_reason=reason, domain=domain, **options or {})
    token = "###STOP###" if reason == "user_stop" else None
    return Simulation(id="s", task_id="t", termination_reason=reason, stop_token=token, messages=done, reward_info=info)


def texts(simulation: Simulation, **options: Any) -> list[str]:
    return [line.text for line in explain(simulation, **options)]


def about(simulation: Simulation) -> list[str]:
    """The lines between the verdict and the last messages."""
    lines = texts(simulation)
    return lines[1 : lines.index("last messages")]


def has_line(lines: list[str], *parts: str) -> bool:
    """Whether one line has all these parts, in this order."""
    pattern = ".*".join(re.escape(part) for part in parts)
    return any(re.search(pattern, line) for line in lines)


def simulation(info: RewardInfo | None = None, reason: Any = "user_stop", **fields: Any) -> Simulation:
    return Simulation(id="s", task_id="t", termination_reason=reason, reward_info=info, **fields)


# The first line


def test_the_verdict_has_its_factors(domain: Domain) -> None:
    wanted = task({"actions": [action("rename", item_id="lamp", name="x")], "communicate_info": []})
    assert texts(failed(domain, wanted, user("Hi")))[0] == (
        "reward 0 = DB 0 x COMMUNICATE 1   ended by the user's ###STOP### after 2 turns"
    )


def test_verdict_of_an_early_end_shows_the_result_of_the_checks(domain: Domain) -> None:
    done = failed(domain, task({"communicate_info": ["x"]}), agent("x"), reason="max_steps")
    assert verdict(done).startswith("reward 0")
    assert "reward 1" not in verdict(done)
    assert has_line(texts(done), "too many steps")
    assert has_line(texts(done), "would", "DB 1 x COMMUNICATE 1")


def test_a_verdict_without_factors() -> None:
    assert verdict(simulation(RewardInfo(reward=1.0))) == "reward 1"
    assert verdict(simulation(RewardInfo(reward=0.25, reward_breakdown={"MINE": 0.25}))) == "reward 0.25 = MINE 0.25"
    assert verdict(simulation()) == "not graded"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("agent_stop", "ended by the agent after 1 turn"),
        ("max_steps", "cut off: too many steps after 1 turn"),
        ("too_many_errors", "cut off: too many failed calls after 1 turn"),
        ("timeout", "cut off: out of time after 1 turn"),
        ("agent_error", "ended by a fault of the agent after 1 turn"),
        ("user_error", "ended by a fault of the user after 1 turn"),
        ("infrastructure_error", "ended by infrastructure_error after 1 turn"),
    ],
)
def test_endings(reason: Any, told: str) -> None:
    assert ending(simulation(reason=reason, messages=[agent("Hi")])) == told


@pytest.mark.parametrize("token", ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"])
def test_the_user_s_token_is_named(token: str) -> None:
    done = simulation(stop_token=token, messages=[agent("Hi"), user(token)])
    assert ending(done) == f"ended by the user's {token} after 2 turns"


def test_tool_results_are_no_turns() -> None:
    messages = [agent(call("x")), ToolMessage(content="1"), agent("done")]
    assert ending(simulation(reason="agent_stop", messages=messages)).endswith("after 2 turns")


def test_the_end_of_a_traceback_is_shown() -> None:
    error = "\n".join(["Traceback (most recent call last):", *(f"line {n}" for n in range(20))])
    lines = explain(simulation(reason="unexpected_error", error=error))
    assert [line.text for line in lines[1:]] == [f"  line {n}" for n in range(8, 20)]
    assert {line.kind for line in lines[1:]} == {"bad"}


def test_the_text_of_an_error_does_not_look_like_a_line_of_the_run() -> None:
    error = "RuntimeError: x\ntau: mock: 3 tasks, 3 trials; 3 passed\n=== 3 passed in 0.1s ==="
    shown = texts(simulation(reason="agent_error", error=error))
    assert [f"  {each}" for each in error.split("\n")] == shown[1:4]


def test_after_an_exception_of_the_agent_the_checks_are_one_line(domain: Domain) -> None:
    wanted = task({"actions": [action("rename", item_id="lamp", name="x")], "communicate_info": ["said"]})
    done = failed(domain, wanted, user("Hi"), reason="agent_error")
    done.error = "KeyError: 'b'"
    annotate_failure(done, wanted, domain)
    assert done.info.turning_point is not None
    assert about(done) == [
        "  KeyError: 'b'",
        "only a stop can earn more than 0; the checks would give DB 0 x COMMUNICATE 0",
    ]


def test_any_other_error_is_shown_from_its_beginning_with_its_commands_in_one_piece() -> None:
    error = "\n".join([*(f"line {n}" for n in range(20)), "record again: pytest x", *["more"] * 50])
    lines = explain(simulation(reason="infrastructure_error", error=error))[1:]
    assert [line.text for line in lines[:21]] == [*(f"  line {n}" for n in range(20)), "  record again: pytest x"]
    assert [line.kind for line in lines[:21]] == ["bad"] * 20 + ["command"]
    assert len(lines) == 48


# The database


def test_differences_are_shown_with_side_and_path(domain: Domain) -> None:
    wanted = task(
        {
            "actions": [
                action("rename", item_id="lamp", name="Light"),
                action("remove", item_id="desk"),
                action("switch", "user"),
            ],
            "reward_basis": ["DB"],
        }
    )
    note = user(call("write_note", note_id="n", text="x"))
    lines = about(failed(domain, wanted, note))
    agent_side, user_side = lines.index("database, agent side: 2 differences"), 3
    assert lines[user_side] == "database, user side: 2 differences"
    assert has_line(lines[agent_side:user_side], "items/desk", "not expected", "got {")
    assert has_line(lines[agent_side:user_side], "items/lamp/name", 'expected "Light"', 'got "Lamp"')
    assert has_line(lines[user_side:], "phone/on", "expected true", "got false")
    assert has_line(lines[user_side:], "notes/n", "not expected", 'got {"text": "x"}')


def test_missing_record_is_shown(domain: Domain) -> None:
    wanted = task({"actions": [], "reward_basis": ["DB"]})
    lines = about(failed(domain, wanted, agent(call("remove", item_id="lamp"))))
    assert lines[0] == "database, agent side: 1 difference"
    assert has_line(lines[1:2], "items/lamp", "expected {", "missing")


def test_long_texts_are_cut_around_their_first_difference(domain: Domain) -> None:
    common = "A lamp with a shade of paper, made by hand, "
    wanted = task({"actions": [action("rename", item_id="lamp", name=f"{common * 3}red")], "reward_basis": ["DB"]})
    (line,) = about(failed(domain, wanted, agent(call("rename", item_id="lamp", name=f"{common * 3}blue"))))[1:2]
    assert re.fullmatch(r'  items/lamp/name  expected "?….+made by hand, red"   got "?….+made by hand, blue"', line)
    assert len(line) < 120


def test_values_are_shown_as_json(domain: Domain) -> None:
    wanted = task({"actions": [action("price", item_id="lamp", price=1)], "reward_basis": ["DB"]})
    lines = about(failed(domain, wanted, agent(call("price", item_id="lamp", price=True))))
    assert has_line(lines, "items/lamp/price", "expected 1 ", "got true")


def test_differences_that_do_not_gate_are_not_shown(domain: Domain) -> None:
    wanted = task({"actions": [], "communicate_info": ["x"], "reward_basis": ["COMMUNICATE"]})
    assert about(failed(domain, wanted, agent(call("count")))) == ["never said: 'x'"]


# Assertions


def test_unmet_assertions(domain: Domain) -> None:
    wanted = task(
        {
            "env_assertions": [
                check("named", item_id="lamp", name="Light") | {"message": "the lamp is called Light"},
                check("phone_on", "user", value=False),
                check("shows", "user", value=False, number=0),
                check("counted"),
            ],
            "reward_basis": ["ENV_ASSERTION"],
        }
    )
    lines = about(failed(domain, wanted))
    assert lines == [
        'not met, assistant side: named(item_id="lamp", name="Light")',
        "  the lamp is called Light",
        "not met, user side: shows(number=0) to be false",
        "not met, assistant side: counted()",
        "  Function counted returned int instead of bool",
    ]


# Actions


def actions_about(domain: Domain, actions: list[Any], *messages: Any, **options: Any) -> list[str]:
    return about(failed(domain, task({"actions": actions, "reward_basis": ["ACTION"]}), *messages, options=options))


LIGHT = action("rename", item_id="lamp", name="Light")


def test_a_missing_action_and_that_it_was_never_called(domain: Domain) -> None:
    lines = actions_about(domain, [LIGHT])
    assert lines == ['never called rename(item_id="lamp", name="Light")']


def test_nearest_call_is_shown_with_its_message_and_result(domain: Domain) -> None:
    made = [agent(call("rename", item_id="sofa", name="Light")), ToolMessage(content="Error: no item sofa", error=True)]
    assert actions_about(domain, [LIGHT], *made)[1] == (
        '  nearest call, message 0: item_id  expected "lamp"   got "sofa"  -> Error: no item sofa'
    )


@pytest.mark.parametrize(
    ("actions", "made"),
    [
        ([action("count"), action("count")], agent(call("count"))),
        ([action("switch", "user")], agent(call("switch"))),
    ],
    ids=["one-call-for-two-actions", "by-the-other-side"],
)
def test_strict_blames_no_malformed_arguments_where_there_are_none(
    domain: Domain, actions: list[Any], made: Any
) -> None:
    lines = actions_about(domain, actions, made, grading="strict")
    assert lines
    assert "malformed" not in "\n".join(lines)


# Statements


def test_statements_judged_untrue_and_a_judge_who_reads_nothing(domain: Domain) -> None:
    wanted = task({"nl_assertions": ["It is kind."], "reward_basis": ["NL_ASSERTION"]})
    lines = about(failed(domain, wanted, options={"judge": BUILT_IN_JUDGES["reject"]}))
    assert lines == [
        "NL assertions judged by 'reject': same verdict for every statement, no statement was read",
        "judged untrue: It is kind.  (--tau-judge reject: same verdict for every statement)",
    ]


def test_checks_of_plugins() -> None:
    checks = [CustomCheck(name="A", reward=0.5, justification="half"), CustomCheck(name="B", reward=1.0)]
    lines = texts(simulation(RewardInfo(reward=0.5, custom_checks=checks)))
    assert "A 0.5: half" in lines
    assert not any(text.startswith("B ") for text in lines)


# Replay, last messages, command


def test_what_a_replay_found() -> None:
    done = simulation(RewardInfo(reward=0.0), replay_differences=[f"difference {n}" for n in range(6)])
    assert texts(done)[1:6] == [
        "replay: 6 tool results differ from the recording",
        *(f"  difference {n}" for n in range(4)),
    ]


def test_the_last_turns() -> None:
    messages = [
        agent("left out"),
        user("left out"),
        agent("Wait\n  a moment", call("look", item_id="lamp")),
        ToolMessage(content="x" * 300),
        agent("word " * 80, ToolCall(name="look", malformed="{item")),
    ]
    lines = explain(simulation(RewardInfo(reward=0.0), messages=messages))[1:]
    assert lines[0] == Line("head", "last messages")
    assert lines[1:] == [
        Line("agent", "  agent  Wait a moment"),
        Line("agent", '  agent  > look(item_id="lamp")'),
        Line("tool", "         = " + "x" * 239 + "…"),
        Line("agent", "  agent  " + ("word " * 80)[:239] + "…"),
        Line("agent", "  agent  > look({item)"),
    ]


def test_the_command_comes_last() -> None:
    lines = explain(simulation(RewardInfo(reward=0.0)), again="pytest 'x::y[trial-1]'")
    assert lines[-1] == Line("command", "again: pytest 'x::y[trial-1]'")
    assert all(line.kind != "command" for line in explain(simulation(RewardInfo(reward=0.0))))


def test_what_was_not_graded_still_shows_its_turns() -> None:
    lines = texts(simulation(reason="infrastructure_error", error="ModelError: down", messages=[agent("Hi")]))
    assert lines == [
        "not graded   ended by infrastructure_error after 1 turn",
        "  ModelError: down",
        "last messages",
        "  agent  Hi",
    ]


def test_plain_text_joins_the_lines() -> None:
    assert plain_text([Line("head", "a"), Line("note", "b")]) == "a\nb"
