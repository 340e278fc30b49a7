"""An agent in LangGraph, by LangChain's create_agent.

    pytest --tau-domain retail --tau-agent examples/langchain/agent.py:Agent --tau-agent-llm openai/gpt-4.1

It needs langchain, langchain-openai and pytest-tau[endpoint]. The model is called through the trial's own address, so
that its calls are counted, recorded and replayed.
"""

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

import pytest_tau


@pytest_tau.own_loop
def Agent(trial):
    model = ChatOpenAI(model="gpt-4.1", base_url=trial.base_url, api_key=trial.api_key)
    graph = create_agent(model, trial.tools_for("langchain"), system_prompt=trial.policy, checkpointer=InMemorySaver())

    async def run(text):
        state = await graph.ainvoke({"messages": [("user", text)]}, {"configurable": {"thread_id": "1"}})
        return state["messages"][-1].text

    return run
