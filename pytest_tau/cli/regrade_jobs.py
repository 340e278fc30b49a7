"""The files of ``tau regrade``, one after the other or in parts by several processes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from ..garbage import rare_collections
from ..regrade.regrade import WHOLE, Part, RegradeSettings, regrade_file
from .project import Project, data_dir, project_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from ..evaluation import Judge
    from ..regrade.result import FileReport

    _JudgeOf: TypeAlias = Callable[[argparse.Namespace], Judge | None]


def settings_of(args: argparse.Namespace, domains: Project, judge_of: _JudgeOf) -> RegradeSettings:
    """Return the settings that the options name, with the evaluators of the project.

    Raises:
        ConfigurationError: The judge or the project's plugins cannot be loaded.
    """
    from ..evaluation import profile_named

    return RegradeSettings(
        domain=args.domain,
        grading=profile_named(args.grading),
        judge=judge_of(args),
        strict_replay=args.strict,
        fresh_tasks=args.fresh_tasks,
        evaluators=domains.evaluators,
        check_policy=args.check_policy,
        only_notable=not (args.verbose or args.json or args.out),
        bundled=frozenset() if data_dir(args.data) else frozenset(domains.names()) - {*domains.own_names()},
    )


def reports_of(
    paths: Sequence[Path], args: argparse.Namespace, settings: RegradeSettings, domains: Project, judge_of: _JudgeOf
) -> Iterator[FileReport]:
    """Yield the report of each file, in order.

    Args:
        paths: The files.
        args: The options; ``args.jobs`` is the number of processes.
        settings: The settings, in this process.
        domains: The domains, in this process.
        judge_of: Loads the judge in another process.

    Raises:
        ConfigurationError: A process was killed.
    """
    if args.jobs == 1:
        for path in paths:
            yield _regraded(path, settings, domains, WHOLE)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Processes start anew: a copy of this one would have the threads and event loops of a judge in it.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(args.jobs, context) as pool:
        parts = [Part(number, args.jobs) for number in range(args.jobs)]
        started = [[pool.submit(_part, args, judge_of, path, part) for part in parts] for path in paths]
        for futures in started:
            try:
                first, *others = [future.result() for future in futures]
            except BrokenProcessPool as error:
                raise ConfigurationError(f"--jobs: a process has ended: {error}; run again with fewer") from error
            for other in others:
                first.extend(other)
            yield first


def _part(args: argparse.Namespace, judge_of: _JudgeOf, path: Path, part: Part) -> FileReport:
    """Return the report of a part of a file, in a process of the pool."""
    if not _PREPARED:
        domains = project_of(args)
        _PREPARED.append((settings_of(args, domains, judge_of), domains))
    ((settings, domains),) = _PREPARED
    return _regraded(path, settings, domains, part)


def _regraded(path: Path, settings: RegradeSettings, domains: Project, part: Part) -> FileReport:
    found: list[FileReport] = []

    # Not the result of the coroutine: at its end, asyncio makes a repr of it.
    async def regrade() -> None:
        found.append(await regrade_file(path, settings, domains, part))

    with rare_collections():
        asyncio.run(regrade())
    return found[0]


#: The settings and the domains of a process of the pool, which has one run.
_PREPARED: list[tuple[RegradeSettings, Project]] = []
