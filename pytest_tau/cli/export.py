"""``tau export``: a run for other programs."""

from __future__ import annotations

import contextlib
import gzip
import io
import sys
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..capability import installed
from ..commands.options import OPTIONS, add_options
from ..commands.output import RUN_HELP, print_aside
from ..commands.project import Project, add_project_options, data_dir
from ..errors import ConfigurationError, unknown_name
from ..files import ambiguous_names, atomic_open, file_name_of
from ..text import plural

if TYPE_CHECKING:
    import argparse
    from collections import Counter
    from collections.abc import Callable, Collection, Iterator

    from ..capability import ExportFormat
    from ..reports.export import DomainContent
    from ..runs.reader import Run

#: The formats of τ²-bench: one file, or a folder with a file for each simulation.
_TAU2 = ("tau2", "tau2-dir")


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "export",
        description="Write the simulations of a run as τ²-bench's results file or folder, which its viewer and metrics "
        "read, as a table, or as JSON lines.",
        statuses={
            0: "all simulations were written",
            1: "some could not be read; the others were written",
            2: "the command cannot be used",
        },
        examples=[("tau export --format csv > runs.csv", "the latest run as a table")],
    )
    parser.add_argument("run_name", nargs="?", metavar="RUN", help=f"{RUN_HELP} (default: the latest run)")
    group = parser.add_argument_group("output")
    more = _further_formats()
    table = OPTIONS["format"]
    add_options(
        group,
        "format",
        choices=(*table.keywords["choices"], *more),
        help=", ".join((table.help, *(option.help for option in more.values()))),
    )
    add_options(
        group,
        "out",
        help="the file to write (default: standard output); compressed if its name ends in .gz. For tau2 with several "
        "domains, one file each, with the domain's name before the suffix. The folder to write for tau2-dir",
    )
    add_options(group, "errors", "trim")
    add_options(
        parser.add_argument_group("selection"),
        "domain",
        help="only the simulations of this domain; of a file that names none and whose calls do not identify one, the "
        "domain of all of them",
    )
    add_project_options(parser)
    parser.set_defaults(run=run)


def _further_formats() -> dict[str, ExportFormat]:
    """Return the formats of capabilities, by name."""
    return {table.name: table for capability in installed() for table in capability.exports}


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ..runs.reader import open_run

    opened = open_run(args.run_name)
    project = _project(args, opened)
    opened.recognise = _recogniser(args.domain, project)
    for out, write in _files(args, opened, project):
        written = write(out)
        if out is not None:
            print_aside(f"{out}: {plural(written, 'simulation')}")
    for problem in opened.problems:
        print_aside(f"excluded: {problem}")
    return int(bool(opened.problems))


def _recogniser(domain: str | None, project: Project | None) -> Callable[[Counter[str]], str | None] | None:
    """Return the function that names the domain of a file which does not: by its calls, else the given one."""
    from ..regrade.recognition import recognise_domain

    def named(called: Counter[str]) -> str | None:
        recognised = recognise_domain(called, project) if project is not None else None
        return recognised or (domain if project is None or domain in project.names() else None)

    return named


def _files(
    args: argparse.Namespace, opened: Run, project: Project | None
) -> Iterator[tuple[Path | None, Callable[[Path | None], int]]]:
    """Yield the files to be written, None for standard output, each with the function that writes it."""
    from ..reports.export import write_csv, write_jsonl
    from ..reports.export_tau2 import check_content

    out = Path(args.out) if args.out else None
    if args.format not in (*_TAU2, "metrics"):
        plain = {"csv": write_csv, "jsonl": write_jsonl}.get(args.format) or _further_formats()[args.format].write
        if args.domain is not None:
            _content(opened, args.domain)
        yield out, partial(_write, opened=opened, write=lambda file: plain(opened, file, args.domain))
        return
    chosen = _content(opened, args.domain)
    if out is None and args.format == "tau2-dir":
        raise ConfigurationError("--format tau2-dir writes a folder; give it with --out DIR")
    if out is None and len(chosen) > 1:
        limit = "metrics are of one domain" if args.format == "metrics" else "a τ²-bench file has one domain"
        names = ", ".join(sorted(chosen))
        raise ConfigurationError(f"{limit}, and the run has {names}; give one with --domain, or --out FILE")
    check, writer = (_check_variants, _metrics_writer) if args.format == "metrics" else (check_content, _tau2_writer)
    for name, content in chosen.items():
        check(name, content)  # before any file is written
    for (name, content), target in zip(chosen.items(), _targets(out, chosen), strict=True):
        yield target, writer(args, opened, project, name, content)


