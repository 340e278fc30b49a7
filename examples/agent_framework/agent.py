"""An agent in Microsoft's Agent Framework.

    pytest --tau-domain retail --tau-agent examples/agent_framework/agent.py:Agent --tau-agent-llm openai/gpt-4.1

It needs agent-framework-core, agent-framework-openai and pytest-tau[endpoint]. The model is called through the
trial's own address, so that its calls are counted, recorded and replayed.
"""

from agent_framework.openai import OpenAIChatClient

import pytest_tau


@pytest_tau.own_loop
def Agent(trial):
    client = OpenAIChatClient(model="gpt-4.1", base_url=trial.base_url, api_key=trial.api_key)
    agent = client.as_agent(instructions=trial.policy, tools=trial.tools_for("agent_framework"))
    session = agent.create_session()

    async def run(text):
        return (await agent.run(text, session=session)).text

    return run
