"""An agent in the OpenAI Agents SDK, whose model streams its answers.

    pytest --tau-domain retail --tau-agent examples/openai_agents/streamed.py:Agent --tau-agent-llm openai/gpt-4.1

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
        result = agents.Runner.run_streamed(agent, text, session=session, max_turns=50)
        async for _event in result.stream_events():
            pass  # a service would send the events to its user
        return result.final_output

    return run
