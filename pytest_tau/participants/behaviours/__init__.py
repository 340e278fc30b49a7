"""Behaviours of difficult users: what makes them difficult, for the scripted user and for a model."""

from .built_in import BEHAVIOURS, COOPERATIVE, Behaviour
from .manners import Heard, Manner

__all__ = ["BEHAVIOURS", "COOPERATIVE", "Behaviour", "Heard", "Manner"]
