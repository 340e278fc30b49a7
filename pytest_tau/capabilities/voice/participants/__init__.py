"""Agents that speak in ticks, and those that speak badly on purpose."""

from .agents import Heard, Manners, Say, TickAgent
from .realtime import realtime_agent
from .saboteurs import SABOTEURS, AnswersTelevision, AnswersTooLate, NeverYields, TalksOver, WellSpoken

__all__ = [
    "SABOTEURS",
    "AnswersTelevision",
    "AnswersTooLate",
    "Heard",
    "Manners",
    "NeverYields",
    "Say",
    "TalksOver",
    "TickAgent",
    "WellSpoken",
    "realtime_agent",
]
