"""Keeps ``--tau-data DIR``, and a domain in a node id, from being taken for a test path.

pytest looks for its ini file beside the paths on the command line before it loads plugins, so that the value of
a plugin's option counts as a path there, and the project's own ini file is missed. Written ``--tau-data=DIR`` the
value is not seen. So does ``telecom::some-task`` where a folder is called like the domain. This does the search again
without such values. Delete it when pytest does (https://github.com/pytest-dev/pytest/issues/1435).
"""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..options import path_options

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, None, None]:
    """Find rootdir and ini file again where an option's value has misled the search."""
    folder = Path(early_config.invocation_params.dir)
    misleading = [value for option, value in itertools.pairwise(args) if option in path_options()]
    named = [arg for arg in early_config.known_args_namespace.file_or_dir if _is_folders(arg, folder)]
    if named or any((folder / value).exists() for value in misleading):
        _search_again(early_config, args, without=named)
    yield


def _is_folders(argument: str, folder: Path) -> bool:
    """Whether it is a node id of a folder: nothing of pytest's, so a domain's."""
    path, separator, _ = argument.partition("::")
    return bool(separator) and (folder / path).is_dir()


def _search_again(config: Any, args: list[str], without: list[str]) -> None:
    from _pytest.config.findpaths import determine_setup

    known = config.known_args_namespace
    offered = {
        "inifile": known.inifilename,
        "override_ini": known.override_ini,
        "args": [arg for arg in known.file_or_dir if arg not in without],
        "rootdir_cmd_arg": known.rootdir or None,
        "invocation_dir": config.invocation_params.dir,
    }
    accepted = inspect.signature(determine_setup).parameters
    found = determine_setup(**{name: value for name, value in offered.items() if name in accepted})
    rootpath, inipath, inicfg = found[:3]
    if (rootpath, inipath) == (config.rootpath, config.inipath):
        return
    if known.confcutdir == str(config.inipath.parent if config.inipath else config.rootpath):
        known.confcutdir = str(inipath.parent if inipath else rootpath)
    config._rootpath, config._inipath = rootpath, inipath  # noqa: SLF001 - pytest offers no other way
    setattr(config, "_inicfg" if hasattr(config, "_inicfg") else "inicfg", inicfg)
    config._inicache.clear()  # noqa: SLF001
    args[:] = config.getini("addopts") + args
