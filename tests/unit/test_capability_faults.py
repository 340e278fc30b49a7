"""A capability that raises, hangs or returns junk costs neither a trial nor its verdict, and is named."""

from __future__ import annotations

import asyncio
import math
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

import pytest_tau
from pytest_tau import Capability, FactColumn, Limits, SimulationSettings, TrialStages
from pytest_tau.analysis.facts import fact_lines
from pytest_tau.capability import Duplex
from pytest_tau.capability.calls import failure_lines, page_blocks, summary_lines
from pytest_tau.capability.views import PageBlock
from pytest_tau.models import Simulation, ToolMessage
from pytest_tau.runs.make_record import make_record
from pytest_tau.testing import ScriptedParticipant as Script, call as calling

from .tiny import action, task

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.environment import Domain

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})
RENAME = calling("rename", item_id="lamp", name="Light")
STAGES = ("begin", "call", "result", "message", "graded", "ended")


class Evil(BaseException):
    """What pytest and asyncio react to is no Exception either."""


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


def without_place(problem: str) -> str:
    """Return a problem without the line of this file that has raised the exception."""
    return re.sub(rf" \({re.escape(Path(__file__).name)}, line \d+\)$", "", problem)


def stages_with(stage: str, do: Callable[..., Any]) -> type[TrialStages]:
    """Stages whose one method does what is asked of it; facts are known otherwise."""

    class Stages(TrialStages):
        def graded(self, simulation: Simulation) -> Any:
            del simulation
            return {"count": 1}

    async def awaited(_: Any, *given: Any) -> Any:
        return do(*given)

    def plain(_: Any, *given: Any) -> Any:
        return do(*given)

    setattr(Stages, stage, awaited if stage in ("call", "result") else plain)
    return Stages


def talk(domain: Domain, capability: Capability, **limits: Any) -> Simulation:
    agent, user = Script([RENAME, "Done"]), Script(["Hi", "###STOP###"])
    settings = SimulationSettings(capabilities=(capability.with_settings(),), limits=Limits(**limits))
    return pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=user, settings=settings)


def evil(stage: str, do: Callable[..., Any], **more: Any) -> Capability:
    if stage == "converse":

        class Leads(Duplex):
            async def converse(self, stages: Any, conversation: Any) -> Any:
                return do(stages, conversation)

        return Capability("evil", trial=lambda _view: TrialStages(), duplex=Leads, **more)
    return Capability("evil", trial=lambda _view: stages_with(stage, do)(), **more)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RuntimeError("boom"), "RuntimeError: boom"),
        (SystemExit(3), "SystemExit: 3"),
        (Evil(), "Evil"),
        (StopIteration("boom"), "StopIteration: boom"),
        (asyncio.CancelledError("boom"), "CancelledError: boom"),
        (pytest.skip.Exception("boom"), "Skipped: boom"),
        (Unprintable(), "Unprintable: its text cannot be shown"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_exception_keeps_trial_and_verdict(domain: Domain, stage: str, error: BaseException, text: str) -> None:
    found = talk(domain, evil(stage, raising(error)))
    assert (found.reward, found.termination_reason, found.error) == (1.0, "user_stop", None)
    problem = text if stage == "graded" else f"{stage}: {text}"
    if isinstance(error, StopIteration) and stage in ("call", "result"):
        problem = f"{stage}: RuntimeError: coroutine raised StopIteration"
    if isinstance(error, StopIteration) and stage in ("graded", "ended"):
        problem = problem.replace(text, f"RuntimeError: {text}")
    assert without_place(found.facts["evil"]["problem"]) == problem
    assert Simulation.model_validate_json(found.model_dump_json()).facts == found.facts


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(3)], ids=["exception", "exit"])
def test_stages_that_cannot_be_made_keep_trial_and_verdict(domain: Domain, error: BaseException) -> None:
    found = talk(domain, Capability("evil", trial=raising(error)))
    assert found.reward == 1.0
    assert found.facts["evil"]["problem"].startswith(f"trial: {type(error).__name__}: ")
    found = talk(domain, Capability("evil", trial=lambda _view: None))  # type: ignore[arg-type, return-value]
    assert found.facts == {"evil": {"problem": "trial: TypeError: expected TrialStages, got NoneType"}}


@pytest.mark.parametrize("stage", ["beginning", "converse"])
@pytest.mark.parametrize("do", [raising(RuntimeError("boom")), raising(SystemExit(3)), lambda *_: object()])
def test_a_conversation_that_it_cannot_lead_has_no_verdict(domain: Domain, stage: str, do: Callable[..., Any]) -> None:
    found = talk(domain, evil(stage, do))
    assert (found.outcome, found.termination_reason) == ("error", "infrastructure_error")
    assert found.error is not None
    assert stage in found.error
    assert "evil" in found.error or "returned no Ending" in found.error


class Facts(BaseModel):
    count: float


@pytest.mark.parametrize(
    ("junk", "text"),
    [
        (object(), "TypeError: graded: expected a model or a mapping, got object"),
        (math.nan, "TypeError: graded: expected a model or a mapping, got float"),
        ([1, 2], "TypeError: graded: expected a model or a mapping, got list"),
        (Facts(count=math.nan), "TypeError: graded: count: NaN is not JSON"),
        ({"count": {1, 2}}, "TypeError: graded: count: set is not JSON"),
        ({"other": 1}, "ValueError: graded: Facts: count: missing"),
    ],
    ids=["object", "nan", "list", "field", "set", "fields"],
)
def test_junk_is_no_fact(domain: Domain, junk: Any, text: str) -> None:
    found = talk(domain, evil("graded", lambda *_: junk, facts=Facts))
    assert found.reward == 1.0
    assert found.facts["evil"]["problem"].startswith(text)


