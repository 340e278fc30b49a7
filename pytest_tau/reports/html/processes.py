"""A large run for the page, gathered by several processes at the same time."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...garbage import rare_collections
from ...runs.parts import PartReader, UndividedError, divide, run_file
from ...runs.reader import Run
from .blocks import BLOCK
from .gathering import Facts, Gatherer

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from ...regrade.recognition import DomainSource
    from ...runs.jsonl import Part

    DomainsElsewhere: TypeAlias = Callable[[], DomainSource]

#: The bytes of simulations for each process: of fewer, gathering them takes no longer than starting a process.
PER_PROCESS = 32 << 20
#: The simulations of a part: whole blocks, and few enough to end soon after Ctrl-C.
_PART = 10 * BLOCK
#: The parts that each of the other processes has at a time.
_AHEAD = 2


class GatheredPart(NamedTuple):
    """The facts of a part's simulations, and the blocks of their conversations."""

    facts: list[Facts]
    blocks: list[bytes]


def gather_parts(gatherer: Gatherer, elsewhere: DomainsElsewhere) -> list[GatheredPart] | None:
    """Return the parts of a run, in order; None if this process should gather the run by itself.

    Args:
        gatherer: Gathers the run in this process.
        elsewhere: Returns the source of domains in another process.

    Raises:
        OSError: A file cannot be read.
    """
    file = run_file(gatherer.run.path)
    others = min(os.cpu_count() or 1, file.stat().st_size // PER_PROCESS) - 1 if file else 0
    parts = divide(file, _PART) if file and others > 0 else []
    if file is None or not parts:
        return None
    own = _Process(gatherer, PartReader(file))
    arguments = (gatherer.run.path, file, elsewhere, gatherer.compared)
    pool = ProcessPoolExecutor(others, multiprocessing.get_context("spawn"), _begin, arguments)
    try:
        found = own.gather_with(pool, others, parts)
    except (UndividedError, BrokenProcessPool):
        return None
    finally:
        pool.shutdown(cancel_futures=True)
    own.reader.note(gatherer.run)
    return found


class _Process(NamedTuple):
    """What a process gathers parts with."""

    gatherer: Gatherer
    reader: PartReader

    def gather_with(self, pool: ProcessPoolExecutor, processes: int, parts: list[Part]) -> list[GatheredPart]:
        """Return parts, in order: the other processes begin with the first one, this process with the last one."""
        started: list[Future[GatheredPart]] = []
        own: list[GatheredPart] = []
        while len(started) + len(own) < len(parts):
            # No more than needed until this process has gathered a part: none has to be taken back.
            wanted = _AHEAD * processes - sum(not future.done() for future in started)
            ahead = parts[len(started) : len(parts) - len(own)][:wanted]
            started += [pool.submit(_gather, part) for part in ahead]
            if len(started) + len(own) < len(parts):
                own.append(self.gather(parts[-1 - len(own)]))
        return [self._result(future, part) for future, part in zip(started, parts, strict=False)] + own[::-1]

    def _result(self, future: Future[GatheredPart], part: Part) -> GatheredPart:
        try:
            return future.result()
        except Exception:  # noqa: BLE001 - what failed there, code of a domain or the process, fails here too or works
            return self.gather(part)

    def gather(self, part: Part) -> GatheredPart:
        """Return what a part has for the page."""
        blocks: list[bytes] = []
        with rare_collections():
            facts = list(self.gatherer.gather(self.reader.trials(part), blocks.append))
        return GatheredPart(facts, blocks)


def _begin(path: Path, file: Path, elsewhere: DomainsElsewhere, compared: bool) -> None:
    """Prepare a process of the pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process
    _PREPARED.append(_Process(Gatherer(Run(path), elsewhere(), compared=compared), PartReader(file)))


def _gather(part: Part) -> GatheredPart:
    """Return what a part has for the page, in a process of the pool."""
    return _PREPARED[0].gather(part)


#: What a process of the pool, which has one run, gathers parts with.
_PREPARED: list[_Process] = []
