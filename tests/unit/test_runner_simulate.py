from __future__ import annotations

import asyncio
import importlib
import threading
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import Evaluation, Limits, SimulationSettings
from pytest_tau.chat import LLM, CallPolicy, ChatReply, Identity, Player, Recorder, TrialModels
from pytest_tau.errors import BudgetError, ConfigurationError, JudgeError, ModelError, TaskFormatError
from pytest_tau.evaluation import STRICT
from pytest_tau.models import CustomCheck, Notes, Simulation
from pytest_tau.participants import ParticipantSource, default_user
from pytest_tau.runner import (
    DEFAULT_SEED,
    DEFAULT_TIMEOUT,
    RunConfig,
    Trial,
    TrialRunner,
    prepare_trial,
)
from pytest_tau.testing import ScriptedParticipant as Script, call as reply_call

from . import tiny
from .tiny import action, run, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB", "ACTION"]})
RENAME = reply_call("rename", item_id="lamp", name="Light")
USER = ["Hi", "###STOP###"]


def simulate(domain: Domain, agent: Any, user: Any = None, wanted: Any = WANTED, **options: Any) -> Simulation:
    """A trial with scripts for lists."""
    agent = Script(agent) if isinstance(agent, list) else agent
    user = Script(user) if isinstance(user, list) else user
    return pytest_tau.simulate(wanted, domain=domain, agent=agent, user=user or Script(USER), **options)


# What comes back


def test_trial_is_run_and_graded(domain: Domain) -> None:
    simulation = simulate(domain, [RENAME, "Done"], trial=2, seed=77)
    assert isinstance(simulation, Simulation)
    assert (simulation.reward, simulation.outcome) == (1.0, "passed")
    assert (simulation.task_id, simulation.trial, simulation.seed) == ("t", 2, 77)
    assert simulation.termination_reason == "user_stop"
    assert simulation.reward_info is not None
    assert simulation.reward_info.reward_breakdown == {"DB": 1.0, "ACTION": 1.0}
    assert simulation.called("rename", item_id="lamp")
    assert simulation.info == Notes()


def test_times_are_recorded(domain: Domain) -> None:
    class Slow(Script):
        def respond(self, message: Any) -> Any:
            time.sleep(0.05)
            return super().respond(message)

    simulation = simulate(domain, Slow(["No."]))
    assert 0.05 <= simulation.duration < 10
    start, end = (datetime.fromisoformat(text) for text in (simulation.start_time, simulation.end_time))
    assert start < end


def test_trials_of_a_task_are_distinguished(domain: Domain) -> None:
    ids = {simulate(domain, ["No."], trial=n, seed=n).id for n in range(3)}
    assert len(ids) == 3


def test_default_user_is_gold_only_with_the_agent_gold(domain: Domain) -> None:
    assert pytest_tau.simulate(WANTED, domain=domain).reward == 1.0
    assert [default_user(agent, solo=False) for agent in ("gold", "noop", "replay:x.json", object())] == [
        "gold",
        "scripted",
        "replay:x.json",
        "scripted",
    ]
    assert default_user("gold", solo=True) == "dummy"


def test_inside_a_running_loop_many_trials_run_at_once(domain: Domain) -> None:
    class Waits:
        async def respond(self, message: Any) -> Any:
            await asyncio.sleep(0.1)
            return "No."

    async def many() -> list[Simulation]:
        trials = (pytest_tau.asimulate(WANTED, domain=domain, agent=Waits(), user=Script(USER)) for _ in range(50))
        return list(await asyncio.gather(*trials))

    start = time.perf_counter()
    simulations = run(many())
    assert time.perf_counter() - start < 3
    assert {simulation.termination_reason for simulation in simulations} == {"user_stop"}


def test_the_task_and_the_domain_are_left_alone(domain: Domain) -> None:
    before, state = WANTED.model_dump(), domain.environment().dump()
    simulate(domain, [RENAME, "Done"])
    assert WANTED.model_dump() == before
    assert domain.environment().dump() == state


def test_settings(domain: Domain) -> None:
    settings = SimulationSettings(limits=Limits(max_steps=1), policy="short")
    policies: list[str] = []

    class Reads:
        def __init__(self, policy: str) -> None:
            policies.append(policy)

        def respond(self, message: Any) -> str:
            return "No."

    assert simulate(domain, Reads, settings=settings).termination_reason == "max_steps"
    assert policies == ["Be brief.\nThe policy."]
    assert SimulationSettings().limits.timeout is None
    assert SimulationSettings().own_timeout == DEFAULT_TIMEOUT == 1800.0
    assert RunConfig().seed == DEFAULT_SEED == 300


