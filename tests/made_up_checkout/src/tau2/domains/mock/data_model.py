from typing import Literal, Optional

from pydantic import Field

from tau2.data_model.base import Level, NoExtra

Status = Literal["pending", "completed"]


class Reminder(NoExtra):
    """A made-up reminder."""

    at: str = Field(..., description="When.")
    level: Level = Field(Level.LOW, description="How loud.")
    note: Optional[str] = None
