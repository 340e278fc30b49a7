"""An agent in the OpenAI Agents SDK that asks before the tools below; ``needs_approval`` interrupts its run.

    pytest --tau-domain retail-approvals --tau-agent examples/approvals/openai_agents_sdk.py:Agent \
        --tau-agent-llm openai/gpt-4.1
"""

import agents
import openai

import pytest_tau
from pytest_tau.capabilities.approvals import ask_approver

ASKED_FOR = {"return_delivered_order_items", "cancel_pending_order", "modify_user_address", "update_task_status"}


@pytest_tau.own_loop
def Agent(trial):
    client = openai.AsyncOpenAI(base_url=trial.base_url, api_key=trial.api_key)
    model = agents.OpenAIResponsesModel("gpt-4.1", client)
    tools = [tool for tool in trial.tools_for("openai_agents") if tool.name != "request_approval"]
    for tool in tools:
        tool.needs_approval = tool.name in ASKED_FOR
    agent = agents.Agent("Shop", instructions=trial.policy, tools=tools, model=model)
    session = agents.SQLiteSession("1")

    async def run(text):
        result = await agents.Runner.run(agent, text, session=session, max_turns=50)
        while result.interruptions:
            state = result.to_state()
            for item in result.interruptions:
                answer = await ask_approver(trial, item.name, item.arguments)
                if answer.decision == "approved":
                    state.approve(item)
                else:
                    state.reject(item, rejection_message=f"Not approved: {answer.text}")
            result = await agents.Runner.run(agent, state, session=session, max_turns=50)
        return result.final_output

    return run
