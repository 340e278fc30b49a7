"""Optimise the prompt of an agent with GEPA, on the tasks of the split train; write before.md and after.md.

    cd examples/gepa && python optimize.py

For a real model, replace LLM("shy", Shy()) by litellm_model(NAME) of pytest_tau.integrations.litellm, and write_prompt
by the name of the model that reflects.
"""

import asyncio
from pathlib import Path

import gepa
from gepa.core.adapter import EvaluationBatch
from stub import DOMAIN, Shy, write_prompt

import pytest_tau
from pytest_tau.chat import LLM
from pytest_tau.diagnosis import explain, plain_text
from pytest_tau.participants import Prompting

MODEL = LLM("shy", Shy())
POLICY = "\n\n<policy>\n{{policy}}\n</policy>\n"
BUDGET = 250


class Suite:
    """Plays tasks with a candidate, and tells what the verdicts say."""

    propose_new_texts = None

    def evaluate(self, batch, candidate, capture_traces=False):
        simulations = asyncio.run(self.play(batch, candidate["prompt"]))
        rewards = [simulation.reward for simulation in simulations]
        return EvaluationBatch(simulations, rewards, list(zip(batch, simulations, strict=True)))

    async def play(self, tasks, prompt):
        settings = pytest_tau.SimulationSettings(
            llms={"agent": MODEL}, prompting={"agent": Prompting(prompt=prompt + POLICY)}
        )
        options = {"domain": DOMAIN, "agent": "llm", "user": "scripted", "settings": settings}
        return await asyncio.gather(*(pytest_tau.asimulate(task, **options) for task in tasks))

    def make_reflective_dataset(self, candidate, batch, components):
        return {"prompt": [self.feedback(*played) for played in batch.trajectories]}

    def feedback(self, task, simulation):
        verdict = "passed" if simulation.reward == 1 else plain_text(explain(simulation))
        return {"Inputs": str(task.user_scenario), "Feedback": verdict}


if __name__ == "__main__":
    tasks = DOMAIN.tasks(split="train")
    before = {"prompt": "You help the customers of a shop."}
    result = gepa.optimize(
        before, tasks[14:], tasks[:14], Suite(), reflection_lm=write_prompt, max_metric_calls=BUDGET, logger=None
    )
    for name, candidate in (("before", before), ("after", result.best_candidate)):
        Path(f"{name}.md").write_text(candidate["prompt"] + POLICY, encoding="utf-8")
    first, best = result.val_aggregate_scores[0], max(result.val_aggregate_scores)
    print(f"{result.total_metric_calls} conversations; on 14 other tasks: {first:.2f} -> {best:.2f}")
