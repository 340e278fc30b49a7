"""Leases on numbered pieces of work, in a store without a server.

``leases/BUCKET/NUMBER.GENERATION`` is created, by one worker, when it takes a piece; the store creates an object only
if it is not there. ``workers/NAME`` is written again and again, with a count, as a sign of life, and says what the
worker has done. A worker whose count has not changed for the time of a lease is lost, as seen by the clock of who
looks: no two clocks are compared. What it had not done may be taken in the next generation. A worker that could not
give its sign of life in time knows that, by its own clock, at least as early, and lets its pieces go.

So no two workers begin a piece at the same time. A worker that was paused while it was at a piece may finish it after
all; then there are two results, and the first counts.
"""

from __future__ import annotations

import random
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...documents import parse_json
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ...runs import Store

_LEASES, _WORKERS = "leases/", "workers/"
#: Pieces in a bucket, which a store lists with one request.
_BUCKET = 1000


@dataclass
class _Other:
    """Another worker, as last seen.

    Attributes:
        count: Its count.
        since: When the count was seen first, by the clock here.
    """

    count: int
    since: float


@dataclass
class Leases:
    """The leases of one worker.

    Args:
        store: The store that has the queue.
        size: The number of pieces.
        seconds: The time of a lease.
        prefix: What the names of the queue's objects begin with in the store.
        clock: Returns seconds; only differences are used.
        worker: The name of the worker, which no other has.

    Attributes:
        done: The pieces that are done, by whom ever, as last seen.
        taken: The pieces that this worker has, and has not finished.
        taken_over: The number of pieces that it has taken from lost workers.
    """

    store: Store
    size: int
    seconds: float
    prefix: str = ""
    clock: Callable[[], float] = time.monotonic
    worker: str = field(default_factory=lambda: secrets.token_hex(8))
    done: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    taken_over: int = 0
    _own: set[int] = field(default_factory=set)
    _count: int = 0
    _beaten: float | None = None
    _generations: dict[int, int] = field(default_factory=dict)
    _owners: dict[tuple[int, int], str] = field(default_factory=dict)
    _others: dict[str, _Other] = field(default_factory=dict)
    _order: list[int] = field(default_factory=list)
    #: How far all workers are, and since when.
    _progress: tuple[int, int] = (0, 0)
    _since: float = 0.0
    #: Pieces that this worker may have, as far as it knows: the store has not answered.
    _unanswered: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        # Each begins elsewhere, so that they seldom want the same.
        draw = random.Random(self.worker)  # noqa: S311 - no secret
        for first in draw.sample(range(0, self.size, _BUCKET), len(range(0, self.size, _BUCKET))):
            pieces = range(first, min(first + _BUCKET, self.size))
            self._order += draw.sample(pieces, len(pieces))

    def beat(self, finished: Iterable[int] = ()) -> None:
        """Give a sign of life, and say what this worker has done.

        Args:
            finished: The pieces whose results are stored.

        Raises:
            OSError: The store cannot be written.
        """
        began = self.clock()
        own_done = self._own | set(finished)
        content = json.dumps({"count": self._count + 1, "done": sorted(own_done)})
        self.store.write(f"{self.prefix}{_WORKERS}{self.worker}", content.encode())
        self._count, self._own, self._beaten = self._count + 1, own_done, began
        self.done |= own_done
        self.taken -= own_done

    @property
    def is_alive(self) -> bool:
        """Return whether no other worker can take this one for lost yet."""
        return self._beaten is not None and self.clock() - self._beaten < self.seconds

    def let_go(self, pieces: Iterable[int]) -> None:
        """Let go of pieces that were not begun; others take them once this worker is lost for them."""
        self.taken -= set(pieces)

    def take(self, most: int) -> list[int]:
        """Take pieces: those that are new, else those of lost workers.

        Raises:
            OSError: The store cannot be read or written.
        """
        pieces: list[int] = []
        try:
            if not self.is_alive:
                self.beat()
            for piece in self._new(most):
                pieces.append(piece)  # noqa: PERF402 - those before an error count
            if not pieces:
                self.look()
                for piece in self._lost(most):
                    pieces.append(piece)  # noqa: PERF402
        except OSError:
            if not pieces:
                raise
        return pieces

    def _new(self, most: int) -> Iterator[int]:
        while most and self._order and self.is_alive:
            piece = self._order[-1]
            known = piece in self.done or piece in self._generations
            is_taken = not known and self._create(piece, 1)
            self._order.pop()  # once the store has answered
            if is_taken:
                most -= 1
                yield piece
            elif not known:
                self._look_at(piece // _BUCKET)  # others are in this bucket, too

    def _lost(self, most: int) -> Iterator[int]:
        """Take pieces of lost workers."""
        open_ = [piece for piece in self._generations if piece not in self.done and piece not in self.taken]
        # Who has a piece matters once somebody is lost, or may be: who has it may be unknown without a sign of life.
        known_lost = any(self._is_lost(worker) for worker in self._others)
        candidates = open_ if known_lost or self._stands_still() else self._unanswered.intersection(open_)
        unknown = {
            self._name(piece, self._generations[piece]): piece for piece in candidates if self._owner(piece) is None
        }
        for name, content in self.store.read(unknown):
            piece = unknown[name]
            self._owners[piece, self._generations[piece]] = content.decode("utf-8", "replace")
        for piece in open_:
            if not most or not self.is_alive:
                return
            if self._is_lost(self._owner(piece)) and self._create(piece, self._generations[piece] + 1):
                self.taken_over += 1
                most -= 1
                yield piece

    def _stands_still(self) -> bool:
        """Return whether no piece was taken or done for the time of a lease, as seen here."""
        progress = len(self.done), sum(self._generations.values())
        if progress != self._progress:
            self._progress, self._since = progress, self.clock()
        return self.clock() - self._since >= self.seconds

    def _owner(self, piece: int) -> str | None:
        return self._owners.get((piece, self._generations[piece]))

    def _is_lost(self, worker: str | None) -> bool:
        if worker is None:
            return False
        if worker == self.worker:  # let go
            return True
        # One that has taken a piece and was never seen has at least as long as one that was seen now first.
        seen = self._others.setdefault(worker, _Other(-1, self.clock()))
        return self.clock() - seen.since >= self.seconds

    def _create(self, piece: int, generation: int) -> bool:
        self._unanswered.add(piece)
        created = self.store.create(self._name(piece, generation), self.worker.encode())
        self._unanswered.remove(piece)
        self._generations[piece] = generation
        if not created:
            return False
        self._owners[piece, generation] = self.worker
        self.taken.add(piece)
        return True

    def look(self) -> None:
        """Look which pieces are taken, which are done, and which workers live.

        Raises:
            OSError: The store cannot be read.
        """
        for bucket in sorted({piece // _BUCKET for piece in range(self.size) if piece not in self.done}):
            self._look_at(bucket)
        workers = f"{self.prefix}{_WORKERS}"
        others = [name for name in self.store.names(workers) if name != f"{workers}{self.worker}"]
        for name, content in self.store.read(others):
            if (sign := _read_sign(content, self.size)) is None:
                continue
            worker, (count, finished) = name.removeprefix(workers), sign
            self.done |= finished
            if worker not in self._others or self._others[worker].count != count:
                self._others[worker] = _Other(count, self.clock())

    def _look_at(self, bucket: int) -> None:
        for name in self.store.names(f"{self.prefix}{_LEASES}{bucket:04d}/"):
            numbers = name.rpartition("/")[2].split(".")
            if len(numbers) != 2 or not all(map(str.isdecimal, numbers)):
                continue
            piece, generation = map(int, numbers)
            # What is not called like a lease is none, such as what a file system leaves.
            if piece < self.size and name == self._name(piece, generation):
                self._generations[piece] = max(generation, self._generations.get(piece, 0))

    @property
    def is_complete(self) -> bool:
        """Return whether all pieces are done, as last seen."""
        return len(self.done) >= self.size

    @property
    def untaken(self) -> int:
        """Return how many pieces are new, as far as this worker knows."""
        return self.size - len(self._generations)

    @property
    def workers(self) -> int:
        """Return how many workers there are, lost ones included."""
        return len(self._others) + 1

    def _name(self, piece: int, generation: int) -> str:
        return f"{self.prefix}{_LEASES}{piece // _BUCKET:04d}/{piece:07d}.{generation:03d}"


def _read_sign(content: bytes, size: int) -> tuple[int, set[int]] | None:
    """Return the count of a worker and what it has done; None if the object is of something else.

    Args:
        content: The content of the object.
        size: The number of pieces.
    """
    try:
        sign = parse_json(content)
        return int(sign["count"]), {int(piece) for piece in sign["done"] if 0 <= int(piece) < size}
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
