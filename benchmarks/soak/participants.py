"""Agents and users that misbehave, among trials of the same participant that behave."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import misbehaving
from .kills import milk
from .misbehaving import DISTURBANCES, HANGS, HARMLESS, NONSENSE, OUTCOMES, PLACES, RAISED
from .processes import pytest_run
from .tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from .processes import Ended
    from .tally import Limits

_MODES = {"alone": (), "with --tau-concurrency=4": ("--tau-concurrency=4",), "with -n 2": ("-n", "2")}
_SIDES = ("agent", "user")
#: Ways to misbehave in a run, and seconds until a trial is ended in a run with one that hangs.
_WAYS, _TIMEOUT = 12, 10
_OTHER, _NEIGHBOUR = "trials that ended otherwise than expected", "trials that behave and did not pass"
_MISSING, _BROKEN = "trials without a record", "runs that broke down or hung"

_RAISING = [f"{place}-{way}" for place, way in itertools.product(PLACES, [*RAISED, *OUTCOMES])]
ALL = [
    *_RAISING,
    *(f"nonsense-{way}" for way in NONSENSE),
    *(f"disturb-{way}" for way in DISTURBANCES),
    *(f"harmless-{way}" for way in HARMLESS),
]
_HANGING = [f"hang-{way}" for way in HANGS]


def participants(limits: Limits) -> Tally:
    """Run trials of an agent or a user that raises, cancels, returns nonsense, mutates what it was given, or hangs.

    A case is a run with a trial for each of 12 ways, and as many trials of the same participant that behave, in a
    random order. Runs take turns: as agent and as user, alone, concurrent, and with -n 2. The ways take turns, too.
    What is expected: an agent that misbehaves has failed (agent_error), a user that misbehaves is an error
    (user_error), and what happens in ``close``, only mutates, or only disturbs the event loop changes no verdict.
    """
    expected = ("failed: agent_error", "error: user_error", "failed or error: no end in time", "passed: harmless")
    tally = Tally(("runs", *(f"of them {mode}" for mode in _MODES), "trials that misbehave", *expected),
                  (_OTHER, _NEIGHBOUR, _MISSING, _BROKEN))  # fmt: skip
    ways = {side: _ways() for side in _SIDES}
    modes = itertools.cycle(itertools.product(_MODES, _SIDES))
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        shutil.copyfile(misbehaving.__file__, project / "parts.py")
        for random, (mode, side) in zip(limits.cases("participants"), modes, strict=False):
            tally.add("runs")
            tally.add(f"of them {mode}")
            _one_run(project, mode, side, list(itertools.islice(ways[side], _WAYS)), random, tally)
    return tally


def _ways() -> Iterator[str]:
    """Yield the ways again and again, a step apart, so that a run has different ones; sometimes one that hangs."""
    for number in itertools.count():
        yield ALL[number * 29 % len(ALL)]
        if number % 30 == 11:
            yield _HANGING[number // 30 % len(_HANGING)]


def _one_run(project: Path, mode: str, side: str, ways: list[str], random: Random, tally: Tally) -> None:
    names = [*ways, *(f"good-{way}" for way in ways)]
    random.shuffle(names)
    (project / "mock").mkdir(exist_ok=True)
    (project / "mock/t.tau.json").write_text(json.dumps([milk(name) for name in names]), encoding="utf-8")
    shutil.rmtree(project / ".tau", ignore_errors=True)
    limit = [f"--tau-timeout={_TIMEOUT}"] if set(ways) & set(_HANGING) else []
    ended = pytest_run(
        project, "mock/t.tau.json", f"--tau-{side}", f"parts.py:{side.title()}", *_MODES[mode], *limit, "-rA"
    )
    _count(project, names, side, ended, f"{side}, {mode}", tally)


def _count(project: Path, names: list[str], side: str, ended: Ended, case: str, tally: Tally) -> None:
    if ended.status != 1 or "INTERNALERROR" in ended.text:
        tally.find(_BROKEN, f"{case}: status {ended.status}: {ended.text[-1000:]}")
        return
    found = _stored(project)
    for name in names:
        if name not in found:
            tally.find(_MISSING, f"{case}: {name}")
            continue
        got = (found[name]["termination_reason"], (found[name].get("reward_info") or {}).get("reward"))
        shown = f"{case}: {name}: {got[0]}, reward {got[1]}: {str(found[name].get('error'))[:200]}"
        word = _outcome(ended.text, name)
        if name.startswith("good-"):
            if got != ("user_stop", 1) or word != "PASSED":
                tally.find(_NEIGHBOUR, f"{shown}; {word}")
            continue
        tally.add("trials that misbehave")
        words, reason, figure = _expected(name, side)
        if got[0] != reason or word != words or (words == "PASSED" and got[1] != 1):
            tally.find(_OTHER, f"{shown}; {word}")
        else:
            tally.add(figure)


def _expected(name: str, side: str) -> tuple[str, str, str]:
    """Return the outcome, the termination reason and the figure of a way to misbehave."""
    place = name.partition("-")[0]
    # A user that is not asked to open the conversation needs no greeting.
    if place in ("harmless", "close") or (side == "user" and place == "greeting"):
        return "PASSED", "user_stop", "passed: harmless"
    failed = "FAILED" if side == "agent" else "ERROR"
    if place == "hang":
        return failed, "timeout" if side == "agent" else "user_error", "failed or error: no end in time"
    return failed, f"{side}_error", "failed: agent_error" if side == "agent" else "error: user_error"


def _outcome(text: str, name: str) -> str:
    """Return the outcome of a task's trial by the short summary of pytest."""
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS") and f"::{name}[" in rest:
            return word
    return "no outcome"


def _stored(project: Path) -> dict[str, Any]:
    """Return the simulations of the run by task."""
    lines = [line for file in project.glob(".tau/runs/*/*.jsonl") for line in file.read_bytes().splitlines()]
    return {entry["task_id"]: entry for entry in map(json.loads, lines)}
