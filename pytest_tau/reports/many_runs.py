"""The tables of several runs that were compared: as text, Markdown and HTML."""

from __future__ import annotations

from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ..analysis.scores import first_and_last
from ..terminal import wrap
from ..text import money, one_line, visible
from .markdown import escaped
from .page import content_policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..analysis.many import Contrast, ManyRuns, RunRow
    from ..analysis.metrics import PassRate
    from ..analysis.statistics import Interval

#: The most characters of a run's name.
_LONGEST = 80
#: What is between two columns of text, and the columns with names of runs, which may be broken to so many characters.
_GAP, _OF_RUNS, _SHORTEST = "  ", ("run", "against"), 8
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1c2733; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { border-bottom: 1px solid #d5dce3; padding: .35rem .6rem; text-align: left; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.loss td { background: #fdecea; } tr.gain td { background: #e8f5ec; }
.note { color: #5a6772; }
"""


class Table(NamedTuple):
    """A table of texts.

    Attributes:
        title: Its heading.
        head: The names of the columns.
        rows: The cells of each row.
        kinds: ``loss``, ``gain`` or nothing, for each row.
    """

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    kinds: list[str]


def tables(many: ManyRuns) -> list[Table]:
    """Return the table of runs, with trials of tasks that of pass^k, and that of comparisons."""
    domains = many.domains if len(many.domains) > 1 else []
    costs = any(row.cost is not None for row in many.rows)
    head = ("run", "trials", "errors", "pass^1", "95 % interval", *domains, *(["cost"] if costs else []))
    rows = [_run_cells(row, domains, costs=costs) for row in many.rows]
    sections = [Table("Runs", head, rows, [""] * len(rows))]
    if powers := sorted({rate.k for row in many.rows for rate in first_and_last(row.rates)} - {1}):
        cells = [_power_cells(row, powers) for row in many.rows]
        sections.append(Table("pass^k", ("run", *(f"pass^{k}" for k in powers)), cells, [""] * len(cells)))
    if many.contrasts:
        head = ("run", "against", "change", "95 % interval", "p", "p (Holm)", "worse", "better", "result")
        cells = [_contrast_cells(many, contrast) for contrast in many.contrasts]
        sections.append(Table("Differences", head, cells, [_kind(contrast) for contrast in many.contrasts]))
    return sections


def many_text(many: ManyRuns, width: int) -> list[str]:
    """Return the comparison as lines of text, of which those of tables are aligned.

    Args:
        many: The comparison.
        width: Characters of a line of a table.
    """
    lines = wrap(many.compared, width, 2)
    for table in tables(many):
        lines += ["", *_aligned(table, width)]
    return [*lines, "", *([] if many.contrasts else ["nothing can be compared: no task has a verdict in every run"])]


def many_markdown(many: ManyRuns) -> str:
    """Return the comparison as a page of Markdown."""
    parts = [f"{escaped(many.compared)}\n"]
    for table in tables(many):
        parts += [_markdown_row(table.head), _markdown_row(["---"] * len(table.head))]
        parts += [*map(_markdown_row, table.rows), ""]
    parts += [f"- warning: {escaped(line)}" for line in many.warnings()]
    return "\n".join([*parts, "", f"{escaped(many.method)}", ""])


def many_html(many: ManyRuns, title: str) -> str:
    """Return the comparison as an HTML page without scripts, which needs no network."""
    body = [f"<h1>{escape(one_line(title, _LONGEST))}</h1>"]
    body.append(f"<p>{_text(many.compared)}</p>")
    for table in tables(many):
        body += [f"<h2>{escape(table.title)}</h2>", "<table>", _html_row("th", table.head)]
        body += [_html_row("td", row, kind) for row, kind in zip(table.rows, table.kinds, strict=True)]
        body.append("</table>")
    if warnings := many.warnings():
        body += ["<h2>Warnings</h2>", "<ul>", *(f"<li>{_text(line)}</li>" for line in warnings), "</ul>"]
    body.append(f'<p class="note">{escape(many.method)}</p>')
    policy = escape(content_policy(_STYLE))
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    name = escape(one_line(title, _LONGEST))
    inside = "\n".join(body)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>{head}<title>{name}</title><style>{_STYLE}</style></head>\n'
        f"<body>\n{inside}\n</body>\n</html>\n"
    )


def _run_cells(row: RunRow, domains: Sequence[str], *, costs: bool) -> tuple[str, ...]:
    cells = [one_line(row.name, _LONGEST), f"{row.trials:,}", f"{row.errors:,}", _rate(row.rate), _reach(row.interval)]
    cells += [_rate(row.domains.get(name)) for name in domains]
    if costs:
        cells.append(money(row.cost) if row.cost is not None else "unknown")
    return tuple(cells)


def _power_cells(row: RunRow, powers: Sequence[int]) -> tuple[str, ...]:
    values = {rate.k: f"{rate.value:.3f}" for rate in row.rates}
    return (one_line(row.name, _LONGEST), *(values.get(k, "-") for k in powers))


def _contrast_cells(many: ManyRuns, contrast: Contrast) -> tuple[str, ...]:
    paired, interval = contrast.paired, contrast.paired.interval
    return (
        one_line(many.name(contrast.after, contrast.variant), _LONGEST),
        one_line(many.name(contrast.before, contrast.variant), _LONGEST),
        f"{paired.difference:+.3f}",
        f"{interval.low:+.3f} to {interval.high:+.3f}" if interval else f"too few {paired.unit_name}s",
        _probability(paired.p),
        _probability(contrast.adjusted),
        f"{contrast.worse:,}",
        f"{contrast.better:,}",
        contrast.verdict,
    )


def _kind(contrast: Contrast) -> str:
    if not contrast.significant:
        return ""
    return "loss" if contrast.paired.difference < 0 else "gain"


def _rate(value: PassRate | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _reach(interval: Interval | None) -> str:
    return interval.format() if interval else "-"


def _probability(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def is_number(name: str) -> bool:
    """Return whether a column has numbers, by its name."""
    return name not in (*_OF_RUNS, "result")


def _aligned(table: Table, width: int) -> Iterable[str]:
    """Yield the lines of a table; if it is too wide, cells of its widest columns take several lines."""
    columns = list(zip(table.head, *table.rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    longest = [max(len(word) for cell in column for word in cell.split()) for column in columns]
    narrowest = [
        least if name not in _OF_RUNS else min(least, _SHORTEST)
        for name, least in zip(table.head, longest, strict=True)
    ]
    while sum(widths) + len(_GAP) * (len(widths) - 1) > width and widths != narrowest:
        widths[max(range(len(widths)), key=lambda at: (widths[at] > narrowest[at]) * widths[at])] -= 1
    for row in (table.head, *table.rows):
        cells = [wrap(cell, wide, 0) for cell, wide in zip(row, widths, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            aligned = [
                part.rjust(wide) if is_number(name) else part.ljust(wide)
                for part, wide, name in zip(parts, widths, table.head, strict=True)
            ]
            yield _GAP.join(aligned).rstrip()


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell if cell == '---' else escaped(cell) for cell in cells)} |"


def _text(text: str) -> str:
    return escape(visible(text))


def _html_row(tag: str, cells: Sequence[str], kind: str = "") -> str:
    head = f'<tr class="{kind}">' if kind else "<tr>"
    return head + "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"
