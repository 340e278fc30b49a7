"""``--tau-shard I/N``: one part of a run's trials, for the machines of a CI matrix.

It says which items pytest runs, and nothing below the plugin knows items; so it is no part of ``RunConfig``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ...text import plural
from ..context.run_state import run_state
from ..items import spec_of
from ..options import OptionValues
from ..seams import SummaryBlock, SummaryLine
from ..wire import give_output, output_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")
#: pytest's options that choose by what this machine ran before, by their names in ``config.option``.
_BY_HISTORY = {"lf": "--lf", "stepwise": "--sw", "stepwise_skip": "--sw-skip", "stepwise_reset": "--sw-reset"}


class Shard(NamedTuple):
    """Which part: the first is 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def positions(self, ids: Sequence[str]) -> set[int]:
        """Which of these are in this part.

        Their order does not matter, so that whatever shuffles items, and whichever process asks, the parts are the
        same. Sorted, the trials of a task and tasks that resemble each other are neighbours, and are dealt out evenly.

        Args:
            ids: Ids of the items.
        """
        ordered = sorted(range(len(ids)), key=ids.__getitem__)
        return set(ordered[self.number - 1 :: self.of])


class Counts(NamedTuple):
    """How many trials this part has, how many there are, and how many other tests."""

    mine: int
    trials: int
    others: int


def register(config: pytest.Config) -> None:
    """Register what splits the trials.

    Raises:
        pytest.UsageError: No such part, or the parts would not be of the same whole.
    """
    settings = OptionValues(config)
    given = settings.get("shard")
    label, found = settings.label("shard"), _SHARD.fullmatch(given)
    if found is None or int(found[1]) > int(found[2]):
        raise pytest.UsageError(f"{label}: expected I/N with I from 1 to N, such as 2/4, got {given!r}")
    for name, option in _BY_HISTORY.items():
        if getattr(config.option, name, False):
            raise pytest.UsageError(
                f"{label} and {option}: expected one of them; {option} chooses by what ran here before, and the "
                "machines of a matrix would not split the same trials"
            )
    config.pluginmanager.register(Splitter(config, Shard(int(found[1]), int(found[2]))), "tau-shard")


class Splitter:
    """Deselects what is in other parts; tells which part ran.

    Attributes:
        shard: The part.
        counts: What was found; None before collection.
    """

    def __init__(self, config: pytest.Config, shard: Shard) -> None:
        self._config, self.shard = config, shard
        self.counts: Counts | None = None

    def pytest_report_header(self) -> str:
        """Which part runs."""
        return f"tau: shard {self.shard}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep this part of what ``-k`` and others have left; tests that are no trials are in the first one."""
        trials = [item for item in items if spec_of(item) is not None]
        mine = self.shard.positions([item.nodeid for item in trials])
        theirs = {item for position, item in enumerate(trials) if position not in mine}
        if self.shard.number > 1:
            theirs |= {item for item in items if spec_of(item) is None}
        self._count(Counts(len(mine), len(trials), len(items) - len(trials)))
        give_output(config, shard=list(self.counts or ()))
        if theirs:
            config.hook.pytest_deselected(items=[item for item in items if item in theirs])
            items[:] = [item for item in items if item not in theirs]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take from a worker what it found; every worker finds the same."""
        found = output_of(node).get("shard")
        if found:
            self._count(Counts(*found))

    def _count(self, counts: Counts) -> None:
        self.counts, run = counts, run_state(self._config).counts
        run.in_other_shards = counts.trials - counts.mine
        run.empty_shard = counts.mine == 0 < counts.trials

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return how much of the whole this was; xdist does not show what its workers deselect."""
        return SummaryBlock("shard", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        if self.counts is None:
            return
        mine, trials, others = self.counts
        if mine == 0 < trials:
            text = f"none of {plural(trials, 'trial')}: with so few, use at most {plural(trials, 'shard')}"
        else:
            text = f"{mine} of {plural(trials, 'trial')}"
        if others:
            text += f"; {plural(others, 'other test')} in shard {Shard(1, self.shard.of)}"
        yield SummaryLine(f"tau: shard {self.shard}: {text}", {"yellow": not mine})
