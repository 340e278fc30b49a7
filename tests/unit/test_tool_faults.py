"""Tools that fail on purpose: the rules, what the agent sees, and what grading replays."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.analysis.comparability import comparability
from pytest_tau.capabilities.tool_faults import ToolFaultSettings, capability
from pytest_tau.capabilities.tool_faults.rules import ToolFaults, check_rules, parse_rule, shortened
from pytest_tau.capability.views import RunView, TrialView
from pytest_tau.diagnosis import explain, plain_text
from pytest_tau.evaluation import evaluate
from pytest_tau.models import ToolCall, ToolMessage
from pytest_tau.regrade.replay_diff import replay
from pytest_tau.reports.html.environment_changes import state_history
from pytest_tau.runs.make_record import make_record
from pytest_tau.runs.record import TrialRecord
from pytest_tau.testing import ScriptedParticipant as Script, call

from .tiny import action, task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})
RENAME = call("rename", item_id="lamp", name="Light")
LOOK = call("look", item_id="lamp")


def settings_with(*rules: str, **options: Any) -> SimulationSettings:
    faults = capability.with_settings(tool_faults=tuple(map(parse_rule, rules)))
    return SimulationSettings(capabilities=(faults,) if rules else (), **options)


def faults_of(domain: Domain, rule: str, seed: int = 7) -> ToolFaults:
    settings = ToolFaultSettings(tool_faults=(parse_rule(rule),))
    return ToolFaults(TrialView(WANTED, domain, domain.environment(WANTED), seed, settings))


def draw(faults: ToolFaults, made: ToolCall) -> str | None:
    """Return the kind of fault of a call; none of them is a delay."""
    asyncio.run(faults.call(made))
    return faults._kind


def talk(domain: Domain, replies: list[Any], *rules: str, **options: Any) -> Simulation:
    settings = settings_with(*rules, **options)
    user = Script(["Hi", "###STOP###"])
    return pytest_tau.simulate(WANTED, domain=domain, agent=Script([*replies, "Done"]), user=user, settings=settings)


def results(found: Simulation) -> list[Any]:
    return [made.result for made in found.calls]


@pytest.mark.parametrize(
    ("text", "requestor", "pattern", "rates", "delay"),
    [
        ("get_*:0.1", "assistant", "get_*", {"error": 0.1}, 1.0),
        ("get_*:0.1,timeout=0.02", "assistant", "get_*", {"error": 0.1, "timeout": 0.02}, 1.0),
        (" * : stale = 0.5 , partial = 0.5 ", "assistant", "*", {"stale": 0.5, "partial": 0.5}, 1.0),
        ("a:delay=0.2@3", "assistant", "a", {"delay": 0.2}, 3.0),
        ("a:delay=1", "assistant", "a", {"delay": 1.0}, 1.0),
        ("a:b:1", "assistant", "a:b", {"error": 1.0}, 1.0),
        ("user:toggle_*:0.1", "user", "toggle_*", {"error": 0.1}, 1.0),
    ],
)
def test_a_rule_is_read(text: str, requestor: str, pattern: str, rates: dict[str, float], delay: float) -> None:
    rule = parse_rule(text)
    assert (rule.requestor, rule.pattern, rule.rates, rule.delay) == (requestor, pattern, rates, delay)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("get_*", "expected PATTERN:RATE"),
        (":0.1", "expected PATTERN:RATE"),
        ("user::0.1", "expected PATTERN:RATE"),
        ("a:", "expected PATTERN:RATE"),
        ("a:much", "expected a rate from 0 to 1, got 'much'"),
        ("a:1.5", "expected a rate from 0 to 1, got '1.5'"),
        ("a:nan", "expected a rate from 0 to 1, got 'nan'"),
        ("a:slow=0.1", "unknown kind 'slow'"),
        ("a:0.1,error=0.1", "error is given twice"),
        ("a:0.6,stale=0.6", "the rates add up to 1.2"),
        ("a:delay=0.1@never", "expected seconds from 0 to 600, got 'delay@never'"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("*", r"\*")):
        parse_rule(text)


def test_a_rule_must_be_about_a_tool_of_its_side() -> None:
    run = RunView([("assistant", "look"), ("user", "toggle")], "gold", "gold", solo=False)
    check_rules(ToolFaultSettings((parse_rule("l*:0.1"), parse_rule("user:*:0.1"))), run)
    with pytest.raises(ValueError, match="unknown tool of the agent 'toggle'"):
        check_rules(ToolFaultSettings((parse_rule("toggle:0.1"),)), run)
    with pytest.raises(ValueError, match="the user has no tools"):
        check_rules(ToolFaultSettings((parse_rule("user:*:0.1"),)), run._replace(tools=run.tools[:1]))


@pytest.mark.parametrize(("kind", "said"), [("error", "unavailable"), ("timeout", "timed out")])
def test_a_call_that_fails_changes_nothing(domain: Domain, kind: str, said: str) -> None:
    found = talk(domain, [RENAME], f"rename:{kind}=1")
    (result,) = results(found)
    assert (result.error, result.fault, result.executed) == (True, kind, False)
    assert said in result.content
    assert found.reward == 0.0  # the grader does not make the call either
    assert [each.path for each in (found.reward_info.db_diff or [])] == ["items/lamp/name"]  # type: ignore[union-attr]
    again = evaluate(WANTED, found.messages, domain=domain)
    assert again.reward == 0.0
    assert replay(found, domain.environment(WANTED)) == []
    assert found.info.outside_changes is None
    history = state_history(found, WANTED, domain)
    assert (history.changes, history.note) == ({}, None)


def test_without_the_fault_the_same_conversation_passes(domain: Domain) -> None:
    assert talk(domain, [RENAME]).reward == 1.0
    found = talk(domain, [RENAME], "rename:0")
    assert (found.reward, found.facts["tool_faults"]["faults"]) == (1.0, [])


def test_an_agent_that_tries_again_passes(domain: Domain) -> None:
    # The first two calls of the tool by this seed: one that fails, one that does not.
    made = talk(domain, [RENAME]).calls[0].call
    trials = [faults_of(domain, "rename:0.5", seed) for seed in range(50)]
    seed = [[draw(faults, made), draw(faults, made)] for faults in trials].index(["error", None])
    settings = settings_with("rename:0.5")
    agent, user = Script([RENAME, RENAME, "Done"]), Script(["Hi", "###STOP###"])
    found = pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=user, seed=seed, settings=settings)
    assert [result.fault for result in results(found)] == ["error", None]
    assert found.reward == 1.0
    assert found.facts["tool_faults"] == {
        "rules": ["rename:0.5"],
        "calls": 2,
        "count": 1,
        "faults": [{"message_idx": 2, "tool": "rename", "requestor": "assistant", "kind": "error"}],
    }


def test_other_tools_do_not_change_the_draws_of_a_tool(domain: Domain) -> None:
    calls = {each.call.name: each.call for each in talk(domain, [RENAME, LOOK]).calls}
    alone, mixed = faults_of(domain, "*:0.5"), faults_of(domain, "*:0.5")
    expected = [draw(alone, calls["rename"]) for _ in range(20)]
    found = []
    for _ in range(20):
        draw(mixed, calls["look"])
        found.append(draw(mixed, calls["rename"]))
    assert found == expected
    assert {None, "error"} == set(expected)


def test_a_stale_result_is_the_first_of_the_same_read(domain: Domain) -> None:
    found = talk(domain, [LOOK, RENAME, LOOK], "look:stale=1")
    first, _, second = results(found)
    assert first.fault is None
    assert second.fault == "stale"
    assert second.content == first.content
    assert found.reward == 1.0
    assert replay(found, domain.environment(WANTED)) == []


def test_a_partial_result_of_a_write_is_not_a_difference_of_the_replay(domain: Domain) -> None:
    found = talk(domain, [RENAME], "rename:partial=1")
    (result,) = results(found)
    assert (result.fault, result.executed, result.error) == ("partial", True, False)
    assert "price" not in result.content
    assert found.reward == 1.0
    assert replay(found, domain.environment(WANTED)) == []
    assert domain.environment(WANTED).replay(found.messages) == []
    assert state_history(found, WANTED, domain).note is None


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("[1, 2, 3, 4, 5, 6]", "[1, 2, 3]"),
        ("[1, 2, 3]", "[1]"),
        ('{"a": 1, "b": 2}', '{"a": 1}'),
        ("text", "text"),
        ("[]", "[]"),
        ('"text"', '"text"'),
    ],
)
def test_lists_and_records_are_cut_short(text: str, short: str) -> None:
    assert shortened(text) == short


def test_a_delayed_result_is_the_result(domain: Domain) -> None:
    found = talk(domain, [RENAME], "rename:delay=1@0.05")
    (result,) = results(found)
    assert (result.fault, result.error, found.reward) == ("delay", False, 1.0)
    assert found.duration >= 0.05


def test_faults_do_not_count_to_the_limit_of_errors(domain: Domain) -> None:
    from pytest_tau.orchestrator import Limits

    found = talk(domain, [LOOK] * 4, "look:1", limits=Limits(max_errors=2))
    assert found.termination_reason == "user_stop"
    assert sum(result.error for result in results(found)) == 4


def test_the_agent_does_not_see_that_it_was_a_fault(domain: Domain) -> None:
    agent = Script([LOOK, "Done"])
    settings = settings_with("look:1")
    user = Script(["Hi", "###STOP###"])
    pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=user, settings=settings)
    (result,) = [message for message in agent.received if message.role == "tool"]
    assert result.error
    assert result.fault is None


def test_malformed_and_unknown_calls_meet_no_fault(domain: Domain) -> None:
    unknown = call("nothing")
    found = talk(domain, [unknown], "*:1")
    assert [result.fault for result in results(found)] == [None]


def test_tools_of_the_user_fail_only_if_they_are_named(domain: Domain) -> None:
    settings = [settings_with(text) for text in ("*:1", "user:*:1")]
    for each, expected in zip(settings, (None, "error"), strict=True):
        user = Script([call("switch"), "Hi", "###STOP###"])
        found = pytest_tau.simulate(WANTED, domain=domain, agent=Script(["Done"]), user=user, settings=each)
        assert [result.fault for result in results(found)] == [expected]


def test_such_a_trial_is_not_comparable_and_says_so(domain: Domain) -> None:
    found = talk(domain, [RENAME], "rename:1", "look:0.1")
    record = make_record(found, WANTED, "mock")
    assert record.facts["tool_faults"]["count"] == 1
    assert TrialRecord.model_validate(record.as_dict()) == record
    compared = comparability([record])
    assert compared is not None
    assert compared.kind == "custom"
    assert "tool faults rename:1 look:0.1" in compared.deviations
    assert "tool faults: message 2 rename (error)" in plain_text(explain(found))


def test_a_trial_in_which_none_struck_is_known_to_be_one_with_faults(domain: Domain) -> None:
    record = make_record(talk(domain, [RENAME], "look:0.5"), WANTED, "mock")
    assert record.facts["tool_faults"]["count"] == 0
    assert TrialRecord.model_validate(record.as_dict()) == record
    assert make_record(talk(domain, [RENAME]), WANTED, "mock").facts == {}


def test_a_stale_result_is_that_of_the_same_arguments_in_any_order(domain: Domain) -> None:
    faults = faults_of(domain, "*:stale=1")
    one = ToolCall(name="look", arguments={"item_id": "lamp", "deep": 1})
    same = ToolCall(name="look", arguments={"deep": 1, "item_id": "lamp"})
    draw(faults, one)
    asyncio.run(faults.result(one, ToolMessage(id="1", content="old")))
    assert asyncio.run(faults.result(same, ToolMessage(id="2", content="new"))).content == "old"


def test_an_error_stays_an_error(domain: Domain) -> None:
    faults = faults_of(domain, "*:partial=1")
    failed = ToolMessage(id="1", content="[1, 2]", error=True)
    look = ToolCall(name="look", arguments={})
    assert draw(faults, look) == "partial"
    assert asyncio.run(faults.result(look, failed)) is failed


def test_the_draws_of_a_seed_are_the_same_in_every_version(domain: Domain) -> None:
    faults = faults_of(domain, "rename:0.3,timeout=0.3")
    faults._seed = "7"
    made = talk(domain, [RENAME]).calls[0].call
    assert [draw(faults, made) for _ in range(8)] == [
        "error",
        "error",
        "timeout",
        "error",
        None,
        None,
        "timeout",
        "timeout",
    ]
