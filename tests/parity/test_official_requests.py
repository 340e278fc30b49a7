"""The first requests of the official domains: tools as recorded from the reference, data of the official folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.chat import LLM
from pytest_tau.integrations.openai_api import OpenAIServer
from pytest_tau.participants import Prompting
from pytest_tau.participants.prompts import official_guidelines
from pytest_tau.protocol import Protocol, Texts, load_texts, read_checkout, with_texts, write_texts
from pytest_tau.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.exhaustive, pytest.mark.parity]
MADE_UP = Path(__file__).parents[1] / "made_up_checkout"
DOMAINS = ("airline", "retail", "telecom", "mock", "banking_knowledge")
#: The settings under which the tools of a domain were recorded.
SETTINGS: dict[str, dict[str, Any]] = {"banking_knowledge": {"policy": "bm25_grep"}}
GREETING = "Hi! How can I help you today?"
RULES = "<rules>\nMade-up rules: help, and {{never}} guess.\n</rules>\n<book>\n%s\n</book>"


@pytest.fixture(scope="session")
def recorded(shared: Path) -> dict[str, Any]:
    """The recorded interfaces of the tools, by domain and side."""
    files = {name: shared / "conformance" / f"tools_{name}.json" for name in DOMAINS}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items()}


@pytest.fixture(scope="session")
def texts(recorded: dict[str, Any], shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Texts:
    """A file of texts with the recorded tools, and the prompts of the made-up checkout."""
    file = tmp_path_factory.mktemp("texts") / "texts.json"
    write_texts(file, read_checkout(MADE_UP))
    hidden = json.loads((shared / "conformance" / "discoverable_banking_knowledge.json").read_text(encoding="utf-8"))
    document = json.loads(file.read_text(encoding="utf-8"))
    document |= {"tools": recorded, "discoverable": {"banking_knowledge": hidden}}
    file.write_text(json.dumps(document), encoding="utf-8")
    return load_texts(file)


def function(tool: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {key: tool[key] for key in ("name", "description", "parameters")}}


@pytest.fixture
def requests(texts: Texts, official_data: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that runs a task and returns the first request of each role."""

    def run(name: str, task: Any, script: Callable[[dict[str, Any]], Any], **settings: Any) -> dict[str, Any]:
        domain = pytest_tau.load_domain(name, data_dir=official_data)
        with ModelServer(script) as server:
            args = {"base_url": server.base_url, "api_key": "k", "temperature": 0.0}
            llms: Any = {role: LLM(f"openai/{role}", OpenAIServer(), args) for role in ("agent", "user")}
            prompting: Any = {"agent": Prompting(), "user": official_guidelines(official_data)}
            made = pytest_tau.SimulationSettings(
                llms=llms, protocol=Protocol("tau2", texts), prompting=prompting, **settings
            )
            pytest_tau.simulate(task, domain=domain, agent="llm", seed=7, settings=made)
            return {request["model"]: request for request in reversed(server.requests)}

    return run


@pytest.mark.parametrize("name", DOMAINS)
def test_the_first_requests_of_agent_and_user(
    name: str, requests: Any, recorded: dict[str, Any], official_data: Path
) -> None:
    domain = pytest_tau.load_domain(name, data_dir=official_data)
    settings = SETTINGS.get(name, {})
    task = next(task for task in domain.tasks() if not task.message_history and task.user_tools != [])
    replies = {"user": iter(["Hello.", "###STOP###"]), "agent": iter(["Bye."])}
    found = requests(name, task, lambda request: next(replies[request["model"]]), **settings)
    offered = recorded[name]["user"]
    user_tools = [function(tool) for tool in offered if task.user_tools is None or tool["name"] in task.user_tools]
    guidelines = "simulation_guidelines_tools.md" if user_tools else "simulation_guidelines.md"
    frame = (official_data / "user_simulator" / guidelines).read_text(encoding="utf-8")
    common = {"seed": 7, "temperature": 0.0}
    called = {"tools": user_tools, "tool_choice": "auto"} if user_tools else {}
    assert found["user"] == {
        "model": "user",
        "messages": [
            {"role": "system", "content": f"{frame}\n\n<scenario>\n{scenario(name, task)}\n</scenario>"},
            {"role": "user", "content": GREETING},
        ],
        **called,
        **common,
    }
    assert found["agent"] == {
        "model": "agent",
        "messages": [
            {"role": "system", "content": RULES % domain.environment(**settings).policy},
            {"role": "assistant", "content": GREETING},
            {"role": "user", "content": "Hello."},
        ],
        "tools": [function(tool) for tool in recorded[name]["assistant"]],
        "tool_choice": "auto",
        **common,
    }


def scenario(name: str, task: Any) -> str:
    """Write the scenario from the raw values of the task, by the rules of the specification."""

    def indent(text: str, tabs: int) -> str:
        return "\n".join("\t" * tabs + line if line.strip() else line for line in text.split("\n"))

    values = task.user_scenario.model_dump()
    lines = [] if values["persona"] is None else ["Persona:", indent(values["persona"], 1)]
    lines.append("Instructions:")
    given = values["instructions"]
    if isinstance(given, str):
        return "\n".join([*lines, indent(given, 1)])
    lines.append(f"\tDomain: {name}")
    for key in ("reason_for_call", "known_info", "unknown_info", "task_instructions"):
        if given[key] is not None:
            lines += [f"\t{key.replace('_', ' ').capitalize()}:", indent(given[key], 2)]
    return "\n".join(lines)


def test_the_first_request_of_a_solo_agent(requests: Any, recorded: dict[str, Any], official_data: Path) -> None:
    domain = pytest_tau.load_domain("telecom", data_dir=official_data)
    task = domain.tasks()[0]
    done = {"tool_calls": [{"id": "c", "function": {"name": "done", "arguments": "{}"}}]}
    found = requests("telecom", task, lambda _: {"role": "assistant", "content": None, **done}, solo=True)
    policy = domain.environment(solo=True).policy
    sides = recorded["telecom"]
    expected = [function(tool) for tool in [*sides["assistant"], *sides["user"]]]
    assert found["agent"]["messages"] == [
        {
            "role": "system",
            "content": "Made-up rules of somebody who works alone. Call `done` at the end.\n"
            f"<book>\n{policy}\n</book>\n<case>\n{task.ticket}\n</case>",
        }
    ]
    assert found["agent"]["tools"][:-1] == expected
    assert found["agent"]["tool_choice"] == "required"


def test_the_workflow_variant_has_the_texts_of_telecom(texts: Texts) -> None:
    domain = with_texts(pytest_tau.load_domain("telecom-workflow"), texts)
    described = {tool.name: tool.description for tool in domain.environment().tools("user")}
    assert described == {tool.name: tool.description for tool in texts.tools["telecom"].user}


def test_the_texts_of_hidden_tools_can_be_asked_for(texts: Texts, shared: Path) -> None:
    file = shared / "conformance" / "discoverable_banking_knowledge.json"
    assert texts.discoverable("banking_knowledge") == json.loads(file.read_text(encoding="utf-8"))
