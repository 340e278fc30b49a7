"""pytest's reports on trials: explained failures, and their form on the way from an xdist worker to the controller."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...text import printable
from ..context.run_state import require_context
from ..items import get_item_state, is_task_item
from ..wire import from_data, to_data, trial_report

if TYPE_CHECKING:
    from collections.abc import Generator

    import pytest

    from ...models import Simulation

#: The title of the section about the simulation of a failed test function.
SIMULATION = "tau simulation"
#: Keys of the data of a report: JSON in one text, as execnet calls several functions for each value that it sends, and
#: the attachments, which have bytes.
_OWN, _ATTACHMENTS = "tau", "tau_attachments"


def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Explain the failure of a trial; add the simulation to the failure of a test function that ran one."""
    report, explained = (yield), None
    if report.failed and call.excinfo is not None and "_tau_spec" in getattr(item, "fixturenames", ()):
        # pytest asks the item only about failures of the call; a trial fails in the setup, too.
        from .failures import represent

        explained = represent(item, call.excinfo)
        report.longrepr = explained or report.longrepr
    state = get_item_state(item)
    if state is None:
        return report
    simulation, elapsed = state.simulation, state.elapsed
    if report.when == "setup" and elapsed is not None:
        report.duration = elapsed  # the trial started before the setup in which the item waits for it
    if report.when == "call" and simulation is not None and simulation.replay_differences:
        report.sections.append(("tau replay", printable("\n".join(simulation.replay_differences))))
    if (
        report.when == "call"
        and report.passed
        and simulation is not None
        and {*getattr(item.config.option, "reportchars", "")} & {*"AP"}
    ):
        report.sections += _capability_section(item.config, simulation)
    brief = getattr(item.config.option, "tbstyle", "auto") == "line"
    if report.failed and state.traceback is not None and not brief:
        title, text = state.traceback
        report.sections.append((title, printable(text)))
        state.traceback = None  # an error of the teardown has its own
    if report.failed and simulation is not None and not (explained or is_task_item(item) or brief):
        from ...diagnosis import explain, plain_text
        from ..capabilities import capabilities_of

        evaluators, capabilities = require_context(item.config).evaluators, capabilities_of(item.config)
        lines = explain(simulation, evaluators=evaluators, capabilities=capabilities)
        report.sections.append((SIMULATION, printable(plain_text(lines))))
    return report


def _capability_section(config: pytest.Config, simulation: Simulation) -> list[tuple[str, str]]:
    """Return the section of a passed trial with what capabilities say of it, which ``-rA`` shows."""
    from ...capability.calls import failure_lines

    active = require_context(config).config.simulation.capabilities
    asked = {each.capability.name for each in active if each.is_asked_for}
    lines = [*failure_lines([each.capability for each in active], simulation, asked)]
    return [("tau capabilities", printable("\n".join(lines)))] if lines else []


def pytest_report_to_serializable(report: Any) -> Generator[None, Any, Any]:
    """Add an explained failure and the facts of a trial to the data of a report."""
    data = yield
    if data is None:
        return data
    failure: Any = getattr(report, "longrepr", None)
    explained = None
    if hasattr(failure, "lines"):
        explained = [failure.reprcrash.message, [list(line) for line in failure.lines], failure.style, failure.is_error]
    trial = trial_report(report)
    facts = None if trial is None else to_data(trial)
    if facts is not None and (attachments := facts.pop("attachments", None)):
        data[_ATTACHMENTS] = attachments
    if explained is not None or facts is not None:
        data[_OWN] = json.dumps([explained, facts])
    return data


def pytest_report_from_serializable(data: dict[str, Any]) -> Generator[None, Any, Any]:
    """Restore an explained failure and the facts of a trial from the data of a report."""
    explained, facts = json.loads(data.pop(_OWN, "[null, null]"))
    attachments = data.pop(_ATTACHMENTS, None)
    report = yield
    if explained is not None:
        from ..failure_repr import FailureRepr

        message, lines, style, is_error = explained
        report.longrepr = FailureRepr(message, lines, report.nodeid, style, is_error=is_error)
    if facts is not None:
        report.tau = from_data(facts if attachments is None else {**facts, "attachments": attachments})
    return report
