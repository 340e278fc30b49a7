"""What users of bundled tasks say: their scripts have it all, so that no prose is read."""

from __future__ import annotations

import pytest

import pytest_tau
from pytest_tau.models import UserScenario
from pytest_tau.participants import ScriptedUser
from pytest_tau.participants.context import ParticipantContext
from pytest_tau.participants.scripted import user

_DOMAINS = ("mock", "mock-approvals", "airline", "retail", "retail-approvals", "telecom", "banking_knowledge")


@pytest.mark.parametrize("name", _DOMAINS)
def test_every_user_has_a_script(name: str) -> None:
    tasks = pytest_tau.load_domain(name).tasks(None)
    assert tasks
    assert [task.id for task in tasks if any(scenario.script is None for scenario in task.scenarios)] == []


def test_the_prose_of_a_task_with_a_script_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def prose_of(scenario: UserScenario) -> str:
        read.append(str(scenario.instructions))
        return ""

    monkeypatch.setattr(user, "prose_of", prose_of)
    domain = pytest_tau.load_domain("mock")
    task = domain.tasks(None)[0]
    ScriptedUser(ParticipantContext("user", [], "", task, spoken=domain.spec.spoken))
    assert read == []
    without = task.model_copy(
        update={"user_scenario": task.user_scenario.model_copy(update={"script": None})},
    )
    ScriptedUser(ParticipantContext("user", [], "", without, spoken=domain.spec.spoken))
    assert len(read) == 1
