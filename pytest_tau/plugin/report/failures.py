"""Failures and errors of trials, as pytest shows them."""

from __future__ import annotations

import os
import shlex
import textwrap
from typing import TYPE_CHECKING, Any

from _pytest._code.code import ReprFileLocation, TerminalRepr

from ...diagnosis import explain, plain_text, verdict
from ...errors import TauError
from ...evaluation import Line
from ...models import FAULTS
from ..rerun_command import rerun_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest
    from _pytest._io import TerminalWriter

    from ...models import Simulation

_MARKUP: dict[str, dict[str, bool]] = {
    "verdict": {"bold": True, "red": True},
    "head": {"bold": True},
    "bad": {"red": True},
    "error": {"red": True},
    "note": {"yellow": True},
    "agent": {"cyan": True},
    "user": {},
    "tool": {"light": True},
    "command": {"green": True},
}


class RewardBelowOne(AssertionError):  # noqa: N818 - it is the test's assertion
    """The agent did not pass."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        error = simulation.error if simulation.termination_reason == "agent_error" else None
        super().__init__(f"agent: {error.splitlines()[0]}" if error else verdict(simulation))


class HarnessFault(TauError):  # noqa: N818 - a fault, as opposed to a failure
    """The user, the model, the judge or the harness broke; says nothing about the agent."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        lines = (simulation.error or "not graded").strip().splitlines()
        # An unexpected error comes with its traceback, which ends with what it is.
        line = lines[-1 if simulation.termination_reason == "unexpected_error" else 0]
        kind = simulation.termination_reason if simulation.termination_reason in FAULTS else "not graded"
        super().__init__(f"{kind}: {line}")


class FailureRepr(TerminalRepr):
    """An explained failure; coloured at a terminal, also one that crossed from an xdist worker."""

    def __init__(self, message: str, lines: Sequence[Line], nodeid: str) -> None:
        self.lines = [Line(*line) for line in lines]
        # pytest takes the one-line summary from here.
        self.reprcrash = ReprFileLocation(nodeid, 0, message)

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write the lines, wrapped to the terminal; of a message two screen lines at the most."""
        for kind, text in self.lines:
            if kind in ("command", "error"):  # to be copied, or searched, in one piece
                tw.line(text, **_MARKUP[kind])
                continue
            indent = " " * (len(text) - len(text.lstrip()) + 4)
            most = 2 if kind in ("agent", "user", "tool") else None
            for line in textwrap.wrap(
                text, tw.fullwidth - 1, subsequent_indent=indent, max_lines=most, placeholder=" …", drop_whitespace=True
            ):
                tw.line(line, **_MARKUP[kind])

    def __str__(self) -> str:
        return plain_text(self.lines)


def represent(item: Any, excinfo: pytest.ExceptionInfo[BaseException]) -> FailureRepr | None:
    """The representation of a trial's failure or fault; None for other exceptions."""
    error = excinfo.value
    if isinstance(error, RewardBelowOne | HarnessFault):
        from ..context.run_context import active_of

        again = rerun_command(item, recorded=error.simulation.outcome != "error")
        lines = explain(error.simulation, again, active_of(item.config).evaluators)
        renamed = error.simulation.task_id not in item.name
        title = [Line("head", error.simulation.task_id)] if renamed else []
        return FailureRepr(str(error), title + lines + _judge_again(item, error.simulation), item.nodeid)
    return told(str(error), item.nodeid) if isinstance(error, TauError) else None


def _judge_again(item: Any, simulation: Simulation) -> list[Line]:
    """How a conversation that the judge has failed on can be graded without holding it again."""
    from ..context.run_context import active_of

    file = active_of(item.config).run_log.file
    unjudged = simulation.reward_info is None and simulation.termination_reason not in FAULTS
    if not unjudged or file is None or not file.is_file():
        return []
    shown = os.path.relpath(file.parent, item.config.invocation_params.dir)
    return [Line("command", f"judge it again: tau regrade {shlex.quote(shown)} --judge-llm MODEL")]


def told(message: str, nodeid: str) -> FailureRepr:
    """The representation of a mistake that is told in one message."""
    return FailureRepr(message, [Line("error", line) for line in message.splitlines()], nodeid)
