"""The program that counts the matches of regular expressions; it is run as a script and imports nothing of the package.

A match can take hours, and cannot be stopped in a thread. A process can be ended. It reads lines of JSON:
first the time limit in seconds and the texts, then a pattern and its flags for each search. It answers each search with
the number of matches in each text. It ends with its input, or if its parent ended during a search.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import sys
import warnings
from pathlib import Path


def counts(pattern: str, flags: int, texts: list[str]) -> list[int]:
    """Return the number of matches in each text.

    Source: τ²-bench v1.0.1: an invalid expression is searched literally.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # expressions whose meaning may change in a later Python
            expression = re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError):
        expression = re.compile(re.escape(pattern), flags)
    return [sum(1 for _ in expression.finditer(text)) for text in texts]


def main() -> None:
    """Answer searches until the input ends."""
    limit, texts = json.loads(sys.stdin.readline())
    with Path(os.devnull).open("w", encoding="ascii") as nowhere:
        for line in sys.stdin:
            pattern, flags = json.loads(line)
            # The parent ends a search that takes too long; this is for the case that there is no parent any more.
            faulthandler.dump_traceback_later(2 * limit + 1, exit=True, file=nowhere)
            numbers = counts(pattern, flags, texts)
            faulthandler.cancel_dump_traceback_later()
            sys.stdout.write(json.dumps(numbers) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
