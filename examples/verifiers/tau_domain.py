"""A domain as a taskset of verifiers, and the harness that plays the agent in its conversations.

    vf-eval tau_domain --env.taskset.domain telecom --env.agent.runtime.type subprocess -m MODEL

It needs verifiers, and this folder on the path. The reward is that of a test run. The model sees the system message of
the built-in agent, or that of ``--env.taskset.system-prompt``.
"""

import aiohttp
import verifiers.v1 as vf

import pytest_tau

__all__ = ["TauHarness", "TauTaskset"]


class TauData(vf.TaskData):
    domain: str
    user: str


class TauTask(vf.Task[TauData]):
    @property
    def key(self):
        return self.data.id

    @vf.reward
    async def verdict(self, trace):
        return trace.info["reward"]


class TauConfig(vf.TasksetConfig):
    domain: str = "mock"
    split: str = "base"
    user: str = "scripted"


class TauTaskset(vf.Taskset[TauTask, TauConfig]):
    def load(self):
        config = self.config
        for task in pytest_tau.load_domain(config.domain).tasks(split=config.split):
            # verifiers demands a prompt; here it is what the user wants, and the harness does not send it.
            data = TauData(
                id=task.id, name=task.id, prompt=str(task.user_scenario), domain=config.domain, user=config.user
            )
            yield TauTask(data, config.task)


class TauHarness(vf.Harness[vf.HarnessConfig]):
    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        domain = pytest_tau.load_domain(data.domain)
        (task,) = [task for task in domain.tasks() if task.id == data.id]
        headers = {"Authorization": f"Bearer {secret}"}
        async with (
            pytest_tau.Episode(task, domain=domain, user=data.user) as episode,
            aiohttp.ClientSession(headers=headers) as client,
        ):
            while not episode.done:
                messages = episode.messages
                if data.system_prompt is not None:
                    messages[0] = {"role": "system", "content": data.system_prompt}
                body = {"model": ctx.model, "messages": messages, "tools": episode.tools}
                async with client.post(f"{endpoint}/chat/completions", json=body) as answer:
                    if trace.stop_condition is not None:  # a limit of verifiers
                        break
                    answer.raise_for_status()
                    completion = await answer.json()
                await episode.step(completion["choices"][0]["message"])
            trace.info |= {"reward": episode.reward}
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