def _check_variants(domain: str, content: DomainContent) -> None:
    """Check that metrics would not pool trials of several variants.

    Raises:
        ConfigurationError: They would.
    """
    from ..runs.groups import find_variants

    if variants := find_variants(content.groups):
        raise ConfigurationError(
            f"the trials of domain {domain!r} are of {len(variants)} variants ({', '.join(variants.values())}), "
            "which metrics would pool; --format csv keeps them apart"
        )


def _metrics_writer(
    _args: argparse.Namespace, opened: Run, project: Project | None, domain: str, _content: DomainContent
) -> Callable[[Path | None], int]:
    """Return the function that writes the metrics of a domain."""
    from ..reports.export_metrics import write_metrics

    write = partial(write_metrics, opened, domain=domain, tool_kind=_tool_kinds(domain, project).get)
    return partial(_write, opened=opened, write=write)


def _tool_kinds(domain: str, project: Project | None) -> dict[str, str]:
    """Return the kinds of a domain's tools; none if it is not installed."""
    try:
        spec = project.load(domain).spec if project is not None and domain else None
    except ConfigurationError:
        return {}
    sides = (spec.agent_tools, spec.user_tools) if spec else ()
    return {name: info.kind for side in sides if side for name, info in side.tool_infos.items()}


def _tau2_writer(
    args: argparse.Namespace, opened: Run, project: Project | None, domain: str, content: DomainContent
) -> Callable[[Path | None], int]:
    """Return the function that writes a domain in τ²-bench's format, as a file or as a folder."""
    from ..reports.export_tau2 import Tau2Options, other_verdicts, write_tau2, write_tau2_folder
    from ..reports.tau2_fields import tau2_header

    header = tau2_header(opened, domain, content, project)
    options = Tau2Options(errors_as_is=args.errors == "as-is", trim=args.trim)
    if content.errors and not options.errors_as_is:
        print_aside(
            f"{domain}: {plural(content.errors, 'trial')} that ended in an error: written as infrastructure_error, "
            "which τ²-bench excludes from its rates (--errors as-is keeps the reasons)"
        )
    if differs := other_verdicts(domain, content):
        print_aside(differs)
    if args.format == "tau2":
        write = partial(write_tau2, opened, domain=domain, content=content, info=header, options=options)
        return partial(_write, opened=opened, write=write)

    def write_folder(folder: Path | None) -> int:
        return write_tau2_folder(opened, folder or Path(), domain, content, header, options)

    return write_folder


def _content(opened: Run, domain: str | None) -> dict[str, DomainContent]:
    from ..reports.export import survey

    contents = survey(opened)
    if not contents:
        raise _nothing(opened)
    if domain is not None and domain not in contents:
        raise ConfigurationError(unknown_name("domain of the run", domain, contents))
    return {name: contents[name] for name in contents if domain in (None, name)}


def _project(args: argparse.Namespace, opened: Run) -> Project | None:
    """Return the domains, with the data that is named, else with that of the run; None if the latter was moved."""
    settings = opened.info.get("settings") or {}
    try:
        return Project(data_dir(args.data or settings.get("data")), args.plugins, args.rootdir)
    except ConfigurationError:
        if args.data is not None or args.rootdir is not None:
            raise
        return None


def _targets(out: Path | None, domains: Collection[str]) -> list[Path | None]:
    """Return the file for each domain: of several, each has its domain's name in the file's."""
    if out is None or len(domains) < 2:
        return [out] * len(domains)
    alike, (stem, dot, suffix) = ambiguous_names(domains), out.name.partition(".")
    names = [file_name_of(domain or "unknown", ambiguous=domain in alike) for domain in domains]
    return [out.with_name(f"{stem}-{name}{dot}{suffix}") for name in names]


def _write(out: Path | None, *, opened: Run, write: Callable[[IO[str]], int]) -> int:
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
