"""Facts that were found after a run: a file next to its simulations, to which each is appended as soon as it is found.

A line has what a capability knows of one conversation. The simulations, which were paid for, are never written again:
reading a run merges the facts into them.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..documents import DocumentError, parse_json
from ..errors import ConfigurationError
from ..files import atomic_open, digest
from ..models import AssistantMessage, UserMessage
from ..plain import json
from .jsonl import read_lines, repair_tail
from .layout import LATER_FACTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models import Simulation
    from .store import Store

#: Seconds between two times that a store gets the facts.
_PAUSE = 10.0
#: The facts of each conversation, by the name of the capability.
LaterFacts = dict[str, dict[str, Any]]


def facts_file(path: Path) -> Path:
    """Return the file of a run: in its folder, or next to its result file."""
    return path / LATER_FACTS if path.is_dir() else path.with_name(f"{path.name.partition('.json')[0]}.{LATER_FACTS}")


def conversation_key(test: str, simulation: Simulation) -> str:
    """Return a name of a conversation that no other conversation has, also of the same task and seed."""
    contents = [
        [message.role, message.content or "", [[call.name, call.arguments] for call in message.tool_calls or []]]
        if isinstance(message, AssistantMessage | UserMessage)
        else [message.role, getattr(message, "content", None) or ""]
        for message in simulation.messages
    ]
    parts = [test, simulation.task_id, simulation.trial, simulation.id, contents]
    return digest(json.dumps(parts, sort_keys=True, default=str))


def read_facts(path: Path) -> tuple[LaterFacts, list[str]]:
    """Return the facts of a run and what could not be read; of two of a conversation, the later one.

    Args:
        path: The run's folder, or its result file.

    Raises:
        OSError: The file cannot be read.
    """
    file, by_conversation, problems = facts_file(path), LaterFacts(), list[str]()
    if not file.is_file():
        return by_conversation, problems
    for place, line in read_lines(file):
        if not line.endswith(b"\n"):
            continue  # the process that wrote it was stopped
        try:
            entry = parse_json(line.rstrip(b"\r\n"), is_line=True)
        except DocumentError as error:
            problems.append(f"{place}: {error}")
            continue
        facts = entry.get("facts") if isinstance(entry, dict) else None
        if not isinstance(facts, dict) or not all(
            isinstance(capability_facts, dict) for capability_facts in facts.values()
        ):
            problems.append(f"{place}: expected facts")
            continue
        key = str(entry.get("conversation"))
        by_conversation[key] = _merged(by_conversation.get(key, {}), facts)
    return by_conversation, problems


def _merged(known: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    return {**known, **{name: {**(known.get(name) or {}), **facts} for name, facts in later.items()}}


def attach_facts(test: str, simulation: Simulation, later: LaterFacts) -> None:
    """Merge the facts of a conversation into those of its simulation."""
    if later and (later_facts := later.get(conversation_key(test, simulation))) is not None:
        simulation.facts = _merged(simulation.facts, later_facts)


class FactWriter:
    """Appends facts to the file of a run, each as one write.

    Args:
        path: The run's folder, or its result file.
        store: The store of the run, if the folder is a copy. It gets the file every few seconds, and at the end.

    Attributes:
        shown: The place of the facts.

    Raises:
        OSError: The file cannot be written.
    """

    def __init__(self, path: Path, store: Store | None = None) -> None:
        self.file, self._store = facts_file(path), store
        self.shown = str(self.file) if store is None else f"{store.shown}/{LATER_FACTS}"
        self._new = not self.file.exists()
        self.file.touch()
        repair_tail(self.file)
        self._sent = 0.0
        self._send()  # a store that refuses does so before anything is paid for
        self._opened = self.file.open("ab", buffering=0)

    def write(self, test: str, domain: str, simulation: Simulation, capability: str) -> None:
        """Append the facts of a simulation.

        Args:
            test: The node id of the test; empty if it is not known.
            domain: The domain's name.
            simulation: The simulation.
            capability: The name of the capability whose facts are written.

        Raises:
            OSError: The file cannot be written.
        """
        entry = {
            "conversation": conversation_key(test, simulation),
            "domain": domain,
            "task_id": simulation.task_id,
            "trial": simulation.trial,
            "simulation": simulation.id,
            "facts": {capability: simulation.facts[capability]},
        }
        self._opened.write((json.dumps(entry) + "\n").encode())
        self._new = False
        if time.monotonic() - self._sent > _PAUSE:
            with contextlib.suppress(OSError):  # it is sent again
                self._send()

    def close(self) -> None:
        """Close the file; one that this writer has made and that is empty is removed.

        Raises:
            ConfigurationError: The store has not taken the facts; the error names a file that has them.
        """
        self._opened.close()
        try:
            if not self._new:
                self._send()
            elif self._store is not None:
                self._store.delete(LATER_FACTS)
        except OSError as error:
            copied_to = shutil.copy(self.file, Path(tempfile.mkdtemp(prefix="tau-facts-")) / LATER_FACTS)
            raise ConfigurationError(f"{error}; what was found is in {copied_to}") from None
        if self._new:
            self.file.unlink(missing_ok=True)

    def _send(self) -> None:
        if self._store is not None:
            self._store.write(LATER_FACTS, self.file.read_bytes())
            self._sent = time.monotonic()


def join_facts(parts: Iterable[Path], folder: Path) -> None:
    """Write the facts of several runs to the folder of the run that they were joined to, if there are any.

    Raises:
        OSError: A file cannot be read or written.
    """
    files = [part / LATER_FACTS for part in parts if (part / LATER_FACTS).is_file()]
    if not files:
        return
    with atomic_open(folder / LATER_FACTS) as written:
        for file in files:
            written.writelines(line for _, line in read_lines(file) if line.endswith(b"\n"))
