"""Runs that are killed at random points and resumed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .processes import kill_group, pytest_run
from .tally import Tally

if TYPE_CHECKING:
    from random import Random

    from .processes import Ended
    from .tally import Limits

_MODES = {"alone": (), "with --tau-concurrency=4": ("--tau-concurrency=4",), "with -n 2": ("-n", "2")}
_LOST, _DOUBLED, _CHANGED = "simulations lost", "simulations doubled", "simulations changed"
_OTHER_END, _REFUSED = "runs that ended otherwise than the undisturbed one", "runs that could not be resumed"
_EARLY, _LATE = "of them before anything was stored", "of them after the end of the run"
#: Fields of a simulation and of a message that differ from run to run.
_TIMES = ("id", "start_time", "end_time", "duration")
_MESSAGE_TIMES = ("timestamp", "generation_time_seconds")

_AGENT = '''
import asyncio

from pytest_tau.testing import ScriptedParticipant, call


class Agent(ScriptedParticipant):
    """Passes every second task, and takes its time."""

    def __init__(self, task, seed):
        made = call("create_task", user_id="user_1", title="Buy milk")
        super().__init__(["Well."] if task.id.startswith("bad") else [made, "Done."])

    async def respond(self, message):
        await asyncio.sleep(0.02)
        return super().respond(message)
'''


class _Run(NamedTuple):
    """An undisturbed run: its exit status, its simulations by test, and its seconds."""

    status: int | None
    simulations: dict[str, Any]
    seconds: float


def kills(limits: Limits) -> Tally:
    """Kill runs of 24 trials with SIGKILL at random points, resume them, and compare them with an undisturbed run.

    The modes take turns; in each the controller is killed alone or with its workers. A resumed run may be killed
    again. A run counts as ended otherwise if its exit status differs. Times and ids of simulations are not compared.
    """
    tally = Tally(("processes killed", *(f"of them {mode}" for mode in _MODES), _EARLY, _LATE, "runs resumed"),
                  (_LOST, _DOUBLED, _CHANGED, _OTHER_END, _REFUSED))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        _write(project)
        undisturbed: dict[str, _Run] = {}
        for number, random in enumerate(limits.cases("kills")):
            mode = list(_MODES)[number % len(_MODES)]
            if mode not in undisturbed:
                undisturbed[mode] = _undisturbed(project, _MODES[mode])
            _kill_and_resume(project, mode, undisturbed[mode], random, tally)
    return tally


def _write(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (project / "agents.py").write_text(_AGENT, encoding="utf-8")
    (project / "mock").mkdir()
    names = [f"{kind}-{number}" for number in range(6) for kind in ("good", "bad")]
    (project / "mock/t.tau.json").write_text(json.dumps([milk(name) for name in names]), encoding="utf-8")


def milk(name: str) -> dict[str, Any]:
    """Return a task of the domain ``mock``."""
    action = {"action_id": "create", "name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
    return {
        "id": name,
        "user_scenario": {"instructions": "Have 'Buy milk' put on your list."},
        "evaluation_criteria": {"actions": [action]},
    }


def _run(project: Path, *arguments: str, kill_after: float | None = None, whole_group: bool = False) -> Ended:
    options = ("mock/t.tau.json", "--tau-agent", "agents.py:Agent", "--tau-trials", "2", "--tau-results", "runs")
    return pytest_run(project, *options, *arguments, kill_after=kill_after, whole_group=whole_group)


def _undisturbed(project: Path, arguments: tuple[str, ...]) -> _Run:
    ended = _run(project, *arguments)
    simulations = dict(_stored(project))
    shutil.rmtree(project / "runs")
    if ended.status != 1 or len(simulations) != 24:
        raise RuntimeError(f"the undisturbed run has ended with {ended.status}:\n{ended.text}")
    return _Run(ended.status, simulations, ended.seconds)


def _kill_and_resume(project: Path, mode: str, whole: _Run, random: Random, tally: Tally) -> None:
    arguments, resumed = _MODES[mode], False
    while True:
        kill_after = random.uniform(0.05, whole.seconds)
        ended = _run(project, *arguments, *(["--tau-resume"] if resumed else []),
                     kill_after=kill_after, whole_group=random.random() < 0.5)  # fmt: skip
        tally.add("processes killed")
        tally.add(f"of them {mode}")
        if ended.status != -9:
            tally.add(_LATE)
        resumed = any(project.glob("runs/*/run.json"))
        if not resumed:
            tally.add(_EARLY)
            # Its workers would begin a run that is not the one that is compared.
            kill_group(ended.group)
            shutil.rmtree(project / "runs", ignore_errors=True)
        if random.random() < 0.7:
            break
    ended = _run(project, *arguments, *(["--tau-resume"] if resumed else []))
    if resumed:
        tally.add("runs resumed")
    _compare(project, whole, ended, f"{mode}, killed after {kill_after:.2f} s", tally)
    shutil.rmtree(project / "runs", ignore_errors=True)


def _compare(project: Path, whole: _Run, ended: Ended, case: str, tally: Tally) -> None:
    if ended.status not in (0, 1):
        tally.find(_REFUSED, f"{case}: status {ended.status}: {ended.text[-600:]}")
        return
    if ended.status != whole.status:
        tally.find(_OTHER_END, f"{case}: status {ended.status}")
    stored = _stored(project)
    found = dict(stored)
    twice = [test for test, number in Counter(test for test, _ in stored).items() if number > 1]
    tally.find(_DOUBLED, f"{case}: {', '.join(twice)}", len(stored) - len(found))
    tally.find(_LOST, case, len(whole.simulations.keys() - found.keys()))
    for test in whole.simulations.keys() & found.keys():
        if found[test] != whole.simulations[test]:
            tally.find(_CHANGED, f"{case}: {test}")


def _stored(project: Path) -> list[tuple[str, Any]]:
    """Return the simulations of all runs, each with its test, without ids and times."""
    found = []
    for file in sorted(project.glob("runs/*/simulations*.jsonl")):
        for line in file.read_bytes().splitlines():
            entry = json.loads(line)
            for name in _TIMES:
                entry.pop(name, None)
            for message in entry["messages"]:
                for name in _MESSAGE_TIMES:
                    message.pop(name, None)
            found.append((entry.pop("test"), entry))
    return found
