"""The verdicts are equal, bit for bit, for any number of concurrent conversations and in any order.

The agents change records that other tasks are about, so that a simulation which saw another's writes would end otherwise.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import random

import pytest

import pytest_tau

pytestmark = pytest.mark.exhaustive

DOMAINS = ("mock", "airline", "retail", "telecom", "telecom-workflow")
#: As a module that a project's conftest.py imports, too.
MEDDLER = '''
import asyncio
import random

from pytest_tau.models import AssistantMessage, ToolCall


class Meddler:
    """Makes the calls of its own task among those of others, in an order and with gaps that its seed settles."""

    needs_reference = True

    def __init__(self, task, pool, seed):
        chance = random.Random(f"{task.id} {seed}")
        own = [(a.name, a.arguments) for a in task.criteria.actions or [] if a.requestor == "assistant"]
        self.calls = own + [tuple(call) for call in chance.sample(pool, min(8, len(pool)))]
        chance.shuffle(self.calls)
        self.chance = chance

    async def respond(self, message):
        await asyncio.sleep(self.chance.choice([0, 0, 0.001]))
        if not self.calls:
            return "That is all."
        several = [self.calls.pop() for _ in range(min(len(self.calls), self.chance.choice([1, 1, 3])))]
        calls = [ToolCall(name=name, arguments=arguments) for name, arguments in several]
        return AssistantMessage(content=None, tool_calls=calls)


class Client:
    async def respond(self, message):
        await asyncio.sleep(0)
        return "###STOP###" if message.content == "That is all." else "Please."
'''


def _meddler():
    names = {}
    exec(MEDDLER, names)
    return names


MEDDLERS = _meddler()


def pool_of(domain):
    """The agent's reference calls of every task of the domain."""
    return [
        (action.name, action.arguments)
        for task in domain.tasks(None)
        for action in task.criteria.actions or []
        if action.requestor == "assistant"
    ]


def some(domain, number):
    """Tasks of a domain, the same each time, that need no judge."""
    tasks = [task for task in domain.tasks(None) if not task.needs_judge]
    return random.Random(5).sample(tasks, min(number, len(tasks)))


#: Fields with times, which differ between runs.
TIMES = {"id", "timestamp", "start_time", "end_time", "duration"}


def timeless(value):
    """A simulation as JSON, without its times."""
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key not in TIMES}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def as_text(simulation):
    return json.dumps(timeless(simulation.model_dump(mode="json")))


@pytest.fixture(scope="module")
def domains():
    return {name: pytest_tau.load_domain(name) for name in DOMAINS}


async def run_trial(agent, case):
    domain, task, trial = case
    sides = {"agent": "gold"}
    if agent == "meddler":
        sides = {"agent": MEDDLERS["Meddler"](task, pool_of(domain), trial), "user": MEDDLERS["Client"]()}
    return as_text(await pytest_tau.asimulate(task, domain=domain, trial=trial, seed=trial, **sides))


async def run_all(agent, cases, most):
    room = asyncio.Semaphore(most)

    async def one(case):
        async with room:
            return await run_trial(agent, case)

    return await asyncio.gather(*map(one, cases))


def test_side_by_side_and_shuffled(domains):
    cases = [(domains[name], task, trial) for name in DOMAINS for task in some(domains[name], 12) for trial in range(2)]
    # What each comes to where nothing else goes on.
    alone = {agent: [asyncio.run(run_trial(agent, case)) for case in cases] for agent in ("gold", "meddler")}
    for agent, most in (("gold", 64), ("meddler", 8), ("meddler", 1000)):
        order = list(range(len(cases)))
        random.Random(most).shuffle(order)
        simulations = asyncio.run(run_all(agent, [cases[index] for index in order], most))
        assert simulations == [alone[agent][index] for index in order], (agent, most)
    # The agents make a difference, else this would show nothing.
    rewards = {agent: [json.loads(one)["reward_info"]["reward"] for one in results] for agent, results in alone.items()}
    assert set(rewards["gold"]) == {1.0}
    assert 0.0 in rewards["meddler"]
    differences = [json.loads(one)["reward_info"]["db_diff"] for one in alone["meddler"]]
    assert sum(bool(difference) for difference in differences) > len(differences) / 2


