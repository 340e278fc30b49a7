"""An agent in Pydantic AI that asks before the tools below; ``requires_approval`` ends its run with the requests.

    pytest --tau-domain retail-approvals --tau-agent examples/approvals/pydantic_ai_agent.py:Agent \
        --tau-agent-llm openai/gpt-4.1
"""

import pydantic_ai
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

import pytest_tau
from pytest_tau.capabilities.approvals import ask_approver

ASKED_FOR = {"return_delivered_order_items", "cancel_pending_order", "modify_user_address", "update_task_status"}


@pytest_tau.own_loop
def Agent(trial):
    model = OpenAIResponsesModel("gpt-4.1", provider=OpenAIProvider(trial.base_url, trial.api_key))
    tools = [tool for tool in trial.tools_for("pydantic_ai") if tool.name != "request_approval"]
    for tool in tools:
        tool.requires_approval = tool.name in ASKED_FOR
    output = [str, pydantic_ai.DeferredToolRequests]
    agent = pydantic_ai.Agent(model, instructions=trial.policy, tools=tools, output_type=output)
    history = []

    async def run(text):
        result = await agent.run(text, message_history=history)
        while isinstance(result.output, pydantic_ai.DeferredToolRequests):
            answers = pydantic_ai.DeferredToolResults()
            for call in result.output.approvals:
                answer = await ask_approver(trial, call.tool_name, call.args_as_dict())
                approved = answer.decision == "approved"
                answers.approvals[call.tool_call_id] = approved or pydantic_ai.ToolDenied(
                    f"Not approved: {answer.text}"
                )
            result = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
        history[:] = result.all_messages()
        return result.output

    return run
