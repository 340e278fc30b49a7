"""Scheduling over xdist workers: queues deep enough to look ahead in, and workers that take the place of lost ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdist.scheduler import (  # type: ignore[import-untyped]
    LoadFileScheduling,
    LoadGroupScheduling,
    LoadScheduling,
    LoadScopeScheduling,
)

from ..context.state import if_active
from ..wire import concurrency_in

if TYPE_CHECKING:
    import pytest


def make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The scheduler of a run of tasks; None for xdist's own, where that will do."""
    dist, concurrency = config.getvalue("dist"), concurrency_in(config)
    if dist == "load" and concurrency > 1:
        return DeepScheduling(config, log, concurrency)
    if dist in _SCOPED and (concurrency > 1 or if_active(config) is not None):
        return _SCOPED[dist](config, log)
    return None


class DeepScheduling(LoadScheduling):  # type: ignore[misc]
    """Like ``load``, which towards the end leaves two tests in a queue; this leaves as many as are held side by side.

    Args:
        config: The controller's.
        log: Where xdist tells what it does.
        concurrency: Trials at the same time in a worker.
    """

    def __init__(self, config: pytest.Config, log: Any, concurrency: int) -> None:
        super().__init__(config, log)
        # While this many wait, as many more can end before new ones have to be sent.
        self._least, self._most = concurrency + 1, 2 * concurrency + 1
        chunk: int | None = self.maxschedchunk
        self.maxschedchunk: int = self._most if chunk is None else chunk

    def schedule(self) -> None:
        """Hand out the first tests; fill the queues of workers that have come later."""
        first = self.collection is None
        super().schedule()
        if first and self.collection:
            for node in self.nodes:
                self.check_schedule(node)

    def check_schedule(self, node: Any, duration: float = 0) -> None:
        """Fill a worker's queue, up to its fair share of what is left."""
        del duration
        if node.shutting_down:
            return
        if not self.pending:
            node.shutdown()
            return
        waiting = len(self.node2pending[node])
        left = len(self.pending) + sum(len(queue) for queue in self.node2pending.values())
        share = max(_NEEDED, -(-left // len(self.node2pending)))
        if waiting <= min(self._least, share - 1):
            # A test runs once the next one is there, so that two are sent whatever --maxschedchunk says.
            self._send_tests(node, min(min(self._most, share) - waiting, max(_NEEDED - waiting, self.maxschedchunk)))


class _Refilled:
    """Never leaves a worker with a single test while there are more.

    A worker runs a test once it has the next one. xdist 3.8 sends one that replaces another a single group, and where
    that is a single test, both wait for each other for ever.
    """

    def _reschedule(self: Any, node: Any) -> None:
        super()._reschedule(node)  # type: ignore[misc]
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < _NEEDED:
            if not self.workqueue:
                node.shutdown()
                return
            self._assign_work_unit(node)


class _LoadScope(_Refilled, LoadScopeScheduling):  # type: ignore[misc]
    pass


class _LoadFile(_Refilled, LoadFileScheduling):  # type: ignore[misc]
    pass


class _LoadGroup(_Refilled, LoadGroupScheduling):  # type: ignore[misc]
    pass


#: Tests that a worker must have to run one.
_NEEDED = 2
_SCOPED = {"loadscope": _LoadScope, "loadfile": _LoadFile, "loadgroup": _LoadGroup}
