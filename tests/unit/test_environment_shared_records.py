"""Changes of the records that all simulations share are found: every simulation would begin with them."""

from __future__ import annotations

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


class SharingTools(Toolkit[tiny.TinyDB]):
    """Tools that change records which they were given for reading only."""

    @tool("write")
    def by_scan(self, item_id: str) -> str:
        """Change what a scan returns."""
        for item in self.db.items.scan():
            if item.item_id == item_id:
                item.name = "changed"
        return "done"

    @tool("write")
    def by_peek(self, item_id: str) -> str:
        """Store the shared record itself, and change it."""
        item = self.db.items.peek(item_id)
        assert item is not None
        self.db.items[item_id] = item
        item.name = "changed"
        return "done"

    @tool("read")
    def inside_of_a_copy(self, item_id: str) -> str:
        """Change a list of a shared record, through a copy that is not deep."""
        item = self.db.items.peek(item_id)
        assert item is not None
        item.model_copy().tags.append("seen")
        return "done"

    @tool("write")
    def own(self, item_id: str) -> str:
        """Change the record of this simulation."""
        self.db.items[item_id].name = "changed"
        return "done"


@pytest.fixture
def sharing(tmp_path: Path) -> Domain:
    return tiny.make(tmp_path / "tiny", agent_tools=SharingTools, sync=None)


def wanted(name: str) -> Any:
    return task({"actions": [action(name, item_id="lamp")], "reward_basis": ["DB"]})


def trial(domain: Domain, name: str, replies: list[Any]) -> Any:
    return simulate(
        wanted(name), domain=domain, agent=ScriptedParticipant(replies), user=ScriptedParticipant(["Go.", STOP])
    )


def calling(name: str) -> list[Any]:
    return [{"tool_calls": [{"name": name, "arguments": {"item_id": "lamp"}}]}, "Done."]


@pytest.mark.parametrize(
    ("name", "place"),
    [("by_scan", "items/lamp/name"), ("by_peek", "items/lamp/name"), ("inside_of_a_copy", "items/lamp/tags/1")],
)
@pytest.mark.parametrize("makes_the_call", [True, False])
def test_a_trial_whose_tools_change_shared_records_has_no_verdict(
    sharing: Domain, name: str, place: str, makes_the_call: bool
) -> None:
    simulation = trial(sharing, name, calling(name) if makes_the_call else ["I do nothing."])
    assert simulation.outcome == "error"
    assert simulation.info.error_kind == "DomainError"
    assert simulation.error == (
        f"DomainError: domain 'tiny': {place} was changed in the data that all simulations share: scan() and peek() "
        "return records for reading only; change table[id], which is the simulation's own copy"
    )


def test_trials_after_a_change_of_shared_records_have_no_verdict_either(sharing: Domain) -> None:
    assert trial(sharing, "own", calling("own")).reward == 1
    trial(sharing, "by_scan", calling("by_scan"))
    assert trial(sharing, "own", calling("own")).outcome == "error"


def test_simulations_that_change_their_own_records_are_not_accused(sharing: Domain) -> None:
    for replies, reward in ((calling("own"), 1), (["I do nothing."], 0), (calling("own"), 1)):
        assert trial(sharing, "own", replies).reward == reward
    assert sharing.shared_records_problem() is None


def test_large_databases_are_compared_after_the_first_trials_and_then_at_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_tau.environment.domain_files._EACH_TRIAL", 100)
    monkeypatch.setattr("pytest_tau.environment.domain_files._FIRST_TRIALS", 1)
    domain = tiny.make(tmp_path / "tiny", agent_tools=SharingTools, sync=None)
    assert domain.shared_records_problem() is None
    domain.environment().call("by_scan", {"item_id": "lamp"})
    found = [domain.shared_records_problem() is None for _ in range(8)]
    assert found[0]
    assert not found[-1]
    assert found == sorted(found, reverse=True)