@pytest.mark.parametrize("count", ["many", 10**400, [1]], ids=["text", "long", "list"])
def test_a_metric_that_is_no_number_reaches_no_gate(domain: Domain, count: Any) -> None:
    columns = (FactColumn("evil_count", "count", metric=True),)
    found = talk(domain, evil("graded", lambda *_: {"count": count}, columns=columns))
    assert found.facts["evil"]["problem"].startswith("ValueError: graded: count is ")


@pytest.mark.parametrize(("stage", "kind"), [("call", "ToolMessage"), ("result", "ToolMessage"), ("ended", "Ruling")])
def test_junk_of_another_stage_is_a_problem(domain: Domain, stage: str, kind: str) -> None:
    found = talk(domain, evil(stage, lambda *_: object()))
    assert found.reward == 1.0
    assert found.calls[0].result is not None
    assert found.calls[0].result.error is False
    assert found.facts["evil"]["problem"] == f"{stage}: TypeError: expected a {kind}, got object"


@pytest.mark.parametrize("stage", ["graded", "ended"])
def test_one_that_hangs_is_left_behind(domain: Domain, stage: str) -> None:
    released = threading.Event()
    try:
        found = talk(domain, evil(stage, lambda *_: released.wait()), timeout=0.2)
    finally:
        released.set()
    assert found.reward == 1.0
    assert "did not return in 0.2 s" in found.facts["evil"]["problem"]


def test_one_that_fails_takes_no_further_part(domain: Domain) -> None:
    heard: list[str] = []

    def message(given: Any) -> None:
        heard.append(given.role)
        raise KeyError("id")

    found = talk(domain, evil("message", message))
    assert heard == ["assistant"]
    line = message.__code__.co_firstlineno + 2
    assert found.facts == {"evil": {"problem": f"message: KeyError: 'id' (test_capability_faults.py, line {line})"}}


@pytest.mark.parametrize("stage", ["call", "result"])
def test_a_stage_that_may_wait_need_not_be_async(domain: Domain, stage: str) -> None:
    class Stages(TrialStages):
        def graded(self, simulation: Simulation) -> Any:
            return {"results": [call.result.content for call in simulation.calls if call.result]}

    changed = ToolMessage(id="", content="changed")
    setattr(Stages, stage, lambda _, call, *given: changed.model_copy(update={"id": call.id}))
    assert talk(domain, Capability("plain", trial=lambda _view: Stages())).facts == {"plain": {"results": ["changed"]}}


@pytest.mark.parametrize("stage", ["begin", "message", "limit"])
def test_a_stage_that_is_not_awaited_must_not_be_async(domain: Domain, stage: str) -> None:
    class Stages(TrialStages):
        """Facts that are not stored, as the stage is a problem."""

    async def wait(*_: Any) -> None:
        """Do nothing."""

    setattr(Stages, stage, wait)
    found = talk(domain, Capability("waits", trial=lambda _view: Stages()))
    assert found.facts == {"waits": {"problem": f"{stage}: TypeError: the stage is async, which this one cannot be"}}


def test_the_facts_of_one_whose_end_fails_are_kept(domain: Domain) -> None:
    found = talk(domain, evil("ended", raising(RuntimeError("boom"))))
    assert found.facts["evil"]["count"] == 1
    assert without_place(found.facts["evil"]["problem"]) == "ended: RuntimeError: boom"


def test_the_number_of_attempts_may_be_unknown(domain: Domain) -> None:
    found = talk(domain, evil("message", lambda *_: None, attempts=raising(SystemExit(3))))
    assert found.reward == 1.0
    assert without_place(found.facts["evil"]["problem"]) == "attempts: SystemExit: 3"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (raising(RuntimeError("boom")), "RuntimeError: boom"),
        (raising(SystemExit(3)), "SystemExit: 3"),
        (lambda *_: [object()], "TypeError: expected lines of text, got object"),
        (lambda *_: 3, "TypeError: 'int' object is not iterable"),
    ],
    ids=["exception", "exit", "junk", "number"],
)
def test_reports_name_what_makes_no_lines(
    domain: Domain, monkeypatch: pytest.MonkeyPatch, make: Callable[..., Any], text: str
) -> None:
    parts: dict[str, Any] = {"summary": make, "failure": make, "comparison": make, "page": make}
    capability = evil("message", lambda *_: None, **parts)
    found = talk(domain, capability)
    record = make_record(found, WANTED, "tiny")
    ((label, line),) = summary_lines([capability], [record])
    assert (label, without_place(line)) == ("evil", f"summary: {text}")
    assert [*map(without_place, failure_lines([capability], found))] == [f"evil: failure: {text}"]
    monkeypatch.setattr("pytest_tau.analysis.facts.installed", lambda: (capability,))
    lines = fact_lines([record], [record], [], [], variants=False)
    assert [*map(without_place, lines)] == [f"evil: comparison: {text}"]
    ((_, block),) = page_blocks([capability], found)
    assert block.text.startswith("cannot be shown: ")


@pytest.mark.parametrize(
    "block",
    [object(), PageBlock("title", text=3), PageBlock("title", data={"n": math.nan}), PageBlock("title", rows=[("a",)])],  # type: ignore[arg-type, list-item]
    ids=["object", "number", "nan", "row"],
)
def test_the_page_shows_why_it_has_no_block(domain: Domain, block: Any) -> None:
    capability = evil("message", lambda *_: None, page=lambda *_: [block])
    ((_, shown),) = page_blocks([capability], talk(domain, capability))
    assert shown.text.startswith("cannot be shown: ")
