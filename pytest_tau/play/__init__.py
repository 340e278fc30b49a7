"""A conversation that a person plays at the terminal, as the agent or as the user."""

from .remembered import RememberedModel
from .session import Session

__all__ = ["RememberedModel", "Session"]
