"""Episodes: conversations that are stepped from outside, by who plays one side."""

from ..participants.actions import ActionReader, ReadAction
from .episode import Episode
from .step import StepResult

__all__ = ["ActionReader", "Episode", "ReadAction", "StepResult"]
