"""Runs behind a URL, copied to this machine and, if several machines have stored parts of one, joined.

The layout below the URL of a run: ``plan.json``, and a folder for each part with its ``run.json`` and its simulations
in pieces, as a process has written them: ``simulations-0001.jsonl``, of an xdist worker ``simulations-gw0-0001.jsonl``.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import tempfile
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ..documents import parse_json
from ..errors import ConfigurationError
from ..files import atomic_write
from .layout import (
    LATER_FACTS,
    MANIFEST,
    PLAN,
    RECORDS,
    RESULTS_FOLDER,
    RESULTS_INDEX,
    SIMULATION_FILES,
    SIMULATIONS,
    has_simulations,
)
from .store import name_in, open_store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .join import JoinedRuns
    from .parts import JoinedParts
    from .store import Store

#: The stores that the copies of this process are of.
_STORES: dict[Path, Store] = {}


def fetch_run(url: str, name: str = "") -> Path:
    """Return a copy of the run or the result file at a URL; of a folder of runs, of the latest one.

    The copy is deleted when the process ends.

    Args:
        url: The URL.
        name: The name of the run below the URL; empty for what is at the URL itself.

    Raises:
        ConfigurationError: There is no run, or the store cannot be read.
    """
    try:
        store, path = _fetched(url, name)
    except OSError as error:
        raise ConfigurationError(str(error)) from None
    _STORES[path] = store
    return path


def store_of(path: Path) -> Store | None:
    """Return the store of the run that a folder is a copy of; None for any other folder."""
    return _STORES.get(path)


def runs_below(url: str) -> list[str]:
    """Return the names of the runs below a URL, the latest last.

    Raises:
        ConfigurationError: The store cannot be read.
    """
    store = open_store(url)
    try:
        return _latest_last(store, _marked(store.names()))
    except OSError as error:
        raise ConfigurationError(str(error)) from None


@functools.cache
def fetch_folder(url: str) -> Path:
    """Return a copy of all that is below a URL, made once; it is deleted when the process ends.

    Raises:
        ConfigurationError: There is nothing, or the store cannot be read.
    """
    folder, store = temporary_folder(), open_store(url)
    try:
        names = store.names()
        download(store, names, folder)
    except OSError as error:
        raise ConfigurationError(str(error)) from None
    if not names:
        raise ConfigurationError(f"{store.shown}: there is nothing")
    return folder


def fetch_parts(store: Store, names: Iterable[str], target: Path) -> list[Path]:
    """Copy the parts of a run to folders in a folder; return these, in the order of their names.

    Args:
        store: The store of the run.
        names: The objects in it.
        target: The folder; made if it is missing.

    Raises:
        OSError: The store cannot be read, or the folder cannot be written.
    """
    needed = [name for name in names if name.count("/") == 1 and _is_of_run(name.rpartition("/")[2])]
    _download_runs(store, [*needed, PLAN, LATER_FACTS], target)
    return [target / part for part in sorted({name.partition("/")[0] for name in needed})]


def fetch_runs(store: Store, names: Iterable[str], target: Path) -> list[Path]:
    """Copy all runs in a store, at any depth, to a folder; return the folders of their simulations, sorted.

    Args:
        store: A store of runs.
        names: The objects in it.
        target: The folder; made if it is missing.

    Raises:
        OSError: The store cannot be read, or the folder cannot be written.
    """
    needed = [name for name in names if _is_of_run(name.rpartition("/")[2]) or name.rpartition("/")[2] == PLAN]
    _download_runs(store, needed, target)
    return sorted({file.parent for file in target.rglob(SIMULATION_FILES)})


def _download_runs(store: Store, names: Collection[str], target: Path) -> None:
    # A piece that is followed by another one does not change any more.
    closed = {name for name in names if _next_piece(name) in names and (target / name).is_file()}
    download(store, [name for name in names if name not in closed], target)


def _next_piece(name: str) -> str:
    head, _, number = name.removesuffix(".jsonl").rpartition("-")
    return f"{head}-{int(number) + 1:04d}.jsonl" if number.isdecimal() else ""


def download(store: Store, names: Iterable[str], target: Path) -> None:
    """Copy objects to a folder, under their names.

    Raises:
        OSError: The store cannot be read, or the folder cannot be written.
    """
    safe = (name for name in names if not {"..", ""} & {*PurePosixPath(name).parts, name})
    for name, content in store.read(safe):
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _is_of_run(name: str) -> bool:
    return name in (MANIFEST, LATER_FACTS) or fnmatch(name, SIMULATION_FILES)


def _is_result(name: str) -> bool:
    return name in (RECORDS, RESULTS_INDEX) or fnmatch(name, SIMULATION_FILES)


def _fetched(url: str, below: str) -> tuple[Store, Path]:
    store = open_store(url, below)
    names, home = store.names(), temporary_folder()
    folder = home / (name_in(store.shown) or "run")
    if names == [""]:  # a file
        for _, content in store.read(names):
            folder.write_bytes(content)
        return store, folder
    tops = {name for name in names if "/" not in name}
    if any(map(_is_result, tops)):
        download(store, [name for name in names if name in tops or name.startswith(f"{RESULTS_FOLDER}/")], folder)
        return store, folder
    if PLAN in tops:
        return store, _joined(store, names, folder)
    runs = _marked(names)
    if not runs or below:
        raise ConfigurationError(f"{store.shown}: expected {PLAN}, {SIMULATION_FILES}, {RECORDS} or {RESULTS_INDEX}")
    return _fetched(url, _latest_last(store, runs)[-1])


def _marked(names: Iterable[str]) -> set[str]:
    """Return the folders of runs, of the names of all objects; a part of a run is in a folder of its own below them."""
    split_names = (name.split("/") for name in names if name.count("/") == 1)
    return {folder for folder, file in split_names if file == PLAN or _is_result(file)}


def _latest_last(store: Store, runs: Iterable[str]) -> list[str]:
    """Return the runs in the order in which they were started."""
    started = dict.fromkeys(sorted(runs), "")
    for name, content in store.read([f"{run}/{file}" for run in started for file in (PLAN, MANIFEST)]):
        with contextlib.suppress(ValueError, AttributeError):
            document = parse_json(content)
            started[name.partition("/")[0]] = str(document.get("manifest", document).get("started", ""))
    return sorted(started, key=lambda run: (started[run], run))


def _joined(store: Store, names: list[str], folder: Path) -> Path:
    """Join the parts of a run to a folder.

    Raises:
        ConfigurationError: No trial is stored, or the parts do not belong together.
    """
    from .join import JoinedRuns, joined_parts, run_files
    from .later import join_facts

    folders = fetch_parts(store, names, temporary_folder())
    if not (parts := [*filter(has_simulations, folders)]):
        raise ConfigurationError(f"{store.shown}: no trial is stored yet")
    if len(parts) == 1:
        join_facts([parts[0], parts[0].parent], parts[0])
        return Path(shutil.move(parts[0], folder))
    joined = JoinedRuns.of(run_files(parts), which="first")
    joining = joined_parts(joined, folders)
    if different := joining.different():
        remedy = "tau merge URL --allow-mixed -o DIR joins them nevertheless"
        raise ConfigurationError(f"{store.shown}: its parts do not belong together: {different[0]}; {remedy}")
    write_joined(joined, joining, folder)
    return folder


def write_joined(joined: JoinedRuns, parts: JoinedParts, folder: Path) -> bool:
    """Write joined runs to a folder; return whether they have a manifest.

    Raises:
        OSError: A file cannot be read or written.
    """
    from .later import join_facts
    from .manifest import write_manifest

    joined.write(folder / SIMULATIONS)
    folders = dict.fromkeys(file.parent for file in joined.files)
    # Those of all parts of a run are next to its plan.
    wholes = dict.fromkeys(joined_folder.parent for joined_folder in folders if (joined_folder.parent / PLAN).is_file())
    join_facts([*folders, *wholes], folder)
    manifest = parts.manifest()
    if manifest is not None:
        write_manifest(folder, manifest)
    if parts.plan is not None and parts.missing():
        atomic_write(folder / PLAN, str(parts.plan))  # what is missing may be joined later
    return manifest is not None


def temporary_folder() -> Path:
    """Return a new folder, which is deleted when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="tau-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
