"""Simulated users in numbers: their faults, and the profile of their behaviour."""

from .faults import UserFaults
from .profile import UserProfile

__all__ = ["UserFaults", "UserProfile"]
