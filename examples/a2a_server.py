"""A server that speaks A2A: it greets, and then cancels an order with a tool of the trial.

Run it with the number of a port: ``python a2a_server.py 9999``.
"""

import sys
import uuid

import mcp
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part, Role
from starlette.applications import Starlette

PORT = int(sys.argv[1])


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        tau = context.message.metadata["tau"]
        text = "How can I help you?"
        if "cancel" in context.get_user_input():
            arguments = {"order_id": "#W7171180", "reason": "no longer needed"}
            async with mcp.Client(tau["mcp_url"]) as server:
                result = await server.call_tool("cancel_pending_order", arguments)
            text = f"The order has been cancelled: {result.content[0].text}"
        part, name = Part(text=text), str(uuid.uuid4())
        answer = Message(message_id=name, context_id=context.context_id, role=Role.ROLE_AGENT, parts=[part])
        await event_queue.enqueue_event(answer)

    async def cancel(self, context, event_queue):
        pass


card = AgentCard(
    name="Shop",
    description="Cancels orders.",
    version="1.0.0",
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    capabilities=AgentCapabilities(),
    supported_interfaces=[
        AgentInterface(url=f"http://127.0.0.1:{PORT}/", protocol_binding="JSONRPC", protocol_version="1.0")
    ],
    skills=[AgentSkill(id="cancel", name="Cancel", description="Cancels an order.", tags=["orders"])],
)
handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="error")
