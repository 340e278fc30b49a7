"""Grading: one module for each reward component, and how they combine."""

from .evaluate import Evaluation, Evaluator, aevaluate, evaluate, known_components
from .floor import passes_without_agent
from .grading import OFFICIAL, PROFILES, STRICT, Grading, profile_named
from .llm_judge import LLMJudge, UnboundJudge
from .nl_assertion import BUILT_IN_JUDGES, Judge, UniformJudge, Verdict

__all__ = [
    "BUILT_IN_JUDGES",
    "OFFICIAL",
    "PROFILES",
    "STRICT",
    "Evaluation",
    "Evaluator",
    "Grading",
    "Judge",
    "LLMJudge",
    "UnboundJudge",
    "UniformJudge",
    "Verdict",
    "aevaluate",
    "evaluate",
    "known_components",
    "passes_without_agent",
    "profile_named",
]
