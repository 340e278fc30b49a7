"""What is made of a large run that is stored: its page, in a browser, and its comparison with another run."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .chromium import chromium, open_page
from .figures import Figure
from .large_runs import LargeRuns
from .measuring import alternating, process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options
    from .measuring import Ended

_TAU = "import sys; from pytest_tau.cli import main; sys.exit(main())"
_JSON = "import json, sys; print(sum(len(json.loads(line)) for name in sys.argv[1:] for line in open(name, 'rb')))"
#: True once the table has rows.
_USABLE = "document.querySelector('.rows .row')"


def reports(options: Options) -> Iterator[Figure]:
    """Measure the page of a run of 10,000 simulations, and `tau compare` of two such runs.

    The conversations have 14 to 42 messages, 16 kB each; their texts differ. The baseline reads the same files with
    Python's json. The page is opened in a new headless Chromium each time, if there is one,
    in turn with an empty page: memory is the sum of the peaks of all its processes, less the same for the empty page.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = LargeRuns(2 if options.quick else None)
        number = options.count(10_000, 8)
        runs = [made.write(folder / each, number, seed) for seed, each in enumerate("AB")]
        yield from _written(folder, number, options)
        yield from _opened(folder, number, options)
        files = [str(run / "simulations.jsonl") for run in runs]
        compare, read = alternating(
            [
                partial(process, "-c", _TAU, "compare", "A", "B", folder=folder),
                partial(process, "-c", _JSON, *files, folder=folder),
            ],
            options.count(3, 1),
        )
        yield _seconds(f"tau compare of two of {number:,}", compare, 5.0)
        yield _seconds("baseline: json of both", read)
        yield Figure("peak of tau compare", "MB", [one.peak for one in compare])


def _written(folder: Path, number: int, options: Options) -> Iterator[Figure]:
    view = partial(process, "-c", _TAU, "view", "A", "--out", "page.html", folder=folder)
    read = partial(process, "-c", _JSON, "A/simulations.jsonl", folder=folder)
    page, baseline = alternating([view, read], options.count(3, 1))
    used = [one.cpu for one in page]
    yield Figure(f"the page of {number:,}, written, processor", "s", used, used, 5.0)
    yield _seconds(f"the page of {number:,}, written", page)
    yield _seconds("baseline: json of the file", baseline)
    yield Figure("peak of tau view", "MB", [one.peak for one in page])
    yield Figure("size of the page", "MB", [(folder / "page.html").stat().st_size / 2**20])


def _opened(folder: Path, number: int, options: Options) -> Iterator[Figure]:
    binary = chromium()
    if binary is None:
        print("  the page was not opened: there is no Chromium (Debian: apt install chromium)")
        return
    empty = folder / "empty.html"
    empty.write_text("<!doctype html><title>empty</title><p>empty</p>\n", encoding="utf-8")
    page, baseline = alternating(
        [
            partial(open_page, binary, folder / "page.html", _USABLE),
            partial(open_page, binary, empty, "document.querySelector('p')"),
        ],
        options.count(7, 1),
    )
    usable = f"the page of {number:,}, opened"
    yield Figure(usable, "s", [one.seconds for one in page], [one.cpu for one in page], 2.0)
    yield Figure("baseline: an empty page", "s", [one.seconds for one in baseline], [one.cpu for one in baseline])
    more = [one.peak - other.peak for one, other in zip(page, baseline, strict=True)]
    yield Figure("memory of the page", "MB", more, target=150.0)


def _seconds(name: str, ended: list[Ended], target: float | None = None) -> Figure:
    return Figure(name, "s", [one.wall for one in ended], [one.cpu for one in ended], target)
