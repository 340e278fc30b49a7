"""What an xdist controller tells its workers, and what a worker knows of the run: folders, and shares."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .options import Settings, named_domains

if TYPE_CHECKING:
    from ..runner import RunConfig

_SHARED = pytest.StashKey[Path]()
_RESULTS = pytest.StashKey["Path | None"]()
_STARTED = pytest.StashKey[str]()


def told_by_controller(config: pytest.Config) -> dict[str, Any]:
    """What the controller has told this worker; nothing where there is one process, or in the controller."""
    told: dict[str, Any] = getattr(config, "workerinput", {}).get("tau", {})
    return told


def worker_name(config: pytest.Config) -> str:
    """The worker's name; empty where there is one process."""
    return str(config.workerinput["workerid"]) if hasattr(config, "workerinput") else ""


def results_folder(config: pytest.Config) -> Path | None:
    """The folder of this run; None where nothing is kept, or not by this process.

    Raises:
        pytest.UsageError: The run is to go on with an earlier one, and there is none.
    """
    if hasattr(config, "workerinput"):
        told = told_by_controller(config).get("results")
        return Path(told) if told else None
    if _RESULTS not in config.stash:
        config.stash[_RESULTS] = _earlier_folder(config) if goes_on(config) else _new_folder(config)
    return config.stash[_RESULTS]


def known_folder(config: pytest.Config) -> Path | None:
    """The folder of this run, where anything has asked for it; in a process that has no worker's part."""
    return config.stash.get(_RESULTS, None)


def results_home(config: pytest.Config) -> Path | None:
    """Where the folders of runs lie; None where nothing is kept."""
    settings = Settings(config)
    given = settings.get("results")
    if given == "none":
        return None
    return settings.folder("results") / given if given else config.rootpath / ".tau" / "runs"


def goes_on(config: pytest.Config) -> bool:
    """Whether the run goes on with an earlier one."""
    settings = Settings(config)
    return settings.get("resume") is not None or settings.get("rerun") is not None


def started(config: pytest.Config) -> str:
    """When the run began, in all of its processes."""
    if hasattr(config, "workerinput"):
        return str(told_by_controller(config).get("started", ""))
    return config.stash.setdefault(_STARTED, datetime.now(timezone.utc).isoformat(timespec="seconds"))


def _new_folder(config: pytest.Config) -> Path | None:
    home = results_home(config)
    if home is None:
        return None
    now = datetime.fromisoformat(started(config)).strftime("%Y%m%d-%H%M%S")
    # With the process in its name: shards that are started at the same time must not write into one folder.
    name = f"{now}-{os.getpid()}-{'+'.join(named_domains(config)) or 'run'}"
    others = len(list(home.glob(f"{name}*"))) if home.is_dir() else 0
    return home / (f"{name}-{others + 1}" if others else name)


def _earlier_folder(config: pytest.Config) -> Path:
    from .collect.resume import earlier_folder

    return earlier_folder(config)


def shared_folder(config: pytest.Config) -> Path | None:
    """A folder that the controller shares with its workers on the same machine; None where there is none."""
    if not hasattr(config, "workerinput"):
        return config.stash.get(_SHARED, None)
    told = told_by_controller(config).get("shared")
    return Path(told) if told else None


def share_of_calls(config: pytest.Config, calls: int) -> int:
    """How many of the run's model calls at the same time this process may make."""
    told = told_by_controller(config)
    if not told:
        return calls
    place: int = told["place"]
    workers: int = told["workers"]
    # More workers than calls there can only be where nobody has named a number: see ``configure``.
    return max(1, calls // workers + (place < calls % workers))


def on_this_machine(spec: Any) -> bool:
    """Whether a worker of this specification runs here, and in the controller's own folder."""
    return bool(spec.popen and not spec.chdir and not spec.via)


def worker_specs(config: pytest.Config) -> list[Any]:
    """The specifications of the workers that this process will have, as execnet has them; none where there are none."""
    if hasattr(config, "workerinput") or not _distributes(config):
        return []
    from xdist.workermanage import execnet, parse_tx_spec_config  # type: ignore[import-untyped]

    return [execnet.XSpec(text) for text in parse_tx_spec_config(config)]


def _distributes(config: pytest.Config) -> bool:
    return getattr(config.option, "dist", "no") != "no" and bool(config.option.tx) and not config.option.collectonly


def configure(config: pytest.Config) -> None:
    """Prepare for workers, should there be any; in a worker, for its part.

    Raises:
        pytest.UsageError: The workers are more than the model calls that there may be at the same time.
    """
    if hasattr(config, "workerinput"):
        from .distributed.worker import start

        start(config)
    elif _distributes(config):
        specs = worker_specs(config)
        _check_calls(config, len(specs))
        from .distributed.controller import start as start_controller

        start_controller(config, specs)


def _check_calls(config: pytest.Config, workers: int) -> None:
    settings = Settings(config)
    if settings.get("llm_concurrency") is None:
        return
    calls = settings.number("llm_concurrency", int, 0, 1)
    if calls < workers:
        told = f"expected at least {workers}, one call for each of the {workers} workers, got {calls}"
        raise pytest.UsageError(f"{settings.label('llm_concurrency')}: {told}")


def share_folder(config: pytest.Config) -> Path:
    """The folder that the controller shares with its workers, made at its first use."""
    if _SHARED not in config.stash:
        folder = Path(tempfile.mkdtemp(prefix="tau-"))
        config.stash[_SHARED] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    return config.stash[_SHARED]


def concurrency_in(config: pytest.Config) -> int:
    """How many trials go on at the same time in one process; to be asked where nothing else of the run is known."""
    settings = Settings(config)
    models = any(settings.get(f"{role}_llm") is not None for role in ("agent", "user", "judge"))
    if settings.get("concurrency") is None and not models:
        return 1
    from .config import run_config

    run: RunConfig = run_config(config)
    return run.concurrency
