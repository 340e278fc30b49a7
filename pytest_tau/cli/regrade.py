"""``tau regrade``: stored and fresh verdicts side by side."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands.judges import judge_of
from ..commands.options import add_options
from ..commands.output import print_json
from ..commands.project import Project, add_project_options, data_dir, project_of
from ..errors import ConfigurationError
from ..runs.layout import RESULTS_INDEX, simulation_files
from .regrade_output import TextReport, json_document, print_rewritten

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..regrade.regrade import RegradeSettings
    from ..regrade.result import FileReport


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "regrade",
        description="Replay every conversation of runs and of result files (τ²-bench's, τ-bench's or pytest-tau's, "
        "gzipped or not), grade it again, and compare the stored and the new reward.",
        statuses={
            0: "all results that can be read agree",
            1: "a reward differs or is not compared, a replay differs with --strict, or nothing could be graded",
            2: "the command cannot be used",
        },
        examples=[
            ("tau regrade results.json.gz", "a result file"),
            ("tau regrade RUN --grading strict", "which verdicts differ, and by which rule"),
        ],
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run: its folder, its name below .tau/runs, or a result file"
    )
    group = parser.add_argument_group("grading")
    add_options(
        group,
        "domain",
        help="the domain of the files (default: the one that they name, or the one whose tools they call)",
    )
    add_options(group, "grading", "judge", "judge-llm", "judge-llm-args", "strict", "fresh-tasks", "check-policy")
    add_options(group, "allow-uncompared")
    add_project_options(parser)
    output = parser.add_argument_group("output")
    help_text = "write each file again with fresh rewards, in its own format, to the folder PATH"
    add_options(output, "out", help=help_text)
    add_options(output, "json", "verbose")
    add_options(parser, "jobs")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ..runs.reader import find_run

    domains = project_of(args)
    settings = _settings(args, domains)
    if args.domain is not None:
        domains.load(args.domain)  # an unknown name is an error at once
    runs = [find_run(name, Path()) for name in args.runs]
    named = [(path, found) for found in runs for path in _files(found)]
    paths = [path for path, _ in named]
    written = _targets(named, Path(args.out)) if args.out else {}
    text = TextReport(
        verbose=args.verbose,
        strict=args.grading != "official",
        bundled=settings.bundled,
        checks_rules=args.check_policy,
    )
    reports = []
    for report in _reports(paths, args, settings, domains):
        if report.other_data:
            raise ConfigurationError(
                f"{report.path}: the run was not made on the bundled data of {report.domain}: add --data DIR, the data "
                f"that it was made on ({report.other_data})"
            )
        reports.append(report)
        if not args.json:
            text.file(report)
        if report.path in written:
            from ..reports.regraded_files import rewrite

            print_rewritten(rewrite(report, written[report.path]))
    if not args.json and len(reports) > 1:
        text.total(reports)
    if args.json:
        print_json(json_document(reports, settings))
    return _status(reports, allow_uncompared=args.allow_uncompared)


def _settings(args: argparse.Namespace, domains: Project) -> RegradeSettings:
    """Return the settings that the options name, with the evaluators of the project.

    Raises:
        ConfigurationError: The judge or the project's plugins cannot be loaded.
    """
    from ..evaluation import profile_named
    from ..regrade.regrade import RegradeSettings

    return RegradeSettings(
        domain=args.domain,
        grading=profile_named(args.grading),
        judge=judge_of(args),
        strict_replay=args.strict,
        fresh_tasks=args.fresh_tasks,
        evaluators=domains.evaluators,
        check_policy=args.check_policy,
        only_notable=not (args.verbose or args.json or args.out),
        blame=bool(args.json or args.out),
        bundled=frozenset() if data_dir(args.data) else frozenset(domains.names()) - {*domains.own_names()},
    )


def _reports(
    paths: list[Path], args: argparse.Namespace, settings: RegradeSettings, domains: Project
) -> Iterator[FileReport]:
    """Yield the report of each file, in order, regraded by this process or in parts by several.

    Raises:
        ConfigurationError: A process was killed.
    """
    if args.jobs == 1:
        for path in paths:
            yield _regraded(path, settings, domains)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Processes start anew: a copy of this one would have the threads and event loops of a judge in it.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(args.jobs, context) as pool:
        started = [[pool.submit(_part, args, path, number) for number in range(args.jobs)] for path in paths]
        for futures in started:
            try:
                first, *others = [future.result() for future in futures]
            except BrokenProcessPool as error:
                raise ConfigurationError(f"--jobs: a process has ended: {error}; run again with fewer") from error
            for other in others:
                first.extend(other)
            yield first


def _part(args: argparse.Namespace, path: Path, number: int) -> FileReport:
    """Return the report of a part of a file, in a process of the pool."""
    if not _PREPARED:
        domains = project_of(args)
        _PREPARED.append((_settings(args, domains), domains))
    ((settings, domains),) = _PREPARED
    return _regraded(path, settings, domains, number, args.jobs)


#: The settings and the domains of a process of the pool, which has one run.
_PREPARED: list[tuple[RegradeSettings, Project]] = []


def _regraded(path: Path, settings: RegradeSettings, domains: Project, part: int = 0, of: int = 1) -> FileReport:
    from ..garbage import rare_collections
    from ..regrade.regrade import Part, regrade_file

    found: list[FileReport] = []

    # Not the result of the coroutine: at its end, asyncio makes a repr of it.
    async def regrade() -> None:
        found.append(await regrade_file(path, settings, domains, Part(part, of)))

    with rare_collections():
        asyncio.run(regrade())
    return found[0]


def _targets(named: list[tuple[Path, Path]], out: Path) -> dict[Path, Path]:
    """Return the path to write for each file; that of a run's folder is in a folder of the same name.

    Raises:
        ConfigurationError: Two files have the same name, or one would be written over an input.
    """
    from ..reports.regraded_files import targets

    inside = [
        (path, out / name.resolve().name if path == name else out / name.resolve().name / path.name)
        for path, name in named
    ]
    return targets(inside)


def _files(found: Path) -> list[Path]:
    """Return the files of a run's folder; a result file, and a folder of τ²-bench, as it is.

    Raises:
        ConfigurationError: The folder has no conversations.
    """
    kept = simulation_files(found) if found.is_dir() else []
    if found.is_dir() and not kept and not (found / RESULTS_INDEX).is_file():
        raise ConfigurationError(f"{found} has no conversations, only records of trials")
    return kept or [found]


def _status(reports: list[FileReport], *, allow_uncompared: bool) -> int:
    graded = any(report.tally.counts["all"] for report in reports)
    wrong = any(report.differing or report.errors for report in reports)
    uncompared = any(report.tally.uncompared for report in reports)
    return int(wrong or not graded or (uncompared and not allow_uncompared))
