"""Deterministic checks of what the simulated user has done in a finished conversation."""

from .checks import CHECK_NAMES, CHECKS, Check, check_user
from .findings import Finding, UserValidity
from .simulation import check_simulation, store

__all__ = ["CHECKS", "CHECK_NAMES", "Check", "Finding", "UserValidity", "check_simulation", "check_user", "store"]
