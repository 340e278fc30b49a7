"""Agents that run their own loop: their framework calls the model and the tools, and answers with a text."""

from ...endpoint import ToolOutcome
from .form import own_loop
from .trial import AgentTrial, TrialTool

__all__ = ["AgentTrial", "ToolOutcome", "TrialTool", "own_loop"]
