"""What models are sent under the official protocol, captured on the wire."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.chat import LLM
from pytest_tau.evaluation import Evaluation, LazyJudge
from pytest_tau.integrations.openai_api import OpenAIServer
from pytest_tau.orchestrator import Limits
from pytest_tau.protocol import Protocol, read_checkout
from pytest_tau.testing import ModelServer

MADE_UP = Path(__file__).parents[1] / "made_up_checkout"
TEXTS = read_checkout(MADE_UP)
TAU2 = Protocol("tau2", TEXTS)
GREETING = "Hi! How can I help you today?"
BOOK = "<rules>\nMade-up rules: help, and {{never}} guess.\n</rules>\n<book>\n%s\n</book>"
CALL = {"name": "get_users", "arguments": {}}


def function(tool):
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    }


@pytest.fixture
def mock():
    return pytest_tau.load_domain("mock")


class Run:
    """A trial of which every request is captured."""

    def __init__(self, server, domain, task, protocol=TAU2, agent="llm", user="llm", **settings):
        args = {"base_url": server.base_url, "api_key": "k", "temperature": 0.0}
        chat = OpenAIServer()
        llms = {role: LLM(f"openai/{role}", chat, args) for role in ("agent", "user", "judge")}
        made = SimulationSettings(llms=llms, protocol=protocol, **settings)
        self.simulation = pytest_tau.simulate(task, domain=domain, agent=agent, user=user, seed=7, settings=made)
        self.requests = server.requests

    def of(self, role):
        return [request for request in self.requests if request["model"] == role]


@pytest.fixture
def run(mock):
    """Run a trial of the mock domain with scripted replies of each role, the last of which is repeated."""

    def start(replies, *, task=None, **settings):
        left = {role: list(given) for role, given in replies.items()}

        def script(request):
            waiting = left[request["model"]]
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]

        task = task or next(task for task in mock.tasks(None) if task.id == "create-task")
        with ModelServer(script) as server:
            return Run(server, mock, task, **settings)

    return start


def tool_call(name="get_users", arguments="{}", **fields):
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}], **fields}


def test_the_first_requests(run, mock):
    started = run({"user": ["Hello.", "###STOP###"], "agent": ["Bye."]})
    environment = mock.environment()
    scenario = str(next(task for task in mock.tasks(None) if task.id == "create-task").user_scenario)
    common = {"seed": 7, "temperature": 0.0, "tool_choice": "auto"}
    assert started.of("user")[0] == {
        "model": "user",
        "messages": [
            {
                "role": "system",
                "content": "Made up: you are a customer with {{tools}}.\n\n\n<scenario>\n" + scenario + "\n</scenario>",
            },
            {"role": "user", "content": GREETING},
        ],
        "tools": [function(tool) for tool in TEXTS.tools["mock"].user],
        **common,
    }
    names = [tool.name for tool in environment.tools()]
    texts = {tool.name: function(tool) for tool in TEXTS.tools["mock"].assistant}
    assert started.of("agent")[0] == {
        "model": "agent",
        "messages": [
            {"role": "system", "content": BOOK % environment.policy},
            {"role": "assistant", "content": GREETING},
            {"role": "user", "content": "Hello."},
        ],
        "tools": [texts[name] for name in names],
        **common,
    }


def test_own_messages_are_sent_back_with_the_outer_name_and_without_reasoning(run):
    reply = tool_call(arguments="{ }", reasoning_content="I think.", annotations=[])
    started = run({"user": ["Hello.", "###STOP###"], "agent": [reply, "Bye."]})
    call, result = started.of("agent")[1]["messages"][-2:]
    assert call == {  # without content, as litellm sends it
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "name": "get_users", "type": "function", "function": {"name": "get_users", "arguments": "{}"}}
        ],
    }
    assert (result["role"], result["tool_call_id"]) == ("tool", "c1")
    assert started.simulation.messages[2].raw_data["reasoning_content"] == "I think."


def test_the_own_protocol_is_as_it_was(run):
    reply = tool_call(reasoning_content="I think.")
    started = run({"user": ["Hello.", "###STOP###"], "agent": [reply, "Bye."]}, protocol=Protocol())
    call = started.of("agent")[1]["messages"][-2]
    assert call["reasoning_content"] == "I think."
    assert "name" not in call["tool_calls"][0]


def test_a_solo_agent_has_the_ticket_in_its_prompt_and_no_message(run, mock):
    task = next(task for task in mock.tasks(None) if task.ticket)
    started = run({"agent": [tool_call("done")]}, task=task, user="dummy", solo=True)
    (request,) = started.of("agent")
    environment = mock.environment(solo=True)
    assert request["messages"] == [
        {
            "role": "system",
            "content": "Made-up rules of somebody who works alone. Call `done` at the end.\n<book>\n"
            f"{environment.policy}\n</book>\n<case>\n{task.ticket}\n</case>",
        }
    ]
    assert request["tool_choice"] == "required"
    assert request["tools"][-1] == function(TEXTS.done)
    assert len(request["tools"]) == len(environment.tools()) + 1
    assert started.simulation.termination_reason == "agent_stop"


def test_an_oracle_has_the_plan_in_its_prompt(run, mock):
    started = run({"user": ["Hello.", "###STOP###"], "agent": ["Bye."]}, agent="llm-gt")
    system = started.of("agent")[0]["messages"][0]["content"]
    assert system.startswith(BOOK % mock.environment().policy + "\n<plan>\n1. create_task(")


def judged(task):
    criteria = {"nl_assertions": ["It is {kind}.", "It's short."], "reward_basis": ["NL_ASSERTION"]}
    return pytest_tau.Task.model_validate(task.model_dump() | {"evaluation_criteria": criteria})


def test_the_judge_is_asked_once_by_the_official_prompt(run, mock):
    answer = json.dumps({"findings": [{"what": "1", "true": True, "why": "y"}, {"what": "2", "true": False}]})
    task = judged(mock.tasks(None)[0])
    started = run(
        {"user": ["Hello.", "###STOP###"], "agent": [tool_call(), "Bye."], "judge": [answer]},
        task=task,
        evaluation=Evaluation(judge=LazyJudge("j", TEXTS.judge)),
    )
    (request,) = started.of("judge")
    result = started.simulation.messages[3].content
    assert request == {
        "model": "judge",
        "temperature": 0.0,
        "messages": [
            {"role": "system", "content": TEXTS.judge.system},
            {
                "role": "user",
                "content": f"\n        talk:\n        assistant: {GREETING}\nuser: Hello.\nassistant: None\n"
                f"tool: {result}\nassistant: Bye.\nuser: ###STOP###\n\n"
                "        expectations:\n        ['It is {kind}.', \"It's short.\"]\n        ",
            },
        ],
    }
    verdict = started.simulation.reward_info
    assert [check.met for check in verdict.nl_assertions] == [True, False]
    assert verdict.reward == 0


def test_of_a_key_twice_the_official_judge_takes_the_last_value(run, mock):
    answer = '{"findings": [{"true": false, "true": true, "why": ""}, {"true": true, "why": ""}]}'
    started = run(
        {"user": ["###STOP###"], "judge": [answer]},
        task=judged(mock.tasks(None)[0]),
        evaluation=Evaluation(judge=LazyJudge("j", TEXTS.judge)),
    )
    assert started.simulation.reward == 1
    assert len(started.of("judge")) == 1


@pytest.mark.parametrize(("found", "met"), [([], []), ([True], [True]), ([True, True, False], [True, True, False])])
def test_the_official_judge_may_give_any_number_of_verdicts(run, mock, found, met):
    answer = json.dumps({"findings": [{"true": each, "why": ""} for each in found]})
    started = run(
        {"user": ["###STOP###"], "judge": [answer]},
        task=judged(mock.tasks(None)[0]),
        evaluation=Evaluation(judge=LazyJudge("j", TEXTS.judge)),
        limits=Limits(timeout=60),
    )
    simulation = started.simulation
    assert [check.met for check in simulation.reward_info.nl_assertions] == met
    assert simulation.reward == float(all(met))
    assert len(started.of("judge")) == 1


@pytest.mark.parametrize(
    ("basis", "agent", "asked"), [(["DB"], "Bye.", 0), (["NL_ASSERTION"], "Bye.", 1), (["NL_ASSERTION"], "", 0)]
)
def test_the_official_judge_is_asked_only_if_the_reward_depends_on_it(run, mock, basis, agent, asked):
    criteria = {"nl_assertions": ["It's short."], "reward_basis": basis}
    task = pytest_tau.Task.model_validate(mock.tasks(None)[0].model_dump() | {"evaluation_criteria": criteria})
    replies = {"user": ["Hello.", "###STOP###"], "agent": [agent or tool_call()], "judge": ['{"findings": []}']}
    judge = Evaluation(judge=LazyJudge("j", TEXTS.judge))
    started = run(replies, task=task, evaluation=judge, limits=Limits(max_steps=9))
    assert len(started.of("judge")) == asked
    assert started.simulation.reward == float(bool(agent))
    assert started.simulation.outcome == ("passed" if agent else "failed")


class TestRepliesThatCannotBeUsed:
    def test_the_conversation_is_run_again_from_the_initial_state(self, run):
        made = tool_call("create_task", json.dumps({"user_id": "user_1", "title": "Order new chairs"}))
        empty = {"role": "assistant", "content": ""}
        started = run({"user": ["Hello.", "Hello.", "###STOP###"], "agent": [made, empty, made, "Done."]})
        simulation = started.simulation
        assert simulation.reward == 1
        (discarded,) = simulation.info.discarded_attempts
        assert "openai/agent sent an empty reply" in discarded.error
        assert [message["role"] for message in discarded.messages] == ["assistant", "user", "assistant", "tool"]
        assert len(simulation.messages) == 6
        assert simulation.model_usage["agent"].calls == 4

    def test_arguments_that_are_no_json(self, run):
        started = run({"user": ["Hello."], "agent": [tool_call(arguments="{nonsense")]})
        assert started.simulation.termination_reason == "infrastructure_error"
        assert "sent arguments of 'get_users' that are not JSON: {nonsense" in started.simulation.error
        assert len(started.simulation.info.discarded_attempts) == 3
        assert len(started.of("agent")) == 4

    def test_an_empty_message_of_the_user(self, run):
        started = run({"user": [{"role": "assistant", "content": None}]})
        assert started.simulation.outcome == "error"
        assert len(started.of("user")) == 4

    @pytest.mark.parametrize("answer", ["```json\n{}\n```", "[1]", '{"findings": [1, 2]}', '{"findings": null}'])
    def test_an_answer_of_the_judge(self, run, mock, answer):
        good = json.dumps({"findings": [{"true": True, "why": ""}, {"true": True, "why": ""}]})
        started = run(
            {"user": ["###STOP###"], "judge": [answer, good]},
            task=judged(mock.tasks(None)[0]),
            evaluation=Evaluation(judge=LazyJudge("j", TEXTS.judge)),
        )
        assert started.simulation.reward == 1
        assert len(started.of("judge")) == len(started.of("user")) == 2

    def test_the_own_protocol_counts_it_against_the_agent(self, run):
        started = run({"user": ["Hello."], "agent": [{"role": "assistant", "content": ""}]}, protocol=Protocol())
        assert started.simulation.termination_reason == "agent_error"
        assert len(started.of("agent")) == 1
