"""A person who plays one side at the terminal."""

from .participant import HumanAgent, HumanUser
from .prompt import LeftError, Prompt, Surroundings
from .screen import Screen

__all__ = ["HumanAgent", "HumanUser", "LeftError", "Prompt", "Screen", "Surroundings"]
