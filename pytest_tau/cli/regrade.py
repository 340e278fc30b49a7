"""``tau regrade``: stored and fresh verdicts side by side."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from .settings import InstalledDomains, Printer, add_data_option, count, data_dir

if TYPE_CHECKING:
    import argparse

    from ..evaluation import Judge
    from ..models import RewardInfo
    from ..regrade.regrade import RegradeSettings
    from ..regrade.result import FileReport, Regraded
    from ..runs.result_entries import Unreadable

_REASON_LENGTH = 240


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "regrade",
        help="replay stored conversations and judge them again",
        description="Replay every conversation of result files (τ²-bench's, τ-bench's or our own, gzipped or not), "
        "judge it again, and compare. Exit status: 0 if everything that can be read agrees, 1 if something differs, "
        "2 for a command that cannot be used.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a result file, or the folder of one")
    add_data_option(parser)
    parser.add_argument("--domain", metavar="NAME", help="the files' domain (default: as they say, or as they call)")
    parser.add_argument("--grading", choices=("official", "strict"), default="official", help="(default: official)")
    parser.add_argument(
        "--judge", metavar="SPEC", help="judges NL assertions: llm, accept, reject, or module:attribute"
    )
    parser.add_argument("--judge-llm", metavar="MODEL", help="the judge's model, as litellm names it")
    parser.add_argument("--judge-llm-args", metavar="JSON", help='arguments of its calls (default: {"temperature": 0})')
    parser.add_argument("--strict", action="store_true", help="a replayed result that differs is an error")
    parser.add_argument("--fresh-tasks", action="store_true", help="take the domain's tasks, not those in the file")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every simulation, and every difference")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        ConfigurationError: An option or a file that cannot be used.
    """
    from ..evaluation import profile_named
    from ..regrade.regrade import RegradeSettings
    from ..runner import load_judge

    if args.judge == "llm" and args.judge_llm is None:
        raise ConfigurationError("judge 'llm' needs a model: name one with --judge-llm")
    data = data_dir(args.data)
    settings = RegradeSettings(
        domain=args.domain,
        grading=profile_named(args.grading),
        judge=load_judge(args.judge, Path.cwd()) if args.judge_llm is None else _llm_judge(args),
        strict_replay=args.strict,
        fresh_tasks=args.fresh_tasks,
    )
    domains = InstalledDomains(data)
    if args.domain is not None:
        domains.load(args.domain)  # a name that is none is told at once
    paths = [path for name in args.files for path in _expanded(Path(name))]
    for path in paths:
        if not path.exists():
            raise ConfigurationError(f"no such file: {path}")
        if path.is_dir() and not (path / "results.json").exists():
            raise ConfigurationError(f"{path}: a folder of results holds results.json and simulations/")
    reports = asyncio.run(_regrade(paths, settings, domains, None if args.json else _Text(args, data is None)))
    if args.json:
        print(json.dumps(_document(reports, settings), indent=1, ensure_ascii=False))  # noqa: T201 - this is a command
    return _status(reports)


def _expanded(path: Path) -> list[Path]:
    """The files of a run's folder; anything else as it is."""
    kept = sorted(path.glob("simulations*.jsonl")) if path.is_dir() else []
    return kept or [path]


