"""An agent in smolagents, whose model streams its answers.

    pytest --tau-domain retail --tau-agent examples/smolagents/streamed.py:Agent --tau-agent-llm openai/gpt-4.1

It needs smolagents[openai] and pytest-tau[endpoint]. The model is called through the trial's own address, so that its
calls are counted, recorded and replayed.
"""

import smolagents

import pytest_tau


@pytest_tau.own_loop
def Agent(trial):
    model = smolagents.OpenAIModel("gpt-4.1", api_base=trial.base_url, api_key=trial.api_key)
    tools = trial.tools_for("smolagents")
    agent = smolagents.ToolCallingAgent(tools, model, instructions=trial.policy, verbosity_level=0, stream_outputs=True)

    def run(text):
        return agent.run(text, reset=False)

    return run
