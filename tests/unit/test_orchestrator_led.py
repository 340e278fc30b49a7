"""A conversation that a capability leads instead of the core's loop of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import Capability, Limits, SimulationSettings, TrialStages
from pytest_tau.capability import Duplex
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import AssistantMessage, UserMessage
from pytest_tau.orchestrator import Ending
from pytest_tau.testing import ScriptedParticipant as Script, call

from .tiny import action, task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation
    from pytest_tau.orchestrator import Conversation

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})
RENAME = call("rename", item_id="lamp", name="Light")


class AtOnce(TrialStages):
    """Asks both sides at the same time, and records what they say together."""

    begun = 0

    def __init__(self, view: Any) -> None:
        assert view.models is not None

    def begin(self, messages: Any) -> None:
        assert messages == []
        type(self).begun += 1


class LedAtOnce(Duplex):
    """Leads conversations."""

    async def converse(self, stages: Any, conversation: Conversation) -> Ending:
        heard: Any = (UserMessage(content="Hello."), AssistantMessage(content=conversation.greeting))
        while True:
            agent = await conversation.ask("agent", heard[0])
            user = await conversation.ask("user", heard[1])
            conversation.record(agent)
            heard = user, agent
            if agent.tool_calls:
                _, results = await conversation.run_tools(agent)
                heard = results, AssistantMessage(content="A moment.")
            conversation.record(user)
            if ending := conversation.limit() or conversation.stop(user) or conversation.stop(agent):
                return ending


def led(domain: Domain, agent: list[Any], user: list[Any], **options: Any) -> Simulation:
    wanted, solo = options.pop("wanted", WANTED), options.pop("solo", False)
    active = Capability(name="at_once", trial=AtOnce, duplex=LedAtOnce).with_settings()
    settings = SimulationSettings(capabilities=(active,), solo=solo, **options)
    return pytest_tau.simulate(wanted, domain=domain, agent=Script(agent), user=Script(user), settings=settings)


def test_it_is_graded_as_any_other(domain: Domain) -> None:
    AtOnce.begun = 0
    found = led(domain, [RENAME, "Renamed."], ["Rename the lamp.", "Thanks. ###STOP###"])
    assert (found.reward, found.termination_reason, found.stop_token) == (1.0, "user_stop", "###STOP###")
    roles = [message.role for message in found.messages]
    assert roles == ["assistant", "tool", "user", "assistant", "user"]
    assert [message.turn_idx for message in found.messages] == [0, 1, 2, 3, 4]
    assert AtOnce.begun == 1


def test_limits_and_faults_of_the_sides_are_those_of_the_core(domain: Domain) -> None:
    many = led(domain, ["A"] * 9, ["B"] * 9, limits=Limits(max_steps=4))
    assert (many.termination_reason, many.error) == ("max_steps", "4 steps, the limit is 4")
    broken = led(domain, ["A", RuntimeError("lost")], ["B", "C"])
    assert (broken.termination_reason, broken.reward) == ("agent_error", 0.0)
    assert [message.content for message in broken.messages] == ["A", "B"]
    assert led(domain, ["A"], [RuntimeError("lost")]).termination_reason == "user_error"


def test_it_cannot_begin_in_the_middle(domain: Domain) -> None:
    begun = task({}, initial_state={"message_history": [{"role": "assistant", "content": "Hi"}]})
    with pytest.raises(ConfigurationError, match=r"task .t.: .* cannot be used for a conversation that has begun"):
        led(domain, ["A"], ["B"], wanted=begun)
