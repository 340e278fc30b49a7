"""Tries to break the harness: ``python -m benchmarks.soak [--minutes N] [--only PART …] [--data DIR]``."""

from __future__ import annotations

import argparse
import inspect
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .calls import calls
from .faults import faults
from .files import files
from .kills import kills
from .participants import participants
from .tally import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .tally import Tally

#: By name, in the order in which they run. ``faults`` is the last, because it starts threads and the others fork.
PARTS: dict[str, Callable[[Limits], Tally]] = {
    "calls": calls,
    "kills": kills,
    "files": files,
    "participants": participants,
    "faults": faults,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts and print a line for each figure; return 1 if a figure that must be 0 is not."""
    options = _parser().parse_args(arguments)
    data = options.data.resolve() if options.data else None
    limits = Limits(options.minutes * 60, options.count, options.seed, data)
    passed = True
    for name, part in PARTS.items():
        if options.only and name not in options.only:
            continue
        print(f"{name}. {inspect.cleandoc(part.__doc__ or '')}\n", flush=True)
        start = time.monotonic()
        tally = part(limits)
        for number, what, must in tally.rows():
            print(f"{number:>12,}  {what:<68}{must}".rstrip())
        for example in tally.examples:
            print(f"    {example}")
        print(f"{time.monotonic() - start:>12,.0f}  seconds\n", flush=True)
        passed = passed and tally.passed
    return 0 if passed else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description="Tries to break the harness.")
    parser.add_argument("--minutes", type=float, default=10.0, metavar="N", help="minutes of each part (default: 10)")
    parser.add_argument(
        "--count",
        type=int,
        metavar="N",
        help="the most cases of each part: environments with 40 calls, runs, files (default: any number)",
    )
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of the random choices (default: 0)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="official data for calls and faults")
    return parser


if __name__ == "__main__":
    sys.exit(main())
