"""Every ending of a conversation has a reason of its own, also one that has just been added."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from pytest_tau.diagnosis.attribution import attribute
from pytest_tau.diagnosis.explain import ending, explain
from pytest_tau.evaluation import evaluate
from pytest_tau.models import FAULTS, STOPS, Simulation, TerminationReason

from .tiny import action, agent, make, task, user

#: The endings that are neither a stop nor known, as one that a limit of a capability adds.
ADDED = "too_many_calls"
REASONS = get_args(TerminationReason)
#: What a scripted conversation has left undone: the reason that no ending may have.
UNDONE = task({"actions": [action("rename", item_id="lamp", name="L")], "reward_basis": ["DB"]})
MESSAGES = (user("Hi"), agent("Bye."))


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return make(tmp_path_factory.mktemp("domain"))


def failed(domain: Any, reason: str) -> Simulation:
    """A conversation that nobody has done anything in, and its ending."""
    info = evaluate(UNDONE, MESSAGES, termination_reason="max_steps", domain=domain)
    simulation = Simulation(
        id="s",
        task_id="t",
        termination_reason="max_steps",
        messages=list(MESSAGES),
        reward_info=None if reason in FAULTS else info,
    )
    return simulation.model_copy(update={"termination_reason": reason})


def test_a_failure_by_its_ending_has_a_reason_of_its_own(domain: Any) -> None:
    blames = {reason: attribute(failed(domain, reason), None) for reason in (*REASONS, ADDED) if reason not in STOPS}
    reasons = {name: blame and f"{blame.party} {blame.reason}" for name, blame in blames.items()}
    left_undone = attribute(failed(domain, "user_stop"), None)
    assert left_undone is not None
    assert len({*reasons.values(), f"agent {left_undone.reason}"}) == len(reasons) + 1, reasons
    assert reasons[ADDED] == "agent it was cut off: too many calls"


def test_a_report_states_each_ending_in_words_of_its_own(domain: Any) -> None:
    simulations = {reason: failed(domain, reason) for reason in (*REASONS, ADDED)}
    endings = {reason: ending(simulation) for reason, simulation in simulations.items()}
    assert len({*endings.values()}) == len(endings), endings
    for reason, simulation in simulations.items():
        assert any(endings[reason] in line.text for line in explain(simulation)), reason
