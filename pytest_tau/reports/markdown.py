"""A run's summary for a CI job: tables in Markdown, failing tasks folded away, annotations on them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ..analysis.summary import ending
from ..analysis.unseen import unseen_line
from ..analysis.variants import MOST_PAIRS
from ..capability import installed
from ..capability.calls import summary_lines
from ..runs.groups import distinguish
from ..text import by_numbers, distinct_lines, one_line, plural, visible
from .text import LONGEST_NAME, format_floor, format_stats, format_usage, frequencies, score_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ..analysis.scores import Rate, Scores
    from ..analysis.summary import DomainSummary
    from ..analysis.variants import Variants
    from ..capability import Capability
    from ..runs.groups import Group
    from ..runs.record import TrialRecord

#: How many failing tasks a page has; GitHub takes a page of 1 MiB, and drops one that is longer.
_MOST_TASKS = 200
#: How many annotations GitHub shows of one step.
_MOST_ANNOTATIONS = 10
#: How many reasons are shown, and how many characters of each.
_MOST_REASONS, _LONGEST_REASON = 6, 120
_LONGEST_ID = 200
_SPECIAL = re.compile(r"[\\`*\[\]|~#$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\.")
#: What renderers make a mention or a reference of after they have read the Markdown: @name, #12, GH-12, GitLab's !12.
_REFERENCE = re.compile(r"(?<!\w)@(?=\w)|[#!](?=\d)|\bGH-(?=\d)", re.IGNORECASE)
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class FailingTask(NamedTuple):
    """A task that did not pass every time.

    Attributes:
        domain: Its domain.
        task_id: Its id.
        difference: What distinguishes its test from others with a task of this id; empty if there are none.
        passed: How many of its trials passed.
        trials: How many there were, errors among them.
        reasons: What was not met or went wrong, the most frequent first.
        test: The node id of the first trial that did not pass; empty if that is not known.
    """

    domain: str
    task_id: str
    difference: str
    passed: int
    trials: int
    reasons: tuple[str, ...]
    test: str

    @property
    def name(self) -> str:
        """Return the id, with what distinguishes the test, in one line."""
        difference = f" [{one_line(self.difference, LONGEST_NAME)}]" if self.difference else ""
        return one_line(self.task_id, _LONGEST_ID) + difference


def failing_tasks(records: Iterable[TrialRecord]) -> list[FailingTask]:
    """Return the tasks with a trial that did not pass, by name: workers report in any order.

    A task that several tests run is there for each of them.
    """
    groups: dict[Group, list[TrialRecord]] = {}
    for record in records:
        groups.setdefault(record.group, []).append(record)
    differences = distinguish(groups)
    ordered = sorted(
        groups, key=lambda group: (group.domain, by_numbers(group.task_id), by_numbers(differences[group]))
    )
    return [
        _failing(groups[group], differences[group])
        for group in ordered
        if not all(trial.passed for trial in groups[group])
    ]


def _failing(trials: list[TrialRecord], difference: str) -> FailingTask:
    bad = [trial for trial in trials if not trial.passed]
    reasons = Counter(reason for trial in bad for reason in dict.fromkeys(_reasons(trial)))
    names = [reason for reason, _ in reasons.most_common()]
    passed = len(trials) - len(bad)
    return FailingTask(bad[0].domain, bad[0].task_id, difference, passed, len(trials), tuple(names), bad[0].test)


def _reasons(trial: TrialRecord) -> list[str]:
    """Return the checks that were not met, after the ending and the error of a conversation that was cut off."""
    if trial.outcome == "failed" and trial.error is None and trial.failed_checks:
        return list(trial.failed_checks)
    error = f": {(trial.error or '').strip().splitlines()[0]}" if (trial.error or "").strip() else ""
    return [f"{ending(trial)}{error}", *trial.failed_checks]


def markdown(
    summaries: Sequence[DomainSummary],
    failing: Sequence[FailingTask],
    decisions: Sequence[tuple[str, bool | None]] = (),
    capabilities: Sequence[Capability] | None = None,
) -> str:
    """Return the page.

    Args:
        summaries: Of each domain.
        failing: The tasks that did not pass every time, of all domains.
        decisions: What gates and baseline say, each with whether it is met; None for a line that nothing depends on.
        capabilities: The capabilities of the run; None for those that are installed.
    """
    marks = {True: "✅ ", False: "❌ ", None: ""}
    lines = [f"- {marks[met]}{escaped(line)}" for line, met in decisions]
    pages = ["\n".join(["### Gates and baseline", "", *lines])] if lines else []
    known = installed() if capabilities is None else capabilities
    pages += [
        _domain(summary, [task for task in failing if task.domain == summary.name], known) for summary in summaries
    ]
    return "\n\n".join(pages) + "\n"


def _domain(summary: DomainSummary, failing: Sequence[FailingTask], capabilities: Sequence[Capability]) -> str:
    scores = summary.scores
    counts = [
        (scores.passed, "passed"),
        (scores.failed, "failed"),
        (scores.errors, "error" + "s" * (scores.errors > 1)),
        (scores.excluded, "excluded"),
    ]
    outcomes = ", ".join(f"{number:,} {word}" for number, word in counts if number)
    variants = f", {plural(len(summary.variants.scores), 'variant')}" if summary.variants else ""
    parts = [
        f"### {escaped(summary.name)}",
        f"{plural(scores.tasks, 'task')}{variants}, {plural(scores.trials, 'trial')}: {outcomes}",
        _rates(summary),
        _variants(summary.variants) if summary.variants else "",
        _facts(summary, capabilities),
        *(_scores(f"by {name}", groups, [1]) for name, groups in summary.groups.items() if groups),
        _failures(failing),
    ]
    return "\n\n".join(part for part in parts if part)


def _rates(summary: DomainSummary) -> str:
    scores = summary.scores
    rates = scores.shown_rates()
    if not rates:
        return ""
    with_errors = {rate.k: rate for rate in scores.with_errors}
    rows = [["", *(f"pass^{rate.k}" for rate in rates)], ["errors excluded", *(_value(rate) for rate in rates)]]
    rows[1][0] = rows[1][0] if scores.errors else "rate"
    if any(rate.interval for rate in rates):
        rows.append(["95 % interval", *(rate.interval.format() if rate.interval else "" for rate in rates)])
    if scores.errors:
        rows.append(["errors counted as failures", *(_value(with_errors.get(rate.k)) for rate in rates)])
    if summary.floor:
        floor = format_floor(summary.floor, scores)
        rows.append([f"no-op agent: {floor}", *(f"{summary.floor.rate:.3f}" for _ in rates)])
    return _table(rows)


def _facts(summary: DomainSummary, capabilities: Sequence[Capability]) -> str:
    scores = summary.scores
    rows = [["", ""]]
    if scores.mean_reward is not None:
        rows.append(["mean reward", f"{scores.mean_reward:.3f}"])
    facts = [("errors", summary.faults), ("ended by", summary.endings), ("not met", summary.unmet)]
    rows += [[label, ", ".join(frequencies(counted, _MOST_REASONS))] for label, counted in facts if counted]
    if summary.stats:
        rows.append(["a trial", ", ".join(format_stats(summary.stats, summary.usage, scores.trials))])
    if summary.usage:
        rows.append(["models", ", ".join(format_usage(summary.usage))])
        rows += [["not in the costs", unseen_line(summary.unseen)]] if summary.unseen else []
    records = [record for variant_records in summary.records.values() for record in variant_records]
    rows += [[*line] for line in summary_lines(capabilities, records)]
    if summary.restored:
        rows.append(["reused", f"{plural(summary.restored, 'trial')} of an earlier run"])
    return _table(rows)


def _variants(variants: Variants) -> str:
    """Return a table with a row for each variant, and their comparisons."""
    ks = sorted({rate.k for scores in variants.scores for rate in scores.shown_rates()})
    lines = [f"- {escaped(line)}" for line in variants.pair_lines(MOST_PAIRS)]
    return "\n\n".join([_scores("variant", variants.scores, ks), "\n".join(lines)])


def _scores(name: str, groups: Sequence[Scores], ks: Sequence[int]) -> str:
    """Return a table with a row for each group of trials, with pass^k for some k."""
    names = distinct_lines([group.name for group in groups], LONGEST_NAME)
    cells = [score_cells(group, ks) for group in groups]
    return _table([[name, *cells[0]], *([text, *row.values()] for text, row in zip(names, cells, strict=True))])


def _failures(failing: Sequence[FailingTask]) -> str:
    if not failing:
        return ""
    rows = [["task", "passed", "not met, or error"]]
    for task in failing[:_MOST_TASKS]:
        passed = f"{task.passed} of {task.trials}"
        rows.append([task.name, passed, _format_reasons(task)])
    if len(failing) > _MOST_TASKS:
        rows.append([f"and {plural(len(failing) - _MOST_TASKS, 'more task')}", "", ""])
    heading = f"<summary>{plural(len(failing), 'task')} did not pass every time</summary>"
    return f"<details>{heading}\n\n{_table(rows)}\n\n</details>"


def _format_reasons(task: FailingTask) -> str:
    text = "; ".join(one_line(reason, _LONGEST_REASON) for reason in task.reasons[:_MOST_REASONS])
    left = len(task.reasons) - _MOST_REASONS
    return f"{text}; {left} more" if left > 0 else text


def _value(rate: Rate | None) -> str:
    return f"{rate.value:.3f}" if rate else ""


def _table(rows: Sequence[Sequence[str]]) -> str:
    if len(rows) < 2:
        return ""
    lines = [f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def escaped(text: str) -> str:
    """Return text that means itself in a table of GitHub's Markdown: no markup, no HTML, no mention, no link."""
    line = _SPECIAL.sub(lambda match: f"\\{match[0]}", visible(" ".join(text.split())))
    html = "".join(_HTML.get(character, character) for character in line)
    return _REFERENCE.sub(r"\g<0>&ZeroWidthSpace;", html)  # a space without width; a backslash is gone by then


