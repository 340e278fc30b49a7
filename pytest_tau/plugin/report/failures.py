"""Explained failures and errors of trials, for pytest's reports."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from ...capability.runs import ExplainedFailure
from ...diagnosis import explain
from ...errors import TauError
from ...evaluation import Line
from ...models import FAULTS
from ..capabilities import active_capabilities, capabilities_of
from ..context.run_state import require_context
from ..failure_repr import FailureRepr, message_repr
from ..items import spec_of
from ..rerun_command import rerun_command
from ..run.outcomes import HarnessError, TrialFailed

if TYPE_CHECKING:
    import pytest

    from ...models import Simulation


def represent(item: Any, excinfo: pytest.ExceptionInfo[BaseException]) -> FailureRepr | None:
    """Return the representation of a trial's failure or error; None for other exceptions."""
    error, style = excinfo.value, getattr(item.config.option, "tbstyle", "auto")
    if isinstance(error, ExplainedFailure):
        return FailureRepr(str(error), error.lines, item.nodeid, style)
    if isinstance(error, TrialFailed | HarnessError):
        rerun = rerun_command(item, recorded=error.simulation.outcome != "error")
        hint = _unseen_calls(item, error.simulation)
        everything = item.config.get_verbosity() > 0
        active = active_capabilities(item.config)
        asked = {each.capability.name for each in active if everything or each.is_asked_for}
        evaluators, capabilities = require_context(item.config).evaluators, capabilities_of(item.config)
        lines = explain(error.simulation, rerun, evaluators, hint, capabilities=capabilities, asked=asked)
        renamed = error.simulation.task_id not in item.name
        title = [Line("head", error.simulation.task_id)] if renamed else []
        lines = title + lines + _regrade_lines(item, error.simulation)
        return FailureRepr(str(error), lines, item.nodeid, style, is_error=isinstance(error, HarnessError))
    return message_repr(str(error), item.nodeid) if isinstance(error, TauError) else None


def _unseen_calls(item: Any, simulation: Simulation) -> str | None:
    """Return the hint that a replay has not answered the agent's model calls; None if that is not so."""
    from ...analysis.unseen import cure

    spec, agent = spec_of(item), simulation.info.foreign_agent
    if spec is None or spec.config.models.tape != "replay" or not agent or agent.calls_seen:
        return None
    return f"model calls of the agent's own are not replayed{cure(agent.clients)}"


def _regrade_lines(item: Any, simulation: Simulation) -> list[Line]:
    """Return the command that grades a trial without a verdict of the judge, so that it need not be run again."""
    file = require_context(item.config).writer.file
    unjudged = simulation.reward_info is None and simulation.termination_reason not in FAULTS
    unjudged = unjudged and simulation.info.error_kind != "DomainError"
    if not unjudged or file is None or not file.is_file():
        return []
    shown = os.path.relpath(file.parent, item.config.invocation_params.dir)
    return [Line("command", f"judge it again: tau regrade {shlex.quote(shown)} --judge-llm MODEL --allow-uncompared")]
