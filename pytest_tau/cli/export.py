"""``tau export``: a run for other programs."""

from __future__ import annotations

import contextlib
import gzip
import io
import sys
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import ConfigurationError, TauError, unknown_name
from ..files import ambiguous_names, atomic_open, file_name_of
from ..text import plural, printable
from .options import add_options
from .project import Project, add_project_options
from .settings import RUN_HELP, data_dir

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from ..reports.export import DomainContent
    from ..runs.reader import Run


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "export",
        help="export a run to other formats",
        description="Write the simulations of a run as τ²-bench's results file, which its viewer and metrics read, as "
        "a table, or as JSON lines.",
        statuses={
            0: "all simulations were written",
            1: "some could not be read; the others were written",
            2: "the command cannot be used",
        },
        examples=[("tau export --format csv > runs.csv", "the latest run as a table")],
    )
    parser.add_argument("run_name", nargs="?", metavar="RUN", help=f"{RUN_HELP} (default: the latest run)")
    group = parser.add_argument_group("output")
    add_options(group, "format")
    add_options(
        group,
        "out",
        help="the file to write (default: standard output); compressed if its name ends in .gz. For tau2 with several "
        "domains, one file each, with the domain's name before the suffix",
    )
    add_options(parser.add_argument_group("selection"), "domain", help="only the simulations of this domain")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        ConfigurationError: A run that cannot be read, or not be written in this format.
        OSError: A file cannot be opened or written.
    """
    from ..regrade.recognition import recognise_domain
    from ..runs.reader import open_run

    opened = open_run(args.run_name)
    project = _project(args, opened)
    opened.recognise = partial(recognise_domain, domains=project) if project is not None else None
    for out, write in _files(args, opened, project):
        written = _write(out, opened, write)
        if out is not None:
            _print_aside(f"{out}: {plural(written, 'simulation')}")
    for problem in opened.problems:
        _print_aside(f"excluded: {problem}")
    return int(bool(opened.problems))


def _files(
    args: argparse.Namespace, opened: Run, project: Project | None
) -> Iterator[tuple[Path | None, Callable[[IO[str]], int]]]:
    """Yield the files to be written, None for standard output, each with the function that writes it."""
    from ..reports.export import write_csv, write_jsonl
    from ..reports.export_tau2 import write_tau2

    out = Path(args.out) if args.out else None
    if args.format != "tau2":
        plain = write_csv if args.format == "csv" else write_jsonl
        if args.domain is not None:
            _content(opened, args.domain)
        yield out, partial(plain, opened, domain=args.domain)
        return
    chosen = _content(opened, args.domain)
    if out is None and len(chosen) > 1:
        names = ", ".join(sorted(chosen))
        raise ConfigurationError(
            f"a τ²-bench file has one domain, and the run has {names}; give one with --domain, or --out FILE"
        )
    alike = ambiguous_names(chosen)
    for name, content in chosen.items():
        info = _info(opened, name, content, project)
        target = _with_domain(out, name, ambiguous=name in alike) if out and len(chosen) > 1 else out
        yield target, partial(write_tau2, opened, domain=name, content=content, info=info)


def _content(opened: Run, domain: str | None) -> dict[str, DomainContent]:
    from ..reports.export import survey

    found = survey(opened)
    if not found:
        raise _nothing(opened)
    if domain is not None and domain not in found:
        raise ConfigurationError(unknown_name("domain of the run", domain, found))
    return {name: found[name] for name in found if domain in (None, name)}


def _info(opened: Run, domain: str, content: DomainContent, project: Project | None) -> dict[str, Any]:
    from ..chat.requests import without_secrets
    from ..reports.export_tau2 import tau2_info

    info: dict[str, Any] = without_secrets(opened.info)
    return tau2_info(info, domain, content, _policy(opened.info, domain, project))


def _policy(info: dict[str, Any], domain: str, project: Project | None) -> str | None:
    """Return the policy that the run had, if it still is the domain's."""
    from ..files import digest

    settings = info.get("settings") or {}
    recorded = ((info.get("hashes") or {}).get("domains") or {}).get(domain, {}).get("policy")
    if recorded is None or project is None:
        return None
    try:
        environment = project.load(domain).environment(solo=bool(settings.get("solo")), policy=settings.get("policy"))
    except TauError:  # a domain of another project, or without the run's data
        return None
    return environment.policy if digest(environment.policy) == recorded else None


def _project(args: argparse.Namespace, opened: Run) -> Project | None:
    """Return the domains, with the data that is named, else with that of the run; None if the latter was moved."""
    settings = opened.info.get("settings") or {}
    try:
        return Project(data_dir(args.data or settings.get("data")), args.plugins, args.rootdir)
    except ConfigurationError:
        if args.data is not None or args.rootdir is not None:
            raise
        return None


def _with_domain(out: Path, domain: str, *, ambiguous: bool) -> Path:
    stem, dot, suffix = out.name.partition(".")
    return out.with_name(f"{stem}-{file_name_of(domain or 'unknown', ambiguous=ambiguous)}{dot}{suffix}")


def _write(out: Path | None, opened: Run, write: Callable[[IO[str]], int]) -> int:
    if out is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # whatever a terminal would have
        written = write(sys.stdout)
        if not written:
            raise _nothing(opened)
        return written
    if _is_of(out, opened.path):
        raise ConfigurationError(f"{out} belongs to the run that is exported; give another file")
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(out) as raw, contextlib.ExitStack() as files:
        packed: Any = raw
        if out.suffix == ".gz":
            # Without name and time, so that the same run gives the same file.
            packed = files.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0))
        written = write(files.enter_context(io.TextIOWrapper(packed, encoding="utf-8", newline="")))
        if not written:
            raise _nothing(opened)
    return written


def _is_of(out: Path, path: Path) -> bool:
    target, source = out.resolve(), path.resolve()
    return target == source or (source.is_dir() and target.parent == source and target.exists())


def _nothing(opened: Run) -> ConfigurationError:
    return ConfigurationError("\n  ".join([f"no simulation can be read in {opened.path}", *opened.problems[:5]]))


def _print_aside(text: str) -> None:
    # Standard output may be the export.
    print(printable(text), file=sys.stderr)  # noqa: T201 - this is a command
