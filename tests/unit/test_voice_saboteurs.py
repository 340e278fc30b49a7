"""On the bundled tasks, each saboteur misses the gate of its metric only, and the agent that speaks well misses none."""

from __future__ import annotations

from typing import Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.capabilities.voice import capability
from pytest_tau.capabilities.voice.bundled import bundled_tasks
from pytest_tau.capabilities.voice.facts import pooled
from pytest_tau.capabilities.voice.participants import SABOTEURS, WellSpoken

#: The most or the least of each metric, over the events of the 20 bundled tasks.
GATES = {
    "response_rate": (0.9, 1.0),
    "response_timing": (0.6, 1.0),
    "yield_rate": (0.8, 1.0),
    "agent_interruption_rate": (0.0, 0.2),
    "selectivity_backchannel": (0.8, 1.0),
    "selectivity_non_directed": (0.4, 1.0),
}


def metrics(agent: Any, seed: int) -> dict[str, Any]:
    settings = SimulationSettings(capabilities=(capability.with_settings(mode="voice", voice_conditions="busy"),))
    found = []
    for name in ("retail", "airline"):
        domain = pytest_tau.load_domain(name)
        tasks = bundled_tasks(name, domain.tasks())
        assert len(tasks) == 10
        for task in tasks:
            trial = pytest_tau.simulate(task, domain=domain, agent=agent, user="scripted", seed=seed, settings=settings)
            found.append(capability.read(trial.facts))
    return pooled(found).metrics


@pytest.mark.parametrize("agent", [WellSpoken, *SABOTEURS.values()])
def test_a_saboteur_misses_the_gate_of_its_metric_only(agent: Any) -> None:
    found = metrics(agent, 300)
    missed = [name for name, (least, most) in GATES.items() if not least <= found[name] <= most]
    assert missed == [name for name, saboteur in SABOTEURS.items() if saboteur is agent], {
        name: found[name] for name in GATES
    }
