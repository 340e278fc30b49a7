"""The origin of a run: the versions of the packages, and the commit of the tested project."""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NamedTuple

from ..variables import environment_variables

if TYPE_CHECKING:
    from pathlib import Path

#: Packages that a run may depend on.
_PACKAGES = ("pytest", "pytest-xdist", "pydantic", "litellm")
#: Seconds that git may take, so that a repository on a slow disk does not delay the run.
_GIT_TIMEOUT = 5.0


class Commit(NamedTuple):
    """The state of the tested project.

    Attributes:
        commit: The hash of its last commit; None if it is not known.
        dirty: Whether tracked files have changed since; None if it is not known.
    """

    commit: str | None = None
    dirty: bool | None = None

    @classmethod
    def of(cls, folder: Path) -> Commit:
        """Return the state of the repository that a folder is in; git is run only if there is one."""
        git = shutil.which("git")
        if git is None or not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
            return cls()
        try:
            commit = _git(git, folder, "rev-parse", "HEAD").strip()
            return cls(commit, bool(_git(git, folder, "status", "--porcelain", "--untracked-files=no").strip()))
        except (OSError, ValueError, subprocess.SubprocessError):
            return cls()


def _git(git: str, folder: Path, *args: str) -> str:
    environment = environment_variables() | {"GIT_OPTIONAL_LOCKS": "0"}
    completed = subprocess.run(  # noqa: S603 - a fixed command, without a shell
        [git, *args], cwd=folder, env=environment, capture_output=True, text=True, timeout=_GIT_TIMEOUT, check=True
    )
    return completed.stdout


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of this package, of Python, and of installed packages that a run may depend on."""
    installed = {"pytest-tau": own_version(), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


@functools.cache
def own_version() -> str:
    """Return the version of this package; ``unknown`` if it is not installed."""
    try:
        return version("pytest-tau")
    except PackageNotFoundError:
        return "unknown"
