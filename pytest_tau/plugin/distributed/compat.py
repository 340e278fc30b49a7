"""Uses of private parts of xdist: each says what it replaces, and when it can go."""

from __future__ import annotations

import os
import posixpath
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdist.scheduler import (  # type: ignore[import-untyped]
    LoadFileScheduling,
    LoadGroupScheduling,
    LoadScheduling,
    LoadScopeScheduling,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest


def worker_specs(config: pytest.Config) -> list[Any]:
    """Return the specifications of the workers of this controller, as execnet has them; none without workers.

    It can go once a plugin can ask xdist for them before the workers start.
    """
    from xdist.workermanage import execnet, parse_tx_spec_config  # type: ignore[import-untyped]

    return [execnet.XSpec(text) for text in parse_tx_spec_config(config)]


def usage_error_of(error: object) -> str | None:
    """Return the text of the usage error that has ended a worker; None if something else has.

    It can go once xdist ends a run whose workers refuse their settings, instead of replacing them without end.
    """
    _, separator, text = str(error or "").rpartition("UsageError: ")
    return text.strip() if separator else None


def far_folder(roots: Sequence[Path], here: Path) -> str:
    """Return where a worker on another machine finds the folder in which pytest was started, below its own folder.

    Args:
        roots: The folders that ``--rsyncdir`` copies, each under its name.
        here: The folder in which pytest was started.
    """
    home = next((root for root in roots if here.is_relative_to(root)), None)
    return "." if home is None else posixpath.normpath(f"{home.name}/{here.relative_to(home).as_posix()}")


def use_far_paths(here: Path) -> Callable[[], None]:
    """Have workers on other machines get paths as they are there, seen from ``far_folder``; return how to undo it.

    xdist ends with an internal error for a relative path, such as ``tests``, and for one that it does not copy. It can
    go once xdist passes such arguments on.
    """
    from xdist import workermanage  # type: ignore[import-untyped]

    def far_arguments(roots: Sequence[Path], args: list[str]) -> list[str]:
        start = far_folder(roots, here)
        return [_far_argument(roots, start, here, arg) for arg in args]

    before, workermanage.make_reltoroot = workermanage.make_reltoroot, far_arguments
    return lambda: setattr(workermanage, "make_reltoroot", before)


def _far_argument(roots: Sequence[Path], start: str, here: Path, arg: str) -> str:
    text, separator, names = arg.partition("::")
    path = Path(os.path.normpath(here / text))
    root = next((root for root in roots if path.is_relative_to(root)), None)
    try:
        if root is None or not path.exists():
            return arg
    except OSError:  # too long for a path
        return arg
    there = f"{root.name}/{path.relative_to(root).as_posix()}"
    return f"{posixpath.relpath(there, start)}{separator}{names}"


def queued_items(config: pytest.Config, limit: int) -> list[int]:
    """Return the indices of the items that a worker runs next, at most ``limit`` after the first one.

    Nothing is found if the worker is built in another way. It can go once xdist has a way to ask.

    Args:
        config: The worker's configuration.
        limit: How many items after the next one are of interest; 0 if another worker may still steal them.
    """
    for plugin in config.pluginmanager.get_plugins():
        queue, following = getattr(plugin, "torun", None), getattr(plugin, "nextitem_index", None)
        if queue is None or not isinstance(following, int):
            continue
        if not limit:
            return [following]
        with queue.lock() as waiting:
            return [following, *islice((index for index in waiting if isinstance(index, int)), limit)]
    return []


class DeepScheduling(LoadScheduling):  # type: ignore[misc]
    """Like ``load``, which towards the end leaves two tests in a queue; this leaves as many as run at the same time.

    It can go once xdist's ``load`` has a least number of tests in a queue.

    Args:
        config: The controller's configuration.
        log: xdist's producer of log messages.
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
    """Never leaves a worker with a single test while there are more, and runs a test that has crashed one no more.

    A worker runs a test once it has the next one. xdist 3.8 sends one that replaces another a single group, and where
    that is a single test, both wait for each other for ever. It can go once xdist sends two tests there.

    xdist also sends a test that has crashed its worker to one worker after the other. That can go once these
    schedulers report it once, as its others do.
    """

    def remove_node(self: Any, node: Any) -> str | None:
        units = self.assigned_work.get(node, {}).values()
        crashed = next(((unit, test) for unit in units for test, completed in unit.items() if not completed), None)
        if crashed is None:
            test_id: str | None = super().remove_node(node)  # type: ignore[misc]
            return test_id
        unit, test = crashed
        unit[test] = True
        super().remove_node(node)  # type: ignore[misc]
        return str(test)

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
SCOPED = {"loadscope": _LoadScope, "loadfile": _LoadFile, "loadgroup": _LoadGroup}
