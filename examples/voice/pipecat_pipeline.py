"""A pipeline of Pipecat in conversations of simulated time, from the transcription to the text for the voice.

It runs with --tau-mode voice --tau-agent examples/voice/pipecat_pipeline.py:Agent --tau-agent-llm MODEL, and
needs pipecat-ai and pytest-tau[endpoint].
"""

import asyncio

from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import LLMFullResponseEndFrame, LLMMessagesAppendFrame, LLMTextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.workers.runner import WorkerRunner


class Mouth(FrameProcessor):
    said, text = None, ""

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMTextFrame):
            self.text += frame.text
        elif isinstance(frame, LLMFullResponseEndFrame) and self.text:
            self.said.set_result(self.text)
            self.text = ""
        await self.push_frame(frame, direction)


def schema(tool):
    return tool.parameters.get("properties", {}), tool.parameters.get("required", [])


class Agent:
    def __init__(self, trial):
        self.tools, self.mouth, self.running = {tool.name: tool for tool in trial.tools}, Mouth(), None
        model = OpenAILLMService(base_url=trial.base_url, api_key=trial.api_key)
        model.register_function(None, self.call)
        tools = ToolsSchema([FunctionSchema(each.name, each.description, *schema(each)) for each in trial.tools])
        ears, memory = LLMContextAggregatorPair(LLMContext([{"role": "system", "content": trial.policy}], tools))
        self.worker = PipelineWorker(Pipeline([ears, model, self.mouth, memory]), cancel_on_idle_timeout=False)

    async def call(self, params):
        await params.result_callback(await self.tools[params.function_name].acall(**params.arguments))

    async def run(self, text):
        if self.running is None:
            runner = WorkerRunner(handle_sigint=False)
            await runner.add_workers(self.worker)
            self.running = asyncio.create_task(runner.run())
        self.mouth.said = asyncio.get_running_loop().create_future()
        await self.worker.queue_frame(LLMMessagesAppendFrame([{"role": "user", "content": text}], run_llm=True))
        return await self.mouth.said

    async def close(self):
        await self.worker.cancel()
