"""The packages and the data that a build takes along; they are found, so that no folder can be forgotten."""

from pathlib import Path

from setuptools import find_packages, setup

#: The folders domains/ and tasks/ are content; installed, they carry the project's name.
ROOTS = {"pytest_tau": "pytest_tau", "pytest_tau_domains": "domains", "pytest_tau_tasks": "tasks"}


def packages() -> list[str]:
    """Return the name of every package, as it is imported."""
    found = []
    for name, folder in ROOTS.items():
        found += [name, *(f"{name}.{inner}" for inner in find_packages(folder))]
    return found


def _is_leftover(path: Path) -> bool:
    """Return whether a file comes from a run or from an editor, such as what is in ``__pycache__``."""
    return any(part.startswith((".", "__")) for part in path.parts)


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


setup(packages=packages(), package_dir=ROOTS, package_data=package_data())
