from enum import Enum

from pydantic import BaseModel, ConfigDict


class NoExtra(BaseModel):
    """A base."""

    model_config = ConfigDict(extra="forbid")


class Level(str, Enum):
    LOW = "low"
    HIGH = "high"
