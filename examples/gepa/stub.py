"""Stand-ins, so that the example needs no key: a model that improves with its prompt, and one that writes prompts."""

import asyncio
import re

import pytest_tau
from pytest_tau.chat import ChatReply
from pytest_tau.testing import rules_server

DOMAIN = pytest_tau.load_domain("retail")
CHANGES = {name for name, tool in DOMAIN.spec.agent_tools.tools().items() if tool.mutates}


class Shy:
    """Answers as the rules agent does, but makes no change with a tool that its prompt does not name."""

    def __init__(self):
        self.answer = rules_server(DOMAIN).script

    async def complete(self, request):
        message = await asyncio.to_thread(self.answer, {"messages": request.messages})
        prompt = request.messages[0]["content"].partition("<policy>")[0]
        calls = {call["function"]["name"] for call in message.get("tool_calls", ())}
        if any(name not in prompt for name in calls & CHANGES):
            message = {"content": "I am sorry, I cannot do that."}
        return ChatReply(message={"role": "assistant", **message})


def write_prompt(request):
    """Add one sentence to a prompt: about the first call that was missing."""
    prompt = request.split("```")[1].strip()
    missing = next((name for name in re.findall(r"never called (\w+)\(", request) if name not in prompt), None)
    return f"```\n{prompt}\n{f'Use {missing} once the customer has agreed.' if missing else ''}\n```"
