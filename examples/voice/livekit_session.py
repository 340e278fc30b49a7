"""A LiveKit AgentSession in conversations of simulated time.

It runs with --tau-mode voice --tau-agent examples/voice/livekit_session.py:Agent --tau-agent-llm MODEL, and
needs livekit-agents, livekit-plugins-openai and pytest-tau[endpoint]. The session is in its text mode, as in
LiveKit's own tests: its model, its tools and its history are tried, without a room and without sound.
"""

from livekit.agents import Agent as LiveKitAgent, AgentSession, function_tool
from livekit.plugins import openai

import pytest_tau


def livekit_tool(tool):
    async def call(raw_arguments: dict[str, object]):
        return await tool.acall(**raw_arguments)

    return function_tool(call, raw_schema=tool.openai_schema["function"])


class _Loop:
    def __init__(self, session):
        self.session = session

    async def run(self, text):
        result = await self.session.run(user_input=text)
        said = [event.item for event in result.events if event.type == "message"]
        return "\n".join(item.text_content for item in said if item.role == "assistant")

    async def close(self):
        await self.session.aclose()


@pytest_tau.own_loop
async def Agent(trial):
    model = openai.LLM(model="gpt-4.1", base_url=trial.base_url, api_key=trial.api_key)
    session = AgentSession(llm=model, max_tool_steps=50)
    await session.start(LiveKitAgent(instructions=trial.policy, tools=[livekit_tool(tool) for tool in trial.tools]))
    return _Loop(session)
