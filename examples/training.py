"""A trainer: it plays eight episodes of each of three tasks at once.

It reinforces the choices of the episodes that earned more than the mean of their group.
"""

import asyncio
import math
import random
import re
import statistics

import pytest_tau

domain = pytest_tau.load_domain("mock")
tasks = [task for task in domain.tasks() if task.id in ("complete-task", "reopen-impatient", "reopen-chatty")]
STATUSES = ("completed", "pending")


class TinyPolicy:
    """Learns which status a word of the user's message stands for."""

    def __init__(self):
        self.random = random.Random(1)
        self.weights = {(word, status): 0.0 for word in STATUSES for status in STATUSES}

    def act(self, messages):
        """Return an action, and the choice that was made for it."""
        text = messages[-1]["content"]
        word = next((word for word in STATUSES if word in text), None)
        if messages[-1]["role"] == "tool" or word is None:
            return {"role": "assistant", "content": "That is done."}, None
        odds = [math.exp(self.weights[word, status]) for status in STATUSES]
        status = self.random.choices(STATUSES, odds)[0]
        task_id = re.search(r"task_\d", text)[0]
        return f'update_task_status(task_id="{task_id}", status="{status}")', (word, status)

    def learn(self, choices, advantage):
        for choice in choices:
            self.weights[choice] += advantage


async def play(policy, task, seed):
    async with pytest_tau.Episode(task, domain=domain, user="scripted", seed=seed) as episode:
        choices = []
        while not episode.done:
            action, choice = policy.act(episode.messages)
            choices += [choice] if choice else []
            await episode.step(action)
        return episode.reward, choices


async def train(policy, rounds=5, size=8):
    for number in range(rounds):
        episodes = [play(policy, task, seed) for task in tasks for seed in range(size)]
        played = await asyncio.gather(*episodes)
        for first in range(0, len(played), size):
            group = played[first : first + size]
            mean = statistics.mean(reward for reward, _ in group)
            for reward, choices in group:
                policy.learn(choices, reward - mean)
        mean = statistics.mean(reward for reward, _ in played)
        print(f"round {number}: mean reward {mean:.2f} of {len(played)} episodes")


asyncio.run(train(TinyPolicy()))