def annotation_lines(failing: Sequence[FailingTask], root: Path, workspace: Path) -> list[str]:
    """Return workflow commands that mark failing tasks in GitHub's view of a change, no more than it shows.

    Args:
        failing: The tasks that did not pass every time.
        root: The folder that node ids start from.
        workspace: The folder of the checkout.

    Source: GitHub Actions, workflow commands: ``::error file=…,title=…::…``.
    """
    annotated = failing if len(failing) <= _MOST_ANNOTATIONS else failing[: _MOST_ANNOTATIONS - 1]
    lines = [_annotation(task, root, workspace) for task in annotated]
    left = len(failing) - len(annotated)
    return [*lines, *([f"::error title=pytest-tau::and {plural(left, 'more failing task')}"] if left else [])]


def _annotation(task: FailingTask, root: Path, workspace: Path) -> str:
    file, workspace = (root / task.test.partition("::")[0]).resolve(), workspace.resolve()
    place = {}
    if task.test and file.is_file() and file.is_relative_to(workspace):
        place["file"] = file.relative_to(workspace).as_posix()
    place["title"] = one_line(f"{task.domain}: {task.name}", _LONGEST_ID)
    values = ",".join(f"{name}={_of_property(value)}" for name, value in place.items())
    text = f"{task.passed} of {plural(task.trials, 'trial')} passed: {_format_reasons(task)}"
    return f"::error {values}::{_of_command(text)}"


def _of_command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _of_property(text: str) -> str:
    return _of_command(text).replace(":", "%3A").replace(",", "%2C")
