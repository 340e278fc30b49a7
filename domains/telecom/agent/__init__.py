"""The rules agent of the telecom domain (``--tau-agent rules``); it knows the domain and nothing of its tasks."""

from .rules_agent import RulesAgent

__all__ = ["RulesAgent"]
