"""``run.json`` in a run's folder: written before the first simulation, completed at the end of the run."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from ...files import atomic_write
from ...runs.layout import MANIFEST, PLAN
from ..items import spec_of
from ..makers import SIDES, maker_of, named_participant, participant_of
from ..options import runs_no_test
from .paths import make_folder

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from pathlib import Path

    from ...participants import Side
    from ...runner import RunConfig
    from ..items import TaskSpec
    from .paths import RunPaths
    from .run_counts import RunCounts

#: How sessions end that did not run to their end.
INTERRUPTED = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)


def build_manifest(session: pytest.Session, run: RunConfig, paths: RunPaths, counts: RunCounts) -> dict[str, Any]:
    """Return the content of ``run.json``, once it is known what will be run."""
    from ...capability.calls import recorded
    from ...chat.requests import without_secrets
    from ...runs.fingerprints import hashes
    from ...runs.manifest import FORMAT, recorded_settings
    from ...runs.provenance import Commit, versions

    config = session.config
    specs = [spec for item in session.items if (spec := spec_of(item)) is not None]
    return {
        "format": FORMAT,
        "started": paths.started,
        "finished": None,
        "versions": versions(),
        **Commit.of(config.rootpath)._asdict(),
        "settings": recorded_settings(run),
        "capabilities": without_secrets(recorded(run.simulation.capabilities)),
        **_user_prompts(run),
        **_participants(session.items, run),
        "saw_reference": _sides_with_reference(session.items),
        "hashes": hashes(unique_tasks(specs), run.simulation),
        "planned": counts.trials,
        "excluded": counts.excluded,
    }


def _sides_with_reference(items: Iterable[pytest.Item]) -> list[str]:
    """Return the sides whose named participants declare that they are given the reference actions.

    A participant that a fixture or a hook makes is in the records of its trials only.
    """
    from ...errors import ConfigurationError
    from ...participants import load_source

    sources = {}
    for item in items:
        spec = spec_of(item)
        if spec is not None:
            for side in SIDES:
                participant = named_participant(side, spec.config)
                # A recording may be large.
                if maker_of(side, item) is None and not str(participant).startswith("replay:"):
                    sources[side, id(participant), spec.domain.name] = (participant, spec)
    sides = set()
    for (side, _, _), (participant, spec) in sources.items():
        with contextlib.suppress(ConfigurationError):  # the trial reports it
            if load_source(participant, side, spec.config.folder).needs_reference(spec.domain.spec.agents):
                sides.add(side)
    return sorted(sides)


def unique_tasks(specs: Iterable[TaskSpec]) -> list[tuple[Any, Any]]:
    """Return domain and task of each task once, however many trials and tests have it."""
    tasks = {(spec.domain.name, id(spec.task)): (spec.domain, spec.task) for spec in specs}
    return list(tasks.values())


def write_manifest(folder: Path, manifest: Mapping[str, Any], *, resumes: bool) -> None:
    """Write ``run.json``; in a run that continues, add what is new to what is there.

    Raises:
        OSError: The file cannot be written.
        ConfigurationError: The file that is there cannot be read.
    """
    from ...runs.manifest import merge_manifest, read_manifest, write_manifest as write_file

    if resumes:
        then = read_manifest(folder)
        write_file(folder, merge_manifest(then, manifest) if then else manifest)
    elif not (folder / MANIFEST).is_file():  # another worker may write the same at this moment
        write_file(folder, manifest)


def store_plan(paths: RunPaths, manifest: Mapping[str, Any], counts: RunCounts) -> None:
    """Write ``plan.json`` into the folder of a part of a run, and have it and the manifest sent to the store.

    Raises:
        OSError: The folder cannot be written.
    """
    from ...runs.parts import make_plan

    folder, publisher = paths.results, paths.publisher
    if folder is None or not (counts.whole or publisher):
        return
    plan = make_plan(manifest, counts.whole or counts.planned)
    if not (folder / PLAN).is_file():
        atomic_write(folder / PLAN, plan)
    if publisher is not None:
        publisher.send_plan(plan, extend=paths.resumes)
        publisher.send_manifest(folder)


def write_remote_manifest(
    config: pytest.Config, paths: RunPaths, info: dict[str, Any], counts: RunCounts
) -> str | None:
    """Write the ``run.json`` that a worker on another machine has built; return why that failed, if it did."""
    from ...runs.manifest import write_manifest as write_file
    from ...runs.provenance import Commit

    folder = paths.results
    if folder is None or (folder / MANIFEST).is_file():
        return None
    try:
        make_folder(folder)
        # The worker has a copy of the project, without its repository.
        info = info | Commit.of(config.rootpath)._asdict()
        write_file(folder, info)
        store_plan(paths, info, counts)
    except OSError as error:
        return f"run.json cannot be written to {folder}: {error.strerror}"
    return None


def _participants(items: Iterable[pytest.Item], run: RunConfig) -> dict[str, dict[Side, list[str]]]:
    """Return who plays agent and user, if fixtures, hooks or markers have chosen others than the settings.

    It is not a setting: a run is resumed by its settings before anything is collected.
    """
    from ...masking import mask_secrets

    trials = [item for item in items if spec_of(item) is not None]
    participants = {side: sorted({mask_secrets(participant_of(side, item)) for item in trials}) for side in SIDES}
    by_settings = {"agent": [mask_secrets(str(run.agent_spec))], "user": [mask_secrets(str(run.user_spec))]}
    return {"participants": participants} if trials and participants != by_settings else {}


def _user_prompts(run: RunConfig) -> dict[str, dict[str, str]]:
    """Return the templates of the system message of the user's model, which result files of τ²-bench have."""
    from ...participants.prompts import user_templates

    if run.user_spec != "llm" or run.choice("user") is None:
        return {}
    return {"user_prompts": user_templates(run.simulation.prompting.get("user"), run.simulation.protocol)}


