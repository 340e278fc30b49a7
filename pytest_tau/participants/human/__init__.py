"""A person who plays one side at the terminal."""

from .participant import HumanAgent, HumanUser
from .prompt import LeftError, Prompt, Screen, Surroundings

__all__ = ["HumanAgent", "HumanUser", "LeftError", "Prompt", "Screen", "Surroundings"]
