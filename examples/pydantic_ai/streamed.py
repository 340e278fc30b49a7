"""An agent in Pydantic AI, whose model streams its answers.

    pytest --tau-domain retail --tau-agent examples/pydantic_ai/streamed.py:Agent --tau-agent-llm openai/gpt-4.1

It needs pydantic-ai-slim[openai] and pytest-tau[endpoint]. The model is called through the trial's own address, so
that its calls are counted, recorded and replayed.
"""

import pydantic_ai
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

import pytest_tau


@pytest_tau.own_loop
def Agent(trial):
    model = OpenAIResponsesModel("gpt-4.1", provider=OpenAIProvider(trial.base_url, trial.api_key))
    agent = pydantic_ai.Agent(model, instructions=trial.policy, tools=trial.tools_for("pydantic_ai"))
    history = []

    async def run(text):
        async with agent.run_stream(text, message_history=history) as result:
            answer = await result.get_output()
        history[:] = result.all_messages()
        return answer

    return run
