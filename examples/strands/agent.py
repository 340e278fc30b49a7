"""An agent in Strands Agents, for which pytest-tau has no tools of its own.

    pytest --tau-domain retail --tau-agent examples/strands/agent.py:Agent --tau-agent-llm openai/gpt-4.1

It needs strands-agents[openai] and pytest-tau[endpoint].
"""

import strands
from strands.agent.conversation_manager import NullConversationManager
from strands.models.openai import OpenAIModel
from strands.tools.tools import PythonAgentTool

import pytest_tau


def strands_tool(tool):
    async def call(use, **_):
        outcome = await tool.acall_result(use["input"])
        status = "error" if outcome.is_error else "success"
        return {"toolUseId": use["toolUseId"], "status": status, "content": [{"text": outcome.text}]}

    spec = {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.parameters}}
    return PythonAgentTool(tool.name, spec, call)


@pytest_tau.own_loop
def Agent(trial):
    client = {"base_url": trial.base_url, "api_key": trial.api_key}
    agent = strands.Agent(
        name="shop",
        model=OpenAIModel(client_args=client, model_id="gpt-4.1"),
        system_prompt=trial.policy,
        tools=[strands_tool(tool) for tool in trial.tools],
        conversation_manager=NullConversationManager(),  # the default one drops the beginning of a long conversation
        callback_handler=None,
    )

    async def run(text):
        result = await agent.invoke_async(text)
        return "".join(part["text"] for part in result.message["content"] if "text" in part)

    return run
