"""The cost of commands that are called often: whole processes, their start included."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .figures import Figure
from .large_runs import LargeRuns
from .measuring import alternating, process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options

_TAU = "import sys; from pytest_tau.cli import main; sys.exit(main())"
_PLUGINS = """
import pytest

class Ends:
    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self):
        return 0

pytest.main([], plugins=[Ends()])
"""


def commands(options: Options) -> Iterator[Figure]:
    """Measure ``tau --help``, and ``tau show`` and ``tau regrade`` of a run of 40 conversations.

    All times are processor time. The baselines, which alternate with them: a Python that does nothing, one that imports
    pydantic, and one in which pytest loads its installed plugins, as ``tau regrade`` has it do.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        LargeRuns(5).write(folder / "A", options.count(40, 8))
        run = partial(process, folder=folder, good=(0, 1))
        shown, graded, helped, python, library, plugins = alternating(
            [
                partial(run, "-c", _TAU, "show", "A"),
                partial(run, "-c", _TAU, "regrade", "A"),
                partial(run, "-c", _TAU, "--help"),
                *(partial(run, "-c", code) for code in ("pass", "from pydantic import BaseModel", _PLUGINS)),
            ],
            options.count(10, 1),
        )
    for title, ended, target in (
        ("tau --help", helped, 100.0),
        ("tau show", shown, 100.0),
        ("tau regrade", graded, 300.0),
        ("baseline: python -c pass", python, None),
        ("baseline: pydantic", library, None),
        ("baseline: pytest's plugins", plugins, None),
    ):
        yield Figure(title, "ms", [each.cpu * 1e3 for each in ended], target=target)