def test_the_grading_profile_is_that_of_the_settings(domain: Domain) -> None:
    wanted = task({"communicate_info": ["5"], "reward_basis": ["COMMUNICATE"]})
    strict = SimulationSettings(evaluation=Evaluation(grading=STRICT))
    assert simulate(domain, ["51"], wanted=wanted).reward == 1.0
    assert simulate(domain, ["51"], wanted=wanted, settings=strict).reward == 0.0


def test_a_reference_action_that_fails_is_refused_unless_it_is_not_checked(domain: Domain) -> None:
    failing = task({"actions": [action("rename", item_id="sofa", name="Red")], "reward_basis": ["DB"]})
    with pytest.raises(TaskFormatError, match="the reference action fails: rename: no item sofa"):
        simulate(domain, ["No."], wanted=failing)
    assert simulate(domain, ["No."], wanted=failing, check_reference=False).reward == 1.0


def test_model_calls_are_recorded_and_have_a_budget(domain: Domain, tmp_path: Path) -> None:
    class Model:
        async def complete(self, request: Any) -> ChatReply:
            return ChatReply(message={"role": "assistant", "content": "No."}, cost=0.5)

    costs: list[float] = []
    settings = SimulationSettings(llms={"agent": LLM("model", Model())})
    path, identity = tmp_path / "t.json", Identity("tiny", "t", 0, None, {})
    calls = CallPolicy(on_cost=costs.append, budget_problem=lambda: "all is spent" if costs else None)
    recorded = simulate(domain, "llm", settings=settings, calls=calls, tape=Recorder(path, identity))
    assert (recorded.termination_reason, costs) == ("user_stop", [0.5])
    with pytest.raises(BudgetError, match="all is spent"):
        simulate(domain, "llm", settings=settings, calls=calls)
    replayed = simulate(domain, "llm", settings=settings, calls=calls, tape=Player(path, identity))
    assert [message.content for message in replayed.messages] == [message.content for message in recorded.messages]
    assert costs == [0.5]


def test_alone(domain: Domain) -> None:
    wanted = task({"actions": [action("switch", "user")], "reward_basis": ["DB"]}, ticket="Switch it on.")
    solo = SimulationSettings(solo=True)
    simulation = pytest_tau.simulate(
        wanted, domain=domain, agent=Script([reply_call("switch"), reply_call("done")]), settings=solo
    )
    assert (simulation.termination_reason, simulation.reward, simulation.info) == ("agent_stop", 1.0, Notes(solo=True))


# What a participant may know


def context_for(domain: Domain, side: str, wanted: Any, env: Any, *, trial: int = 0, seed: int | None = None) -> Any:
    made = Trial(wanted, domain, env, SimulationSettings(), TrialModels({}), trial, seed)
    return made.context(side)  # type: ignore[arg-type]


def test_the_agent_s_context(domain: Domain) -> None:
    env = domain.environment(WANTED)
    context = context_for(domain, "agent", WANTED, env, trial=3, seed=9)
    assert context.instructions == "The policy."
    assert [tool.name for tool in context.tools] == [tool.name for tool in env.tools("assistant")]
    assert (context.seed, context.trial, context.solo) == (9, 3, False)
    assert [message.content for message in context.history] == ["Hi! How can I help you today?"]
    assert not context.starts


def test_the_user_s_context(domain: Domain) -> None:
    context = context_for(domain, "user", WANTED, domain.environment(WANTED))
    assert context.instructions == "Instructions:\n\tYou want something."
    assert [tool.name for tool in context.tools] == ["switch", "read_phone", "write_note"]
    assert context.starts


@pytest.mark.parametrize(
    ("user_tools", "names"),
    [(None, ["switch", "read_phone", "write_note"]), ([], []), (["read_phone", "nowhere"], ["read_phone"])],
)
def test_a_task_may_restrict_the_user_s_tools(domain: Domain, user_tools: Any, names: list[str]) -> None:
    wanted = task(user_tools=user_tools)
    env = domain.environment(wanted)
    context = context_for(domain, "user", wanted, env)
    assert [tool.name for tool in context.tools] == names
    assert len(context_for(domain, "agent", wanted, env).tools) == 12