@pytest.mark.parametrize("name", DOMAINS)
def test_no_environment_sees_the_writes_of_another(name, domains):
    """Calls of many environments in turn, on shared base data: each ends in the state it ends in alone."""
    domain, chance = domains[name], random.Random(7)
    tasks, pool = some(domain, 12), pool_of(domain)
    calls = [chance.sample(pool, min(12, len(pool))) for _ in tasks]
    before = json.dumps(domain.environment().dump())

    def answers(environment, planned):
        return [environment.call(tool, dict(arguments)).content for tool, arguments in planned]

    alone = []
    for task, planned in zip(tasks, calls, strict=True):
        environment = domain.environment(task)
        alone.append((answers(environment, planned), json.dumps(environment.dump())))

    together = [domain.environment(task) for task in tasks]
    said = [[] for _ in tasks]
    turns = [index for index, planned in enumerate(calls) for _ in planned]
    chance.shuffle(turns)
    for index in turns:
        said[index] += answers(together[index], [calls[index][len(said[index])]])

    assert [(replies, json.dumps(one.dump())) for replies, one in zip(said, together, strict=True)] == alone
    assert len({state for _, state in alone}) > 1, "nothing was written"
    assert json.dumps(domain.environment().dump()) == before
    assert json.dumps(pytest_tau.load_domain(name).environment().dump()) == before


CONFTEST = """
import json
import random
from pathlib import Path

import pytest

from meddler import Client, Meddler

POOLS = json.loads(Path(__file__).with_name("pools.json").read_text())
RESULTS = Path(__file__).with_name("results")


def pytest_tau_make_agent(item, task, domain):
    return Meddler(task, POOLS[domain.name], item.trial)


def pytest_tau_make_user():
    return Client()


def pytest_tau_simulation_finished(item, simulation):
    RESULTS.mkdir(exist_ok=True)
    name = item.nodeid.replace("/", "-").replace("::", "-")
    (RESULTS / f"{name}.json").write_text(simulation.model_dump_json())


def pytest_addoption(parser):
    parser.addoption("--shuffled", type=int)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if config.option.shuffled:
        random.Random(config.option.shuffled).shuffle(items)
"""


@pytest.fixture
def meddlers(project, domains):
    """A project whose agents meddle with tasks of every domain."""
    project.write("conftest.py", CONFTEST)
    project.write("meddler.py", MEDDLER)
    project.write("pools.json", json.dumps({name: pool_of(domain) for name, domain in domains.items()}))
    for name, domain in domains.items():
        chosen = [task.model_dump(mode="json") for task in some(domain, 6)]
        project.tasks(f"{name}.tau.json", {"domain": name, "tasks": chosen})
    return project


def test_through_pytest(meddlers):
    """At any concurrency, shuffled, and spread over workers; what is called noop here is the meddler."""
    ways = {
        "one by one": ["--tau-concurrency", "1"],
        "64 at a time": ["--tau-concurrency", "64"],
        "8 at a time, shuffled": ["--tau-concurrency", "8", "--shuffled", "3"],
        "two workers": ["--tau-concurrency", "8", "-n", "2"],
    }
    if importlib.util.find_spec("xdist") is None:
        del ways["two workers"]
    results, outcomes = {}, {}
    for way, args in ways.items():
        run = meddlers.run("--tau-agent", "noop", "--tau-trials", "2", "--tb=no", *args)
        assert run.ret == pytest.ExitCode.TESTS_FAILED, run.text
        outcomes[way] = sorted(line for line in run.text.splitlines() if line.startswith("tau: ") and "trials" in line)
        files = sorted((meddlers.path / "results").iterdir())
        results[way] = {file.name: json.dumps(timeless(json.loads(file.read_text()))) for file in files}
        for file in files:
            file.unlink()
    assert len(results["one by one"]) == 60
    for way in ways:
        assert results[way] == results["one by one"], way
        assert outcomes[way] == outcomes["one by one"], way
