"""Runs of pytest whose conversations wait for the model server: what each process has used, and what was stored."""

from __future__ import annotations

import json
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_tau.runs.reader import open_run

from .conversations import AGENT, MODEL_CALLS, USER
from .measuring import process

if TYPE_CHECKING:
    from .figures import Options

#: Written into the project: each process of the run leaves what it has used.
_CONFTEST = """
import json, resource, sys, time
from pathlib import Path

used = {"trials": 0, "collected": 0.0}

def pytest_collection_finish():
    used["collected"] = time.process_time()

def pytest_runtest_logreport(report):
    used["trials"] += report.when == "teardown"

def pytest_sessionfinish(session):
    write(session.config)  # xdist kills a worker that takes long to end

def pytest_unconfigure(config):
    write(config)

def write(config):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    used["peak"] = peak / 1024 if sys.platform == "darwin" else peak
    used["cpu"] = time.process_time()
    worker = getattr(config, "workerinput", {}).get("workerid", "main")
    Path(__file__).with_name(f"{worker}.used").write_text(json.dumps(used))
"""


class Used(NamedTuple):
    """What a process of a run has used.

    Attributes:
        trials: The number of trials that it has run or reported.
        collected: Seconds of processor time until its items were collected; 0 in a controller.
        cpu: Seconds of processor time in all.
        peak: The peak of its memory in MB.
    """

    trials: int
    collected: float
    cpu: float
    peak: float

    @property
    def running(self) -> float:
        """Return the seconds of processor time after the collection."""
        return self.cpu - self.collected


class ConversationRun(NamedTuple):
    """A run that has ended.

    Attributes:
        wall: Seconds by the wall clock.
        main: What the process that was started has used: the only one, or the controller.
        workers: What the workers have used.
    """

    wall: float
    main: Used
    workers: list[Used]


def run_pytest(
    options: Options, at_once: int, tasks: int | None, workers: int, url: str, trials: int, *, shard: str = "1/1"
) -> ConversationRun:
    """Run conversations of airline, and check that each of them is stored once.

    Args:
        options: The settings of the measurement.
        at_once: The number of conversations at the same time, in each process.
        tasks: The number of tasks; None for all.
        workers: The number of xdist's workers; 0 for one process.
        url: The address of the model server.
        trials: Trials of each task.
        shard: The part of them that is run.

    Raises:
        RuntimeError: The run broke down, or a simulation is missing or is there twice.
    """
    args = json.dumps({"api_base": url, "api_key": "none"})
    others = {entry.name for entry in entry_points(group="pytest11")} - {"tau", "xdist", "xdist.looponfail"}
    command = [argument for name in sorted(others) for argument in ("-p", f"no:{name}")]
    command += ["--tau-domain=airline", *options.pytest_arguments, f"--tau-trials={trials}", "--tau-judge=accept"]
    command += [f"--tau-agent-llm={AGENT}", f"--tau-agent-llm-args={args}", "--tau-agent=llm", "--tau-user=llm"]
    command += [f"--tau-user-llm={USER}", f"--tau-user-llm-args={args}", "--tau-run-name=run", "-n", str(workers)]
    command += [f"--tau-concurrency={at_once}", "--tau-llm-concurrency=10000", "-qqq"]
    command += [f"--tau-num-tasks={tasks}"] if tasks else []
    command += [f"--tau-shard={shard}"]
    folder = Path(tempfile.mkdtemp())
    try:
        Path(folder, "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        Path(folder, "conftest.py").write_text(_CONFTEST, encoding="utf-8")
        # The conversations do not solve the tasks: trials fail.
        ended = process("-m", "pytest", *command, folder=folder, good=(0, 1))
        used = {file.stem: Used(**json.loads(file.read_text())) for file in sorted(folder.glob("*.used"))}
        run = ConversationRun(ended.wall, used.pop("main"), list(used.values()))
        check_stored(folder / ".tau/runs/run", run.main.trials)
    finally:
        shutil.rmtree(folder)
    return run


def run_halves(
    options: Options, at_once: int, tasks: int | None, url: str, trials: int
) -> tuple[ConversationRun, ConversationRun]:
    """Run both halves of the conversations at the same time, in two processes that know nothing of each other.

    Args:
        options: As for ``run_pytest``.
        at_once: Likewise.
        tasks: Likewise.
        url: Likewise.
        trials: Likewise.
    """
    with ThreadPoolExecutor(2) as pool:
        first, second = (
            pool.submit(run_pytest, options, at_once, tasks, 0, url, trials, shard=shard) for shard in ("1/2", "2/2")
        )
        return first.result(), second.result()


def check_stored(folder: Path, trials: int) -> None:
    """Check that a run's folder has each of its simulations once, with all of its model calls.

    Args:
        folder: The run's.
        trials: The number of trials that the run has reported.

    Raises:
        RuntimeError: It has not.
    """
    run, tests = open_run(folder), set()
    for trial in run.trials():
        calls = sum(used.calls for used in trial.simulation.model_usage.values())
        if trial.test in tests or trial.simulation.termination_reason != "user_stop" or calls != MODEL_CALLS:
            reason = trial.simulation.termination_reason
            raise RuntimeError(f"{trial.test}: {reason} after {calls} calls: {trial.simulation.error}")
        tests.add(trial.test)
    if run.problems or len(tests) != trials or len(run.records()) != trials:
        raise RuntimeError(f"{len(tests)} simulations of {trials} trials are stored: {run.problems[:3]}")
