"""What to do if a ``conftest.py`` cannot import the agent, a module of another folder of the project."""

from __future__ import annotations

from pathlib import Path

#: Words that show that a ``conftest.py`` is about this plugin.
_OURS = ("pytest_tau", "tau_")


def add_remedy(failure: Exception, root: Path) -> None:
    """Add a note to the error of a ``conftest.py`` whose import is a module of the project that Python does not find.

    Args:
        failure: An error with ``path`` and ``cause``, as pytest raises it when a ``conftest.py`` cannot be imported.
        root: The root directory.
    """
    cause, path = getattr(failure, "cause", None), getattr(failure, "path", None)
    if not isinstance(cause, ModuleNotFoundError) or not cause.name or path is None:
        return
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    folder = _folder_of(cause.name.partition(".")[0], root) if any(word in text for word in _OURS) else None
    if folder is not None:
        name = folder.relative_to(root).as_posix()
        cause.add_note(
            f'a conftest.py finds modules next to itself; {cause.name} is in {folder}: add pythonpath = ["{name}"] to '
            f"pytest.toml, or pythonpath = {name} to pytest.ini"
        )


def _folder_of(module: str, root: Path) -> Path | None:
    """Return the folder that has a module: the root directory, or one in it."""
    folders = [root, *sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))]
    return next(
        (folder for folder in folders if (folder / f"{module}.py").is_file() or (folder / module).is_dir()), None
    )
