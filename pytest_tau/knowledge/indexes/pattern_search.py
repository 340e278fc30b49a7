"""Regular expressions of agents, searched for in a process of its own, so that a search can be ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ToolError, ToolServerError
from ...plain import json
from ...text import duration
from . import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..documents import Documents


#: Seconds that a search may take. Over the documents of a bank, usual patterns take a hundredth of a second.
TIME_LIMIT = 10.0
_WORKER = Path(__file__).with_name("pattern_worker.py")


class PatternSearch:
    """Counts the matches of regular expressions in texts.

    The process is started at the first search, and again after a search that took too long. Searches wait for each
    other.

    Args:
        texts: The texts.
        limit: Seconds that a search may take.
    """

    def __init__(self, texts: Sequence[str], limit: float = TIME_LIMIT) -> None:
        self._texts, self._limit = list(texts), limit
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[str] | None = None
        self._end: weakref.finalize[..., PatternSearch] | None = None
        self._owner = 0

    def counts(self, pattern: str, flags: int) -> list[int]:
        """Return the number of matches in each text.

        Raises:
            ToolError: The search took too long.
            ToolServerError: The process ended, or cannot be started.
        """
        with self._lock:
            worker = self._started()
            late = threading.Event()

            def end() -> None:
                late.set()
                worker.kill()

            timer = threading.Timer(self._limit, end)
            timer.daemon = True
            timer.start()
            try:
                answer = self._asked(worker, [pattern, flags])
            finally:
                timer.cancel()
                timer.join()
            if late.is_set() or not answer:
                self._stop()
        if answer:
            numbers: list[int] = json.loads(answer)
            return numbers
        if late.is_set():
            raise ToolError(
                f"pattern: the search was ended after {duration(self._limit)}: use a simpler pattern, without "
                "repetitions of repetitions such as (a+)+"
            )
        raise ToolServerError(f"the process that searches for patterns ended with status {worker.returncode}")

    def _started(self) -> subprocess.Popen[str]:
        if self._worker is None or self._owner != os.getpid():  # a forked child must not write to its parent's
            self._owner = os.getpid()
            try:
                self._worker = subprocess.Popen(  # noqa: S603 - a script of this package
                    [sys.executable, "-I", "-S", str(_WORKER)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    encoding="ascii",
                )
            except OSError as error:
                raise ToolServerError(f"the process that searches for patterns cannot be started: {error}") from error
            self._end = weakref.finalize(self, _end, self._worker, self._owner)
            self._asked(self._worker, [self._limit, self._texts], answered=False)
        return self._worker

    def _asked(self, worker: subprocess.Popen[str], question: object, *, answered: bool = True) -> str:
        """Return the answer of the process; empty if it ended."""
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(json.dumps(question) + "\n")
            worker.stdin.flush()
            return worker.stdout.readline() if answered else ""
        except OSError:
            return ""

    def _stop(self) -> None:
        if self._end is not None:
            self._end()
        self._worker = self._end = None


def _end(worker: subprocess.Popen[str], owner: int) -> None:
    """End a process, unless it is that of a parent."""
    if owner == os.getpid():
        worker.kill()
        worker.communicate()


#: Patterns that match themselves only.
_PLAIN = re.compile(r"[A-Za-z0-9 _,:;%-]+")


class GrepIndex:
    """Finds the documents in which a regular expression matches most often.

    Source: τ²-bench v1.0.1: over the contents, an invalid expression is searched literally.
    """

    def __init__(self, documents: Documents, *, case_sensitive: bool = False) -> None:
        self._ids = [document.id for document in documents]
        self._texts, self._flags = [document.content for document in documents], 0 if case_sensitive else re.IGNORECASE
        # For patterns that are plain words; other than ASCII has letters with several lower cases.
        self._lowered = [text.lower() if text.isascii() else None for text in self._texts]
        self._search = PatternSearch(self._texts)

    def search(self, query: str, k: int) -> Sequence[Hit]:
        """Return the ``k`` documents with the most matches; those with as many in document order.

        Raises:
            ToolError: The search took too long.
        """
        if not query.strip():
            return []
        counts = self._plain(query) if _PLAIN.fullmatch(query) else self._search.counts(query, int(self._flags))
        hits = [Hit(name, count) for name, count in zip(self._ids, counts, strict=True) if count]
        return sorted(hits, key=lambda hit: -hit.score)[: max(k, 0)]

    def _plain(self, words: str) -> list[int]:
        if not self._flags:
            return [text.count(words) for text in self._texts]
        expression, lowered = re.compile(words, self._flags), words.lower()
        return [
            len(expression.findall(text)) if low is None else low.count(lowered)
            for low, text in zip(self._lowered, self._texts, strict=True)
        ]
