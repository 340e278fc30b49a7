"""How far a run can be compared with τ²-bench: from what was run, not from what was asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from trial_records import trial_record

import pytest_tau
from pytest_tau.analysis.comparability import comparability
from pytest_tau.models import RewardInfo
from pytest_tau.runs.record import TrialRecord

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparability.md").read_text(encoding="utf-8")
STANDARD = {
    "protocol": "tau2",
    "texts": "abc",
    "agent": "llm",
    "user": "llm",
    "agent_prompt": "official",
    "user_prompt": "official",
    "models": {
        "agent": {"name": "openai/heron", "args": {"temperature": 1.0}},
        "user": {"name": "openai/gpt-4.1-2025-04-14", "args": {"temperature": 0.0}},
    },
    "data": "official",
    "base": 2,
    "grading": "official",
    "max_steps": 200,
    "max_errors": 10,
}


def record(task="a", trial=0, domain="airline", reason="user_stop", outcome="passed", conditions=None):
    found = STANDARD if conditions is None else conditions
    return trial_record(task, trial, outcome, domain=domain, termination_reason=reason, conditions=found)


def whole(**changes):
    """Records of a whole run, of which some conditions differ."""
    return [record(task, trial, conditions=STANDARD | changes) for task in "ab" for trial in range(4)]


def test_nothing_deviates():
    found = comparability(whole())
    assert (found.kind, found.deviations, found.incomplete) == ("standard", (), ())
    assert found.text == "standard, user model openai/gpt-4.1-2025-04-14"


@pytest.mark.parametrize(
    ("changes", "deviation"),
    [
        ({"protocol": "tau"}, "protocol tau"),
        ({"agent": "mine.py:Agent"}, "agent mine.py:Agent"),
        ({"agent": "llm-solo", "changed": {"solo": "on"}}, "agent llm-solo; solo"),
        ({"user": "scripted"}, "user scripted"),
        ({"agent_prompt": "mine.md"}, "agent's prompt: mine.md"),
        ({"user_prompt": "mine.md"}, "user's prompt: mine.md"),
        ({"data": "bundled"}, "bundled data"),
        ({"policy": "workflow"}, "policy workflow"),
        ({"grading": "strict"}, "grading strict"),
        ({"judge": "accept"}, "judge accept"),
        ({"max_steps": 30}, "max_steps 30"),
        ({"max_errors": 1}, "max_errors 1"),
        ({"models": {"user": {"name": "u", "args": {"temperature": 0.7}}}}, "arguments of the user's model"),
    ],
)
def test_a_deviation_is_named(changes, deviation):
    found = comparability(whole(**changes))
    assert found.kind == "custom"
    assert "; ".join(found.deviations) == deviation


def test_a_deviation_of_some_trials_has_their_number():
    records = [*whole(), record("a", 4, conditions=STANDARD | {"user": "scripted"})]
    assert comparability(records).deviations == ("user scripted in 1 trial",)


def test_different_texts_are_named():
    assert comparability([*whole(), *whole(texts="def")]).deviations == ("different official texts",)


def test_a_time_limit_that_struck_is_named():
    late = whole()[0].model_copy(update={"termination_reason": "timeout", "reward_info": RewardInfo(reward=0.0)})
    assert comparability([late, *whole()[1:]]).deviations == ("the time limit ended 1 trial",)


@pytest.mark.parametrize(
    ("records", "incomplete"),
    [
        (whole()[:4], ["airline: 1 of 2 tasks of the split base"]),
        ([each for each in whole() if each.trial < 3], ["airline: 3 of 4 trials"]),
        ([*whole()[:-1], whole()[-1].model_copy(update={"reward_info": None})], ["airline: 3 of 4 trials"]),
        (
            [*whole(), record("z", conditions={key: value for key, value in STANDARD.items() if key != "base"})],
            ["airline: 1 trial of tasks outside of the split base"],
        ),
    ],
)
def test_what_a_submission_lacks_is_apart(records, incomplete):
    found = comparability(records)
    assert found.kind == "standard"
    assert list(found.incomplete) == incomplete


def test_another_model_of_the_user_is_allowed_and_stated():
    found = comparability(whole(models={"user": {"name": "openai/tern", "args": {}}}))
    assert found.text == "standard, user model openai/tern (reference: gpt-4.1-2025-04-14)"


def test_other_domains_have_no_comparability():
    assert comparability([record(domain="shelf")]) is None
    assert comparability([]) is None


def test_results_of_others_are_unknown():
    found = comparability([trial_record("a", domain="airline")])
    assert found.text == "unknown (the run has not recorded its conditions)"


def test_conditions_are_those_of_the_trial():
    domain = pytest_tau.load_domain("mock")
    task = domain.tasks()[0]
    settings = pytest_tau.SimulationSettings(policy=next(iter(domain.spec.policies)))
    found = pytest_tau.simulate(task, domain=domain, settings=settings).conditions
    assert found == {
        "protocol": "tau",
        "agent": "gold",
        "user": "gold",
        "data": "bundled",
        "base": len(domain.tasks()),
        "grading": "official",
        "max_steps": 200,
        "max_errors": 10,
    }
    changed = task.model_copy(update={"ticket": "another"})
    assert "base" not in pytest_tau.simulate(changed, domain=domain).conditions


def test_a_record_keeps_the_conditions():
    assert TrialRecord.model_validate(record().as_dict()).conditions == STANDARD


#: The rows of the page's table of differences, and the tests that hold them.
ROWS = {
    "descriptions of tools": "test_the_first_requests",
    "descriptions of hidden tools (`banking_knowledge`), which unlocking or giving one shows": (
        "test_unlocking_and_giving_show_the_texts_of_the_checkout"
    ),
    "schemas of tools": "test_the_first_requests_of_agent_and_user",
    "system message of the agent": "test_the_first_requests",
    "system message of a solo agent": "test_a_solo_agent_has_the_ticket_in_its_prompt_and_no_message",
    "system message of `llm-gt`": "test_an_oracle_has_the_plan_in_its_prompt",
    "system message of the user": "test_the_first_requests",
    "description of `done`": "test_a_solo_agent_has_the_ticket_in_its_prompt_and_no_message",
    "tool calls that are sent back": "test_own_messages_are_sent_back_with_the_outer_name_and_without_reasoning",
    "reasoning of the model": "test_own_messages_are_sent_back_with_the_outer_name_and_without_reasoning",
    "prompt of the judge": "test_the_judge_is_asked_once_by_the_official_prompt",
    "when the judge is asked": "test_the_official_judge_is_asked_only_if_the_reward_depends_on_it",
    "answer of the judge": "test_the_judge_is_asked_once_by_the_official_prompt",
    "empty reply of the agent": "test_the_conversation_is_run_again_from_the_initial_state",
    "arguments that are not JSON": "test_arguments_that_are_no_json",
    "empty reply of the user": "test_an_empty_message_of_the_user",
    "unusable answer of the judge": "test_an_answer_of_the_judge",
}


def test_every_row_of_the_page_has_a_test():
    table = PAGE.partition("## What differs between")[2].partition("\n\nThe same in both")[0]
    rows = re.findall(r"^\| ([^|]+?) \| [^|]+ \| [^|]+ \| (yes|no|hardly)", table, re.MULTILINE)
    assert [name for name, _ in rows] == list(ROWS)
    files = ("unit/test_protocol_requests.py", "unit/test_protocol_checkout.py", "parity/test_official_requests.py")
    sources = "".join((ROOT / "tests" / file).read_text(encoding="utf-8") for file in files)
    assert [test for test in ROWS.values() if f"def {test}(" not in sources] == []
