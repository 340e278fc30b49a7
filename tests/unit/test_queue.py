"""Leases on pieces of work: no piece is begun twice at a time, and none is lost."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from pytest_tau.capabilities.queue.leases import Leases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SECONDS = 10.0


class Memory:
    """A store whose requests may fail: before they are done, or after, so that only the answer is lost."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.fault: str | None = None
        self.requests = 0

    def _ask(self, when: str) -> None:
        self.requests += when == "before"
        if self.fault == when:
            self.fault = None
            raise OSError("the store does not answer")

    def names(self, prefix: str = "") -> list[str]:
        self._ask("before")
        return sorted(name for name in self.objects if name.startswith(prefix))

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        self._ask("before")
        return iter([(name, self.objects[name]) for name in names if name in self.objects])

    def write(self, name: str, content: bytes) -> None:
        self._ask("before")
        self.objects[name] = content
        self._ask("after")

    def create(self, name: str, content: bytes) -> bool:
        self._ask("before")
        if name in self.objects:
            return self.objects[name] == content
        self.objects[name] = content
        self._ask("after")
        return True


class Machine:
    """A machine with a clock of its own; it may be paused or lost at any moment."""

    def __init__(self, store: Memory, size: int, offset: float, world: QueueMachine) -> None:
        self.leases = Leases(store, size, SECONDS, clock=lambda: world.now + offset)
        self.begun: set[int] = set()
        self.finished: set[int] = set()


class QueueMachine(RuleBasedStateMachine):
    """Workers that take, finish, pause, fail and vanish, in any order."""

    machines = Bundle("machines")

    @initialize(size=st.integers(1, 6))
    def start(self, size: int) -> None:
        self.store, self.size, self.now = Memory(), size, 0.0
        self.alive: list[Machine] = []
        self.results: dict[int, int] = {}

    @rule(target=machines, offset=st.floats(-1e6, 1e6))
    def join(self, offset: float) -> Machine:
        machine = Machine(self.store, self.size, offset, self)
        self.alive.append(machine)
        return machine

    @rule(machine=machines, most=st.integers(1, 3))
    def take(self, machine: Machine, most: int) -> None:
        held = set(machine.leases.taken)
        try:
            found = machine.leases.take(most)
        except OSError:
            found = []
        assert machine.leases.taken <= held | set(found), "nothing is taken unknown to the worker"
        for piece in found:
            if machine.leases.is_alive:  # as the loop of the queue asks before it begins a piece
                # Whoever else is at it must have been taken for lost, and know it.
                assert not any(piece in other.begun and other.leases.is_alive for other in self.alive)
                machine.begun.add(piece)
            else:
                machine.leases.let_go([piece])

    @rule(machine=machines)
    def finish(self, machine: Machine) -> None:
        for piece in machine.begun:
            self.results[piece] = self.results.get(piece, 0) + 1
        machine.finished |= machine.begun
        machine.begun.clear()

    @rule(machine=machines)
    def beat(self, machine: Machine) -> None:
        with contextlib.suppress(OSError):
            machine.leases.beat(machine.finished)

    @rule(machine=consumes(machines))
    def vanish(self, machine: Machine) -> None:
        self.alive.remove(machine)

    @rule(seconds=st.floats(0, 2 * SECONDS))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    @rule(when=st.sampled_from(["before", "after"]))
    def break_the_next_request(self, when: str) -> None:
        self.store.fault = when

    @invariant()
    def only_what_has_a_result_is_done(self) -> None:
        for machine in getattr(self, "alive", ()):
            assert machine.leases.done <= self.results.keys()

    def teardown(self) -> None:
        """Once no request fails any more, the machines that are left run all; without any, a new one makes up for them."""
        if not hasattr(self, "store"):
            return
        self.store.fault = None
        left = self.alive or [Machine(self.store, self.size, 0.0, self)]
        for _ in range(3 * self.size + 9):
            for machine in left:
                machine.leases.beat(machine.finished)
                machine.begun.update(machine.leases.take(2))
                self.finish(machine)
            self.now += SECONDS / 2
        assert all(machine.leases.is_complete for machine in left)
        assert self.results.keys() == set(range(self.size))


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_two_workers_share_all_and_ask_seldom() -> None:
    store, size = Memory(), 2500
    workers = [Leases(store, size, SECONDS, clock=lambda: 0.0) for _ in range(8)]
    taken: list[int] = []
    while len(taken) < size:
        for worker in workers:
            found = worker.take(1)
            taken += found
    assert sorted(taken) == list(range(size))
    assert store.requests < 2 * size
    assert not any(worker.take(1) for worker in workers)


