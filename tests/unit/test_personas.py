"""Personas of simulated users: their draw, what a model is asked for, what the scripted user says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.analysis.comparability import comparability
from pytest_tau.participants.personas import draw_persona, persona_line, persona_text, without_pleasantries
from pytest_tau.run_settings.types import persona
from pytest_tau.runs.make_record import make_record
from pytest_tau.testing import ScriptedParticipant as Script

from .tiny import task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

MINIMAL = {"verbosity": {"minimal": 1.0}}


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("verbosity=minimal", MINIMAL),
        ('{"verbosity": "minimal"}', MINIMAL),
        ("verbosity=minimal:0.8,standard:0.2", {"verbosity": {"minimal": 0.8, "standard": 0.2}}),
        ('{"verbosity": {"minimal": 0.8, "standard": 0.2}}', {"verbosity": {"minimal": 0.8, "standard": 0.2}}),
        ("verbosity=minimal:1,standard:0", MINIMAL),
        (
            "verbosity=minimal,interrupt_tendency=waits:1,interrupts:3",
            {**MINIMAL, "interrupt_tendency": {"waits": 1.0, "interrupts": 3.0}},
        ),
    ],
)
def test_a_persona_is_read(text: str, weights: Any) -> None:
    assert persona(text) == weights
    assert persona(persona_line(weights)) == weights


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("verbose=minimal", "unknown key 'verbose'"),
        ("verbosity=short", "unknown value of verbosity 'short'"),
        ('{"verbosity": ["minimal"]}', "unknown value of verbosity"),
        ("verbosity=minimal:much", "verbosity=minimal: expected a weight such as 0.8, got 'much'"),
        ("verbosity=minimal:-1", "expected a weight of at least 0"),
        ("verbosity=minimal:nan", "expected a weight of at least 0"),
        ("verbosity=minimal:0", "verbosity: expected a value with a weight above 0"),
        ("minimal", "expected KEY=VALUE"),
        ("{", "expected a JSON object"),
    ],
)
def test_a_persona_that_cannot_be_used_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        persona(text)


def test_the_seed_of_the_trial_draws_the_persona() -> None:
    given = {"verbosity": {"minimal": 0.8, "standard": 0.2}}
    drawn = Counter(draw_persona(given, seed)["verbosity"] for seed in range(1000))
    assert 750 < drawn["minimal"] < 850
    assert [draw_persona(given, 7) for _ in range(3)] == [draw_persona(given, 7)] * 3
    both = {**given, "interrupt_tendency": {"waits": 1.0}}
    assert [draw_persona(both, n)["verbosity"] for n in range(20)] == [
        draw_persona(given, n)["verbosity"] for n in range(20)
    ]


def test_only_some_values_ask_a_model_for_something() -> None:
    assert "pleasantries" in persona_text({"verbosity": "minimal"})
    assert persona_text({"verbosity": "standard", "interrupt_tendency": "interrupts"}) == ""


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Thank you, that was all. ###STOP###", "###STOP###"),
        ("All right, thank you. ###TRANSFER###", "###TRANSFER###"),
        ("Yes, please. My id is 4.", "Yes. My id is 4."),
        ("No, thank you.", "No."),
        ("Red, please, not blue.", "Red, not blue."),
        ("My id is 4.", "My id is 4."),
    ],
)
def test_the_scripted_user_drops_its_pleasantries(text: str, short: str) -> None:
    assert without_pleasantries(text) == short


@pytest.mark.parametrize("name", ["airline", "retail", "telecom"])
def test_the_rule_based_agents_understand_the_scripted_user_with_few_words(name: str) -> None:
    domain = pytest_tau.load_domain(name)
    settings = SimulationSettings(user_persona=MINIMAL)
    tasks = [each for each in domain.tasks() if not each.needs_judge][:8]
    for each in tasks:
        usual, short = (
            pytest_tau.simulate(each, domain=domain, agent="rules", user="scripted", seed=3, settings=found)
            for found in (SimulationSettings(), settings)
        )
        assert (short.reward, short.termination_reason) == (usual.reward, usual.termination_reason)
        said = " ".join(str(message.content) for message in short.messages if message.role == "user")
        assert "thank" not in said.lower()
        assert (short.conditions or {})["persona"] == {"verbosity": "minimal"}
        assert "persona" not in (usual.conditions or {})
        record = make_record(short, each, name)
        assert record.groups["persona"].endswith("minimal")
        found = comparability([record])
        assert found is not None
        assert "persona verbosity=minimal" in found.deviations


# --tau-enforce-protocol


def converse(domain: Domain, agent: Any, user: Any, *, enforced: bool) -> Simulation:
    settings = SimulationSettings(enforce_protocol=enforced)
    return pytest_tau.simulate(task(), domain=domain, agent=Script(agent), user=Script(user), settings=settings)


def test_text_and_calls_in_one_message_are_a_failure_of_the_agent(domain: Domain) -> None:
    both = {"content": "I will look.", "tool_calls": [{"function": {"name": "count", "arguments": "{}"}}]}
    found = converse(domain, [both, "Done"], ["Hi", "###STOP###"], enforced=True)
    assert (found.termination_reason, found.outcome) == ("agent_error", "failed")
    assert "both text and tool calls" in str(found.error)
    assert found.messages[-1].content == "I will look."
    assert found.messages[-1].tool_calls  # type: ignore[union-attr]
    assert (found.conditions or {})["changed"] == {"enforce protocol": "on"}
    assert converse(domain, [both, "Done"], ["Hi", "###STOP###"], enforced=False).termination_reason == "user_stop"


def test_text_and_calls_in_one_message_of_the_user_are_an_error(domain: Domain) -> None:
    both = {"content": "Let me see.", "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]}
    found = converse(domain, ["Done"], [both, "###STOP###"], enforced=True)
    assert (found.termination_reason, found.outcome) == ("user_error", "error")
    assert found.messages[-1].content == "Let me see."