def test_a_message_history_is_known_to_both(domain: Domain) -> None:
    wanted = task(state={"message_history": [{"role": "user", "content": "Hi"}]})
    for side in ("agent", "user"):
        context = context_for(domain, side, wanted, domain.environment(wanted))  # type: ignore[arg-type]
        assert [message.content for message in context.history] == ["Hi"]


# Errors before anything runs


@pytest.mark.parametrize("side", ["agent", "user"])
def test_an_unusable_participant(domain: Domain, side: str) -> None:
    with pytest.raises(ConfigurationError, match=f"unknown {side} 'golf'"):
        pytest_tau.simulate(WANTED, domain=domain, **{side: "golf"})
    with pytest.raises(ConfigurationError, match=f"is not a valid {side}"):
        pytest_tau.simulate(WANTED, domain=domain, **{side: 5})


def test_an_unusable_task_or_mode(domain: Domain, tmp_path: Path) -> None:
    spoilt = task(state={"initialization_actions": [{"env_type": "assistant", "func_name": "nowhere"}]})
    with pytest.raises(TaskFormatError):
        simulate(domain, ["No."], wanted=spoilt)
    with pytest.raises(ConfigurationError, match="unknown policy"):
        simulate(domain, ["No."], settings=SimulationSettings(policy="long"))
    half = tiny.make(tmp_path / "half", user_tools=None, user_db=None, sync=None)
    with pytest.raises(ConfigurationError, match="cannot be run solo"):
        simulate(half, ["No."], settings=SimulationSettings(solo=True))


def test_unknown_component_is_reported_before_the_conversation(domain: Domain) -> None:
    script = Script(["No."])
    with pytest.raises(TaskFormatError, match="unknown reward basis 'POLITENESS'"):
        simulate(domain, script, wanted=task({"reward_basis": ["POLITENESS"]}))
    assert script.received == []


# Constructors


class Unavailable:
    async def complete(self, request: Any) -> Any:
        raise ModelError("provider down")


class Caller:
    """Calls its model, and raises the error of the call or one that looks the same."""

    genuine = True

    def __init__(self, model: Any) -> None:
        self.model = model

    async def respond(self, message: Any) -> str:
        try:
            await self.model.complete([{"role": "user", "content": "Hi"}])
        except ModelError as error:
            if self.genuine:
                raise
            raise ModelError(str(error)) from error
        return "Hi"


@pytest.mark.parametrize(("genuine", "reason"), [(True, "infrastructure_error"), (False, "agent_error")])
def test_only_the_error_of_a_model_call_is_the_provider_s(domain: Domain, genuine: Any, reason: str) -> None:
    settings = SimulationSettings(llms={"agent": LLM("m", Unavailable())})
    simulation = simulate(domain, type("Kind", (Caller,), {"genuine": genuine}), USER, settings=settings)
    assert simulation.termination_reason == reason
    assert simulation.error is not None
    assert simulation.error.startswith("ModelError: provider down")


class Built:
    """Raises the given exception in its constructor."""

    error: BaseException = ValueError("no key")

    def __init__(self) -> None:
        raise self.error

    def respond(self, message: Any) -> str:
        return ""


