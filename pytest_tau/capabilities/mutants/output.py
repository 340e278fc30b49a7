"""The output of ``tau mutants``: a table with the survivors, or one JSON document."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

from ...commands import Printer
from ...text import listed, plural
from .mutant import KINDS
from .verdicts import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .trials import Trials
    from .verdicts import Base, Score, Verdict

_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
#: Tasks without a pass that are named.
_FAILED = 5


def show(trials: Trials, base: Base, verdicts: Sequence[Verdict], score: Score, *, verbose: bool) -> None:
    """Print the table, the survivors and the score.

    Args:
        trials: The trials that were played.
        base: The agent without a fault.
        verdicts: The verdicts.
        score: Their score.
        verbose: Whether the other mutants are shown as well.
    """
    printer = Printer()
    printer.line(f"mutants of {trials.agent} on {trials.domain.name}: {plural(len(base.tasks), 'task')}")
    if base.failed:
        printer.line(f"not used, as the agent fails them without a fault: {listed(base.failed, _FAILED)}", 2)
    numbers = Counter((verdict.mutant.kind, verdict.outcome) for verdict in verdicts)
    outcomes = [outcome for outcome in _OUTCOMES if outcome != "undecided" or score.undecided]
    printer.line(f"{'kind':<22}{'mutants':>8}{''.join(f'{outcome:>12}' for outcome in outcomes)}", 2)
    for kind in KINDS:
        row = [numbers[kind, outcome] for outcome in outcomes]
        if sum(row):
            printer.line(f"{kind:<22}{sum(row):>8}{''.join(f'{number:>12}' for number in row)}", 2)
    for verdict in verdicts:
        if verbose or verdict.outcome == "survived":
            _show_verdict(printer, verdict)
    printer.line(in_words(score))


def _show_verdict(printer: Printer, verdict: Verdict) -> None:
    printer.line(f"{verdict.outcome}: {verdict.mutant.kind}: {verdict.mutant.text}")
    if verdict.outcome == "killed":
        printer.line(f"failed: {', '.join(verdict.tasks)}", 2)
        return
    printer.line(verdict.why, 2)
    if verdict.outcome == "survived":
        printer.line(f"nearest: {', '.join(verdict.tasks)}", 2)
        printer.line(f"would notice it: {verdict.notice}", 2)


def in_words(score: Score) -> str:
    """Return a score in words."""
    others = [f"{score.equivalent} equivalent"] if score.equivalent else []
    others += [f"{score.undecided} undecided"] if score.undecided else []
    rest = f"; {', '.join(others)}" if others else ""
    if score.rate is None or score.interval is None:
        return f"score: none, as no mutant was decided{rest}"
    decided = score.killed + score.survived
    return (
        f"score {score.rate:.3f} (95 % interval {score.interval.format()}): {score.killed} of "
        f"{plural(decided, 'mutant')} killed{rest}"
    )


def document(trials: Trials, base: Base, verdicts: Sequence[Verdict], score: Score) -> dict[str, Any]:
    """Return the result as one JSON document."""
    return {
        "agent": trials.agent,
        "domain": trials.domain.name,
        "never_varies": base.steady,
        "tasks": [task.id for task in base.tasks],
        "failed_without_fault": base.failed,
        "trials": trials.played,
        "cost": round(trials.spent, 6) if trials.llms else None,
        "score": score.rate,
        "interval": list(score.interval) if score.interval else None,
        **{outcome: getattr(score, outcome) for outcome in _OUTCOMES},
        "mutants": [
            {
                "kind": verdict.mutant.kind,
                "tool": verdict.mutant.tool or None,
                "detail": verdict.mutant.detail or None,
                "new": verdict.mutant.new or None,
                "text": verdict.mutant.text,
                "outcome": verdict.outcome,
                "tasks": list(verdict.tasks),
                "trials": verdict.trials,
                "why": verdict.why or None,
                "notice": verdict.notice if verdict.outcome == "survived" else None,
            }
            for verdict in verdicts
        ],
    }
