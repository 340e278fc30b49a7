"""``--tau-select FILE`` and ``--tau-shard I/N``: the part of a run's trials that runs here.

They select items, which nothing below the plugin knows; so they are not part of ``RunConfig``. Every process of a run
selects the same ones: xdist's controller reads the list and the environment, and passes them to its workers.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ...documents import parse_json
from ...text import plural, shorten
from ..compat import read_stdin
from ..context.run_state import run_state
from ..items import group_of, spec_of
from ..options import OptionValues
from ..seams import SummaryLine
from ..wire import give_output, output_of, worker_input

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Options of pytest that select by what this machine ran before, by their names in ``config.option``.
_BY_HISTORY = {"lf": "--lf", "stepwise": "--sw", "stepwise_skip": "--sw-skip", "stepwise_reset": "--sw-reset"}
#: The environment variable that names a list of trials.
_SELECT = "TAU_SELECT"
#: The last lines of ``pytest --collect-only -q``.
_COUNT = re.compile(r"(=+ )?(no tests|\d+(/\d+)? tests?) collected\b.*")
#: An error lists so many ids.
_MOST_NAMED = 5


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
        """
        ordered = sorted(range(len(ids)), key=ids.__getitem__)
        return set(ordered[self.number - 1 :: self.of])


def given_selection(config: pytest.Config) -> list[str] | None:
    """Return the ids of the trials to which the run is limited; None for no limit.

    Raises:
        pytest.UsageError: The list cannot be read, or has no ids.
    """
    values, of_controller = OptionValues(config), worker_input(config)
    if of_controller is not None:
        return of_controller.selection
    name = values.given("select") or os.environ.get(_SELECT)
    if not name:
        return None
    label = values.label("select") if values.given("select") else _SELECT
    try:
        text = read_stdin(config) if name == "-" else (values.folder("select") / name).read_text(encoding="utf-8")
        ids = list(_ids(text))
    except (OSError, ValueError) as error:
        raise pytest.UsageError(f"{label}: {name} cannot be read: {error}") from None
    if not ids:
        raise pytest.UsageError(f"{label}: expected the ids of trials in {name}, one in a line, got none")
    return list(dict.fromkeys(ids))


def _ids(text: str) -> Iterator[str]:
    """Yield the ids in a list: lines of ``pytest --collect-only -q``, or JSON as ``plan.json`` has it.

    Raises:
        ValueError: Something is not an id.
    """
    if text.lstrip().startswith(("{", "[")):
        document = parse_json(text)
        yield from document["trials"] if isinstance(document, dict) and "trials" in document else document
        return
    for line in map(str.strip, text.splitlines()):
        if "::" in line and not line.startswith("#"):
            yield line
        elif line and not line.startswith("#") and not _COUNT.fullmatch(line):
            raise ValueError(f"expected the id of a trial, got {shorten(line)!r}")


class ShardCounts(NamedTuple):
    """The numbers of trials in this part, of all trials, and of other tests."""

    mine: int
    trials: int
    others: int


def register(config: pytest.Config) -> None:
    """Register what selects, if anything does.

    Raises:
        pytest.UsageError: There is no such part, or an option selects by what this machine ran before.
    """
    of_controller = worker_input(config)
    if of_controller is not None and of_controller.shard:
        config.option.tau_shard = of_controller.shard  # the environment here may be another one
    values, selection = OptionValues(config), given_selection(config)
    shard = Shard(*part) if (part := values.get("shard")) else None
    counts = run_state(config).counts
    counts.selection, counts.shard = selection, str(shard) if shard else ""
    if shard is None and selection is None:
        return
    label = values.label("shard" if shard else "select")
    for name, option in _BY_HISTORY.items():
        if getattr(config.option, name, False):
            raise pytest.UsageError(
                f"{label} and {option}: expected one of them; {option} selects by earlier results of this machine, "
                "and the machines of a run would not split the same trials"
            )
    if selection is not None:  # exactly these
        config.option.keyword = config.option.markexpr = ""
    config.pluginmanager.register(PartSelector(config, shard, selection), "tau-part")


class PartSelector:
    """Deselects the items in other parts; shows which part ran.

    Attributes:
        shard: The shard; None if only a list selects.
        counts: The numbers of items; None before collection.
    """

    def __init__(self, config: pytest.Config, shard: Shard | None, selection: list[str] | None) -> None:
        self._config, self.shard, self._selection = config, shard, selection
        self.counts: ShardCounts | None = None

    @property
    def _name(self) -> str:
        return f"shard {self.shard}" if self.shard else "selection"

    def pytest_report_header(self) -> str:
        """Show which part runs."""
        listed = f"{plural(len(self._selection), 'test')} selected" if self._selection is not None else ""
        return f"tau: {': '.join(filter(None, [f'shard {self.shard}' if self.shard else '', listed]))}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Select this part of the items that others have selected; other tests are in the first shard.

        Raises:
            pytest.UsageError: A selected test was not collected.
        """
        collected = list(items)
        counts = run_state(config).counts
        counts.whole = {item.nodeid: group for item in collected if (group := group_of(item)) is not None}
        if self._selection is not None:
            self._select(items)
        if self.shard is not None:
            self._split(self.shard, items)
        trials = sum(spec_of(item) is not None for item in collected)
        mine = sum(spec_of(item) is not None for item in items)
        self._count(ShardCounts(mine, trials, len(collected) - trials))
        give_output(config, part=list(self.counts or ()))
        selected = set(items)
        if others := [item for item in collected if item not in selected]:
            config.hook.pytest_deselected(items=others)

    def _select(self, items: list[pytest.Item]) -> None:
        selected = set(self._selection or ())
        items[:] = [item for item in items if item.nodeid in selected]
        collected = {item.nodeid for item in items}
        if unknown := [node_id for node_id in self._selection or () if node_id not in collected]:
            more = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
            raise pytest.UsageError(
                f"{plural(len(unknown), 'selected test')} not collected: {', '.join(unknown[:_MOST_NAMED])}{more}; "
                "use the settings with which the list was made"
            )

    def _split(self, shard: Shard, items: list[pytest.Item]) -> None:
        trials = [item for item in items if spec_of(item) is not None]
        mine = shard.positions([item.nodeid for item in trials])
        selected = {item for position, item in enumerate(trials) if position in mine}
        first = shard.number == 1
        items[:] = [item for item in items if item in selected or (first and spec_of(item) is None)]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the numbers from a worker; every worker finds the same ones."""
        numbers = output_of(node).get("part")
        if numbers:
            self._count(ShardCounts(*numbers))

    def _count(self, counts: ShardCounts) -> None:
        self.counts, run = counts, run_state(self._config).counts
        run.in_other_shards = counts.trials - counts.mine
        run.empty_part |= counts.mine == 0 < counts.trials

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the numbers; xdist does not show what its workers deselect."""
        if self.counts is None:
            return
        mine, trials, others = self.counts
        text = f"{mine or 'none'} of {plural(trials, 'trial')}" if trials else "0 of 0 trials"
        if others and self.shard:
            text += f"; {plural(others, 'other test')} in shard {Shard(1, self.shard.of)}"
        yield SummaryLine(f"tau: {self._name}: {text}", {"yellow": not mine})
