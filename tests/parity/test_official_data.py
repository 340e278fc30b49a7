"""The official data: fixtures, splits, and every task played through."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import Evaluation, SimulationSettings
from pytest_tau.documents import read_json
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.evaluation import BUILT_IN_JUDGES

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation, Task

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]


@pytest.fixture(scope="module")
def mock(official_data: Path) -> Domain:
    return pytest_tau.load_domain("mock", data_dir=official_data)


@pytest.fixture(scope="module")
def telecom(official_data: Path) -> Domain:
    return pytest_tau.load_domain("telecom", data_dir=official_data)


def test_no_object_of_the_official_files_has_a_key_twice(official_data: Path) -> None:
    """So that databases of ``--tau-data`` need not be searched for one."""
    files = list(official_data.rglob("*.json"))
    assert files
    for file in files:
        read_json(file, unique_keys=True)


def digests(environment: Any) -> tuple[str, str]:
    return environment.agent_db.digest(), environment.user_db.digest()


# Fixtures

#: Source: specification of mock, section 1.
MOCK = (
    "107f83a70b7bf4f616e283b0b0b8451346fe7681173398d4498a1ec15c5fdfc6",
    "4cf3d22eed6962ba202c8738421d8a2286d2b5a0cad1372922c928be09ccbfac",
)
#: Source: specification of telecom, section 1.2.
TELECOM = (
    "304cf5ef059852e117ea801ab9a5efc24c9713ec887679dc2e30acceb4b6742d",
    "e1f3a8637388808221228ff3f87294444e6b64caf721f5eb243a85d0a9380b28",
)


def test_fixtures_have_the_reference_s_digests(mock: Domain, telecom: Domain) -> None:
    assert digests(mock.environment()) == MOCK
    assert digests(telecom.environment()) == TELECOM


def test_a_dump_has_the_shape_of_the_database_files(mock: Domain, official_data: Path) -> None:
    for side, file in (("agent", "db.json"), ("user", "user_db.json")):
        on_disk = json.loads((official_data / "domains" / "mock" / file).read_text(encoding="utf-8"))
        assert mock.environment().dump()[side] == on_disk


#: Source: specification of mock, section 7: the first digits of the agent side's digest after the gold actions.
GOLD = {
    "create_task_1": "3b82583d",
    "create_task_1_with_env_assertions": "3b82583d",
    "update_task_1": "b1f6b697",
    "update_task_with_user_tools": "b1f6b697",
    "update_task_with_message_history": "4d510724",
    "update_task_with_initialization_actions": "4d510724",
    "update_task_with_initialization_data": "4d510724",
    "update_task_with_history_and_env_assertions": "7229fa1c",
    "create_task_1_nl_eval": MOCK[0][:8],
    "impossible_task_1": MOCK[0][:8],
}


def test_gold_actions_of_mock_end_where_the_reference_s_do(mock: Domain) -> None:
    tasks = {task.id: task for task in mock.tasks(None)}
    assert {name: reference_environment(mock, task).agent_db.digest()[:8] for name, task in tasks.items()} == GOLD
    for name, task in tasks.items():
        user_db = reference_environment(mock, task).user_db
        assert user_db is not None
        shared = name == "update_task_with_initialization_data"
        assert user_db.digest()[:8] == ("4d510724" if shared else MOCK[1][:8])


# Tasks


@pytest.mark.parametrize(
    ("name", "sizes", "everything"),
    [
        ("mock", {"base": 10}, 10),
        ("telecom", {"base": 114, "small": 20, "train": 74, "test": 40}, 2285),
    ],
)
def test_splits_have_the_reference_s_sizes(
    official_data: Path, name: str, sizes: dict[str, int], everything: int
) -> None:
    domain = pytest_tau.load_domain(name, data_dir=official_data)
    assert {split: len(domain.tasks(split)) for split in sizes} == sizes
    assert len(domain.tasks(None)) == everything
    if "full" in domain.splits:
        assert len(domain.tasks("full")) == everything


def test_rewards_are_made_of_what_the_reference_s_are_made_of(mock: Domain, telecom: Domain) -> None:
    """Source: specification, section 1.3."""

    def bases(tasks: list[Task]) -> dict[tuple[str, ...], int]:
        return dict(Counter(tuple(sorted(task.criteria.reward_basis)) for task in tasks))

    assert bases(mock.tasks(None)) == {
        ("COMMUNICATE", "DB"): 6,
        ("DB", "ENV_ASSERTION"): 1,
        ("ENV_ASSERTION",): 1,
        ("ACTION", "DB", "ENV_ASSERTION"): 1,
        ("ACTION", "DB"): 1,
    }
    assert bases(telecom.tasks()) == {("ENV_ASSERTION",): 94, ("ACTION", "ENV_ASSERTION"): 20}
    assert bases(telecom.tasks(None)) == {("ENV_ASSERTION",): 2253, ("ACTION", "ENV_ASSERTION"): 32}


# Conversations


def play(
    domain: Domain, tasks: list[Task], settings: SimulationSettings | None = None, **options: Any
) -> list[Simulation]:
    """Every task once, on one event loop. Participants without a model need no threads."""
    settings = settings or SimulationSettings(limits=pytest_tau.Limits())

    async def everything() -> list[Simulation]:
        return [await pytest_tau.asimulate(task, domain=domain, settings=settings, **options) for task in tasks]

    return asyncio.run(everything())


def wrong(simulations: list[Simulation], reward: float, reason: str) -> list[str]:
    return [
        f"{done.task_id}: reward {done.reward}, {done.termination_reason} {done.error or ''}"
        for done in simulations
        if (done.reward, done.termination_reason) != (reward, reason)
    ]


def test_gold_passes_every_telecom_task(telecom: Domain) -> None:
    simulations = play(telecom, telecom.tasks(None), agent="gold")
    assert len(simulations) == 2285
    assert not wrong(simulations, 1.0, "user_stop")
    assert {done.outcome for done in simulations} == {"passed"}


def test_noop_fails_every_telecom_task_and_breaks_none(telecom: Domain) -> None:
    simulations = play(telecom, telecom.tasks(None), agent="noop")
    assert len(simulations) == 2285
    assert not wrong(simulations, 0.0, "agent_stop")
    assert {done.outcome for done in simulations} == {"failed"}


def test_gold_passes_telecom_alone(telecom: Domain) -> None:
    """Source: specification, section 1.3: all 114 have a ticket."""
    solo = SimulationSettings(limits=pytest_tau.Limits(), solo=True)
    simulations = play(telecom, telecom.tasks(), solo, agent="gold")
    assert len(simulations) == 114
    assert not wrong(simulations, 1.0, "agent_stop")


@pytest.mark.parametrize(("name", "passing_without_agent"), [("airline", 23), ("retail", 11)])
def test_gold_passes_and_the_floor_is_the_known_one(official_data: Path, name: str, passing_without_agent: int) -> None:
    """Source: the reference's graders when probed; of retail's 11 tasks, 5 pass a judge that accepts everything."""
    domain = pytest_tau.load_domain(name, data_dir=official_data)
    judged = SimulationSettings(evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))
    assert not wrong(play(domain, domain.tasks(), judged, agent="gold"), 1.0, "user_stop")
    floor = [done for done in play(domain, domain.tasks(), judged, agent="noop") if done.reward == 1]
    assert len(floor) == passing_without_agent


def test_gold_and_noop_on_mock(mock: Domain) -> None:
    """Source: specification, section 1.12: gold passes 8 of 10, doing nothing passes one."""
    gold = {done.task_id: done.reward for done in play(mock, mock.tasks(), agent="gold")}
    noop = {done.task_id: done.reward for done in play(mock, mock.tasks(), agent="noop")}
    # What their assertions ask for is not among their reference actions.
    assert {name for name, reward in gold.items() if reward != 1.0} == {
        "update_task_with_history_and_env_assertions",
        "update_task_with_user_tools",
    }
    assert {name for name, reward in noop.items() if reward == 1.0} == {"create_task_1_nl_eval"}


def test_both_policies_of_telecom_are_there(telecom: Domain, official_data: Path) -> None:
    folder = official_data / "domains" / "telecom"
    main, manual, workflow = (
        (folder / name).read_text(encoding="utf-8")
        for name in ("main_policy.md", "tech_support_manual.md", "tech_support_workflow.md")
    )

    def policy(tech_support: str) -> str:
        return f"<main_policy>\n{main}\n</main_policy>\n<tech_support_policy>\n{tech_support}\n</tech_support_policy>"

    assert telecom.environment().policy == policy(manual)
    assert telecom.environment(policy="workflow").policy == policy(workflow)
    other = pytest_tau.load_domain("telecom-workflow", data_dir=official_data)
    assert other.environment().policy == policy(workflow)
    assert [task.id for task in other.tasks()] == [task.id for task in telecom.tasks()]
