"""What is touched of domains, as a table of the terminal and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...commands import Printer
from ...text import plural, printable
from .measure import KINDS, UNTOUCHED, Coverage, Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .propose import Proposal

#: Width of the widest kind, and of the figures of a row.
_KIND, _FIGURES = max(map(len, KINDS)), 13


class Proposed(NamedTuple):
    """Tasks that are proposed for a domain, and what is touched with them."""

    proposal: Proposal
    together: Coverage
    alone: Coverage


def show(
    coverages: Sequence[Coverage],
    proposals: Mapping[str, Proposed],
    failures: Sequence[str],
    *,
    most: int,
    page: Path | None,
) -> None:
    """Print what is touched, and what nothing touches.

    Args:
        coverages: What is touched of each domain.
        proposals: Tasks that are proposed, by domain.
        failures: A line for each share that is too low.
        most: The number of lines for each kind; 0 for all.
        page: The page that was written; None for none.
    """
    printer = Printer()
    for coverage in coverages:
        printer.line(f"{coverage.domain}: {coverage.of}")
        for row in coverage.rows:
            printer.line(f"{row.kind:<{_KIND}}  {_figures(row)}", 2, _KIND + 6)
        if coverage.files:
            shares = ", ".join(f"{name} {share:.0f} %" for name, share in coverage.files.items())
            printer.line(f"statements and branches of the tools' files: {shares}", 2, 4)
        if any(row.missing for row in coverage.rows):
            printer.line("nothing touches")
        for row in coverage.rows:
            _show_missing(printer, row, most)
        for note in coverage.notes:
            printer.line(f"note: {note}")
        if coverage.domain in proposals:
            _show_proposal(printer, coverage, proposals[coverage.domain])
    for failure in failures:
        printer.line(f"too low: {failure}")
    if page is not None:
        print(printable(f"page: {page}"))  # noqa: T201 - a path, in one piece


def _figures(row: Row) -> str:
    if row.percent is None:
        return f"no figure: {row.unknown}"
    return f"{f'{row.touched} of {row.total}':>{_FIGURES}}  {row.percent:5.1f} %"


def _show_missing(printer: Printer, row: Row, most: int) -> None:
    if not row.missing:
        return
    printer.line(UNTOUCHED.get(row.kind, KINDS[row.kind]), 2)
    visible = row.missing[:most] if most > 0 else row.missing
    for line in visible:
        printer.line(line, 4)
    if len(visible) < len(row.missing):
        printer.line(f"and {len(row.missing) - len(visible)} more (--max 0 shows all)", 4)


def _show_proposal(printer: Printer, before: Coverage, proposed: Proposed) -> None:
    chosen, alone, candidates = proposed.proposal
    printer.line(f"proposed: {plural(len(chosen), 'task')} of {candidates} generated ones (--json has them)")
    for task, gain in chosen:
        printer.line(f"{task.id}: touches {plural(gain, 'thing')} that nothing before it does", 4)
    printer.line(f"{'':<{_KIND}}  {'now':>{_FIGURES}}  {'with these':>{_FIGURES}}  {len(alone)} chosen alone", 2)
    for rows in zip(before.rows, proposed.together.rows, proposed.alone.rows, strict=True):
        if rows[0].total:
            figures = "  ".join(f"{f'{row.touched} of {row.total}':>{_FIGURES}}" for row in rows)
            printer.line(f"{rows[0].kind:<{_KIND}}  {figures}", 2)


def documents_of(
    coverages: Sequence[Coverage], proposals: Mapping[str, Proposed], failures: Sequence[str]
) -> dict[str, Any]:
    """Return what is touched as JSON values."""
    return {
        "domains": [_document(coverage, proposals.get(coverage.domain)) for coverage in coverages],
        "too_low": list(failures),
    }


def _document(coverage: Coverage, proposed: Proposed | None) -> dict[str, Any]:
    document = {
        "domain": coverage.domain,
        "of": coverage.of,
        "kinds": _rows(coverage),
        "files": {name: round(share, 1) for name, share in coverage.files.items()},
        "policy": [
            {
                "line": sentence.line,
                "heading": sentence.heading,
                "text": sentence.text,
                "ties": [tie._asdict() for tie in sentence.ties],
            }
            for sentence in coverage.sentences
        ],
        "broken_rules": sorted(coverage.broken),
        "notes": coverage.notes,
    }
    if proposed is None:
        return document
    return document | {
        "proposed": [
            {"adds": gain, "task": task.model_dump(mode="json", exclude_defaults=True)}
            for task, gain in proposed.proposal.chosen
        ],
        "with_proposed": _rows(proposed.together),
        "chosen_alone": _rows(proposed.alone),
    }


def _rows(coverage: Coverage) -> dict[str, Any]:
    return {
        row.kind: {
            "touched": row.touched,
            "total": row.total,
            "percent": None if row.percent is None else round(row.percent, 1),
            "missing": list(row.missing),
            **({"unknown": row.unknown} if row.unknown else {}),
        }
        for row in coverage.rows
    }
