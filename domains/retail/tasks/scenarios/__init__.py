"""The scenarios of the shop's tasks: a table of texts for each, and the steps that find whom it fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...._kit.scenario_tables import read_tables
from ..builder import Scenario
from ..personas import PERSONAS
from .finding import FINDING

_FILES = (
    *("cancel", "address", "payment", "items", "returns", "exchange"),
    *("questions", "identity", "transfer", "several", "judged"),
)


def _scenario(task_id: str, table: dict[str, Any]) -> Scenario:
    steps = FINDING[table.pop("find", task_id)]
    return Scenario(task_id, steps, {**table, "persona": PERSONAS.get(table.get("persona", ""))})


#: In the order of the tasks.
SCENARIOS = tuple(_scenario(task_id, table) for task_id, table in read_tables(Path(__file__).parent, _FILES))
