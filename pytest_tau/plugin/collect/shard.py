"""``--tau-shard I/N``: one part of a run's trials, for the machines of a CI matrix.

It selects items, which nothing below the plugin knows; so it is not part of ``RunConfig``.
"""

from __future__ import annotations

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

#: Options of pytest that select by what this machine ran before, by their names in ``config.option``.
_BY_HISTORY = {"lf": "--lf", "stepwise": "--sw", "stepwise_skip": "--sw-skip", "stepwise_reset": "--sw-reset"}


class Shard(NamedTuple):
    """One part of the trials: its number, from 1, of how many."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def positions(self, ids: Sequence[str]) -> set[int]:
        """Return the positions of the items in this part.

        The parts do not depend on the order of the items, so that they are the same if items are shuffled, and in
        every process. Sorted, the trials of a task and similar tasks are neighbours, and are distributed evenly.

        Args:
            ids: Ids of the items.
        """
        ordered = sorted(range(len(ids)), key=ids.__getitem__)
        return set(ordered[self.number - 1 :: self.of])


class ShardCounts(NamedTuple):
    """The numbers of trials in this part, of all trials, and of other tests."""

    mine: int
    trials: int
    others: int


def register(config: pytest.Config) -> None:
    """Register the splitter.

    Raises:
        pytest.UsageError: There is no such part, or an option selects by what this machine ran before.
    """
    values = OptionValues(config)
    shard, label = Shard(*values.get("shard")), values.label("shard")
    for name, option in _BY_HISTORY.items():
        if getattr(config.option, name, False):
            raise pytest.UsageError(
                f"{label} and {option}: expected one of them; {option} selects by earlier results of this machine, "
                "and the "
                "machines of a matrix would not split the same trials"
            )
    config.pluginmanager.register(Splitter(config, shard), "tau-shard")


class Splitter:
    """Deselects the items in other parts; shows which part ran.

    Attributes:
        shard: The part.
        counts: The numbers of items; None before collection.
    """

    def __init__(self, config: pytest.Config, shard: Shard) -> None:
        self._config, self.shard = config, shard
        self.counts: ShardCounts | None = None

    def pytest_report_header(self) -> str:
        """Show which part runs."""
        return f"tau: shard {self.shard}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Select this part of the items that ``-k`` and others have selected; other tests are in the first part."""
        trials = [item for item in items if spec_of(item) is not None]
        mine = self.shard.positions([item.nodeid for item in trials])
        theirs = {item for position, item in enumerate(trials) if position not in mine}
        if self.shard.number > 1:
            theirs |= {item for item in items if spec_of(item) is None}
        self._count(ShardCounts(len(mine), len(trials), len(items) - len(trials)))
        give_output(config, shard=list(self.counts or ()))
        if theirs:
            config.hook.pytest_deselected(items=[item for item in items if item in theirs])
            items[:] = [item for item in items if item not in theirs]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the numbers from a worker; every worker finds the same ones."""
        found = output_of(node).get("shard")
        if found:
            self._count(ShardCounts(*found))

    def _count(self, counts: ShardCounts) -> None:
        self.counts, run = counts, run_state(self._config).counts
        run.in_other_shards = counts.trials - counts.mine
        run.empty_shard = counts.mine == 0 < counts.trials

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return the numbers; xdist does not show what its workers deselect."""
        return SummaryBlock("shard", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        if self.counts is None:
            return
        mine, trials, others = self.counts
        if mine == 0 < trials:
            text = f"none of {plural(trials, 'trial')}: use at most {plural(trials, 'shard')}"
        else:
            text = f"{mine} of {plural(trials, 'trial')}"
        if others:
            text += f"; {plural(others, 'other test')} in shard {Shard(1, self.shard.of)}"
        yield SummaryLine(f"tau: shard {self.shard}: {text}", {"yellow": not mine})
