"""A run's summary as lines of text that fit a terminal: those that follow the first line of a domain."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ..analysis.columns import COLUMNS
from ..analysis.usage import format_tokens
from ..analysis.variants import MOST_PAIRS
from ..capability.calls import summary_lines
from ..text import distinct_lines, duration, money, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..analysis.columns import Column
    from ..analysis.scores import Floor, Rate, Scores
    from ..analysis.summary import DomainSummary, TrialStats
    from ..capability import Capability
    from ..models import ModelUsage
    from ..runs.record import TrialRecord

#: With fewer trials the reports of failures say it all, and with fewer tasks an interval says nothing.
_FEW = 5
#: How many of the most frequent are shown, and how many groups; with -v all of them.
_MOST, _MOST_GROUPS = 5, 12
#: How many of the first rates a table of variants has; the last one is added.
_VARIANT_RATES = 4
_LABEL = 15
#: Characters of what was not met.
LONGEST_NAME = 45
#: Seconds below which durations are not shown.
_NO_TIME = 0.1
_NARROWEST = 30
#: A table in less has no room for intervals.
_WIDE_TABLE = 70
_UNBROKEN = "\N{NO-BREAK SPACE}"


def detail_lines(summary: DomainSummary, *, verbosity: int = 0, width: int = 80) -> list[str]:
    """Return the lines of a domain below its first one; fewer if there is less to say.

    Args:
        summary: The domain's.
        verbosity: Below 0 nothing is shown, above 0 everything.
        width: Of the terminal, in characters.
    """
    if verbosity < 0:
        return []
    details = _details(summary, everything=verbosity > 0)
    lines = [line for label, parts in details for line in _laid_out(label, parts, width)]
    for name, groups in summary.groups.items():
        lines += _table(name, groups, None if verbosity > 0 else _MOST_GROUPS, width)
    return lines


def capability_lines(
    capabilities: Iterable[Capability],
    records: Sequence[TrialRecord],
    *,
    asked: Collection[str],
    everything: bool,
    width: int,
    brief: bool = False,
) -> list[str]:
    """Return the lines of capabilities about the trials of a domain.

    Args:
        capabilities: The capabilities.
        records: The trials.
        asked: The names of the capabilities whose details are shown.
        everything: Whether the details of all are.
        width: Of the terminal, in characters.
        brief: Whether only findings are shown of the capabilities whose details are not.
    """
    lines, before = list[str](), ""
    pairs = summary_lines(capabilities, records, asked=asked, everything=everything, terminal=True, brief=brief)
    for label, text in pairs:
        shown_label = label if label != before else ""
        nested = text.startswith(" ")
        lines += [f"  {'':<{_LABEL}}{text}"] if nested else _laid_out(shown_label, text.split(", "), width)
        before = label
    return lines


def variant_lines(summary: DomainSummary, *, verbosity: int = 0, width: int = 80) -> list[str]:
    """Return the lines of a domain's variants: a table with a row for each, and their comparisons.

    Args:
        summary: The domain's.
        verbosity: Above 0, all variants and comparisons are shown.
        width: Of the terminal, in characters.
    """
    variants = summary.variants
    if variants is None:
        return []
    most = None if verbosity > 0 else _MOST_GROUPS
    pairs = variants.pair_lines(None if verbosity > 0 else MOST_PAIRS)
    room = max(width - 2, _NARROWEST)
    lines = [line for pair in pairs for line in textwrap.wrap(pair, room, subsequent_indent="  ")]
    return [*_table("variant", variants.scores, most, width, rates=_VARIANT_RATES), *(f"  {line}" for line in lines)]


def _details(summary: DomainSummary, *, everything: bool) -> list[tuple[str, list[str]]]:
    """Return labels, each with the parts of its text."""
    scores, most = summary.scores, None if everything else _MOST
    many = everything or (scores.trials >= _FEW and scores.passed < scores.trials)
    wide = everything or (many and scores.tasks >= _FEW)
    floor, stats, usage = summary.floor, summary.stats, summary.usage
    mean = scores.mean_reward
    unlike_rate = mean is not None and (everything or (many and not _is_rate(mean, scores.rates)))
    with_errors = [*_plain_rates(scores.with_errors), "errors counted as failures"] if scores.with_errors else []
    details = [
        ("95 % interval", wide, _intervals(scores.rates)),
        ("with errors", everything, with_errors),
        (
            "no-op agent",
            wide or (floor and floor.passed),
            [f"pass^1 {floor.rate:.3f} ({format_floor(floor, scores)})"] if floor else [],
        ),
        ("mean reward", unlike_rate, [f"{mean:.3f}"] if mean is not None else []),
        ("errors", True, frequencies(summary.faults, most)),
        ("messages", everything, frequencies(summary.messages, most)),
        ("ended by", many, frequencies(summary.endings, most)),
        ("not met", many, frequencies(summary.unmet, most)),
        ("other outcomes", True, frequencies(summary.reached, most)),
        ("a trial", many or usage, format_stats(stats, usage, scores.trials) if stats else []),
        ("models", everything, format_usage(usage) if usage else []),
        ("reused", summary.restored, [f"{plural(summary.restored, 'trial')} of an earlier run"]),
    ]
    return [(label, parts) for label, is_shown, parts in details if is_shown and parts]


def format_floor(floor: Floor, scores: Scores) -> str:
    """Return how many tasks an agent passes that does nothing."""
    unknown = scores.tasks - floor.tasks
    left_out = f"; unknown for {plural(unknown, 'task')}" if unknown > 0 else ""
    return f"{floor.passed} of {plural(floor.tasks, 'task')}{left_out}"


def format_stats(stats: TrialStats, usage: ModelUsage | None, trials: int) -> list[str]:
    """Return what a trial took on average, in parts: ``4.5 turns``, ``3.0 calls (0.2 failed)``."""
    parts = [
        _format_mean(column, stats.means) for column in COLUMNS if column.name in stats.means and not column.part_of
    ]
    if usage is not None:
        parts.append(f"{(usage.prompt_tokens + usage.completion_tokens) / trials:,.0f} tokens")
        if usage.unpriced_calls < usage.calls:
            least = "at least " if usage.unpriced_calls else ""
            parts.append(f"{least}{money(usage.known_cost / trials)}")
    timed = stats.p95 >= _NO_TIME
    return [*parts, f"duration p50 {duration(stats.p50)}", f"p95 {duration(stats.p95)}"] if timed else parts


def _format_mean(column: Column, means: Mapping[str, float]) -> str:
    parts = [part for part in COLUMNS if part.part_of == column.name and means[part.name]]
    inside = ", ".join(f"{means[part.name]:.1f} {part.unit}" for part in parts)
    return f"{means[column.name]:.1f} {column.unit}s" + (f" ({inside})" if inside else "")


def format_usage(usage: ModelUsage) -> list[str]:
    """Return the number, tokens and cost of model calls, in parts."""
    tokens = format_tokens(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
    parts = [plural(usage.calls, "call"), tokens]
    if usage.unpriced_calls == usage.calls:
        return [*parts, "cost unknown"]
    unknown = f" and {plural(usage.unpriced_calls, 'call')} with unknown price" if usage.unpriced_calls else ""
    return [*parts, f"{money(usage.known_cost)}{unknown}"]


def frequencies(counted: Sequence[tuple[str, int]], most: int | None = None) -> list[str]:
    """Return names with their frequencies: ``DB (12)``, ``ACTION cancel_order (3)``, ``2 more``."""
    texts = [f"{one_line(name, LONGEST_NAME)} ({number:,})" for name, number in counted[:most]]
    left = len(counted) - len(texts)
    return [*texts, f"{left} more"] if left else texts


def _intervals(rates: Sequence[Rate]) -> list[str]:
    return [f"pass^{rate.k} {rate.interval.format()}" for rate in rates if rate.interval is not None]


def _plain_rates(rates: Sequence[Rate]) -> list[str]:
    return [f"pass^{rate.k} {rate.value:.3f}" for rate in rates]


def _is_rate(mean_reward: float, rates: Sequence[Rate]) -> bool:
    """Return whether the mean reward is shown already, as pass^1."""
    return any(
        rate.k == 1 and isinstance(rate.value, float) and abs(rate.value - mean_reward) < 0.0005 for rate in rates
    )


def _laid_out(label: str, parts: Sequence[str], width: int) -> list[str]:
    room = max(width - _LABEL - 2, _NARROWEST)
    # A part stays on one line where a line has room for it: textwrap does not break at a no-break space.
    text = ", ".join(part.replace(" ", _UNBROKEN) if len(part) < room else part for part in parts)
    wrapped = textwrap.wrap(text, room, break_on_hyphens=False)
    lines = [line.replace(_UNBROKEN, " ") for line in wrapped]
    label = label if len(label) < _LABEL else f"{label}  "
    return [f"  {label if not number else '':<{_LABEL}}{line}" for number, line in enumerate(lines)]


def _table(name: str, groups: Sequence[Scores], most: int | None, width: int, rates: int = 1) -> list[str]:
    """Return a line for each group: tasks, trials, pass^1 with its interval, other first rates, the last pass^k."""
    if not groups:
        return [f"  by {name}: no task has {'any' if name in ('tags', 'actions') else 'one'}"]
    last = max((group.rates[-1].k for group in groups if group.rates), default=1)
    rows = [score_cells(group, [*range(2, min(rates, last) + 1), last]) for group in groups[:most]]
    left_out = {"errors"} if not any(group.errors for group in groups) else set[str]()
    left_out |= {"95 % interval"} if width < _WIDE_TABLE else set()
    columns = [head for head in rows[0] if head not in left_out]
    widths = [max(len(head), *(len(row[head]) for row in rows)) for head in columns]
    names = distinct_lines(_names(name, groups[:most]), max(width - 3 - sum(widths) - 2 * len(widths), 12))
    table = [columns, *([row[head] for head in columns] for row in rows)]
    first = max(map(len, names))
    lines = [f"  {text:<{first}}{_joined(cells, widths)}" for text, cells in zip(names, table, strict=True)]
    left = len(groups) - len(rows)
    return [*lines, *([f"  and {left} more (-v shows them)"] if left else [])]


def _names(name: str, groups: Sequence[Scores]) -> list[str]:
    return [f"by {name}", *(group.name for group in groups)]


def score_cells(group: Scores, further: Sequence[int]) -> dict[str, str]:
    """Return the cells of a row of a table, by the head of their column; after pass^1 pass^k of each further k."""
    values = {rate.k: rate for rate in group.rates}
    interval = values[1].interval if 1 in values else None
    return {
        "tasks": f"{group.tasks:,}",
        "trials": f"{group.trials:,}",
        "pass^1": _value(values, 1),
        "95 % interval": interval.format() if interval else "-",
        **{f"pass^{k}": _value(values, k) for k in further if k > 1},
        "errors": f"{group.errors:,}",
    }


def _value(values: Mapping[int, Rate], k: int) -> str:
    return f"{values[k].value:.3f}" if k in values else "-"


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
