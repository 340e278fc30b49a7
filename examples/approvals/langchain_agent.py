"""An agent in LangGraph, by LangChain's create_agent, whose middleware interrupts it before the tools below.

    pytest --tau-domain retail-approvals --tau-agent examples/approvals/langchain_agent.py:Agent \
        --tau-agent-llm openai/gpt-4.1
"""

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import pytest_tau
from pytest_tau.capabilities.approvals import ask_approver

ASKED_FOR = ("return_delivered_order_items", "cancel_pending_order", "modify_user_address", "update_task_status")


@pytest_tau.own_loop
def Agent(trial):
    model = ChatOpenAI(model="gpt-4.1", base_url=trial.base_url, api_key=trial.api_key)
    tools = [tool for tool in trial.tools_for("langchain") if tool.name != "request_approval"]
    asking = HumanInTheLoopMiddleware({name: {"allowed_decisions": ["approve", "reject"]} for name in ASKED_FOR})
    graph = create_agent(model, tools, system_prompt=trial.policy, middleware=[asking], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}

    async def run(text):
        state = await graph.ainvoke({"messages": [("user", text)]}, thread)
        while requests := [each for stop in state.get("__interrupt__", ()) for each in stop.value["action_requests"]]:
            decisions = []
            for request in requests:
                answer = await ask_approver(trial, request["name"], request["args"])
                rejected = {"type": "reject", "message": f"Not approved: {answer.text}"}
                decisions.append({"type": "approve"} if answer.decision == "approved" else rejected)
            state = await graph.ainvoke(Command(resume={"decisions": decisions}), thread)
        return state["messages"][-1].text

    return run
