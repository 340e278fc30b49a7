"""``--pdb``: a line that names the simulation which can be looked at in the debugger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ..items import get_item_state

if TYPE_CHECKING:
    from types import TracebackType

_NAME = "tau_simulation"


def register(config: pytest.Config) -> None:
    """Register the hint."""
    config.pluginmanager.register(DebuggerHint(config), "tau-debugger")


class DebuggerHint:
    """Names the simulation when pytest enters the debugger for a failed trial."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._hint: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[None]) -> None:
        """Find the simulation in the frames of a failure, before pytest enters the debugger."""
        state = get_item_state(node) if isinstance(node, pytest.Item) else None
        excinfo = call.excinfo
        self._hint = _hint(excinfo.tb) if state is not None and state.simulation is not None and excinfo else None

    def pytest_enter_pdb(self) -> None:
        """Write the line."""
        if self._hint is not None:
            self._config.get_terminal_writer().line(f"tau: {self._hint}", yellow=True)
            self._hint = None


def _hint(traceback: TracebackType | None) -> str | None:
    """Return the line for the frames of a traceback; None if none has the simulation."""
    there: list[bool] = []
    while traceback is not None:
        there.append(_NAME in traceback.tb_frame.f_locals)
        traceback = traceback.tb_next
    if not any(there):
        return None
    steps = there[::-1].index(True)
    where = f"after '{'up' if steps == 1 else f'up {steps}'}', " if steps else ""
    return f"{where}{_NAME} is the trial: try {_NAME}.messages, .calls, .reward_info"
