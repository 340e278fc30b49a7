"""The Gymnasium environments: spaces, seeds, ends, infos, vectors, and what cannot be used."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ConfigurationError, EpisodeError, ParticipantError
from pytest_tau.models import Simulation
from pytest_tau.runs.reader import open_run
from pytest_tau.testing import ScriptedParticipant as Script

gym = pytest.importorskip("gymnasium", reason="extra gym")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from pytest_tau.integrations.gymnasium import (  # noqa: E402
    ActionSpace,
    ChatSpace,
    TauAgentEnv,
    TauAgentVectorEnv,
    TauUserEnv,
    TextSpace,
    register,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_tau.environment import Domain

AGENT = "pytest_tau.integrations.gymnasium:tau-agent-v0"
USER = "pytest_tau.integrations.gymnasium:tau-user-v0"
RENAME = 'rename(item_id="lamp", name="Light")'


class Customer(Script):
    """Says three things, the last of which ends the conversation."""

    def __init__(self) -> None:
        super().__init__(["Hi", "Thanks", "###STOP###"])


@pytest.fixture
def env(domain: Domain) -> Iterator[TauAgentEnv]:
    made = TauAgentEnv(domain=domain, user=Customer)
    yield made
    made.close()


# What gymnasium expects


@pytest.mark.parametrize("name", [AGENT, USER])
@pytest.mark.parametrize("observation", ["new", "all", "chat"])
def test_check_env_has_no_complaints(name: str, observation: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(name, domain="telecom", observation=observation)
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize("name", [AGENT, USER])
@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.exhaustive), "vector_entry_point"])
def test_vectors(name: str, mode: str) -> None:
    further = {"vector_kwargs": {"shared_memory": False}} if mode == "async" else {}
    envs = gym.make_vec(name, num_envs=3, vectorization_mode=mode, domain="retail", max_steps=2, **further)
    observations, infos = envs.reset(seed=1)
    assert len(observations) == 3
    assert len(set(infos["task_id"])) > 1
    ends = []
    for _ in range(6):
        observations, rewards, terminated, truncated, infos = envs.step(["hello"] * 3)
        assert observations in envs.observation_space
        assert (terminated.any(), rewards.any(), len(set(truncated))) == (False, False, 1)
        ends += [json.loads(each)["termination_reason"] for each in infos.get("simulation", []) if each]
    envs.close()
    assert ends == ["max_steps"] * 9


def test_all_vectors_have_the_same_conversations() -> None:
    found = []
    for mode in ("sync", "vector_entry_point"):
        envs = gym.make_vec(AGENT, num_envs=4, vectorization_mode=mode, domain="retail", max_steps=6)
        steps = [envs.reset(seed=3)[0]]
        steps += [envs.step(["hello", "My name?", "transfer()", "look('x')"])[0] for _ in range(8)]
        envs.close()
        found.append(steps)
    assert found[0] == found[1]


def test_spaces() -> None:
    text, chat, action = TextSpace(), ChatSpace(), ActionSpace()
    assert "any text ∞\n" in text
    assert 7 not in text
    assert [{"role": "user", "content": "Hi"}] in chat
    assert ["Hi"] not in chat
    assert "Hi" in action
    assert {"content": "Hi"} in action
    assert {"name": "look"} not in action
    for space in (text, chat, action):
        space.seed(1)
        assert space.sample() in space
        assert space == type(space)()
        assert hash(space) == hash(type(space)())
    assert text != action


def test_the_first_use_of_the_id_registers_it() -> None:
    code = f"import gymnasium; env = gymnasium.make({AGENT!r}, domain='mock'); print(env.reset(seed=1)[1]['domain'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "mock"
    register()  # again: no warning, and nothing changes


def test_without_gymnasium_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "try:\n    import pytest_tau.integrations.gymnasium\nexcept Exception as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ConfigurationError gymnasium is not installed: pip install './pytest-tau[gym]'")


def test_nothing_else_imports_gymnasium() -> None:
    code = (
        "import sys, asyncio, pytest_tau\n"
        "domain = pytest_tau.load_domain('mock')\n"
        "async def one():\n"
        "    async with pytest_tau.Episode(domain.tasks()[0], domain=domain) as episode:\n"
        "        await episode.step('Hello')\n"
        "asyncio.run(one())\n"
        "assert not {'gymnasium', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Episodes


def test_an_episode(env: TauAgentEnv, tmp_path: Path) -> None:
    observation, info = env.reset(seed=7, options={"task": "two"})
    assert observation == "user: Hi"
    assert (info["task_id"], info["domain"], info["policy"], info["trial"]) == ("two", "tiny", "The policy.", 0)
    assert [message["role"] for message in info["messages"]] == ["system", "assistant", "user"]
    assert info["tools"][0]["function"]["name"] == "look"
    assert "ticket" not in info
    observation, reward, terminated, truncated, info = env.step('look(item_id="sofa")')
    assert (observation, reward, terminated, truncated) == ("tool: Error: no item sofa", 0.0, False, False)
    assert info["read_as"] == [{"name": "look", "arguments": {"item_id": "sofa"}}]
    assert info["messages"][0]["role"] == "tool"
    assert env.step("Done.")[0] == "user: Thanks"
    observation, reward, terminated, truncated, info = env.step({"role": "assistant", "content": "Bye"})
    assert (observation, reward, terminated, truncated) == ("user: ###STOP###", 1.0, True, False)
    assert info["termination_reason"] == "user_stop"
    assert json.loads(info["reward_info"])["reward"] == 1.0
    assert Simulation.model_validate_json(info["simulation"]) == env.simulation
    assert len(list(open_run(env.save(tmp_path)).trials())) == 1


def test_infos_are_plain_data(env: TauAgentEnv) -> None:
    infos = [env.reset(seed=1)[1], *[env.step(act)[4] for act in ("look('x')", "Hello", "Bye")]]
    assert json.loads(json.dumps(infos)) == infos


def test_the_whole_conversation_as_observation(domain: Domain) -> None:
    env = TauAgentEnv(domain=domain, user=Customer, observation="all", render_mode="ansi")
    assert env.reset()[0] == "assistant: Hi! How can I help you today?\nuser: Hi"
    observation = env.step("look(item_id='it\\'s')\n")[0]
    assert observation.splitlines()[2:] == ['assistant: look(item_id="it\'s")', "tool: Error: no item it's"]
    assert env.render() == observation
    assert env.step("look('x')")[0].splitlines()[4] == "assistant: look('x')"
    env.close()


def test_the_chat_as_observation(domain: Domain) -> None:
    env = TauAgentEnv(domain=domain, user=Customer, observation="chat")
    observation, info = env.reset()
    assert observation == info["messages"]
    observation = env.step("Hello")[0]
    assert [message["role"] for message in observation] == ["system", "assistant", "user", "assistant", "user"]
    assert observation in env.observation_space
    env.close()


def test_the_user_s_side(domain: Domain) -> None:
    env = TauUserEnv(domain=domain, agent=lambda messages, tools: "Switch it on.")
    observation, info = env.reset(seed=1)
    assert observation == "assistant: Hi! How can I help you today?"
    assert "policy" not in info
    assert info["scenario"] == "Instructions:\n\tYou want something."
    assert [each["function"]["name"] for each in info["tools"]] == ["switch", "read_phone", "write_note"]
    assert env.step("It is off.")[0] == "assistant: Switch it on."
    assert env.step("switch()")[0] == "tool: on"
    _, _, terminated, truncated, info = env.step("###STOP###")
    assert (terminated, truncated, info["termination_reason"]) == (True, False, "user_stop")


def test_solo_begins_with_the_ticket() -> None:
    env = gym.make(AGENT, domain="telecom", solo=True).unwrapped
    observation, info = env.reset(seed=1)
    assert observation == f"user: {info['ticket']}"
    assert {"done"} <= {each["function"]["name"] for each in info["tools"]}
    assert env.step("check_status_bar()")[0].startswith("tool: ")
    assert env.step("done()")[2]
    env.close()


def test_the_progress_as_reward() -> None:
    env = TauAgentEnv(domain="mock", task="reopen-impatient", user=Customer, reward="partial")
    env.reset()
    call = 'update_task_status(task_id="task_2", status="{}")'
    # The reference reopens the task. Here it is, and another one is as well: 1 of 2 leaves, and the action.
    assert env.step(call.format("pending"))[1] == 0
    assert env.step('update_task_status(task_id="task_1", status="completed")')[1] == 0
    env.step("Done.")
    _, reward, terminated, _, info = env.step("Goodbye.")
    assert (reward, terminated) == (0.75, True)
    assert json.loads(info["reward_info"])["reward"] == 0
    env.close()


def test_an_episode_that_a_limit_ended_has_a_progress() -> None:
    env = TauAgentEnv(domain="mock", task="reopen-impatient", user=Customer, reward="partial", max_steps=3)
    env.reset()
    _, reward, _, truncated, _ = env.step('update_task_status(task_id="task_2", status="pending")')
    assert truncated
    assert 0 < reward < 1
    env.close()


def test_shaped_rewards_are_the_changes_of_the_state_by_ones_own_calls() -> None:
    env = TauAgentEnv(domain="mock", task="reopen-impatient", user=Customer, reward="shaped")
    env.reset()
    call = 'update_task_status(task_id="{}", status="{}")'
    # The reference changes one leaf. A second one is wrong then: 1 of 2 is right.
    actions = [call.format("task_2", "pending"), call.format("task_1", "completed"), call.format("nothing", "pending")]
    rewards = [env.step(action)[1] for action in [*actions, "Done.", call.format("task_1", "pending")]]
    assert rewards == [1.0, -0.5, 0.0, 0.0, 0.5]
    assert env.step("Goodbye.")[1:3] == (0.0, True)
    env.close()


def test_a_call_that_ends_the_episode_is_rewarded() -> None:
    env = TauAgentEnv(domain="mock", task="reopen-impatient", user=Customer, reward="shaped", max_steps=3)
    env.reset()
    _, reward, _, truncated, _ = env.step('update_task_status(task_id="task_2", status="pending")')
    assert (reward, truncated) == (1.0, True)
    env.close()


def test_changes_by_the_other_side_are_not_rewarded() -> None:
    env = TauUserEnv(domain="mock", task="reopen-impatient", agent="gold", reward="shaped")
    env.reset()
    assert env.step("Please reopen my task.")[1] == 0.0
    env.close()


def test_a_task_without_a_reference_has_no_shaped_reward() -> None:
    from pytest_tau import load_domain
    from pytest_tau.episodes import Episode

    domain = load_domain("mock")
    first = domain.tasks()[0]
    criteria = first.criteria.model_copy(update={"actions": None, "env_assertions": None})
    task = first.model_copy(update={"evaluation_criteria": criteria})
    with pytest.raises(ConfigurationError, match="has no reference to compare the state with"):
        Episode(task, domain=domain, user="scripted", measure_state=True)


# Seeds and tasks


def test_the_seed_draws_the_tasks_and_reaches_the_other_side(domain: Domain) -> None:
    def drawn(seed: int) -> list[tuple[str, int]]:
        env = TauAgentEnv(domain="retail")
        infos = [env.reset(seed=seed)[1], *[env.reset()[1] for _ in range(5)]]
        env.close()
        return [(info["task_id"], info["seed"]) for info in infos]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert len({task for task, _ in drawn(1)}) > 2
    seeds = []

    class Sees(Customer):
        def __init__(self, seed: int) -> None:
            super().__init__()
            seeds.append(seed)

    env = TauAgentEnv(domain=domain, user=Sees)
    _, info = env.reset(seed=5)
    assert seeds == [info["seed"]]
    env.close()


def test_the_tasks_are_those_of_the_split_the_names_or_one(domain: Domain) -> None:
    def tasks(**options: Any) -> set[str]:
        env = TauAgentEnv(domain=domain, user=Customer, **options)
        found = {env.reset(seed=seed)[1]["task_id"] for seed in range(30)}
        env.close()
        return found

    assert tasks() == {"one", "three"}
    assert tasks(split="rest") == {"two"}
    assert tasks(task="two") == {"two"}
    assert tasks(tasks="t*") == {"two", "three"}
    assert tasks(tasks=["one", "two"]) == {"one", "two"}
    assert tasks(tasks="t*", split="base") == {"three"}


def test_repetitions_of_a_task_are_numbered(env: TauAgentEnv) -> None:
    trials = [env.reset(options={"task": name})[1]["trial"] for name in ("one", "one", "two", "one")]
    assert trials == [0, 1, 0, 2]


# Bad input


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"domain": "telcom"}, "unknown domain 'telcom'; did you mean 'telecom'"),
        ({}, "the environment needs a domain"),
        ({"domain": "mock", "task": "nothing"}, "unknown task 'nothing'"),
        ({"domain": "mock", "task": "a", "tasks": "b"}, "task and tasks exclude each other"),
        ({"domain": "mock", "split": "trian"}, "split 'trian'"),
        ({"domain": "mock", "user": "scirpted"}, "unknown user 'scirpted'; did you mean 'scripted'"),
        ({"domain": "mock", "agent": "rules"}, "the agent is played by steps; name the user"),
        ({"domain": "mock", "agent_llm": "openai/x"}, "agent_llm='openai/x': the agent is played by steps"),
        ({"domain": "mock", "observation": "old"}, "unknown observation 'old' (known: all, chat, new)"),
        ({"domain": "mock", "reward": "shape"}, "unknown reward 'shape'; did you mean 'shaped'"),
        ({"domain": "mock", "max_steps": 0}, "max_steps: expected a whole number from 1, got 0"),
        ({"domain": "mock", "max_errors": True}, "max_errors: expected a whole number from 1, got True"),
        ({"domain": "mock", "timeout": -1}, "timeout: expected seconds above 0, got -1"),
        ({"domain": "mock", "grading": "kind"}, "unknown grading profile 'kind'"),
        ({"domain": "mock", "policy": "kind"}, "unknown policy 'kind'"),
        ({"domain": "retail", "solo": True}, "cannot be run solo"),
        ({"domain": "mock", "max_turns": 5}, "unknown argument of the environment 'max_turns'"),
        ({"domain": "mock", "render_mode": "human"}, "render_mode: expected 'ansi' or None, got 'human'"),
    ],
)
def test_bad_arguments_are_reported_when_the_environment_is_made(options: dict[str, Any], problem: str) -> None:
    for make in (TauAgentEnv, TauAgentVectorEnv):
        with pytest.raises(ConfigurationError) as caught:
            make(**options)
        assert problem in str(caught.value)


def test_bad_options_of_reset_are_reported_and_change_nothing(env: TauAgentEnv) -> None:
    env.reset()
    with pytest.raises(ConfigurationError, match=r"unknown task 'four'.* of domain 'tiny'"):
        env.reset(options={"task": "four"})
    with pytest.raises(ConfigurationError, match=r"unknown option 'tasks' of reset \(known: task\)"):
        env.reset(options={"tasks": "one"})
    assert env.step("Hello")[0] == "user: Thanks"


def test_steps_before_a_reset_and_after_the_end_are_errors(env: TauAgentEnv, tmp_path: Path) -> None:
    with pytest.raises(EpisodeError, match=r"was not reset: call reset\(\)"):
        env.step("Hello")
    with pytest.raises(EpisodeError, match="was not reset"):
        env.save(tmp_path)
    env.reset()
    with pytest.raises(EpisodeError, match="is not over: there is no simulation to save"):
        env.save(tmp_path)
    env.step("done()")
    with pytest.raises(EpisodeError, match=r"is over \(agent_stop\)"):
        env.step("Hello")
    env.reset()
    env.close()
    env.close()
    with pytest.raises(EpisodeError, match="was closed"):
        env.step("Hello")
    assert env.reset()[0] == "user: Hi"


def test_a_reset_in_the_middle_begins_anew(env: TauAgentEnv) -> None:
    env.reset(options={"task": "two"})
    env.step(RENAME)
    observation, _ = env.reset(options={"task": "two"})
    assert observation == "user: Hi"
    assert '"name": "Lamp"' in env.step('look(item_id="lamp")')[0]


def test_a_model_without_a_key_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        TauAgentEnv(domain="mock", user_llm="openai/gpt-4.1")


# Nothing stays


@pytest.mark.exhaustive
def test_a_thousand_resets_leave_no_thread_and_no_conversation(domain: Domain) -> None:
    env = TauAgentEnv(domain="telecom")
    env.reset()
    threads = threading.active_count()
    for _ in range(1000):
        env.reset()
    assert threading.active_count() == threads
    env.close()
    gc.collect()
    assert _tasks() == 0


def test_threads_of_a_blocking_participant_end(domain: Domain) -> None:
    before = set(threading.enumerate())  # other tests leave participants behind that do not end
    env = TauUserEnv(domain=domain, agent=lambda messages, tools: "Yes?")
    for _ in range(50):
        env.reset()
        env.step("Hello")
    env.close()

    def left() -> list[threading.Thread]:
        return [each for each in threading.enumerate() if each.name == "tau-participant" and each not in before]

    deadline = time.monotonic() + 10
    while left() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left() == []


@pytest.mark.exhaustive
def test_an_environment_that_is_dropped_ends_its_conversation(domain: Domain) -> None:
    env = TauAgentEnv(domain=domain, user=Customer)
    env.reset()
    assert _tasks() > 0
    del env
    gc.collect()
    deadline = time.monotonic() + 10
    while _tasks() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _tasks() == 0


def _tasks() -> int:
    """The number of tasks on the loop of all environments."""
    from pytest_tau.integrations.gymnasium import rollout

    async def count() -> int:
        return len(asyncio.all_tasks()) - 1

    return rollout.run(count())


# The vector on one loop


def vector(domain: Domain, number: int = 2, **options: Any) -> TauAgentVectorEnv:
    return TauAgentVectorEnv(num_envs=number, domain=domain, **{"user": Customer, **options})


def test_all_conversations_of_a_vector_are_awaited_together(domain: Domain) -> None:
    together = asyncio.Barrier(100)

    class Waits(Customer):
        async def respond(self, message: Any) -> Any:
            await asyncio.wait_for(together.wait(), 60)
            return super().respond(message)

    envs = vector(domain, 100, user=Waits)
    envs.reset()
    assert envs.step(["Hello"] * 100)[0] == ("user: Thanks",) * 100
    envs.close()


def test_a_vector_of_built_in_users_has_no_thread_of_its_own() -> None:
    TauAgentEnv(domain="mock").reset()  # the thread of the loop
    threads = threading.active_count()
    envs = TauAgentVectorEnv(num_envs=50, domain="mock")
    envs.reset()
    envs.step(["Hello"] * 50)
    assert threading.active_count() <= threads
    envs.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_autoreset(domain: Domain, mode: str) -> None:
    envs = vector(domain, autoreset_mode=mode)
    if hasattr(gym.vector, "AutoresetMode"):  # since gymnasium 1.1
        assert envs.metadata["autoreset_mode"].value == mode
    envs.reset(seed=1)
    observations, _, terminated, _, infos = envs.step(["done()", "Hello"])
    assert terminated.tolist() == [True, False]
    if mode == "SameStep":
        assert observations == ("user: Hi", "user: Thanks")
        assert infos["final_obs"][0] == ""
        assert infos["final_info"]["termination_reason"][0] == "agent_stop"
        return
    assert infos["termination_reason"][0] == "agent_stop"
    if mode == "Disabled":
        with pytest.raises(EpisodeError, match="conversations 0 are over"):
            envs.step(["Hello", "Hello"])
        import numpy as np

        observations, infos = envs.reset(options={"reset_mask": np.array([True, False])})
        assert infos["_task_id"].tolist() == [True, False]
        assert observations == ("user: Hi", "user: Thanks")
    observations, _, terminated, _, infos = envs.step(["Hello", "Bye"])
    assert observations == (("user: Hi" if mode == "NextStep" else "user: Thanks"), "user: ###STOP###")
    assert terminated.tolist() == [False, True]
    envs.close()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"num_envs": 0}, "num_envs: expected a whole number from 1, got 0"),
        ({"autoreset_mode": "Never"}, "unknown autoreset_mode 'Never'"),
    ],
)
def test_bad_arguments_of_a_vector_are_reported(domain: Domain, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        TauAgentVectorEnv(**{"domain": domain, "user": Customer, **options})


def test_bad_input_of_a_vector_is_reported(domain: Domain) -> None:
    envs = vector(domain)
    with pytest.raises(ConfigurationError, match="seed: expected 2 seeds, got 1"):
        envs.reset(seed=[1])
    with pytest.raises(ConfigurationError, match="reset_mask: expected 2 bools"):
        envs.reset(options={"reset_mask": [True]})
    envs.reset()
    for actions in (["Hello"], "Hi", ["1", "2", "3"]):
        with pytest.raises(EpisodeError, match="expected 2 actions, one for each conversation"):
            envs.step(actions)
    envs.close()


def test_a_fault_in_one_conversation_raises_after_the_others_have_gone_on(domain: Domain) -> None:
    made = []

    class One(Script):
        def __init__(self) -> None:
            super().__init__(["Hi", "Thanks" if made else ValueError("broken user"), "###STOP###"])
            made.append(self)

    envs = vector(domain, user=One)
    envs.reset()
    with pytest.raises(ParticipantError, match="broken user"):
        envs.step(["Hello", "Hello"])
    assert [len(each.received) for each in made] == [2, 2]
    envs.close()


def test_a_vector_renders_and_saves_what_is_over(domain: Domain, tmp_path: Path) -> None:
    envs = vector(domain, render_mode="ansi")
    envs.reset()
    envs.step(["done()", "Hello"])
    assert [text.splitlines()[-1] for text in envs.render() or ()] == ["assistant: ###STOP###", "user: Thanks"]
    assert envs.save(tmp_path) == 1
    envs.close()
    assert len(list(open_run(tmp_path).trials())) == 1


# The reference's ids


def test_the_reference_s_ids_and_arguments(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_tau.integrations.gymnasium import settings as of_models

    from .scripted_chat import Chat

    monkeypatch.setattr(of_models, "check_model", lambda *_: None)
    monkeypatch.setattr(of_models, "_chat_model", Chat)
    register(compat=True)
    register(compat=True)
    env = gym.make("tau-bench-v0", domain=domain, task_id="two", user=Customer, all_messages_as_observation=True)
    observation, info = env.reset(seed=1)
    assert info["task_id"] == "two"
    assert observation.startswith("assistant: ")
    settings = env.unwrapped._rollout.settings
    assert (settings.max_steps, settings.observation, settings.user_llm) == (100, "all", None)
    env.close()
    paid = gym.make("tau-bench-v0", domain=domain, task_id="two").unwrapped._rollout.settings
    assert (paid.user_llm, paid.user_llm_args) == ("openai/gpt-4.1-2025-04-14", {"temperature": 0.0})
    alone = gym.make("tau-bench-v0", domain="telecom", task_id="mms.wifi-call.unsure", solo_mode=True)
    assert alone.unwrapped._rollout.settings.solo
    user = gym.make("tau-bench-user-v0", domain=domain, task_id="two", agent_llm="openai/x", agent_llm_args={"a": 1})
    settings = user.unwrapped._rollout.settings
    assert (settings.side, settings.agent_llm, settings.agent_llm_args) == ("user", "openai/x", {"a": 1})