def test_a_lost_workers_pieces_are_taken_once_its_time_is_over() -> None:
    store, now = Memory(), [0.0]
    one, two = (Leases(store, 3, SECONDS, clock=lambda: now[0], worker=name) for name in ("one", "two"))
    assert sorted(one.take(3)) == [0, 1, 2]
    one.beat([1])
    assert two.take(3) == []
    now[0] = SECONDS - 1
    assert two.take(3) == []
    now[0] = SECONDS
    assert not one.is_alive
    assert two.take(3) == [] or sorted(two.taken) == [0, 2]
    now[0] = 2 * SECONDS
    two.beat()
    two.take(3)
    assert (sorted(two.taken), two.taken_over) == ([0, 2], 2)
    two.beat([0, 2])
    assert two.is_complete
    one.look()
    assert one.is_complete


def test_what_a_worker_has_let_go_it_takes_again() -> None:
    worker = Leases(Memory(), 2, SECONDS, clock=lambda: 0.0)
    (first, _) = worker.take(2)
    worker.let_go([first])
    assert worker.take(2) == [first]
    assert worker.take(2) == []


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_request_that_fails_loses_no_piece(lost: str) -> None:
    """Neither a new piece, nor one that a worker has let go."""
    store = Memory()
    worker = Leases(store, 1, SECONDS, clock=lambda: 0.0)
    worker.beat()
    for _ in range(2):
        store.fault = lost
        with pytest.raises(OSError):
            worker.take(1)
        assert worker.take(1) == [0]
        worker.let_go([0])


FOREIGN = {
    "leases/0000/junk": b"x",
    "leases/0000/0000001.abc": b"x",
    "leases/0000/.nfs0001": b"x",
    "leases/0000/1.1": b"x",
    "leases/0000/0000099.001": b"x",
    "leases/0000/deeper/0000002.001": b"x",
    "leases/0000/0000003.002": b"\xff\xfe",
    "leases/0000/0000004.002": b"x",
    "workers/broken": b"{",
    "workers/bytes": b"\xff",
    "workers/list": b"[1]",
    "workers/short": b'{"count": 1}',
    "workers/texts": b'{"count": 1, "done": ["x"]}',
    "workers/endless": b'{"count": Infinity, "done": [NaN]}',
    "workers/others": b'{"count": 1, "done": [99999, -1]}',
    "workers/": b"",
}


def test_foreign_objects_are_no_leases_and_no_signs_of_life() -> None:
    store, now = Memory(), 0.0
    store.objects = {**FOREIGN}
    worker = Leases(store, 6, SECONDS, clock=lambda: now)
    found = worker.take(6)
    assert not worker.is_complete
    for _ in range(3):  # what has a lease of nobody is taken once its time is over
        found += worker.take(6)
        now += SECONDS
    assert sorted(found) == [0, 1, 2, 3, 4, 5]


def test_a_lease_of_nobody_is_taken_while_all_workers_live() -> None:
    """Its worker has given no sign of life that is there, or it is a foreign object."""
    store, now = Memory(), 0.0
    store.objects = {name: content for name, content in FOREIGN.items() if name.startswith("leases/")}
    workers = [Leases(store, 6, SECONDS, clock=lambda: now) for _ in range(2)]
    found: list[int] = []
    for worker in workers:
        worker.look()
    for _ in range(9):
        for worker in workers:
            pieces = worker.take(6)
            worker.beat(pieces)
            found += pieces
        now += SECONDS / 2
    assert sorted(found) == [0, 1, 2, 3, 4, 5]
    assert all(worker.is_complete for worker in workers)
