"""Behaviours of difficult users: what makes them difficult, for the scripted user and for a model."""

from .behaviour import Behaviour
from .built_in import BEHAVIOURS, COOPERATIVE
from .manner import Heard, Manner

__all__ = ["BEHAVIOURS", "COOPERATIVE", "Behaviour", "Heard", "Manner"]