class ManifestEnd:
    """Takes the run's folder before the first trial, and completes ``run.json``: when the run ended, what was not run.

    Args:
        config: pytest's configuration.
        paths: The folders of the run.
        counts: How many trials were planned, and why some were not run.
    """

    def __init__(self, config: pytest.Config, paths: RunPaths, counts: RunCounts) -> None:
        self._config, self._paths, self._counts = config, paths, counts

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Make and lock the run's folder; with workers, the controller does so once they have collected.

        Raises:
            pytest.UsageError: Another process uses it, or has stored a run of this name.
        """
        if not runs_no_test(self._config) and any(spec_of(item) is not None for item in session.items):
            with contextlib.suppress(OSError):  # reported with the first simulation
                self._paths.use()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, None, None]:
        """Complete the file after everybody else has finished."""
        yield
        folder = self._paths.used_results
        if folder is not None and folder.is_dir() and not runs_no_test(self._config):
            from ...errors import TauError

            # Every verdict is reported by now; if this fails, only the time of the end is lost.
            with contextlib.suppress(OSError, TauError):
                self._end(folder, complete=exitstatus not in INTERRUPTED)
                if self._paths.publisher is not None:
                    self._paths.publisher.send_manifest(folder)

    def _end(self, folder: Path, *, complete: bool) -> None:
        from ...runs.manifest import add_usage, read_manifest, write_manifest as write_file

        info = read_manifest(folder)
        if not info:
            return
        if stopped := self._counts.stopped_usage:
            info["stopped_usage"] = add_usage(info.get("stopped_usage", {}), *stopped)
        if complete:
            info["finished"] = datetime.now(UTC).isoformat(timespec="seconds")
        info["excluded"] = {**info["excluded"], **self._counts.excluded}
        if self._counts.comparability is not None:
            info["comparability"] = self._counts.comparability.as_dict()
        write_file(folder, info)


def record_note(folder: Path | None, name: str, notes: Mapping[str, Any]) -> None:
    """Record in ``run.json``, if it is there, what a capability has found out while the run is under way.

    Args:
        folder: The run's.
        name: The capability.
        notes: Replaces what it has recorded before. No verdict depends on it, so that a failure is ignored.
    """
    from ...errors import TauError
    from ...runs.manifest import read_manifest, write_manifest as write_file

    if folder is not None and folder.is_dir():
        with contextlib.suppress(OSError, TauError):
            if info := read_manifest(folder):
                known = info.get("capabilities", {})
                entry = {"settings": {}, "columns": [], **known.get(name, {}), "notes": dict(notes)}
                write_file(folder, {**info, "capabilities": {**known, name: entry}})
