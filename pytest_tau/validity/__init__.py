"""Deterministic checks of what the simulated user has done in a finished conversation."""

from .checks import CHECK_NAMES, CHECKS, Check, check_user
from .findings import Finding, UserValidity
from .misunderstandings import GAVE_UP, NOT_UNDERSTOOD
from .simulation import check_simulation, store

__all__ = [
    "CHECKS",
    "CHECK_NAMES",
    "GAVE_UP",
    "NOT_UNDERSTOOD",
    "Check",
    "Finding",
    "UserValidity",
    "check_simulation",
    "check_user",
    "store",
]
