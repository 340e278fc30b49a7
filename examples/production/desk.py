"""An agent in production, instrumented by its own framework: how traces.jsonl was made. It calls no model.

pip install pydantic-ai-slim opentelemetry-sdk opentelemetry-exporter-otlp-json-file
python desk.py traces.jsonl
"""

import sys
from dataclasses import asdict
from pathlib import Path

from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

sys.path.insert(0, str(Path(__file__).parent.parent / "existing_tools"))
from shop import Shop

POLICY = (Path(__file__).parent.parent / "existing_tools" / "policy.md").read_text(encoding="utf-8")
#: What each customer says, and what the agent does after it: its calls, then its answer.
CONVERSATIONS = {
    "desk-1": [
        ("Hello, I do not need the lamp any more. Can you cancel it?", "Certainly. What is the number of the order?"),
        (
            "It is o1.",
            ("find_order", "o1"),
            "Order o1 is a lamp and has not been sent. Shall I cancel it?",
        ),
        ("Yes, please.", ("cancel_order", "o1"), "Order o1 is cancelled. Is there anything else?"),
        ("No, that was all. Thank you!", "You are welcome."),
    ],
    "desk-2": [
        ("I want to cancel my chair, order o2.", ("find_order", "o2"), "I see the chair. Shall I cancel it?"),
        (
            "Yes, please.",
            ("cancel_order", "o2"),
            ("cancel_order", "o1"),
            "The chair has been sent, so I have cancelled order o1 instead. Is there anything else?",
        ),
        ("What? That was my lamp!", "I am sorry about that."),
    ],
}


def tools_of(shop):
    def cancel_order(order_id: str) -> object:
        """Cancel an order that has not been sent."""
        try:
            return asdict(shop.cancel_order(order_id))
        except ValueError as error:
            return f"Error: {error}"

    def find_order(order_id: str) -> object:
        """Show an order."""
        return asdict(shop.find_order(order_id))

    return [find_order, cancel_order]


def main(file):
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(file)))
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider, include_content=True))
    for name, turns in CONVERSATIONS.items():
        shop, history = Shop(), []
        for said, *does in turns:
            steps = iter(does)

            def answer(messages, info, steps=steps):
                step = next(steps)
                if isinstance(step, str):
                    return ModelResponse(parts=[TextPart(step)])
                return ModelResponse(parts=[ToolCallPart(step[0], {"order_id": step[1]})])

            agent = Agent(FunctionModel(answer), name="desk", instructions=POLICY, tools=tools_of(shop))
            done = agent.run_sync(said, message_history=history, conversation_id=name)
            history = done.all_messages()
    provider.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
