"""Keeping ``--tau-data DIR``, and a domain in a node id, from being taken for a test path.

pytest looks for its ini file next to the paths on the command line before it loads plugins, so that the value of
a plugin's option counts as a path there, and the project's own ini file is missed. Written ``--tau-data=DIR`` the
value is not seen. The same happens to ``telecom::some-task`` if a folder is called like the domain. This module can go
once pytest no longer does so (https://github.com/pytest-dev/pytest/issues/1435).
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..compat import root_without, set_root
from ..options import path_options

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_rootdir(early_config: pytest.Config, args: list[str]) -> None:
    """Correct the root directory if the value of an option has misled pytest; refuse an ini file found in this way.

    Raises:
        pytest.UsageError: pytest has read another ini file than the project's own, or none; says what to write.
    """
    folder = Path(early_config.invocation_params.dir)
    paths = path_options()
    options = {value: option for option, value in itertools.pairwise(args) if option in paths}
    options = {value: option for value, option in options.items() if (folder / value).exists()}
    folders = [arg for arg in early_config.known_args_namespace.file_or_dir if _is_folders(arg, folder)]
    if not folders and not options:
        return
    rootpath, inipath = root_without(early_config, folders)
    if inipath != early_config.inipath:
        raise pytest.UsageError(_misread(early_config.inipath, inipath, options, folders))
    set_root(early_config, rootpath)


def _misread(read: Path | None, right: Path | None, options: Mapping[str, str], named: list[str]) -> str:
    """Return what pytest has read instead of what, and how to write the command."""
    instead = f"pytest has read {read or 'no ini file'} instead of {right or 'none'}, as it takes"
    if not options:
        write = f"add -c {right}" if right else "add --rootdir=."
        return f"{instead} {named[0]} for a path: {write}"
    names = list(dict.fromkeys(options.values()))
    value = "the value of " + " and ".join(names)
    return (
        f"{instead} {value} for a path of tests: write {' '.join(f'{name}={text}' for text, name in options.items())}"
    )


def _is_folders(argument: str, folder: Path) -> bool:
    """Return whether an argument is a node id below a folder: no test has one, so it is that of a domain."""
    path, separator, _ = argument.partition("::")
    return bool(separator) and (folder / path).is_dir()
