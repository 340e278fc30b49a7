"""The packages and the data that a build takes along; they are found, so that no folder can be forgotten."""

from __future__ import annotations

from pathlib import Path

from setuptools import setup

#: Folders by the name of the package that they are installed as; domains/ and tasks/ carry the project's name then.
ROOTS = {"pytest_tau": "pytest_tau", "pytest_tau_domains": "domains", "pytest_tau_tasks": "tasks"}


def packages() -> list[str]:
    """Return the name of every package, as it is imported."""
    return [
        ".".join([name, *module.relative_to(folder).parts[:-1]])
        for name, folder in ROOTS.items()
        for module in sorted(Path(folder).rglob("__init__.py"))
    ]


def package_data() -> dict[str, list[str]]:
    """Return the files of each root that are no modules, relative to it."""
    return {
        name: sorted(
            path.relative_to(folder).as_posix()
            for path in Path(folder).rglob("*")
            if path.is_file() and path.suffix != ".py" and not _is_leftover(path.relative_to(folder))
        )
        for name, folder in ROOTS.items()
    }


def _is_leftover(path: Path) -> bool:
    """Return whether a file comes from a run or from an editor, such as what is in ``__pycache__``."""
    return any(part.startswith((".", "__")) for part in path.parts)


setup(packages=packages(), package_dir=ROOTS, package_data=package_data())