@pytest.mark.parametrize(
    ("error", "agents", "users"),
    [
        (ValueError("no key"), "agent_error", "user_error"),
        (SystemExit("no key"), "agent_error", "user_error"),
        (TimeoutError("no key"), "agent_error", "user_error"),
        (ModelError("no key"), "agent_error", "user_error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
@pytest.mark.parametrize("timeout", [None, 20.0])
def test_whose_fault_a_constructor_is(domain: Domain, error: Any, agents: str, users: str, timeout: Any) -> None:
    kind = type("Kind", (Built,), {"error": error})
    settings = SimulationSettings(limits=Limits(timeout=timeout))
    for simulation, reason in (
        (simulate(domain, kind, settings=settings), agents),
        (simulate(domain, ["No."], kind, settings=settings), users),
    ):
        assert simulation.termination_reason == reason
        assert "no key" in (simulation.error or "")
        assert simulation.messages == []
        assert simulation.reward == 0.0


def test_a_constructor_that_hangs_is_cut_off(domain: Domain) -> None:
    gate = threading.Event()

    class Hangs:
        def __init__(self) -> None:
            gate.wait(10)

        def respond(self, message: Any) -> str:
            return ""

    settings = SimulationSettings(limits=Limits(timeout=0.1))
    start = time.perf_counter()
    for participants, reason in ((("agent", Hangs), "timeout"), (("user", Hangs), "user_error")):
        options: dict[str, Any] = {"agent": "noop", "user": "noop"} | dict([participants])
        simulation = pytest_tau.simulate(WANTED, domain=domain, settings=settings, **options)
        assert simulation.termination_reason == reason
        assert "not created in time" in (simulation.error or "")
    assert time.perf_counter() - start < 4
    gate.set()


# Closing


def test_both_participants_are_closed_however_it_ends(domain: Domain) -> None:
    for ending in (["No."], [ValueError("x")], [""]):
        agent, user = Script(ending), Script(USER)
        simulate(domain, agent, user)
        assert agent.closed
        assert user.closed


def test_the_agent_is_closed_where_the_user_cannot_be_built(domain: Domain) -> None:
    agent = Script(["No."])
    simulate(domain, agent, Built)
    assert agent.closed


@pytest.mark.parametrize("error", [ValueError("untidy"), SystemExit(1)])
def test_a_close_that_fails_is_harmless(domain: Domain, error: BaseException) -> None:
    class Untidy(Script):
        def close(self) -> None:
            raise error

    other = Script(USER)
    simulation = simulate(domain, Untidy([RENAME, "Done"]), other)
    assert (simulation.reward, simulation.error) == (1.0, None)
    assert other.closed


def test_a_close_that_hangs_is_left_behind(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("pytest_tau.runner.participants"), "_CLOSING_TIME", 0.1)
    gate = threading.Event()

    class Hangs(Script):
        def close(self) -> None:
            gate.wait(10)

    start = time.perf_counter()
    other = Script(USER)
    simulation = simulate(domain, Hangs([RENAME, "Done"]), other)
    assert time.perf_counter() - start < 4
    gate.set()
    assert simulation.reward == 1.0
    assert other.closed


# Faults that are not the agent's


class Judge:
    name = "broken"

    def judge(self, statements: Any, messages: Any) -> Any:
        raise RuntimeError("out of order")


def test_a_judge_that_fails_is_an_error_and_the_conversation_is_kept(domain: Domain) -> None:
    wanted = task({"nl_assertions": ["x"], "reward_basis": ["NL_ASSERTION"]})
    settings = SimulationSettings(evaluation=Evaluation(judge=Judge()))
    simulation = simulate(domain, ["No."], wanted=wanted, settings=settings)
    assert simulation.termination_reason == "user_stop"
    assert simulation.outcome == "error"
    assert simulation.error == f"{JudgeError.__name__}: judge 'broken' failed: RuntimeError: out of order"
    assert [message.content for message in simulation.messages][1:] == ["Hi", "No.", "###STOP###"]


def test_no_judge_is_asked_if_there_is_no_verdict_to_judge_for(domain: Domain) -> None:
    wanted = task({"nl_assertions": ["x"], "reward_basis": ["NL_ASSERTION"]})
    settings = SimulationSettings(evaluation=Evaluation(judge=Judge()))
    broken = Script([ConnectionError("the user is gone")])
    simulation = simulate(domain, ["No."], broken, wanted=wanted, settings=settings)
    assert simulation.termination_reason == "user_error"
    assert "the user is gone" in (simulation.error or "")


def test_an_evaluator_that_fails_is_an_error_and_the_conversation_is_kept(domain: Domain) -> None:
    class Broken:
        name = "BROKEN"

        def evaluate(self, task: Any, messages: Any, environment: Any) -> CustomCheck:
            raise ZeroDivisionError("by zero")

    settings = SimulationSettings(evaluation=Evaluation(evaluators=[Broken()]))
    simulation = simulate(domain, ["No."], settings=settings)
    assert (simulation.outcome, simulation.termination_reason) == ("error", "user_stop")
    assert "ZeroDivisionError: by zero" in (simulation.error or "")
    assert len(simulation.messages) == 4


def test_a_fault_of_the_harness_keeps_the_messages(domain: Domain) -> None:
    class Hook(Exception):
        pass

    def fail(message: Any) -> None:
        if message.role == "tool":
            raise Hook("harness")

    trial = prepare_trial(WANTED, domain, SimulationSettings(), on_message=fail)
    made = [Script([RENAME, "Done"]), Script(USER)]
    simulation = run(TrialRunner(trial, ParticipantSource("agent", made[0]), ParticipantSource("user", made[1])).run())
    assert simulation.termination_reason == "unexpected_error"
    assert simulation.outcome == "error"
    assert "Hook: harness" in (simulation.error or "")
    assert [message.role for message in simulation.messages] == ["assistant", "user", "assistant", "tool"]
    assert all(script.closed for script in made)
