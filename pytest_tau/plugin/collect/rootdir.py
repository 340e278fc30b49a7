"""Keeping ``--tau-data DIR``, and a domain in a node id, from being taken for a test path.

pytest looks for its ini file next to the paths on the command line before it loads plugins, so that the value of
a plugin's option counts as a path there, and the project's own ini file is missed. Written ``--tau-data=DIR`` the
value is not seen. The same happens to ``telecom::some-task`` if a folder is called like the domain. This module repeats
the search without such values. It can go once pytest does so (https://github.com/pytest-dev/pytest/issues/1435).
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from ..compat import search_rootdir
from ..options import path_options

if TYPE_CHECKING:
    import pytest


def search_again(early_config: pytest.Config, args: list[str]) -> None:
    """Find root directory and ini file again if an option's value has misled the search."""
    folder = Path(early_config.invocation_params.dir)
    misleading = [value for option, value in itertools.pairwise(args) if option in path_options()]
    named = [arg for arg in early_config.known_args_namespace.file_or_dir if _is_folders(arg, folder)]
    if named or any((folder / value).exists() for value in misleading):
        search_rootdir(early_config, args, without=named)


def _is_folders(argument: str, folder: Path) -> bool:
    """Return whether an argument is a node id below a folder: no test has one, so it is that of a domain."""
    path, separator, _ = argument.partition("::")
    return bool(separator) and (folder / path).is_dir()
