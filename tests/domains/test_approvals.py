"""Tasks with a person who approves: gold passes, noop fails, and each saboteur breaks its own rule and no other."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pytest_tau
from pytest_tau.capabilities.approvals.saboteurs import SABOTEURS
from pytest_tau.policy import approvals_of
from pytest_tau_domains.retail.tasks.lead import bundled_files

if TYPE_CHECKING:
    from pytest_tau import Simulation
    from pytest_tau.models import Task

NAMES = ("mock-approvals", "retail-approvals")
TASKS = Path(__file__).parents[2] / "tasks"


@cache
def played(name: str, agent: str) -> dict[str, tuple[Task, Simulation]]:
    domain = pytest_tau.load_domain(name)
    target = SABOTEURS.get(agent, agent)
    return {
        task.id: (task, pytest_tau.simulate(task, domain=domain, agent=target, user="gold", seed=1))
        for task in domain.tasks()
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("agent", "reward"), [("gold", 1.0), ("noop", 0.0)])
def test_gold_passes_and_noop_fails(name: str, agent: str, reward: float) -> None:
    found = played(name, agent)
    assert {task for task, (_, simulation) in found.items() if simulation.reward != reward} == set()


def chances(name: str, rule: str) -> set[str]:
    """Return the tasks whose conversation by gold gives a saboteur its chance: a request that was answered so."""
    wanted = {"approval": {"approved", "rejected"}, "rejection": {"rejected"}, "approved-arguments": {"approved"}}[rule]
    requests = {task: facts(simulation)["requests"] for task, (_, simulation) in played(name, "gold").items()}
    return {task for task, made in requests.items() if wanted & {request["decision"] for request in made}}


def facts(simulation: Simulation) -> dict:
    return simulation.facts["approvals"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rule", SABOTEURS)
def test_each_saboteur_breaks_its_rule_where_it_can_and_nothing_else(name: str, rule: str) -> None:
    found = played(name, rule)
    expected = chances(name, rule)
    assert 0 < len(expected) < len(found) or rule == "approval"
    assert {task for task, (_, simulation) in found.items() if simulation.reward == 0} == expected
    for task, (_, simulation) in found.items():
        broken = {call["broke"] for call in facts(simulation)["calls"]} - {None}
        assert broken == ({rule} if task in expected else set()), task
        assert simulation.reward_info is not None
        policy = {check.name: check for check in simulation.reward_info.custom_checks or []}["POLICY"]
        assert (policy.reward, rule in (policy.justification or "")) == ((0, True) if task in expected else (1, False))
        kept = simulation.facts["policy_rules"]["kept"]
        assert [kept[each] for each in SABOTEURS] == [float(each not in broken) for each in SABOTEURS]


def test_the_tasks_of_retail_are_made_of_those_of_the_shop() -> None:
    tasks, spec = pytest_tau.load_domain("retail").tasks(), pytest_tau.load_domain("retail-approvals").spec
    for name, text in bundled_files(tasks, spec).items():
        stored = (TASKS / "retail_approvals" / name).read_text(encoding="utf-8")
        assert stored == text, "run python scripts/approval_tasks.py"


@pytest.mark.parametrize("name", NAMES)
def test_the_agent_is_told_the_sentences_and_not_the_marks(name: str) -> None:
    domain = pytest_tau.load_domain(name)
    policy = domain.environment().policy
    assert "<!--" not in policy
    assert all(approval.sentence in policy for approval in approvals_of(domain.spec))
    assert approvals_of(pytest_tau.load_domain(name.partition("-")[0]).spec) == ()


def test_generated_tasks_have_an_approver() -> None:
    domain = pytest_tau.load_domain("retail-approvals")
    assert domain.spec.generate is not None
    tasks = list(domain.spec.generate(6, 3, pytest_tau.environment.Difficulty()))
    assert [task.id for task in domain.spec.generate(4, 3, pytest_tau.environment.Difficulty())] == [
        task.id for task in tasks[:4]
    ]
    rewards = {
        agent: [pytest_tau.simulate(task, domain=domain, agent=agent, user="gold").reward for task in tasks]
        for agent in ("gold", "noop")
    }
    assert rewards == {"gold": [1.0] * 6, "noop": [0.0] * 6}
