"""A conversation that a person plays at the terminal, as the agent or as the user."""

from .session import RememberedModel, Session

__all__ = ["RememberedModel", "Session"]
