"""The scenarios of the airline's tasks: a table of texts for each, and a row that finds what it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...._kit.scenario_tables import read_tables
from ..builder import Scenario
from ..personas import PERSONAS
from .finding import make_finder, only_with

_FILES = (
    *("cancel", "unchanged", "change", "cabin", "extras"),
    *("booking", "payment", "compensation", "questions", "several"),
)


_FOUND_BY = ("find", "trip", "user", "offer", "flight", "let")


def _scenario(task_id: str, table: dict[str, Any]) -> Scenario:
    about = table.pop("about", {})
    find = make_finder(task_id, **{key: table.pop(key) for key in _FOUND_BY if key in table})
    return Scenario(task_id, only_with(about, find), {**table, "persona": PERSONAS.get(table.get("persona", ""))})


#: In the order of the tasks.
SCENARIOS = tuple(_scenario(task_id, table) for task_id, table in read_tables(Path(__file__).parent, _FILES))
