"""A framework without tools of its own: the example of docs/another_framework.md, and what is said of each pitfall."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.analysis.usage import UsageTotals
from pytest_tau.chat import LLM, ChatReply
from pytest_tau.diagnosis import explain
from pytest_tau.endpoint import EndpointRequest
from pytest_tau.testing import rules_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau import AgentTrial, Simulation
    from pytest_tau.chat import ChatRequest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "another_framework.md").read_text(encoding="utf-8")
RETAIL = pytest_tau.load_domain("retail")
TASKS = {task.id: task for task in RETAIL.tasks(split="small")}


class Rules:
    """The rules agent as a model, in this process."""

    def __init__(self) -> None:
        self._script = rules_model._RulesModel(RETAIL)

    async def complete(self, request: ChatRequest) -> ChatReply:
        message = await self._script._answer(request.messages)
        return ChatReply(message={"role": "assistant", **message})


@dataclass
class Framework:
    """A framework in few lines: a loop of model and tool calls over a history.

    Attributes:
        remembers: What is left of the history when a message of the user comes.
        answers: What it makes of an answer.
        waits: Whether it gives a result to the model.
    """

    remembers: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda history: history
    answers: Callable[[str], Any] = str
    waits: bool = True

    def agent(self) -> Any:
        @pytest_tau.own_loop
        def factory(trial: AgentTrial) -> Any:
            tools = {tool.name: tool for tool in trial.tools}
            schemas = [tool.openai_schema for tool in trial.tools]
            history: list[dict[str, Any]] = []

            async def run(text: str) -> Any:
                history[:] = self.remembers(history)
                history.append({"role": "user", "content": text})
                while True:
                    asked = [{"role": "system", "content": trial.policy}, *history]
                    reply = (await trial.session.complete(EndpointRequest("tau", asked, schemas))).message
                    history.append(reply)
                    if not reply.get("tool_calls"):
                        return self.answers(reply["content"])
                    for call in reply["tool_calls"]:
                        result = await tools[call["function"]["name"]].acall(
                            **json.loads(call["function"]["arguments"])
                        )
                        content = result if self.waits else "null"
                        history.append({"role": "tool", "tool_call_id": call["id"], "content": content})

            return run

        return factory

    def run(self, task: str = "pay-by-gift-card") -> Simulation:
        settings = SimulationSettings(llms={"agent": LLM("rules", Rules())})
        return pytest_tau.simulate(TASKS[task], domain=RETAIL, agent=self.agent(), settings=settings)


def said(simulation: Simulation) -> str:
    """What the summary and the report of a failure say."""
    totals = UsageTotals()
    totals.add(simulation.model_usage)
    return "\n".join([*totals.lines(), *(line.text for line in explain(simulation))])


def test_a_loop_that_keeps_everything_loses_nothing() -> None:
    for task in TASKS:
        simulation = Framework().run(task)
        used = simulation.model_usage["agent"]
        assert (simulation.reward, used.lost_results, used.lost_texts) == (1, 0, 0), task


def texts_only(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message for message in history if message["role"] != "tool" and not message.get("tool_calls")]


#: Each pitfall of the page: the framework that has it, whether the trial still passes, and what is said.
PITFALLS: dict[str, tuple[Framework, bool | None, str]] = {
    "drops turns": (
        Framework(remembers=lambda history: history[-2:]),
        False,
        r"\d+ messages of the user not in the last",
    ),
    "drops results": (Framework(remembers=texts_only), None, r"\d+ results not in the last requests"),
    "does not wait": (Framework(waits=False), None, r"\d+ results? not in the last requests"),
    "whole result": (
        Framework(answers=lambda text: object()),
        False,
        r"run\(\) returned object .*; expected text, a stream",
    ),
}


@pytest.mark.parametrize("name", PITFALLS)
def test_a_pitfall_is_reported(name: str) -> None:
    framework, passes, text = PITFALLS[name]
    simulation = framework.run()
    assert re.search(text, said(simulation)), said(simulation)
    assert passes is None or (simulation.reward == 1) == passes


def test_words_around_an_answer_break_the_rules_about_exact_words() -> None:
    plain, decorated = (
        Framework(answers=answers).run("cancel-then-close-the-account") for answers in (str, "Answer: {}".format)
    )
    assert [breach["rule"] for breach in plain.facts["policy_rules"]["breaches"]] == []
    assert [breach["rule"] for breach in decorated.facts["policy_rules"]["breaches"]] == ["transfer-notice"]


def test_the_page_shows_the_example() -> None:
    example = (ROOT / "examples" / "strands" / "agent.py").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert example.endswith(f'"""\n\n{code}')


@pytest.mark.exhaustive
def test_the_example_passes_every_task() -> None:
    pytest.importorskip("strands", reason="strands-agents is not installed")
    agent = runpy.run_path(str(ROOT / "examples" / "strands" / "agent.py"))["Agent"]
    settings = SimulationSettings(llms={"agent": LLM("rules", Rules())})
    for task in TASKS.values():
        simulation = pytest_tau.simulate(task, domain=RETAIL, agent=agent, settings=settings)
        used = simulation.model_usage["agent"]
        assert (simulation.reward, used.unmade_calls, used.lost_results, used.lost_texts) == (1, 0, 0, 0)
