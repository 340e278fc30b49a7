"""Reviews of a finished run: a file next to its simulations, to which each review is appended as soon as it is made.

A line is one review, with the conversation that it is of. The simulations, which were paid for, are never written
again.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..documents import DocumentError, parse_json
from ..errors import ConfigurationError
from ..files import atomic_open, digest
from ..models import AssistantMessage, UserMessage, review_of
from ..models.reviews import REVIEW_KEYS
from .jsonl import read_lines, repair_tail
from .layout import REVIEWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models import Review, ReviewMode, Simulation
    from .store import Store

#: Seconds between two times that a store gets the reviews.
_PAUSE = 10.0
#: By conversation and mode, the value of the entry of the simulation's ``info``.
Reviews = dict[tuple[str, str], dict[str, Any]]


def reviews_file(path: Path) -> Path:
    """Return the file of the reviews of a run: in its folder, or next to its result file."""
    return path / REVIEWS if path.is_dir() else path.with_name(f"{path.name.partition('.json')[0]}.{REVIEWS}")


def conversation_key(test: str, simulation: Simulation) -> str:
    """Return a name of a conversation that no other conversation has, also of the same task and seed."""
    said = [
        [message.role, message.content or "", [[call.name, call.arguments] for call in message.tool_calls or []]]
        if isinstance(message, AssistantMessage | UserMessage)
        else [message.role, getattr(message, "content", None) or ""]
        for message in simulation.messages
    ]
    parts = [test, simulation.task_id, simulation.trial, simulation.id, said]
    return digest(json.dumps(parts, sort_keys=True, default=str))


def read_reviews(path: Path) -> tuple[Reviews, list[str]]:
    """Return the reviews of a run and what could not be read; of two reviews of a conversation, the later one.

    A review that is not done does not replace one that is.

    Args:
        path: The run's folder, or its result file.

    Raises:
        OSError: The file cannot be read.
    """
    file = reviews_file(path)
    found: Reviews = {}
    problems: list[str] = []
    if not file.is_file():
        return found, problems
    for place, line in read_lines(file):
        if not line.endswith(b"\n"):
            continue  # the process that wrote it was stopped
        try:
            entry = parse_json(line.rstrip(b"\r\n"), is_line=True)
        except DocumentError as error:
            problems.append(f"{place}: {error}")
            continue
        if not isinstance(entry, dict) or not isinstance(entry.get("review"), dict):
            problems.append(f"{place}: expected a review")
            continue
        key = (str(entry.get("conversation")), str(entry["review"].get("mode")))
        if entry["review"].get("status") == "done" or (found.get(key) or {}).get("status") != "done":
            found[key] = entry["review"]
    return found, problems


def attach_reviews(test: str, simulation: Simulation, reviews: Reviews) -> None:
    """Set the reviews of a conversation in the ``info`` of its simulation; those from its trial are replaced."""
    if not reviews:
        return
    key = conversation_key(test, simulation)
    added: dict[str, Any] = {}
    for mode, name in REVIEW_KEYS.items():
        review = reviews.get((key, mode))
        there = review_of(simulation.info, mode)
        if review is not None and (review.get("status") == "done" or there is None or not there.done):
            added[name] = review
    if added:
        simulation.info = {**(simulation.info or {}), **added}


class ReviewWriter:
    """Appends reviews to the file of a run, each as one write.

    Args:
        path: The run's folder, or its result file.
        store: The store of the run, if the folder is a copy. It gets the file every few seconds, and at the end.

    Attributes:
        shown: The place of the reviews.

    Raises:
        OSError: The file cannot be written.
    """

    def __init__(self, path: Path, store: Store | None = None) -> None:
        self.file, self._store = reviews_file(path), store
        self.shown = str(self.file) if store is None else f"{store.shown}/{REVIEWS}"
        self._new = not self.file.exists()
        self.file.touch()
        repair_tail(self.file)
        self._sent = 0.0
        self._send()  # a store that refuses does so before anything is paid for
        self._opened = self.file.open("ab", buffering=0)

    def write(self, test: str, domain: str, simulation: Simulation, review: Review) -> None:
        """Append a review.

        Args:
            test: The node id of the test; empty if it is not known.
            domain: The domain's name.
            simulation: The conversation.
            review: Its review.

        Raises:
            OSError: The file cannot be written.
        """
        entry = {
            "conversation": conversation_key(test, simulation),
            "domain": domain,
            "task_id": simulation.task_id,
            "trial": simulation.trial,
            "simulation": simulation.id,
            "review": review.as_info(),
        }
        self._opened.write((json.dumps(entry) + "\n").encode())
        self._new = False
        if time.monotonic() - self._sent > _PAUSE:
            with contextlib.suppress(OSError):  # it is sent again
                self._send()

    def close(self) -> None:
        """Close the file; one that this writer has made and that is empty is removed.

        Raises:
            ConfigurationError: The store has not taken the reviews; the error names a file that has them.
        """
        self._opened.close()
        try:
            if not self._new:
                self._send()
            elif self._store is not None:
                self._store.delete(REVIEWS)
        except OSError as error:
            kept = shutil.copy(self.file, Path(tempfile.mkdtemp(prefix="tau-reviews-")) / REVIEWS)
            raise ConfigurationError(f"{error}; the reviews are in {kept}") from None
        if self._new:
            self.file.unlink(missing_ok=True)

    def _send(self) -> None:
        if self._store is not None:
            self._store.write(REVIEWS, self.file.read_bytes())
            self._sent = time.monotonic()


def join_reviews(parts: Iterable[Path], folder: Path) -> None:
    """Write the reviews of several runs to the folder of the run that they were joined to, if there are any.

    Raises:
        OSError: A file cannot be read or written.
    """
    files = [part / REVIEWS for part in parts if (part / REVIEWS).is_file()]
    if not files:
        return
    with atomic_open(folder / REVIEWS) as written:
        for file in files:
            written.writelines(line for _, line in read_lines(file) if line.endswith(b"\n"))


def has_review(simulation: Simulation, mode: ReviewMode, name: str, prompt_hash: str | None) -> bool:
    """Return whether a simulation has a complete review of a mode by a reviewer with its prompt."""
    found = review_of(simulation.info, mode)
    judge = found.judge if found is not None and found.done else None
    return judge is not None and (judge.name, judge.prompt_hash) == (name, prompt_hash)
