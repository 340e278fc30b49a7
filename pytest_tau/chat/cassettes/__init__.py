"""Cassettes: the recorded model calls of a trial, their file format, and the tapes that record and replay them."""

from .format import Identity
from .tape import Player, Recorder

__all__ = ["Identity", "Player", "Recorder"]
