"""Runs of any size for benchmarks: conversations of rule-based agents, repeated with other words, ids and trials."""

from __future__ import annotations

import asyncio
import itertools
import random
from typing import TYPE_CHECKING, NamedTuple

from pytest_tau import asimulate, load_domain
from pytest_tau.diagnosis.attribution import annotate_failure
from pytest_tau.models import AssistantMessage, ModelUsage, UserMessage
from pytest_tau.runs.fingerprints import hashes
from pytest_tau.runs.jsonl import simulation_line
from pytest_tau.runs.layout import SIMULATIONS
from pytest_tau.runs.manifest import FORMAT, write_manifest
from pytest_tau.runs.provenance import versions

from .simulations import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_tau import Domain, Simulation, Task

#: The trials of a task.
TRIALS = 4
#: The domains whose conversations have 10 to 40 messages.
_DOMAINS = ("airline", "retail")
_AGENTS = {"passed": "rules", "failed": "saboteur:wrong-item"}
#: The share of trials of the agent that fails, and of those that end in an error.
_FAILING, _BROKEN = 0.35, 0.01
#: The words that are added to each text, so that no two conversations are the same, as those of models.
_WORDS = range(8, 25)


class _Case(NamedTuple):
    domain: Domain
    task: Task
    passed: Simulation
    failed: Simulation


class LargeRuns:
    """Writes runs over one set of tasks.

    Args:
        tasks: The number of bundled tasks whose conversations are repeated; None for all.
    """

    def __init__(self, tasks: int | None = None) -> None:
        loop = asyncio.new_event_loop()
        self._cases = [case for name in _DOMAINS for case in _cases(load_domain(name), tasks, loop)]
        loop.close()
        self._words = {case.domain.name: case.domain.environment().policy.split() for case in self._cases}

    def write(self, folder: Path, simulations: int, seed: int = 0) -> Path:
        """Write a run with so many simulations; return its folder.

        Args:
            folder: The folder of the run; it is made.
            simulations: The number of simulations.
            seed: Of the words, and of which trials fail.
        """
        folder.mkdir(parents=True)
        chance = random.Random(seed)  # noqa: S311 - repeatability is wanted, not secrecy
        trials = list(itertools.islice(self._trials(), simulations))
        with (folder / SIMULATIONS).open("w", encoding="utf-8") as file:
            for case, task, trial in trials:
                simulation = self._simulation(case, task, trial, chance)
                test = f"{case.domain.name}::{task.id}[trial-{trial}]"
                file.write(simulation_line(test, case.domain, task, simulation))
        cases = {task.id: (case.domain, task) for case, task, _ in trials}
        planned: dict[str, dict[str, int]] = {}
        for domain, task in cases.values():
            planned.setdefault(domain.name, {})[task.id] = TRIALS
        manifest = {"format": FORMAT, "started": "2026-01-31T12:00:00+00:00", "finished": "2026-01-31T13:00:00+00:00"}
        manifest |= {"versions": versions(), "commit": None, "dirty": None, "settings": {"agent": "a"}}
        manifest |= {"hashes": hashes(cases.values(), SETTINGS), "planned": planned, "excluded": {}}
        write_manifest(folder, manifest)
        return folder

    def _trials(self) -> Iterator[tuple[_Case, Task, int]]:
        """Yield the trials without end: each round has all tasks with new ids."""
        for copy in itertools.count():
            for case in self._cases:
                task = case.task.model_copy(update={"id": f"{case.task.id}-{copy}"})
                for trial in range(TRIALS):
                    yield case, task, trial

    def _simulation(self, case: _Case, task: Task, trial: int, chance: random.Random) -> Simulation:
        original = case.failed if chance.random() < _FAILING else case.passed
        words = self._words[case.domain.name]
        messages = []
        for message in original.messages:
            if isinstance(message, AssistantMessage | UserMessage) and message.content:
                added = " ".join(chance.choices(words, k=chance.choice(_WORDS)))
                message = message.model_copy(update={"content": f"{message.content} {added}"})  # noqa: PLW2901
            messages.append(message)
        usage = ModelUsage(
            model="m", calls=len(messages) // 2, prompt_tokens=chance.randrange(10_000, 90_000), completion_tokens=900
        )
        changes = {
            "id": f"{chance.getrandbits(128):032x}",
            "task_id": task.id,
            "trial": trial,
            "seed": chance.getrandbits(20),
            "duration": chance.uniform(5, 90),
            "messages": messages,
            "model_usage": {"agent": usage.model_copy(update={"known_cost": usage.prompt_tokens * 1e-6})},
        }
        if chance.random() < _BROKEN:
            changes |= {"termination_reason": "infrastructure_error", "error": "the model does not answer"}
            changes |= {"reward_info": None}
        return original.model_copy(update=changes)


def _cases(domain: Domain, tasks: int | None, loop: asyncio.AbstractEventLoop) -> Iterator[_Case]:
    for task in domain.tasks(None)[:tasks]:
        found = {
            outcome: loop.run_until_complete(
                asimulate(task, domain=domain, agent=agent, user="scripted", settings=SETTINGS)
            )
            for outcome, agent in _AGENTS.items()
        }
        for simulation in found.values():
            annotate_failure(simulation, task, domain)
        yield _Case(domain, task, **found)