def _llm_judge(args: argparse.Namespace) -> Judge:
    """The judge that is a model.

    Raises:
        ConfigurationError: It cannot be called.
    """
    from ..chat import TrialModels
    from ..evaluation import LazyJudge
    from ..integrations.litellm import check, litellm_model

    if args.judge not in (None, "llm"):
        raise ConfigurationError(f"--judge-llm names the model of --judge llm, not of --judge {args.judge}")
    try:
        arguments = json.loads(args.judge_llm_args or "{}")
    except ValueError as error:
        # The value is not quoted: it may hold a key.
        raise ConfigurationError(f"--judge-llm-args: expected a JSON object, and this is no JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise ConfigurationError(f"--judge-llm-args: expected a JSON object, got a {type(arguments).__name__}")
    check(args.judge_llm, arguments)
    models = TrialModels({"judge": litellm_model(args.judge_llm, **arguments)})
    return LazyJudge(args.judge_llm).bind(models.get("judge"))


async def _regrade(
    paths: list[Path], settings: RegradeSettings, domains: InstalledDomains, text: _Text | None
) -> list[FileReport]:
    from ..regrade.regrade import regrade_file

    reports = []
    for path in paths:
        reports.append(await regrade_file(path, settings, domains))
        if text is not None:
            text.file(reports[-1])
    if text is not None and len(reports) > 1:
        text.total(reports)
    return reports


def _status(reports: list[FileReport]) -> int:
    graded = any(report.results for report in reports)
    wrong = any(report.differing or report.errors for report in reports)
    return int(wrong or not graded)


class _Text:
    """The report for people, file by file."""

    def __init__(self, args: argparse.Namespace, bundled: bool) -> None:
        self._printer, self._verbose, self._strict = Printer(), args.verbose, args.grading != "official"
        self._bundled = bundled

    def file(self, report: FileReport) -> None:
        """What became of a file."""
        line = self._printer.line
        kind = ", ".join(part for part in (report.kind, report.domain) if part)
        self._printer.together(f"{report.path.name} ({kind}):", f"{_counts([report])}{_rates(report)}")
        self._rows(report)
        self._replays(report)
        if self._strict:
            self._rules(report)
        without = sum(result.without_judge for result in report.results)
        if without:
            line(f"without the judge: {count(without, 'simulation')} with NL assertions (name one with --judge)", 2)
        if report.lost:
            line(f"lost to the infrastructure, and in no rate: {count(report.lost, 'simulation')}", 2)
        if self._bundled and report.domain and (report.differing or report.unreadable):
            line("graded on bundled data: for runs on τ²-bench's own, name it with --data", 2)
        self._entries("errors", report.errors)
        self._entries("unreadable", report.unreadable)

    def total(self, reports: list[FileReport]) -> None:
        """What became of all files."""
        self._printer.line(f"{count(len(reports), 'file')}: {_counts(reports)}")

    def _rows(self, report: FileReport) -> None:
        rows = [r for r in report.results if self._verbose or r.agrees is False or r.rules]
        if rows:
            self._printer.line("stored  fresh", 2)
        for result in rows:
            stored = "-" if result.stored is None else f"{result.stored.reward:g}"
            trial = f" trial {result.trial}" if result.trial else ""
            notes = [
                name for name, holds in (("solo", result.solo), ("without the judge", result.without_judge)) if holds
            ]
            told = f"task {result.task_id}{trial}" + (f" ({', '.join(notes)})" if notes else "")
            self._printer.line(f"{stored:>8}  {result.fresh.reward:>5g}  {told}", hanging=19)
            for reason in result.reasons or [f"by the rule {rule}" for rule in result.rules]:
                nested = len(reason) - len(reason.lstrip())
                self._printer.line(_clip(reason.strip()), 19 + nested, 21 + nested)
            if self._verbose:
                for difference in result.replay_differences:
                    self._printer.line(f"replay: {difference}", 19)

    def _replays(self, report: FileReport) -> None:
        departing = [result.replay_differences for result in report.results if result.replay_differences]
        if not departing:
            return
        results = sum(map(len, departing))
        flipped = sum(difference.flipped for found in departing for difference in found)
        shown = "" if self._verbose else " (-v shows them)"
        self._printer.line(
            f"replay: {count(results, 'tool result')} of {count(len(departing), 'simulation')} not as recorded, "
            f"{flipped} of them between success and failure{shown}",
            2,
        )

    def _rules(self, report: FileReport) -> None:
        by_rule = Counter(rule for result in report.results for rule in result.rules)
        changed = sum(bool(result.rules) for result in report.results)
        told = f": {', '.join(f'{rule} {number}' for rule, number in by_rule.most_common())}" if by_rule else ""
        self._printer.line(f"strict: {count(changed, 'verdict')} not as under official{told}", 2)
        marked = [result for result in report.results if (result.fresh.info or {}).get("passes_without_agent")]
        if marked:
            passed = sum(result.fresh.passed for result in marked)
            self._printer.line(f"strict: {len(marked)} on tasks that pass without an agent; {passed} of them pass", 2)

    def _entries(self, title: str, entries: list[Unreadable]) -> None:
        if entries:
            self._printer.line(f"{title}: {len(entries)}", 2)
        for entry, reason in entries if self._verbose else entries[:10]:
            self._printer.line(f"{entry}: {_clip(reason)}", 4)
        if len(entries) > 10 and not self._verbose:
            self._printer.line(f"and {len(entries) - 10} more (-v shows them)", 4)


def _counts(reports: list[FileReport]) -> str:
    numbers = {
        "agree": sum(report.agreeing for report in reports),
        "differ": sum(len(report.differing) for report in reports),
        "not compared": sum(result.agrees is None for report in reports for result in report.results),
        "errors": sum(len(report.errors) for report in reports),
        "unreadable": sum(len(report.unreadable) for report in reports),
    }
    told = [f"{number} {name}" for name, number in numbers.items() if number]
    return ", ".join([count(sum(len(report.results) for report in reports), "simulation"), *told])


def _rates(report: FileReport) -> str:
    stored, fresh = report.rates()
    if not fresh:
        return ""
    if stored == fresh or not stored:
        return f"; {_rate(fresh)}"
    return f"; stored {_rate(stored)}; fresh {_rate(fresh)}"


def _rate(rates: dict[int, float]) -> str:
    return " ".join(f"pass^{k} {rate:.3f}" for k, rate in rates.items())


def _clip(text: str) -> str:
    return text if len(text) <= _REASON_LENGTH else text[: _REASON_LENGTH - 1] + "…"


def _document(reports: list[FileReport], settings: RegradeSettings) -> dict[str, Any]:
    return {
        "grading": settings.grading.name,
        "files": [_file(report) for report in reports],
        "simulations": sum(len(report.results) for report in reports),
        "agree": sum(report.agreeing for report in reports),
        "differ": sum(len(report.differing) for report in reports),
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
        "pass_hat_k": {"stored": stored, "fresh": fresh},
        "lost_to_infrastructure": report.lost,
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
        "without_judge": result.without_judge,
        "rules": result.rules,
        "reasons": result.reasons,
        "checks": _checks(result.fresh),
        "replay_differences": [str(difference) for difference in result.replay_differences],
    }


def _checks(info: RewardInfo) -> dict[str, Any]:
    from ..evaluation import components_of

    return {
        "reward_basis": info.reward_basis,
        **{name: found for each in components_of(info) for name, found in each.to_json(info).items()},
        "db_diff": [difference.model_dump() for difference in info.db_diff or []],
    }
