"""The cost of a simulation without a model, and of two of its parts."""

from __future__ import annotations

import asyncio
import json
import statistics
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_tau import Evaluation, SimulationSettings, asimulate, load_domain
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.evaluation import BUILT_IN_JUDGES
from pytest_tau.evaluation.components.db import check_db

from .figures import Figure
from .measuring import in_unit, timings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_tau import Domain, Simulation, Task

    from .figures import Options

DOMAINS = ("airline", "retail", "telecom", "banking_knowledge")
#: Statements that a model would judge are all accepted: what is measured is everything else.
SETTINGS = SimulationSettings(evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))


def gold(options: Options) -> Iterator[Figure]:
    """Measure a gold simulation: environment, conversation and verdict of each base task.

    The first run of a task, which finds the state after its reference actions, is not counted: a process does that
    once. Half of the base tasks are cheaper than the median; the middle half shows how much they differ, more than
    how noisy the machine is.
    """
    loop = asyncio.new_event_loop()
    for domain in _domains(options):

        def simulate(task: Task, domain: Domain = domain) -> Simulation:
            return loop.run_until_complete(asimulate(task, domain=domain, agent="gold", settings=SETTINGS))

        found = []
        for task in _tasks(domain, options):
            simulate(task)
            found += timings(lambda task=task: simulate(task), options.count(5, 1))  # type: ignore[misc]
        yield Figure(domain.name, "ms", *in_unit(found, 1e3), target=3.0)
    loop.close()


def first_simulations(options: Options) -> Iterator[Figure]:
    """Measure what is done once a process: reading a domain's data, and the first gold simulation of a base task.

    The first simulation of a task makes its initial state twice, carries out its reference actions and reads its texts.
    The baseline is a later one, which follows it; the ratio is that of each task. Reading the data includes checking
    it; the baseline reads the same files and parses those in JSON with Python's json. All times are processor time.
    """
    loop = asyncio.new_event_loop()
    for domain in _domains(options):

        def simulate(task: Task, domain: Domain = domain) -> Simulation:
            return loop.run_until_complete(asimulate(task, domain=domain, agent="gold", settings=SETTINGS))

        def again(domain: Domain = domain) -> None:
            domain.spec.load(options.data).check_data()

        files = sorted(domain.folder.glob("*db.*"))
        read, parsed = timings(again, options.count(5, 1)), timings(partial(_parse, files), options.count(5, 1))
        yield Figure(f"{domain.name}, data", "ms", [each.cpu * 1e3 for each in read], target=20.0)
        yield Figure(f"{domain.name}, baseline: files", "ms", [each.cpu * 1e3 for each in parsed])
        *tasks, other = _tasks(domain, options)
        simulate(other)  # imports modules
        first, later = [], []
        for task in tasks:
            work = partial(simulate, task)
            made, _, found = timings(work, 3)
            first.append(made.cpu * 1e3)
            later.append(found.cpu * 1e3)
        ratios = [a / b for a, b in zip(first, later, strict=True)]
        yield Figure(f"{domain.name}, first to later", "", ratios, target=1.3)
        yield Figure(f"{domain.name}, first", "ms", first)
        yield Figure(f"{domain.name}, baseline: later", "ms", later)
    loop.close()


def _parse(files: list[Path]) -> None:
    for file in files:
        data = file.read_bytes()
        if file.suffix == ".json":
            json.loads(data)


def kept_work(options: Options) -> Iterator[Figure]:
    """Measure what a simulation does although its result is nearly always known: for each base task, its share.

    The replay finds changes that no call of the conversation has made, and calls of tools that write undeclared. An
    initial state is made a second time to find one that depends on more than its task, such as the time. The baseline
    is a whole gold simulation, the second one of its task. All times are processor time.
    """
    loop = asyncio.new_event_loop()
    for domain in _domains(options):
        replayed, remade, whole = [], [], []
        for task in _tasks(domain, options):
            simulate = partial(asimulate, task, domain=domain, agent="gold", settings=SETTINGS)
            messages = loop.run_until_complete(simulate()).messages
            loop.run_until_complete(simulate())
            calls = options.count(5, 1)
            whole.append(_median(lambda: loop.run_until_complete(simulate()), calls))  # noqa: B023
            again = lambda: domain.environment(task, replay_history=False).replay(messages)  # noqa: B023, E731
            replayed.append(_median(again, calls))
            if task.initial_state is not None:
                remade.append(_median(lambda: domain.showing(domain.spec, None).environment(task), calls))  # noqa: B023
        yield Figure(f"{domain.name}, replay", "ms", replayed)
        yield from [Figure(f"{domain.name}, initial state", "ms", remade)] if remade else []
        yield Figure(f"{domain.name}, baseline: simulation", "ms", whole)
    loop.close()


def _median(work: Callable[[], Any], runs: int) -> float:
    """Return the median of the processor time of a call, in ms."""
    return statistics.median(each.cpu * 1e3 for each in timings(work, runs))


def environments(options: Options) -> Iterator[Figure]:
    """Measure making an environment, once the domain's data has been read.

    First without a task: the cost that every simulation has, for any size of the database. Then with the base tasks
    that have an initial state, if the domain has any: the additional cost is that of the initial state.
    """
    runs, calls = options.count(30, 2), options.count(200, 5)
    for domain in _domains(options):
        domain.environment()
        found = timings(domain.environment, runs, calls)
        yield Figure(domain.name, "µs", *in_unit(found, 1e6), target=100.0)
        found = []
        for task in _tasks(domain, options):
            if task.initial_state is not None:
                domain.environment(task)
                make = lambda task=task, domain=domain: domain.environment(task)  # noqa: E731
                found += timings(make, 2, options.count(20, 1))
        if found:
            yield Figure(f"{domain.name}, with a task's initial state", "µs", *in_unit(found, 1e6))


def comparisons(options: Options) -> Iterator[Figure]:
    """Measure comparing the final state of a simulation with the one after the reference actions.

    The states of gold runs are equal; those of an agent that does nothing differ, and the differences are reported. The
    baseline, which alternates with them, compares both sides in full, without knowing which records were touched.
    """
    for domain in _domains(options):
        loop = asyncio.new_event_loop()
        equal, different, whole = [], [], []
        for task in _tasks(domain, options):
            simulation = loop.run_until_complete(asimulate(task, domain=domain, agent="gold", settings=SETTINGS))
            reference, untouched, final = reference_environment(domain, task), domain.environment(task), None
            final = domain.environment(task)
            final.replay(simulation.messages)
            for _ in range(options.count(3, 1)):
                equal += timings(lambda: check_db(final, reference), 1)  # noqa: B023
                different += timings(lambda: check_db(untouched, reference), 1)  # noqa: B023
            whole += timings(lambda: final.dump() == reference.dump(), 1)  # noqa: B023
        loop.close()
        yield Figure(f"{domain.name}, equal", "µs", *in_unit(equal, 1e6))
        yield Figure(f"{domain.name}, untouched", "µs", *in_unit(different, 1e6))
        yield Figure(f"{domain.name}, baseline: whole states", "µs", *in_unit(whole, 1e6))


def _domains(options: Options) -> Iterator[Domain]:
    for name in DOMAINS:
        yield load_domain(name, options.data)


def _tasks(domain: Domain, options: Options) -> list[Task]:
    tasks = domain.tasks()
    return tasks[: options.count(len(tasks), 3)]
