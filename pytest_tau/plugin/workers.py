"""What xdist workers share: a folder for results, and one to note what they have spent."""

from __future__ import annotations

import shutil
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from .options import Settings, named_domains

_SHARED = pytest.StashKey[Path]()
_RESULTS = pytest.StashKey["Path | None"]()


def results_folder(config: pytest.Config) -> Path | None:
    """The folder of this run's simulations; None where none are kept."""
    if hasattr(config, "workerinput"):
        told = config.workerinput["tau_results"]
        return Path(told) if told else None
    if _RESULTS not in config.stash:
        settings = Settings(config)
        given = settings.get("results")
        home = settings.folder("results") / given if given else config.rootpath / ".tau" / "runs"
        now = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
        name = f"{now}-{'+'.join(named_domains(config)) or 'run'}"
        others = len(list(home.glob(f"{name}*"))) if home.is_dir() else 0
        config.stash[_RESULTS] = None if given == "none" else home / (f"{name}-{others + 1}" if others else name)
    return config.stash[_RESULTS]


def shared_folder(config: pytest.Config) -> Path | None:
    """Where workers note what they have spent; None where there is one process."""
    if not hasattr(config, "workerinput"):
        return config.stash.get(_SHARED, None)
    return Path(config.workerinput["tau_shared"])


def worker_name(config: pytest.Config) -> str:
    """The worker's name; empty where there is one process."""
    return str(config.workerinput["workerid"]) if hasattr(config, "workerinput") else ""


def upcoming_in_worker(item: pytest.Item) -> list[pytest.Item]:
    """The items that this xdist worker runs after this one, as far as it knows.

    xdist has no public way to ask; this looks into its queue, and finds nothing where that is built otherwise.
    """
    config = item.config
    for plugin in config.pluginmanager.get_plugins():
        queue, following = getattr(plugin, "torun", None), getattr(plugin, "nextitem_index", None)
        if queue is None or not isinstance(following, int):
            continue
        indices = [following]
        if config.workerinput["tau_dist"] != "worksteal":  # type: ignore[attr-defined]
            # What is stolen by another worker must not have been started here.
            with queue.lock() as waiting:
                indices += [index for index in waiting if isinstance(index, int)]
        return [item.session.items[index] for index in indices]
    return []


def configure(config: pytest.Config) -> None:
    """Prepare for workers, should there be any."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Workers(config), "tau-workers")


class Workers:
    """Tells each worker where the shared folders are."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker is about to start."""
        if _SHARED not in self._config.stash:
            folder = Path(tempfile.mkdtemp(prefix="tau-"))
            self._config.stash[_SHARED] = folder
            self._config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        node.workerinput["tau_shared"] = str(self._config.stash[_SHARED])
        node.workerinput["tau_dist"] = self._config.option.dist
        node.workerinput["tau_results"] = str(results_folder(self._config) or "")
