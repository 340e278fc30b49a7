"""A state that tools reach by another way each time is no verdict on the agent."""

from __future__ import annotations

import itertools
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import simulate
from pytest_tau.environment import Toolkit, tool
from pytest_tau.testing import ScriptedParticipant

from . import tiny
from .tiny import STOP, action, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

NUMBERS = itertools.count()


class UnstableTools(Toolkit[tiny.TinyDB]):
    """Tools that lead to another state each time, and one that does not."""

    @tool("write")
    def count(self, item_id: str) -> str:
        """Store the next number of the process."""
        self.db.items[item_id].meta = next(NUMBERS)
        return "done"

    @tool("write")
    def add(self, item_id: str) -> str:
        """Add an item with an id that is drawn at random."""
        new = str(uuid.uuid4())
        self.db.items[new] = tiny.Item(item_id=new, name=item_id)
        return "done"

    @tool("write")
    def rename(self, item_id: str) -> str:
        """Give an item a name."""
        self.db.items[item_id].name = "changed"
        return "done"


@pytest.fixture
def unstable(tmp_path: Path) -> Domain:
    return tiny.make(tmp_path / "tiny", agent_tools=UnstableTools, sync=None)


def trial(domain: Domain, reference: list[str], calls: list[str]) -> Simulation:
    wanted = task({"actions": [action(name, item_id="lamp") for name in reference], "reward_basis": ["DB"]})
    replies: list[Any] = [{"tool_calls": [{"name": name, "arguments": {"item_id": "lamp"}}]} for name in calls]
    replies.append("Done.")

    return simulate(wanted, domain=domain, agent=ScriptedParticipant(replies), user=ScriptedParticipant(["Go.", STOP]))


@pytest.mark.parametrize(("name", "place"), [("count", "items/lamp/meta: "), ("add", "items/")])
@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_reference_that_is_another_one_each_time_is_a_mistake_of_the_domain(
    unstable: Domain, name: str, place: str, calls: int
) -> None:
    simulation = trial(unstable, [name], [name] * calls)
    assert (simulation.outcome, simulation.info.error_kind) == ("error", "DomainError")
    assert f"carried out again, without those that only read: {place}" in (simulation.error or "")
    assert simulation.info.blame.party == "domain"


def test_the_domain_is_not_blamed_for_what_is_always_the_same(unstable: Domain) -> None:
    simulation = trial(unstable, ["rename"], [])
    assert simulation.reward == 0
    assert simulation.info.blame.party == "undecided"
