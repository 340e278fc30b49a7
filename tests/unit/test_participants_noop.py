from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pytest_tau
from pytest_tau.errors import ParticipantError
from pytest_tau.participants import ParticipantContext
from pytest_tau.participants.agents import DummyUser

from .tiny import action, agent, run, task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

WANTED = task({"actions": [action("count")], "reward_basis": ["ACTION"]})


def test_a_noop_agent_ends_at_its_first_message(domain: Domain) -> None:
    simulation = pytest_tau.simulate(WANTED, domain=domain, agent="noop")
    assert (simulation.termination_reason, simulation.reward) == ("agent_stop", 0.0)
    assert [message.content for message in simulation.messages] == [
        "Hi! How can I help you today?",
        "I want something.",
        "Goodbye.",
    ]
    assert simulation.calls == []


def test_a_noop_user_stops_at_once(domain: Domain) -> None:
    simulation = pytest_tau.simulate(WANTED, domain=domain, agent="gold", user="noop")
    assert (simulation.termination_reason, simulation.reward) == ("user_stop", 0.0)
    assert [message.content for message in simulation.messages][1:] == ["###STOP###"]


def test_a_dummy_user_is_never_asked(domain: Domain) -> None:
    with pytest.raises(ParticipantError, match="no user in solo mode"):
        run(DummyUser(ParticipantContext("user", [], "", WANTED)).respond(agent("Hi")))
    simulation = pytest_tau.simulate(WANTED, domain=domain, agent="gold", user="dummy")
    assert simulation.termination_reason == "user_error"
    assert simulation.outcome == "error"
