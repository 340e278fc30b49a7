"""The page: the shares, the text of the policy in colours, and what nothing touches; without scripts and network."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from ...files import atomic_write
from ...reports.page import html_text, static_page
from .measure import KINDS, UNTOUCHED, Coverage, Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ...policy import Sentence, Tie

#: The classes of sentences, each with what it means of tasks and of runs.
_COLOURS = {
    "checked": (
        "a task can break a rule that is tied to it, or notices a change of it",
        "a conversation has broken a rule that is tied to it, or a task notices a change of it",
    ),
    "idle": (
        "no task that was tried breaks its rule, or notices a change of it",
        "no conversation has broken its rule, and no task notices a change of it",
    ),
    "stated": ("it states a value: tau vary shows whether a task notices it",) * 2,
    "bare": ("nothing is tied to it",) * 2,
}


def write_page(file: Path, coverages: Sequence[Coverage]) -> None:
    """Write the page of what is touched of domains.

    Raises:
        OSError: The file cannot be written.
    """
    title = f"coverage of {', '.join(coverage.domain for coverage in coverages)}"
    parts = (part for coverage in coverages for part in _domain(coverage))
    style = (files(__package__) / "page.css").read_text("utf-8")
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(file, static_page("coverage", title, parts, style=style))


def _domain(coverage: Coverage) -> Iterator[str]:
    yield f'<h1>{html_text(coverage.domain)}</h1>\n<p class="note">{html_text(coverage.of)}</p>'
    rows = "".join(map(_row, coverage.rows))
    yield f'<table class="shares"><tbody>{rows}</tbody></table>'
    if coverage.files:
        shares = ", ".join(f"<code>{html_text(name)}</code> {share:.0f} %" for name, share in coverage.files.items())
        yield f'<p class="note">Statements and branches of the tools\' files: {shares}</p>'
    yield from (f'<p class="card">{html_text(note)}</p>' for note in coverage.notes)
    if coverage.sentences:
        yield "<h2>Policy</h2>"
        meanings = ((name, html_text(texts[coverage.of_runs])) for name, texts in _COLOURS.items())
        yield '<p class="key">'
        yield from (f'<mark class="{name}">{text}</mark>' for name, text in meanings)
        yield "</p>"
        yield f'<pre class="policy">{_coloured(coverage)}</pre>'
    yield "<h2>Nothing touches</h2>"
    yield from (_missing(row) for row in coverage.rows if row.missing)


def _row(row: Row) -> str:
    name = f'<th>{html_text(row.kind)}</th><td class="what">{html_text(KINDS[row.kind])}</td>'
    if row.percent is None:
        return f'<tr>{name}<td class="note" colspan="3">{html_text(row.unknown)}</td></tr>'
    bar = f'<meter min="0" max="100" value="{row.percent:.1f}"></meter>'
    return (
        f'<tr>{name}<td class="number">{row.touched} of {row.total}</td>'
        f'<td class="number">{row.percent:.1f} %</td><td>{bar}</td></tr>'
    )


def _missing(row: Row) -> str:
    items = "".join(f"<li>{html_text(line)}</li>" for line in row.missing)
    summary = (
        f'<b>{html_text(row.kind)}</b> <span class="note">{html_text(UNTOUCHED.get(row.kind, KINDS[row.kind]))}</span>'
    )
    return f'<details class="card" open><summary>{summary}</summary>\n<ul>{items}</ul>\n</details>'


def _coloured(coverage: Coverage) -> str:
    """Return the text of the policy, each sentence in its colour, with what is tied to it as its title."""
    parts, place = [], 0
    for sentence in coverage.sentences:
        parts.append(html_text(coverage.policy[place : sentence.start]))
        ties = ", ".join(_tie(tie, coverage) for tie in sentence.ties) or "nothing is tied to it"
        parts.append(
            f'<mark class="{_colour(sentence, coverage)}" title="{html_text(ties)}">{html_text(sentence.text)}</mark>'
        )
        place = sentence.end
    return "".join([*parts, html_text(coverage.policy[place:])])


def _tie(tie: Tie, coverage: Coverage) -> str:
    noticed = _outcome(tie, coverage) if tie.kind == "value" else None
    outcome = "" if noticed is None else ": noticed" if noticed else ": no task notices it"
    return f"{tie.kind} {tie.name}{outcome}"


def _colour(sentence: Sentence, coverage: Coverage) -> str:
    """Return the class of a sentence: the best that is known of what is tied to it."""
    outcomes = {_outcome(tie, coverage) for tie in sentence.ties}
    if True in outcomes:
        return "checked"
    return "idle" if False in outcomes else "stated" if outcomes else "bare"


def _outcome(tie: Tie, coverage: Coverage) -> bool | None:
    """Return whether a task breaks a rule, or notices the change of a value or a mutant; None if that is not known."""
    if tie.kind == "rule":
        return tie.name in coverage.broken
    return coverage.noticed.get(tie.name) if tie.kind == "value" else tie.name == "killed"
