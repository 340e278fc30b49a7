"""Result files: of τ²-bench (one file, or a folder with a file a simulation), of τ-bench, and our own.

A file is read twice: once for what applies to all of it, once for its simulations, which are decoded one at a time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...files import digest
from ...text import shorten
from ..jsonl import model_text
from ..layout import RESULTS_FOLDER, RESULTS_INDEX
from .entries import OWN, StoredSimulation, Unreadable, entry_name, read_entry, read_task
from .messages import EntryError, first_problem, objects_in
from .streaming_json import pieces
from .tau1 import is_tau1, read_tau1_entry, tools_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Task
    from .streaming_json import Piece

#: The key of the simulations in a τ²-bench file.
_SIMULATIONS = "simulations"
#: The entries of a file of at most so many characters are read once, and kept until they are asked for.
_SMALL = 8 << 20


@dataclass
class ResultFile:
    """A result file, scanned but for its simulations.

    Attributes:
        path: The file, or the folder.
        kind: Whose format it has, in words.
        domain: The domain that it names, or its first entry that names one; None if nothing does.
        unnamed: Whether an entry names no domain, and the file none for all of them.
        solo: Whether it says that its agent worked alone.
        info: The header of a τ²-bench file.
        tasks: Its tasks by id, or why one cannot be read.
        called: How often which tool was called, by either side.
        problems: What is wrong with the file outside its simulations, and with simulations that are not valid JSON.
        entries: How many simulations it contains itself.
        last: The position of the last simulation of each test that entries name.
    """

    path: Path
    kind: str = "simulations"
    domain: str | None = None
    unnamed: bool = False
    solo: bool = False
    info: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, Task | str] = field(default_factory=dict)
    called: Counter[str] = field(default_factory=Counter)
    problems: list[Unreadable] = field(default_factory=list)
    entries: int = 0
    last: dict[str, int] = field(default_factory=dict)
    _files: list[Path] | None = None
    _kept: list[Piece] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def scan(cls, path: Path) -> ResultFile:
        """Read everything but the simulations.

        Raises:
            OSError: It cannot be opened.
        """
        result, document = cls(path), dict[str, Any]()
        small_pieces: list[Piece] | None = []
        index = path / RESULTS_INDEX if path.is_dir() else path
        for piece in pieces(index):
            if piece.end > _SMALL:
                small_pieces = None
            elif small_pieces is not None and piece.key != "tasks":
                small_pieces.append(piece)
            if _is_entry(piece):
                result._note_entry(piece.value)
            elif piece.key == "tasks" and piece.position is not None:
                result._add_task(piece)
            elif piece.problem is not None:
                where = entry_name(piece.position) if piece.key in ("", _SIMULATIONS) else piece.key
                result.problems.append(Unreadable(where, piece.problem))
            else:
                document[piece.key] = piece.value
        result._add_header(document)
        result._kept = small_pieces
        if not result.entries and (document.get("simulation_index") or path.is_dir()):
            result._find_files(index.parent, document.get("simulation_index"))
        elif "messages" in document or "traj" in document:  # one simulation, written over several lines
            result._note_entry(document)
        return result

    @property
    def files(self) -> list[Path]:
        """Return the files of a folder that has one for each simulation; empty if there is one file."""
        return list(self._files or ())

    @property
    def size(self) -> int:
        """Return the number of simulations that there are to read."""
        return self.entries if self._files is None else len(self._files)

    @property
    def header(self) -> dict[str, Any]:
        """The header of a τ²-bench file, with ``hashes`` of its policy, tasks and user's prompt, as in ``run.json``.

        An export of ours has the settings of ``capabilities``, too.
        """
        own = self.info.get(OWN)
        info = (
            {**self.info, "capabilities": own["capabilities"]}
            if isinstance(own, dict) and "capabilities" in own
            else self.info
        )
        if not info or self.domain is None:
            return {name: value for name, value in info.items() if name != "hashes"}
        tasks = {name: task for name, task in self.tasks.items() if not isinstance(task, str)}
        policy = _text(self.info, "environment_info", "policy")
        prompt = _text(self.info, "user_info", "global_simulation_guidelines")
        hashes = {
            "domains": {self.domain: {"policy": digest(policy)} if policy else {}},
            "tasks": {self.domain: {name: digest(model_text(task, exclude_none=True)) for name, task in tasks.items()}},
            "prompts": {"guidelines": digest(prompt)} if prompt else {},
        }
        return {**info, "hashes": hashes}

    def simulations(self, positions: range | None = None) -> Iterator[StoredSimulation | Unreadable]:
        """Yield the simulations in the file's order, one at a time, with those that cannot be read in their places.

        Args:
            positions: Those of a part of the file; None for all.
        """
        positions = range(self.size) if positions is None else positions
        if self._files is not None:
            for file in self._files[positions.start : positions.stop]:
                yield self._of_file(file)
            return
        document: dict[str, Any] = {}
        position = -1
        # Given once: what reads the entries may change them.
        small_pieces, self._kept = self._kept, None
        for piece in pieces(self.path) if small_pieces is None else small_pieces:
            if _is_entry(piece):
                position += 1
                if position in positions:
                    yield self._run(piece.value, entry_name(piece.position, piece.value))
            elif piece.problem is None:
                document[piece.key] = piece.value
        if ("messages" in document or "traj" in document) and position + 1 in positions:
            yield self._run(document, entry_name(None, document))

    def _run(self, entry: Any, name: str) -> StoredSimulation | Unreadable:
        if not isinstance(entry, dict):
            return Unreadable(name, f"expected an object, got {type(entry).__name__}")
        try:
            return read_tau1_entry(entry, name) if is_tau1(entry) else read_entry(entry, name, self.tasks, self.info)
        except EntryError as error:
            return Unreadable(name, str(error))
        except ValidationError as error:  # such as an id that is not a text
            return Unreadable(name, first_problem(error))

    def _of_file(self, file: Path) -> StoredSimulation | Unreadable:
        name = f"{RESULTS_FOLDER}/{file.name}"
        try:
            document = {piece.key: piece for piece in pieces(file)}
        except OSError as error:
            return Unreadable(name, f"cannot be opened: {error.strerror}")
        problem = next((piece.problem for piece in document.values() if piece.problem), None)
        if problem is not None:
            return Unreadable(name, problem)
        first = next(iter(document.values()), None)
        if first is not None and first.position is not None:  # an array, or an object on a line of its own
            entry = first.value
        else:
            entry = {key: piece.value for key, piece in document.items()}
        return self._run(entry, entry_name(name, entry))

    def _note_entry(self, entry: Any) -> None:
        self.entries += 1
        if not isinstance(entry, dict):
            return
        if is_tau1(entry):
            self.kind = "τ-bench"
            self.called.update(tools_named(entry))
        messages = objects_in(entry.get("messages"))
        calls = [call for message in messages for call in objects_in(message.get("tool_calls"))]
        self.called.update(str(call.get("name")) for call in calls)
        domain, test = entry.get("domain"), entry.get("test")
        if test and isinstance(test, str):
            self.last[test] = self.entries - 1
        self.domain = self.domain or (domain if isinstance(domain, str) else None)
        self.unnamed = self.unnamed or not domain

    def _add_task(self, piece: Piece) -> None:
        raw, problem = piece.value, piece.problem
        task_id = str(raw.get("id")) if isinstance(raw, dict) else f"#{piece.position}"
        if problem is None:
            try:
                self.tasks[task_id] = read_task(raw)
            except EntryError as error:
                problem = str(error)
        if problem is not None:
            self.tasks[task_id] = problem
            self.problems.append(Unreadable(f"task {shorten(task_id)}", problem))

    def _add_header(self, document: dict[str, Any]) -> None:
        info = document.get("info")
        if isinstance(info, dict) and "messages" not in document:
            self.kind, self.info = "τ²-bench", info
            of_all = _text(info, "environment_info", "domain_name")
            self.domain, self.unnamed = of_all or self.domain, self.unnamed and of_all is None
            self.solo = works_alone(info)
        elif isinstance(document.get("domain"), str):
            self.domain, self.unnamed = document["domain"], False

    def _find_files(self, folder: Path, index: Any) -> None:
        """Find the files of a folder: those of the index in its order, then those that it lacks."""
        ids = [entry.get("id") for entry in index if isinstance(entry, dict)] if isinstance(index, list) else []
        # An id is not a path: it stays in the folder.
        listed = [folder / RESULTS_FOLDER / f"{Path(str(name)).name}.json" for name in ids]
        there = [*(folder / RESULTS_FOLDER).glob("*.json"), *(folder / RESULTS_FOLDER).glob("*.json.gz")]
        self._files = list(dict.fromkeys([*listed, *sorted(there)]))
        if self.kind == "τ²-bench":
            self.kind += ", one file per simulation"


def works_alone(info: dict[str, Any]) -> bool:
    """Return whether the header of a τ²-bench file says that its agent worked alone, which simulations do not say."""
    agent, user = (_text(info, side, "implementation") for side in ("agent_info", "user_info"))
    return "solo" in (agent or "") or user == "dummy_user"


def _is_entry(piece: Piece) -> bool:
    return piece.problem is None and piece.position is not None and piece.key in ("", _SIMULATIONS)


def _text(info: dict[str, Any], part: str, name: str) -> str | None:
    inside = info.get(part)
    value = inside.get(name) if isinstance(inside, dict) else None
    return value if isinstance(value, str) else None
