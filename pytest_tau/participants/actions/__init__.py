"""Actions: what a side that is played from outside says or calls, as text or as messages."""

from .reader import STOP, ActionReader, ReadAction

__all__ = ["STOP", "ActionReader", "ReadAction"]
