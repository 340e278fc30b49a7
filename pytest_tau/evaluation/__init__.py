"""Grading: one module for each reward component, and how they combine."""

from .component import CustomComponent, Evaluator, GradingInput, RewardComponent
from .component_reports import Check, Line, difference_texts
from .components import COMPONENTS, components_of, known_components
from .components.db import check_db
from .evaluate import Evaluation, Judged, ask_judge, evaluate, grade, passes_without_agent
from .grading import GRADING_RULES, OFFICIAL, PROFILES, STRICT, Grading, profile_named
from .judge import BUILT_IN_JUDGES, Judge, UniformJudge, Verdict
from .lazy_judge import LazyJudge

__all__ = [
    "BUILT_IN_JUDGES",
    "COMPONENTS",
    "GRADING_RULES",
    "OFFICIAL",
    "PROFILES",
    "STRICT",
    "Check",
    "CustomComponent",
    "Evaluation",
    "Evaluator",
    "Grading",
    "GradingInput",
    "Judge",
    "Judged",
    "LazyJudge",
    "Line",
    "RewardComponent",
    "UniformJudge",
    "Verdict",
    "ask_judge",
    "check_db",
    "components_of",
    "difference_texts",
    "evaluate",
    "grade",
    "known_components",
    "passes_without_agent",
    "profile_named",
]
