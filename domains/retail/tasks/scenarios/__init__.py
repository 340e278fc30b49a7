"""The scenarios of the shop's tasks: a table of texts for each, and the steps that find whom it fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...._kit.scenario_tables import read_tables
from .. import personas
from ..builder import Scenario
from .finding import FINDING

_FILES = (
    *("cancel", "address", "payment", "items", "returns", "exchange"),
    *("questions", "identity", "transfer", "several", "judged"),
)


def _scenario(task_id: str, *, find: str = "", persona: str = "", **texts: Any) -> Scenario:
    manner = getattr(personas, persona.upper()) if persona else None
    return Scenario(task_id, steps=FINDING[find or task_id], persona=manner, **texts)


#: In the order of the tasks.
SCENARIOS = tuple(_scenario(task_id, **table) for task_id, table in read_tables(Path(__file__).parent, _FILES))
