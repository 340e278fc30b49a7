"""An agent that calls the functions behind a domain itself, and not the tools of its trial."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import domain_of, simulate
from pytest_tau.errors import TaskFormatError
from pytest_tau.models import Task
from pytest_tau.testing import ScriptedParticipant

from .tiny import STOP, agent, call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

CHANGE = ("o1/status", "paid", "cancelled")


class Application:
    """An application whose functions share one state."""

    def __init__(self) -> None:
        self.orders = {"o1": {"status": "paid"}, "o2": {"status": "paid"}}
        self.seen = itertools.count()

    def cancel(self, order_id: str) -> str:
        """Cancel an order."""
        self.orders[order_id]["status"] = "cancelled"
        return "cancelled"

    def find(self, order_id: str) -> dict[str, str]:
        """Show an order."""
        return self.orders[order_id]

    def load(self, orders: dict[str, dict[str, str]]) -> None:
        self.orders = orders

    def domain(self, folder: Path, snapshot: Callable[[], Any] | None = None) -> Domain:
        return domain_of(
            "shop",
            tools=[self.cancel, self.find],
            reads={"find"},
            snapshot=snapshot or (lambda: self.orders),
            restore=self.load,
            folder=folder,
        ).load()

    def agent(self, *replies: Any) -> Callable[[], ScriptedParticipant]:
        """Return an agent; it cancels an order itself in place of the reply ``"itself"``."""

        def reply(given: Any) -> Any:
            if given == "itself":
                return self.cancel("o1")
            return given

        class Participant(ScriptedParticipant):
            def respond(self, message: Any) -> Any:
                return reply(super().respond(message))

        return lambda: Participant(list(replies))


@pytest.fixture
def application() -> Application:
    return Application()


def task(actions: list[str], **more: Any) -> Task:
    wanted = [{"action_id": each, "name": "cancel", "arguments": {"order_id": each}} for each in actions]
    criteria = {"actions": wanted, "reward_basis": ["DB"]}
    return Task.model_validate(
        {"id": "a", "user_scenario": {"instructions": "Cancel o1."}, "evaluation_criteria": criteria, **more}
    )


def play(domain: Domain, wanted: Task, made: Callable[[], Any]) -> Simulation:
    texts = itertools.chain(["Cancel o1."], itertools.repeat(STOP))
    return simulate(wanted, domain=domain, agent=made(), user=lambda _messages, _tools: next(texts))


def outside(simulation: Simulation) -> list[tuple[Any, ...]] | None:
    found = simulation.info.outside_changes
    if found is None:
        return None
    assert (found.when, found.tools) == ("during", {})
    return [(place.path, place.expected, place.got) for place in found.differences]


def test_it_does_not_change_what_the_reference_begins_with(application: Application, tmp_path: Path) -> None:
    simulation = play(application.domain(tmp_path), task(["o1"]), application.agent("itself"))
    assert simulation.reward == 0
    assert simulation.reward_info is not None
    assert [each.path for each in simulation.reward_info.db_diff or []] == ["o1/status"]
    assert outside(simulation) == [CHANGE]
    assert simulation.info.blame.party == "harness"


def test_what_it_changes_is_named_if_the_trial_passes(application: Application, tmp_path: Path) -> None:
    simulation = play(application.domain(tmp_path), task([]), application.agent("itself"))
    assert simulation.reward == 1
    assert outside(simulation) == [CHANGE]


@pytest.mark.parametrize("first", ["find", "cancel"])
def test_it_may_call_tools_of_the_trial_as_well(application: Application, tmp_path: Path, first: str) -> None:
    replies = [agent(call(first, order_id="o2")), "itself", agent(call("find", order_id="o2")), "Done."]
    simulation = play(
        application.domain(tmp_path), task(["o2"] if first == "cancel" else []), application.agent(*replies)
    )
    assert outside(simulation) == [CHANGE]
    assert simulation.reward == 1


def test_the_next_trial_does_not_see_it(application: Application, tmp_path: Path) -> None:
    domain = application.domain(tmp_path)
    play(domain, task(["o1"]), application.agent("itself"))
    right = play(domain, task(["o1"]), application.agent(agent(call("cancel", order_id="o1")), "Done."))
    idle = play(domain, task([]), application.agent("Done."))
    assert (right.reward, outside(right)) == (1, None)
    assert (idle.reward, outside(idle)) == (1, None)
    assert application.orders["o1"] == {"status": "paid"}


def test_what_another_environment_reads_before_hides_nothing(application: Application, tmp_path: Path) -> None:
    domain = application.domain(tmp_path)
    reading = domain.environment()
    assert "paid" in str(reading.call("find", {"order_id": "o1"}).content)
    assert outside(play(domain, task(["o1"]), application.agent("itself"))) == [CHANGE]
    assert "paid" in str(reading.call("find", {"order_id": "o1"}).content)


def test_initialization_data_are_no_such_change(application: Application, tmp_path: Path) -> None:
    wanted = task([], initial_state={"initialization_data": {"agent_data": {"o2": {"status": "new"}}}})
    simulation = play(application.domain(tmp_path), wanted, application.agent("Done."))
    assert (simulation.reward, outside(simulation)) == (1, None)


def test_a_value_that_is_never_the_same_is_no_such_change(application: Application, tmp_path: Path) -> None:
    def snapshot() -> dict[str, Any]:
        return {**application.orders, "seen": next(application.seen)}

    domain = application.domain(tmp_path, snapshot)
    assert outside(play(domain, task([]), application.agent("Done."))) is None


def test_a_snapshot_that_fails_is_reported_where_states_are_compared(application: Application, tmp_path: Path) -> None:
    def snapshot() -> Any:
        raise RuntimeError("closed")

    with pytest.raises(TaskFormatError, match=r"the reference action fails: cancel: closed"):
        play(application.domain(tmp_path, snapshot), task(["o1"]), application.agent("Done."))
