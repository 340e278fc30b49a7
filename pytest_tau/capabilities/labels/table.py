"""A file of labels: CSV with a row for each answer of a person."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

from ...errors import ConfigurationError
from ...text import listed, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The name of the file in a run's folder; that of a result file has the file's name before it.
FILE = "labels.csv"
#: The columns of a file that is written. A file that is read may have others, and lack those that are not needed.
COLUMNS = ("simulation", "task_id", "trial", "kind", "item", "label", "note")
_NEEDED = ("simulation", "kind", "item", "label")
#: The labels of each kind: the party at fault, a judge's statement, a breach of a rule.
LABELS: Mapping[str, tuple[str, ...]] = {
    "party": ("agent", "user", "task", "harness", "undecided"),
    "statement": ("met", "not met"),
    "breach": ("right", "wrong"),
}


class Subject(NamedTuple):
    """What a label is about.

    Attributes:
        simulation: The id of the simulation.
        kind: ``party``, ``statement`` or ``breach``.
        item: The statement; of a breach, its rule and the number of its message (``confirmation@12``); else empty.
    """

    simulation: str
    kind: str
    item: str = ""


class Label(NamedTuple):
    """An answer of a person.

    Attributes:
        label: The answer.
        place: The file and the line.
    """

    label: str
    place: str


def file_of(run: Path) -> Path:
    """Return the file with the labels of a run, which is a folder or a result file."""
    return run / FILE if run.is_dir() else run.with_name(f"{run.name}.{FILE}")


def read_labels(file: Path) -> dict[Subject, Label]:
    """Return the labels in a file.

    Raises:
        ConfigurationError: A column is missing, a kind or a label is unknown, or two rows label the same differently.
        OSError: The file cannot be read.
    """
    labels: dict[Subject, Label] = {}
    with file.open(newline="", encoding="utf-8-sig") as lines:
        rows = csv.DictReader(lines, strict=True)
        try:
            missing = [name for name in _NEEDED if name not in (rows.fieldnames or ())]
            if missing:
                columns = listed([shorten(name or "") for name in rows.fieldnames or ()], 8) or "none"
                raise ConfigurationError(f"{file}: the columns {', '.join(missing)} are missing; it has {columns}")
            for row in rows:
                place = f"{file}:{rows.line_num}"
                subject, label = _read(row, place)
                if subject in labels and labels[subject].label != label.label:
                    first = labels[subject]
                    raise ConfigurationError(f"{place}: {label.label!r}, but {first.place} has {first.label!r}")
                labels[subject] = label
        except (csv.Error, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{file}:{rows.line_num}: expected CSV in UTF-8: {error}") from None
    return labels


def _read(row: Mapping[str, str | None], place: str) -> tuple[Subject, Label]:
    simulation, kind, item, label = ((row.get(name) or "").strip() for name in _NEEDED)
    if kind not in LABELS:
        raise ConfigurationError(f"{place}: kind: expected one of {', '.join(LABELS)}, got {shorten(kind)!r}")
    if label not in LABELS[kind]:
        raise ConfigurationError(f"{place}: label: expected one of {', '.join(LABELS[kind])}, got {shorten(label)!r}")
    if not simulation or (not item and kind != "party"):
        raise ConfigurationError(f"{place}: {'simulation' if not simulation else 'item'}: expected a text, got none")
    return Subject(simulation, kind, item), Label(label, place)


class LabelFile:
    """A file that labels are added to; each is written at once.

    Args:
        file: The file, which may not exist.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, row: Mapping[str, object]) -> None:
        """Add a row with the columns of ``COLUMNS``.

        Raises:
            OSError: It cannot be written.
        """
        begins = not self._file.exists()
        with self._file.open("a", newline="", encoding="utf-8") as lines:
            writer = csv.DictWriter(lines, COLUMNS)
            if begins:
                writer.writeheader()
            writer.writerow(row)
