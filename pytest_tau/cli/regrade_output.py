"""The output of ``tau regrade``: text for people, or one JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..commands.output import Printer, print_aside
from ..text import listed, plural, shorten

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..analysis.metrics import PassRate
    from ..models import Attribution, RewardInfo
    from ..regrade.regrade import RegradeSettings
    from ..regrade.result import FileReport, Regraded
    from ..reports.regraded_files import Rewritten
    from ..runs.results.entries import Unreadable

_LONGEST_REASON = 240
_MOST_NAMED = 5


class TextReport:
    """The report for people, file by file.

    Args:
        verbose: Whether every simulation and every difference is shown.
        strict: Whether another profile than the official one was graded with.
        bundled: The domains that are graded on bundled data.
        checks_rules: Whether the rules of policies were to be checked.
    """

    def __init__(self, *, verbose: bool, strict: bool, bundled: Collection[str], checks_rules: bool = False) -> None:
        self._printer, self._verbose, self._strict, self._bundled = Printer(), verbose, strict, bundled
        self._checks_rules = checks_rules

    def file(self, report: FileReport) -> None:
        """Print the report of a file."""
        line = self._printer.line
        kind = ", ".join(part for part in (report.kind, report.domain) if part)
        self._printer.together(f"{report.path.name} ({kind}):", f"{_counts([report])}{_rates(report)}")
        self._rates(report)
        if fewer := report.fewer_trials():
            line(fewer, 2)
        self._rows(report)
        for reason, number in sorted(report.tally.uncompared.items()):
            line(f"not compared: {plural(number, 'simulation')}: {reason}", 2)
        self._replays(report)
        if self._strict:
            self._rules(report)
        self._policy(report)
        without = report.tally.counts["without judge"]
        if without:
            line(f"without the judge: {plural(without, 'simulation')} with NL assertions (add --judge)", 2)
        if report.lost:
            line(f"infrastructure errors, excluded from rates: {plural(report.lost, 'simulation')}", 2)
        for reason, number in sorted(report.tally.uncounted.items()):
            line(f"{reason}, excluded from rates: {plural(number, 'simulation')}", 2)
        if report.domain in self._bundled and (report.differing or report.unreadable):
            line("graded on the bundled data; for runs on τ²-bench's data, add --data DIR", 2)
        self._entries("errors", report.errors)
        self._entries("unreadable", report.unreadable)

    def total(self, reports: list[FileReport]) -> None:
        """Print the totals of all files."""
        self._printer.line(f"{plural(len(reports), 'file')}: {_counts(reports)}")

    def _rates(self, report: FileReport) -> None:
        """Print the rates of each domain and variant, if there are several."""
        for name, rates in report.rates_of_parts().items():
            if name and (text := _both(*rates)):
                self._printer.line(f"{name}: {text}", 2)

    def _rows(self, report: FileReport) -> None:
        rows = [result for result in report.results if self._verbose or result.is_notable]
        if rows:
            self._printer.line("stored  fresh", 2)
        for result in rows:
            stored = "-" if result.stored is None else f"{result.stored.reward:g}"
            trial = f" trial {result.trial}" if result.trial else ""
            notes = [
                name for name, holds in (("solo", result.solo), ("without the judge", result.without_judge)) if holds
            ]
            text = f"task {result.task_id}{trial}" + (f" ({', '.join(notes)})" if notes else "")
            self._printer.line(f"{stored:>8}  {result.fresh.reward:>5g}  {text}", hanging=19)
            for reason in result.reasons or [f"by the rule {rule}" for rule in result.rules]:
                nested = len(reason) - len(reason.lstrip())
                self._printer.line(shorten(reason.strip(), _LONGEST_REASON), 19 + nested, 21 + nested)
            if self._verbose and result.fresh.partial:
                self._printer.line(f"partial credit: {result.fresh.partial_text}", 19, 21)
            if self._verbose and result.policy is not None:
                for breach in result.policy.breaches:
                    self._printer.line(f"{breach.rule}, {breach.line()}", 19, 21)
            differences = [f"replay: {difference}" for difference in result.replay_differences if self._verbose]
            for text in (each for each in differences if each not in result.reasons):
                self._printer.line(text, 19)

    def _policy(self, report: FileReport) -> None:
        """Print how many simulations broke a rule, and which rules."""
        tally, numbers = report.tally, report.tally.policies
        if numbers["checked"]:
            by_rule = tally.broken
            names = f": {', '.join(f'{rule} {number}' for rule, number in by_rule.most_common())}" if by_rule else ""
            checked = plural(numbers["checked"], "simulation")
            counts = f"{numbers['broken']} of {checked} broke a rule, {numbers['passed']} with reward 1"
            self._printer.line(f"policy: {counts}{names}", 2)
        for name, why in tally.problems.items():
            self._printer.line(shorten(f"rule {name!r} could not be checked: {why}", _LONGEST_REASON), 2)
        if self._checks_rules and tally.counts["all"] and not numbers["found"]:
            self._printer.line(f"policy: the domain {report.domain} has no rules", 2)

    def _replays(self, report: FileReport) -> None:
        counts = report.tally.counts
        if not counts["departing"]:
            return
        shown = "" if self._verbose else " (-v shows them)"
        self._printer.line(
            f"replay: {plural(counts['results'], 'tool result')} of {plural(counts['departing'], 'simulation')} not as "
            f"recorded, {counts['flipped']} with success and failure swapped{shown}",
            2,
        )

    def _rules(self, report: FileReport) -> None:
        by_rule, counts = report.tally.rules, report.tally.counts
        names = f": {', '.join(f'{rule} {number}' for rule, number in by_rule.most_common())}" if by_rule else ""
        self._printer.line(f"strict: {plural(counts['changed'], 'verdict')} changed from official{names}", 2)
        if counts["null"]:
            passed = counts["null passed"]
            self._printer.line(f"strict: {counts['null']} on tasks that pass without an agent, {passed} passed", 2)

    def _entries(self, title: str, entries: list[Unreadable]) -> None:
        if entries:
            self._printer.line(f"{title}: {len(entries)}", 2)
        for entry, reason in entries if self._verbose else entries[:10]:
            self._printer.line(f"{entry}: {shorten(reason, _LONGEST_REASON)}", 4)
        if len(entries) > 10 and not self._verbose:
            self._printer.line(f"and {len(entries) - 10} more (-v shows them)", 4)


def _counts(reports: list[FileReport]) -> str:
    tallies = [report.tally.counts for report in reports]
    numbers = {name: sum(tally[name] for tally in tallies) for name in ("agree", "differ", "not compared")}
    numbers["errors"] = sum(len(report.errors) for report in reports)
    numbers["unreadable"] = sum(len(report.unreadable) for report in reports)
    parts = [f"{number} {name}" for name, number in numbers.items() if number]
    return ", ".join([plural(sum(tally["all"] for tally in tallies), "simulation"), *parts])


def _rates(report: FileReport) -> str:
    text = _both(*report.rates())
    return text and f"; {text}"


def _both(stored: dict[int, PassRate], fresh: dict[int, PassRate]) -> str:
    if not fresh or stored == fresh or not stored:
        return _rate(fresh)
    return f"stored {_rate(stored)}; fresh {_rate(fresh)}"


def _rate(rates: dict[int, PassRate]) -> str:
    return " ".join(f"pass^{k} {rate:.3f}" for k, rate in rates.items())


def print_rewritten(file: Rewritten) -> None:
    """Print which file was written."""
    print_aside(f"{file.path}: {plural(file.fresh, 'simulation')} with new rewards, otherwise unchanged")
    if file.unjudged:
        why = f"{plural(len(file.unjudged), 'simulation')} as stored, because the NL assertions were not judged"
        print_aside(f"  {why}: {listed(file.unjudged, _MOST_NAMED)}")


def json_document(reports: list[FileReport], settings: RegradeSettings) -> dict[str, Any]:
    """Return the reports as one JSON document."""
    return {
        "grading": settings.grading.name,
        "files": [_file(report) for report in reports],
        "simulations": sum(len(report.results) for report in reports),
        "agree": sum(report.agreeing for report in reports),
        "differ": sum(len(report.differing) for report in reports),
        "not_compared": sum(report.tally.uncompared.total() for report in reports),
        "errors": sum(len(report.errors) for report in reports),
        "unreadable": sum(len(report.unreadable) for report in reports),
    }


def _file(report: FileReport) -> dict[str, Any]:
    stored, fresh = report.rates()
    return {
        "file": str(report.path),
        "format": report.kind,
        "domain": report.domain,
        "agree": report.agreeing,
        "differ": len(report.differing),
        "not_compared": dict(report.tally.uncompared),
        "pass_hat_k": {"stored": stored, "fresh": fresh},
        "parts": {
            name: {"stored": rates[0], "fresh": rates[1]} for name, rates in report.rates_of_parts().items() if name
        },
        "lost_to_infrastructure": report.lost,
        "uncounted": dict(report.tally.uncounted),
        "errors": [entry._asdict() for entry in report.errors],
        "unreadable": [entry._asdict() for entry in report.unreadable],
        "results": [_result(result) for result in report.results],
    }


def _result(result: Regraded) -> dict[str, Any]:
    return {
        "entry": result.entry,
        "id": result.id,
        "task_id": result.task_id,
        "trial": result.trial,
        "termination_reason": result.termination_reason,
        "solo": result.solo,
        "stored_reward": None if result.stored is None else result.stored.reward,
        "compared_with": result.expected,
        "reward": result.fresh.reward,
        "agrees": result.agrees,
        "not_compared": result.not_compared or None,
        "without_judge": result.without_judge,
        "uncounted": result.uncounted or None,
        "rules": result.rules,
        "reasons": result.reasons,
        "partial": result.fresh.partial,
        "policy": result.policy.as_dict() if result.policy is not None else None,
        "blame": _blame(result.blame),
        "checks": _checks(result.fresh),
        "replay_differences": [str(difference) for difference in result.replay_differences],
    }


def _blame(fault: Attribution | None) -> dict[str, Any] | None:
    if fault is None:
        return None
    by = {"actor": fault.actor} if fault.actor else {}
    return {"party": fault.party, "message": fault.message_idx, "reason": fault.reason, "evidence": fault.evidence} | by


def _checks(info: RewardInfo) -> dict[str, Any]:
    from ..evaluation import components_of

    return {
        "reward_basis": info.reward_basis,
        **{name: found for each in components_of(info) for name, found in each.to_json(info).items()},
        "db_diff": [difference.model_dump() for difference in info.db_diff or []],
    }
