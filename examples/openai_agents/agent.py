"""An agent in the OpenAI Agents SDK.

    pytest --tau-domain retail --tau-agent examples/openai_agents/agent.py:Agent --tau-agent-llm openai/gpt-4.1

It needs openai-agents and pytest-tau[endpoint]. The model is called through the trial's own address, so that its
calls are counted, recorded and replayed.
"""

import agents
import openai

import pytest_tau


@pytest_tau.own_loop
def Agent(trial):
    client = openai.AsyncOpenAI(base_url=trial.base_url, api_key=trial.api_key)
    model = agents.OpenAIResponsesModel("gpt-4.1", client)
    agent = agents.Agent("Shop", instructions=trial.policy, tools=trial.tools_for("openai_agents"), model=model)
    session = agents.SQLiteSession("1")  # in memory

    async def run(text):
        result = await agents.Runner.run(agent, text, session=session, max_turns=50)
        return result.final_output

    return run
