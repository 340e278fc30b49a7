"""What commands have found out about a set of tasks in minutes, stored for commands that have only seconds."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from ..files import atomic_write, digest, file_name_of
from ..plain import json
from ..runner.config import SimulationSettings
from .fingerprints import domain_hashes, task_hash
from .layout import ignore_in_git

if TYPE_CHECKING:
    from ..environment import Domain

#: Where the facts lie, below the project's folder.
STRENGTH: Final = Path(".tau", "strength")


class StrengthFacts(BaseModel):
    """What a command has found out about the tasks of a domain.

    Attributes:
        line: The result in a line, for ``tau lint``.
        sentences: By sentence of the policy, whether a task notices that it is changed.
        values: By value of the policy, likewise.
        of: The fingerprint of the domain and its tasks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    line: str
    sentences: dict[str, bool] = {}
    values: dict[str, bool] = {}
    of: str = ""


def store_strength(domain: Domain, command: str, facts: StrengthFacts) -> None:
    """Store what a command has found out about the tasks of a domain, unless the folder cannot be written."""
    file, of = _file(domain, command), _fingerprint(domain)
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        ignore_in_git(STRENGTH.parent)
        atomic_write(file, facts.model_copy(update={"of": of}).model_dump_json(indent=1) + "\n")


def stored_strength(domain: Domain, command: str) -> StrengthFacts | None:
    """Return what a command has found out; None if it has not run since policy, tools, data or tasks have changed."""
    try:
        facts = StrengthFacts.model_validate_json(_file(domain, command).read_bytes())
    except (OSError, ValidationError):
        return None
    return facts if facts.of == _fingerprint(domain) else None


def all_strength(domain: Domain) -> list[StrengthFacts]:
    """Return what all commands have found out about the tasks of a domain."""
    files = sorted((STRENGTH / file_name_of(domain.name)).glob("*.json"))
    return [facts for file in files if (facts := stored_strength(domain, file.stem)) is not None]


def _file(domain: Domain, command: str) -> Path:
    return STRENGTH / file_name_of(domain.name) / f"{command}.json"


def _fingerprint(domain: Domain) -> str:
    tasks = sorted(task_hash(task) for task in domain.tasks(None))
    return digest(json.dumps([domain_hashes(domain, SimulationSettings()), tasks]))
