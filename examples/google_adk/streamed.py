"""An agent in Google's Agent Development Kit, whose model streams its answers.

    pytest --tau-domain retail --tau-agent examples/google_adk/streamed.py:Agent --tau-agent-llm openai/gpt-4.1

It needs google-adk[openai] and pytest-tau[endpoint]. The model is called through the trial's own address, so that its
calls are counted, recorded and replayed.
"""

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.integrations.openai import OpenAILlm
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

import pytest_tau


@pytest_tau.own_loop
def Agent(trial):
    model = OpenAILlm(model="gpt-4.1", base_url=trial.base_url, api_key=trial.api_key)
    # As a function, because the kit fills in {names} in an instruction that is a text.
    agent = LlmAgent(name="shop", model=model, instruction=lambda _: trial.policy, tools=trial.tools_for("google_adk"))
    runner = InMemoryRunner(agent)
    runner.auto_create_session = True

    async def run(text):
        asked = Content(role="user", parts=[Part(text=text)])
        config = RunConfig(streaming_mode=StreamingMode.SSE)
        running = runner.run_async(user_id="1", session_id="1", new_message=asked, run_config=config)
        events = [event async for event in running]
        return events[-1].content.parts[0].text

    return run
