"""A domain as an OpenEnv server, each session of which plays the agent in an episode.

    uvicorn --app-dir examples/openenv server:app

It needs openenv-core and uvicorn. ``reset`` may name a task; ``step`` takes what ``Episode.step`` does. The reward at
the end is that of a test run, and the episode ends with the client.
"""

import asyncio
from typing import Any

from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from pydantic import Field

import pytest_tau

DOMAIN = pytest_tau.load_domain("mock")
TASKS = {task.id: task for task in DOMAIN.tasks()}


class Turn(Action):
    """What the agent says or calls: a text, or a message in OpenAI chat format."""

    action: str | dict[str, Any]


class Heard(Observation):
    """The new messages in OpenAI chat format, and at the beginning the tools."""

    messages: list[dict[str, Any]] = Field(default_factory=list)
    tools: list[dict[str, Any]] = Field(default_factory=list)


class TauEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.episode = self.loop = None

    async def reset_async(self, seed=None, episode_id=None, task=None, **_):
        self.close()
        task = TASKS[task] if task else next(iter(TASKS.values()))
        self.loop, self.episode = asyncio.get_running_loop(), pytest_tau.Episode(task, domain=DOMAIN, seed=seed)
        await self.episode.start()
        return Heard(messages=self.episode.prompt, tools=self.episode.tools)

    async def step_async(self, action, timeout_s=None, **_):
        result = await self.episode.step(action.action)
        return Heard(messages=result.messages, reward=result.reward, done=result.done)

    @property
    def state(self):
        return State(step_count=len(self.episode.trajectory) if self.episode else 0)

    def close(self):  # in any thread
        if self.episode is not None:
            asyncio.run_coroutine_threadsafe(self.episode.close(), self.loop)

    def reset(self, **_):
        raise NotImplementedError("the episodes are async")

    step = reset


app = create_fastapi_app(TauEnvironment, Turn, Heard, max_concurrent_envs=1000)
